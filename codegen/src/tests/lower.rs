use crate::instances::{instances, library};
use crate::kernel::Kernel;
use fusec_dsl::dtype::Dtype;

const PASSES: &[&str] = &["fuse_norm_quant", "fuse_act_quant"];

#[test]
fn every_instance_lowers() {
    let (library, sources) = library();
    let all = instances(&library, PASSES, &[("T", Dtype::Bf16), ("W", Dtype::Bf16)], 4096);
    let labels: Vec<String> = all.iter().map(|i| i.label()).collect();
    for i in &all {
        let k = Kernel::new(&library, &sources, i.fusion, &i.bound, Default::default());
        let k = k.unwrap_or_else(|e| panic!("{}: {e}", i.label()));
        std::fs::write(format!("/tmp/k/{}.cu", i.label().replace(' ', "_")), &k.source.text)
            .unwrap();
    }
    eprintln!("{} {:#?}", labels.len(), labels);
}
