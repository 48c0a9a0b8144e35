//! What an optimization did, as data: the versioned contract behind `fusec opt --report json`.
//!
//! The optimizer fills a [`Report`]; renderers only read it. Field names are the JSON names. A
//! field may be added in a minor version; a field that goes away or changes meaning is a major one.

use serde::{Deserialize, Serialize};

/// Version of the contract, `major.minor`.
pub const SCHEMA_VERSION: &str = "1.0";

/// Everything `opt` has to say about one graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the tool that wrote it.
    pub schema_version: String,
    /// The graph, as it names itself.
    pub graph: String,
    /// Name of the device profile.
    pub target: String,
    /// Intervals of the symbolic size that guards cut, in order; together they cover its range.
    /// A graph without symbolic sizes has one range with `lo = hi`.
    pub ranges: Vec<RangeReport>,
    /// The passes of the loaded files, sorted by name.
    pub passes: Vec<PassReport>,
    /// One entry a fusion and range, sorted by range, then name. Fusions that found nothing to
    /// match and nothing to refuse are left out.
    pub fusions: Vec<FusionReport>,
    /// Rewrites that fired, sorted by name.
    pub lifted: Vec<LiftReport>,
    /// Ops of the graph before and after (in the first range), sorted by name.
    pub ops: Vec<OpCount>,
    /// Predicted cost in the first range; every range has its own.
    pub cost: CostReport,
    /// Extraction in the first range, except that `optimal` holds for every range.
    pub extraction: ExtractionReport,
    /// Size of the e-graph at the end.
    pub egraph: EgraphReport,
    /// Wall-clock time of each stage.
    pub seconds: Seconds,
    /// Why saturation ended.
    pub stopped: Stopped,
    /// Rules that spent most of a limit that was hit, worst first; empty after `saturated`.
    pub spent: Vec<Spent>,
    /// What the user should know: undecided sizes, ops nobody declared, limits.
    pub warnings: Vec<Warning>,
}

/// One interval of sizes with one plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeReport {
    /// The symbol that is cut, as `s72`; `None` for a graph of fixed sizes.
    pub symbol: Option<String>,
    /// Smallest value.
    pub lo: i64,
    /// Largest value; `None` is unbounded.
    pub hi: Option<i64>,
    /// The size at which costs were compared.
    pub at: i64,
    /// Predicted cost at that size.
    pub cost: CostReport,
    /// How good the selection is.
    pub extraction: ExtractionReport,
}

/// One pass and whether it ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassReport {
    /// Its name.
    pub name: String,
    /// Whether its rules took part.
    pub enabled: bool,
    /// Why not: `disabled by the configuration`, or the guard that failed with what it saw.
    pub reason: Option<String>,
}

/// One fusion in one range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusionReport {
    /// Declared name with its family members, as `silu_and_mul_quant[quant_fp8_static]`.
    pub name: String,
    /// The pass it belongs to; `None` for one that is always on.
    pub pass: Option<String>,
    /// Index into [`Report::ranges`].
    pub range: usize,
    /// Sites where the pattern and every guard held.
    pub matched: usize,
    /// Sites where the selection uses it.
    pub chosen: usize,
    /// Sites where the pattern held and a guard did not, by guard.
    pub refused: Vec<Refusal>,
    /// The matched sites, in graph order.
    pub sites: Vec<Site>,
}

/// One guard that kept a fusion from some sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The guard's text, or why the match cannot stand (`result used outside the match`).
    pub guard: String,
    /// The values it saw at the first of the sites.
    pub seen: String,
    /// Whether it failed, or could not be decided for want of a size.
    pub verdict: Verdict,
    /// Number of sites.
    pub count: usize,
}

/// What a guard that refused was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// False.
    False,
    /// Unknown: a size, group or layout is not given.
    Undecided,
}

/// One place where a fusion fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The graph nodes it covers, by name, in graph order.
    pub nodes: Vec<String>,
    /// The instance with its variants, as `rms_norm_quant[rms_norm, quant_fp8_static]`.
    pub instance: String,
    /// Whether the selection uses it here.
    pub chosen: bool,
    /// The fusion that took the site instead, where one did; `None` when unfused is cheaper.
    pub instead: Option<String>,
    /// Predicted time of the nodes it covers, unfused.
    pub before_us: f64,
    /// Predicted time of the kernel.
    pub after_us: f64,
}

/// One rewrite that fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiftReport {
    /// Its name.
    pub name: String,
    /// Applications that taught the e-graph something new.
    pub count: usize,
}

/// How often an op occurs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpCount {
    /// The op or torch target.
    pub op: String,
    /// In the input.
    pub before: usize,
    /// In the result.
    pub after: usize,
}

/// Predicted cost of the whole graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostReport {
    /// Time of the input, in microseconds.
    pub before_us: f64,
    /// Time of the result.
    pub after_us: f64,
    /// Kernels of the input.
    pub launches_before: u64,
    /// Kernels of the result.
    pub launches_after: u64,
    /// Bytes that the input moves through device memory.
    pub bytes_before: u64,
    /// Bytes that the result moves.
    pub bytes_after: u64,
}

/// How good a selection is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtractionReport {
    /// Its cost, in microseconds.
    pub cost: f64,
    /// No selection of this e-graph costs less.
    pub lower_bound: f64,
    /// Whether the two meet.
    pub optimal: bool,
}

/// Size of the e-graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EgraphReport {
    /// E-nodes.
    pub nodes: usize,
    /// E-classes.
    pub classes: usize,
    /// Rounds of rewriting.
    pub iterations: usize,
    /// Copies of equal layers that were folded into one before saturation.
    pub folded: usize,
}

/// Wall-clock seconds of each stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Reading and typing the graph.
    pub import: f64,
    /// Rewriting and matching.
    pub saturate: f64,
    /// Choosing, with the proof.
    pub extract: f64,
    /// Everything.
    pub total: f64,
}

/// Why saturation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// No rule had anything to add.
    #[default]
    Saturated,
    /// The node limit.
    Nodes,
    /// The time limit.
    Seconds,
    /// The memory limit.
    Memory,
}

/// What one rule cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// The rule.
    pub rule: String,
    /// E-nodes that it added.
    pub nodes: usize,
    /// Seconds that it ran.
    pub seconds: f64,
}

/// Something the user should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// A name, as `undecided-group`.
    pub code: String,
    /// One line.
    pub message: String,
}

impl Report {
    /// A report about nothing yet.
    pub fn new(graph: impl Into<String>, target: impl Into<String>) -> Report {
        Report {
            schema_version: SCHEMA_VERSION.into(),
            graph: graph.into(),
            target: target.into(),
            ranges: Vec::new(),
            passes: Vec::new(),
            fusions: Vec::new(),
            lifted: Vec::new(),
            ops: Vec::new(),
            cost: CostReport::default(),
            extraction: ExtractionReport::default(),
            egraph: EgraphReport::default(),
            seconds: Seconds::default(),
            stopped: Stopped::default(),
            spent: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Fills the top-level `cost` and `extraction` from the ranges, as their docs say.
    pub fn summarize(&mut self) {
        if let Some(first) = self.ranges.first() {
            self.cost = first.cost.clone();
            self.extraction = first.extraction.clone();
            self.extraction.optimal = self.ranges.iter().all(|r| r.extraction.optimal);
        }
    }

    /// How often a fusion was chosen in a range, by its report name.
    pub fn chosen(&self, name: &str, range: usize) -> usize {
        self.fusions.iter().filter(|f| f.name == name && f.range == range).map(|f| f.chosen).sum()
    }
}
