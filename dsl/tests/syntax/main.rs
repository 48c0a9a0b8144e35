//! The text side of the language: parsing, errors, rendering, formatting.

mod errors;
mod formatting;
mod fuzz;
mod library;
mod rendering;

use fusec_dsl::ast::File;
use std::path::PathBuf;

/// The shipped `.fuse` files: name and text, sorted by name.
fn shipped() -> Vec<(String, String)> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../passes"));
    files(&[root.join("ops"), root])
}

/// The `.fuse` files of some directories: name and text, sorted by name.
fn files(dirs: &[PathBuf]) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for dir in dirs {
        for entry in std::fs::read_dir(dir).expect("the directory exists") {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|e| e == "fuse") {
                let name = path.file_name().expect("has a name").to_string_lossy().into_owned();
                out.push((name, std::fs::read_to_string(&path).expect("readable")));
            }
        }
    }
    out.sort();
    out
}

/// The tree without what formatting may change: places, and parentheses that say nothing.
fn bare(file: &File) -> String {
    let text = format!("{file:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { file") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('}').expect("a span prints its braces");
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    out.replace(", parens: true", "")
        .replace(", parens: false", "")
        .replace("tuple: true", "tuple: false")
}
