//! Edits: new nodes, rewired uses, removal of what is dead.

use super::{Arg, Graph, Node, NodeIndex, Time};
use crate::fx;
use petgraph::Direction;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Graph {
    /// Adds a node after the last of its operands in time. Its name is a wish: see [`Node::name`].
    pub fn insert(&mut self, node: Node) -> NodeIndex {
        let mut time = Time::default();
        node.each_operand(&mut |n| time = time.max(self.dag[n].time));
        self.insert_at_time(node, time)
    }

    /// Adds a node at the time of another, right after it: it reads storages as that node did.
    pub fn insert_at(&mut self, node: Node, like: NodeIndex) -> NodeIndex {
        let time = self.dag[like].time;
        self.insert_at_time(node, time)
    }

    fn insert_at_time(&mut self, mut node: Node, time: Time) -> NodeIndex {
        self.edited = true;
        self.inserted += 1;
        node.time = Time(time.0, self.inserted);
        node.name = self.fresh_name(&node.name);
        if node.kind == fx::Kind::Op {
            self.declare_synthetic(&node);
        }
        let name = node.name.clone();
        let operands = node.operands();
        let index = self.dag.add_node(node);
        operands.into_iter().for_each(|u| {
            self.dag.add_edge(u, index, ());
        });
        self.names.insert(name, index);
        index
    }

    /// A name that no node has: the hint, or the hint with a number.
    fn fresh_name(&mut self, hint: &str) -> Arc<str> {
        let hint = if hint.is_empty() { "value" } else { hint };
        if !self.names.contains_key(hint) {
            return hint.into();
        }
        let next = self.fresh.entry(hint.to_owned()).or_insert(1);
        loop {
            let name = format!("{hint}_{next}");
            *next += 1;
            if !self.names.contains_key(name.as_str()) {
                return name.into();
            }
        }
    }

    /// Makes every use of `old`, outputs included, a use of `new`. Returns how many.
    ///
    /// A use by `new` itself stays, so that a node can be wrapped.
    pub fn replace_uses(&mut self, old: NodeIndex, new: NodeIndex) -> usize {
        if old == new {
            return 0;
        }
        self.edited = true;
        let mut count = 0;
        let mut walk = self.dag.neighbors_directed(old, Direction::Outgoing).detach();
        let mut moved = Vec::new();
        while let Some((edge, user)) = walk.next(&self.dag) {
            if user != new {
                moved.push((edge, user));
            }
        }
        let users: BTreeSet<NodeIndex> = moved.iter().map(|(_, user)| *user).collect();
        for (edge, user) in moved {
            self.dag.remove_edge(edge);
            self.dag.add_edge(new, user, ());
            count += 1;
        }
        for user in users {
            let node = &mut self.dag[user];
            let kwargs = node.kwargs.iter_mut().map(|(_, a)| a);
            node.args.iter_mut().chain(kwargs).for_each(|a| a.replace(old, new));
        }
        for output in &mut self.outputs {
            count += usize::from(output.value.mentions(old));
            output.value.replace(old, new);
        }
        count
    }

    /// Gives a node other arguments.
    pub fn set_args(&mut self, node: NodeIndex, args: Vec<Arg>, kwargs: Vec<(Arc<str>, Arg)>) {
        self.edited = true;
        let mut walk = self.dag.neighbors_directed(node, Direction::Incoming).detach();
        while let Some((edge, _)) = walk.next(&self.dag) {
            self.dag.remove_edge(edge);
        }
        self.dag[node].args = args;
        self.dag[node].kwargs = kwargs;
        for used in self.dag[node].operands() {
            self.dag.add_edge(used, node, ());
        }
    }

    /// Changes what a node yields.
    pub fn set_value(&mut self, node: NodeIndex, value: super::Value) {
        self.edited = true;
        self.dag[node].value = value;
    }

    /// Completes what a node yields while a graph is being read.
    pub(crate) fn fill_value(&mut self, node: NodeIndex, value: super::Value) {
        self.dag[node].value = value;
    }

    /// Removes a node that nothing uses. Returns it, or `None` when it is an input or in use.
    pub fn remove(&mut self, node: NodeIndex) -> Option<Node> {
        let n = self.dag.node_weight(node)?;
        if n.kind == fx::Kind::Input || self.is_used(node) {
            return None;
        }
        self.edited = true;
        let removed = self.dag.remove_node(node)?;
        self.names.remove(&removed.name);
        Some(removed)
    }

    /// Removes what has no effect and no user, and then what only that used. Inputs stay. Returns
    /// how many went.
    pub fn remove_dead(&mut self) -> usize {
        let mut returned = BTreeSet::new();
        for output in &self.outputs {
            output.value.each_node(&mut |n| {
                returned.insert(n);
            });
        }
        let mut work: Vec<NodeIndex> = self.dag.node_indices().collect();
        let mut count = 0;
        while let Some(node) = work.pop() {
            let Some(n) = self.dag.node_weight(node) else { continue };
            let used = self.dag.neighbors(node).next().is_some() || returned.contains(&node);
            if used || n.kind == fx::Kind::Input || !self.effect(node).may_drop() {
                continue;
            }
            work.extend(self.dag.neighbors_directed(node, Direction::Incoming));
            if let Some(removed) = self.dag.remove_node(node) {
                self.edited = true;
                self.names.remove(&removed.name);
                count += 1;
            }
        }
        count
    }
}
