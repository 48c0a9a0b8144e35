//! Cutting a graph where no rule can reach across, and recognizing equal pieces.
//!
//! An edge may be cut when no pattern, nor anything a rewrite can turn its two ends into, has an
//! edge like it. The layers of a model then fall into a handful of distinct shapes; each shape is
//! saturated and solved once, whatever the depth of the model.

use super::node::{Operator, OperatorKind};
use super::pattern::{PatNode, Pattern, ResultAt};
use super::rules::{Action, Rule};
use super::term::{TermDag, TermId};
use fusec_dsl::library::{Body, BodyKind};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

/// A use of a value: the operator and which of its operands.
type Use = (Operator, usize);

/// Which edges rules can look across.
#[derive(Debug, Default)]
pub struct Reach {
    edges: FxHashSet<(Use, Operator)>,
    /// Uses that a rewrite can turn a use into.
    uses: FxHashMap<Use, Vec<Use>>,
    /// Operators that a rewrite can add to the class of an operator.
    roots: FxHashMap<Operator, Vec<Operator>>,
    /// Operators whose class a rewrite can merge with that of an operand.
    open: FxHashSet<Operator>,
}

impl Reach {
    /// What these rules can look across.
    pub fn of(rules: &[&Rule]) -> Reach {
        let mut reach = Reach::default();
        for rule in rules {
            reach.add_pattern(&rule.pattern);
            if let Action::Rewrite(rhs) = &rule.action {
                reach.add_rewrite(&rule.pattern, rhs);
            }
        }
        reach
    }

    fn add_pattern(&mut self, p: &Pattern) {
        for node in &p.nodes {
            let PatNode::Op { op, kids, commutative } = node else { continue };
            for (i, kid) in kids.iter().enumerate() {
                for producer in operators(p, *kid) {
                    for position in positions(i, *commutative) {
                        self.edges.insert(((*op, position), producer));
                    }
                }
            }
        }
    }

    fn add_rewrite(&mut self, p: &Pattern, rhs: &Body) {
        let mut params: FxHashMap<usize, Vec<Use>> = FxHashMap::default();
        for node in &p.nodes {
            let PatNode::Op { op, kids, commutative } = node else { continue };
            for (i, kid) in kids.iter().enumerate() {
                if let PatNode::Param(param) = p.nodes[*kid] {
                    let uses = params.entry(param).or_default();
                    uses.extend(positions(i, *commutative).into_iter().map(|i| (*op, i)));
                }
            }
        }
        for node in &rhs.nodes {
            let BodyKind::Call { op, args } = &node.kind else { continue };
            for (i, arg) in args.iter().enumerate() {
                if let BodyKind::Param(param) = rhs.nodes[*arg].kind {
                    for from in params.get(&param).into_iter().flatten() {
                        self.uses.entry(*from).or_default().push((Operator::op(*op), i));
                    }
                }
            }
        }
        for (at, r) in p.results.iter().zip(&rhs.results) {
            let ResultAt::Node(pat) = at else { continue };
            for from in operators(p, *pat) {
                match body_operator(rhs, *r) {
                    Some(to) => self.roots.entry(from).or_default().push(to),
                    None => {
                        self.open.insert(from);
                    }
                }
            }
        }
    }

    /// Whether a rule may look from this use into what computes the value.
    fn spans(&self, user: Use, producer: Operator) -> bool {
        let always = matches!(user.0.kind(), OperatorKind::Proj(_)) || producer == Operator::LIST;
        if always {
            return true;
        }
        let users = closure(user, &self.uses);
        let producers = closure(producer, &self.roots);
        if producers.iter().any(|p| self.open.contains(p)) {
            return true;
        }
        users.iter().any(|u| producers.iter().any(|p| self.edges.contains(&(*u, *p))))
    }
}

fn positions(i: usize, commutative: bool) -> Vec<usize> {
    if commutative && i < 2 { vec![0, 1] } else { vec![i] }
}

fn operators(p: &Pattern, at: usize) -> Vec<Operator> {
    match &p.nodes[at] {
        PatNode::Op { op, .. } => vec![*op],
        PatNode::Alt(items) => items.iter().flat_map(|i| operators(p, *i)).collect(),
        _ => Vec::new(),
    }
}

fn body_operator(body: &Body, r: usize) -> Option<Operator> {
    match &body.nodes[r].kind {
        BodyKind::Call { op, .. } => Some(Operator::op(*op)),
        BodyKind::Proj { index, .. } => Operator::proj(*index),
        _ => None,
    }
}

fn closure<K: Copy + Eq + std::hash::Hash>(from: K, next: &FxHashMap<K, Vec<K>>) -> Vec<K> {
    let mut out = vec![from];
    let mut at = 0;
    while at < out.len() {
        for n in next.get(&out[at]).into_iter().flatten() {
            if !out.contains(n) {
                out.push(*n);
            }
        }
        at += 1;
    }
    out
}

/// One piece of a graph.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Its terms, ascending.
    pub terms: Vec<TermId>,
    /// Values from outside, by first use.
    pub leaves: Vec<TermId>,
    /// Whether each term is used outside.
    pub live: Vec<bool>,
}

/// A piece up to renaming: what has to be solved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    words: Vec<u32>,
}

