//! What must not matter does not: names, orders, operands of commutative ops, folding; and graphs
//! that fuse only in part stay right.

use crate::pipeline::{Fused, config, fixtures, fuse, graph, graph_of, json, library, load};
use fusec_engine::config::Config;
use fusec_engine::graph::{Arg, Effect, Graph, NodeIndex, Value};
use fusec_engine::target::Target;
use fusec_engine::text;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Graphs that between them have every spelling.
const GRAPHS: [&str; 4] = [
    "vllm_llama8b_tp2_fp8static_native_2l",
    "vllm_llama8b_tp2_nvfp4_2l",
    "vllm_llama8b_tp2_fp8static_legacy_2l",
    "hf_gemma3_12b_2l_export",
];

fn fused(graph: Graph) -> Fused {
    let config = config("h200", 2, &graph, 1, 2048);
    fuse(&library(), graph, &config)
}

/// Counts and costs, without names of nodes.
fn summary(fused: &Fused) -> String {
    let report = &fused.report;
    let mut out = String::new();
    for f in &report.fusions {
        let refused: usize = f.refused.iter().map(|r| r.count).sum();
        out += &format!("{} {}: {} {} {refused}\n", f.name, f.range, f.matched, f.chosen);
    }
    for r in &report.ranges {
        let c = &r.cost;
        out += &format!("{}..{:?} {:.6} {:.6}", r.lo, r.hi, c.before_us, c.after_us);
        out += &format!(" {} {}", c.launches_before, c.launches_after);
        out += &format!(" {} {}\n", c.bytes_before, c.bytes_after);
    }
    out + &format!("{:?} {:?}\n", report.lifted, report.ops)
}

/// Runs a property on each graph with a few seeds, the same ones in every run.
fn for_seeds(cases: u32, property: impl Fn(&str, u64)) {
    let settings = ProptestConfig { cases, failure_persistence: None, ..Default::default() };
    for name in GRAPHS {
        let mut runner = TestRunner::new_with_rng(
            settings.clone(),
            proptest::test_runner::TestRng::deterministic_rng(
                proptest::test_runner::RngAlgorithm::ChaCha,
            ),
        );
        let run = runner.run(&any::<u64>(), |seed| {
            property(name, seed);
            Ok(())
        });
        run.unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// Small numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).for_each(|i| items.swap(i, self.below(i + 1)));
    }
}

#[test]
fn the_order_of_rule_files_changes_no_byte() {
    for_seeds(3, |name, seed| {
        let mut files: Vec<(String, String)> =
            fusec_passes::FILES.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect();
        Draw(seed).shuffle(&mut files);
        let graph = graph(name);
        let config = config("h200", 2, &graph, 1, 2048);
        let shuffled = fuse(&load(&files), graph.clone(), &config);
        let plain = fuse(&library(), graph, &config);
        assert_eq!(plain.report, shuffled.report);
        assert!(plain.exported(0) == shuffled.exported(0), "the fused graphs differ");
    });
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for name in GRAPHS {
        let (a, b) = (fused(graph(name)), fused(graph(name)));
        assert_eq!(a.report, b.report, "{name}");
        assert!(a.exported(0) == b.exported(0), "{name}");
    }
}

/// Gives every node but the inputs another name.
fn rename(json: &mut Json, names: &BTreeMap<String, String>) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(|v| rename(v, names)),
        Json::Object(map) => {
            if map.len() == 1
                && let Some(Json::String(name)) = map.get_mut("node")
            {
                if let Some(new) = names.get(name) {
                    *name = new.clone();
                }
                return;
            }
            map.values_mut().for_each(|v| rename(v, names));
        }
        _ => {}
    }
}

