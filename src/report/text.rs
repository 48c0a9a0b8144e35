//! The report at a terminal: what was fused, what was not and why, what it saves.

use super::numbers::{change, cost_rows, count, micros, range};
use clap::builder::styling::{AnsiColor, Style};
use fusec_engine::report::{FusionReport, Report, Stopped, Verdict};
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const WARN: Style = AnsiColor::Yellow.on_default();

/// The report as text with colour codes, which the stream drops where they are not wanted.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    line(&mut out, format!("{BOLD}{}{BOLD:#} on {}", report.graph, report.target));
    for index in 0..report.ranges.len() {
        one_range(&mut out, report, index);
    }
    passes(&mut out, report);
    lifted(&mut out, report);
    engine(&mut out, report);
    for w in &report.warnings {
        line(&mut out, format!("{WARN}warning[{}]{WARN:#}: {}", w.code, w.message));
    }
    out
}

fn line(out: &mut String, text: impl AsRef<str>) {
    out.push_str(text.as_ref().trim_end());
    out.push('\n');
}

fn one_range(out: &mut String, report: &Report, index: usize) {
    let r = &report.ranges[index];
    let at = match &r.symbol {
        Some(s) if r.hi != Some(r.lo) => format!("{DIM}, compared at {s} = {}{DIM:#}", r.at),
        _ => String::new(),
    };
    line(out, format!("\n{BOLD}{}{BOLD:#}{at}", range(r)));
    let here: Vec<&FusionReport> = report.fusions.iter().filter(|f| f.range == index).collect();
    let matched: Vec<&FusionReport> = here.iter().filter(|f| f.matched > 0).copied().collect();
    match matched.is_empty() {
        true => line(out, "  nothing matched"),
        false => fusions(out, &matched),
    }
    refusals(out, &here);
    let bound = match r.extraction.optimal {
        true => format!("{GOOD}proven optimal{GOOD:#}"),
        false => format!("{WARN}not proven optimal, gap {}{WARN:#}", gap(r)),
    };
    costs(out, &cost_rows(&r.cost), &bound);
}

fn gap(r: &fusec_engine::report::RangeReport) -> String {
    let e = &r.extraction;
    match (e.cost / e.lower_bound - 1.0) * 100.0 {
        _ if e.lower_bound <= 0.0 => micros(e.cost - e.lower_bound),
        percent if percent < 0.005 => "below 0.01 %".into(),
        percent => format!("{percent:.2} %"),
    }
}

fn fusions(out: &mut String, list: &[&FusionReport]) {
    let width = list.iter().map(|f| f.name.len()).max().unwrap_or(0).max(6);
    line(out, format!("  {DIM}{:width$}  matched  chosen  saves{DIM:#}", "fusion"));
    for f in list {
        let chosen = f.sites.iter().filter(|s| s.chosen);
        let saved: f64 = chosen.map(|s| s.before_us - s.after_us).sum();
        let saved = if f.chosen > 0 { micros(saved) } else { instead(f) };
        let style = if f.chosen > 0 { GOOD } else { DIM };
        let row = format!(
            "  {:width$}  {:>7}  {style}{:>6}{style:#}  {saved}",
            f.name, f.matched, f.chosen
        );
        line(out, row);
    }
}

/// Why a fusion that matched was not chosen: what took its sites.
fn instead(f: &FusionReport) -> String {
    let mut by: Vec<&str> = f.sites.iter().filter_map(|s| s.instead.as_deref()).collect();
    by.sort_unstable();
    by.dedup();
    match by.as_slice() {
        [] => format!("{DIM}unfused is cheaper{DIM:#}"),
        some => format!("{DIM}taken by {}{DIM:#}", some.join(", ")),
    }
}

