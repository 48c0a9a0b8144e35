//! The order in which nodes run.

use super::{Effect, Graph, NodeIndex, Time};
use petgraph::Direction;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

/// The graph has no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError {
    /// Nodes of one cycle, in order, by name.
    pub cycle: Vec<String>,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.cycle.first().map_or("", String::as_str);
        write!(f, "the graph has a cycle: ")?;
        for name in &self.cycle {
            write!(f, "`{name}` -> ")?;
        }
        write!(f, "`{first}`")
    }
}

impl std::error::Error for GraphError {}

impl Graph {
    /// Every node, each after what it needs. It needs its operands; what touched a written storage
    /// before it in time (of two readers, neither needs the other); and, if it touches hidden
    /// state, the last that did. Among what is ready, the earliest in time comes first: a graph
    /// that was not edited comes out in the file's order.
    pub fn toposort(&self) -> Result<Vec<NodeIndex>, GraphError> {
        self.sort(self.ordering_edges())
    }

    /// The order of the file that the graph was imported from.
    pub(super) fn file_order(&self) -> Vec<NodeIndex> {
        self.file_order.clone().unwrap_or_else(|| self.dag.node_indices().collect())
    }

    /// The order to print in: the file's, or that of [`Graph::toposort`], or time if there is none.
    pub(crate) fn print_order(&self) -> Vec<NodeIndex> {
        match self.edited {
            false => self.file_order(),
            true => self.toposort().unwrap_or_else(|_| self.by_time()),
        }
    }

    /// Every node, each after its operands and what `extra` puts before it.
    pub(super) fn sort(
        &self,
        extra: Vec<(NodeIndex, NodeIndex)>,
    ) -> Result<Vec<NodeIndex>, GraphError> {
        let mut after: FxHashMap<NodeIndex, Vec<NodeIndex>> = FxHashMap::default();
        let mut missing = vec![0usize; self.bound()];
        for node in self.dag.node_indices() {
            missing[node.index()] = self.dag.neighbors_directed(node, Direction::Incoming).count();
        }
        for (before, then) in extra {
            after.entry(before).or_default().push(then);
            missing[then.index()] += 1;
        }
        let mut ready: BinaryHeap<Reverse<(Time, NodeIndex)>> = BinaryHeap::new();
        let start = self.dag.node_indices().filter(|n| missing[n.index()] == 0);
        ready.extend(start.map(|n| Reverse((self.dag[n].time, n))));
        let mut out = Vec::with_capacity(self.len());
        while let Some(Reverse((_, node))) = ready.pop() {
            out.push(node);
            let extra = after.get(&node).into_iter().flatten().copied();
            for next in self.dag.neighbors(node).chain(extra) {
                missing[next.index()] -= 1;
                if missing[next.index()] == 0 {
                    ready.push(Reverse((self.dag[next].time, next)));
                }
            }
        }
        if out.len() == self.len() {
            return Ok(out);
        }
        Err(self.cycle(&missing, &after))
    }

    fn bound(&self) -> usize {
        self.dag.node_indices().last().map_or(0, |n| n.index() + 1)
    }

    /// Every node in time order.
    fn by_time(&self) -> Vec<NodeIndex> {
        let mut nodes: Vec<_> = self.dag.node_indices().collect();
        nodes.sort_by_key(|n| (self.dag[*n].time, *n));
        nodes
    }

    /// Order that data does not show: accesses of written storages, and hidden state.
    fn ordering_edges(&self) -> Vec<(NodeIndex, NodeIndex)> {
        let effects: BTreeMap<NodeIndex, Effect> = (self.dag.node_indices())
            .map(|n| (n, self.effect(n)))
            .filter(|(_, e)| matches!(e, Effect::Mutates(_) | Effect::State))
            .collect();
        let mut written: FxHashMap<u32, Accesses> = FxHashMap::default();
        for effect in effects.values() {
            self.written_storages(effect, &mut |s| {
                written.entry(s).or_default();
            });
        }
        let mut edges = Vec::new();
        let mut last_state = None;
        if effects.is_empty() {
            return edges;
        }
        for node in self.by_time() {
            let effect = effects.get(&node);
            if effect == Some(&Effect::State)
                && let Some(before) = last_state.replace(node)
            {
                edges.push((before, node));
            }
            if !written.is_empty() {
                self.order_accesses(node, effect, &mut written, &mut edges);
            }
        }
        edges
    }

    fn order_accesses(
        &self,
        node: NodeIndex,
        effect: Option<&Effect>,
        written: &mut FxHashMap<u32, Accesses>,
        edges: &mut Vec<(NodeIndex, NodeIndex)>,
    ) {
        let mut touched = Vec::new();
        self.dag[node].each_operand(&mut |n| {
            self.dag[n].value.each_storage(&mut |s| touched.push(s));
        });
        touched.sort_unstable();
        touched.dedup();
        let mut writes = Vec::new();
        if let Some(effect) = effect {
            self.written_storages(effect, &mut |s| writes.push(s));
        }
        for storage in touched {
            if let Some(accesses) = written.get_mut(&storage) {
                accesses.add(node, writes.contains(&storage), edges);
            }
        }
    }

    fn written_storages(&self, effect: &Effect, f: &mut impl FnMut(u32)) {
        if let Effect::Mutates(writes) = effect {
            for node in writes.iter().flat_map(|w| &w.nodes) {
                self.dag[*node].value.each_storage(f);
            }
        }
    }

    /// Some cycle among the nodes that could not be ordered.
    fn cycle(&self, missing: &[usize], after: &FxHashMap<NodeIndex, Vec<NodeIndex>>) -> GraphError {
        let stuck = |n: &NodeIndex| missing[n.index()] > 0;
        let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
        for node in self.dag.node_indices().filter(stuck) {
            let extra = after.get(&node).into_iter().flatten().copied();
            for next in self.dag.neighbors(node).chain(extra) {
                before.entry(next).or_insert(node);
            }
        }
        // Every stuck node waits for a stuck node, so walking back must meet itself.
        let mut path: Vec<NodeIndex> = self.dag.node_indices().filter(stuck).take(1).collect();
        while let Some(previous) = path.last().and_then(|n| before.get(n)) {
            if let Some(start) = path.iter().position(|n| n == previous) {
                path.drain(..start);
                break;
            }
            path.push(*previous);
        }
        path.reverse();
        let first = path.iter().enumerate().min_by_key(|(_, n)| self.dag[**n].time);
        let first = first.map_or(0, |(i, _)| i);
        path.rotate_left(first);
        GraphError { cycle: path.iter().map(|n| self.dag[*n].name.to_string()).collect() }
    }
}

/// Accesses of one storage so far, in time order.
#[derive(Default)]
struct Accesses {
    last_write: Option<NodeIndex>,
    reads: Vec<NodeIndex>,
}

impl Accesses {
    fn add(&mut self, node: NodeIndex, writes: bool, edges: &mut Vec<(NodeIndex, NodeIndex)>) {
        edges.extend(self.last_write.map(|w| (w, node)));
        if !writes {
            return self.reads.push(node);
        }
        edges.extend(self.reads.drain(..).map(|r| (r, node)));
        self.last_write = Some(node);
    }
}
