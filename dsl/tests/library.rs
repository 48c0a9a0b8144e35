//! The shipped library resolves without a word.

use fusec_dsl::resolve;
use std::path::Path;

fn collect(dir: &Path, out: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "fuse") {
            let text = std::fs::read_to_string(&path).unwrap();
            out.push((path.file_name().unwrap().to_string_lossy().into_owned(), text));
        }
    }
}

fn files() -> Vec<(String, String)> {
    let mut out = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../passes"), &mut out);
    out
}

#[test]
fn the_library_resolves() {
    let (library, sources, diagnostics) = resolve::load(&files());
    let said: Vec<String> = diagnostics
        .iter()
        .map(|d| {
            let span = d.labels[0].span;
            let source = sources.get(span.file);
            let line = source.text[..span.start as usize].lines().count();
            let place = &source.text[span.start as usize..span.end as usize];
            format!("{}:{line}: {} at `{place}` {:?}", source.path, d.message, d.notes)
        })
        .collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
    assert!(library.fusions.len() > 40, "{}", library.fusions.len());
}
