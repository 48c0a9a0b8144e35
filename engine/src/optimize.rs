//! The whole flow over lifted terms: rules, ranges, segments, solutions.
//!
//! Guards on a symbolic size cut its range by themselves: a range in which a guard is undecided is
//! split where the guard changes, and each part is solved on its own.

use crate::config::{Config, RangeFacts};
use crate::egraph::context::Context;
use crate::egraph::cost::CostModel;
use crate::egraph::rules::{Rule, Undecided};
use crate::egraph::saturate::{RuleIndex, RuleStats, Run, Stop};
use crate::egraph::segment::{Reach, Segment, Shape, cut};
use crate::egraph::solve::{ShapeSolution, Solver, Statistics};
use crate::lift::Lifted;
use fusec_dsl::dim::Interval;
use fusec_dsl::guard::{self, Truth};
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{Exactness, Library};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The answer for one range of sizes.
#[derive(Clone, Debug)]
pub struct RangePlan {
    /// The symbol that was cut, if any.
    pub symbol: Option<String>,
    /// Its bounds.
    pub interval: Interval,
    /// Size of every symbol at which costs were compared.
    pub at: BTreeMap<String, i64>,
    /// Pieces of the graph, each with the index of its shape.
    pub segments: Vec<(Segment, usize)>,
    /// Solved shapes.
    pub shapes: Vec<(ShapeSolution, Statistics)>,
    /// Time in saturation and extraction.
    pub times: (Duration, Duration),
}

/// Everything an optimization found.
#[derive(Debug)]
pub struct Outcome {
    /// One plan a range, ascending.
    pub plans: Vec<RangePlan>,
    /// Rewrites, in the order of the statistics.
    pub rewrites: Vec<Rule>,
    /// Fusions, in the order of the statistics.
    pub fusions: Vec<Rule>,
    /// Whether each pass ran, and why not.
    pub passes: Vec<(String, Result<(), String>)>,
    /// Rules that could not be compiled, with the reason.
    pub broken: Vec<(String, String)>,
}

/// More parts than this and a symbol's range is not cut further.
const MAX_RANGES: usize = 16;

/// Finds the cheapest plan of every range.
pub fn optimize(lib: &Arc<Library>, lifted: &mut Lifted, config: &Config) -> Outcome {
    let passes = enabled_passes(lib, config);
    let mut rules = compile(lib, &mut lifted.dag.context, config, &passes);
    let mut plans = Vec::new();
    let mut work = vec![(None, lifted.ranges(config))];
    while let Some((symbol, ranges)) = work.pop() {
        rules.forget();
        let plan = solve_range(lifted, config, &mut rules, symbol.clone(), &ranges);
        match split(&rules, config, &ranges, symbol.as_deref(), work.len() + plans.len()) {
            Some((symbol, parts)) => {
                for interval in parts.into_iter().rev() {
                    let mut part = ranges.clone();
                    part.insert(symbol.clone(), interval);
                    work.push((Some(symbol.clone()), part));
                }
            }
            None => plans.push(plan),
        }
    }
    Outcome {
        plans,
        rewrites: rules.rewrites,
        fusions: rules.fusions,
        passes,
        broken: rules.broken,
    }
}

/// Rules ready to run.
pub struct Rules {
    /// Rewrites.
    pub rewrites: Vec<Rule>,
    /// Fusions.
    pub fusions: Vec<Rule>,
    broken: Vec<(String, String)>,
}

impl Rules {
    fn forget(&mut self) {
        self.rewrites.iter_mut().chain(&mut self.fusions).for_each(Rule::forget);
    }
}

