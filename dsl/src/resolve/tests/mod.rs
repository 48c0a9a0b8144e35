//! Whole loads: text in, library and diagnostics out.

mod diagnostics;
mod library;
mod properties;

use crate::ast::File;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
use std::sync::LazyLock;

/// The standard library as `(path, text)`.
pub(super) fn passes() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../passes");
    let mut files = Vec::new();
    for folder in ["", "/ops"] {
        let entries = std::fs::read_dir(format!("{root}{folder}")).expect("the passes folder");
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "fuse") {
                let text = std::fs::read_to_string(&path).expect("text");
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                files.push((format!("passes{folder}/{name}"), text));
            }
        }
    }
    files.sort();
    files
}

/// The vocabulary alone: primitives and ops, without the passes.
pub(super) fn vocabulary() -> Vec<(String, String)> {
    passes().into_iter().filter(|(path, _)| path.starts_with("passes/ops/")).collect()
}

/// The vocabulary, parsed once.
static VOCABULARY: LazyLock<Vec<(String, String, File)>> = LazyLock::new(|| {
    let files = vocabulary().into_iter();
    let parsed = files.enumerate().map(|(i, (path, text))| {
        let tree = crate::parse::parse_text(&text, FileId(i as u32)).0;
        (path, text, tree)
    });
    parsed.collect()
});

/// What is wrong with one more file beside the vocabulary.
pub(super) fn check(text: &str) -> String {
    let mut map = SourceMap::default();
    let mut trees = Vec::new();
    for (path, text, tree) in VOCABULARY.iter() {
        trees.push((map.add(path.clone(), text.as_str()), tree.clone()));
    }
    let id = map.add("t.fuse", text);
    let (tree, mut found) = crate::parse::parse(map.get(id), id);
    trees.push((id, tree));
    crate::resolve::resolve(&trees, &map, &mut found);
    show(&map, &found)
}

fn place(map: &SourceMap, span: Span) -> String {
    let source = map.get(span.file);
    let before = &source.text[..span.start as usize];
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |i| i + 1) + 1;
    let text = &source.text[span.start as usize..span.end as usize];
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if source.path.starts_with("passes/") {
        // Lines of the shipped files move.
        return format!("{} `{text}`", source.path);
    }
    format!("{}:{line}:{column} `{text}`", source.path)
}

/// Diagnostics in a compact form with every part of them.
pub(super) fn show(map: &SourceMap, all: &[Diagnostic]) -> String {
    let mut out = String::new();
    for d in all {
        let severity = d.severity().as_str();
        out.push_str(&format!("{severity}[{}]: {}\n", d.code, d.message));
        for l in &d.labels {
            let mark = if l.primary { "-->" } else { "  ." };
            out.push_str(&format!("  {mark} {} {}\n", place(map, l.span), l.text));
        }
        d.notes.iter().for_each(|n| out.push_str(&format!("  note: {n}\n")));
        for h in &d.help {
            let edit = h
                .edit
                .as_ref()
                .map_or(String::new(), |e| format!(" [{} -> `{}`]", place(map, e.span), e.text));
            out.push_str(&format!("  help: {}{edit}\n", h.text));
        }
    }
    out
}
