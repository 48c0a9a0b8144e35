//! Saturation: rewrites to a fixpoint, then every fusion once.
//!
//! Each round looks only at classes that changed, and at those above them up to the depth of the
//! deepest rule. Limits are tested inside a round; whatever stops it, the e-graph stays valid.

use super::build::{EGraph, unite};
use super::canon;
use super::matcher::{Slots, match_at};
use super::node::{ENode, Operator};
use super::pattern::{PatNode, ResultAt};
use super::rules::{Action, Rule, Verdict};
use egg::Id;
use fusec_dsl::guard::Facts;
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{Attr, Body, BodyKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Hard limits of one optimization.
#[derive(Clone, Debug)]
pub struct Limits {
    /// E-nodes in one e-graph.
    pub nodes: usize,
    /// Wall time of saturation.
    pub time: Duration,
    /// Bytes of one e-graph, by its measured size per e-node.
    pub memory_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { nodes: 1_000_000, time: Duration::from_secs(20), memory_bytes: 1 << 30 }
    }
}

/// Measured bytes an e-node takes, egg's three copies of it included.
const BYTES_PER_NODE: usize = 300;

/// Why saturation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing more to find.
    Saturated,
    /// A limit; the rule that was running.
    Limit {
        /// `nodes`, `time` or `memory`.
        what: &'static str,
        /// Name of the rule.
        rule: String,
    },
}

/// What became of one rule's matches.
#[derive(Clone, Debug, Default)]
pub struct RuleStats {
    /// Matches with types that fit and guards that hold, each place once.
    pub fired: usize,
    /// Places where the shape matched and a guard refused: guard index, then what it saw.
    pub refused: BTreeMap<usize, BTreeMap<String, usize>>,
    /// Places where the shape matched and the types did not.
    pub mismatched: BTreeMap<String, usize>,
    /// Right sides that could not be built.
    pub broken: BTreeMap<String, usize>,
    /// E-nodes that it added.
    pub added: usize,
    /// Time in applying it.
    pub time: Duration,
}

/// One place where a fusion applies.
#[derive(Clone, Debug)]
pub struct FusionMatch {
    /// Index into the library's fusions.
    pub fusion: usize,
    /// The kernel's e-node.
    pub node: ENode,
    /// Its class.
    pub class: Id,
    /// Class of each declared result, where the graph has it.
    pub results: Vec<Option<Id>>,
    /// Classes of the operations it covers.
    pub covers: Vec<Id>,
    /// What the signature's names stand for.
    pub bindings: std::rc::Rc<Bindings>,
}

/// Rules by the operator at their root.
pub struct RuleIndex {
    by_root: FxHashMap<Operator, Vec<usize>>,
    depth: usize,
}

impl RuleIndex {
    /// Indexes rules.
    pub fn new(rules: &[Rule]) -> RuleIndex {
        let mut by_root: FxHashMap<Operator, Vec<usize>> = FxHashMap::default();
        for (i, rule) in rules.iter().enumerate() {
            for op in rule.pattern.root_operators() {
                by_root.entry(op).or_default().push(i);
            }
        }
        let depth = rules.iter().map(|r| r.pattern.depth()).max().unwrap_or(0);
        RuleIndex { by_root, depth }
    }
}

struct Found {
    rule: usize,
    slots: Slots,
    bindings: std::rc::Rc<Bindings>,
}

/// A run of saturation over one e-graph.
pub struct Run<'a> {
    /// Guards' facts.
    pub facts: &'a dyn Facts,
    /// Limits.
    pub limits: &'a Limits,
    /// When the time is up.
    pub deadline: Instant,
    searched: Cell<usize>,
    /// Rounds of rewriting so far.
    pub rounds: Cell<usize>,
}