/// Whether each pass runs, and why not.
pub fn enabled_passes(lib: &Library, config: &Config) -> Vec<(String, Result<(), String>)> {
    let ranges = BTreeMap::new();
    let facts = RangeFacts { config, ranges: &ranges };
    let decide = |pass: &fusec_dsl::library::Pass| {
        if config.disable.contains(&pass.name) {
            return Err("disabled by the configuration".to_string());
        }
        if !config.enable.is_empty() && !config.enable.contains(&pass.name) {
            return Err("not among the enabled passes".to_string());
        }
        for g in &pass.guards {
            match guard::eval(g, &Bindings::default(), &[], &facts) {
                Truth::True => {}
                Truth::False(why) | Truth::Depends(why) => return Err(why),
            }
        }
        Ok(())
    };
    lib.passes.iter().map(|p| (p.name.clone(), decide(p))).collect()
}

/// Compiles the rules of the passes that run.
pub fn compile(
    lib: &Arc<Library>,
    context: &mut Context,
    config: &Config,
    passes: &[(String, Result<(), String>)],
) -> Rules {
    let on = |pass: &Option<String>| match pass {
        None => true,
        Some(p) => passes.iter().any(|(name, state)| name == p && state.is_ok()),
    };
    let mut rules = Rules { rewrites: Vec::new(), fusions: Vec::new(), broken: Vec::new() };
    for rewrite in lib.rewrites.iter().filter(|r| on(&r.pass)) {
        let allowed = match rewrite.exactness {
            Exactness::Exact => true,
            Exactness::Ulp(ulp) => ulp <= config.approx_ulp,
        };
        if !allowed {
            continue;
        }
        match Rule::rewrites(rewrite, context) {
            Ok(both) => rules.rewrites.extend(both),
            Err(why) => rules.broken.push((rewrite.name.clone(), why)),
        }
    }
    for (index, fusion) in lib.fusions.iter().enumerate().filter(|(_, f)| on(&f.pass)) {
        match Rule::fusion(index, context) {
            Ok(rule) => rules.fusions.push(rule),
            Err(why) => rules.broken.push((fusion.instance(), why)),
        }
    }
    rules
}

fn solve_range(
    lifted: &mut Lifted,
    config: &Config,
    rules: &mut Rules,
    symbol: Option<String>,
    ranges: &BTreeMap<String, Interval>,
) -> RangePlan {
    let at: BTreeMap<String, i64> =
        ranges.iter().map(|(s, i)| (s.clone(), representative(*i))).collect();
    let facts = RangeFacts { config, ranges };
    let size = |s: &str| at.get(s).copied().unwrap_or(1);
    let ranks = |g: &str| config.groups.get(g).copied().unwrap_or(2);
    let started = Instant::now();
    let reach = Reach::of(&rules.rewrites.iter().chain(&rules.fusions).collect::<Vec<_>>());
    let segments = cut(&lifted.dag, &lifted.live, &reach, config.fold);
    let index = (RuleIndex::new(&rules.rewrites), RuleIndex::new(&rules.fusions));
    let mut solver = Solver {
        run: Run::new(&facts, &config.limits),
        costs: CostModel { target: &config.target, size: &size, ranks: &ranks },
        extract: config.extract.clone(),
        rewrites: &mut rules.rewrites,
        fusions: &mut rules.fusions,
        rewrite_index: &index.0,
        fusion_index: &index.1,
    };
    let mut known: IndexMap<Shape, usize> = IndexMap::new();
    let mut shapes: Vec<(ShapeSolution, Statistics)> = Vec::new();
    let mut placed = Vec::with_capacity(segments.len());
    for segment in segments {
        let shape = segment.shape(&lifted.dag);
        let number = match known.get(&shape) {
            Some(number) => *number,
            None => {
                shapes.push(solver.solve(&mut lifted.dag, &segment));
                known.insert(shape, shapes.len() - 1);
                shapes.len() - 1
            }
        };
        placed.push((segment, number));
    }
    let extract: Duration = shapes.iter().map(|(s, _)| s.times.1).sum();
    let interval = symbol.as_ref().and_then(|s| ranges.get(s).copied());
    RangePlan {
        interval: interval
            .or_else(|| ranges.values().next().copied())
            .unwrap_or(Interval::point(1)),
        symbol: symbol.or_else(|| ranges.keys().next().cloned()),
        at,
        segments: placed,
        shapes,
        times: (started.elapsed().saturating_sub(extract), extract),
    }
}

