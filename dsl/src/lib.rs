//! The `.fuse` language: text in, typed items and diagnostics out.
//!
//! A straight line: [`source`] text is parsed to an [`ast`], resolved and typed into a
//! [`library::Library`]. Nothing here reads files or knows about e-graphs or CUDA.

pub mod ast;
pub mod diagnostic;
pub mod dim;
pub mod dtype;
pub mod format;
pub mod guard;
pub mod infer;
pub mod library;
pub mod parse;
pub mod prims;
mod recover;
pub mod render;
pub mod resolve;
pub mod source;
pub mod types;

pub use resolve::load;
