//! One shape: saturate, add fusions, extract; the answer in the shape's own numbers.

use super::build::{EGraph, Typing};
use super::context::{Context, TypeId};
use super::cost::{Cost, CostModel};
use super::node::{ENode, Kids, Operator};
use super::rules::Rule;
use super::saturate::{FusionMatch, RuleIndex, RuleStats, Run, Stop};
use super::segment::{Operand, Segment};
use super::selection::{Reader, Selectable};
use super::term::TermDag;
use crate::extract;
use egg::Id;
use fusec_dsl::types::Type;
use std::time::{Duration, Instant};

/// Where the value of a class comes from in the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A value from outside.
    Leaf(u32),
    /// A constant.
    Attr(TypeId),
    /// A term of the shape, kept as it was.
    Term(u32),
    /// A result of a chosen fusion.
    Fusion(u32, u32),
}

/// A fusion that the selection uses.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Index into [`ShapeSolution::sites`].
    pub site: usize,
    /// Operands, one a parameter.
    pub operands: Vec<Source>,
    /// Types of the results.
    pub results: Vec<Type>,
    /// Predicted cost.
    pub cost: Cost,
}

/// A place where a fusion fits.
#[derive(Clone, Debug)]
pub struct SiteMatch {
    /// Index into the library's fusions.
    pub fusion: usize,
    /// Terms of the shape that it covers.
    pub covers: Vec<u32>,
    /// Whether the selection uses it.
    pub chosen: bool,
    /// Predicted cost.
    pub cost: Cost,
    /// What the fusion's names stand for.
    pub bindings: std::rc::Rc<fusec_dsl::infer::Bindings>,
}

/// The answer for one shape.
#[derive(Clone, Debug)]
pub struct ShapeSolution {
    /// Chosen fusions, operands before users.
    pub chosen: Vec<Chosen>,
    /// Where each term's value comes from; `None` for a term that is no longer needed.
    pub sources: Vec<Option<Source>>,
    /// Every match.
    pub sites: Vec<SiteMatch>,
    /// Cost of each term as it was.
    pub term_costs: Vec<Cost>,
    /// Cost of the selection.
    pub cost: f64,
    /// No selection costs less.
    pub lower_bound: f64,
    /// Whether both meet.
    pub optimal: bool,
    /// E-nodes and e-classes.
    pub size: (usize, usize),
    /// Rounds of rewriting.
    pub rounds: usize,
    /// Why saturation stopped.
    pub stop: Stop,
    /// Time in saturation and in extraction.
    pub times: (Duration, Duration),
}

/// What solving a shape needs besides the shape.
pub struct Solver<'a> {
    /// Guards' facts and limits.
    pub run: Run<'a>,
    /// Prices.
    pub costs: CostModel<'a>,
    /// Limits of extraction.
    pub extract: extract::Limits,
    /// Rewrites.
    pub rewrites: &'a mut [Rule],
    /// Fusions.
    pub fusions: &'a mut [Rule],
    /// Rewrites by root.
    pub rewrite_index: &'a RuleIndex,
    /// Fusions by root.
    pub fusion_index: &'a RuleIndex,
}

/// What the rules did in one shape.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// One per rewrite.
    pub rewrites: Vec<RuleStats>,
    /// One per fusion.
    pub fusions: Vec<RuleStats>,
}

/// A segment in an e-graph.
pub struct Loaded {
    /// The e-graph.
    pub egraph: EGraph,
    /// Class of each term.
    pub classes: Vec<Id>,
    /// E-node of each term.
    pub nodes: Vec<ENode>,
}

