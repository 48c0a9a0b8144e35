//! The reference interpreter: what a body means, on the CPU.
//!
//! Primitives share their shape logic and differ only in what an element is: [`float::Floats`]
//! emulates the rounding of every element type, [`field::Field`] computes in a prime field where
//! non-linear functions are uninterpreted. Several ranks are evaluated side by side, so that
//! collectives have a meaning.
//!
//! Nothing here panics on a badly typed program: every error is an [`EvalError`].

pub mod collective;
pub mod domain;
pub mod elementwise;
pub(crate) mod eval;
pub mod field;
pub mod float;
mod opaque;
mod pack;
mod promote;
pub mod random;
mod reduce;
mod tensor;
mod value;
mod views;

#[cfg(test)]
pub(crate) mod tests;

pub use eval::{Interp, eval_body, eval_op};
pub use random::{Kind, random_tensor};
pub use tensor::Tensor;
pub use value::{EvalError, EvalResult, Value};
