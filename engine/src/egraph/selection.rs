//! The extraction problem of a saturated shape, and its answer in the shape's own numbers.
//!
//! Only what can run may be chosen: what the graph had, a fusion's kernel, and the parts of those.
//! Ops that rewrites recognized exist to be matched by fusions, not to be run.

use super::build::EGraph;
use super::cost::Cost;
use super::node::{ENode, Operator, OperatorKind};
use super::saturate::FusionMatch;
use super::segment::Segment;
use super::solve::{Chosen, Loaded, ShapeSolution, SiteMatch, Source};
use crate::extract::{self, ClassId, NodeId, Problem, ProblemBuilder, Solution};
use egg::Id;
use rustc_hash::FxHashMap;

/// What may be selected: an extraction problem over e-classes.
pub struct Selectable {
    problem: Option<Problem>,
    class_of: FxHashMap<Id, ClassId>,
    /// What each node of the problem is.
    nodes: Vec<Runnable>,
}

/// A node that may be selected.
#[derive(Clone, Debug)]
enum Runnable {
    Leaf(u32),
    Attr(super::context::TypeId),
    Term(u32),
    Site(usize, ENode),
    Part(usize, Id),
}

impl Selectable {
    /// The problem of a shape.
    pub fn new(
        loaded: &Loaded,
        segment: &Segment,
        term_costs: &[Cost],
        matches: &[FusionMatch],
        sites: &[SiteMatch],
    ) -> Selectable {
        let egraph = &loaded.egraph;
        let mut ids: Vec<Id> = egraph.classes().map(|c| c.id).collect();
        ids.sort();
        let class_of: FxHashMap<Id, ClassId> =
            ids.iter().enumerate().map(|(i, id)| (*id, i as ClassId)).collect();
        let terms: FxHashMap<&ENode, u32> =
            (0..loaded.nodes.len()).rev().map(|i| (&loaded.nodes[i], i as u32)).collect();
        let site_of: FxHashMap<ENode, usize> =
            (0..matches.len()).map(|i| (canonical(egraph, &matches[i].node), i)).collect();
        let mut builder = ProblemBuilder::new(ids.len() as u32);
        let mut nodes = Vec::new();
        for id in &ids {
            let mut found: Vec<(Runnable, f64, &ENode)> = Vec::new();
            for node in &egraph[*id].nodes {
                let runnable = runnable(node, &terms, &site_of);
                let Some(runnable) = runnable else { continue };
                let us = match runnable {
                    Runnable::Term(t) => term_costs[t as usize].us,
                    Runnable::Site(s, _) => sites[s].cost.us,
                    _ => 0.0,
                };
                found.push((runnable, us, node));
            }
            // What the graph had comes first, so it wins ties.
            found.sort_by_key(|(r, _, n)| (rank(r), (*n).clone()));
            for (runnable, us, node) in found {
                let kids: Vec<ClassId> =
                    node.kids.iter().map(|k| class_of[&egraph.find(*k)]).collect();
                builder.node(class_of[id], us, &kids);
                nodes.push(runnable);
            }
        }
        for (class, live) in loaded.classes.iter().zip(&segment.live) {
            if *live {
                builder.root(class_of[class]);
            }
        }
        Selectable { problem: builder.build().ok(), class_of, nodes }
    }

    /// The cheapest selection.
    pub fn solve(&self, limits: &extract::Limits) -> Option<Solution> {
        extract::solve(self.problem.as_ref()?, limits).ok()
    }
}

fn canonical(egraph: &EGraph, node: &ENode) -> ENode {
    let mut node = node.clone();
    node.kids.iter_mut().for_each(|k| *k = egraph.find(*k));
    node
}

fn runnable(
    node: &ENode,
    terms: &FxHashMap<&ENode, u32>,
    site_of: &FxHashMap<ENode, usize>,
) -> Option<Runnable> {
    match node.op.kind() {
        OperatorKind::Leaf => Some(Runnable::Leaf(node.payload)),
        OperatorKind::Attr => Some(Runnable::Attr(super::context::TypeId(node.payload))),
        OperatorKind::Fusion(_) => site_of.get(node).map(|s| Runnable::Site(*s, node.clone())),
        OperatorKind::Proj(i) => Some(Runnable::Part(i, node.kids[0])),
        OperatorKind::Op(_) | OperatorKind::List | OperatorKind::Tuple => {
            terms.get(node).map(|t| Runnable::Term(*t))
        }
    }
}

fn rank(r: &Runnable) -> u8 {
    match r {
        Runnable::Leaf(_) => 0,
        Runnable::Attr(_) => 1,
        Runnable::Term(_) => 2,
        Runnable::Part(..) => 3,
        Runnable::Site(..) => 4,
    }
}