impl<'a> Run<'a> {
    /// A run within these limits, from now on.
    pub fn new(facts: &'a dyn Facts, limits: &'a Limits) -> Run<'a> {
        let deadline = Instant::now() + limits.time;
        Run { facts, limits, deadline, searched: Cell::new(0), rounds: Cell::new(0) }
    }

    fn over_limit(&self, egraph: &EGraph) -> Option<&'static str> {
        let nodes = egraph.total_size();
        if nodes > self.limits.nodes {
            Some("nodes")
        } else if nodes * BYTES_PER_NODE > self.limits.memory_bytes {
            Some("memory")
        } else if Instant::now() > self.deadline {
            Some("time")
        } else {
            None
        }
    }

    /// Applies rewrites until nothing changes.
    pub fn rewrite(
        &self,
        egraph: &mut EGraph,
        rules: &mut [Rule],
        index: &RuleIndex,
        stats: &mut [RuleStats],
    ) -> Stop {
        let mut seen: FxHashSet<(usize, SmallVec<[Option<Id>; 16]>)> = FxHashSet::default();
        loop {
            egraph.rebuild();
            let work = dirty(egraph, index.depth);
            if work.is_empty() {
                return Stop::Saturated;
            }
            self.rounds.set(self.rounds.get() + 1);
            let (found, cut) = self.search(egraph, &work, rules, index, stats);
            for f in found {
                let canonical = f.slots.iter().map(|s| s.map(|s| egraph.find(s))).collect();
                if !seen.insert((f.rule, canonical)) {
                    continue;
                }
                stats[f.rule].fired += 1;
                if let Some(what) = self.over_limit(egraph) {
                    egraph.rebuild();
                    return Stop::Limit { what, rule: rules[f.rule].name.clone() };
                }
                let (size, started) = (egraph.total_size(), Instant::now());
                let applied = apply(egraph, &rules[f.rule], &f.slots, &f.bindings);
                let stats = &mut stats[f.rule];
                stats.added += egraph.total_size() - size;
                stats.time += started.elapsed();
                if let Err(why) = applied {
                    *stats.broken.entry(why).or_insert(0) += 1;
                }
            }
            if let Some(stop) = cut {
                egraph.rebuild();
                return stop;
            }
        }
    }

    /// Matches every fusion once and adds it as an alternative.
    pub fn fuse(
        &self,
        egraph: &mut EGraph,
        rules: &mut [Rule],
        index: &RuleIndex,
        stats: &mut [RuleStats],
    ) -> (Vec<FusionMatch>, Stop) {
        egraph.rebuild();
        let mut work: Vec<Id> = egraph.classes().map(|c| c.id).collect();
        work.sort();
        let (found, cut) = self.search(egraph, &work, rules, index, stats);
        let mut matches: Vec<FusionMatch> = Vec::new();
        let mut seen: FxHashSet<ENode> = FxHashSet::default();
        for f in found {
            if let Some(what) = self.over_limit(egraph) {
                let rule = rules[f.rule].name.clone();
                egraph.rebuild();
                return (matches, Stop::Limit { what, rule });
            }
            match add_fusion(egraph, &rules[f.rule], &f) {
                Ok(m) if seen.insert(m.node.clone()) => {
                    stats[f.rule].fired += 1;
                    matches.push(m);
                }
                Ok(_) => {}
                Err(why) => *stats[f.rule].broken.entry(why).or_insert(0) += 1,
            }
        }
        egraph.rebuild();
        (matches, cut.unwrap_or(Stop::Saturated))
    }

    fn search(
        &self,
        egraph: &EGraph,
        work: &[Id],
        rules: &mut [Rule],
        index: &RuleIndex,
        stats: &mut [RuleStats],
    ) -> (Vec<Found>, Option<Stop>) {
        let mut out = Vec::new();
        for class in work {
            for node in &egraph[*class].nodes {
                let Some(candidates) = index.by_root.get(&node.op) else { continue };
                for rule in candidates {
                    self.search_at(egraph, *class, node, *rule, rules, &mut stats[*rule], &mut out);
                    if let Some(what) = self.search_limit(out.len()) {
                        let rule = rules[*rule].name.clone();
                        return (out, Some(Stop::Limit { what, rule }));
                    }
                }
            }
        }
        (out, None)
    }

    /// Limits of a search: what it may collect, and its time, looked at now and then.
    fn search_limit(&self, found: usize) -> Option<&'static str> {
        const BYTES_PER_MATCH: usize = 400;
        const LOOK_EVERY: usize = 64;
        if found.saturating_mul(BYTES_PER_MATCH) > self.limits.memory_bytes {
            return Some("memory");
        }
        let looks = self.searched.get().wrapping_add(1);
        self.searched.set(looks);
        (looks % LOOK_EVERY == 0 && Instant::now() > self.deadline).then_some("time")
    }

    #[allow(clippy::too_many_arguments)]
    fn search_at(
        &self,
        egraph: &EGraph,
        class: Id,
        node: &ENode,
        rule: usize,
        rules: &mut [Rule],
        stats: &mut RuleStats,
        out: &mut Vec<Found>,
    ) {
        let pattern = rules[rule].pattern.clone();
        let class_type = |id: Id| egraph[id].data;
        let current = &mut rules[rule];
        match_at(egraph, &pattern, class, node, &mut |slots| match current.verdict(
            slots,
            &class_type,
            &egraph.analysis.context,
            self.facts,
        ) {
            Verdict::Fires(bindings) => {
                out.push(Found { rule, slots: slots.clone(), bindings });
            }
            Verdict::Mismatch(why) => *stats.mismatched.entry(why).or_insert(0) += 1,
            Verdict::Refused { guard, reason, .. } => {
                *stats.refused.entry(guard).or_default().entry(reason).or_insert(0) += 1;
            }
        });
    }
}

