use super::all;
use crate::instances::library;
use crate::kernel::Kernel;
use fusec_dsl::dtype::Dtype;

#[test]
fn every_instance_lowers() {
    let (library, sources) = library();
    let all = all(&library, Dtype::Bf16, Dtype::Bf16, 4096);
    for i in &all {
        let k = Kernel::new(&library, &sources, i.fusion, &i.bound, Default::default());
        k.unwrap_or_else(|e| panic!("{}: {e}", i.label()));
    }
    // 2 + 3 norms and 2 activations; 16 ways to quantize: 12 of groups, 4 others.
    assert_eq!(all.len(), 7 * 16);
}
