//! What can go wrong between a fusion and a cubin.

use fusec_dsl::source::Span;
use std::fmt;

/// One clear message, with the place in a `.fuse` file where there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What happened, and a way out.
    pub message: String,
    /// Where it was written.
    pub span: Option<Span>,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Without a place.
    pub fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), span: None }
    }

    /// At a place.
    pub fn at(span: Span, message: impl Into<String>) -> Error {
        Error { message: message.into(), span: Some(span) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
