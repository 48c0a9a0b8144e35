//! One form for every file: [`format`](format()) prints the tree, with the comments where they were.
//!
//! What the author decides: names, order, comments, parentheses, and one blank line or none between
//! statements and between short items. Everything else follows from the tree and the width.

mod flat;
mod items;
mod lists;

use crate::ast::File;
use crate::diagnostic::Diagnostic;
use crate::parse::tokens::{self, Comment};
use crate::parse::{self, Input};
use crate::source::{FileId, Span};

/// Widest line, in characters.
pub const WIDTH: usize = 100;

/// Formats a file. A file with errors is left alone: they are returned.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let file = FileId(0);
    if text.len() > parse::MAX_BYTES {
        return Err(parse::parse_text(text, file).1);
    }
    let tokens = tokens::scan(text);
    let (tree, errors) = parse::parse_scanned(&Input { text, tokens: &tokens, file });
    match errors.is_empty() {
        true => Ok(print(text, &tokens.comments, &tree)),
        false => Err(errors),
    }
}

fn print(text: &str, comments: &[Comment], tree: &File) -> String {
    let mut p = Printer::new(text, comments);
    p.file(tree);
    p.out
}

/// Prints in source order; comments are put out when the element after them is.
struct Printer<'a> {
    text: &'a str,
    comments: &'a [Comment],
    /// The first comment that is not printed yet.
    next: usize,
    out: String,
    /// End, in the source, of what was printed last.
    last_end: usize,
    /// Whether a blank line here would be the first line of a block.
    fresh: bool,
}

impl<'a> Printer<'a> {
    fn new(text: &'a str, comments: &'a [Comment]) -> Self {
        Printer { text, comments, next: 0, out: String::new(), last_end: 0, fresh: true }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn indent(&mut self, n: usize) {
        self.out.extend(std::iter::repeat_n(' ', n));
    }

    /// Characters on the current line.
    fn column(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |i| i + 1);
        self.out[start..].chars().count()
    }

    /// Whether this much more text fits on the current line.
    fn fits(&self, flat: &str, reserve: usize) -> bool {
        self.column() + flat.chars().count() + reserve <= WIDTH
    }

    /// Whether a comment is still to be printed before the end of a span.
    fn has_comment(&self, span: Span) -> bool {
        self.comments.get(self.next).is_some_and(|c| c.start < span.end as usize)
    }

    /// A blank line, if the source has one before `start`.
    fn keep_blank(&mut self, start: usize) {
        let between = self.text.get(self.last_end..start).unwrap_or_default();
        let lines = between.bytes().filter(|b| *b == b'\n').count();
        if !self.fresh && lines > 1 {
            self.push("\n");
        }
    }

    /// Prints the comments that stand before `pos`, a line each.
    fn comments_before(&mut self, pos: usize, indent: usize, blanks: bool) {
        while let Some(c) = self.comments.get(self.next).copied().filter(|c| c.start < pos) {
            self.next += 1;
            if blanks {
                self.keep_blank(c.start);
            }
            self.indent(indent);
            self.push(&self.text[c.start..c.end]);
            self.push("\n");
            (self.last_end, self.fresh) = (c.end.max(self.last_end), false);
        }
    }

    /// Starts the line of an element: comments above it, a blank line if the source has one.
    fn before(&mut self, span: Span, indent: usize, blanks: bool) {
        let start = span.start as usize;
        self.comments_before(start, indent, blanks);
        if blanks {
            self.keep_blank(start);
        }
        self.indent(indent);
        self.fresh = false;
    }

    /// Ends the line of an element, with the comment that follows it on its line.
    fn after(&mut self, span: Span) {
        let end = span.end as usize;
        self.last_end = self.last_end.max(end);
        if let Some(c) = self.comments.get(self.next).copied() {
            let between = self.text.get(end..c.start).unwrap_or("\n");
            if between.bytes().all(|b| matches!(b, b' ' | b'\t' | b',')) {
                self.next += 1;
                self.push(" ");
                self.push(&self.text[c.start..c.end]);
                self.last_end = c.end;
            }
        }
        self.push("\n");
    }
}
