//! Turns a failed parse into a sentence a person would say.
//!
//! pest tells every token that could have stood at the furthest place it reached. Most of them are
//! noise (any operator could follow an operand); what a reader expects is told by rank: closing
//! punctuation first, then the marks of the construct, then keywords.

use super::tokens::Kind;
use super::{Grammar, Input, Rule};
use crate::diagnostic::{Code, Diagnostic, closest};
use crate::recover::{ITEMS, Part};
use crate::source::Span;
use pest::Parser;
use pest::error::{Error, ErrorVariant};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The error of a part that does not follow its rule; `None` if it does.
pub(crate) fn syntax_error(input: &Input<'_>, part: Part) -> Option<Diagnostic> {
    let tokens = &input.tokens.tokens;
    if part.first >= part.last {
        return None;
    }
    if let Some(error) = lexical(input, part) {
        return Some(error);
    }
    let (start, end) = (tokens[part.first].start, tokens[part.last - 1].end);
    let error = {
        let _detail = Detail::on();
        Grammar::parse(part.rule, &input.text[start..end]).err()?
    };
    if let ErrorVariant::CustomError { .. } = error.variant {
        return Some(super::too_deep(input.span(start, end)));
    }
    Some(explain(input, part, &Expected::of(&error, input, start)))
}

/// While one exists, pest notes what it expected. That is a setting of the whole process and makes
/// parsing several times slower, so it is on only for parts that are wrong.
struct Detail;

/// How many there are, over all threads.
static DETAILS: Mutex<usize> = Mutex::new(0);

impl Detail {
    fn on() -> Detail {
        let mut count = DETAILS.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        pest::set_error_detail(true);
        Detail
    }
}

impl Drop for Detail {
    fn drop(&mut self) {
        let mut count = DETAILS.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        pest::set_error_detail(*count > 0);
    }
}

/// What could have stood where the parse stopped.
struct Expected {
    /// Byte offset in the file.
    at: usize,
    tokens: BTreeSet<String>,
    ty: bool,
}

