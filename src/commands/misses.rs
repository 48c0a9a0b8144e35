//! `fusec explain NAME --graph G`: where a rule matched, and where it nearly did.

use crate::config::Given;
use crate::inputs;
use crate::loaded::Loaded;
use crate::report::{count, range};
use anyhow::{Result, bail};
use clap::builder::styling::{AnsiColor, Style};
use fusec_dsl::library::Library;
use fusec_engine::explain::{NearMiss, near_misses};
use fusec_engine::report::Report;
use fusec_engine::{lift, optimize, summary};
use indexmap::{IndexMap, IndexSet};
use std::fmt::Write;
use std::path::Path;

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const DIM: Style = Style::new().dimmed();

/// Reasons shown for one rule.
const MOST: usize = 3;

/// Says what became of the rules with this name on a graph.
pub fn describe(
    text: &mut String,
    path: &Path,
    name: &str,
    loaded: &Loaded,
    given: &Given,
) -> Result<()> {
    let rules = rules(&loaded.library, name);
    if rules.is_empty() {
        bail!("`{name}` is no fusion or rewrite: it does not fire on a graph");
    }
    let graph = inputs::read_graph(path)?;
    let config = given.engine(&loaded.library);
    let mut lifted = lift::lift_graph(&loaded.library, &graph);
    let outcome = optimize::optimize(&loaded.library, &mut lifted, &config);
    let report = summary::report(&graph, &loaded.library, &lifted, &outcome, &config);
    let wanted = |rule: &str| rules.contains_key(rule);
    let mut misses = near_misses(&loaded.library, &graph, &mut lifted, &config, &wanted);
    misses.sort_by_key(|m| std::cmp::Reverse(m.matched));
    let _ = writeln!(text, "\n{BOLD}on {}{BOLD:#}", graph.header.name);
    let labels: IndexSet<&String> = rules.values().collect();
    for label in labels {
        let of_label = |m: &&NearMiss| rules.get(&m.rule) == Some(label);
        let misses: Vec<&NearMiss> = misses.iter().filter(of_label).collect();
        one(text, label, &report, &misses);
        if let Some(why) = switched_off(label, &loaded.library, &report) {
            let _ = writeln!(text, "    {why}");
        }
    }
    Ok(())
}

/// Instances of the rules that a name means, each with the name that reports use.
fn rules(lib: &Library, name: &str) -> IndexMap<String, String> {
    let mut found = IndexMap::new();
    for f in &lib.fusions {
        if f.name == name || f.label() == name || f.instance() == name {
            found.insert(f.instance(), f.label());
        }
    }
    for r in &lib.rewrites {
        let base = r.name.split('[').next().unwrap_or(&r.name);
        if r.name == name || base == name {
            found.insert(r.name.clone(), r.name.clone());
            found.insert(format!("{} (reversed)", r.name), r.name.clone());
        }
    }
    found
}

/// Why the pass of a fusion does not run, if it does not.
fn switched_off(label: &str, lib: &Library, report: &Report) -> Option<String> {
    let pass = lib.fusions.iter().find(|f| f.label() == label)?.pass.as_deref()?;
    let state = report.passes.iter().find(|p| p.name == pass && !p.enabled)?;
    Some(format!("its pass {pass} does not run: {}", state.reason.as_deref().unwrap_or("disabled")))
}

fn one(text: &mut String, label: &str, report: &Report, misses: &[&NearMiss]) {
    let fired: Vec<String> = fired(label, report);
    if !fired.is_empty() {
        let _ = writeln!(text, "  {GOOD}{label}{GOOD:#}");
        fired.iter().for_each(|line| drop(writeln!(text, "    {line}")));
    } else {
        let _ = writeln!(text, "  {label}: no match");
    }
    let best = misses.first().map_or(0, |m| m.matched);
    let mut shown: Vec<&&NearMiss> = misses.iter().filter(|m| m.matched == best).collect();
    shown.dedup_by(|a, b| (&a.expected, &a.found) == (&b.expected, &b.found));
    // A rule that fires where it can has no news in the places where only a part of it occurs.
    if !fired.is_empty() && misses.first().is_some_and(|m| m.matched < m.of) {
        return;
    }
    for miss in shown.iter().take(MOST) {
        near(text, miss);
    }
    if shown.len() > MOST {
        let _ = writeln!(text, "    {DIM}and {} more{DIM:#}", count(shown.len() - MOST, "reason"));
    }
}

fn fired(label: &str, report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for f in report.fusions.iter().filter(|f| f.name == label && f.matched > 0) {
        let at = range(&report.ranges[f.range]);
        let matches =
            if f.matched == 1 { "1 match".into() } else { format!("{} matches", f.matched) };
        lines.push(format!("{matches}, {} chosen ({at})", f.chosen));
        for site in f.sites.iter().filter(|s| !s.chosen) {
            let why = match &site.instead {
                Some(other) => format!("{other} takes it"),
                None => "unfused is cheaper".into(),
            };
            let nodes = site.nodes.join(", ");
            lines.push(format!("not chosen at {nodes}: {why}"));
        }
    }
    for l in report.lifted.iter().filter(|l| l.name == label) {
        lines.push(format!("fired {} times", l.count));
    }
    lines
}

fn near(text: &mut String, miss: &NearMiss) {
    let ops = count(miss.of, "op");
    let places = match miss.places {
        0 | 1 => String::new(),
        n => format!(" at {}", count(n, "place")),
    };
    let nodes = match miss.nodes.is_empty() {
        true => String::new(),
        false => format!(", first {}", miss.nodes.join(", ")),
    };
    let _ = writeln!(text, "    {} of {ops} matched{places}{nodes}", miss.matched);
    let _ = writeln!(text, "      expected {}", miss.expected);
    let _ = writeln!(text, "      found    {}", miss.found);
}
