//! The problem while it is being reduced: nodes can be dropped and their children edited.

use super::problem::{Csr, NodeId, Problem};
use super::units::Scale;
use smallvec::SmallVec;

/// Child classes of a node: ascending, distinct.
pub(super) type Kids = SmallVec<[u32; 4]>;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A reducible problem in units. Classes keep their numbers; dropped nodes stay as corpses.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub cost: Vec<u64>,
    pub kids: Vec<Kids>,
    pub class_of: Vec<u32>,
    pub origin: Vec<NodeId>,
    pub alive: Vec<bool>,
    /// Live nodes of each class, earlier ones preferred.
    pub nodes: Vec<SmallVec<[u32; 4]>>,
    /// Classes that are active in every selection.
    pub root: Vec<bool>,
    /// The original node of a class that was decided and taken out.
    pub decided: Vec<u32>,
    /// Cost of what was decided.
    pub paid: u64,
}

impl Draft {
    /// The problem without nodes that alone cost more than `ceiling`.
    pub fn new(problem: &Problem, scale: Scale, ceiling: f64) -> Self {
        let mut draft = Self::empty(problem.classes());
        for class in 0..problem.classes() as u32 {
            for &node in problem.class(class) {
                let mut kids: Kids = problem.children(node).into();
                kids.sort_unstable();
                kids.dedup();
                let cost = problem.node_cost(node);
                if cost <= ceiling && kids.binary_search(&class).is_err() {
                    draft.push(class, scale.units(cost), kids, node);
                }
            }
        }
        for &root in problem.roots() {
            draft.root[root as usize] = true;
        }
        draft
    }

    /// Classes without nodes.
    pub fn empty(classes: usize) -> Self {
        Self {
            cost: Vec::new(),
            kids: Vec::new(),
            class_of: Vec::new(),
            origin: Vec::new(),
            alive: Vec::new(),
            nodes: vec![SmallVec::new(); classes],
            root: vec![false; classes],
            decided: vec![NONE; classes],
            paid: 0,
        }
    }

    /// Appends a node to a class.
    pub fn push(&mut self, class: u32, cost: u64, kids: Kids, origin: NodeId) {
        let node = self.cost.len() as u32;
        self.cost.push(cost);
        self.kids.push(kids);
        self.class_of.push(class);
        self.origin.push(origin);
        self.alive.push(true);
        self.nodes[class as usize].push(node);
    }

    /// Number of classes, live or not.
    pub fn classes(&self) -> usize {
        self.nodes.len()
    }

    /// Numbers of the live nodes.
    pub fn live(&self) -> impl Iterator<Item = u32> + Clone {
        (0..self.cost.len() as u32).filter(|&n| self.alive[n as usize])
    }

    /// Live classes and nodes.
    pub fn size(&self) -> (usize, usize) {
        let classes = self.nodes.iter().filter(|n| !n.is_empty()).count();
        (classes, self.live().count())
    }

    /// Takes a node out.
    pub fn drop_node(&mut self, node: u32) {
        self.alive[node as usize] = false;
        let class = self.class_of[node as usize] as usize;
        self.nodes[class].retain(|n| *n != node);
    }

    /// The live nodes that use each class.
    pub fn users(&self) -> Csr {
        let pairs = self.live().flat_map(|n| self.kids[n as usize].iter().map(move |&k| (k, n)));
        Csr::from_pairs(self.classes(), pairs)
    }

    /// Removes nodes that cannot be built or are not reachable from a root.
    pub fn sweep(&mut self) -> bool {
        let rank = self.build_ranks();
        let mut changed = self.drop_where(|draft, n| {
            draft.kids[n as usize].iter().any(|&k| rank[k as usize] == NONE)
        });
        let reached = self.reached();
        changed |= self.drop_where(|draft, n| !reached[draft.class_of[n as usize] as usize]);
        changed
    }

    /// Drops every live node for which the test holds.
    pub fn drop_where(&mut self, test: impl Fn(&Self, u32) -> bool) -> bool {
        let victims: Vec<u32> = self.live().filter(|&n| test(self, n)).collect();
        for &node in &victims {
            self.drop_node(node);
        }
        !victims.is_empty()
    }

    /// When each class is derived, if nodes fire one after the other; [`NONE`] for never.
    pub fn build_ranks(&self) -> Vec<u32> {
        let users = self.users();
        let mut missing: Vec<u32> = self.kids.iter().map(|k| k.len() as u32).collect();
        let mut rank = vec![NONE; self.classes()];
        let mut next = 0;
        let mut stack: Vec<u32> = self.live().filter(|&n| missing[n as usize] == 0).collect();
        while let Some(node) = stack.pop() {
            let class = self.class_of[node as usize];
            if rank[class as usize] != NONE {
                continue;
            }
            rank[class as usize] = next;
            next += 1;
            for &user in users.row(class) {
                missing[user as usize] -= 1;
                if missing[user as usize] == 0 {
                    stack.push(user);
                }
            }
        }
        rank
    }

    fn reached(&self) -> Vec<bool> {
        let mut reached = self.root.clone();
        let mut stack: Vec<u32> =
            (0..self.classes() as u32).filter(|&c| reached[c as usize]).collect();
        while let Some(class) = stack.pop() {
            for &node in &self.nodes[class as usize] {
                for &kid in &self.kids[node as usize] {
                    if !std::mem::replace(&mut reached[kid as usize], true) {
                        stack.push(kid);
                    }
                }
            }
        }
        reached
    }
}