/// Changed classes and what is above them, up to `depth` levels.
fn dirty(egraph: &mut EGraph, depth: usize) -> Vec<Id> {
    let changed = std::mem::take(&mut egraph.analysis.changed);
    let mut seen: FxHashSet<Id> = changed.into_iter().map(|id| egraph.find(id)).collect();
    let mut frontier: Vec<Id> = seen.iter().copied().collect();
    for _ in 0..depth {
        let mut next = Vec::new();
        for id in frontier {
            for parent in egraph[id].parents() {
                let parent = egraph.find(parent);
                if seen.insert(parent) {
                    next.push(parent);
                }
            }
        }
        frontier = next;
    }
    let mut work: Vec<Id> = seen.into_iter().collect();
    work.sort();
    work
}

/// The class of each result of a match.
fn results(egraph: &EGraph, rule: &Rule, slots: &Slots) -> Vec<Option<Id>> {
    rule.pattern
        .results
        .iter()
        .map(|r| match r {
            ResultAt::Node(pat) => slots[*pat].map(|c| egraph.find(c)),
            ResultAt::Proj(pat, index) => {
                let of = egraph.find(slots[*pat]?);
                let op = Operator::proj(*index)?;
                egraph.lookup(ENode { op, payload: 0, kids: SmallVec::from_slice(&[of]) })
            }
        })
        .collect()
}

/// Makes the results of a match equal to the right side.
///
/// # Errors
/// The right side does not type there.
pub fn apply(
    egraph: &mut EGraph,
    rule: &Rule,
    slots: &Slots,
    bindings: &Bindings,
) -> Result<(), String> {
    let Action::Rewrite(rhs) = &rule.action else { return Ok(()) };
    let params: Vec<Option<Id>> =
        rule.pattern.params.iter().map(|p| p.and_then(|p| slots[p])).collect();
    let built = build(egraph, rhs, &params, bindings)?;
    for (target, r) in results(egraph, rule, slots).into_iter().zip(&rhs.results) {
        if let (Some(target), Some(value)) = (target, built[*r])
            && !unite(egraph, target, value)
        {
            return Err("its two sides have different types".into());
        }
    }
    Ok(())
}

