//! What a graph says about its nodes: arguments by parameter, results, effects.

use super::*;
use std::collections::BTreeMap;
use std::fmt::Write;

fn show(graph: &Graph, arg: Option<&Arg>) -> String {
    match arg {
        Some(Arg::Node(n)) => format!("%{}", graph[*n].name),
        Some(Arg::List(items)) => {
            let items: Vec<_> = items.iter().map(|a| show(graph, Some(a))).collect();
            format!("[{}]", items.join(", "))
        }
        Some(other) => format!("{other:?}"),
        None => "missing".into(),
    }
}

fn facts(graph: &Graph, name: &str) -> String {
    let node = graph.by_name(name).unwrap();
    let mut out = format!("{}\n", graph.callee(node).unwrap());
    for b in graph.normalized_args(node).unwrap() {
        let value = show(graph, b.arg());
        write!(out, "  {} = {value}  ({:?}", b.name(), b.source).unwrap();
        match b.view {
            View::Whole => {}
            View::Slice { dim, start, end } => write!(out, ", {dim:?} {start:?}..{end:?}").unwrap(),
            View::Strided { size, stride, offset } => {
                let size = show(graph, Some(size));
                write!(
                    out,
                    ", {size} by {} + {}",
                    show(graph, Some(stride)),
                    show(graph, Some(offset))
                )
                .unwrap();
            }
            View::List => out.push_str(", a list"),
        }
        out.push(')');
        if let Some(i) = graph.mutated_index(node, b.name()) {
            write!(out, " -> result {i}").unwrap();
        }
        out.push('\n');
    }
    for (i, p) in graph.projections(node) {
        writeln!(out, "  result {i} is %{}", graph[p].name).unwrap();
    }
    out
}

#[test]
fn arguments_through_every_door() {
    let v1 = Graph::read(fixture("vllm_llama8b_tp2_fp8static_2l").as_bytes()).unwrap();
    let v2 = Graph::read(fixture("vllm_llama8b_tp2_fp8static_afv2_2l").as_bytes()).unwrap();
    let all = Graph::read(everything().as_bytes()).unwrap();
    let out = [
        facts(&v1, "rms_norm"),
        facts(&v1, "empty"),
        facts(&v1, "auto_functionalized_3"),
        facts(&v2, "auto_functionalized_v2_2"),
        facts(&v2, "auto_functionalized_v2_3"),
        facts(&all, "v1"),
        facts(&all, "v2"),
    ];
    insta::assert_snapshot!(out.join("\n"));
    let v = all.by_name("v1").unwrap();
    assert_eq!(all.return_index(v, 0), Some(0));
    assert_eq!(all.arg(v, "eps"), Some(Arg::float(1e-6)));
}

#[test]
fn effects_of_every_captured_operator() {
    let mut seen: BTreeMap<String, BTreeMap<String, ()>> = BTreeMap::new();
    for (_, json) in fixtures() {
        let graph = Graph::read(json.as_bytes()).unwrap();
        for (i, node) in graph.nodes() {
            let effect = match graph.effect(i) {
                Effect::Mutates(w) => {
                    let params: Vec<_> = w.iter().map(|w| w.param.as_str()).collect();
                    format!("Mutates({})", params.join(", "))
                }
                other => format!("{other:?}"),
            };
            let hop = if node.kind == fx::Kind::Hop { "functional " } else { "" };
            let what = graph.callee(i).map_or(node.kind.name().to_owned(), |c| format!("{hop}{c}"));
            seen.entry(effect).or_default().insert(what, ());
        }
    }
    let mut out = String::new();
    for (effect, targets) in seen {
        writeln!(out, "{effect}").unwrap();
        targets.keys().for_each(|t| writeln!(out, "    {t}").unwrap());
    }
    insta::assert_snapshot!(out);
}

#[test]
fn sizes_have_their_ranges() {
    let graph = Graph::read(everything().as_bytes()).unwrap();
    let dims = graph[graph.by_name("dims").unwrap()].value.items().unwrap();
    let one = |v: &Value| {
        let t = v.tensor().unwrap();
        let sizes: Vec<_> =
            t.ty.shape
                .iter()
                .map(|d| {
                    let i = graph.interval(d);
                    format!("{d} in {:?}..{:?}", i.lo, i.hi)
                })
                .collect();
        format!("{} contiguous={}", sizes.join(", "), t.is_contiguous())
    };
    let lines: Vec<_> = dims.iter().map(one).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
