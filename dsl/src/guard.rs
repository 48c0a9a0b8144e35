//! Three-valued evaluation of guards over symbolic sizes.

use crate::dim::Interval;
use crate::infer::Bindings;
use crate::library::{Attr, Guard};
use crate::types::Type;

/// What a guard is at one place in a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// Holds for every value of every symbol.
    True,
    /// Never holds; why, with the values it saw.
    False(String),
    /// Holds for some sizes only, or a value is not known; why.
    Depends(String),
}

/// What a guard may ask about.
pub trait Facts {
    /// Bounds of a graph symbol (`s72`).
    fn range(&self, symbol: &str) -> Interval;
    /// A field of the device profile or the configuration: `("target", "sm", [])`,
    /// `("target", "one_shot_limit", [2])`. `None` when unknown.
    fn global(&self, space: &str, name: &str, args: &[i64]) -> Option<Attr>;
    /// Number of ranks of a process group, if known.
    fn group_size(&self, group: &str) -> Option<i64>;
    /// Whether an operand is laid out row after row without gaps, if known.
    fn contiguous(&self, param: usize) -> Option<bool>;
}

/// Evaluates one guard. `params` are the types of the item's operands, in order.
pub fn eval(_g: &Guard, _b: &Bindings, _params: &[Type], _facts: &dyn Facts) -> Truth {
    Truth::Depends("not yet".into())
}

/// Values of `symbol` at which the guard's truth changes: each is the first of a new interval.
pub fn cuts(
    _g: &Guard,
    _b: &Bindings,
    _params: &[Type],
    _facts: &dyn Facts,
    _symbol: &str,
) -> Vec<i64> {
    Vec::new()
}
