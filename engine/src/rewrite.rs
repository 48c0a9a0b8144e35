//! Writing a plan back into a graph: fusions become nodes, what they replace goes.
//!
//! Nothing else changes: a node that no fusion touched keeps its name, its arguments and its place.

use crate::egraph::segment::Segment;
use crate::egraph::solve::{Chosen, ShapeSolution, Source};
use crate::egraph::term::TermId;
use crate::graph::{Arg, Effect, Graph, Node, NodeIndex, TensorMeta, Value};
use crate::lift::Lifted;
use crate::optimize::RangePlan;
use fusec_dsl::library::{Attr, Body, BodyKind, Fusion, Library, Meaning};
use fusec_dsl::types::Type;
use rustc_hash::FxHashMap;

/// A graph with a plan written into it, and where.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The graph. A node that was there before keeps its index.
    pub graph: Graph,
    /// The fusions' nodes, in the order of insertion.
    pub placed: Vec<Placed>,
}

/// One fusion in a rewritten graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its node.
    pub node: NodeIndex,
    /// Index into the library's fusions.
    pub fusion: usize,
    /// The nodes of the graph before that it covers; most of them are gone.
    pub covers: Vec<NodeIndex>,
}

/// A copy of the graph with one plan written into it.
pub fn rewrite(graph: &Graph, lib: &Library, lifted: &Lifted, plan: &RangePlan) -> Graph {
    rewrite_placed(graph, lib, lifted, plan).graph
}

/// [`rewrite`], and where each fusion went.
pub fn rewrite_placed(
    graph: &Graph,
    lib: &Library,
    lifted: &Lifted,
    plan: &RangePlan,
) -> Rewritten {
    let (now, placed) = (FxHashMap::default(), Vec::new());
    let mut w = Writer { graph: graph.clone(), lib, lifted, now, placed };
    for (segment, shape) in &plan.segments {
        w.segment(segment, &plan.shapes[*shape].0);
    }
    w.merge_equals(plan);
    w.clean();
    narrow(&mut w.graph, plan);
    Rewritten { graph: w.graph, placed: w.placed }
}

/// The graph of a range says which sizes it is for.
fn narrow(graph: &mut Graph, plan: &RangePlan) {
    for s in graph.symbols.iter_mut().filter(|s| Some(&s.name) == plan.symbol.as_ref()) {
        s.min = plan.interval.lo.or(s.min);
        s.max = plan.interval.hi.or(s.max);
    }
}

/// Whether every rank must run it: its meaning has a collective in it.
fn is_collective(lib: &Library, body: &Body) -> bool {
    body.nodes.iter().any(|n| match &n.kind {
        BodyKind::Call { op, .. } => {
            let op = lib.op(*op);
            let inside = |b: &Body| is_collective(lib, b);
            op.collective || matches!(&op.meaning, Meaning::Body(b) if inside(b))
        }
        _ => false,
    })
}

/// The torch target of a fusion's op.
pub fn target_of(fusion: &Fusion) -> String {
    let all: Vec<&str> =
        fusion.variants.iter().chain(&fusion.members).map(String::as_str).collect();
    let overload = if all.is_empty() { "default".to_string() } else { all.join("__") };
    format!("fusec.{}.{overload}", fusion.name)
}

struct Writer<'a> {
    graph: Graph,
    lib: &'a Library,
    lifted: &'a Lifted,
    /// What stands for a node that was replaced.
    now: FxHashMap<NodeIndex, NodeIndex>,
    placed: Vec<Placed>,
}

