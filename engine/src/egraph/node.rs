//! E-nodes with dynamic operators.
//!
//! Attributes are children, so a pattern variable can bind them and an applier can copy them.
//! Operator numbers put the operator first in the order, which egg's class index relies on.

use egg::{Id, Language};
use fusec_dsl::library::OpId;
use smallvec::SmallVec;

/// Children of an e-node.
pub type Kids = SmallVec<[Id; 4]>;

/// An operator number: structural ones first, then the library's ops, then fusions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operator(pub u32);

/// Results a tuple may have.
const MAX_RESULTS: u32 = 60;

impl Operator {
    /// A value from outside; the payload numbers it.
    pub const LEAF: Operator = Operator(0);
    /// A constant attribute; the payload is its type id.
    pub const ATTR: Operator = Operator(1);
    /// A list of operands.
    pub const LIST: Operator = Operator(2);
    /// Several values as one, such as the parts of a split.
    pub const TUPLE: Operator = Operator(3);
    const PROJ: u32 = 4;
    const OP: u32 = Self::PROJ + MAX_RESULTS;
    const FUSION: u32 = 1 << 24;

    /// The i-th result of a tuple; `None` past the supported number.
    pub fn proj(index: usize) -> Option<Operator> {
        (index < MAX_RESULTS as usize).then_some(Operator(Self::PROJ + index as u32))
    }

    /// A library op.
    pub fn op(id: OpId) -> Operator {
        Operator(Self::OP + id.0)
    }

    /// A fusion, by its index in the library.
    pub fn fusion(index: usize) -> Operator {
        Operator(Self::FUSION + index as u32)
    }

    /// What it is.
    pub fn kind(self) -> OperatorKind {
        match self.0 {
            0 => OperatorKind::Leaf,
            1 => OperatorKind::Attr,
            2 => OperatorKind::List,
            3 => OperatorKind::Tuple,
            n if n < Self::OP => OperatorKind::Proj((n - Self::PROJ) as usize),
            n if n < Self::FUSION => OperatorKind::Op(OpId(n - Self::OP)),
            n => OperatorKind::Fusion((n - Self::FUSION) as usize),
        }
    }
}

/// An operator, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorKind {
    /// A value from outside.
    Leaf,
    /// A constant attribute.
    Attr,
    /// A list of operands.
    List,
    /// Several values as one.
    Tuple,
    /// One result of a tuple.
    Proj(usize),
    /// A library op.
    Op(OpId),
    /// A fusion, by its index in the library.
    Fusion(usize),
}

/// An e-node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ENode {
    /// Operator; first, so that derived order groups nodes by it.
    pub op: Operator,
    /// Identity that no pattern ever binds.
    pub payload: u32,
    /// Operands and attributes.
    pub kids: Kids,
}

impl Language for ENode {
    type Discriminant = Operator;

    fn discriminant(&self) -> Operator {
        self.op
    }

    fn matches(&self, other: &ENode) -> bool {
        self.op == other.op && self.payload == other.payload && self.kids.len() == other.kids.len()
    }

    fn children(&self) -> &[Id] {
        &self.kids
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.kids
    }
}
