//! Why a rule did not fire: where it nearly matched, found by the same matcher that fires rules.
//!
//! The largest part of the pattern that occurs somewhere says how near it was; what stands in the
//! way there is the first operator, operand, type or guard beyond that part.

use crate::config::{Config, RangeFacts};
use crate::egraph::build::EGraph;
use crate::egraph::matcher::{Slots, match_at};
use crate::egraph::node::{ENode, Operator, OperatorKind};
use crate::egraph::pattern::{PatId, PatNode, Pattern};
use crate::egraph::rules::{Rule, Verdict};
use crate::egraph::saturate::{RuleIndex, RuleStats, Run};
use crate::egraph::segment::{Reach, cut};
use crate::egraph::solve::{Loaded, ingest};
use crate::graph::{Graph, NodeIndex};
use crate::lift::Lifted;
use crate::optimize::{compile, enabled_passes};
use egg::Id;
use fusec_dsl::library::Library;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where and why a rule nearly matched.
#[derive(Clone, Debug, PartialEq)]
pub struct NearMiss {
    /// The rule, with its family members.
    pub rule: String,
    /// Operations of its pattern.
    pub of: usize,
    /// How many of them are there.
    pub matched: usize,
    /// The graph's nodes that they are, at the first place.
    pub nodes: Vec<String>,
    /// What the rule wants next.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// Number of places with the same reason.
    pub places: usize,
}

/// The nearest misses of the rules with a name that `wanted` accepts, whether or not their passes
/// run. A rule without any has fired wherever its pattern occurs.
pub fn near_misses(
    lib: &Arc<Library>,
    graph: &Graph,
    lifted: &mut Lifted,
    config: &Config,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<NearMiss> {
    let passes = enabled_passes(lib, config);
    let mut active = compile(lib, &mut lifted.dag.context, config, &passes);
    let everything: Vec<_> = passes.into_iter().map(|(name, _)| (name, Ok(()))).collect();
    let asked = compile(lib, &mut lifted.dag.context, config, &everything);
    let asked = asked.rewrites.into_iter().chain(asked.fusions);
    let mut asked: Vec<Rule> = asked.filter(|r| wanted(&r.name)).collect();
    let reach = Reach::of(&active.rewrites.iter().chain(&asked).collect::<Vec<_>>());
    let ranges = lifted.ranges(config);
    let facts = RangeFacts { config, ranges: &ranges };
    let run = Run::new(&facts, &config.limits);
    let index = RuleIndex::new(&active.rewrites);
    let mut misses = Vec::new();
    // Without folding there is one piece, or none if the graph has nothing to look into.
    for segment in cut(&lifted.dag, &lifted.live, &reach, false) {
        let leaf_types = std::mem::take(&mut lifted.dag.context.leaves);
        let mut loaded = ingest(&mut lifted.dag, &segment);
        let mut stats = vec![RuleStats::default(); active.rewrites.len()];
        run.rewrite(&mut loaded.egraph, &mut active.rewrites, &index, &mut stats);
        loaded.canonicalize();
        let nodes = origins(lifted, &segment.terms, &segment.leaves, &loaded);
        for rule in &mut asked {
            let place = Place { lib, graph, loaded: &loaded, nodes: &nodes, facts: &facts };
            misses.extend(place.nearest(rule));
        }
        lifted.dag.context = loaded.egraph.analysis.context;
        lifted.dag.context.leaves = leaf_types;
    }
    misses
}

/// Graph nodes that compute each class, in graph order.
fn origins(
    lifted: &Lifted,
    terms: &[u32],
    leaves: &[u32],
    loaded: &Loaded,
) -> FxHashMap<Id, Vec<NodeIndex>> {
    let mut out: FxHashMap<Id, Vec<NodeIndex>> = FxHashMap::default();
    let mut add = |class: Id, term: u32| {
        let nodes = lifted.origins[term as usize].iter().map(|n| NodeIndex::new(*n as usize));
        out.entry(class).or_default().extend(nodes);
    };
    for (class, term) in loaded.classes.iter().zip(terms) {
        add(*class, *term);
    }
    let egraph = &loaded.egraph;
    for (payload, term) in leaves.iter().enumerate() {
        let leaf = ENode { op: Operator::LEAF, payload: payload as u32, kids: Default::default() };
        if let Some(class) = egraph.lookup(leaf) {
            add(egraph.find(class), *term);
        }
    }
    out.values_mut().for_each(|nodes| {
        nodes.sort();
        nodes.dedup();
    });
    out
}

struct Place<'a> {
    lib: &'a Library,
    graph: &'a Graph,
    loaded: &'a Loaded,
    nodes: &'a FxHashMap<Id, Vec<NodeIndex>>,
    facts: &'a RangeFacts<'a>,
}

