//! `path:line:column: error[code] message`, as editors and `grep` users like it.

use super::Region;
use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use std::fmt::Write;

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for d in diagnostics {
        let at = Region::of(d.span(), sources);
        let path = &sources.get(d.span().file).path;
        let (severity, code, message) = (d.severity().as_str(), d.code, &d.message);
        // Writing to a `String` cannot fail.
        let _ = writeln!(out, "{path}:{}:{}: {severity}[{code}] {message}", at.line, at.col);
    }
    out
}