#[test]
fn names_of_nodes_do_not_matter() {
    for_seeds(3, |name, seed| {
        let mut doc = json(name);
        let mut draw = Draw(seed);
        let nodes = doc["nodes"].as_array_mut().unwrap();
        let mut numbers: Vec<usize> = (0..nodes.len()).collect();
        draw.shuffle(&mut numbers);
        let mut names = BTreeMap::new();
        for (node, number) in nodes.iter_mut().zip(numbers) {
            if node["op"] != "placeholder" {
                let new = format!("v{number}");
                names.insert(node["name"].as_str().unwrap().to_string(), new.clone());
                node["name"] = Json::String(new);
            }
        }
        rename(&mut doc, &names);
        assert_eq!(summary(&fused(graph(name))), summary(&fused(graph_of(&doc))));
    });
}

#[test]
fn operands_of_commutative_ops_may_be_swapped() {
    let commutative =
        ["aten.add.Tensor", "aten.mul.Tensor", "aten.maximum.default", "aten.minimum.default"];
    for_seeds(4, |name, seed| {
        let mut doc = json(name);
        let mut draw = Draw(seed);
        for node in doc["nodes"].as_array_mut().unwrap() {
            let plain =
                node.get("kwargs").is_none_or(|k| k.as_object().is_none_or(|k| k.is_empty()));
            if plain && commutative.iter().any(|c| node["target"] == *c) {
                let args = node["args"].as_array_mut().unwrap();
                let tensors = args.iter().all(|a| a.get("node").is_some());
                if args.len() == 2 && tensors && draw.below(2) == 1 {
                    args.swap(0, 1);
                }
            }
        }
        assert_eq!(summary(&fused(graph(name))), summary(&fused(graph_of(&doc))));
    });
}

/// Some order in which the nodes can run: inputs first, what has an effect in the order it had.
fn reordered(graph: &Graph, draw: &mut Draw) -> Vec<NodeIndex> {
    let mut left: Vec<NodeIndex> = graph.nodes().map(|(i, _)| i).collect();
    let mut order: Vec<NodeIndex> = graph.inputs().to_vec();
    left.retain(|n| !order.contains(n));
    let effects: Vec<NodeIndex> = left
        .iter()
        .copied()
        .filter(|n| !matches!(graph.effect(*n), Effect::Pure | Effect::Fresh))
        .collect();
    while !left.is_empty() {
        let next_effect = effects.iter().find(|n| left.contains(n)).copied();
        let ready: Vec<NodeIndex> = left
            .iter()
            .copied()
            .filter(|n| graph[*n].operands().iter().all(|o| order.contains(o)))
            .filter(|n| !effects.contains(n) || next_effect == Some(*n))
            .collect();
        let pick = ready[draw.below(ready.len())];
        left.retain(|n| *n != pick);
        order.push(pick);
    }
    order
}

