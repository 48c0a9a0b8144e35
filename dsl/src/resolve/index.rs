//! Every declaration by name; second declarations of a name are reported and left out.

use crate::ast::{self, Item, Name};
use crate::diagnostic::{Code, Diagnostic};
use std::collections::{BTreeMap, BTreeSet};

/// A rewrite or a fusion with the pass of its file.
pub(super) struct Rule<'a, T> {
    pub item: &'a T,
    pub pass: Option<&'a str>,
}

/// What the files declare, by name.
#[derive(Default)]
pub(super) struct Index<'a> {
    pub ops: BTreeMap<&'a str, &'a ast::Op>,
    pub families: BTreeMap<&'a str, &'a ast::Family>,
    pub enums: BTreeMap<&'a str, &'a ast::Enum>,
    /// Values of enums; a value may belong to several.
    pub values: BTreeSet<&'a str>,
    pub passes: Vec<(&'a ast::Pass, Option<&'a ast::Doc>)>,
    pub rewrites: Vec<Rule<'a, ast::Rewrite>>,
    pub fusions: Vec<Rule<'a, ast::Fusion>>,
    pub binds: Vec<&'a ast::Bind>,
    pub tests: Vec<&'a ast::Test>,
    /// Names of items that did not parse, or were reported already: uses of them are no news.
    pub broken: BTreeSet<&'a str>,
}

/// Says that a name was declared before.
pub(super) fn duplicate(kind: &str, second: &Name, first: &Name) -> Diagnostic {
    let message = format!("{kind} `{}` is declared twice", second.text);
    Diagnostic::new(Code::Duplicate, second.span, message)
        .label("the second declaration")
        .because(first.span, "the first")
        .help("rename one, or remove it")
}

/// The same for a name that every file sees.
fn global_duplicate(kind: &str, second: &Name, first: &Name) -> Diagnostic {
    duplicate(kind, second, first).note("every file sees the names of all files")
}

impl<'a> Index<'a> {
    /// Collects the items of all files, in their order.
    pub fn new(files: &[&'a ast::File], errors: &mut Vec<Diagnostic>) -> Index<'a> {
        let mut index = Index::default();
        let mut rules: BTreeMap<&str, &Name> = BTreeMap::new();
        let mut passes: BTreeMap<&str, &Name> = BTreeMap::new();
        for file in files {
            let pass = index.pass_of(file, &mut passes, errors);
            for item in &file.items {
                index.item(item, pass, &mut rules, errors);
            }
        }
        index
    }

    /// The pass header of a file.
    fn pass_of(
        &mut self,
        file: &'a ast::File,
        seen: &mut BTreeMap<&'a str, &'a Name>,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<&'a str> {
        let mut own: Option<&ast::Pass> = None;
        for item in &file.items {
            match item {
                Item::Pass(p) if own.is_some() => {
                    let first = own.map_or(p.name.span, |f| f.name.span);
                    let message = format!("a second pass, `{}`, in one file", p.name.text);
                    errors.push(
                        Diagnostic::new(Code::Duplicate, p.name.span, message)
                            .because(first, "the first")
                            .help("one pass a file: every item of a file belongs to its pass"),
                    );
                }
                Item::Pass(p) => own = Some(p),
                Item::Broken(b) if b.keyword.as_deref() == Some("pass") && own.is_none() => {
                    return b.name.as_ref().map(Name::as_str);
                }
                _ => {}
            }
        }
        let pass = own?;
        match seen.insert(pass.name.as_str(), &pass.name) {
            Some(first) => errors.push(global_duplicate("pass", &pass.name, first)),
            None => self.passes.push((pass, file.doc.as_ref())),
        }
        Some(pass.name.as_str())
    }

    fn item(
        &mut self,
        item: &'a Item,
        pass: Option<&'a str>,
        rules: &mut BTreeMap<&'a str, &'a Name>,
        errors: &mut Vec<Diagnostic>,
    ) {
        let mut new_rule = |kind: &str, name: &'a Name| match rules.get(name.as_str()) {
            Some(first) => {
                errors.push(global_duplicate(kind, name, first));
                false
            }
            None => rules.insert(name.as_str(), name).is_none(),
        };
        match item {
            Item::Op(op) => match self.ops.get(op.name.as_str()) {
                Some(first) => errors.push(global_duplicate("op", &op.name, &first.name)),
                None => drop(self.ops.insert(op.name.as_str(), op)),
            },
            Item::Family(f) => match self.families.get(f.name.as_str()) {
                Some(first) => errors.push(global_duplicate("family", &f.name, &first.name)),
                None => drop(self.families.insert(f.name.as_str(), f)),
            },
            Item::Enum(e) => match self.enums.get(e.name.as_str()) {
                Some(first) => errors.push(global_duplicate("enum", &e.name, &first.name)),
                None => self.enumeration(e, errors),
            },
            Item::Rewrite(r) if new_rule("rewrite", &r.name) => {
                self.rewrites.push(Rule { item: r, pass });
            }
            Item::Fusion(f) if new_rule("fusion", &f.name) => {
                self.fusions.push(Rule { item: f, pass });
            }
            Item::Bind(b) => self.binds.push(b),
            Item::Test(t) => self.tests.push(t),
            Item::Broken(b) => self.broken.extend(b.name.as_ref().map(Name::as_str)),
            Item::Rewrite(_) | Item::Fusion(_) | Item::Pass(_) => {}
        }
    }

    fn enumeration(&mut self, e: &'a ast::Enum, errors: &mut Vec<Diagnostic>) {
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for value in &e.values {
            if let Some(first) = seen.insert(value.as_str(), value) {
                errors.push(duplicate("value", value, first));
            }
            self.values.insert(value.as_str());
        }
        self.enums.insert(e.name.as_str(), e);
    }
}
