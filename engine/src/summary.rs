//! Filling the report from what an optimization found.

use crate::config::Config;
use crate::egraph::cost::{Cost, CostModel};
use crate::egraph::saturate::{RuleStats, Stop};
use crate::egraph::segment::Segment;
use crate::egraph::solve::{ShapeSolution, Source};
use crate::graph::{Graph, NodeIndex};
use crate::lift::Lifted;
use crate::optimize::{Outcome, RangePlan};
use crate::report::{
    CostReport, ExtractionReport, FusionReport, LiftReport, OpCount, PassReport, RangeReport,
    Refusal, Report, Site, Spent, Stopped, Verdict, Warning,
};
use fusec_dsl::library::Library;
use fusec_dsl::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// Everything there is to say about one optimization.
pub fn report(
    graph: &Graph,
    lib: &Library,
    lifted: &Lifted,
    outcome: &Outcome,
    config: &Config,
) -> Report {
    let mut out = Report::new(graph.header.name.clone(), config.target.name.clone());
    for (i, plan) in outcome.plans.iter().enumerate() {
        out.ranges.push(range(lifted, plan, config));
        fusions(graph, lib, lifted, outcome, plan, i, &mut out);
    }
    out.passes = passes(outcome);
    if let Some(first) = outcome.plans.first() {
        out.lifted = lifts(outcome, first);
        out.egraph.nodes = first.shapes.iter().map(|(s, _)| s.size.0).sum();
        out.egraph.classes = first.shapes.iter().map(|(s, _)| s.size.1).sum();
        out.egraph.folded = first.segments.len() - first.shapes.len();
    }
    out.egraph.iterations = rounds(outcome);
    if outcome.stop() != Stop::Saturated {
        out.spent = spenders(outcome);
    }
    let spent = |f: &dyn Fn(&RangePlan) -> f64| outcome.plans.iter().map(f).sum();
    out.seconds.saturate = spent(&|p| p.times.0.as_secs_f64());
    out.seconds.extract = spent(&|p| p.times.1.as_secs_f64());
    out.stopped = match outcome.stop() {
        Stop::Saturated => Stopped::Saturated,
        Stop::Limit { what: "nodes", .. } => Stopped::Nodes,
        Stop::Limit { what: "memory", .. } => Stopped::Memory,
        Stop::Limit { .. } => Stopped::Seconds,
    };
    out.warnings = warnings(outcome, &out.fusions);
    out.warnings.extend(unbound(lifted));
    out.summarize();
    out
}

/// Ops of a graph before and after.
pub fn op_counts(before: &Graph, after: &Graph) -> Vec<OpCount> {
    let count = |g: &Graph| {
        let mut out: BTreeMap<String, usize> = BTreeMap::new();
        for (i, _) in g.nodes() {
            if let Some(op) = g.callee(i) {
                *out.entry(op.to_string()).or_insert(0) += 1;
            }
        }
        out
    };
    let (before, after) = (count(before), count(after));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let of = |m: &BTreeMap<String, usize>, n: &String| m.get(n).copied().unwrap_or(0);
    names
        .into_iter()
        .map(|n| OpCount { op: n.clone(), before: of(&before, n), after: of(&after, n) })
        .collect()
}

fn range(lifted: &Lifted, plan: &RangePlan, config: &Config) -> RangeReport {
    let outside = opaque_cost(lifted, plan, config);
    let (mut before, mut after) = (outside, outside);
    let mut extraction = ExtractionReport { cost: 0.0, lower_bound: 0.0, optimal: true };
    for (_, shape) in &plan.segments {
        let solution = &plan.shapes[*shape].0;
        before = solution.term_costs.iter().fold(before, |sum, c| sum.plus(*c));
        after = selected(solution).into_iter().fold(after, Cost::plus);
        extraction.cost += solution.cost;
        extraction.lower_bound += solution.lower_bound;
        extraction.optimal &= solution.optimal;
    }
    let symbol = plan.symbol.clone();
    RangeReport {
        at: symbol.as_ref().and_then(|s| plan.at.get(s).copied()).unwrap_or(1),
        symbol,
        lo: plan.interval.lo.unwrap_or(0),
        hi: plan.interval.hi,
        cost: CostReport {
            before_us: before.us,
            after_us: after.us,
            launches_before: before.launches,
            launches_after: after.launches,
            bytes_before: before.bytes as u64,
            bytes_after: after.bytes as u64,
        },
        extraction,
    }
}

/// Costs of what the selection runs.
fn selected(solution: &ShapeSolution) -> Vec<Cost> {
    let kept = solution.sources.iter().enumerate().filter_map(|(t, s)| match s {
        Some(Source::Term(k)) if *k as usize == t => Some(solution.term_costs[t]),
        _ => None,
    });
    kept.chain(solution.chosen.iter().map(|c| c.cost)).collect()
}

