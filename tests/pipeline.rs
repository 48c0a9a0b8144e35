//! The pipeline from a captured graph to a fused one, as the command runs it.

use crate::support::root;
use flate2::read::GzDecoder;
use fusec_dsl::dim::Interval;
use fusec_dsl::library::Library;
use fusec_dsl::resolve;
use fusec_engine::config::Config;
use fusec_engine::graph::Graph;
use fusec_engine::report::{Report, Seconds};
use fusec_engine::rewrite::Rewritten;
use fusec_engine::target::Target;
use fusec_engine::{fx, lift, optimize, rewrite, summary};
use std::io::Read;
use std::sync::{Arc, LazyLock};

/// The standard library.
pub fn library() -> Arc<Library> {
    static LIBRARY: LazyLock<Arc<Library>> = LazyLock::new(|| {
        let own = |(path, text): &(&str, &str)| (path.to_string(), text.to_string());
        load(&fusec_passes::FILES.iter().map(own).collect::<Vec<_>>())
    });
    LIBRARY.clone()
}

/// A library from its files.
pub fn load(files: &[(String, String)]) -> Arc<Library> {
    let (library, _, diagnostics) = resolve::load(files);
    assert!(!resolve::has_errors(&diagnostics), "{diagnostics:?}");
    Arc::new(library)
}

/// Names of the captured graphs with a prefix, sorted.
pub fn fixtures(prefix: &str) -> Vec<String> {
    let folder = std::fs::read_dir(root().join("tests/fixtures/graphs")).unwrap();
    let names = folder.map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let stem = |n: String| Some(n.strip_suffix(".json.gz")?.to_string());
    let mut found: Vec<String> = names.filter_map(stem).filter(|n| n.starts_with(prefix)).collect();
    found.sort();
    assert!(!found.is_empty(), "no graph {prefix}*");
    found
}

/// The document of a captured graph as JSON.
pub fn json(name: &str) -> serde_json::Value {
    let path = root().join(format!("tests/fixtures/graphs/{name}.json.gz"));
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A captured graph.
pub fn graph(name: &str) -> Graph {
    let path = root().join(format!("tests/fixtures/graphs/{name}.json.gz"));
    Graph::read(&std::fs::read(path).unwrap()).unwrap()
}

/// A graph from its document.
pub fn graph_of(json: &serde_json::Value) -> Graph {
    Graph::read(json.to_string().as_bytes()).unwrap()
}

/// Settings for a graph: a group of this many ranks, and the bounds of every backed size.
pub fn config(target: &str, ranks: i64, graph: &Graph, lo: i64, hi: i64) -> Config {
    let mut config = Config::new(Target::named(target).unwrap());
    config.groups.insert("tp:0".into(), ranks);
    let range = Interval { lo: Some(lo), hi: Some(hi) };
    config.ranges = graph.symbols.iter().map(|s| (s.name.clone(), range)).collect();
    config
}

/// A graph and what became of it.
pub struct Fused {
    pub before: Graph,
    pub after: Vec<Rewritten>,
    /// Without times.
    pub report: Report,
}

/// Runs the pipeline.
pub fn fuse(library: &Arc<Library>, before: Graph, config: &Config) -> Fused {
    let mut lifted = lift::lift_graph(library, &before);
    let outcome = optimize::optimize(library, &mut lifted, config);
    let write = |plan| rewrite::rewrite_placed(&before, library, &lifted, plan);
    let after: Vec<Rewritten> = outcome.plans.iter().map(write).collect();
    let mut report = summary::report(&before, library, &lifted, &outcome, config);
    report.ops = summary::op_counts(&before, &after[0].graph);
    report.seconds = Seconds::default();
    Fused { before, after, report }
}

impl Fused {
    /// Label and number of every fusion that a range's plan uses.
    pub fn chosen(&self, range: usize) -> Vec<(&str, usize)> {
        let used = self.report.fusions.iter().filter(|f| f.range == range && f.chosen > 0);
        used.map(|f| (f.name.as_str(), f.chosen)).collect()
    }

    /// Sites that a range's plan uses: label and covered nodes.
    pub fn sites(&self, range: usize) -> Vec<(&str, &[String])> {
        let used = self.report.fusions.iter().filter(|f| f.range == range);
        used.flat_map(|f| {
            let chosen = f.sites.iter().filter(|s| s.chosen);
            chosen.map(|s| (f.name.as_str(), s.nodes.as_slice()))
        })
        .collect()
    }

    /// How often the first range's graph calls an operator.
    pub fn calls(&self, target: &str) -> usize {
        self.report.ops.iter().find(|o| o.op == target).map_or(0, |o| o.after)
    }

    /// The graph of a range as JSON text.
    pub fn exported(&self, range: usize) -> String {
        fx::write(&self.after[range].graph.to_fx().unwrap())
    }
}
