//! The structural matcher: where in the e-graph a pattern's shape occurs.
//!
//! Only classes are bound here. Types, values and guards are decided afterwards, once per
//! combination of operand types ([`super::rules`]).

use super::build::EGraph;
use super::node::ENode;
use super::pattern::{PatId, PatNode, Pattern};
use egg::Id;
use smallvec::SmallVec;

/// Class of each pattern node; `None` for nodes of an alternative not taken.
pub type Slots = SmallVec<[Option<Id>; 16]>;

/// Calls `found` for every way the pattern matches with its root at this node of this class.
pub fn match_at(
    egraph: &EGraph,
    pattern: &Pattern,
    class: Id,
    node: &ENode,
    found: &mut dyn FnMut(&Slots),
) {
    let mut slots: Slots = SmallVec::from_elem(None, pattern.nodes.len());
    slots[pattern.root] = Some(class);
    let mut m = Matcher { egraph, pattern, slots, found };
    m.enter(pattern.root, node, Vec::new());
}

struct Matcher<'a> {
    egraph: &'a EGraph,
    pattern: &'a Pattern,
    slots: Slots,
    found: &'a mut dyn FnMut(&Slots),
}

type Todo = Vec<(PatId, Id)>;

impl Matcher<'_> {
    /// Matches a node against an operator pattern (or one of its alternatives), then the rest.
    fn enter(&mut self, pat: PatId, node: &ENode, rest: Todo) {
        match &self.pattern.nodes[pat] {
            PatNode::Op { op, kids, commutative } => {
                if node.op != *op || node.kids.len() != kids.len() {
                    return;
                }
                let order: Todo = kids.iter().copied().zip(node.kids.iter().copied()).collect();
                self.push(&order, &rest);
                if *commutative && node.kids[0] != node.kids[1] && kids[0] != kids[1] {
                    let mut swapped = order;
                    (swapped[0].1, swapped[1].1) = (swapped[1].1, swapped[0].1);
                    self.push(&swapped, &rest);
                }
            }
            PatNode::Alt(items) => {
                for item in items.clone() {
                    let class = self.slots[pat];
                    let before = std::mem::replace(&mut self.slots[item], class);
                    self.enter(item, node, rest.clone());
                    self.slots[item] = before;
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, operands: &[(PatId, Id)], rest: &Todo) {
        let mut todo = rest.clone();
        todo.extend(operands.iter().rev());
        self.step(todo);
    }

    fn step(&mut self, mut todo: Todo) {
        let Some((pat, class)) = todo.pop() else {
            (self.found)(&self.slots);
            return;
        };
        let class = self.egraph.find(class);
        if let Some(bound) = self.slots[pat] {
            if bound == class {
                self.step(todo);
            }
            return;
        }
        self.slots[pat] = Some(class);
        self.bind(pat, class, todo);
        self.slots[pat] = None;
    }

    fn bind(&mut self, pat: PatId, class: Id, todo: Todo) {
        let egraph = self.egraph;
        let data = &egraph[class];
        match &self.pattern.nodes[pat] {
            PatNode::Param(_) | PatNode::Any => self.step(todo),
            PatNode::Const(values) => {
                if values.contains(&data.data) {
                    self.step(todo);
                }
            }
            PatNode::Value(_) => {
                if egraph.analysis.context.ty(data.data).attr().is_some() {
                    self.step(todo);
                }
            }
            PatNode::Op { op, .. } => {
                // Nodes of a class are sorted by operator once it is rebuilt.
                for node in data.nodes.iter().filter(|n| n.op == *op) {
                    self.enter(pat, node, todo.clone());
                }
            }
            PatNode::Alt(items) => {
                for item in items.clone() {
                    let mut todo = todo.clone();
                    todo.push((item, class));
                    self.step(todo);
                }
            }
        }
    }
}
