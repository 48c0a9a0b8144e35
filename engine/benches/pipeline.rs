//! Time and memory of every stage of an optimization over the depth of a model.
//!
//! `cargo bench -p fusec-engine --bench pipeline` stretches a captured two-layer graph to 8, 32, 80
//! and 126 layers and prints process CPU time, the least of several runs, in milliseconds, and the
//! peak of memory without the JSON import. `growth` is the time from 8 to 126 layers over the
//! growth of the graph: 1 is linear.

mod cpu;
mod stretch;

use fusec_dsl::dim::Interval;
use fusec_dsl::library::Library;
use fusec_dsl::resolve;
use fusec_engine::config::Config;
use fusec_engine::graph::Graph;
use fusec_engine::target::Target;
use fusec_engine::{fx, lift, optimize, rewrite};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const LAYERS: [usize; 4] = [8, 32, 80, 126];
const RUNS: usize = 7;

/// Counts live bytes and remembers the most.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator unchanged; only counters are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `at` came from `alloc` above with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// CPU milliseconds of one run, by stage.
#[derive(Clone, Copy, Default)]
struct Times {
    import: f64,
    lift: f64,
    saturate_and_extract: f64,
    rewrite: f64,
    peak_mib: f64,
}

impl Times {
    fn least(self, other: Times) -> Times {
        Times {
            import: self.import.min(other.import),
            lift: self.lift.min(other.lift),
            saturate_and_extract: self.saturate_and_extract.min(other.saturate_and_extract),
            rewrite: self.rewrite.min(other.rewrite),
            peak_mib: self.peak_mib.max(other.peak_mib),
        }
    }

    fn stages(self) -> [f64; 5] {
        [self.import, self.lift, self.saturate_and_extract, self.rewrite, self.peak_mib]
    }
}

fn main() {
    let base = include_bytes!("../../tests/fixtures/graphs/vllm_llama8b_tp2_fp8static_2l.json.gz");
    let document = fx::read(base).expect("the shipped graph reads");
    let document = serde_json::to_value(&document).expect("a document is JSON");
    let library = library();
    for fold in [true, false] {
        println!("\nlayers folded: {fold} (CPU ms; least of {RUNS})");
        println!(
            "{:>7} {:>7} {:>9} {:>9} {:>18} {:>9} {:>9}",
            "layers", "nodes", "import", "lift", "saturate+extract", "rewrite", "peak MiB"
        );
        let mut rows = Vec::new();
        for layers in LAYERS {
            let json = stretch::stretch(&document, layers).to_string();
            let (nodes, times) = measure(json.as_bytes(), &library, fold);
            let [import, lift, solve, rewrite, peak] = times.stages();
            println!(
                "{layers:>7} {nodes:>7} {import:>9.2} {lift:>9.2} {solve:>18.2} {rewrite:>9.2} \
                 {peak:>9.2}"
            );
            rows.push((nodes, times));
        }
        growth(&rows);
    }
}

fn growth(rows: &[(usize, Times)]) {
    let (Some((n0, first)), Some((n1, last))) = (rows.first(), rows.last()) else { return };
    let size = *n1 as f64 / *n0 as f64;
    let ratios: Vec<f64> =
        first.stages().iter().zip(last.stages()).map(|(a, b)| b / a / size).collect();
    println!(
        "{:>7} {:>7} {:>9.2} {:>9.2} {:>18.2} {:>9.2} {:>9.2}",
        "growth", "", ratios[0], ratios[1], ratios[2], ratios[3], ratios[4]
    );
}

fn library() -> Arc<Library> {
    let files: Vec<(String, String)> =
        fusec_passes::FILES.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect();
    let (library, _, diagnostics) = resolve::load(&files);
    assert!(!resolve::has_errors(&diagnostics), "the shipped library resolves");
    Arc::new(library)
}

fn measure(json: &[u8], library: &Arc<Library>, fold: bool) -> (usize, Times) {
    let mut config = Config::new(Target::named("h200").expect("shipped"));
    config.fold = fold;
    config.groups.insert("tp:0".into(), 2);
    config.ranges.insert("s72".into(), Interval { lo: Some(1), hi: Some(2048) });
    let mut best: Option<Times> = None;
    let mut nodes = 0;
    for _ in 0..RUNS {
        let start = cpu_ms();
        let graph = Graph::read(json).expect("a stretched graph reads");
        let imported = cpu_ms();
        nodes = graph.len();
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let mut lifted = lift::lift_graph(library, &graph);
        let lift = cpu_ms();
        let outcome = optimize::optimize(library, &mut lifted, &config);
        let solved = cpu_ms();
        let after = rewrite::rewrite(&graph, library, &lifted, &outcome.plans[0]);
        let end = cpu_ms();
        assert!(after.len() < nodes && outcome.plans.len() == 1, "nothing was fused");
        let times = Times {
            import: imported - start,
            lift: lift - imported,
            saturate_and_extract: solved - lift,
            rewrite: end - solved,
            peak_mib: (PEAK.load(Relaxed) - before) as f64 / f64::from(1 << 20),
        };
        best = Some(best.map_or(times, |b| b.least(times)));
    }
    (nodes, best.unwrap_or_default())
}

fn cpu_ms() -> f64 {
    cpu::cpu_time().as_secs_f64() * 1e3
}