impl Expected {
    fn of(error: &Error<Rule>, input: &Input<'_>, start: usize) -> Expected {
        let Some(attempts) = error.parse_attempts() else {
            return Expected { at: start, tokens: BTreeSet::new(), ty: false };
        };
        let at = start + attempts.max_position;
        let mut tokens: BTreeSet<String> =
            attempts.expected_tokens().iter().map(ToString::to_string).collect();
        // At the end of a word, what could make the word longer is not news.
        let in_word = input.text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let blank_follows = !input.text[at..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if in_word && blank_follows && !tokens.contains("\"") {
            tokens.retain(|t| t != "_" && !t.contains(".."));
            if tokens.iter().all(|t| t.trim().is_empty() || t == "//") {
                tokens.insert("_".into());
            }
        }
        let named = |r| attempts.call_stacks().iter().any(|s| s.deepest.get_rule() == Some(&r));
        Expected { at, tokens, ty: named(Rule::ty) }
    }

    fn has(&self, token: &str) -> bool {
        self.tokens.contains(token)
    }

    /// Those of the list that are possible, in backticks.
    fn of_list(&self, list: &[&str]) -> Vec<String> {
        list.iter().filter(|t| self.has(t)).map(|t| format!("`{t}`")).collect()
    }

    /// Keywords that are possible, those that start items excepted.
    fn keywords(&self) -> Vec<&str> {
        let word = |t: &&str| t.len() > 1 && t.bytes().all(|b| b.is_ascii_lowercase());
        let infix = |t: &&str| *t == "in" && self.has("%");
        let all = self.tokens.iter().map(String::as_str).filter(word);
        all.filter(|w| !ITEMS.contains(w) && !infix(w)).collect()
    }

    /// What a reader expects here.
    fn words(&self) -> Vec<String> {
        let operator = self.has("%");
        let ends_line = self.has("<=>");
        if self.has("\"") && self.has("[") {
            // Another statement could follow, but this one must.
            let missing = self.of_list(&["=>", "return"]);
            if !missing.is_empty() {
                return missing;
            }
            let mut all = vec!["an expression".to_string()];
            all.extend(self.of_list(&[")", "]"]));
            return all;
        }
        if self.ty {
            return vec!["a type".into()];
        }
        if ends_line {
            let mut all = self.of_list(&["="]);
            all.push("the end of the line".into());
            return all;
        }
        let closing: &[&str] =
            if operator { &[",", ")", "]"] } else { &[",", ")", "]", "|", "}", ">"] };
        let marks: &[&str] = if operator {
            &["{"]
        } else {
            &["=>", "=", "->", ":", "(", "{", "torch", "in", "extern"]
        };
        for rank in [closing, marks] {
            let all = self.of_list(rank);
            if !all.is_empty() {
                return all;
            }
        }
        self.last_resort()
    }

    fn last_resort(&self) -> Vec<String> {
        if self.has("\"") {
            return vec!["a string".into()];
        }
        if self.has("_") {
            let mut all = vec!["a name".into()];
            all.extend(self.of_list(&["}"]));
            return all;
        }
        let mut all: Vec<String> = self.keywords().iter().map(|w| format!("`{w}`")).collect();
        if self.has("0..9") {
            all.push("a number".into());
        }
        if all.is_empty() && self.has("rewrite") {
            all.push("an item".into());
        }
        if all.is_empty() {
            all = self.of_list(&ITEMS);
        }
        if all.is_empty() && self.has("%") {
            all.push("an operator".into());
        }
        all
    }
}

/// Where the mistake is, and what stands there.
struct Found {
    span: Span,
    /// With backticks where it is code.
    what: String,
    /// The token itself, `""` at an end.
    text: String,
    /// Label under it.
    label: &'static str,
}

fn explain(input: &Input<'_>, part: Part, expected: &Expected) -> Diagnostic {
    let mut words = expected.words();
    let in_line = words.iter().any(|w| w == "the end of the line");
    let found = found(input, part, expected, in_line);
    if (in_line || words.is_empty()) && found.text == "->" {
        words = vec!["`=>`".into()];
    }
    if found.text == ")" && in_approx(input, part, expected) {
        words = vec!["a unit such as `ulp`".into()];
    }
    let message = match words.split_last() {
        _ if stuck_number(&found.text).is_some() => format!("missing `*` in {}", found.what),
        None => format!("unexpected {}", found.what),
        Some((only, [])) => format!("expected {only}, found {}", found.what),
        Some((last, rest)) => {
            format!("expected {} or {last}, found {}", rest.join(", "), found.what)
        }
    };
    let mut error = Diagnostic::new(Code::Syntax, found.span, message).label(found.label);
    if let Some(open) = open_bracket(input, part, expected) {
        error = error.because(open, "still open");
    }
    advise(error, input, part, expected, &found)
}

fn found(input: &Input<'_>, part: Part, expected: &Expected, in_line: bool) -> Found {
    let tokens = &input.tokens.tokens;
    let i = tokens.partition_point(|t| t.end <= expected.at);
    let next = tokens.get(i).copied();
    let same_line = next.is_some_and(|t| !t.first) || i == part.first;
    let keyword = |w: &String| (w.len() > 4 && w.starts_with('`')) || w == "an item";
    let only_keywords = expected.words().iter().all(keyword);
    if let Some(t) = next.filter(|_| same_line || (only_keywords && i < part.last)) {
        let text = input.token(i).to_string();
        let label = match t.kind {
            Kind::Word => "unexpected name",
            Kind::Number => "unexpected number",
            _ => "unexpected",
        };
        return Found { span: input.span(t.start, t.end), what: format!("`{text}`"), text, label };
    }
    // Noticed on a later line, but missing at the end of this one.
    let end = tokens[i - 1].end;
    let what = match next {
        None => "the end of the file".to_string(),
        Some(_) if in_line || part.rule == Rule::only_stmt => "the end of the line".to_string(),
        Some(_) if i >= part.last => "the next item".to_string(),
        Some(_) => format!("`{}` on the next line", input.token(i)),
    };
    Found { span: input.span(end, end), what, text: String::new(), label: "expected here" }
}

/// The innermost bracket still open where a closing one is expected.
fn open_bracket(input: &Input<'_>, part: Part, expected: &Expected) -> Option<Span> {
    let tokens = &input.tokens.tokens;
    let mut open = Vec::new();
    let before = tokens.partition_point(|t| t.start < expected.at).min(part.last);
    for i in part.first..before {
        match input.token(i) {
            "(" | "[" | "{" => open.push(i),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
    }
    let open = *open.last()?;
    let close = match input.token(open) {
        "(" => ")",
        "[" => "]",
        _ => "}",
    };
    let t = tokens[open];
    (expected.has(close) && !(close == "}" && expected.has("<=>")))
        .then(|| input.span(t.start, t.end))
}

/// Habits from other languages, and misspelt keywords.
fn advise(
    error: Diagnostic,
    input: &Input<'_>,
    part: Part,
    expected: &Expected,
    found: &Found,
) -> Diagnostic {
    let replace = |error: Diagnostic, new: &str| {
        error.help_edit(format!("write `{new}`"), found.span, new.to_string())
    };
    match found.text.as_str() {
        "and" => return replace(error, "&&"),
        "or" => return replace(error, "||"),
        "not" => return replace(error, "!"),
        "->" if error.message.starts_with("expected `=>`") => return replace(error, "=>"),
        _ => {}
    }
    let first = input.tokens.tokens[part.first];
    if part.rule == Rule::only_stmt && matches!(input.token(part.first), "let" | "return") {
        let next = input.tokens.tokens.get(part.first + 1).map_or(first.end, |t| t.start);
        let help = match input.token(part.first) {
            "let" => "a binding is just `name = value`",
            _ => "the last line of a body is its value",
        };
        return error.help_edit(help, input.span(first.start, next), "");
    }
    if found.text == "}" && error.message.starts_with("expected an item") {
        return error.note("no `{` is open here");
    }
    if let Some(digits) = stuck_number(&found.text) {
        let (number, word) = found.text.split_at(digits);
        return replace(error, &format!("{number}*{word}"));
    }
    match closest(&found.text, expected.keywords()) {
        Some(c) if c != found.text => {
            error.help_edit(format!("did you mean `{c}`?"), found.span, c)
        }
        _ => error,
    }
}

/// Whether the place is between the parentheses of `approx(..)`.
fn in_approx(input: &Input<'_>, part: Part, expected: &Expected) -> bool {
    let i = input.tokens.tokens.partition_point(|t| t.end <= expected.at);
    let open = (part.first..i).rev().find(|&i| input.token(i) == "(");
    open.is_some_and(|open| open > part.first && input.token(open - 1) == "approx")
}

/// The length of the number in `2d`.
fn stuck_number(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(|b| b.is_ascii_digit()).count();
    let word = &text[digits..];
    let named = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (digits > 0 && named).then_some(digits)
}

/// Mistakes within a token: they explain whatever else the parser would say.
fn lexical(input: &Input<'_>, part: Part) -> Option<Diagnostic> {
    let tokens = &input.tokens.tokens;
    let doc_ends = (part.first..part.last)
        .find(|&i| part.rule == Rule::piece && tokens[i].kind != Kind::Doc)
        .unwrap_or(part.first);
    for i in doc_ends..part.last {
        let t = tokens[i];
        let (span, text) = (input.span(t.start, t.end), input.token(i));
        match t.kind {
            Kind::Bad => return Some(bad_character(span, text)),
            Kind::OpenStr => {
                let error = Diagnostic::new(Code::Syntax, span, "this string is not closed");
                return Some(error.help("a string ends on its line, with `\"`"));
            }
            Kind::Doc => {
                let slashes = Span { end: span.start + 3, ..span };
                let error =
                    Diagnostic::new(Code::StrayDoc, span, "this doc comment documents nothing")
                        .note("`///` stands right above an item");
                return Some(error.help_edit("make it a comment", slashes, "//"));
            }
            Kind::ModuleDoc if i > 0 && tokens[i - 1].kind != Kind::ModuleDoc => {
                let error =
                    Diagnostic::new(Code::StrayDoc, span, "this doc comment is out of place");
                return Some(error.note("`//!` documents the file and stands at its top"));
            }
            _ => {}
        }
    }
    None
}

fn bad_character(span: Span, text: &str) -> Diagnostic {
    let error = Diagnostic::new(Code::Syntax, span, format!("unexpected character `{text}`"));
    match text {
        ";" => error.help_edit("a statement ends with its line", span, ""),
        "#" => error.help_edit("a comment starts with `//`", span, "//"),
        "'" => error.help("a string stands between `\"` and `\"`"),
        "&" => error.help_edit("write `&&`", span, "&&"),
        _ if !text.is_ascii() => error.note("names and operators are ASCII"),
        _ => error,
    }
}
