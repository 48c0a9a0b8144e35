//! The command line: its doc comments are the manual.

use crate::spec::{GroupSpec, RangeSpec};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Fusion passes for LLM inference: written once, checked, matched, chosen by cost, compiled to CUDA
///
/// Data goes to the standard output, everything else to the standard error. The exit status is 0
/// when all is well, 1 when there is something to fix, and 2 when the command could not do its job.
#[derive(Debug, Parser)]
#[command(name = "fusec", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command
    #[command(flatten)]
    pub global: Global,
}

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Form of diagnostics and listings
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        env = "FUSEC_FORMAT",
        hide_env_values = true
    )]
    #[arg(value_name = "FORM", help_heading = "Global options")]
    pub format: Format,
    /// When to use colour; NO_COLOR and FORCE_COLOR are obeyed
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(help_heading = "Global options")]
    pub color: Color,
    /// Settings file, instead of the nearest fusec.toml
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "Global options", conflicts_with = "isolated")]
    pub config: Option<PathBuf>,
    /// Read no settings file
    #[arg(long, global = true, help_heading = "Global options")]
    pub isolated: bool,
}

/// Form of diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One line each
    Concise,
    /// An array of JSON objects
    Json,
    /// Annotations of a GitHub workflow
    Github,
    /// SARIF 2.1.0
    Sarif,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Even into a file
    Always,
    /// Not at all
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check .fuse files
    Check(CheckArgs),
    /// Give .fuse files their one form
    Fmt(FmtArgs),
    /// Fuse a graph
    Opt(OptArgs),
    /// Say what a name means, or why a fusion did not fire
    Explain(ExplainArgs),
    /// Run the tests in .fuse files
    Test(TestArgs),
    /// Generate the CUDA kernel of a fusion
    Build(BuildArgs),
    /// Solve an extraction problem in the JSON form of egraph-serialize
    Extract(ExtractArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Solve an extraction problem in the JSON form of egraph-serialize
///
/// Prints one line of JSON: the cost, the proven lower bound, whether they meet, and the chosen
/// node of each class that is needed. The cost counts every chosen node once.
#[derive(Args, Debug)]
pub struct ExtractArgs {
    /// The e-graph
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Wall-clock limit; without it a fixed amount of work, the same on every machine
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s < 1e9 => Ok(s),
        _ => Err("not a number of seconds above zero".into()),
    }
}

/// Which .fuse files to load.
#[derive(Args, Clone, Debug, Default)]
pub struct PassArgs {
    /// More .fuse files or folders of them, next to the standard library
    ///
    /// A file with the path of one of the library's own (as ops/norm.fuse) takes its place.
    #[arg(long, num_args = 1.., value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub passes: Vec<PathBuf>,
}

/// What a graph alone does not say.
#[derive(Args, Clone, Debug, Default)]
pub struct GraphArgs {
    /// Device profile: a100, b200, h200, or a TOML file [default: h200]
    #[arg(long, value_name = "NAME|FILE")]
    pub target: Option<String>,
    /// Bounds of a symbolic size, both included, as s72=1..2048
    #[arg(long, value_name = "SYMBOL=LO..HI")]
    pub range: Vec<RangeSpec>,
    /// Number of ranks of a process group, as tp:0=2
    #[arg(long, value_name = "GROUP=RANKS")]
    pub group: Vec<GroupSpec>,
    /// Run no pass but this one and others named so; may be repeated
    #[arg(long, value_name = "PASS")]
    pub enable: Vec<String>,
    /// Do not run this pass; may be repeated; `all` is every one that is not enabled
    #[arg(long, value_name = "PASS")]
    pub disable: Vec<String>,
}

/// Check .fuse files
///
/// Parses, resolves and types the files together with the standard library. Without files, checks
/// the library itself and the files that fusec.toml names. With --verify, says of every rule whether
/// its two sides are equal, and shows the smallest graph on which they are not.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Files or folders
    #[arg(value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Evaluate both sides of every rule in the files, on random and hostile values
    #[arg(long)]
    pub verify: bool,
    /// Where the random values start
    #[arg(long, value_name = "N", default_value_t = 0, requires = "verify")]
    pub seed: u64,
}

/// Give .fuse files their one form
///
/// Comments stay. Without files, formats every .fuse file below the current folder.
#[derive(Args, Debug)]
pub struct FmtArgs {
    /// Files or folders; `-` is standard input to standard output
    #[arg(value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if something would change
    #[arg(long)]
    pub check: bool,
    /// Change nothing; print what would change
    #[arg(long)]
    pub diff: bool,
}

/// Fuse a graph
///
/// Reads an FX graph (JSON, may be gzipped), saturates it with the rewrites, matches the fusions,
/// picks the cheapest selection and says what it did.
#[derive(Args, Debug)]
pub struct OptArgs {
    /// The graph; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub graph: PathBuf,
    /// Which .fuse files to load
    #[command(flatten)]
    pub passes: PassArgs,
    /// What the graph does not say
    #[command(flatten)]
    pub given: GraphArgs,
    /// Write the fused graph here; further ranges of sizes go to out.1.json and so on
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub report: ReportKind,
    /// Do not fold equal layers before saturation
    #[arg(long)]
    pub no_fold: bool,
}

/// What `opt` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportKind {
    /// A table
    #[default]
    Text,
    /// The versioned contract
    Json,
    /// One self-contained page
    Html,
    /// The nodes that went and the nodes that came, once for each kind of change
    Diff,
    /// The fused graph for Graphviz
    Dot,
}

/// Say what a name means, or why a fusion did not fire
///
/// The name is an error's, or that of an op, fusion, rewrite or pass. With a graph, names the
/// places where a fusion nearly matched and what was missing there.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The name
    pub name: String,
    /// A graph to look for near misses in
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub graph: Option<PathBuf>,
    /// Which .fuse files to load
    #[command(flatten)]
    pub passes: PassArgs,
    /// What the graph does not say
    #[command(flatten)]
    pub given: GraphArgs,
}

/// Run the tests in .fuse files
///
/// Each test's graph is optimized and the fusions that fire are counted. Without files, runs the
/// library's tests and those of the files that fusec.toml names.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// Files or folders
    #[arg(value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Run only tests with this in their name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Device profile: a100, b200, h200, or a TOML file [default: h200]
    #[arg(long, value_name = "NAME|FILE")]
    pub target: Option<String>,
}

/// Generate the CUDA kernel of a fusion
///
/// Writes the source, the compiled image where NVRTC is found, and a manifest with the signature,
/// grid, block, shared memory, alignment and workspace.
#[derive(Args, Debug)]
pub struct BuildArgs {
    /// The fusion, as silu_and_mul_quant[quant_fp8_static]
    pub fusion: String,
    /// Device profile: a100, b200, h200, or a TOML file [default: h200]
    #[arg(long, value_name = "NAME|FILE")]
    pub target: Option<String>,
    /// Element type for a type variable, as T=bf16 [default: bf16 where the fusion allows it]
    #[arg(long = "type", value_name = "VAR=DTYPE")]
    pub types: Vec<String>,
    /// Value of a row's dimension or of an attribute, as d=4096 or eps=1e-6; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub values: Vec<String>,
    /// Folder for the results
    #[arg(short, long, default_value = "fusec-build", value_name = "DIR")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    /// Only the source and the manifest: do not call NVRTC
    #[arg(long)]
    pub no_compile: bool,
    /// Which .fuse files to load
    #[command(flatten)]
    pub passes: PassArgs,
}

/// Print a completion script for a shell
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
