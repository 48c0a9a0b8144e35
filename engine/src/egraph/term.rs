//! Terms before saturation: hash-consed, typed, one node a value.
//!
//! [`Terms`] is what the normalizing constructors in [`super::canon`] need; both the plain
//! [`TermDag`] and the e-graph provide it, so a graph and a rule's right side get one normal form.

use super::context::{Context, TypeId};
use super::node::{Operator, OperatorKind};
use fusec_dsl::library::Attr;
use fusec_dsl::types::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Operands as references of some term store.
pub type Args<R> = SmallVec<[R; 4]>;

/// A store of typed terms.
pub trait Terms {
    /// A value in it.
    type Ref: Copy + Eq + Ord + std::fmt::Debug;

    /// Shared facts.
    fn context(&mut self) -> &mut Context;
    /// Type of a value.
    fn type_id(&self, r: Self::Ref) -> TypeId;
    /// Type of a value.
    fn ty(&self, r: Self::Ref) -> &Type;
    /// Adds a node whose type is already known.
    fn insert(&mut self, op: Operator, payload: u32, kids: &[Self::Ref], ty: TypeId) -> Self::Ref;
    /// Operands of a node with this operator that computes the value.
    fn operands(&self, r: Self::Ref, op: Operator) -> Option<Args<Self::Ref>>;

    /// Adds a node, inferring its type.
    fn add(&mut self, op: Operator, payload: u32, kids: &[Self::Ref]) -> Result<Self::Ref, String> {
        let types: SmallVec<[TypeId; 6]> = kids.iter().map(|k| self.type_id(*k)).collect();
        let ty = self.context().result(op, payload, &types)?;
        Ok(self.insert(op, payload, kids, ty))
    }

    /// A constant attribute.
    fn attr(&mut self, value: Attr) -> Self::Ref {
        let ty = self.context().attr(value);
        self.insert(Operator::ATTR, ty.0, &[], ty)
    }
}

/// Index of a node in a [`TermDag`].
pub type TermId = u32;

/// One term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Operator.
    pub op: Operator,
    /// Payload, as in an e-node.
    pub payload: u32,
    /// Operands.
    pub kids: Args<TermId>,
}

/// Hash-consed terms in topological order.
#[derive(Debug)]
pub struct TermDag {
    /// The shared facts.
    pub context: Context,
    /// Terms; operands come before their users.
    pub terms: Vec<Term>,
    /// Type of each term.
    pub types: Vec<TypeId>,
    index: FxHashMap<Term, TermId>,
}

impl TermDag {
    /// An empty store.
    pub fn new(context: Context) -> TermDag {
        TermDag { context, terms: Vec::new(), types: Vec::new(), index: FxHashMap::default() }
    }

    /// A new leaf of this type.
    pub fn leaf(&mut self, ty: Type) -> TermId {
        let ty = self.context.intern(ty);
        self.context.leaves.push(ty);
        let payload = self.context.leaves.len() as u32 - 1;
        self.insert(Operator::LEAF, payload, &[], ty)
    }

    /// The library op of a term, if it is one.
    pub fn op_of(&self, id: TermId) -> Option<fusec_dsl::library::OpId> {
        match self.terms[id as usize].op.kind() {
            OperatorKind::Op(op) => Some(op),
            _ => None,
        }
    }
}

impl Terms for TermDag {
    type Ref = TermId;

    fn context(&mut self) -> &mut Context {
        &mut self.context
    }

    fn type_id(&self, r: TermId) -> TypeId {
        self.types[r as usize]
    }

    fn ty(&self, r: TermId) -> &Type {
        self.context.ty(self.types[r as usize])
    }

    fn insert(&mut self, op: Operator, payload: u32, kids: &[TermId], ty: TypeId) -> TermId {
        let term = Term { op, payload, kids: kids.into() };
        let next = self.terms.len() as TermId;
        let id = *self.index.entry(term.clone()).or_insert(next);
        if id == next {
            self.terms.push(term);
            self.types.push(ty);
        }
        id
    }

    fn operands(&self, r: TermId, op: Operator) -> Option<Args<TermId>> {
        let term = &self.terms[r as usize];
        (term.op == op).then(|| term.kids.clone())
    }
}
