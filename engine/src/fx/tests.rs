use super::*;
use std::path::PathBuf;

/// Captured graphs, by name, unpacked.
pub(crate) fn fixtures() -> Vec<(String, String)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/graphs");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let one = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().replace(".json.gz", "");
        let bytes = std::fs::read(&path).unwrap();
        let mut text = String::new();
        let mut gz = flate2::read::GzDecoder::new(bytes.as_slice());
        std::io::Read::read_to_string(&mut gz, &mut text).unwrap();
        (name, text)
    };
    let out: Vec<_> = files.into_iter().map(one).collect();
    assert!(out.len() >= 96, "only {} fixtures", out.len());
    out
}

/// One captured graph, unpacked.
pub(crate) fn fixture(name: &str) -> String {
    fixtures().into_iter().find(|(n, _)| n == name).unwrap().1
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
