//! Diagnostics in the form that the command line asks for.

use crate::args::Format;
use fusec_dsl::diagnostic::Diagnostic;
use fusec_dsl::render::{self, Format as Form};
use fusec_dsl::source::SourceMap;

/// Diagnostics shown before the rest becomes a count, in the form for people.
const MOST: usize = 20;

/// Text of diagnostics, in the order given.
pub fn render(
    sources: &SourceMap,
    diagnostics: &[Diagnostic],
    format: Format,
    color: bool,
) -> String {
    let form = match format {
        Format::Text => Form::Text,
        Format::Concise => Form::Concise,
        Format::Json => Form::Json,
        Format::Github => Form::Github,
        Format::Sarif => Form::Sarif,
    };
    let shown = match format {
        Format::Text => &diagnostics[..diagnostics.len().min(MOST)],
        _ => diagnostics,
    };
    let mut text = render::render(shown, sources, form, color);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match diagnostics.len() - shown.len() {
        0 => {}
        rest => text.push_str(&format!("... and {rest} more (--format concise shows all)\n")),
    }
    text
}
