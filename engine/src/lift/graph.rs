//! Lifting a tensor graph: binds and views become terms, everything else a boundary.
//!
//! A node that is not understood is opaque: its results are leaves, its operands stay alive. So is
//! every node that touches a storage which something in the graph writes in place: a term is a
//! value, and such a node's value depends on when it runs.

use super::bind::{self, Binds};
use super::views;
use super::{Lifted, OpaqueNode};
use crate::egraph::canon;
use crate::egraph::context::Context;
use crate::egraph::term::{TermDag, TermId, Terms};
use crate::fx;
use crate::graph::{Arg, Effect, Graph, Node, NodeIndex, Value};
use fusec_dsl::library::{Attr, Library};
use fusec_dsl::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lifts a graph. Origins are node indices.
pub fn lift_graph(lib: &Arc<Library>, graph: &Graph) -> Lifted {
    let dag = TermDag::new(Context::new(lib.clone()));
    let mut lifted = Lifted::new(dag);
    for s in &graph.symbols {
        lifted.symbols.insert(s.name.clone(), graph.range(&s.name));
    }
    let mut lifter = Lifter {
        graph,
        binds: Binds::new(lib),
        lifted,
        values: FxHashMap::default(),
        parts: FxHashMap::default(),
        written: written_storages(graph),
    };
    for (index, node) in graph.nodes() {
        lifter.node(index, node);
    }
    for output in &graph.outputs {
        lifter.use_outside(&output.value);
    }
    lifter.lifted.finish();
    lifter.lifted
}

/// Storages that some node writes in place.
fn written_storages(graph: &Graph) -> FxHashSet<u32> {
    let mut out = FxHashSet::default();
    for (index, _) in graph.nodes() {
        if let Effect::Mutates(writes) = graph.effect(index) {
            for node in writes.iter().flat_map(|w| &w.nodes) {
                graph[*node].value.each_storage(&mut |s| {
                    out.insert(s);
                });
            }
        }
    }
    out
}

struct Lifter<'g> {
    graph: &'g Graph,
    binds: Binds,
    lifted: Lifted,
    values: FxHashMap<NodeIndex, TermId>,
    /// Terms of the parts of a node with several results, by `getitem` index.
    parts: FxHashMap<NodeIndex, BTreeMap<usize, TermId>>,
    written: FxHashSet<u32>,
}

