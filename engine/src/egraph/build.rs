//! egg's e-graph as a store of typed terms.

use super::context::{Context, TypeId};
use super::node::{ENode, Kids, Operator};
use super::term::{Args, Terms};
use egg::{Analysis, DidMerge, Id};
use fusec_dsl::types::Type;

/// The e-graph all rules work on.
pub type EGraph = egg::EGraph<ENode, Typing>;

/// Class analysis: every e-class has one type.
#[derive(Debug)]
pub struct Typing {
    /// Types and the library.
    pub context: Context,
    /// Classes that are new or grew since the list was last taken.
    pub changed: Vec<Id>,
    /// Unions of different types that were attempted: a rule is wrong.
    pub conflicts: usize,
}

impl Typing {
    /// An analysis over a context.
    pub fn new(context: Context) -> Typing {
        Typing { context, changed: Vec::new(), conflicts: 0 }
    }
}

impl Analysis<ENode> for Typing {
    type Data = TypeId;

    fn make(egraph: &mut EGraph, enode: &ENode, _id: Id) -> TypeId {
        let kids: smallvec::SmallVec<[TypeId; 6]> =
            enode.kids.iter().map(|k| egraph[*k].data).collect();
        let context = &mut egraph.analysis.context;
        match context.result(enode.op, enode.payload, &kids) {
            Ok(ty) => ty,
            Err(_) => context.intern(Type::Unknown),
        }
    }

    fn merge(&mut self, a: &mut TypeId, b: TypeId) -> DidMerge {
        if *a != b {
            self.conflicts += 1;
        }
        DidMerge(false, false)
    }

    fn modify(egraph: &mut EGraph, id: Id) {
        egraph.analysis.changed.push(id);
    }
}

impl Terms for EGraph {
    type Ref = Id;

    fn context(&mut self) -> &mut Context {
        &mut self.analysis.context
    }

    fn type_id(&self, r: Id) -> TypeId {
        self[r].data
    }

    fn ty(&self, r: Id) -> &Type {
        self.analysis.context.ty(self[r].data)
    }

    fn insert(&mut self, op: Operator, payload: u32, kids: &[Id], _ty: TypeId) -> Id {
        egg::EGraph::add(self, ENode { op, payload, kids: Kids::from_slice(kids) })
    }

    fn operands(&self, r: Id, op: Operator) -> Option<Args<Id>> {
        self[r].nodes.iter().find(|n| n.op == op).map(|n| n.kids.clone())
    }
}

/// Joins two classes if their types agree. False, and nothing done, if they do not.
pub fn unite(egraph: &mut EGraph, a: Id, b: Id) -> bool {
    if egraph[a].data != egraph[b].data {
        egraph.analysis.conflicts += 1;
        return false;
    }
    egraph.union(a, b);
    true
}
