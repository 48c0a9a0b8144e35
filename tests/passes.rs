//! What each pass does to each kind of graph, as a diff with its counts.

use crate::pipeline::{config, fuse, graph, library};
use crate::support::{root, shell, snapshot};
use fusec_engine::diff::diff;

/// Snapshot of a pass, or of all with `all`, on a graph over a group of two.
fn check(graph_name: &str, pass: &str) {
    let graph = graph(graph_name);
    let target = if graph_name.contains("sm100") { "b200" } else { "h200" };
    let mut config = config(target, 2, &graph, 1, 2048);
    if pass != "all" {
        config.enable.insert(pass.into());
    }
    let fused = fuse(&library(), graph, &config);
    let text = diff(&fused.before, &fused.after[0], &library(), &fused.report, 0);
    snapshot(&format!("pass_{pass}__{graph_name}"), &text);
}

#[test]
fn fuse_act_quant() {
    let graphs = [
        "vllm_llama8b_tp1_fp8static_2l",
        "vllm_llama8b_tp2_fp8static_legacy_2l",
        "vllm_llama8b_tp2_fp8static_native_2l",
        "vllm_llama8b_tp2_nvfp4_2l",
        "real_vllm_qwen3_8b_fp8block_default_p01_before",
    ];
    graphs.iter().for_each(|g| check(g, "fuse_act_quant"));
}

#[test]
fn fuse_norm_quant() {
    let graphs = [
        "vllm_llama8b_tp1_fp8static_2l",
        "vllm_llama8b_tp2_fp8static_native_2l",
        "vllm_llama8b_tp2_fp8token_2l",
        "real_vllm_deepseek_v3_tp8_fp8block_fused_full_p00_before",
        "real_vllm_llama3_1_8b_nvfp4_fused_full_sm100_p00_before",
    ];
    graphs.iter().for_each(|g| check(g, "fuse_norm_quant"));
}

#[test]
fn fuse_allreduce_rms() {
    let graphs = [
        "vllm_llama8b_tp2_bf16_2l",
        "vllm_llama8b_tp2_bf16_native_2l",
        "vllm_llama8b_tp2_fp8static_2l",
        "vllm_llama8b_tp2_fp8static_afv2_2l",
        "vllm_llama8b_tp2_fp8block_2l",
    ];
    graphs.iter().for_each(|g| check(g, "fuse_allreduce_rms"));
}

#[test]
fn all_passes_together() {
    let graphs = [
        "vllm_llama8b_tp2_fp8static_32l",
        "vllm_llama8b_tp2_fp8static_native_2l",
        "vllm_deepseek_v3_tp8_fp8block_4l",
        "vllm_qwen3_8b_tp1_bf16_2l",
        "hf_phi3_mini_2l_export",
    ];
    graphs.iter().for_each(|g| check(g, "all"));
}

#[test]
fn the_command_prints_the_same_diff() {
    let name = "vllm_llama8b_tp2_fp8static_2l";
    let line = format!(
        "fusec opt tests/fixtures/graphs/{name}.json.gz --disable all --enable fuse_allreduce_rms \
         --group tp:0=2 --range s72=1..2048 --report diff"
    );
    let run = shell(&root(), &line);
    let kept = root().join(format!("tests/snapshots/pass_fuse_allreduce_rms__{name}.snap"));
    let kept = std::fs::read_to_string(kept).unwrap();
    let text = kept.splitn(3, "---\n").nth(2).unwrap();
    assert_eq!(run.stdout.trim_end(), text.trim_end(), "{}", run.stderr);
}
