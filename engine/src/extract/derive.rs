//! Which classes can be built at all, and a first selection that builds them.

use super::problem::{ExtractError, NodeId, Problem};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A class that can now be built by a node, ordered by the cost of its tree, then by age.
#[derive(PartialEq)]
struct Ready {
    cost: f64,
    node: NodeId,
}

impl Eq for Ready {}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cost.total_cmp(&other.cost).then(self.node.cmp(&other.node))
    }
}

/// The tree-cheapest node of every class that can be built.
pub(super) struct Derivation {
    /// Chosen node of each buildable class; following it never meets a cycle.
    pub choice: Vec<Option<NodeId>>,
    /// Costliest root when each node pays only for its costliest child: a true lower bound.
    pub longest_path: f64,
}

/// Knuth's generalisation of Dijkstra's algorithm over the nodes.
pub(super) fn cheapest_trees(problem: &Problem) -> Result<Derivation, ExtractError> {
    let choice =
        knuth(problem, |kids, own| kids.iter().fold(own, |sum, k| (sum + k).min(f64::MAX))).0;
    if let Some(&root) = problem.roots.iter().find(|&&r| choice[r as usize].is_none()) {
        return Err(ExtractError::Underivable { root });
    }
    let longest = knuth(problem, |kids, own| own + kids.iter().copied().fold(0.0, f64::max)).1;
    let longest_path = problem.roots.iter().map(|&r| longest[r as usize]).fold(0.0, f64::max);
    Ok(Derivation { choice, longest_path })
}

/// Settles classes by ascending value; `combine` must never go below the value of a child.
fn knuth(
    problem: &Problem,
    combine: impl Fn(&[f64], f64) -> f64,
) -> (Vec<Option<NodeId>>, Vec<f64>) {
    let (users, mut missing) = users(problem);
    let mut choice = vec![None; problem.classes()];
    let mut value = vec![f64::INFINITY; problem.classes()];
    let mut heap = BinaryHeap::new();
    for (n, &m) in missing.iter().enumerate() {
        if m == 0 {
            let cost = combine(&[], problem.cost[n]);
            heap.push(Reverse(Ready { cost, node: n as u32 }));
        }
    }
    let mut kid_values = Vec::new();
    while let Some(Reverse(Ready { cost, node })) = heap.pop() {
        let class = problem.class_of[node as usize] as usize;
        if choice[class].is_some() {
            continue;
        }
        choice[class] = Some(node);
        value[class] = cost;
        for &user in users.row(class as u32) {
            missing[user as usize] -= 1;
            if missing[user as usize] == 0 {
                kid_values.clear();
                kid_values.extend(problem.children(user).iter().map(|&k| value[k as usize]));
                let cost = combine(&kid_values, problem.cost[user as usize]);
                heap.push(Reverse(Ready { cost, node: user }));
            }
        }
    }
    (choice, value)
}

/// For each class the nodes that use it (once per use), and for each node its number of uses.
fn users(problem: &Problem) -> (super::problem::Csr, Vec<u32>) {
    let nodes = 0..problem.nodes() as u32;
    let pairs = nodes.clone().flat_map(|n| problem.children(n).iter().map(move |&k| (k, n)));
    let users = super::problem::Csr::from_pairs(problem.classes(), pairs);
    let missing = nodes.map(|n| problem.children(n).len() as u32).collect();
    (users, missing)
}

/// Keeps only what the roots need.
pub(super) fn restrict(problem: &Problem, choice: &[Option<NodeId>]) -> Vec<Option<NodeId>> {
    let mut kept = vec![None; problem.classes()];
    let mut stack = problem.roots.clone();
    while let Some(class) = stack.pop() {
        if kept[class as usize].is_some() {
            continue;
        }
        let node = choice[class as usize];
        kept[class as usize] = node;
        stack.extend(node.iter().flat_map(|&n| problem.children(n)));
    }
    kept
}
