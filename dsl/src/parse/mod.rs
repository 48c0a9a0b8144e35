//! Text to [`ast`](crate::ast): never fails, says everything that is wrong.
//!
//! The text is cut into pieces of one item ([`crate::recover`]); each is parsed by the grammar in
//! `fuse.pest` and built into the tree. A piece that does not parse is looked at part by part, so
//! that every mistake is reported where it is, once.

mod build;
mod exprs;
mod items;
pub(crate) mod message;
mod signature;
pub(crate) mod tokens;

use crate::ast::{Broken, Doc, File, Item};
use crate::diagnostic::{Code, Diagnostic};
use crate::recover::{self, Piece};
use crate::source::{FileId, Source, Span};
use build::Build;
pub(crate) use exprs::too_deep;
use pest::Parser;
use tokens::Tokens;

/// The parser that pest derives from the grammar.
pub(crate) mod grammar {
    #![allow(missing_docs)]
    /// Rules of `fuse.pest`.
    #[derive(pest_derive::Parser)]
    #[grammar = "fuse.pest"]
    pub(crate) struct Grammar;
}
pub(crate) use grammar::{Grammar, Rule};

/// Largest file accepted, in bytes. A `.fuse` file is a few pages; this is hundreds.
pub const MAX_BYTES: usize = 1 << 20;

/// Deepest nesting of brackets, and of any expression.
pub const MAX_DEPTH: usize = 100;

/// More errors than this in one file are not explained: it is not a `.fuse` file.
const MAX_ERRORS: usize = 200;

/// A text with its tokens: what every part of the parser looks at.
pub(crate) struct Input<'a> {
    pub text: &'a str,
    pub tokens: &'a Tokens,
    pub file: FileId,
}

impl Input<'_> {
    /// The span of a byte range.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    /// The text of token `i`, or `""` past the end.
    pub fn token(&self, i: usize) -> &str {
        self.tokens.tokens.get(i).map_or("", |t| &self.text[t.start..t.end])
    }
}

/// Parses a file. What does not parse is an [`Item::Broken`] and one diagnostic per mistake, in
/// source order.
pub fn parse(source: &Source, file: FileId) -> (File, Vec<Diagnostic>) {
    parse_text(&source.text, file)
}

/// [`parse`] for a text that has no path.
pub fn parse_text(text: &str, file: FileId) -> (File, Vec<Diagnostic>) {
    if text.len() > MAX_BYTES {
        return (File::default(), vec![too_large(text.len(), file)]);
    }
    let tokens = tokens::scan(text);
    parse_scanned(&Input { text, tokens: &tokens, file })
}

pub(crate) fn parse_scanned(input: &Input<'_>) -> (File, Vec<Diagnostic>) {
    let mut out = File::default();
    let mut errors = Vec::new();
    for piece in recover::split(input) {
        let (doc, items) = parse_piece(input, &piece, &mut errors);
        out.doc = out.doc.or(doc);
        out.items.extend(items);
    }
    crate::diagnostic::sort(&mut errors);
    if errors.len() > MAX_ERRORS {
        errors.truncate(MAX_ERRORS);
        let note = format!("there are more; only the first {MAX_ERRORS} of a file are reported");
        errors[MAX_ERRORS - 1].notes.push(note);
    }
    (out, errors)
}

/// Parses bytes that should be UTF-8.
pub fn decode(bytes: Vec<u8>, file: FileId) -> Result<String, Diagnostic> {
    if bytes.len() > MAX_BYTES {
        return Err(too_large(bytes.len(), file));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to() as u32;
        let start = Span { file, start: 0, end: 0 };
        Diagnostic::new(Code::NotUtf8, start, "the file is not UTF-8 text")
            .note(format!("the first byte that does not decode is at offset {at}"))
            .help("save the file as UTF-8")
    })
}

fn too_large(bytes: usize, file: FileId) -> Diagnostic {
    let start = Span { file, start: 0, end: 0 };
    Diagnostic::new(Code::TooLarge, start, format!("the file has {bytes} bytes"))
        .note(format!("a `.fuse` file may have at most {MAX_BYTES}"))
        .help("split the file; every file of a directory is loaded")
}

fn parse_piece(
    input: &Input<'_>,
    piece: &Piece,
    errors: &mut Vec<Diagnostic>,
) -> (Option<Doc>, Vec<Item>) {
    if let Some(error) = recover::too_deep(input, piece) {
        errors.push(error);
        return (None, vec![broken(input, piece)]);
    }
    match Grammar::parse(Rule::piece, &input.text[piece.start..piece.end]) {
        Ok(pairs) => {
            let mut build = Build::new(input, piece.start);
            let built = build.piece(pairs, || broken(input, piece));
            errors.append(&mut build.errors);
            built
        }
        Err(_) if errors.len() > MAX_ERRORS => (None, vec![broken(input, piece)]),
        Err(_) => {
            errors.extend(recover::explain(input, piece));
            (None, vec![broken(input, piece)])
        }
    }
}

fn broken(input: &Input<'_>, piece: &Piece) -> Item {
    let span = input.span(piece.start, input.tokens.end_before(piece.end, piece.start));
    let keyword = piece.keyword.map(|i| input.token(i).to_string());
    let name = piece.name.map(|i| {
        let t = &input.tokens.tokens[i];
        crate::ast::Name { text: input.token(i).to_string(), span: input.span(t.start, t.end) }
    });
    Item::Broken(Broken { keyword, name, span })
}