/// Guards that refused, each once, with the fusions that they kept out.
fn refusals(out: &mut String, list: &[&FusionReport]) {
    let mut by_guard: Vec<(String, Vec<String>)> = Vec::new();
    for f in list {
        for r in &f.refused {
            let verdict = match r.verdict {
                Verdict::False => "",
                Verdict::Undecided => ", undecided",
            };
            let seen = if r.seen.is_empty() { String::new() } else { format!(": {}", r.seen) };
            let guard = format!("{WARN}`{}`{WARN:#}{verdict}{seen}", r.guard);
            let kept = format!("{} ({})", f.name, count(r.count, "site"));
            match by_guard.iter_mut().find(|(g, _)| *g == guard) {
                Some((_, all)) => all.push(kept),
                None => by_guard.push((guard, vec![kept])),
            }
        }
    }
    for (guard, kept) in by_guard {
        line(out, format!("  refused by {guard}"));
        for name in kept {
            line(out, format!("    {name}"));
        }
    }
}

fn costs(out: &mut String, rows: &[[String; 4]], bound: &str) {
    let head = ["", "before", "after", ""].map(String::from);
    let width = |i: usize| rows.iter().chain([&head]).map(|r| r[i].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let row = |r: &[String; 4]| {
        let (a, b, c, d) = (widths[0], widths[1], widths[2], widths[3]);
        format!("  {:a$}  {:>b$}  {:>c$}  {:>d$}", r[0], r[1], r[2], r[3])
    };
    line(out, format!("{DIM}{}{DIM:#}", row(&head).trim_end()));
    let last = rows.len() - 1;
    for (i, r) in rows.iter().enumerate() {
        let note = if i == last { format!("  {bound}") } else { String::new() };
        line(out, format!("{}{note}", row(r)));
    }
}

fn passes(out: &mut String, report: &Report) {
    let off: Vec<_> = report.passes.iter().filter(|p| !p.enabled).collect();
    if off.is_empty() {
        return;
    }
    line(out, format!("\n{BOLD}passes that did not run{BOLD:#}"));
    for p in off {
        line(out, format!("  {}: {}", p.name, p.reason.as_deref().unwrap_or("disabled")));
    }
}

fn lifted(out: &mut String, report: &Report) {
    if report.lifted.is_empty() {
        return;
    }
    let list: Vec<String> =
        report.lifted.iter().map(|l| format!("{} {}", l.name, l.count)).collect();
    line(out, format!("\n{BOLD}rewrites{BOLD:#}  {}", list.join(", ")));
}

fn engine(out: &mut String, report: &Report) {
    let e = &report.egraph;
    let folded = match e.folded {
        0 => String::new(),
        n => format!(", {} folded", count(n, "repeat")),
    };
    let stopped = match report.stopped {
        Stopped::Saturated => "saturated".to_string(),
        Stopped::Nodes => format!("{WARN}stopped at the node limit{WARN:#}"),
        Stopped::Seconds => format!("{WARN}stopped at the time limit{WARN:#}"),
        Stopped::Memory => format!("{WARN}stopped at the memory limit{WARN:#}"),
    };
    let spent: Vec<String> =
        report.spent.iter().map(|s| format!("{} ({} nodes)", s.rule, s.nodes)).collect();
    let spent = match spent.is_empty() {
        true => String::new(),
        false => format!("; most spent by {}", spent.join(", ")),
    };
    let size = format!("{} nodes in {} classes{folded}", e.nodes, e.classes);
    line(out, format!("\n{BOLD}e-graph{BOLD:#}  {size}; {stopped}{spent}"));
    let _ = writeln!(out, "{BOLD}total{BOLD:#}  {}", total(report));
}

/// The one line that stands for everything.
fn total(report: &Report) -> String {
    let c = &report.cost;
    let chosen: usize = report.fusions.iter().filter(|f| f.range == 0).map(|f| f.chosen).sum();
    format!(
        "{} fused, {} -> {} launches, {} -> {} ({})",
        count(chosen, "site"),
        c.launches_before,
        c.launches_after,
        micros(c.before_us),
        micros(c.after_us),
        change(c.before_us, c.after_us)
    )
}
