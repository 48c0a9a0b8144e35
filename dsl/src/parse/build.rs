//! From pest's pairs to the tree: the parts every item has.
//!
//! Functions return `None` only where the grammar rules the case out or where an error is already
//! reported; the item then becomes [`Item::Broken`].

use super::{Input, Rule};
use crate::ast::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use pest::iterators::{Pair, Pairs};

pub(super) type P<'i> = Pair<'i, Rule>;

/// Builds the tree of one piece.
pub(super) struct Build<'a> {
    pub input: &'a Input<'a>,
    /// Where the piece starts in the file.
    base: usize,
    /// Mistakes that the grammar does not see.
    pub errors: Vec<Diagnostic>,
}

impl<'a> Build<'a> {
    pub fn new(input: &'a Input<'a>, base: usize) -> Self {
        Build { input, base, errors: Vec::new() }
    }

    pub fn piece(
        &mut self,
        pairs: Pairs<'_, Rule>,
        broken: impl Fn() -> Item,
    ) -> (Option<Doc>, Vec<Item>) {
        let (mut doc, mut items) = (None, Vec::new());
        for p in pairs {
            match p.as_rule() {
                Rule::module => doc = Some(self.doc(p, "//!")),
                Rule::item => items.push(self.item(p).unwrap_or_else(&broken)),
                _ => {}
            }
        }
        (doc, items)
    }

    /// The span of a pair without the blanks and comments that pest counts in at its end.
    pub fn span(&self, p: &P<'_>) -> Span {
        let s = p.as_span();
        let start = self.base + s.start();
        self.input.span(start, self.input.tokens.end_before(self.base + s.end(), start))
    }

    pub fn name(&self, p: &P<'_>) -> Name {
        let span = self.span(p);
        Name { text: self.text(span).to_string(), span }
    }

    pub fn text(&self, span: Span) -> &'a str {
        &self.input.text[span.start as usize..span.end as usize]
    }

    pub fn names(&self, p: P<'_>) -> Vec<Name> {
        let named = |c: &P<'_>| matches!(c.as_rule(), Rule::ident | Rule::any);
        p.into_inner().filter(named).map(|c| self.name(&c)).collect()
    }

    pub fn string(&self, p: &P<'_>) -> Str {
        let span = self.span(p);
        Str { text: unescape(self.text(span)), span }
    }

    /// The text of a doc comment: slashes and one blank after them removed.
    pub fn doc(&self, p: P<'_>, slashes: &str) -> Doc {
        let span = self.span(&p);
        let lines: Vec<&str> = p
            .into_inner()
            .map(|line| {
                let text = line.as_str().strip_prefix(slashes).unwrap_or_default().trim_end();
                text.strip_prefix(' ').unwrap_or(text)
            })
            .collect();
        Doc { text: lines.join("\n"), span }
    }

    pub fn syntax(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.errors.push(Diagnostic::new(Code::Syntax, span, message));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    pub fn block(&mut self, p: P<'_>) -> Option<Block> {
        let span = self.span(&p);
        let stmts = p.into_inner().map(|s| self.stmt(s)).collect::<Option<_>>()?;
        Some(Block { stmts, span })
    }

    pub fn stmt(&mut self, p: P<'_>) -> Option<Stmt> {
        let span = self.span(&p);
        let (mut targets, mut tuple, mut value) = (Vec::new(), false, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::targets => {
                    tuple = c.as_str().starts_with('(');
                    targets = self.names(c);
                }
                _ => value = Some(self.expr(c)?),
            }
        }
        Some(Stmt { targets, tuple, value: value?, span })
    }
}

/// What a string literal says.
fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or_default();
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            (c, false) => out.push(c),
        }
    }
    out
}
