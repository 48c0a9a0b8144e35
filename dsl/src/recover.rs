//! Error recovery: cuts a file into items, and an item that does not parse into its parts.
//!
//! Indentation and keywords say where a mistake must have ended: an item starts at a line that
//! starts with its keyword, a statement at a line at bracket depth 0 or one that looks like a
//! binding. Each part is parsed on its own, so one mistake hides no other.

use crate::diagnostic::{Code, Diagnostic, closest};
use crate::parse::message::syntax_error;
use crate::parse::tokens::{Kind, Token};
use crate::parse::{Input, MAX_DEPTH, Rule};

/// Words that start an item.
pub(crate) const ITEMS: [&str; 9] =
    ["op", "bind", "family", "variant", "enum", "rewrite", "fusion", "pass", "test"];

/// Words that may start a line of an item without being indented.
const CLAUSES: [&str; 11] = [
    "where", "kernel", "cost", "tune", "torch", "means", "extern", "graph", "return", "fires", "in",
];

/// One item with its doc comment, or what stands before the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Byte range.
    pub start: usize,
    pub end: usize,
    /// Token range.
    pub first: usize,
    pub last: usize,
    /// The token of the keyword, known or not; `None` when the piece has no item.
    pub keyword: Option<usize>,
    /// The token of the name.
    pub name: Option<usize>,
}

/// Cuts the text where items start. The pieces cover the text.
pub(crate) fn split(input: &Input<'_>) -> Vec<Piece> {
    let tokens = &input.tokens.tokens;
    let mut starts = Vec::new();
    let mut depth = 0usize;
    for i in 0..tokens.len() {
        if starts_item(input, i, depth) {
            starts.push(i);
            depth = 0;
        }
        depth = nest(depth, input.token(i));
    }
    let mut pieces = Vec::new();
    let (mut from, mut keyword) = (0, None);
    for start in starts.into_iter().map(Some).chain([None]) {
        let to = docs_above(tokens, start.unwrap_or(tokens.len()), from);
        if to > from {
            pieces.push(piece(input, from, to, keyword));
        }
        (from, keyword) = (to, start);
    }
    if from < tokens.len() {
        // Doc lines with no item under them.
        pieces.push(piece(input, from, tokens.len(), None));
    }
    pieces
}

fn piece(input: &Input<'_>, first: usize, last: usize, keyword: Option<usize>) -> Piece {
    let tokens = &input.tokens.tokens;
    let start = tokens[first].start;
    let end = tokens.get(last).map_or(input.text.len(), |t| t.start);
    let name = keyword.map(|k| match input.token(k) {
        "variant" => k + 2,
        "rewrite" if input.token(k + 1) == "approx" && input.token(k + 2) == "(" => {
            (k + 3..last).find(|&i| input.token(i) == ")").map_or(k + 1, |i| i + 1)
        }
        _ => k + 1,
    });
    let name = name.filter(|&i| i < last && tokens[i].kind == Kind::Word);
    Piece { start, end, first, last, keyword, name }
}

/// First of the doc lines right above token `item`.
fn docs_above(tokens: &[Token], item: usize, floor: usize) -> usize {
    let mut at = item;
    while at > floor && tokens[at - 1].kind == Kind::Doc {
        at -= 1;
    }
    at
}