/// Operand of a term inside a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A term of the segment.
    Inner(u32),
    /// A value from outside.
    Leaf(u32),
    /// A constant, by its payload.
    Attr(u32),
}

/// Cuts a graph. With `fold` off there is one segment.
pub fn cut(dag: &TermDag, live: &[bool], reach: &Reach, fold: bool) -> Vec<Segment> {
    let n = dag.terms.len();
    let needed = needed(dag, live);
    let inner = |t: TermId| {
        needed[t as usize] && !matches!(dag.terms[t as usize].op, Operator::LEAF | Operator::ATTR)
    };
    let mut sets = petgraph::unionfind::UnionFind::<u32>::new(n);
    let mut spans: FxHashMap<(Use, Operator), bool> = FxHashMap::default();
    let mut outside = live.to_vec();
    let mut first = None;
    for (t, term) in dag.terms.iter().enumerate().filter(|(t, _)| inner(*t as TermId)) {
        let anchor = *first.get_or_insert(t as u32);
        if !fold {
            sets.union(anchor, t as u32);
        }
        for (i, kid) in term.kids.iter().enumerate().filter(|(_, k)| inner(**k)) {
            let edge = ((term.op, i), dag.terms[*kid as usize].op);
            let joined = !fold || *spans.entry(edge).or_insert_with(|| reach.spans(edge.0, edge.1));
            match joined {
                true => {
                    sets.union(*kid, t as u32);
                }
                false => outside[*kid as usize] = true,
            }
        }
    }
    let mut segments: IndexMap<u32, Segment> = IndexMap::new();
    for t in (0..n as TermId).filter(|t| inner(*t)) {
        segments.entry(sets.find(t)).or_default().terms.push(t);
    }
    let mut segments: Vec<Segment> = segments.into_values().collect();
    mark_cut_edges(dag, &segments, &mut outside);
    for s in &mut segments {
        s.live = s.terms.iter().map(|t| outside[*t as usize]).collect();
        s.leaves = leaves(dag, &s.terms);
    }
    segments
}

/// Terms that something live is computed from. Others, such as the inner of two views that cancel,
/// must not keep what they read alive.
fn needed(dag: &TermDag, live: &[bool]) -> Vec<bool> {
    let mut needed = live.to_vec();
    for (t, term) in dag.terms.iter().enumerate().rev() {
        if needed[t] {
            term.kids.iter().for_each(|k| needed[*k as usize] = true);
        }
    }
    needed
}

/// A value used from another segment lives, even if that use alone would not have been cut.
fn mark_cut_edges(dag: &TermDag, segments: &[Segment], outside: &mut [bool]) {
    let mut home = vec![u32::MAX; dag.terms.len()];
    for (i, s) in segments.iter().enumerate() {
        s.terms.iter().for_each(|t| home[*t as usize] = i as u32);
    }
    for (t, term) in dag.terms.iter().enumerate().filter(|(t, _)| home[*t] != u32::MAX) {
        for kid in &term.kids {
            if home[*kid as usize] != u32::MAX && home[*kid as usize] != home[t] {
                outside[*kid as usize] = true;
            }
        }
    }
}

fn leaves(dag: &TermDag, terms: &[TermId]) -> Vec<TermId> {
    let own: FxHashSet<TermId> = terms.iter().copied().collect();
    let mut seen = FxHashSet::default();
    let mut out = Vec::new();
    for t in terms {
        for kid in &dag.terms[*t as usize].kids {
            let attr = dag.terms[*kid as usize].op == Operator::ATTR;
            if !attr && !own.contains(kid) && seen.insert(*kid) {
                out.push(*kid);
            }
        }
    }
    out
}

impl Segment {
    /// Operands of each term in local numbers.
    pub fn operands(&self, dag: &TermDag) -> Vec<Vec<Operand>> {
        let mut local: FxHashMap<TermId, Operand> = FxHashMap::default();
        let inner = |i: usize| Operand::Inner(i as u32);
        local.extend(self.terms.iter().enumerate().map(|(i, t)| (*t, inner(i))));
        local.extend(self.leaves.iter().enumerate().map(|(i, t)| (*t, Operand::Leaf(i as u32))));
        let operand = |kid: &TermId| match local.get(kid) {
            Some(o) => *o,
            None => Operand::Attr(dag.terms[*kid as usize].payload),
        };
        self.terms
            .iter()
            .map(|t| dag.terms[*t as usize].kids.iter().map(operand).collect())
            .collect()
    }

    /// The piece up to renaming.
    pub fn shape(&self, dag: &TermDag) -> Shape {
        let mut words = vec![self.leaves.len() as u32];
        words.extend(self.leaves.iter().map(|l| dag.types[*l as usize].0));
        for ((t, kids), live) in self.terms.iter().zip(self.operands(dag)).zip(&self.live) {
            let term = &dag.terms[*t as usize];
            words.extend([term.op.0, term.payload, u32::from(*live), kids.len() as u32]);
            words.push(dag.types[*t as usize].0);
            for kid in kids {
                words.extend(match kid {
                    Operand::Inner(i) => [0, i],
                    Operand::Leaf(i) => [1, i],
                    Operand::Attr(p) => [2, p],
                });
            }
        }
        Shape { words }
    }
}
