use super::*;
use crate::fx::{
    self,
    tests::{fixture, fixtures},
};
use crate::graph::Graph;

#[test]
fn every_fixture_reads_back_from_its_text() {
    for (name, json) in fixtures() {
        let doc = fx::read(json.as_bytes()).unwrap();
        let graph = Graph::from_fx(&doc).unwrap();
        let text = print(&graph);
        let again = parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let out = again.to_fx().unwrap();
        let at = doc.nodes.iter().zip(&out.nodes).find(|(a, b)| a != b);
        assert!(out == doc, "{name}: {at:#?}");
        assert_eq!(fx::write(&out), json, "{name}");
        let short = brief(&graph);
        let again = parse(&short).unwrap_or_else(|e| panic!("{name}: brief: {e}"));
        similar(&name, &brief(&again), &short);
    }
}

fn similar(name: &str, a: &str, b: &str) {
    let at = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    assert!(a == b, "{name}: {at:#?}");
}

#[test]
fn brief_text_of_a_small_graph() {
    let json = fixture("real_vllm_llama3_1_8b_bf16_default_p03_before");
    insta::assert_snapshot!(brief(&Graph::read(json.as_bytes()).unwrap()));
}