/// Predicted cost of the nodes that rules do not look into.
fn opaque_cost(lifted: &Lifted, plan: &RangePlan, config: &Config) -> Cost {
    let size = |s: &str| plan.at.get(s).copied().unwrap_or(1);
    let ranks = |g: &str| config.groups.get(g).copied().unwrap_or(2);
    let model = CostModel { target: &config.target, size: &size, ranks: &ranks };
    let kernels = lifted.opaque.iter().filter(|n| !n.fresh && has_tensor(&n.writes));
    kernels
        .map(|n| {
            let read: f64 = n.reads.iter().map(|t| model.bytes(t)).sum();
            model.opaque(&n.target, &n.reads, &n.writes, read + model.bytes(&n.writes))
        })
        .fold(Cost::default(), Cost::plus)
}

fn has_tensor(ty: &Type) -> bool {
    match ty {
        Type::Tensor(_) => true,
        Type::Tuple(items) | Type::List(items) => items.iter().any(has_tensor),
        _ => false,
    }
}

fn fusions(
    graph: &Graph,
    lib: &Library,
    lifted: &Lifted,
    outcome: &Outcome,
    plan: &RangePlan,
    range: usize,
    out: &mut Report,
) {
    let mut by_label: BTreeMap<String, FusionReport> = BTreeMap::new();
    for (i, rule) in outcome.fusions.iter().enumerate() {
        let crate::egraph::rules::Action::Fusion(index) = rule.action else { continue };
        let fusion = &lib.fusions[index];
        let stats = outcome.fusion_stats(plan, i);
        let sites = sites(graph, lib, lifted, plan, index);
        if sites.is_empty() && stats.refused.is_empty() {
            continue;
        }
        let entry = by_label.entry(fusion.label()).or_insert_with(|| FusionReport {
            name: fusion.label(),
            pass: fusion.pass.clone(),
            range,
            matched: 0,
            chosen: 0,
            refused: Vec::new(),
            sites: Vec::new(),
        });
        entry.sites.extend(sites);
        refusals(&stats, rule, &mut entry.refused);
    }
    for report in by_label.values_mut() {
        let order = |s: &Site| s.nodes.first().and_then(|n| graph.by_name(n)).map(NodeIndex::index);
        report.sites.sort_by_key(order);
        once_a_place(&mut report.sites);
        report.matched = report.sites.len();
        report.chosen = report.sites.iter().filter(|s| s.chosen).count();
    }
    out.fusions.extend(by_label.into_values());
}

/// Keeps one site of those that end in the same node: variants, and `a + b` read as `b + a`.
fn once_a_place(sites: &mut Vec<Site>) {
    let taken: BTreeSet<String> =
        sites.iter().filter(|s| s.chosen).filter_map(|s| s.nodes.last().cloned()).collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    sites.retain(|s| match s.nodes.last() {
        Some(end) => (s.chosen || !taken.contains(end)) && seen.insert(end.clone()),
        None => true,
    });
}

fn refusals(stats: &RuleStats, rule: &crate::egraph::rules::Rule, out: &mut Vec<Refusal>) {
    for (guard, reasons) in &stats.refused {
        let g = &rule.sig.guards[*guard];
        let undecided = rule.undecided.iter().any(|u| u.guard == *guard);
        let count = reasons.values().sum();
        let Some(seen) = reasons.keys().next() else { continue };
        let seen = seen.strip_prefix(&format!("`{}`: ", g.text)).unwrap_or(seen).to_string();
        let verdict = if undecided { Verdict::Undecided } else { Verdict::False };
        match out.iter_mut().find(|r| r.guard == g.text && r.verdict == verdict) {
            Some(same) => same.count += count,
            None => out.push(Refusal { guard: g.text.clone(), seen, verdict, count }),
        }
    }
}

fn sites(
    graph: &Graph,
    lib: &Library,
    lifted: &Lifted,
    plan: &RangePlan,
    fusion: usize,
) -> Vec<Site> {
    let mut out = Vec::new();
    for (segment, shape) in &plan.segments {
        let solution = &plan.shapes[*shape].0;
        for site in solution.sites.iter().filter(|s| s.fusion == fusion) {
            let rival = solution
                .sites
                .iter()
                .find(|other| other.chosen && other.covers.iter().any(|t| site.covers.contains(t)));
            let before = site.covers.iter().map(|t| solution.term_costs[*t as usize].us).sum();
            out.push(Site {
                nodes: names(graph, lifted, segment, &site.covers),
                instance: lib.fusions[fusion].instance(),
                chosen: site.chosen,
                instead: rival.filter(|_| !site.chosen).map(|r| lib.fusions[r.fusion].label()),
                before_us: before,
                after_us: site.cost.us,
            });
        }
    }
    out
}