impl Solver<'_> {
    /// Solves the shape of a segment.
    pub fn solve(&mut self, dag: &mut TermDag, segment: &Segment) -> (ShapeSolution, Statistics) {
        let started = Instant::now();
        let leaf_types = std::mem::take(&mut dag.context.leaves);
        let mut loaded = ingest(dag, segment);
        let mut stats = Statistics {
            rewrites: vec![RuleStats::default(); self.rewrites.len()],
            fusions: vec![RuleStats::default(); self.fusions.len()],
        };
        let egraph = &mut loaded.egraph;
        self.run.rounds.set(0);
        let rewritten =
            self.run.rewrite(egraph, self.rewrites, self.rewrite_index, &mut stats.rewrites);
        let (matches, fused) =
            self.run.fuse(egraph, self.fusions, self.fusion_index, &mut stats.fusions);
        loaded.canonicalize();
        let saturated = started.elapsed();
        let started = Instant::now();
        let mut solution = self.extract(&loaded, segment, &matches);
        solution.rounds = self.run.rounds.get();
        solution.stop = if rewritten == Stop::Saturated { fused } else { rewritten };
        solution.times = (saturated, started.elapsed());
        dag.context = loaded.egraph.analysis.context;
        dag.context.leaves = leaf_types;
        (solution, stats)
    }

    fn extract(
        &self,
        loaded: &Loaded,
        segment: &Segment,
        matches: &[FusionMatch],
    ) -> ShapeSolution {
        let price = |class: Id, node: &ENode| self.price(&loaded.egraph, class, node);
        let term_costs: Vec<Cost> =
            loaded.classes.iter().zip(&loaded.nodes).map(|(c, n)| price(*c, n)).collect();
        let mut out = ShapeSolution {
            chosen: Vec::new(),
            sources: vec![None; loaded.classes.len()],
            sites: matches.iter().map(|m| site(loaded, m, price(m.class, &m.node))).collect(),
            cost: term_costs.iter().map(|c| c.us).sum(),
            term_costs,
            lower_bound: 0.0,
            optimal: false,
            size: (loaded.egraph.total_size(), loaded.egraph.number_of_classes()),
            rounds: 0,
            stop: Stop::Saturated,
            times: Default::default(),
        };
        let selectable = Selectable::new(loaded, segment, &out.term_costs, matches, &out.sites);
        let solved = selectable.solve(&self.extract);
        match solved {
            Some(solution) => {
                Reader::new(loaded, &selectable, &solution).read(segment, &mut out);
                out.cost = solution.cost;
                out.lower_bound = solution.lower_bound;
                out.optimal = solution.optimal;
            }
            // The input is always derivable; should it ever not be, the input is the answer.
            None => {
                out.sources =
                    (0..loaded.classes.len() as u32).map(|i| Some(Source::Term(i))).collect();
                // A piece that nothing uses leaves nothing to choose.
                out.optimal = !segment.live.contains(&true);
                out.lower_bound = if out.optimal { out.cost } else { 0.0 };
            }
        }
        out
    }

    fn price(&self, egraph: &EGraph, class: Id, node: &ENode) -> Cost {
        let context = &egraph.analysis.context;
        let kids: Vec<_> = node.kids.iter().map(|k| context.ty(egraph[*k].data)).collect();
        self.costs.operator(context, node.op, &kids, context.ty(egraph[class].data))
    }
}

fn site(loaded: &Loaded, m: &FusionMatch, cost: Cost) -> SiteMatch {
    let covered: Vec<Id> = m.covers.iter().map(|c| loaded.egraph.find(*c)).collect();
    let inside = |i: &u32| covered.contains(&loaded.classes[*i as usize]);
    SiteMatch {
        fusion: m.fusion,
        covers: (0..loaded.classes.len() as u32).filter(inside).collect(),
        chosen: false,
        cost,
        bindings: m.bindings.clone(),
    }
}

impl Loaded {
    /// Brings classes and nodes up to date after unions.
    pub fn canonicalize(&mut self) {
        for class in &mut self.classes {
            *class = self.egraph.find(*class);
        }
        for kid in self.nodes.iter_mut().flat_map(|n| &mut n.kids) {
            *kid = self.egraph.find(*kid);
        }
    }
}

/// Loads a segment into a fresh e-graph.
pub fn ingest(dag: &mut TermDag, segment: &Segment) -> Loaded {
    let operands = segment.operands(dag);
    let lib = dag.context.lib.clone();
    let mut context = std::mem::replace(&mut dag.context, Context::new(lib));
    context.leaves = segment.leaves.iter().map(|l| dag.types[*l as usize]).collect();
    let mut egraph = EGraph::new(Typing::new(context));
    let leaf = |i| ENode { op: Operator::LEAF, payload: i, kids: Kids::new() };
    let leaves: Vec<Id> = (0..segment.leaves.len() as u32).map(|i| egraph.add(leaf(i))).collect();
    let (mut classes, mut nodes) = (Vec::new(), Vec::new());
    for (t, operands) in segment.terms.iter().zip(&operands) {
        let mut kids = Kids::new();
        for operand in operands {
            kids.push(match operand {
                Operand::Inner(i) => classes[*i as usize],
                Operand::Leaf(i) => leaves[*i as usize],
                Operand::Attr(payload) => {
                    let op = Operator::ATTR;
                    egraph.add(ENode { op, payload: *payload, kids: Kids::new() })
                }
            });
        }
        let term = &dag.terms[*t as usize];
        let node = ENode { op: term.op, payload: term.payload, kids };
        classes.push(egraph.add(node.clone()));
        nodes.push(node);
    }
    Loaded { egraph, classes, nodes }
}
