//! `fusec opt`: fuse a graph and say what was done.

use crate::Status;
use crate::args::{Global, OptArgs, ReportKind};
use crate::config::Config;
use crate::inputs;
use crate::loaded::Loaded;
use crate::report;
use crate::ui::Ui;
use anyhow::{Context, Result, bail};
use fusec_engine::graph::Graph;
use fusec_engine::report::Report;
use fusec_engine::rewrite::Rewritten;
use fusec_engine::{diff, fx, lift, optimize, rewrite, summary, text};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A graph, what it became in each range, and what there is to say about it.
struct Fused {
    before: Graph,
    after: Vec<Rewritten>,
    report: Report,
}

/// Optimizes and prints.
pub fn run(args: &OptArgs, global: &Global, ui: &Ui) -> Result<Status> {
    let config = Config::load(global)?;
    let given = config.with(&args.given)?;
    let paths = [args.passes.passes.clone(), config.pass_paths()].concat();
    let loaded = Loaded::read(&paths)?;
    if loaded.say_errors(ui)? {
        return Ok(Status::Findings);
    }
    if let Some(fault) = given.unknown_pass(&loaded.library) {
        bail!(fault);
    }
    let working = ui.working("optimizing");
    let mut engine = given.engine(&loaded.library);
    engine.fold = !args.no_fold;
    let fused = fuse(&args.graph, &loaded, &engine)?;
    drop(working);
    print(&fused, &loaded, args.report, ui)?;
    if let Some(path) = &args.output {
        write_graphs(path, &fused, ui)?;
    }
    let s = &fused.report.seconds;
    ui.say(format!(
        "{:.3} s: import {:.3}, saturate {:.3}, extract {:.3}",
        s.total, s.import, s.saturate, s.extract
    ));
    Ok(Status::Clean)
}

fn fuse(path: &Path, loaded: &Loaded, config: &fusec_engine::config::Config) -> Result<Fused> {
    let library = &loaded.library;
    let started = Instant::now();
    let before = inputs::read_graph(path)?;
    let mut lifted = lift::lift_graph(library, &before);
    let import = started.elapsed();
    let outcome = optimize::optimize(library, &mut lifted, config);
    let write = |plan| rewrite::rewrite_placed(&before, library, &lifted, plan);
    let after: Vec<Rewritten> = outcome.plans.iter().map(write).collect();
    let mut report = summary::report(&before, library, &lifted, &outcome, config);
    if let Some(first) = after.first() {
        report.ops = summary::op_counts(&before, &first.graph);
    }
    report.seconds.import = import.as_secs_f64();
    report.seconds.total = started.elapsed().as_secs_f64();
    Ok(Fused { before, after, report })
}

fn print(fused: &Fused, loaded: &Loaded, kind: ReportKind, ui: &Ui) -> Result<()> {
    let first = fused.after.first().map_or(&fused.before, |r| &r.graph);
    let text = match kind {
        ReportKind::Text => report::text(&fused.report),
        ReportKind::Json => report::json(&fused.report)?,
        ReportKind::Html => {
            report::html(&fused.report, &text::print(&fused.before), &text::print(first))
        }
        ReportKind::Diff => {
            let one = |(i, after): (usize, &Rewritten)| {
                diff::diff(&fused.before, after, &loaded.library, &fused.report, i)
            };
            fused.after.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
        }
        ReportKind::Dot => report::dot(first, |target| target.starts_with("fusec.")),
    };
    ui.out().write_all(text.as_bytes())?;
    Ok(())
}

/// Writes one file a range: the first under the name given, the others with their number in it.
fn write_graphs(path: &Path, fused: &Fused, ui: &Ui) -> Result<()> {
    for (range, Rewritten { graph, .. }) in fused.after.iter().enumerate() {
        let path = numbered(path, range);
        let document = graph.to_fx().map_err(|e| anyhow::anyhow!("cannot write the graph: {e}"))?;
        let bytes = match path.extension().is_some_and(|e| e == "gz") {
            true => fx::write_gzip(&document),
            false => fx::write(&document).into_bytes(),
        };
        let shown = inputs::display(&path);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {shown}"))?;
        ui.say(format!("wrote {shown}: {}", report::range(&fused.report.ranges[range])));
    }
    Ok(())
}

/// `out.json` is `out.1.json` for range 1.
fn numbered(path: &Path, range: usize) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match (range, name.split_once('.')) {
        (0, _) => path.to_path_buf(),
        (n, None) => path.with_file_name(format!("{name}.{n}")),
        (n, Some((stem, rest))) => path.with_file_name(format!("{stem}.{n}.{rest}")),
    }
}
