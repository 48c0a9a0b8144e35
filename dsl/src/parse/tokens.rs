//! A light scan of the text: where words, brackets and comments are. The grammar does not use it;
//! recovery, error messages, spans and the formatter do.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word,
    /// Starts with a digit.
    Number,
    /// A closed string.
    Str,
    /// An operator or bracket.
    Punct,
    /// One `///` line.
    Doc,
    /// One `//!` line.
    ModuleDoc,
    /// A string without its closing quote.
    OpenStr,
    /// A character that no token starts with.
    Bad,
}

/// A token that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Whether only blanks stand before it on its line.
    pub first: bool,
    /// Whether it starts its line without indentation.
    pub column0: bool,
}

/// An ordinary comment, slashes included, without the line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    pub start: usize,
    pub end: usize,
    /// Whether only blanks stand before it on its line.
    pub own_line: bool,
}

/// A scanned text.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
}

impl Tokens {
    /// End of the last token that ends at or before `pos`, or `floor`.
    pub fn end_before(&self, pos: usize, floor: usize) -> usize {
        let n = self.tokens.partition_point(|t| t.end <= pos);
        n.checked_sub(1).map_or(floor, |i| self.tokens[i].end).max(floor)
    }
}

/// Operators of more than one character, longest first.
const LONG: [&str; 10] = ["<=>", "=>", "->", "==", "!=", "<=", ">=", "&&", "||", ".."];
const SHORT: &[u8] = b"()[]{}<>,:=+-*/%!|?._";

/// Scans a text. Linear; accepts anything.
pub(crate) fn scan(text: &str) -> Tokens {
    let mut out = Tokens::default();
    let bytes = text.as_bytes();
    let (mut at, mut line_start, mut first) = (0, 0, true);
    while at < bytes.len() {
        let b = bytes[at];
        if b == b'\n' {
            (at, line_start, first) = (at + 1, at + 1, true);
            continue;
        }
        if matches!(b, b' ' | b'\t'..=b'\r') {
            at += 1;
            continue;
        }
        if at == 0 && text.starts_with('\u{FEFF}') {
            at = '\u{FEFF}'.len_utf8();
            line_start = at;
            continue;
        }
        let (kind, end) = token(text, at);
        match kind {
            Some(kind) => {
                let column0 = first && at == line_start;
                out.tokens.push(Token { kind, start: at, end, first, column0 });
            }
            None => out.comments.push(Comment { start: at, end, own_line: first }),
        }
        (at, first) = (end, false);
    }
    out
}

/// The token or comment (`None`) at `at`, and its end.
fn token(text: &str, at: usize) -> (Option<Kind>, usize) {
    let rest = &text[at..];
    let b = rest.as_bytes()[0];
    if rest.starts_with("//") {
        let end = at + rest.find('\n').unwrap_or(rest.len());
        let end = at + text[at..end].trim_end().len();
        return (comment_kind(rest), end);
    }
    if b.is_ascii_alphabetic() || b == b'_' {
        return (Some(Kind::Word), at + word_len(rest));
    }
    if b.is_ascii_digit() {
        return (Some(Kind::Number), at + number_len(rest));
    }
    if b == b'"' {
        let (kind, len) = string(rest);
        return (Some(kind), at + len);
    }
    if let Some(op) = LONG.iter().find(|op| rest.starts_with(**op)) {
        return (Some(Kind::Punct), at + op.len());
    }
    if SHORT.contains(&b) {
        return (Some(Kind::Punct), at + 1);
    }
    (Some(Kind::Bad), at + rest.chars().next().map_or(1, char::len_utf8))
}

fn comment_kind(rest: &str) -> Option<Kind> {
    match rest.as_bytes().get(2..) {
        Some([b'!', ..]) => Some(Kind::ModuleDoc),
        Some([b'/', b'/', ..]) => None,
        Some([b'/', ..]) => Some(Kind::Doc),
        _ => None,
    }
}

fn word_len(rest: &str) -> usize {
    rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

/// Length of a number, with whatever word is stuck to it (`2d`), so that messages show both.
fn number_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let b = bytes[at];
        let next_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let exponent = at > 0 && matches!(bytes[at - 1], b'e' | b'E');
        let part = match b {
            b'.' => next_digit,
            b'+' | b'-' => exponent && next_digit,
            _ => b.is_ascii_alphanumeric() || b == b'_',
        };
        if !part {
            break;
        }
        at += 1;
    }
    at
}

fn string(rest: &str) -> (Kind, usize) {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return (Kind::OpenStr, rest[..i].trim_end().len()),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (Kind::Str, i + 1),
            _ => {}
        }
    }
    (Kind::OpenStr, rest.trim_end().len())
}