/// What stands in the way: what is wanted, and what is there.
type Reason = (String, String);

impl Place<'_> {
    fn egraph(&self) -> &EGraph {
        &self.loaded.egraph
    }

    /// Misses of the largest part of the pattern that occurs, grouped by reason.
    fn nearest(&self, rule: &mut Rule) -> Vec<NearMiss> {
        let pattern = rule.pattern.clone();
        let sizes: Vec<usize> = (0..pattern.nodes.len()).map(|p| ops_below(&pattern, p)).collect();
        let of = sizes[pattern.root];
        for size in (1..=of).rev() {
            let mut reasons: IndexMap<Reason, (Vec<String>, usize)> = IndexMap::new();
            let mut occurs = false;
            let parts = (0..sizes.len()).filter(|p| sizes[*p] == size && is_call(&pattern, *p));
            for part in parts {
                for (class, slots) in self.occurrences(&pattern, part) {
                    occurs = true;
                    let Some(reason) = self.reason(rule, part, class, &slots) else { continue };
                    let entry = reasons.entry(reason).or_default();
                    if entry.1 == 0 {
                        entry.0 = self.names(&pattern, &slots);
                    }
                    entry.1 += 1;
                }
            }
            if occurs {
                let miss = |((expected, found), (nodes, places))| {
                    let rule = rule.name.clone();
                    NearMiss { rule, of, matched: size, nodes, expected, found, places }
                };
                return reasons.into_iter().map(miss).collect();
            }
        }
        vec![self.nothing(rule, of)]
    }

    /// The miss of a rule none of whose operations occurs.
    fn nothing(&self, rule: &Rule, of: usize) -> NearMiss {
        let mut names: Vec<String> =
            (0..rule.pattern.nodes.len()).filter_map(|p| self.op_name(&rule.pattern, p)).collect();
        names.sort();
        names.dedup();
        NearMiss {
            rule: rule.name.clone(),
            of,
            matched: 0,
            nodes: Vec::new(),
            expected: names.join(", "),
            found: "none of these in the graph".into(),
            places: 0,
        }
    }

    /// Classes where a part of the pattern occurs, each with the first way it does.
    fn occurrences(&self, pattern: &Pattern, part: PatId) -> Vec<(Id, Slots)> {
        let sub = Pattern { root: part, ..pattern.clone() };
        let mut classes: Vec<Id> = self.egraph().classes().map(|c| c.id).collect();
        classes.sort();
        let mut out = Vec::new();
        for class in classes {
            let mut first = None;
            for node in &self.egraph()[class].nodes {
                match_at(self.egraph(), &sub, class, node, &mut |slots| {
                    first.get_or_insert_with(|| slots.clone());
                });
            }
            out.extend(first.map(|slots| (class, slots)));
        }
        out
    }

    /// What is in the way where a part occurs; `None` where the whole rule fires.
    fn reason(&self, rule: &mut Rule, part: PatId, class: Id, slots: &Slots) -> Option<Reason> {
        if part != rule.pattern.root {
            return Some(self.above(&rule.pattern, part, class));
        }
        let class_type = |id: Id| self.egraph()[id].data;
        let context = &self.egraph().analysis.context;
        match rule.verdict(slots, &class_type, context, self.facts) {
            Verdict::Fires(_) => None,
            Verdict::Mismatch(why) => Some(("operands of the declared types".into(), why)),
            Verdict::Refused { guard, reason, .. } => {
                let text = &rule.sig.guards[guard].text;
                let seen = reason.strip_prefix(&format!("`{text}`: ")).unwrap_or(&reason);
                Some((format!("`{text}`"), seen.into()))
            }
        }
    }

    /// The operator above a part: it is not there, or another of its operands does not fit.
    fn above(&self, pattern: &Pattern, part: PatId, class: Id) -> Reason {
        let Some((parent, value)) = self.climb(pattern, part, class) else {
            return ("more of the pattern".into(), "a value that nothing uses".into());
        };
        let PatNode::Op { op, kids, commutative } = &pattern.nodes[parent] else {
            return ("more of the pattern".into(), "something else".into());
        };
        let wanted = self.op_name(pattern, parent).unwrap_or_default();
        for node in self.users(value).into_iter().filter(|n| n.op == *op) {
            let mut swapped = node.clone();
            if *commutative {
                swapped.kids.swap(0, 1);
            }
            let orders = if *commutative { vec![node, swapped] } else { vec![node] };
            for order in orders {
                let here = |(i, k): (usize, &PatId)| self.fits(pattern, *k, order.kids[i]);
                let all: Vec<bool> = kids.iter().enumerate().map(here).collect();
                let Some(bad) = all.iter().position(|ok| !ok) else { continue };
                let operand = self.operand_name(*op, bad);
                let expected =
                    format!("{wanted}: {operand} {}", self.pattern_text(pattern, kids[bad]));
                return (expected, self.class_text(order.kids[bad]));
            }
        }
        let below = self.op_name(pattern, part).unwrap_or_default();
        (format!("{wanted} of {below}"), self.uses_text(value))
    }

    /// The nearest operator above a part that is not a projection or an alternative, and the class
    /// that is its operand here.
    fn climb(&self, pattern: &Pattern, part: PatId, class: Id) -> Option<(PatId, Id)> {
        let (mut part, mut class) = (part, class);
        loop {
            let parent = pattern.nodes.iter().position(|n| match n {
                PatNode::Op { kids, .. } => kids.contains(&part),
                PatNode::Alt(items) => items.contains(&part),
                _ => false,
            })?;
            match &pattern.nodes[parent] {
                PatNode::Op { op, .. } if matches!(op.kind(), OperatorKind::Proj(_)) => {
                    let node = ENode { op: *op, payload: 0, kids: [class].into_iter().collect() };
                    class = self.egraph().lookup(node)?;
                    class = self.egraph().find(class);
                    part = parent;
                }
                PatNode::Alt(_) => part = parent,
                _ => return Some((parent, class)),
            }
        }
    }

    /// E-nodes that use a class.
    fn users(&self, class: Id) -> Vec<ENode> {
        let egraph = self.egraph();
        let mut parents: Vec<Id> = egraph[class].parents().map(|p| egraph.find(p)).collect();
        parents.sort();
        parents.dedup();
        let nodes = parents.iter().flat_map(|p| &egraph[*p].nodes);
        nodes.filter(|n| n.kids.iter().any(|k| egraph.find(*k) == class)).cloned().collect()
    }

    fn fits(&self, pattern: &Pattern, part: PatId, class: Id) -> bool {
        let class = self.egraph().find(class);
        let data = self.egraph()[class].data;
        match &pattern.nodes[part] {
            PatNode::Param(_) | PatNode::Any => true,
            PatNode::Const(values) => values.contains(&data),
            PatNode::Value(_) => self.egraph().analysis.context.ty(data).attr().is_some(),
            PatNode::Alt(items) => items.iter().any(|i| self.fits(pattern, *i, class)),
            PatNode::Op { .. } => {
                let sub = Pattern { root: part, ..pattern.clone() };
                let mut found = false;
                for node in &self.egraph()[class].nodes {
                    match_at(self.egraph(), &sub, class, node, &mut |_| found = true);
                }
                found
            }
        }
    }

    /// Graph nodes that a match covers.
    fn names(&self, pattern: &Pattern, slots: &Slots) -> Vec<String> {
        let calls = (0..pattern.nodes.len()).filter(|p| is_call(pattern, *p));
        let classes = calls.filter_map(|p| slots[p]).map(|c| self.egraph().find(c));
        let mut nodes: Vec<NodeIndex> =
            classes.filter_map(|c| self.nodes.get(&c)).flatten().copied().collect();
        nodes.sort();
        nodes.dedup();
        let is_part =
            |n: &NodeIndex| self.graph.projection(*n).is_some_and(|(of, _)| nodes.contains(&of));
        let whole = nodes.iter().filter(|n| !is_part(n));
        whole.filter_map(|n| self.graph.get(*n)).map(|n| n.name.to_string()).collect()
    }

    fn op_name(&self, pattern: &Pattern, part: PatId) -> Option<String> {
        match &pattern.nodes[part] {
            PatNode::Op { op, .. } => match op.kind() {
                OperatorKind::Op(id) => Some(format!("`{}`", self.lib.op(id).name)),
                OperatorKind::List => Some("a list".into()),
                _ => None,
            },
            _ => None,
        }
    }

    fn operand_name(&self, op: Operator, index: usize) -> String {
        let name = match op.kind() {
            OperatorKind::Op(id) => self.lib.op(id).sig.params.get(index).map(|p| p.name.clone()),
            _ => None,
        };
        name.map_or_else(|| format!("operand {index}"), |n| format!("`{n}` ="))
    }

    fn pattern_text(&self, pattern: &Pattern, part: PatId) -> String {
        let context = &self.egraph().analysis.context;
        match &pattern.nodes[part] {
            PatNode::Const(values) => {
                values.first().map_or_else(String::new, |v| context.ty(*v).to_string())
            }
            PatNode::Value(_) => "a known value".into(),
            PatNode::Alt(items) => {
                let all: Vec<String> =
                    items.iter().map(|i| self.pattern_text(pattern, *i)).collect();
                all.join(" or ")
            }
            PatNode::Op { kids, .. } => {
                let inner = || kids.first().map(|k| self.pattern_text(pattern, *k));
                self.op_name(pattern, part).or_else(inner).unwrap_or_default()
            }
            PatNode::Param(_) | PatNode::Any => "anything".into(),
        }
    }

    /// A value as the graph calls it.
    fn class_text(&self, class: Id) -> String {
        let class = self.egraph().find(class);
        let ty = self.egraph().analysis.context.ty(self.egraph()[class].data);
        if ty.attr().is_some() {
            return ty.to_string();
        }
        let node = self.nodes.get(&class).and_then(|n| n.first()).and_then(|n| self.graph.get(*n));
        match node {
            Some(node) => format!("`{}`: {ty}", node.name),
            None => ty.to_string(),
        }
    }

    /// Who uses a value in the graph.
    fn uses_text(&self, class: Id) -> String {
        let own = self.nodes.get(&class).map(Vec::as_slice).unwrap_or_default();
        let mut ops: BTreeSet<String> = BTreeSet::new();
        let mut stack: Vec<NodeIndex> = own.to_vec();
        while let Some(node) = stack.pop() {
            for user in self.graph.users(node).into_iter().filter(|u| !own.contains(u)) {
                match self.graph.projection(user) {
                    Some(_) => stack.push(user),
                    None => {
                        let op = self.graph.callee(user).unwrap_or(&self.graph[user].target);
                        ops.insert(op.to_string());
                    }
                }
            }
        }
        let ty = self.egraph().analysis.context.ty(self.egraph()[class].data);
        let list: Vec<String> = ops.into_iter().collect();
        match list.is_empty() {
            true => format!("{ty}, a result of the graph"),
            false => format!("{ty}, which goes to {}", list.join(", ")),
        }
    }
}

fn is_call(pattern: &Pattern, part: PatId) -> bool {
    match &pattern.nodes[part] {
        PatNode::Op { op, .. } => matches!(op.kind(), OperatorKind::Op(_)),
        _ => false,
    }
}

/// Operations at and below a part.
fn ops_below(pattern: &Pattern, part: PatId) -> usize {
    fn mark(pattern: &Pattern, part: PatId, seen: &mut [bool]) {
        if std::mem::replace(&mut seen[part], true) {
            return;
        }
        if let PatNode::Op { kids: next, .. } | PatNode::Alt(next) = &pattern.nodes[part] {
            next.iter().for_each(|k| mark(pattern, *k, seen));
        }
    }
    let mut seen = vec![false; pattern.nodes.len()];
    mark(pattern, part, &mut seen);
    (0..seen.len()).filter(|p| seen[*p] && is_call(pattern, *p)).count()
}
