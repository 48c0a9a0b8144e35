//! GitHub workflow commands.

use super::Region;
use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use std::fmt::Write;

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for d in diagnostics {
        let at = Region::of(d.span(), sources);
        let path = property(&sources.get(d.span().file).path);
        let (severity, code) = (d.severity().as_str(), d.code);
        // Writing to a `String` cannot fail.
        let _ = write!(out, "::{severity} title=fusec ({code}),file={path},line={}", at.line);
        // GitHub rejects columns on ranges of several lines.
        let _ = match at.line == at.end_line {
            true => write!(out, ",col={},endLine={},endColumn={}", at.col, at.line, at.end_col),
            false => write!(out, ",endLine={}", at.end_line),
        };
        let _ = writeln!(out, "::{}", data(&message(d)));
    }
    out
}

fn message(d: &Diagnostic) -> String {
    let mut all = d.message.clone();
    for help in &d.help {
        let _ = write!(all, "\nhelp: {}", help.text);
    }
    all
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
