use super::all;
use crate::instances::{instances, library};
use crate::kernel::Kernel;
use crate::lower::{Bound, lower};
use crate::manifest::Manifest;
use crate::plan::Tuning;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Attr;

#[test]
fn every_instance_lowers() {
    let (library, sources) = library();
    let all = all(&library, Dtype::Bf16, Dtype::Bf16, 4096);
    for i in &all {
        let k = Kernel::new(&library, &sources, i.fusion, &i.bound, Tuning::default());
        k.unwrap_or_else(|e| panic!("{}: {e}", i.label()));
    }
    // 16 ways to quantize: 12 of groups, 4 others.
    assert!(all.len() >= 7 * 16 && all.len().is_multiple_of(16), "{}", all.len());
}

fn kernel(label: &str) -> Kernel {
    let (library, sources) = library();
    let all = all(&library, Dtype::Bf16, Dtype::Bf16, 4096);
    let i = all.iter().find(|i| i.label() == label).unwrap();
    Kernel::new(&library, &sources, i.fusion, &i.bound, Tuning::default()).unwrap()
}

/// The generated part of a kernel: the rest is the templates as they are.
#[test]
fn generated_part_is_the_expression() {
    let text = kernel("rms_norm_quant[rms_norm, quant_fp8_token]").source.text;
    let start = text.find("namespace {").unwrap();
    insta::assert_snapshot!("generated_rms_norm_fp8_token", &text[start..]);
    let text = kernel("silu_and_mul_quant[quant_nvfp4]").source.text;
    let start = text.find("namespace {").unwrap();
    insta::assert_snapshot!("generated_silu_nvfp4", &text[start..]);
}

#[test]
fn manifest_says_how_to_launch() {
    let k = kernel(
        "add_rms_norm_quant[add_rms_norm, quant_fp8_group] group=128 layout=tma_aligned ue8m0=true",
    );
    let json = serde_json::to_string_pretty(&Manifest::of(&k, "sm_90a")).unwrap();
    insta::assert_snapshot!("manifest", json);
}

/// What cannot be lowered says which op, and why.
#[test]
fn errors_name_the_op() {
    let (library, sources) = library();
    let types = [("T", Dtype::Bf16), ("W", Dtype::Bf16)];
    let mut said = Vec::new();
    let reduce = &instances(&library, &["fuse_allreduce_rms"], &types, 4096)[0];
    said.push(lower(&library, reduce.fusion, &reduce.bound).unwrap_err().to_string());
    let grouped = all(&library, Dtype::Bf16, Dtype::Bf16, 4096);
    let grouped = grouped.iter().find(|i| i.label().contains("group=64")).unwrap();
    let with = |change: &dyn Fn(&mut Bound)| {
        let mut bound = grouped.bound.clone();
        change(&mut bound);
        Kernel::new(&library, &sources, grouped.fusion, &bound, Tuning::default())
            .unwrap_err()
            .to_string()
    };
    said.push(with(&|b| {
        b.attrs.insert("group".into(), Attr::int(100));
    }));
    said.push(with(&|b| {
        b.dims.insert("d".into(), 960);
        b.attrs.insert("group".into(), Attr::int(96));
    }));
    said.push(with(&|b| b.dims.clear()));
    said.push(with(&|b| b.dtypes.clear()));
    said.push(with(&|b| {
        b.attrs.remove("ue8m0");
    }));
    said.push(with(&|b| {
        b.dims.insert("d".into(), 1 << 22);
    }));
    insta::assert_snapshot!("lowering_errors", said.join("\n"));
}
