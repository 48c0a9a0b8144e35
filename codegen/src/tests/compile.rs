use super::all;
use crate::cuda::find;
use crate::instances::library;
use crate::kernel::Kernel;
use crate::plan::Tuning;
use fusec_dsl::dtype::Dtype;
use std::collections::BTreeMap;

/// Whether NVRTC is to be used. Without it the tests fail, unless they are told that it is not there.
fn nvrtc_wanted() -> bool {
    if std::env::var_os("FUSEC_NO_NVRTC").is_some() {
        eprintln!("FUSEC_NO_NVRTC is set: nothing is compiled for GPUs");
        return false;
    }
    if let Err(e) = find::nvrtc() {
        panic!("{e}; tests/setup.sh does it. FUSEC_NO_NVRTC=1 leaves these tests out.");
    }
    true
}

/// Sources of every instance, each different text once.
fn sources(t: Dtype, w: Dtype, d: i64, tuning: Tuning) -> BTreeMap<String, Kernel> {
    let (library, sources) = library();
    let mut out = BTreeMap::new();
    for i in all(&library, t, w, d) {
        let kernel = Kernel::new(&library, &sources, i.fusion, &i.bound, tuning).unwrap();
        out.insert(kernel.source.text.clone(), kernel);
    }
    out
}

fn compile(kernels: BTreeMap<String, Kernel>, archs: &[&str]) {
    for kernel in kernels.values() {
        for arch in archs {
            let cubin = kernel.cubin(arch).unwrap_or_else(|e| panic!("{}: {e}", kernel.ir.fusion));
            assert!(cubin.starts_with(b"\x7fELF"), "{} for {arch} is no cubin", kernel.ir.fusion);
        }
    }
}

#[test]
fn every_instance_compiles_without_a_gpu() {
    if nvrtc_wanted() {
        let kernels = sources(Dtype::Bf16, Dtype::Bf16, 4096, Tuning::default());
        compile(kernels, &["sm_80", "sm_90a", "sm_100a"]);
    }
}

#[test]
fn other_types_and_ragged_rows_compile() {
    if nvrtc_wanted() {
        let pick = |all: BTreeMap<String, Kernel>| all.into_iter().step_by(5).collect();
        let unaligned = Tuning { unaligned: true, ..Tuning::default() };
        compile(pick(sources(Dtype::F16, Dtype::F32, 5120, Tuning::default())), &["sm_90a"]);
        compile(pick(sources(Dtype::Bf16, Dtype::F32, 384, unaligned)), &["sm_100a"]);
    }
}

/// An error in an expression is reported at the `.fuse` line that it was written on.
#[test]
fn errors_are_mapped_to_the_fuse_line() {
    if !nvrtc_wanted() {
        return;
    }
    let kernels = sources(Dtype::Bf16, Dtype::Bf16, 4096, Tuning::default());
    let mut kernel = kernels.into_values().find(|k| k.source.text.contains("op::rsqrt(")).unwrap();
    kernel.source.text = kernel.source.text.replace("op::rsqrt(", "op::no_such_function(");
    let message = kernel.cubin("sm_90a").unwrap_err().to_string();
    let line = message.lines().nth(1).unwrap_or_default();
    assert!(line.starts_with("passes/ops/norm.fuse:"), "{message}");
    assert!(line.contains("no_such_function"), "{message}");
}