#[test]
fn independent_nodes_may_stand_in_any_order() {
    for_seeds(2, |name, seed| {
        let plain = graph(name);
        let order = reordered(&plain, &mut Draw(seed));
        let mut doc = json(name);
        let by_name: BTreeMap<String, Json> = doc["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| (n["name"].as_str().unwrap().to_string(), n.clone()))
            .collect();
        let nodes = order.iter().map(|n| by_name[&*plain[*n].name].clone()).collect();
        doc["nodes"] = Json::Array(nodes);
        assert_eq!(summary(&fused(plain)), summary(&fused(graph_of(&doc))));
    });
}

fn types_of(graph: &Graph) -> (Vec<String>, Vec<String>) {
    let of = |n: NodeIndex| format!("{:?}", graph[n].value.to_type());
    let output = |a: &Arg| match a {
        Arg::Node(n) => of(*n),
        other => format!("{other:?}"),
    };
    let inputs = graph.inputs().iter().map(|n| format!("{} {}", graph[*n].name, of(*n)));
    (inputs.collect(), graph.outputs.iter().map(|o| output(&o.value)).collect())
}

/// Nodes that pass on or return a whole tuple: only `getitem` may use one.
fn whole_tuples(graph: &Graph) -> Vec<String> {
    let tuple = |n: NodeIndex| matches!(graph[n].value, Value::Tuple(_) | Value::List(_));
    let users = graph
        .nodes()
        .filter(|(i, n)| graph.projection(*i).is_none() && n.operands().iter().any(|o| tuple(*o)));
    let mut found: Vec<String> = users.map(|(_, n)| n.name.to_string()).collect();
    let returned = graph.outputs.iter().filter_map(|o| o.value.as_node()).filter(|n| tuple(*n));
    found.extend(returned.map(|n| graph[n].name.to_string()));
    found
}

/// What holds of every graph after every optimization.
fn check_whole(name: &str) {
    let graph = graph(name);
    let ranks = if name.contains("tp8") { 8 } else { 2 };
    let mut config = Config::new(Target::named("h200").unwrap());
    config.groups.insert("tp:0".into(), ranks);
    let fused = fuse(&library(), graph, &config);
    assert!(fused.report.extraction.optimal, "{name}: not proven optimal");
    let before = types_of(&fused.before);
    for (range, after) in fused.after.iter().enumerate() {
        let back = Graph::read(fused.exported(range).as_bytes()).unwrap();
        assert_eq!(types_of(&back), before, "{name}");
        assert_eq!(back.len(), after.graph.len(), "{name}");
        assert_eq!(
            whole_tuples(&back),
            Vec::<String>::new(),
            "{name}: a tuple where a part is meant"
        );
        assert_eq!(back.toposort().map(|o| o.len()), Ok(back.len()), "{name}");
        for placed in &after.placed {
            let node = back.by_name(&after.graph[placed.node].name).unwrap();
            let shared = library().fusions[placed.fusion].name.starts_with("allreduce");
            let wanted = if shared { Effect::Collective } else { Effect::Pure };
            assert_eq!(back.effect(node), wanted, "{name}: {}", back[node].name);
        }
    }
}

#[test]
fn every_vllm_graph_stays_whole() {
    fixtures("vllm_").iter().for_each(|n| check_whole(n));
}

#[test]
fn every_graph_from_vllms_own_compiler_stays_whole() {
    fixtures("real_").iter().for_each(|n| check_whole(n));
}

#[test]
fn every_transformers_graph_stays_whole() {
    fixtures("hf_").iter().for_each(|n| check_whole(n));
}

#[test]
fn folding_equal_layers_does_not_change_the_cost() {
    for name in fixtures("").iter().filter(|n| n.contains("_2l")) {
        let graph = graph(name);
        let mut config = config("h200", 2, &graph, 1, 2048);
        let folded = fuse(&library(), graph.clone(), &config);
        config.fold = false;
        let whole = fuse(&library(), graph, &config);
        assert_eq!(folded.chosen(0), whole.chosen(0), "{name}");
        let (a, b) = (folded.report.cost.after_us, whole.report.cost.after_us);
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{name}: {a} {b}");
        let (a, b) = (folded.report.extraction.cost, whole.report.extraction.cost);
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{name}: {a} {b}");
    }
}

#[test]
fn a_place_that_matches_in_two_ways_counts_once() {
    let text = "graph tiny: inductor_post_grad
device cuda:0
%x: bf16[64, 4096] = user_input x
%r: bf16[64, 4096] = user_input r
%w: bf16[4096] = user_input w
%s: f32[1] = user_input s
%h: bf16[64, 4096] = aten.add.Tensor(%x, %r)
%y: bf16[64, 4096] = vllm_ir.rms_norm.default(%h, %w, 1e-05)
%e: f8e4m3fn[64, 4096] = aten.empty.memory_format([64, 4096], dtype=f8e4m3fn, device=cuda:0)
%q: (none, result: f8e4m3fn[64, 4096]) = functional _C.static_scaled_fp8_quant.default(result=%e, input=%y, scale=%s)
%q1: f8e4m3fn[64, 4096] = operator.getitem(%q, 1)
return (%q1, %h)
";
    let fused = fused(text::parse(text).unwrap());
    let counts: Vec<_> =
        fused.report.fusions.iter().map(|f| (&*f.name, f.matched, f.chosen)).collect();
    let expected = [
        ("add_rms_norm_quant[quant_fp8_static]", 1, 1),
        ("rms_norm_quant[quant_fp8_static]", 1, 0),
    ];
    assert_eq!(counts, expected);
}

const LLAMA: &str = "vllm_llama8b_tp2_fp8static_2l";

/// The position of a node in its document.
fn position(doc: &Json, name: &str) -> usize {
    doc["nodes"].as_array().unwrap().iter().position(|n| n["name"] == name).unwrap()
}

#[test]
fn an_op_that_nobody_declares_stays_and_the_rest_still_fuses() {
    let mut doc = json(LLAMA);
    let at = position(&doc, "fused_add_rms_norm_1");
    doc["nodes"][at]["target"] = "mylib.mystery_norm.default".into();
    let info = doc["ops"]["vllm_ir.fused_add_rms_norm.default"].clone();
    doc["ops"]["mylib.mystery_norm.default"] = info;
    let fused = fused(graph_of(&doc));
    let expected = [
        ("allreduce_add_rms_norm", 1),
        ("allreduce_add_rms_norm_quant[quant_fp8_static]", 2),
        ("allreduce_rms_norm_quant[quant_fp8_static]", 1),
        ("silu_and_mul_quant[quant_fp8_static]", 2),
    ];
    assert_eq!(fused.chosen(0), expected);
    assert_eq!(fused.calls("mylib.mystery_norm.default"), 1);
    assert_eq!(fused.calls("vllm.all_reduce.default"), 1, "the one that feeds it");
    assert_eq!(fused.calls("_C.static_scaled_fp8_quant.default"), 3, "and the one after it");
    fused.after[0].graph.toposort().unwrap();
}

/// The Llama graph with one more output.
fn returning(node: &str) -> Fused {
    let mut doc = json(LLAMA);
    let output = serde_json::json!({"kind": "user_output", "value": {"node": node}});
    doc["outputs"].as_array_mut().unwrap().push(output);
    fused(graph_of(&doc))
}

/// What computes the last output: the callee, and which of its results it is.
fn last_output(fused: &Fused) -> (String, Option<usize>) {
    let graph = &fused.after[0].graph;
    let node = graph.outputs.last().unwrap().value.as_node().unwrap();
    let (of, part) = match graph.projection(node) {
        Some((of, part)) => (of, Some(part)),
        None => (node, None),
    };
    (graph.callee(of).unwrap().to_string(), part)
}

#[test]
fn a_norm_that_is_also_returned_stays_available() {
    let fused = returning("rms_norm");
    let (callee, part) = last_output(&fused);
    // No fusion with the quantizer returns the norm: something else computes it.
    let norms = ["fusec.allreduce_rms_norm.rms_norm", "vllm_ir.rms_norm.default"];
    assert!(norms.contains(&callee.as_str()), "{callee} {part:?}");
    assert_ne!(part, Some(1), "the residual, not the norm");
    let chosen = fused.chosen(0);
    assert!(chosen.contains(&("allreduce_add_rms_norm_quant[quant_fp8_static]", 3)), "{chosen:?}");
    assert!(fused.report.extraction.optimal);
}

#[test]
fn a_residual_that_is_also_returned_is_the_fusions_own_result() {
    let fused = returning("getitem_45");
    let name = "fusec.allreduce_add_rms_norm_quant.add_rms_norm__quant_fp8_static";
    assert_eq!(last_output(&fused), (name.into(), Some(1)));
    let chosen = fused.chosen(0);
    assert!(chosen.contains(&("allreduce_add_rms_norm_quant[quant_fp8_static]", 3)), "{chosen:?}");
}

#[test]
fn an_activation_that_is_also_returned_is_not_fused_away() {
    let fused = returning("getitem_51");
    assert_eq!(last_output(&fused), ("_C.silu_and_mul.default".into(), Some(1)));
    let chosen = fused.chosen(0);
    assert!(chosen.contains(&("silu_and_mul_quant[quant_fp8_static]", 1)), "{chosen:?}");
}