impl Lifter<'_> {
    fn node(&mut self, index: NodeIndex, node: &Node) {
        if let Some((of, part)) = self.graph.projection(index) {
            return self.projection(index, node, of, part);
        }
        if views::is_proven_assertion(self.graph, index) {
            self.lifted.dropped.push(index.index() as u32);
            return;
        }
        let term = match node.kind {
            fx::Kind::Input | fx::Kind::Attr => None,
            _ if self.touches_written(index, node) => None,
            _ => self.understood(index, node),
        };
        match term {
            Some(term) => self.define(index, term),
            None => self.opaque(index, node),
        }
    }

    fn touches_written(&self, index: NodeIndex, node: &Node) -> bool {
        if self.written.is_empty() {
            return false;
        }
        let mut touches = false;
        let mut look = |v: &Value| v.each_storage(&mut |s| touches |= self.written.contains(&s));
        look(&self.graph[index].value);
        node.each_operand(&mut |n| look(&self.graph[n].value));
        touches
    }

    fn understood(&mut self, index: NodeIndex, node: &Node) -> Option<TermId> {
        let mut refused: Option<String> = None;
        let bound = self.bound(index, node, &mut refused);
        let term = bound.or_else(|| self.view(index, node));
        // Only a call that neither a bind nor a view takes is news, once.
        if let (None, Some(why), Some(target)) = (term, refused, self.graph.callee(index)) {
            self.lifted.unbound.entry(target.to_string()).or_default().push(why);
        }
        term
    }

    /// A library op, through the first bind that fits; else why the first one does not.
    fn bound(
        &mut self,
        index: NodeIndex,
        node: &Node,
        refused: &mut Option<String>,
    ) -> Option<TermId> {
        let target = self.graph.callee(index)?.to_string();
        let lib = self.lifted.dag.context.lib.clone();
        for b in self.binds.of(&target) {
            let bind = &lib.binds[b];
            let collective = lib.op(bind.op).collective;
            let allowed = match self.graph.effect(index) {
                Effect::Pure => true,
                Effect::Collective => collective,
                _ => false,
            };
            if !allowed {
                return None;
            }
            let resolved = {
                let (graph, dag) = (self.graph, &mut self.lifted.dag);
                let (values, parts) = (&self.values, &mut self.parts);
                let mut of = |dag: &mut TermDag, a: &Arg| argument(graph, dag, values, a);
                bind::apply(graph, dag, index, bind, &mut of).and_then(|(term, outs)| {
                    let listed = matches!(node.value, Value::Tuple(_) | Value::List(_));
                    let several = !outs.is_empty() || listed;
                    let found = match outs.is_empty() {
                        true => numbered(dag, term, &node.value),
                        false => outs,
                    };
                    if several && !parts_agree(dag, &found, &node.value) {
                        return Err("results of another type".into());
                    }
                    if !several && *dag.ty(term) != node.value.to_type() {
                        return Err("a result of another type".into());
                    }
                    if several {
                        parts.insert(index, found);
                    }
                    Ok(term)
                })
            };
            match resolved {
                Ok(term) => return Some(term),
                Err(why) => *refused = refused.take().or(Some(why)),
            }
        }
        None
    }

    fn view(&mut self, index: NodeIndex, node: &Node) -> Option<TermId> {
        if self.graph.effect(index) != Effect::Pure {
            return None;
        }
        let (graph, values) = (self.graph, &self.values);
        let x = graph.normalized_args(index)?.first()?.node()?;
        let x = argument(graph, &mut self.lifted.dag, values, &Arg::Node(x)).ok()?;
        let term = views::lift(graph, &mut self.lifted.dag, index, x)?;
        if let Value::List(_) | Value::Tuple(_) = node.value {
            let parts = numbered(&mut self.lifted.dag, term, &node.value);
            if !parts_agree(&self.lifted.dag, &parts, &node.value) {
                return None;
            }
            self.parts.insert(index, parts);
        } else if *self.lifted.dag.ty(term) != node.value.to_type() {
            return None;
        }
        Some(term)
    }

    fn define(&mut self, index: NodeIndex, term: TermId) {
        self.lifted.note(term, index.index() as u32);
        self.values.insert(index, term);
    }

    fn projection(&mut self, index: NodeIndex, node: &Node, of: NodeIndex, part: usize) {
        let known = self.parts.get(&of).and_then(|p| p.get(&part)).copied();
        match known {
            Some(term) => self.define(index, term),
            None => {
                // The whole stays, whatever else is taken from it.
                if let Some(whole) = self.values.get(&of) {
                    self.lifted.mark_live(*whole);
                }
                self.leaf(index, node);
            }
        }
    }

    /// A boundary: operands stay alive, results are new values.
    fn opaque(&mut self, index: NodeIndex, node: &Node) {
        for arg in node.args.iter().chain(node.kwargs.iter().map(|(_, a)| a)) {
            self.use_outside(arg);
        }
        if matches!(node.kind, fx::Kind::Op | fx::Kind::Hop | fx::Kind::Function) {
            let target = self.graph.callee(index).unwrap_or(&node.target).to_string();
            let mut reads = Vec::new();
            node.each_operand(&mut |n| reads.push(self.graph[n].value.to_type()));
            let writes = node.value.to_type();
            let fresh = self.graph.effect(index) == Effect::Fresh;
            self.lifted.opaque.push(OpaqueNode {
                node: index.index() as u32,
                target,
                reads,
                writes,
                fresh,
            });
        }
        self.leaf(index, node);
    }

    fn leaf(&mut self, index: NodeIndex, node: &Node) {
        let term = match node.value.to_type() {
            Type::Attr(a) if !matches!(a, Attr::None) => self.lifted.dag.attr(a),
            Type::Int(d) => self.lifted.dag.attr(Attr::Int(d)),
            ty => self.lifted.dag.leaf(ty),
        };
        self.define(index, term);
    }

    fn use_outside(&mut self, arg: &Arg) {
        let mut used = Vec::new();
        arg.each_node(&mut |n| used.push(n));
        for n in used {
            if let Some(term) = self.values.get(&n) {
                self.lifted.mark_live(*term);
            }
        }
    }
}

/// Parts of a term with several results, as many as the node yields.
fn numbered(dag: &mut TermDag, term: TermId, value: &Value) -> BTreeMap<usize, TermId> {
    let n = value.items().map_or(0, <[Value]>::len);
    (0..n).filter_map(|i| canon::proj(dag, term, i).ok().map(|t| (i, t))).collect()
}

fn parts_agree(dag: &TermDag, parts: &BTreeMap<usize, TermId>, value: &Value) -> bool {
    let Some(items) = value.items() else { return false };
    parts.iter().all(|(i, t)| items.get(*i).is_some_and(|v| *dag.ty(*t) == v.to_type()))
}

/// The term of an argument.
fn argument(
    graph: &Graph,
    dag: &mut TermDag,
    values: &FxHashMap<NodeIndex, TermId>,
    arg: &Arg,
) -> Result<TermId, String> {
    Ok(match arg {
        Arg::Node(n) => {
            let unknown = || format!("`{}` has no single value", graph[*n].name);
            *values.get(n).ok_or_else(unknown)?
        }
        Arg::None => dag.attr(Attr::None),
        Arg::Int(v) => dag.attr(Attr::int(*v)),
        Arg::Sym(d) => dag.attr(Attr::Int(d.clone())),
        Arg::Float(v) => dag.attr(Attr::float(v.get())),
        Arg::Bool(v) => dag.attr(Attr::Bool(*v)),
        Arg::Str(s) => dag.attr(Attr::Str(s.clone())),
        Arg::Dtype(d) => dag.attr(Attr::Dtype(*d)),
        Arg::List(items) | Arg::Tuple(items) => {
            let items: Result<Vec<TermId>, String> =
                items.iter().map(|a| argument(graph, dag, values, a)).collect();
            canon::list(dag, &items?)?
        }
        _ => return Err("an argument that is neither a tensor nor a plain constant".into()),
    })
}
