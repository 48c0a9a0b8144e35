//! `fusec build`: source, manifest and image, and what a user gets wrong.

use crate::support::{root, shell, snapshot};
use std::fs;

#[test]
fn the_source_and_the_manifest_need_no_cuda() {
    let folder = tempfile::tempdir().unwrap();
    let line = "fusec build 'silu_and_mul_quant[quant_fp8_static]' --set d=14336 --no-compile";
    let run = shell(folder.path(), line);
    let listed: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((run.status, listed.len()), (0, 2), "{}", run.shown());
    let source = fs::read_to_string(folder.path().join(listed[0])).unwrap();
    assert!(source.contains("__global__"));
    let manifest = fs::read_to_string(folder.path().join(listed[1])).unwrap();
    snapshot("build_manifest", &format!("{}\n{manifest}", run.shown()));
}

#[test]
fn nvrtc_makes_an_image_for_every_target() {
    let folder = tempfile::tempdir().unwrap();
    let setup = root().join("tests/setup.sh");
    assert!(root().join(".venv").is_dir(), "run {} first", setup.display());
    for (target, arch) in [("a100", "sm_80"), ("h200", "sm_90a"), ("b200", "sm_100a")] {
        let line = format!(
            "fusec build 'silu_and_mul_quant[quant_fp8_static]' --set d=512 --target {target} -o {}",
            folder.path().display()
        );
        let run = shell(&root(), &line);
        assert_eq!(run.status, 0, "{}", run.shown());
        let image = format!("silu_and_mul_quant__quant_fp8_static.{arch}.cubin");
        assert!(folder.path().join(image).exists());
    }
}

#[test]
fn mistakes_name_the_way_out() {
    let fusion = "'rms_norm_quant[rms_norm, quant_fp8_group]'";
    let given = "--set d=4096 --set eps=1e-6 --set group=128 --set ue8m0=false --no-compile";
    let lines = [
        "fusec build silu_and_mul_qant".to_string(),
        "fusec build silu_and_mul_quant".to_string(),
        format!("fusec build {fusion} --no-compile --set d=4096"),
        format!("fusec build {fusion} --no-compile --set d=none"),
        format!("fusec build {fusion} {given} --set layout=sideways"),
        format!("fusec build {fusion} {given} --type T=bfloat16"),
        format!("fusec build {fusion} {given} --type T=i8"),
        format!("fusec build {fusion} {given} --type V=f16"),
        "fusec build 'allreduce_rms_norm[rms_norm]' --set d=64 --set eps=1e-6".to_string(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let one = |l: &String| format!("$ {l}\n{}", shell(folder.path(), l).shown());
    snapshot("build_mistakes", &lines.iter().map(one).collect::<Vec<_>>().join("\n"));
}
