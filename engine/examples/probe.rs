//! Prints what optimizing one graph takes and finds, for development.

use fusec_dsl::resolve;
use fusec_engine::{
    config::Config, graph::Graph, lift, optimize, rewrite, summary, target::Target,
};
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut files = Vec::new();
    for d in ["passes", "passes/ops"] {
        for e in std::fs::read_dir(d).unwrap().flatten() {
            let p = e.path();
            if p.extension().is_some_and(|e| e == "fuse") {
                files
                    .push((p.to_string_lossy().into_owned(), std::fs::read_to_string(&p).unwrap()));
            }
        }
    }
    let (lib, _s, d) = resolve::load(&files);
    assert!(d.is_empty(), "{d:?}");
    let lib = Arc::new(lib);
    let bytes = std::fs::read(&args[1]).unwrap();
    let t0 = std::time::Instant::now();
    let graph = Graph::read(&bytes).unwrap();
    let t1 = std::time::Instant::now();
    let mut config = Config::new(Target::named("h200").unwrap());
    config.fold = !args.iter().any(|a| a == "--no-fold");
    for a in &args[2..] {
        if let Some(n) = a.strip_prefix("--tp=") {
            config.groups.insert("tp:0".into(), n.parse().unwrap());
        }
        if let Some(n) = a.strip_prefix("--only=") {
            config.enable.extend(n.split(',').map(String::from));
        }
    }
    let mut lifted = lift::lift_graph(&lib, &graph);
    let t2 = std::time::Instant::now();
    let outcome = optimize::optimize(&lib, &mut lifted, &config);
    let t3 = std::time::Instant::now();
    let after = rewrite::rewrite(&graph, &lib, &lifted, &outcome.plans[0]);
    let t4 = std::time::Instant::now();
    let r = summary::report(&graph, &lib, &lifted, &outcome, &config);
    println!(
        "read {:?} lift {:?} opt {:?} rewrite {:?}; nodes {} -> {}",
        t1 - t0,
        t2 - t1,
        t3 - t2,
        t4 - t3,
        graph.len(),
        after.len()
    );
    for x in &r.ranges {
        println!("{:?}", x);
    }
    for f in &r.fusions {
        println!(
            "{} r{} matched {} chosen {} {:?}",
            f.name, f.range, f.matched, f.chosen, f.refused
        );
    }
    println!("{:?}\n{:?}\n{:?}\n{:?} {:?}", r.lifted, r.warnings, r.passes, r.egraph, r.seconds);
    for c in summary::op_counts(&graph, &after) {
        if c.before != c.after {
            println!("{} {} -> {}", c.op, c.before, c.after);
        }
    }
    println!(
        "unbound {:?}",
        lifted.unbound.iter().map(|(k, v)| (k, v.len(), &v[0])).collect::<Vec<_>>()
    );
    after.toposort().unwrap();
}
