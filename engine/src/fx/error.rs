//! The one error of reading a graph file.

use std::fmt;

/// Why a file is not a graph: where, what, and a way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FxError {
    /// The place: a node, a JSON path, or a line and column.
    pub place: Option<String>,
    /// What is wrong there.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl FxError {
    /// An error without a place.
    pub fn new(what: impl Into<String>) -> FxError {
        FxError { place: None, what: what.into(), help: None }
    }

    /// An error at a node.
    pub fn at_node(name: &str, what: impl Into<String>) -> FxError {
        FxError::new(what).at(format!("node `{name}`"))
    }

    /// The same error with its place.
    pub fn at(mut self, place: impl Into<String>) -> FxError {
        self.place = Some(place.into());
        self
    }

    /// The same error with a place inside its node: `node `x`, args[1]`.
    pub fn inside(mut self, part: impl fmt::Display) -> FxError {
        self.place = Some(match self.place {
            Some(place) => format!("{part}, {place}"),
            None => part.to_string(),
        });
        self
    }

    /// The same error with a way out.
    pub fn help(mut self, help: impl Into<String>) -> FxError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for FxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.what)?;
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FxError {}
