//! Turns a failed parse into a sentence a person would say.

use super::{Grammar, Input};
use crate::diagnostic::{Code, Diagnostic};
use crate::recover::Part;
use pest::Parser;

/// The error of a part that does not follow its rule; `None` if it does.
pub(crate) fn syntax_error(input: &Input<'_>, part: Part) -> Option<Diagnostic> {
    let tokens = &input.tokens.tokens;
    let start = tokens.get(part.first)?.start;
    let end = tokens[part.last - 1].end;
    pest::set_error_detail(true);
    let error = Grammar::parse(part.rule, &input.text[start..end]).err()?;
    Some(Diagnostic::new(Code::Syntax, input.span(start, end), format!("{error}")))
}