impl Writer<'_> {
    fn segment(&mut self, segment: &Segment, solution: &ShapeSolution) {
        let mut results: Vec<Vec<Option<NodeIndex>>> = Vec::new();
        for chosen in &solution.chosen {
            let made = self.insert(segment, solution, chosen, &results);
            results.push(made);
        }
        for (t, source) in solution.sources.iter().enumerate() {
            let Some(source) = source else { continue };
            let Some(new) = self.node_of(segment, *source, &results) else { continue };
            for old in self.origins(segment.terms[t]) {
                self.replace(old, new);
            }
        }
    }

    fn origins(&self, term: TermId) -> Vec<NodeIndex> {
        self.lifted.origins[term as usize].iter().map(|n| NodeIndex::new(*n as usize)).collect()
    }

    /// The first node that yields a term's value itself. A call that writes to a buffer stands for
    /// its one result in the terms, but yields a tuple; the value is its `getitem`.
    fn holder(&self, term: TermId) -> Option<NodeIndex> {
        let nodes = self.origins(term);
        let parts = |n: &NodeIndex| {
            self.graph.get(*n).is_some_and(|n| matches!(n.value, Value::Tuple(_) | Value::List(_)))
        };
        nodes.iter().find(|n| !parts(n)).or(nodes.first()).copied()
    }

    fn replace(&mut self, old: NodeIndex, new: NodeIndex) {
        let old_value = &self.graph[old].value;
        let parts = matches!(old_value, Value::Tuple(_) | Value::List(_));
        if old != new && !parts {
            self.graph.replace_uses(old, new);
            self.now.insert(old, new);
        }
    }

    /// Equal nodes that no segment holds, such as views under views, become one.
    fn merge_equals(&mut self, plan: &RangePlan) {
        let mut placed = vec![false; self.lifted.origins.len()];
        for term in plan.segments.iter().flat_map(|(s, _)| &s.terms) {
            placed[*term as usize] = true;
        }
        for (term, _) in placed.iter().enumerate().filter(|(_, placed)| !**placed) {
            let view = self.lifted.dag.op_of(term as TermId).is_some();
            if let (true, [first, rest @ ..]) = (view, self.origins(term as TermId).as_slice()) {
                for node in rest {
                    self.replace(*node, self.current(*first));
                }
            }
        }
    }

    fn current(&self, mut node: NodeIndex) -> NodeIndex {
        while let Some(next) = self.now.get(&node) {
            node = *next;
        }
        node
    }

    /// The node that holds a value of the selection.
    fn node_of(
        &self,
        segment: &Segment,
        source: Source,
        results: &[Vec<Option<NodeIndex>>],
    ) -> Option<NodeIndex> {
        let node = match source {
            Source::Leaf(i) => self.holder(segment.leaves[i as usize])?,
            Source::Term(t) => self.holder(segment.terms[t as usize])?,
            Source::Fusion(k, r) => (*results.get(k as usize)?.get(r as usize)?)?,
            Source::Attr(_) => return None,
        };
        Some(self.current(node))
    }

    fn insert(
        &mut self,
        segment: &Segment,
        solution: &ShapeSolution,
        chosen: &Chosen,
        results: &[Vec<Option<NodeIndex>>],
    ) -> Vec<Option<NodeIndex>> {
        let site = &solution.sites[chosen.site];
        let fusion = &self.lib.fusions[site.fusion];
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        for (param, source) in fusion.sig.params.iter().zip(&chosen.operands) {
            match source {
                Source::Attr(ty) => {
                    let value = self.lifted.dag.context.ty(*ty).attr().cloned();
                    let value = value.map_or(Arg::None, |a| attr(&a));
                    kwargs.push((param.name.as_str().into(), value));
                }
                _ => match self.node_of(segment, *source, results) {
                    Some(node) => args.push(Arg::Node(node)),
                    None => args.push(Arg::None),
                },
            }
        }
        let replaced = self.replaced_values(segment, solution, chosen, results.len() as u32);
        let values: Vec<Value> =
            chosen.results.iter().zip(&replaced).map(|(ty, old)| value(ty, old.as_ref())).collect();
        let single = values.len() == 1;
        let whole = if single { values[0].clone() } else { Value::Tuple(values.clone()) };
        let mut node = Node::op(&fusion.name, &target_of(fusion), args, whole);
        node.kwargs = kwargs;
        node.module = self.module_of(segment, &site.covers);
        if is_collective(self.lib, &fusion.body) {
            self.graph.declare_collective(&node);
        }
        let of = self.graph.insert(node);
        let covered = site.covers.iter().flat_map(|t| self.origins(segment.terms[*t as usize]));
        let mut covers: Vec<NodeIndex> = covered.collect();
        covers.sort();
        covers.dedup();
        self.placed.push(Placed { node: of, fusion: site.fusion, covers });
        if single {
            return vec![Some(of)];
        }
        let mut out = Vec::new();
        for (i, (v, old)) in values.into_iter().zip(&replaced).enumerate() {
            out.push(
                old.is_some().then(|| self.graph.insert_at(Node::getitem(of, i as i64, v), of)),
            );
        }
        out
    }

    /// What each result of a fusion replaces, for its layout; `None` if nothing uses the result.
    fn replaced_values(
        &self,
        segment: &Segment,
        solution: &ShapeSolution,
        chosen: &Chosen,
        number: u32,
    ) -> Vec<Option<Value>> {
        (0..chosen.results.len() as u32)
            .map(|r| {
                let wanted = Some(Source::Fusion(number, r));
                let t = solution.sources.iter().position(|s| *s == wanted)?;
                let node = self.holder(segment.terms[t])?;
                Some(self.graph[node].value.clone())
            })
            .collect()
    }

    fn module_of(&self, segment: &Segment, covers: &[u32]) -> Option<std::sync::Arc<str>> {
        let nodes = covers.iter().flat_map(|t| self.origins(segment.terms[*t as usize]));
        nodes.filter_map(|n| self.graph.get(n)?.module.clone()).next_back()
    }

    /// Removes what is dead, collectives that were fused among it.
    fn clean(&mut self) {
        for node in &self.lifted.dropped {
            self.graph.remove(NodeIndex::new(*node as usize));
        }
        self.graph.remove_dead();
        let fused: Vec<NodeIndex> = self.now.keys().copied().collect();
        let mut removed = false;
        for node in fused {
            let collective =
                self.graph.get(node).is_some() && self.graph.effect(node) == Effect::Collective;
            removed |= collective && self.graph.remove(node).is_some();
        }
        for (term, origins) in self.lifted.origins.iter().enumerate() {
            let lib = &self.lifted.dag.context.lib;
            let op = self.lifted.dag.op_of(term as TermId);
            if op.is_some_and(|op| lib.op(op).collective) {
                for node in origins {
                    let node = NodeIndex::new(*node as usize);
                    removed |= self.graph.get(node).is_some() && self.graph.remove(node).is_some();
                }
            }
        }
        if removed {
            self.graph.remove_dead();
        }
    }
}

fn value(ty: &Type, replaced: Option<&Value>) -> Value {
    match (ty, replaced) {
        (Type::Tensor(t), Some(Value::Tensor(old))) if old.ty == *t => {
            Value::Tensor(TensorMeta { storage: None, offset: 0.into(), ..old.clone() })
        }
        (Type::Tensor(t), _) => Value::Tensor(TensorMeta::contiguous(t.clone(), "cuda:0")),
        _ => Value::Unknown,
    }
}

fn attr(a: &Attr) -> Arg {
    match a {
        Attr::None => Arg::None,
        Attr::Bool(b) => Arg::Bool(*b),
        Attr::Int(d) => d.as_int().map_or_else(|| Arg::Sym(d.clone()), Arg::Int),
        Attr::Float(bits) => Arg::float(f64::from_bits(*bits)),
        Attr::Dtype(d) => Arg::Dtype(*d),
        Attr::Str(s) | Attr::Group(s) | Attr::Opaque(s) => Arg::Str(s.clone()),
        Attr::List(items) => Arg::List(items.iter().map(attr).collect()),
    }
}