fn names(graph: &Graph, lifted: &Lifted, segment: &Segment, terms: &[u32]) -> Vec<String> {
    let mut nodes: Vec<u32> = terms
        .iter()
        .flat_map(|t| lifted.origins[segment.terms[*t as usize] as usize].iter().copied())
        .collect();
    nodes.sort();
    nodes.dedup();
    nodes
        .into_iter()
        .filter_map(|n| graph.get(NodeIndex::new(n as usize)).map(|n| n.name.to_string()))
        .collect()
}

/// Most rounds of any shape.
fn rounds(outcome: &Outcome) -> usize {
    let shapes = outcome.plans.iter().flat_map(|p| &p.shapes);
    shapes.map(|(s, _)| s.rounds).max().unwrap_or(0)
}

/// Rewrites by what they added, most first: what to look at when a limit was met.
fn spenders(outcome: &Outcome) -> Vec<Spent> {
    const MOST: usize = 5;
    let mut out: Vec<Spent> = Vec::new();
    for (i, rule) in outcome.rewrites.iter().enumerate() {
        let shapes = outcome.plans.iter().flat_map(|p| &p.shapes);
        let stats = shapes.map(|(_, s)| &s.rewrites[i]);
        let (mut nodes, mut seconds) = (0, 0.0);
        for s in stats {
            nodes += s.added;
            seconds += s.time.as_secs_f64();
        }
        if nodes > 0 {
            out.push(Spent { rule: rule.name.clone(), nodes, seconds });
        }
    }
    out.sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| a.rule.cmp(&b.rule)));
    out.truncate(MOST);
    out
}

fn passes(outcome: &Outcome) -> Vec<PassReport> {
    let one = |(name, state): &(String, Result<(), String>)| PassReport {
        name: name.clone(),
        enabled: state.is_ok(),
        reason: state.as_ref().err().cloned(),
    };
    outcome.passes.iter().map(one).collect()
}

fn lifts(outcome: &Outcome, plan: &RangePlan) -> Vec<LiftReport> {
    let mut out: BTreeMap<String, usize> = BTreeMap::new();
    for (i, rule) in outcome.rewrites.iter().enumerate() {
        let fired = outcome.rewrite_stats(plan, i).fired;
        if fired > 0 {
            *out.entry(rule.name.clone()).or_insert(0) += fired;
        }
    }
    out.into_iter().map(|(name, count)| LiftReport { name, count }).collect()
}

fn warnings(outcome: &Outcome, fusions: &[FusionReport]) -> Vec<Warning> {
    let mut out: Vec<Warning> = outcome
        .broken
        .iter()
        .map(|(rule, why)| Warning {
            code: "rule-not-usable".into(),
            message: format!("`{rule}` cannot be matched: {why}"),
        })
        .collect();
    out.extend(undecided(fusions));
    if let Stop::Limit { what, rule } = outcome.stop() {
        let message = format!(
            "the {what} limit was reached in `{rule}`; the plan is valid but may miss fusions"
        );
        out.push(Warning { code: "limit".into(), message });
    }
    out
}

/// Guards that want a size nobody gave, each once.
fn undecided(fusions: &[FusionReport]) -> Vec<Warning> {
    let mut kept: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for f in fusions {
        for r in f.refused.iter().filter(|r| r.verdict == Verdict::Undecided) {
            kept.entry((r.guard.as_str(), r.seen.as_str())).or_default().push(f.name.as_str());
        }
    }
    let one = |((guard, seen), mut names): ((&str, &str), Vec<&str>)| {
        names.sort_unstable();
        names.dedup();
        let message = format!(
            "`{guard}` is undecided: {seen}; it keeps out {}; give the size with --group or --range",
            names.join(", ")
        );
        Warning { code: "undecided-guard".into(), message }
    };
    kept.into_iter().map(one).collect()
}

/// Calls of known operators that no bind takes: they stay as they are.
fn unbound(lifted: &Lifted) -> impl Iterator<Item = Warning> {
    lifted.unbound.iter().map(|(target, reasons)| {
        let calls =
            if reasons.len() == 1 { "1 call".into() } else { format!("{} calls", reasons.len()) };
        let why = reasons.first().map(String::as_str).unwrap_or_default();
        let message = format!("{calls} of `{target}` stay as they are: no bind takes them ({why})");
        Warning { code: "unbound-call".into(), message }
    })
}
