//! Lifting: from a graph's nodes to typed terms over library ops.

mod bind;
mod graph;
mod views;

pub use graph::lift_graph;

use crate::config::Config;
use crate::egraph::canon;
use crate::egraph::context::Context;
use crate::egraph::term::{TermDag, TermId, Terms};
use fusec_dsl::dim::Interval;
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{Attr, BodyKind, Library, Scalar, Test, TypeExpr};
use fusec_dsl::types::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A graph as rules see it.
#[derive(Debug)]
pub struct Lifted {
    /// Terms.
    pub dag: TermDag,
    /// Whether each term is used by something that is not a term: an opaque node or an output.
    pub live: Vec<bool>,
    /// Nodes of the source graph that compute each term, in graph order.
    pub origins: Vec<Vec<u32>>,
    /// Bounds of the graph's symbols.
    pub symbols: BTreeMap<String, Interval>,
    /// Nodes that rules do not look into.
    pub opaque: Vec<OpaqueNode>,
    /// Assertions that the types prove: they need not keep a value alive.
    pub dropped: Vec<u32>,
    /// Calls of bound operators that no bind accepted: why, by target.
    pub unbound: BTreeMap<String, Vec<String>>,
}

/// A node that rules do not look into.
#[derive(Clone, Debug)]
pub struct OpaqueNode {
    /// Its index in the source graph.
    pub node: u32,
    /// What it calls.
    pub target: String,
    /// Types of its operands.
    pub reads: Vec<Type>,
    /// Type of its result.
    pub writes: Type,
    /// It only allocates.
    pub fresh: bool,
}

impl Lifted {
    fn new(dag: TermDag) -> Lifted {
        Lifted {
            dag,
            live: Vec::new(),
            origins: Vec::new(),
            symbols: BTreeMap::new(),
            opaque: Vec::new(),
            dropped: Vec::new(),
            unbound: BTreeMap::new(),
        }
    }

    /// The graph's own bounds, narrowed by the configuration.
    pub fn ranges(&self, config: &Config) -> BTreeMap<String, Interval> {
        let narrowed = |(name, own): (&String, &Interval)| {
            let given = config.ranges.get(name).copied().unwrap_or(Interval::ALL);
            let hi = match (own.hi, given.hi) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            // A user's lower bound wins: captures specialize sizes 0 and 1 away, kernels do not.
            (name.clone(), Interval { lo: given.lo.or(own.lo), hi })
        };
        self.symbols.iter().map(narrowed).collect()
    }

    pub(crate) fn note(&mut self, term: TermId, origin: u32) {
        let n = self.dag.terms.len();
        self.live.resize(n, false);
        self.origins.resize(n, Vec::new());
        self.origins[term as usize].push(origin);
    }

    pub(crate) fn mark_live(&mut self, term: TermId) {
        self.live.resize(self.dag.terms.len(), false);
        self.live[term as usize] = true;
    }

    pub(crate) fn finish(&mut self) {
        let n = self.dag.terms.len();
        self.live.resize(n, false);
        self.origins.resize(n, Vec::new());
    }
}

/// Lifts the graph of a test in a `.fuse` file. Origins are body nodes.
///
/// # Errors
/// An input or a call does not type.
pub fn lift_test(lib: &Arc<Library>, test: &Test) -> Result<Lifted, String> {
    let dag = TermDag::new(Context::new(lib.clone()));
    let mut l = Lifted::new(dag);
    let mut values: Vec<TermId> = Vec::new();
    for (i, node) in test.graph.nodes.iter().enumerate() {
        let term = match &node.kind {
            BodyKind::Param(p) => {
                let input = &test.inputs[*p];
                match &input.ty {
                    TypeExpr::Scalar(Scalar::Group) => {
                        l.dag.attr(Attr::Group(input.name.as_str().into()))
                    }
                    TypeExpr::Scalar(_) => match &input.default {
                        Some(value) => l.dag.attr(value.clone()),
                        None => return Err(format!("`{}` needs a value", input.name)),
                    },
                    declared => {
                        let ty = Bindings::default().apply(declared)?;
                        if let Some(t) = ty.tensor() {
                            let symbols = t.shape.iter().flat_map(|d| d.symbols());
                            l.symbols.extend(
                                symbols
                                    .map(|s| (s.to_string(), Interval { lo: Some(1), hi: None })),
                            );
                        }
                        l.dag.leaf(ty)
                    }
                }
            }
            BodyKind::Const(a) => l.dag.attr(a.clone()),
            BodyKind::Dim(d) => l.dag.attr(Attr::Int(d.clone())),
            BodyKind::Call { op, args } => {
                let args: Vec<TermId> = args.iter().map(|a| values[*a]).collect();
                canon::call(&mut l.dag, *op, &args)?
            }
            BodyKind::Proj { of, index } => canon::proj(&mut l.dag, values[*of], *index)?,
            BodyKind::List(items) => {
                let items: Vec<TermId> = items.iter().map(|a| values[*a]).collect();
                canon::list(&mut l.dag, &items)?
            }
            BodyKind::Generic(_) | BodyKind::Alt(_) | BodyKind::Any => {
                return Err("a graph has values only".into());
            }
        };
        l.note(term, i as u32);
        values.push(term);
    }
    for r in &test.graph.results {
        l.mark_live(values[*r]);
    }
    l.finish();
    Ok(l)
}
