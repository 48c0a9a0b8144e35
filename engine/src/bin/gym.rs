//! Runs the extractor over a folder of egraph-serialize JSON files and compares.
//!
//! `gym FOLDER [--baselines FILE.csv] [--seconds N] [--work N]`
//!
//! One line a file (`.json`, or `.json.gz`): cost, lower bound, whether proved, CPU time, and how
//! it compares with the best value in the baselines. A summary comes last. Exit code 1 if a file
//! is worse than its baseline or cannot be read.

#[path = "../../benches/cpu.rs"]
mod cpu;

use flate2::read::GzDecoder;
use fusec_engine::extract::serialized::Serialized;
use fusec_engine::extract::{Limits, Solution};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Costs closer than this, relatively, are equal.
const TOLERANCE: f64 = 1e-6;

struct Options {
    folder: PathBuf,
    baselines: BTreeMap<String, f64>,
    limits: Limits,
}

#[derive(Default)]
struct Summary {
    files: usize,
    failed: usize,
    proved: usize,
    worse: usize,
    better: usize,
    without_baseline: usize,
}

fn main() -> ExitCode {
    let run = options(std::env::args().skip(1)).and_then(|o| run(&o));
    match run {
        Ok(summary) if summary.worse + summary.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("gym: {error}");
            ExitCode::from(2)
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut folder = None;
    let mut baselines = BTreeMap::new();
    let mut limits =
        Limits { work: u64::MAX, time: Some(Duration::from_secs(10)), ..Limits::default() };
    while let Some(arg) = args.next() {
        let mut value = |what: &str| args.next().ok_or(format!("{arg} needs {what}"));
        match arg.as_str() {
            "--baselines" => baselines = read_baselines(Path::new(&value("a CSV file")?))?,
            "--seconds" => {
                let seconds: f64 = value("a number of seconds")?.parse()?;
                limits.time = Some(Duration::try_from_secs_f64(seconds)?);
            }
            "--work" => {
                limits.work = value("a number of steps")?.parse()?;
                limits.time = None;
            }
            _ => folder = Some(PathBuf::from(arg)),
        }
    }
    let folder = folder.ok_or("name a folder with egraph-serialize JSON files")?;
    Ok(Options { folder, baselines, limits })
}

/// Best known cost by `family/file`. The first column names the file, the last the best value.
fn read_baselines(path: &Path) -> Result<BTreeMap<String, f64>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut best = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut columns = line.split(',');
        let (Some(name), Some(value)) = (columns.next(), columns.next_back()) else {
            continue;
        };
        if let Ok(value) = value.parse() {
            best.insert(key(Path::new(name)), value);
        }
    }
    Ok(best)
}

/// The last folder and the name without the `.gz`.
fn key(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(2).map(|p| p.to_string_lossy()).collect();
    let name = parts.iter().rev().map(|p| p.as_ref()).collect::<Vec<_>>().join("/");
    name.trim_end_matches(".gz").to_owned()
}

fn run(options: &Options) -> Result<Summary, Box<dyn Error>> {
    let mut files = Vec::new();
    list(&options.folder, &mut files)?;
    files.sort_by_key(|f| key(f));
    println!(
        "{:<78} {:>7} {:>7} {:>16} {:>16} {:>6} {:>9} {:>16}",
        "instance", "classes", "nodes", "cost", "lower bound", "proved", "cpu ms", "best known"
    );
    let mut summary = Summary::default();
    for file in &files {
        summary.files += 1;
        if let Err(error) = solve(file, options, &mut summary) {
            summary.failed += 1;
            println!("{:<78} {error}", key(file));
        }
    }
    println!(
        "\n{} instances: {} proved optimal, {} better than the best known before, {} worse, {} \
         without a baseline, {} unreadable",
        summary.files,
        summary.proved,
        summary.better,
        summary.worse,
        summary.without_baseline,
        summary.failed
    );
    Ok(summary)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            list(&path, files)?;
        } else if name.ends_with(".json") || name.ends_with(".json.gz") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    if path.extension().is_none_or(|e| e != "gz") {
        return Ok(bytes);
    }
    let mut json = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut json)?;
    Ok(json)
}

fn solve(path: &Path, options: &Options, summary: &mut Summary) -> Result<(), Box<dyn Error>> {
    let graph = Serialized::parse(&read(path)?)?;
    let start = cpu::cpu_time();
    let found = graph.solve(&options.limits)?;
    let took = cpu::cpu_time() - start;
    let best = options.baselines.get(&key(path)).copied();
    let verdict = judge(&found, best, summary);
    println!(
        "{:<78} {:>7} {:>7} {:>16.9} {:>16.9} {:>6} {:>9.1} {:>16} {verdict}",
        key(path),
        graph.problem.classes(),
        graph.problem.nodes(),
        found.cost,
        found.lower_bound,
        found.optimal,
        took.as_secs_f64() * 1e3,
        best.map_or("-".to_owned(), |b| format!("{b:.9}")),
    );
    Ok(())
}

fn judge(found: &Solution, best: Option<f64>, summary: &mut Summary) -> &'static str {
    summary.proved += usize::from(found.optimal);
    let Some(best) = best else {
        summary.without_baseline += 1;
        return "";
    };
    let slack = TOLERANCE * best.abs().max(1e-9);
    if found.cost > best + slack {
        summary.worse += 1;
        "WORSE"
    } else if found.cost < best - slack {
        summary.better += 1;
        "better"
    } else {
        "equal"
    }
}