/// Reads a selection back.
pub struct Reader<'a> {
    loaded: &'a Loaded,
    selectable: &'a Selectable,
    solution: &'a Solution,
    known: FxHashMap<Id, Source>,
    fused: FxHashMap<usize, u32>,
}

impl<'a> Reader<'a> {
    /// A reader of one selection.
    pub fn new(
        loaded: &'a Loaded,
        selectable: &'a Selectable,
        solution: &'a Solution,
    ) -> Reader<'a> {
        let (known, fused) = (FxHashMap::default(), FxHashMap::default());
        Reader { loaded, selectable, solution, known, fused }
    }

    /// Fills in what is chosen and where every needed value comes from.
    pub fn read(&mut self, segment: &Segment, out: &mut ShapeSolution) {
        for class in self.order(segment) {
            self.source(class, out);
        }
        for (i, class) in self.loaded.classes.iter().enumerate() {
            out.sources[i] = self.known.get(class).copied();
        }
    }

    /// Needed classes, operands first; on an explicit stack, since a whole model may be one shape.
    fn order(&self, segment: &Segment) -> Vec<Id> {
        let live = self.loaded.classes.iter().zip(&segment.live).filter(|(_, live)| **live);
        let mut stack: Vec<(Id, bool)> = live.map(|(class, _)| (*class, false)).collect();
        stack.reverse();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut out = Vec::new();
        while let Some((class, done)) = stack.pop() {
            if done {
                out.push(class);
                continue;
            }
            if !seen.insert(class) {
                continue;
            }
            stack.push((class, true));
            stack.extend(self.needs(class).into_iter().rev().map(|kid| (kid, false)));
        }
        out
    }

    fn needs(&self, class: Id) -> Vec<Id> {
        let Some(choice) = self.choice(class) else { return Vec::new() };
        let kids = match &self.selectable.nodes[choice as usize] {
            Runnable::Leaf(_) | Runnable::Attr(_) => Vec::new(),
            Runnable::Term(t) => self.loaded.nodes[*t as usize].kids.to_vec(),
            Runnable::Site(_, node) => node.kids.to_vec(),
            Runnable::Part(_, of) => vec![*of],
        };
        kids.into_iter().map(|k| self.loaded.egraph.find(k)).collect()
    }

    fn choice(&self, class: Id) -> Option<NodeId> {
        let class = self.selectable.class_of.get(&self.loaded.egraph.find(class))?;
        self.solution.choice[*class as usize]
    }

    fn source(&mut self, class: Id, out: &mut ShapeSolution) -> Option<Source> {
        let class = self.loaded.egraph.find(class);
        if let Some(known) = self.known.get(&class) {
            return Some(*known);
        }
        let source = match self.selectable.nodes[self.choice(class)? as usize].clone() {
            Runnable::Leaf(i) => Source::Leaf(i),
            Runnable::Attr(ty) => Source::Attr(ty),
            Runnable::Term(t) => {
                for kid in self.loaded.nodes[t as usize].kids.clone() {
                    self.source(kid, out);
                }
                Source::Term(t)
            }
            Runnable::Site(site, node) => Source::Fusion(self.fusion(site, &node, class, out)?, 0),
            Runnable::Part(index, of) => self.part(class, index, of, out)?,
        };
        self.known.insert(class, source);
        Some(source)
    }

    /// A result of a tuple: of a fusion, or of a term that stays, whose part stays with it.
    fn part(&mut self, class: Id, index: usize, of: Id, out: &mut ShapeSolution) -> Option<Source> {
        match self.source(of, out)? {
            Source::Fusion(chosen, _) => Some(Source::Fusion(chosen, index as u32)),
            _ => {
                let of = self.loaded.egraph.find(of);
                let op = Operator::proj(index)?;
                let is_part = |n: &ENode| n.op == op && n.kids[0] == of;
                let term = self.loaded.nodes.iter().position(is_part)?;
                debug_assert_eq!(self.loaded.classes[term], class);
                Some(Source::Term(term as u32))
            }
        }
    }

    fn fusion(
        &mut self,
        site: usize,
        node: &ENode,
        class: Id,
        out: &mut ShapeSolution,
    ) -> Option<u32> {
        if let Some(known) = self.fused.get(&site) {
            return Some(*known);
        }
        let mut operands = Vec::with_capacity(node.kids.len());
        for kid in &node.kids {
            operands.push(self.source(*kid, out)?);
        }
        let context = &self.loaded.egraph.analysis.context;
        let ty = self.loaded.egraph[class].data;
        let results = match context.ty(ty) {
            fusec_dsl::types::Type::Tuple(parts) => parts.clone(),
            single => vec![single.clone()],
        };
        let number = out.chosen.len() as u32;
        out.sites[site].chosen = true;
        out.chosen.push(Chosen { site, operands, results, cost: out.sites[site].cost });
        self.fused.insert(site, number);
        Some(number)
    }
}
