//! Result types of calls: unification of declared types with actual ones, and the primitives' rules.

use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::library::{Library, OpId, TypeExpr};
use crate::types::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the names of a signature stand for at one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// Dimension names.
    pub dims: BTreeMap<Arc<str>, Dim>,
    /// Named leading dimensions (`b..`).
    pub leading: BTreeMap<String, Vec<Dim>>,
    /// Dtype generics.
    pub dtypes: BTreeMap<String, Dtype>,
}

/// Why two types do not fit, for a person.
pub type Mismatch = String;

impl Bindings {
    /// Fits an actual type to a declared one, binding names on the way.
    pub fn unify(&mut self, _declared: &TypeExpr, _actual: &Type) -> Result<(), Mismatch> {
        Err("not yet".into())
    }

    /// A declared type with every name replaced by what it stands for.
    pub fn apply(&self, _declared: &TypeExpr) -> Result<Type, Mismatch> {
        Err("not yet".into())
    }
}

/// The result type of a call (a tuple if the op has several results).
pub fn call(_lib: &Library, _op: OpId, _args: &[Type]) -> Result<Type, Mismatch> {
    Err("not yet".into())
}
