use super::*;
use crate::fx::tests::fixtures;

#[test]
fn every_fixture_is_exported_as_it_was_imported() {
    for (name, text) in fixtures() {
        let doc = fx::read(text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let graph = Graph::from_fx(&doc).unwrap_or_else(|e| panic!("{name}: {e}"));
        let out = graph.to_fx().unwrap_or_else(|e| panic!("{name}: {e}"));
        let at = doc.nodes.iter().zip(&out.nodes).find(|(a, b)| a != b);
        assert!(out == doc, "{name}: {at:?}");
        assert!(fx::write(&out) == text, "{name}: same document, other text");
    }
}
