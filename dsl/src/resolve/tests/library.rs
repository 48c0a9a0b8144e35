//! The standard library loads without a complaint.

use super::{passes, show};
use crate::library::{Fusion, Guard, Library};
use crate::resolve::{load, show as text};
use std::collections::BTreeMap;

fn guards(list: &[Guard], out: &mut String) {
    for g in list {
        let from = g.from.as_ref().map_or(String::new(), |f| format!(" (from {f})"));
        out.push_str(&format!("    where {}{from}\n", g.text));
    }
}

fn listing(lib: &Library) -> String {
    let mut out = String::new();
    for op in &lib.ops {
        out.push_str(&format!("op {}{}\n", op.name, text::signature(&op.sig)));
        guards(&op.sig.guards, &mut out);
    }
    for b in &lib.binds {
        let op = &lib.op(b.op).name;
        out.push_str(&format!("bind {} = {op}/{}\n", b.target, b.op_args.len()));
    }
    for r in &lib.rewrites {
        out.push_str(&format!("rewrite {}{}\n", r.name, text::signature(&r.sig)));
        guards(&r.sig.guards, &mut out);
    }
    let mut labels: BTreeMap<String, Vec<&Fusion>> = BTreeMap::new();
    for f in &lib.fusions {
        labels.entry(f.label()).or_default().push(f);
    }
    for (label, instances) in &labels {
        let (first, n) = (instances[0], instances.len());
        let pass = first.pass.as_deref().unwrap_or("-");
        let sig = text::signature(&first.sig);
        out.push_str(&format!("fusion {label} ({n}) in {pass}{sig}\n"));
        guards(&first.sig.guards, &mut out);
    }
    for p in &lib.passes {
        out.push_str(&format!("pass {}\n", p.name));
        guards(&p.guards, &mut out);
    }
    out
}

#[test]
fn the_standard_library_has_no_mistakes() {
    let (lib, map, found) = load(&passes());
    assert_eq!(show(&map, &found), "");
    insta::assert_snapshot!(listing(&lib));
}
