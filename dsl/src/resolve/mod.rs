//! Trees to a [`Library`]: names resolved, families expanded, bodies typed.
//!
//! Each item is resolved on its own; one that is wrong is reported once and left out, with what
//! depends on it, and the others stay. Files are sorted by path first, so their order never shows.

mod binds;
mod body;
mod call;
mod checks;
mod consts;
mod cycles;
mod exprs;
mod families;
mod fusions;
mod guards;
mod index;
mod inherit;
mod instances;
mod keep;
mod linear;
mod ops;
mod outcome;
mod passes;
mod results;
mod rewrites;
mod rigid;
mod rules;
mod scope;
pub mod show;
mod sig;
mod typing;
mod verdicts;

pub use guards::TARGET_FIELDS;

use crate::ast;
use crate::diagnostic::{self, Diagnostic, Severity};
use crate::library::Library;
use crate::parse;
use crate::source::{FileId, SourceMap};
use index::Index;
use scope::World;
use std::collections::BTreeMap;

/// Parses, resolves and checks files given as `(path, text)`.
///
/// The library holds every item that is right; the diagnostics say what is wrong with the others,
/// in the order of the files, sorted by path.
pub fn load(files: &[(String, String)]) -> (Library, SourceMap, Vec<Diagnostic>) {
    let mut sorted: Vec<&(String, String)> = files.iter().collect();
    sorted.sort();
    let mut map = SourceMap::default();
    let mut errors = Vec::new();
    let mut trees = Vec::new();
    for (path, text) in sorted {
        let id = map.add(path.replace('\\', "/"), text.as_str());
        let (tree, mut found) = parse::parse(map.get(id), id);
        errors.append(&mut found);
        trees.push((id, tree));
    }
    let library = resolve(&trees, &map, &mut errors);
    (library, map, errors)
}

/// Whether any diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity() == Severity::Error)
}

/// Resolves parsed files, in the order of the source map. What is wrong is added to `errors`,
/// which are sorted.
pub fn resolve(
    files: &[(FileId, ast::File)],
    map: &SourceMap,
    errors: &mut Vec<Diagnostic>,
) -> Library {
    let trees: Vec<&ast::File> = files.iter().map(|(_, tree)| tree).collect();
    let library = resolve_trees(&trees, map, errors);
    diagnostic::sort(errors);
    library
}

fn resolve_trees(trees: &[&ast::File], map: &SourceMap, errors: &mut Vec<Diagnostic>) -> Library {
    let index = Index::new(trees, errors);
    let trees: Vec<&ast::Op> = index.ops.values().copied().collect();
    let placeholders = trees.iter().map(|a| ops::placeholder(a)).collect();
    let mut world = World {
        map,
        index,
        lib: Library { ops: placeholders, ..Library::default() },
        broken_ops: vec![false; trees.len()],
        families: BTreeMap::new(),
    };
    let names = ops::signatures(&mut world, &trees, errors);
    let families = world.index.families.values().copied();
    let families: Vec<_> = families.filter_map(|f| families::family(&world, f, errors)).collect();
    world.families = families.into_iter().map(|f| (f.ast.name.as_str(), f)).collect();
    let bodies = ops::bodies(&mut world, &trees, &names, errors);
    cycles::report(&mut world, &trees, errors);
    ops::check(&mut world, &names, &bodies, errors);
    let rewrites = rewrites::rewrites(&world, errors);
    let fusions = fusions::fusions(&world, errors);
    let binds = binds::resolve(&world, errors);
    let passes = passes::resolve(&world, errors);
    world.lib.rewrites = rewrites;
    world.lib.fusions = fusions;
    world.lib.binds = binds;
    world.lib.passes = passes;
    world.lib.tests = checks::resolve(&world, errors);
    let World { lib, broken_ops, .. } = world;
    keep::good(lib, broken_ops)
}

#[cfg(test)]
mod tests;
