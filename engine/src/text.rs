//! The readable SSA text form of a graph.
//!
//! ```text
//! graph tiny: inductor_post_grad
//! device cuda:0
//! symbol s72 in 2..2048 at %arg0_1
//! %arg0_1: int(s72) = symint input_ids.size().0
//! %arg1_1: bf16[s72, 8192] = user_input x
//! %silu: bf16[s72, 4096] = aten.silu.default(%split)  // layers.0.mlp
//! %empty: f8e4m3fn[s72, 4096] = aten.empty.memory_format([%arg0_1, 4096], dtype=f8e4m3fn)
//! %quant: (none, result: f8e4m3fn[s72, 4096]) = functional _C.static_scaled_fp8_quant.default(result=%empty, ..)
//! return (%getitem_1)
//! ```
//!
//! One node a line: name, what it yields, what it calls, its module. Tensors are contiguous on the
//! graph's `device` unless `strided[..]`, `+ offset` or `on cpu` say otherwise. `functional f(..)`
//! is `auto_functionalized` of `f` (`functional_v2`: version 2); a label in its tuple names the
//! argument (or `base0`, an entry of `_all_bases`) whose new contents that result is. `{2*s72}` is a
//! symbolic integer as an argument.
//!
//! [`print`] leaves nothing out: [`parse`] gives back a graph that exports to the same document,
//! except that of several spellings of one size expression the first is kept. `@3` is the number of
//! a storage, written only where it is not the one that the op would be expected to have. After
//! `return` come the parts that people rarely read (operator schemas, expressions as trees, origin).
//!
//! [`brief`] is for diffs and reports. It leaves out: storages, examples and sources of symbols,
//! sources and persistence of inputs, the print of opaque objects, nulls for targets of outputs, and
//! everything after `return`. It parses too; operators then get a schema made up from their calls.

mod cursor;
mod invent;
mod parse;
mod print;
mod size;
mod storage;
mod values;

pub use parse::parse;
pub use print::{brief, line, print};

use std::fmt;

/// Why a text is not a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line, from 1; 0 when the whole is meant.
    pub line: usize,
    /// Column in characters, from 1; 0 when the line is meant.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => f.write_str(&self.what),
            (line, 0) => write!(f, "line {line}: {}", self.what),
            (line, column) => write!(f, "line {line}, column {column}: {}", self.what),
        }
    }
}

impl std::error::Error for TextError {}

/// Words that stand for a device, layout or memory format without quotes.
const DEVICES: &[&str] = &["cpu", "cuda", "meta", "xpu", "mps"];
const LAYOUTS: &[&str] = &["strided", "sparse_coo", "sparse_csr", "jagged"];
const FORMATS: &[&str] =
    &["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"];

/// Whether a device can stand without quotes: `cpu`, `cuda:0`.
fn plain_device(name: &str) -> bool {
    let (kind, index) = name.split_once(':').unwrap_or((name, "0"));
    DEVICES.contains(&kind) && !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a name can stand without quotes.
fn plain_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && name.chars().all(inner)
}

/// What a call is when its target alone is seen; another kind is written before the target.
fn usual_kind(target: &str) -> crate::fx::Kind {
    use crate::fx::Kind;
    let builtin = ["operator.", "math.", "builtins."].iter().any(|p| target.starts_with(p));
    match () {
        () if builtin => Kind::Builtin,
        () if target.starts_with("higher_order.") => Kind::Hop,
        () => Kind::Op,
    }
}

#[cfg(test)]
mod tests;