/// The size at which costs are compared: between the bounds, geometrically.
fn representative(i: Interval) -> i64 {
    let lo = i.lo.unwrap_or(1).max(1);
    match i.hi {
        Some(hi) if hi >= lo => ((lo as f64 * hi as f64).sqrt().round() as i64).clamp(lo, hi),
        Some(hi) => hi.max(0),
        None => lo.max(1024),
    }
}

/// Where an undecided guard changes inside a range, if anywhere.
fn split(
    rules: &Rules,
    config: &Config,
    ranges: &BTreeMap<String, Interval>,
    symbol: Option<&str>,
    parts: usize,
) -> Option<(String, Vec<Interval>)> {
    let facts = RangeFacts { config, ranges };
    let undecided: Vec<(&Rule, &Undecided)> = rules
        .rewrites
        .iter()
        .chain(&rules.fusions)
        .flat_map(|r| r.undecided.iter().map(move |u| (r, u)))
        .collect();
    for (name, interval) in ranges.iter().filter(|(s, _)| symbol.is_none_or(|only| only == *s)) {
        let mut cuts: Vec<i64> = undecided
            .iter()
            .flat_map(|(rule, u)| {
                let g = &rule.sig.guards[u.guard];
                guard::cuts(g, &u.bindings, &u.params, &facts, name)
            })
            .filter(|c| {
                interval.lo.is_none_or(|lo| *c > lo) && interval.hi.is_none_or(|hi| *c <= hi)
            })
            .collect();
        cuts.sort();
        cuts.dedup();
        if !cuts.is_empty() && parts + cuts.len() < MAX_RANGES {
            let starts = std::iter::once(interval.lo).chain(cuts.iter().map(|c| Some(*c)));
            let ends = cuts.iter().map(|c| Some(c - 1)).chain([interval.hi]);
            let parts = starts.zip(ends).map(|(lo, hi)| Interval { lo, hi }).collect();
            return Some((name.clone(), parts));
        }
    }
    None
}

impl Outcome {
    /// The worst stop reason of a plan.
    pub fn stop(&self) -> Stop {
        let all = self.plans.iter().flat_map(|p| p.shapes.iter().map(|(s, _)| &s.stop));
        all.into_iter().find(|s| **s != Stop::Saturated).cloned().unwrap_or(Stop::Saturated)
    }

    /// Statistics of one fusion in one plan, summed over every occurrence of every shape.
    pub fn fusion_stats(&self, plan: &RangePlan, fusion: usize) -> RuleStats {
        sum(plan, |s| &s.fusions[fusion])
    }

    /// Statistics of one rewrite in one plan, summed over every occurrence of every shape.
    pub fn rewrite_stats(&self, plan: &RangePlan, rewrite: usize) -> RuleStats {
        sum(plan, |s| &s.rewrites[rewrite])
    }
}

fn sum<'a>(plan: &'a RangePlan, of: impl Fn(&'a Statistics) -> &'a RuleStats) -> RuleStats {
    let mut total = RuleStats::default();
    for (_, shape) in &plan.segments {
        let stats = of(&plan.shapes[*shape].1);
        total.fired += stats.fired;
        total.added += stats.added;
        total.time += stats.time;
        for (guard, reasons) in &stats.refused {
            for (reason, n) in reasons {
                *total.refused.entry(*guard).or_default().entry(reason.clone()).or_insert(0) += n;
            }
        }
        for (why, n) in &stats.mismatched {
            *total.mismatched.entry(why.clone()).or_insert(0) += n;
        }
        for (why, n) in &stats.broken {
            *total.broken.entry(why.clone()).or_insert(0) += n;
        }
    }
    total
}
