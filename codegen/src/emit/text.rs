//! A C++ text that knows which `.fuse` line each of its lines came from.

use fusec_dsl::source::{SourceMap, Span};
use std::fmt::Write;

/// Lines with `#line` directives where the place changes.
pub struct Text<'a> {
    sources: &'a SourceMap,
    file: String,
    out: String,
    lines: usize,
    indent: usize,
    /// Where the compiler thinks the next line comes from.
    place: Option<(String, usize)>,
}

impl<'a> Text<'a> {
    /// An empty text of a file with this name.
    pub fn new(sources: &'a SourceMap, file: &str) -> Text<'a> {
        Text { sources, file: file.into(), out: String::new(), lines: 0, indent: 0, place: None }
    }

    /// A line of the frame.
    pub fn line(&mut self, text: &str) {
        if self.place.take().is_some() {
            let (file, next) = (self.file.clone(), self.lines + 2);
            self.raw(&format!("#line {next} \"{file}\""));
        }
        if text.starts_with('}') {
            self.indent -= 1;
        }
        let pad = if text.is_empty() || text.starts_with('#') { 0 } else { 4 * self.indent };
        self.raw(&format!("{:pad$}{text}", ""));
        if text.ends_with('{') {
            self.indent += 1;
        }
    }

    /// A line that a `.fuse` line asks for.
    pub fn from(&mut self, span: Span, text: &str) {
        let Some((file, line)) = self.locate(span) else { return self.line(text) };
        if self.place != Some((file.clone(), line)) {
            self.raw(&format!("#line {line} \"{file}\""));
        }
        let pad = 4 * self.indent;
        self.raw(&format!("{:pad$}{text}", ""));
        self.place = Some((file, line + 1));
    }

    /// Another text whole, under its own name.
    pub fn include(&mut self, name: &str, text: &str) {
        self.raw(&format!("#line 1 \"{name}\""));
        for line in text.lines() {
            // One file: nothing to include once.
            self.raw(if line == "#pragma once" { "" } else { line });
        }
        self.place = Some((name.into(), 0));
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.out
    }

    fn raw(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
        self.lines += 1 + text.matches('\n').count();
    }

    fn locate(&self, span: Span) -> Option<(String, usize)> {
        let (_, source) = self.sources.iter().find(|(id, _)| *id == span.file)?;
        let before = source.text.as_bytes().get(..span.start as usize)?;
        Some((source.path.clone(), 1 + before.iter().filter(|b| **b == b'\n').count()))
    }
}