/// Bracket depth after a token.
fn nest(depth: usize, token: &str) -> usize {
    match token {
        "(" | "[" | "{" => depth + 1,
        ")" | "]" | "}" => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Whether an item starts at token `i`: a keyword where one can stand, or, in column 0, two words
/// in a row and what may follow an item's name (so a misspelt keyword is seen, too).
fn starts_item(input: &Input<'_>, i: usize, depth: usize) -> bool {
    let t = input.tokens.tokens[i];
    if !t.first || t.kind != Kind::Word || !(t.column0 || depth == 0) {
        return false;
    }
    let (word, next) = (input.token(i), input.token(i + 1));
    let Some(after) = input.tokens.tokens.get(i + 1) else { return ITEMS.contains(&word) };
    let named = after.kind == Kind::Word && next != "in" && !after.first;
    if ITEMS.contains(&word) {
        let unnamed = depth == 0 && (after.first || matches!(next, "(" | "<" | "{"));
        return named || after.kind == Kind::Str || (t.column0 && unnamed);
    }
    t.column0
        && named
        && !CLAUSES.contains(&word)
        && input
            .tokens
            .tokens
            .get(i + 2)
            .is_none_or(|t| t.first || matches!(input.token(i + 2), "(" | "<" | "{"))
}

/// The error for a piece whose brackets nest too deep for the parser's stack.
pub(crate) fn too_deep(input: &Input<'_>, piece: &Piece) -> Option<Diagnostic> {
    let mut depth = 0usize;
    for i in piece.first..piece.last {
        depth = nest(depth, input.token(i));
        if depth > MAX_DEPTH {
            let t = input.tokens.tokens[i];
            return Some(crate::parse::too_deep(input.span(t.start, t.end)));
        }
    }
    None
}

/// A range of tokens and the rule it should follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub rule: Rule,
    pub first: usize,
    pub last: usize,
}

/// Everything that is wrong with a piece that does not parse, in source order.
pub(crate) fn explain(input: &Input<'_>, piece: &Piece) -> Vec<Diagnostic> {
    let whole = Part { rule: Rule::piece, first: piece.first, last: piece.last };
    let Some(keyword) = piece.keyword else {
        return vec![outside_item(input, whole)];
    };
    let word = input.token(keyword);
    if !ITEMS.contains(&word) {
        return vec![unknown_item(input, keyword)];
    }
    let mut errors = match word {
        "op" | "rewrite" | "fusion" => body_errors(input, piece, keyword, Rule::only_stmt),
        "family" | "variant" => body_errors(input, piece, keyword, Rule::only_member),
        "bind" => torch_errors(input, piece, keyword),
        "test" => test_errors(input, piece, keyword),
        _ => Vec::new(),
    };
    if errors.is_empty() {
        errors.extend(syntax_error(input, whole));
    }
    errors
}

/// Text before the first item that is neither a module doc nor a comment.
fn outside_item(input: &Input<'_>, part: Part) -> Diagnostic {
    let tokens = &input.tokens.tokens;
    let stray = (part.first..part.last).find(|&i| tokens[i].kind != Kind::ModuleDoc);
    let i = stray.unwrap_or(part.first);
    let span = input.span(tokens[i].start, tokens[i].end);
    if tokens[i].kind == Kind::Doc {
        return Diagnostic::new(Code::StrayDoc, span, "this doc comment documents nothing")
            .help("put it above an item, or write `//` for a comment and `//!` for the file");
    }
    Diagnostic::new(Code::Syntax, span, format!("expected an item, found `{}`", input.token(i)))
        .note(format!("an item starts with one of {}", listed(&ITEMS)))
}

fn unknown_item(input: &Input<'_>, keyword: usize) -> Diagnostic {
    let t = input.tokens.tokens[keyword];
    let (word, span) = (input.token(keyword), input.span(t.start, t.end));
    let error = Diagnostic::new(Code::Syntax, span, format!("expected an item, found `{word}`"))
        .label("not a keyword");
    let others = ["where", "kernel", "cost", "rule"];
    match closest(word, ITEMS.into_iter().chain(others)) {
        Some("rule") => error.help_edit("did you mean `rewrite`?", span, "rewrite"),
        Some(c) => error.help_edit(format!("did you mean `{c}`?"), span, c),
        None => error.note(format!("an item starts with one of {}", listed(&ITEMS))),
    }
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

/// Errors of an item with a head, braces, and a tail.
fn body_errors(input: &Input<'_>, piece: &Piece, keyword: usize, each: Rule) -> Vec<Diagnostic> {
    let open = (keyword..piece.last)
        .find(|&i| input.token(i) == "{" && input.token(i.saturating_sub(1)) != "in");
    let head = Part { rule: Rule::only_head, first: keyword, last: open.unwrap_or(piece.last) };
    let mut errors: Vec<Diagnostic> = syntax_error(input, head).into_iter().collect();
    let Some(open) = open else { return errors };
    let (close, closed) = body_end(input, open, piece.last);
    for part in lines(input, open + 1, close, each) {
        errors.extend(syntax_error(input, part));
    }
    if !closed {
        errors.push(unclosed(input, open, close));
    }
    let first = if closed { close + 1 } else { close };
    let tail = Part { rule: Rule::only_tail, first, last: piece.last };
    if first < piece.last && input.token(keyword) == "fusion" {
        errors.extend(syntax_error(input, tail));
    }
    errors
}

/// Errors in the `torch` lines of a bind.
fn torch_errors(input: &Input<'_>, piece: &Piece, keyword: usize) -> Vec<Diagnostic> {
    let heads: Vec<usize> = (keyword..piece.last)
        .filter(|&i| input.token(i) == "torch" && input.tokens.tokens[i].first)
        .chain([piece.last])
        .collect();
    let part = |w: &[usize]| Part { rule: Rule::only_torch, first: w[0], last: w[1] };
    heads.windows(2).filter_map(|w| syntax_error(input, part(w))).collect()
}

/// Errors in the statements of a test's graph.
fn test_errors(input: &Input<'_>, piece: &Piece, keyword: usize) -> Vec<Diagnostic> {
    let Some(graph) = (keyword..piece.last).find(|&i| input.token(i) == "graph") else {
        return Vec::new();
    };
    let Some(open) = (graph..piece.last).find(|&i| input.token(i) == "{") else {
        return Vec::new();
    };
    let (close, _) = body_end(input, open, piece.last);
    lines(input, open + 1, close, Rule::only_stmt)
        .into_iter()
        .filter(|part| input.token(part.first) != "return")
        .filter_map(|part| syntax_error(input, part))
        .collect()
}

/// The token that ends the braces opened at `open`, and whether it is a `}`.
fn body_end(input: &Input<'_>, open: usize, last: usize) -> (usize, bool) {
    let mut depth = 0usize;
    for i in open..last {
        let column0 = input.tokens.tokens[i].column0;
        match input.token(i) {
            "{" => depth += 1,
            "}" if depth <= 1 || column0 => return (i, true),
            "}" => depth -= 1,
            "kernel" | "cost" if column0 => return (i, false),
            _ => {}
        }
    }
    (last, false)
}

fn unclosed(input: &Input<'_>, open: usize, at: usize) -> Diagnostic {
    let tokens = &input.tokens.tokens;
    let end = tokens[at - 1].end;
    let brace = input.span(tokens[open].start, tokens[open].end);
    let found = match tokens.get(at) {
        None => "the end of the file".to_string(),
        Some(t) if t.kind == Kind::Doc => "the next item".to_string(),
        Some(_) => format!("`{}`", input.token(at)),
    };
    Diagnostic::new(Code::Syntax, input.span(end, end), format!("expected `}}`, found {found}"))
        .label("the block should end here")
        .because(brace, "this block is still open")
}

/// Cuts the tokens between braces into statements.
fn lines(input: &Input<'_>, first: usize, last: usize, rule: Rule) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut from, mut depth) = (first, 0usize);
    for i in first..last {
        let (t, text) = (input.tokens.tokens[i], input.token(i));
        let arrow = depth == 0 && matches!(text, "=>" | "<=>");
        let continued = text == "|" || (i > first && input.token(i - 1) == "=");
        let starts = t.first && ((depth == 0 && !continued) || binds(input, i));
        if (starts || arrow) && i > from {
            parts.push(Part { rule, first: from, last: i });
        }
        if starts || arrow {
            (from, depth) = (if arrow { i + 1 } else { i }, 0);
        }
        depth = nest(depth, text);
    }
    if last > from {
        parts.push(Part { rule, first: from, last });
    }
    parts
}

/// Whether the line that starts at token `i` looks like `name =` or `(a, b) =`.
fn binds(input: &Input<'_>, i: usize) -> bool {
    if input.tokens.tokens[i].kind == Kind::Word {
        // `axis = -1,` on its own line is an argument.
        return input.token(i + 1) == "=" && !ends_with_comma(input, i);
    }
    let mut at = i;
    while input.tokens.tokens.get(at).is_some_and(|t| at == i || !t.first) {
        match (at == i, input.token(at)) {
            (true, "(") => {}
            (false, ")") => return input.token(at + 1) == "=",
            (false, ",") => {}
            (false, _) if input.tokens.tokens[at].kind == Kind::Word => {}
            _ => return false,
        }
        at += 1;
    }
    false
}

/// Whether the line of token `i` ends with a comma or closes a bracket that it does not open.
fn ends_with_comma(input: &Input<'_>, i: usize) -> bool {
    let (mut at, mut depth) = (i, 0i32);
    loop {
        match input.token(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return true;
        }
        if input.tokens.tokens.get(at + 1).is_none_or(|t| t.first) {
            return input.token(at) == ",";
        }
        at += 1;
    }
}