/// Builds a body over bound parameters; one class per body node.
///
/// # Errors
/// A call does not type, or a parameter was not bound.
pub fn build(
    egraph: &mut EGraph,
    body: &Body,
    params: &[Option<Id>],
    b: &Bindings,
) -> Result<Vec<Option<Id>>, String> {
    let mut ids: Vec<Option<Id>> = Vec::with_capacity(body.nodes.len());
    for node in &body.nodes {
        let get = |ids: &[Option<Id>], r: usize| ids[r].ok_or("an operand was not bound");
        let all = |ids: &[Option<Id>], refs: &[usize]| {
            refs.iter().map(|r| get(ids, *r)).collect::<Result<Vec<Id>, _>>()
        };
        let id = match &node.kind {
            BodyKind::Param(i) => params.get(*i).copied().flatten(),
            BodyKind::Const(a) => Some(super::term::Terms::attr(egraph, a.clone())),
            BodyKind::Dim(d) => {
                let value = d.subst(&|s| b.dims.get(s).cloned());
                Some(super::term::Terms::attr(egraph, Attr::Int(value)))
            }
            BodyKind::Generic(g) => {
                let dtype = b.dtypes.get(g).ok_or("a generic was not bound")?;
                Some(super::term::Terms::attr(egraph, Attr::Dtype(*dtype)))
            }
            BodyKind::Call { op, args } => {
                let args = all(&ids, args)?;
                Some(canon::call(egraph, *op, &args)?)
            }
            BodyKind::Proj { of, index } => {
                let of = get(&ids, *of)?;
                Some(canon::proj(egraph, of, *index)?)
            }
            BodyKind::List(items) => {
                let items = all(&ids, items)?;
                Some(canon::list(egraph, &items)?)
            }
            BodyKind::Alt(_) | BodyKind::Any => {
                return Err("`|` and `_` have no value on a right side".into());
            }
        };
        ids.push(id);
    }
    Ok(ids)
}

/// Adds a fusion's kernel and ties its results to the classes they compute.
fn add_fusion(egraph: &mut EGraph, rule: &Rule, f: &Found) -> Result<FusionMatch, String> {
    let Action::Fusion(index) = rule.action else { return Err("not a fusion".into()) };
    let op = Operator::fusion(index);
    let kids: SmallVec<[Id; 4]> = rule
        .pattern
        .params
        .iter()
        .map(|p| p.and_then(|p| f.slots[p]).map(|c| egraph.find(c)).ok_or("unbound parameter"))
        .collect::<Result<_, _>>()?;
    let results = results(egraph, rule, &f.slots);
    let types = result_types(egraph, rule, &f.slots, &results)?;
    let kid_types: Vec<_> = kids.iter().map(|k| egraph[*k].data).collect();
    let single = types.len() == 1;
    let ty = if single {
        types[0]
    } else {
        let parts = types.iter().map(|t| egraph.analysis.context.ty(*t).clone()).collect();
        egraph.analysis.context.intern(fusec_dsl::types::Type::Tuple(parts))
    };
    egraph.analysis.context.set_result(op, &kid_types, ty);
    let node = ENode { op, payload: 0, kids };
    let class = egraph.add(node.clone());
    for (i, target) in results.iter().enumerate() {
        let Some(target) = target else { continue };
        let value = if single { class } else { canon::proj(egraph, class, i)? };
        if !unite(egraph, *target, value) {
            return Err("a result has another type than what it replaces".into());
        }
    }
    let covers = rule
        .pattern
        .nodes
        .iter()
        .zip(&f.slots)
        .filter(|(n, _)| matches!(n, PatNode::Op { .. }))
        .filter_map(|(_, slot)| *slot)
        .collect();
    Ok(FusionMatch { fusion: index, node, class, results, covers, bindings: f.bindings.clone() })
}

fn result_types(
    egraph: &mut EGraph,
    rule: &Rule,
    slots: &Slots,
    results: &[Option<Id>],
) -> Result<Vec<super::context::TypeId>, String> {
    let mut out = Vec::new();
    for (at, class) in rule.pattern.results.iter().zip(results) {
        let ty = match (class, at) {
            (Some(class), _) => egraph[*class].data,
            (None, ResultAt::Proj(pat, index)) => {
                let of = slots[*pat].ok_or("unbound result")?;
                let op = Operator::proj(*index).ok_or("too many results")?;
                let of_type = egraph[of].data;
                egraph.analysis.context.result(op, 0, &[of_type])?
            }
            (None, ResultAt::Node(_)) => return Err("unbound result".into()),
        };
        out.push(ty);
    }
    Ok(out)
}
