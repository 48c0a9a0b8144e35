//! Counts that are known: the for captured Llama graphs, vLLM's own for its own graphs.

use crate::pipeline::{Fused, config, fixtures, fuse, graph, library};
use crate::support::snapshot;
use fusec_engine::config::Config;
use fusec_engine::graph::Graph;

const QUANT: &str = "_C.static_scaled_fp8_quant.default";

/// A Llama graph where all-reduce fusion is on.
fn llama(name: &str, disable: &[&str]) -> Fused {
    let graph = graph(name);
    let mut config = config("h200", 2, &graph, 1, 2048);
    config.disable = disable.iter().map(|d| d.to_string()).collect();
    let fused = fuse(&library(), graph, &config);
    assert_eq!(fused.report.ranges.len(), 1, "{name}: one plan from 1 to 2048 tokens");
    fused
}

#[test]
fn llama_with_all_reduce_fuses_as_counted_by_hand() {
    let spellings = [
        ("vllm_llama8b_tp2_fp8static_2l", 2, Some(2)),
        ("vllm_llama8b_tp2_fp8static_afv2_2l", 2, Some(2)),
        ("vllm_llama8b_tp2_fp8static_legacy_2l", 2, Some(2)),
        // Quantizers are written out here: none has a call of its own.
        ("vllm_llama8b_tp2_fp8static_native_2l", 2, None),
        ("vllm_llama8b_tp2_fp8static_32l", 32, Some(32)),
        ("vllm_llama8b_tp2_fp8static_legacy_32l", 32, Some(32)),
    ];
    for (name, layers, left) in spellings {
        let fused = llama(name, &[]);
        let expected = [
            ("allreduce_add_rms_norm", 1),
            ("allreduce_add_rms_norm_quant[quant_fp8_static]", 2 * layers - 1),
            ("allreduce_rms_norm_quant[quant_fp8_static]", 1),
            ("silu_and_mul_quant[quant_fp8_static]", layers),
        ];
        assert_eq!(fused.chosen(0), expected, "{name}");
        if let Some(left) = left {
            assert_eq!(fused.calls(QUANT), left, "{name}: one is left after each attention");
        }
        assert_eq!(fused.calls("vllm.all_reduce.default"), 0, "{name}");
    }
}

#[test]
fn llama_without_all_reduce_fuses_norms_and_quantizers_in_those_places() {
    let off: &[&str] = &["fuse_allreduce_rms"];
    let cases = [
        ("vllm_llama8b_tp1_fp8static_2l", 2, &[][..]),
        ("vllm_llama8b_tp2_fp8static_2l", 2, off),
        ("vllm_llama8b_tp2_fp8static_afv2_2l", 2, off),
        ("vllm_llama8b_tp2_fp8static_legacy_2l", 2, off),
        ("vllm_llama8b_tp2_fp8static_native_2l", 2, off),
        ("vllm_llama8b_tp2_fp8static_32l", 32, off),
        ("vllm_llama8b_tp2_fp8static_legacy_32l", 32, off),
    ];
    for (name, layers, disable) in cases {
        let fused = llama(name, disable);
        let expected = [
            ("add_rms_norm_quant[quant_fp8_static]", 2 * layers - 1),
            ("rms_norm_quant[quant_fp8_static]", 1),
            ("silu_and_mul_quant[quant_fp8_static]", layers),
        ];
        assert_eq!(fused.chosen(0), expected, "{name}");
    }
}

/// One of vLLM's graphs as its pass manager receives it, with what vLLM's own passes found there.
struct Case {
    graph: &'static str,
    target: &'static str,
    /// Ranks of `tp:0`.
    ranks: i64,
    /// The range of tokens that vLLM compiled it for.
    tokens: (i64, i64),
    /// Matches of RMSNormQuantFusionPass, ActivationQuantFusionPass, AllReduceFusionPass.
    found: [usize; 3],
}

const fn h200(graph: &'static str, found: [usize; 3]) -> Case {
    Case { graph, target: "h200", ranks: 1, tokens: (1, 8192), found }
}

/// vLLM 0.26.0.
const VLLM: &[Case] = &[
    Case { ranks: 8, ..h200("deepseek_v3_tp8_fp8block_fused_full_p00", [7, 1, 0]) },
    Case { ranks: 8, tokens: (1, 32), ..h200("llama3_1_70b_tp8_bf16_fused_full_p00", [0, 0, 7]) },
    Case {
        ranks: 8,
        tokens: (33, 8192),
        ..h200("llama3_1_70b_tp8_bf16_fused_full_p01", [0, 0, 0])
    },
    h200("llama3_1_8b_bf16_default_p00", [0, 0, 0]),
    h200("llama3_1_8b_bf16_default_p01", [0, 0, 0]),
    h200("llama3_1_8b_bf16_default_p02", [0, 0, 0]),
    h200("llama3_1_8b_bf16_default_p03", [0, 0, 0]),
    h200("llama3_1_8b_fp8static_default_p00", [0, 0, 0]),
    h200("llama3_1_8b_fp8static_default_p01", [0, 0, 0]),
    h200("llama3_1_8b_fp8static_default_p02", [0, 0, 0]),
    h200("llama3_1_8b_fp8static_default_p03", [0, 0, 0]),
    h200("llama3_1_8b_fp8static_fused_full_32layers_p00", [64, 32, 0]),
    h200("llama3_1_8b_fp8static_fused_full_p00", [6, 3, 0]),
    h200("llama3_1_8b_fp8static_fused_full_tritonattn_kv8_p00", [6, 3, 0]),
    h200("llama3_1_8b_fp8static_fused_piecewise_p00", [1, 0, 0]),
    h200("llama3_1_8b_fp8static_fused_piecewise_p01", [2, 1, 0]),
    h200("llama3_1_8b_fp8static_fused_piecewise_p02", [2, 1, 0]),
    h200("llama3_1_8b_fp8static_fused_piecewise_p03", [1, 1, 0]),
    h200("llama3_1_8b_fp8token_fused_full_p00", [6, 0, 0]),
    Case { target: "b200", ..h200("llama3_1_8b_nvfp4_fused_full_sm100_p00", [0, 3, 0]) },
    h200("qwen3_8b_bf16_fused_full_p00", [0, 0, 0]),
    h200("qwen3_8b_fp8block_default_p00", [1, 0, 0]),
    h200("qwen3_8b_fp8block_default_p01", [2, 1, 0]),
    h200("qwen3_8b_fp8block_default_p02", [2, 1, 0]),
    h200("qwen3_8b_fp8block_default_p03", [1, 1, 0]),
    h200("qwen3_8b_fp8block_fused_full_p00", [6, 3, 0]),
];

