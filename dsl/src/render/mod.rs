//! Diagnostics as text for people, lines for editors, and data for machines.

mod concise;
mod github;
mod json;
mod sarif;
mod text;

use crate::diagnostic::Diagnostic;
use crate::source::{SourceMap, Span};
use std::str::FromStr;

/// What to render to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Source excerpts with the places marked.
    #[default]
    Text,
    /// One line each: `path:line:column: error[code] message`.
    Concise,
    /// An array of objects.
    Json,
    /// Workflow commands that GitHub shows on the changed lines.
    Github,
    /// SARIF 2.1.0.
    Sarif,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(&'static str, Format); 5] = [
        ("text", Format::Text),
        ("concise", Format::Concise),
        ("json", Format::Json),
        ("github", Format::Github),
        ("sarif", Format::Sarif),
    ];
}

impl FromStr for Format {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let named = Format::ALL.iter().find(|(name, _)| *name == s);
        named.map(|(_, f)| *f).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
            format!("unknown format `{s}`; there are {}", names.join(", "))
        })
    }
}

/// Renders diagnostics in the order given. `color` matters to [`Format::Text`] only.
pub fn render(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    format: Format,
    color: bool,
) -> String {
    match format {
        Format::Text => text::render(diagnostics, sources, color),
        Format::Concise => concise::render(diagnostics, sources),
        Format::Json => json::render(diagnostics, sources),
        Format::Github => github::render(diagnostics, sources),
        Format::Sarif => sarif::render(diagnostics, sources),
    }
}

/// A span in lines and columns; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Line of the first character.
    pub line: usize,
    /// Column of the first character.
    pub col: usize,
    /// Line of the character after the last.
    pub end_line: usize,
    /// Column of the character after the last.
    pub end_col: usize,
}

impl Region {
    /// Where a span is.
    pub fn of(span: Span, sources: &SourceMap) -> Region {
        let text = &sources.get(span.file).text;
        let range = clamp(span, text);
        let (line, col) = place(text, range.start);
        let (end_line, end_col) = place(text, range.end);
        Region { line, col, end_line, end_col }
    }
}

fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.bytes().filter(|b| *b == b'\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A byte range that is certainly inside the text and on character boundaries.
fn clamp(span: Span, text: &str) -> std::ops::Range<usize> {
    let inside = |at: u32| {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = inside(span.start);
    start..inside(span.end).max(start)
}
