//! An array of objects, one a line.

use super::Region;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceMap, Span};
use serde::Serialize;

#[derive(Serialize)]
struct Entry<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    labels: Vec<Label<'a>>,
    notes: &'a [String],
    help: Vec<Help<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    col: usize,
    end_line: usize,
    end_col: usize,
}

#[derive(Serialize)]
struct Label<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    primary: bool,
    text: &'a str,
}

#[derive(Serialize)]
struct Help<'a> {
    text: &'a str,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    new: &'a str,
}

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let lines: Vec<String> = diagnostics
        .iter()
        // Strings and numbers only: serialization cannot fail.
        .map(|d| serde_json::to_string(&entry(d, sources)).unwrap_or_default())
        .collect();
    match lines.is_empty() {
        true => "[]\n".to_string(),
        false => format!("[\n{}\n]\n", lines.join(",\n")),
    }
}

fn entry<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> Entry<'a> {
    let label = |l: &'a crate::diagnostic::Label| Label {
        place: place(l.span, sources),
        primary: l.primary,
        text: &l.text,
    };
    let edit =
        |e: &'a crate::diagnostic::Edit| Edit { place: place(e.span, sources), new: &e.text };
    let help = |h: &'a crate::diagnostic::Help| Help {
        text: &h.text,
        edits: h.edit.iter().map(edit).collect(),
    };
    Entry {
        code: d.code.as_str(),
        severity: d.severity().as_str(),
        message: &d.message,
        labels: d.labels.iter().map(label).collect(),
        notes: &d.notes,
        help: d.help.iter().map(help).collect(),
    }
}

fn place(span: Span, sources: &SourceMap) -> Place<'_> {
    let r = Region::of(span, sources);
    let file = &sources.get(span.file).path;
    Place { file, line: r.line, col: r.col, end_line: r.end_line, end_col: r.end_col }
}
