//! Reading one line: words, numbers, quoted text, JSON, sizes.

use super::TextError;
use crate::fx::{Operator, Tree};
use serde::de::DeserializeOwned;

/// Deepest nesting of brackets that is read.
const MAX_DEPTH: usize = 48;

/// A place in a line.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    depth: usize,
}

type Result<T> = std::result::Result<T, TextError>;

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, line: usize) -> Cursor<'t> {
        Cursor { text, at: 0, line, depth: 0 }
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        let column = self.text[..self.at].chars().count() + 1;
        Err(TextError { line: self.line, column, what: what.into() })
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found: String = self.rest().chars().take(16).collect();
        match found.is_empty() {
            true => self.error(format!("expected {what}, found the end of the line")),
            false => self.error(format!("expected {what}, found `{found}`")),
        }
    }

    pub(super) fn spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// Takes the token if it is next, spaces before it aside.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let start = self.at;
        self.spaces();
        let found = self.rest().starts_with(token);
        self.at = if found { self.at + token.len() } else { start };
        found
    }

    pub(super) fn peek(&self, token: &str) -> bool {
        self.rest().trim_start_matches([' ', '\t']).starts_with(token)
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { self.expected(&format!("`{token}`")) }
    }

    /// Whether only space is left.
    pub(super) fn at_end(&self) -> bool {
        self.rest().trim().is_empty()
    }

    pub(super) fn expect_end(&self) -> Result<()> {
        if self.at_end() { Ok(()) } else { self.expected("the end of the line") }
    }

    fn take_while(&mut self, f: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !f(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The word that is next, without taking it.
    pub(super) fn peek_word(&self) -> &'t str {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Takes this word if it is next as a whole.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.peek_word() == word && self.eat(word)
    }

    /// A name: a word, or quoted.
    pub(super) fn name(&mut self) -> Result<String> {
        self.spaces();
        if self.rest().starts_with('"') {
            return self.json();
        }
        match self.take_while(is_word) {
            "" => self.expected("a name"),
            word => Ok(word.to_owned()),
        }
    }

    /// What runs to the next space, or is quoted.
    pub(super) fn chunk(&mut self) -> Result<String> {
        self.spaces();
        if self.rest().starts_with('"') {
            return self.json();
        }
        match self.take_while(|c| !c.is_whitespace()) {
            "" => self.expected("a name"),
            word => Ok(word.to_owned()),
        }
    }

    /// A JSON value.
    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Result<T> {
        self.spaces();
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<T>();
        match stream.next() {
            Some(Ok(value)) => {
                self.at += stream.byte_offset();
                Ok(value)
            }
            Some(Err(e)) => {
                let text = e.to_string();
                self.error(text.split(" at line ").next().unwrap_or(&text).to_owned())
            }
            None => self.expected("a JSON value"),
        }
    }

    /// Tries `f`; when it yields nothing the cursor stays.
    pub(super) fn attempt<T>(&mut self, f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let found = f(self);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    /// Runs `f` one bracket deeper.
    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return self.error(format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Items up to `close`, separated by commas; a comma may follow the last.
    pub(super) fn items<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            out.push(self.nested(&mut item)?);
            if !self.eat(",") && !self.peek(close) {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
        Ok(out)
    }

    /// An integer.
    pub(super) fn int<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.spaces();
        let start = self.at;
        let sign = usize::from(self.rest().starts_with('-'));
        self.at += sign;
        self.take_while(|c| c.is_ascii_digit());
        let digits = &self.text[start..self.at];
        match digits.parse() {
            Ok(v) => Ok(v),
            Err(_) => {
                self.at = start;
                self.expected("an integer")
            }
        }
    }

    /// The text of a number: `-3`, `1e-05`, `-inf`.
    pub(super) fn number(&mut self) -> &'t str {
        self.spaces();
        let start = self.at;
        while let Some(c) = self.rest().chars().next() {
            let exponent = self.text[start..self.at].ends_with(['e', 'E']);
            let sign = matches!(c, '-' | '+') && (self.at == start || exponent);
            if !sign && !c.is_ascii_alphanumeric() && c != '.' {
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A size expression, `128*((s72 + 127)//128)`.
    pub(super) fn size(&mut self) -> Result<Tree> {
        let mut sum = vec![self.term()?];
        loop {
            if self.eat("+") {
                sum.push(self.term()?);
            } else if self.eat("-") {
                let term = self.term()?;
                sum.push(Tree::Call(Operator::Mul, vec![Tree::Int(-1), term]));
            } else if sum.len() == 1 {
                return Ok(sum.remove(0));
            } else {
                return Ok(Tree::Call(Operator::Add, sum));
            }
        }
    }

    fn term(&mut self) -> Result<Tree> {
        let mut left = self.factor()?;
        loop {
            let op = match () {
                () if self.eat("//") => Operator::FloorDiv,
                () if self.eat("*") => Operator::Mul,
                () if self.eat("%") => Operator::Mod,
                () => return Ok(left),
            };
            let right = self.factor()?;
            left = match (op, left) {
                (Operator::Mul, Tree::Call(Operator::Mul, mut items)) => {
                    items.push(right);
                    Tree::Call(op, items)
                }
                (op, left) => Tree::Call(op, vec![left, right]),
            };
        }
    }

    fn factor(&mut self) -> Result<Tree> {
        self.spaces();
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Tree::Int(self.int()?));
        }
        if rest.starts_with('-') {
            // The sign belongs to the number, so that the smallest integer can be written.
            if rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
                return Ok(Tree::Int(self.int()?));
            }
            self.at += 1;
            let factor = self.nested(Self::factor)?;
            return Ok(Tree::Call(Operator::Mul, vec![Tree::Int(-1), factor]));
        }
        if self.eat("(") {
            let inside = self.nested(Self::size)?;
            self.expect(")")?;
            return Ok(inside);
        }
        if let Some(quoted) = rest.strip_prefix('`') {
            let Some(end) = quoted.find('`') else { return self.expected("a closing backtick") };
            self.at += end + 2;
            return Ok(Tree::Sym(rest[..end + 2].to_owned()));
        }
        let word = self.take_while(is_word);
        let extreme = match word {
            "" => return self.expected("a size"),
            "max" => Operator::Max,
            "min" => Operator::Min,
            symbol => return Ok(Tree::Sym(symbol.to_owned())),
        };
        if !self.eat("(") {
            return Ok(Tree::Sym(word.to_owned()));
        }
        Ok(Tree::Call(extreme, self.items(")", Self::size)?))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}
