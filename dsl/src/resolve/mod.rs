//! From syntax to a [`Library`]: names to ids, families to instances, bodies to flat SSA, all typed.
//!
//! Nothing stops at the first mistake: a broken item is left out and the others stay.

mod bind;
mod body;
mod dims;
mod expand;
mod guards;
mod items;
mod scope;
mod signature;
mod typing;

use crate::ast;
use crate::diagnostic::{Diagnostic, Severity};
use crate::library::Library;
use crate::parse;
use crate::source::{FileId, SourceMap};
use scope::Scope;

/// Parses and resolves `(path, text)` files. Their order does not matter.
pub fn load(files: &[(String, String)]) -> (Library, SourceMap, Vec<Diagnostic>) {
    let mut sorted: Vec<&(String, String)> = files.iter().collect();
    sorted.sort();
    let mut sources = SourceMap::default();
    let mut parsed = Vec::new();
    let mut diagnostics = Vec::new();
    for (path, text) in sorted {
        let id = sources.add(path.clone(), text.as_str());
        let (file, found) = parse::parse(sources.get(id), id);
        diagnostics.extend(found);
        parsed.push((id, file));
    }
    let library = resolve(&parsed, &sources, &mut diagnostics);
    diagnostics.sort_by_key(|d| (d.labels[0].span, d.message.clone()));
    (library, sources, diagnostics)
}

/// Whether any diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.code.severity() == Severity::Error)
}

/// Resolves parsed files, in the order of their paths.
pub fn resolve(
    files: &[(FileId, ast::File)],
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Library {
    let mut scope = Scope::collect(files, sources, diagnostics);
    items::ops(&mut scope);
    items::binds(&mut scope);
    items::rules(&mut scope);
    items::tests(&mut scope);
    scope.finish(diagnostics)
}

/// The nearest of `names`, if it is near enough to be meant.
pub fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let score = |n: &str| strsim::jaro(word, n);
    let mut best: Option<(f64, &str)> = None;
    for name in names.filter(|n| score(n) >= 0.7) {
        let s = score(name);
        if best.is_none_or(|(b, n)| s > b || (s == b && name < n)) {
            best = Some((s, name));
        }
    }
    best.map(|(_, n)| n)
}
