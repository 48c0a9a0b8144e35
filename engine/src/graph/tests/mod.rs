use super::*;
use crate::fx::tests::{everything, fixture, fixtures};
use crate::text;

mod edits;
mod facts;
mod fuzz;

/// A graph from its brief text.
pub(super) fn graph(text: &str) -> Graph {
    text::parse(text).unwrap_or_else(|e| panic!("{e}"))
}

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

#[test]
fn a_document_with_everything_is_exported_as_it_was_imported() {
    let graph = Graph::read(everything().as_bytes()).unwrap();
    assert_eq!(fx::write(&graph.to_fx().unwrap()), everything());
}

/// Files that vLLM's passes left out of topological order.
const UNSORTED: &[&str] = &[
    "real_vllm_deepseek_v3_tp8_fp8block_fused_full_p00_after",
    "real_vllm_qwen3_8b_fp8block_default_p01_after",
    "real_vllm_qwen3_8b_fp8block_default_p02_after",
    "real_vllm_qwen3_8b_fp8block_default_p03_after",
    "real_vllm_qwen3_8b_fp8block_fused_full_p00_after",
];

#[test]
fn sorting_keeps_the_order_of_files_that_have_one() {
    for (name, text) in fixtures() {
        let graph = Graph::read(text.as_bytes()).unwrap();
        let order = graph.toposort().unwrap_or_else(|e| panic!("{name}: {e}"));
        let indices: Vec<_> = graph.nodes().map(|(i, _)| i).collect();
        assert_eq!(order, indices, "{name}");
        assert_eq!(order == graph.file_order(), !UNSORTED.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn an_edited_graph_is_exported_in_topological_order() {
    for name in UNSORTED {
        let mut graph = Graph::read(fixture(name).as_bytes()).unwrap();
        let last = graph.nodes().last().map(|(i, _)| i).unwrap();
        graph.set_value(last, graph[last].value.clone());
        let again = Graph::from_fx(&graph.to_fx().unwrap()).unwrap();
        assert!(again.file_order.is_none(), "{name}");
    }
}
