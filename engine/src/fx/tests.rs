use super::*;
use std::path::{Path, PathBuf};

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/graphs")
}

fn unpacked(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    let mut gz = flate2::read::GzDecoder::new(bytes.as_slice());
    std::io::Read::read_to_string(&mut gz, &mut text).unwrap();
    text
}

/// Captured graphs, by name, unpacked.
pub(crate) fn fixtures() -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(dir()).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let name = |p: &Path| p.file_name().unwrap().to_string_lossy().replace(".json.gz", "");
    let out: Vec<_> = files.iter().map(|p| (name(p), unpacked(p))).collect();
    assert!(out.len() >= 96, "only {} fixtures", out.len());
    out
}

/// One captured graph, unpacked.
pub(crate) fn fixture(name: &str) -> String {
    unpacked(&dir().join(format!("{name}.json.gz")))
}

#[test]
fn every_fixture_is_written_as_it_was_read() {
    for (name, text) in fixtures() {
        let doc = read(text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let out = write(&doc);
        let at = text.lines().zip(out.lines()).find(|(a, b)| a != b);
        assert!(out == text, "{name}: {at:?}");
    }
}

/// One of everything that the schema has and the captured graphs have not.
pub(crate) fn everything() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/everything.json");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_document_with_everything_is_written_as_it_was_read() {
    assert_eq!(write(&read(everything().as_bytes()).unwrap()), everything());
}

#[test]
fn gzip_is_recognized_and_reproducible() {
    let doc = read(everything().as_bytes()).unwrap();
    let bytes = write_gzip(&doc);
    assert_eq!(bytes, write_gzip(&doc));
    assert_eq!(bytes[4..8], [0; 4], "no time in it");
    assert_eq!(read(&bytes).unwrap(), doc);
    assert_eq!(read_from(bytes.as_slice(), None, &ReadOptions::default()).unwrap(), doc);
    let plain = everything();
    assert_eq!(read_from(plain.as_bytes(), None, &ReadOptions::default()).unwrap(), doc);
}

#[test]
fn python_prints_floats_so() {
    let out: Vec<String> = [1e-5, 0.0001, 1.0, 1e15, 1e16, 1.5e300, -0.0, 0.1, 1e22, 123456.789]
        .iter()
        .map(|v| python_float(*v))
        .collect();
    insta::assert_snapshot!(out.join(" "), @"1e-05 0.0001 1.0 1000000000000000.0 1e+16 1.5e+300 -0.0 0.1 1e+22 123456.789");
}

mod bad_input;
