//! Everything declared in the loaded files, by name.

use super::nearest;
use crate::ast::{self, Item, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Library, Meaning, Op, OpId, Signature};
use crate::source::{FileId, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Declarations, and the library as far as it is built.
pub struct Scope<'a> {
    /// Texts, for guards.
    pub sources: &'a SourceMap,
    /// Files with the pass each belongs to.
    pub files: Vec<(Option<String>, &'a ast::File)>,
    /// Op declarations in the order of [`Library::ops`].
    pub ops: Vec<&'a ast::Op>,
    /// Families.
    pub families: BTreeMap<&'a str, &'a ast::Family>,
    /// The enum of each enum value.
    pub enum_values: BTreeMap<&'a str, &'a str>,
    /// Enums.
    pub enums: BTreeMap<&'a str, &'a ast::Enum>,
    /// Names of items that did not parse: their uses are not unknown.
    pub broken: BTreeSet<&'a str>,
    /// What is resolved so far.
    pub library: Library,
    /// What is wrong so far.
    pub found: Vec<Diagnostic>,
}

impl<'a> Scope<'a> {
    /// Collects every declaration; two of one name are an error.
    pub fn collect(
        files: &'a [(FileId, ast::File)],
        sources: &'a SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Scope<'a> {
        let mut scope = Scope {
            sources,
            files: files.iter().map(|(_, f)| (pass_of(f), f)).collect(),
            ops: Vec::new(),
            families: BTreeMap::new(),
            enum_values: BTreeMap::new(),
            enums: BTreeMap::new(),
            broken: BTreeSet::new(),
            library: Library::default(),
            found: std::mem::take(diagnostics),
        };
        let mut ops: BTreeMap<&str, &ast::Op> = BTreeMap::new();
        let mut seen: BTreeMap<(&'static str, &str), Span> = BTreeMap::new();
        for item in files.iter().flat_map(|(_, f)| &f.items) {
            let Some((kind, name)) = declared(item) else {
                if let Item::Broken(b) = item {
                    scope.broken.extend(b.name.as_ref().map(Name::as_str));
                }
                continue;
            };
            if let Some(first) = seen.insert((kind, name.as_str()), name.span) {
                let message = format!("two {kind}s are named `{}`", name.as_str());
                scope.found.push(
                    Diagnostic::new(Code::Duplicate, name.span, message)
                        .because(first, "the first is here")
                        .help("rename one of them"),
                );
                continue;
            }
            match item {
                Item::Op(op) => {
                    ops.insert(op.name.as_str(), op);
                }
                Item::Family(f) => {
                    scope.families.insert(f.name.as_str(), f);
                }
                Item::Enum(e) => {
                    scope.enums.insert(e.name.as_str(), e);
                    for value in &e.values {
                        scope.enum_values.insert(value.as_str(), e.name.as_str());
                    }
                }
                _ => {}
            }
        }
        scope.ops = ops.into_values().collect();
        scope
    }

    /// The op of this name.
    pub fn op(&self, name: &str) -> Option<OpId> {
        self.ops.binary_search_by(|o| o.name.as_str().cmp(name)).ok().map(|i| OpId(i as u32))
    }

    /// The op of this name, or an error at the name.
    pub fn op_or_report(&mut self, name: &str, span: Span) -> Option<OpId> {
        let found = self.op(name);
        if found.is_none() && !self.broken.contains(name) {
            let message = format!("unknown op `{name}`");
            let mut d = Diagnostic::new(Code::UnknownOp, span, message)
                .label("not declared in any loaded file");
            d = match nearest(name, self.ops.iter().map(|o| o.name.as_str())) {
                Some(near) => d.help_edit(format!("did you mean `{near}`?"), span, near),
                None => d.help("declare it with `op`, or load the file that does"),
            };
            self.found.push(d);
        }
        found
    }

    /// Reports a mistake.
    pub fn report(&mut self, d: Diagnostic) {
        self.found.push(d);
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> String {
        let text = &self.sources.get(span.file).text;
        text.get(span.start as usize..span.end as usize).unwrap_or_default().to_string()
    }

    /// A placeholder of an op, so that ids are known before meanings are.
    pub fn declare(&mut self, op: &ast::Op, sig: Signature) {
        use ast::MarkerKind::*;
        let marked = |k| op.markers.iter().any(|m| m.kind == k);
        self.library.ops.push(Op {
            name: op.name.text.clone(),
            doc: doc(&op.doc),
            span: op.name.span,
            sig,
            meaning: if marked(Primitive) { Meaning::Primitive } else { Meaning::Opaque },
            collective: marked(Collective),
            commutative: marked(Commutative),
        });
    }

    /// The library, sorted, and everything that was found.
    pub fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Library {
        let mut library = self.library;
        library.binds.sort_by(|a, b| (&a.target, a.span).cmp(&(&b.target, b.span)));
        library.rewrites.sort_by(|a, b| (&a.name, a.span).cmp(&(&b.name, b.span)));
        library.fusions.sort_by_key(|f| (f.instance(), f.span));
        library.passes.sort_by(|a, b| (&a.name, a.span).cmp(&(&b.name, b.span)));
        *diagnostics = self.found;
        library
    }
}

/// The text of a doc comment.
pub fn doc(d: &Option<ast::Doc>) -> String {
    d.as_ref().map(|d| d.text.clone()).unwrap_or_default()
}

fn pass_of(file: &ast::File) -> Option<String> {
    file.items.iter().find_map(|i| match i {
        Item::Pass(p) => Some(p.name.text.clone()),
        _ => None,
    })
}

fn declared(item: &Item) -> Option<(&'static str, &Name)> {
    Some(match item {
        Item::Op(i) => ("op", &i.name),
        Item::Family(i) => ("family", &i.name),
        Item::Enum(i) => ("enum", &i.name),
        Item::Rewrite(i) => ("rewrite", &i.name),
        Item::Fusion(i) => ("fusion", &i.name),
        Item::Pass(i) => ("pass", &i.name),
        Item::Bind(_) | Item::Test(_) | Item::Broken(_) => return None,
    })
}
