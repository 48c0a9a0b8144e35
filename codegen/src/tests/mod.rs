//! Kernels of the shipped library: every one lowers, compiles, and agrees with the interpreter.

mod compile;
mod host;
mod lower;
mod numbers;

use crate::instances::{Instance, instances};
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Library;

/// Every instance of the norm and activation passes.
fn all(library: &Library, t: Dtype, w: Dtype, d: i64) -> Vec<Instance<'_>> {
    instances(library, &["fuse_norm_quant", "fuse_act_quant"], &[("T", t), ("W", w)], d)
}