/// vLLM's pass and ours.
const PASSES: [(&str, &str); 3] = [
    ("RMSNormQuantFusionPass", "fuse_norm_quant"),
    ("ActivationQuantFusionPass", "fuse_act_quant"),
    ("AllReduceFusionPass", "fuse_allreduce_rms"),
];

/// Settings with only the passes that vLLM ran on this graph.
fn as_vllm_ran(case: &Case, graph: &Graph) -> Config {
    let mut config = config(case.target, case.ranks, graph, case.tokens.0, case.tokens.1);
    let ran = graph.header.source["passes"].as_array().unwrap();
    let (on, off): (Vec<_>, Vec<_>) =
        PASSES.iter().partition(|(theirs, _)| ran.iter().any(|r| r == theirs));
    config.enable = on.iter().map(|(_, ours)| ours.to_string()).collect();
    config.disable = off.iter().map(|(_, ours)| ours.to_string()).collect();
    config
}

#[test]
fn every_graph_of_vllm_has_its_counts() {
    let named = |c: &Case| format!("real_vllm_{}_before", c.graph);
    let mut listed: Vec<String> = VLLM.iter().map(named).collect();
    listed.sort();
    let mut shipped = fixtures("real_vllm");
    shipped.retain(|n| n.ends_with("_before"));
    assert_eq!(listed, shipped);
}

#[test]
fn no_fewer_sites_than_vllm_and_all_passes_together_take_each_of_them() {
    for case in VLLM {
        let graph = graph(&format!("real_vllm_{}_before", case.graph));
        let alone = fuse(&library(), graph.clone(), &as_vllm_ran(case, &graph));
        assert_eq!(alone.report.ranges.len(), 1, "{}", case.graph);
        for (found, (theirs, ours)) in case.found.iter().zip(PASSES) {
            let fusions = alone.report.fusions.iter().filter(|f| f.pass.as_deref() == Some(ours));
            let chosen: usize = fusions.map(|f| f.chosen).sum();
            assert!(chosen >= *found, "{}: {theirs} {found}, {ours} {chosen}", case.graph);
        }
        let all = config(case.target, case.ranks, &graph, case.tokens.0, case.tokens.1);
        let all = fuse(&library(), graph, &all);
        for range in 0..all.report.ranges.len() {
            let taken = all.sites(range);
            for (name, nodes) in alone.sites(0) {
                let larger = taken.iter().any(|(_, t)| nodes.iter().all(|n| t.contains(n)));
                assert!(larger, "{}, range {range}: {name} on {nodes:?}", case.graph);
            }
        }
    }
}

#[test]
fn all_reduce_fusion_ends_at_the_token_where_vllm_ends_it() {
    let graph = graph("real_vllm_llama3_1_70b_tp8_bf16_fused_full_p00_before");
    let config = config("h200", 8, &graph, 1, 8192);
    let fused = fuse(&library(), graph, &config);
    let bounds: Vec<_> = fused.report.ranges.iter().map(|r| (r.lo, r.hi)).collect();
    assert_eq!(bounds, [(1, Some(32)), (33, Some(8192))]);
    assert_eq!(fused.chosen(0), [("allreduce_add_rms_norm", 6), ("allreduce_rms_norm", 1)]);
    assert_eq!(fused.chosen(1), []);
}

/// Written-out norms, gates and rotations of a model exported from transformers.
fn lifted(name: &str) -> String {
    let graph = graph(name);
    let calls = |t: &str| graph.nodes().filter(|(i, _)| graph.callee(*i) == Some(t)).count();
    let norms = calls("aten.rsqrt.default");
    let mut config = Config::new(fusec_engine::target::Target::named("h200").unwrap());
    // A decomposed SiLU is `x * sigmoid(x)`, which rounds once more than `silu`.
    let core = name.ends_with("_core");
    config.approx_ulp = if core { 1.0 } else { 0.0 };
    let fused = fuse(&library(), graph, &config);
    let count = |rule: &str| {
        fused.report.lifted.iter().filter(|l| l.name == rule).map(|l| l.count).sum::<usize>()
    };
    let found = count("written_rms_norm") + count("written_rms_norm_f32");
    assert_eq!(found, norms, "{name}: norms lifted, norms in the graph");
    let rules = fused.report.lifted.iter().map(|l| format!("  {} {}\n", l.name, l.count));
    let mode = if core { ", approx 1 ulp" } else { "" };
    format!("{name}{mode}: {norms} norms\n{}", rules.collect::<String>())
}

#[test]
fn every_norm_and_gate_of_exported_models_is_recognized() {
    let mut names = fixtures("hf_");
    names.retain(|n| !n.contains("_80l"));
    snapshot("oracle_lifted", &names.iter().map(|n| lifted(n)).collect::<Vec<_>>().join("\n"));
}
