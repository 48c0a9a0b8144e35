//! What every term shares: the library, interned types, and inferred result types.

use super::node::{Operator, OperatorKind};
use fusec_dsl::dim::Interval;
use fusec_dsl::guard::{self, Facts, Truth};
use fusec_dsl::infer;
use fusec_dsl::library::{Attr, Library, OpId};
use fusec_dsl::types::Type;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// An interned [`Type`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

type Signature = (Operator, u32, SmallVec<[TypeId; 6]>);

/// Ids of the primitives that have a normal form.
#[derive(Clone, Debug, Default)]
pub struct Primitives {
    /// `cast`
    pub cast: Option<OpId>,
    /// `bitcast`
    pub bitcast: Option<OpId>,
    /// `reshape`
    pub reshape: Option<OpId>,
    /// `permute`
    pub permute: Option<OpId>,
    /// `slice`
    pub slice: Option<OpId>,
    /// `split`
    pub split: Option<OpId>,
    /// `expand`
    pub expand: Option<OpId>,
    /// `concat`
    pub concat: Option<OpId>,
}

/// The library, the types and what is known of results.
#[derive(Debug)]
pub struct Context {
    /// The rules' vocabulary.
    pub lib: Arc<Library>,
    /// Primitives with a normal form.
    pub prims: Primitives,
    types: IndexSet<Type, rustc_hash::FxBuildHasher>,
    results: FxHashMap<Signature, Result<TypeId, String>>,
    /// Types of leaves, by payload.
    pub leaves: Vec<TypeId>,
}

impl Context {
    /// A fresh context over a library.
    pub fn new(lib: Arc<Library>) -> Context {
        let named = |n: &str| lib.op_named(n);
        let prims = Primitives {
            cast: named("cast"),
            bitcast: named("bitcast"),
            reshape: named("reshape"),
            permute: named("permute"),
            slice: named("slice"),
            split: named("split"),
            expand: named("expand"),
            concat: named("concat"),
        };
        Context {
            lib,
            prims,
            types: IndexSet::default(),
            results: FxHashMap::default(),
            leaves: Vec::new(),
        }
    }

    /// Interns a type.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        TypeId(self.types.insert_full(ty).0 as u32)
    }

    /// The type behind an id.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Interns a constant attribute.
    pub fn attr(&mut self, value: Attr) -> TypeId {
        self.intern(Type::Attr(value))
    }

    /// The result type of applying an operator to operands of these types.
    ///
    /// # Errors
    /// The operands do not fit the operator's signature; the text says how.
    pub fn result(
        &mut self,
        op: Operator,
        payload: u32,
        kids: &[TypeId],
    ) -> Result<TypeId, String> {
        match op.kind() {
            OperatorKind::Attr => return Ok(TypeId(payload)),
            OperatorKind::Leaf => return Ok(self.leaves[payload as usize]),
            _ => {}
        }
        let key: Signature = (op, payload, kids.into());
        if let Some(known) = self.results.get(&key) {
            return known.clone();
        }
        let types: Vec<Type> = kids.iter().map(|k| self.ty(*k).clone()).collect();
        let result = self.infer(op, types).map(|t| self.intern(t));
        self.results.insert(key, result.clone());
        result
    }

    /// Records the result type of a fusion, which follows from what it replaces.
    pub fn set_result(&mut self, op: Operator, kids: &[TypeId], ty: TypeId) {
        self.results.insert((op, 0, kids.into()), Ok(ty));
    }

    /// An op exists only where its own guards hold, so every use of it inherits them.
    fn defined(&self, id: OpId, kids: &[Type]) -> Result<(), String> {
        let sig = &self.lib.op(id).sig;
        if sig.guards.is_empty() {
            return Ok(());
        }
        let mut b = infer::Bindings::default();
        b.unify_all(&sig.params, kids)?;
        for g in &sig.guards {
            match guard::eval(g, &b, kids, &NoFacts) {
                Truth::True => {}
                Truth::False(why) | Truth::Depends(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn infer(&self, op: Operator, kids: Vec<Type>) -> Result<Type, String> {
        match op.kind() {
            OperatorKind::List => Ok(Type::List(kids)),
            OperatorKind::Tuple => Ok(Type::Tuple(kids)),
            OperatorKind::Proj(i) => match kids.first() {
                Some(Type::Tuple(items)) if i < items.len() => Ok(items[i].clone()),
                other => Err(format!("no result {i} in {}", other.unwrap_or(&Type::Unknown))),
            },
            OperatorKind::Op(id) => {
                let result = infer::call(&self.lib, id, &kids)?;
                self.defined(id, &kids)?;
                Ok(result)
            }
            _ => Err("a fusion whose result type was never recorded".into()),
        }
    }
}

/// What an op's own guard may rely on: nothing but its operands.
struct NoFacts;

impl Facts for NoFacts {
    fn range(&self, _symbol: &str) -> Interval {
        Interval { lo: Some(0), hi: None }
    }

    fn global(&self, _space: &str, _name: &str, _args: &[i64]) -> Option<Attr> {
        None
    }

    fn group_size(&self, _group: &str) -> Option<i64> {
        None
    }

    fn contiguous(&self, _param: usize) -> Option<bool> {
        None
    }
}
