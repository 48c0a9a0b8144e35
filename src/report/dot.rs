//! A graph for Graphviz: values as boxes with their types, fused kernels filled.

use fusec_engine::graph::{Graph, NodeIndex, Value};
use std::fmt::Write;

/// The graph; `is_fused` says which nodes a fusion made.
pub fn dot(graph: &Graph, is_fused: impl Fn(&str) -> bool) -> String {
    let mut out = format!("digraph \"{}\" {{\n", escape(&graph.header.name));
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    for (index, node) in graph.nodes() {
        if graph.projection(index).is_some() {
            continue;
        }
        let style = match (node.input().is_some(), is_fused(&node.target)) {
            (_, true) => ", style=filled, fillcolor=\"#b7e1b5\"",
            (true, _) => ", style=dashed",
            _ => "",
        };
        let label = format!("{}\\n{}", escape(&label(graph, index)), escape(&types(&node.value)));
        let _ = writeln!(out, "  \"{}\" [label=\"{label}\"{style}];", escape(&node.name));
        let mut from: Vec<NodeIndex> =
            node.operands().into_iter().map(|o| source(graph, o)).collect();
        from.dedup();
        for operand in from {
            let (from, to) = (escape(&graph[operand].name), escape(&node.name));
            let _ = writeln!(out, "  \"{from}\" -> \"{to}\";");
        }
    }
    out.push_str("}\n");
    out
}

fn label(graph: &Graph, index: NodeIndex) -> String {
    let node = &graph[index];
    match (node.input(), graph.callee(index)) {
        (Some(_), _) => node.name.to_string(),
        (None, Some(callee)) => format!("{} = {callee}", node.name),
        (None, None) => format!("{} = {}", node.name, node.target),
    }
}

/// The node that computes a value: a projection's tuple.
fn source(graph: &Graph, mut index: NodeIndex) -> NodeIndex {
    while let Some((of, _)) = graph.projection(index) {
        index = of;
    }
    index
}

fn types(value: &Value) -> String {
    value.to_type().to_string()
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
