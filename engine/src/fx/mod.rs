//! The neutral JSON form of an FX graph (`fxg` 1.0): data types, a strict reader, a writer.
//!
//! [`Document`] mirrors the JSON one to one, so reading a file and writing it back is the identity.
//! Nothing is interpreted here; [`crate::graph::Graph::from_fx`] gives it meaning.

mod error;
mod float;
mod locate;
mod read;
mod schema;
mod value;
pub(crate) mod write;

pub use error::FxError;
pub use float::{F64, python_float};
pub use read::{DEFAULT_MAX_BYTES, ReadOptions, read, read_from, read_with};
pub use schema::{
    ArgInfo, AttrRef, BoundBy, Constant, Container, Document, Functionalized, Input, InputKind,
    Kind, Node, Nullable, OpInfo, Opcode, Output, OutputKind, ResultRole, ReturnInfo, Subgraph,
    Symbol, SymbolKind,
};
pub use value::{Opaque, Operator, OutMeta, Size, Tensor, Tree, Value};
pub use write::{write, write_gzip};

/// Name of the schema, as in a file's `schema`.
pub const SCHEMA: &str = "fxg";
/// The schema version that this reader and writer know.
pub const SCHEMA_VERSION: &str = "1.0";

#[cfg(test)]
pub(crate) mod tests;
