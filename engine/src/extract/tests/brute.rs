//! A solver too simple to be wrong, and random problems for it.

use crate::extract::{Problem, ProblemBuilder};
use proptest::prelude::*;

/// The least cost of an acyclic selection.
pub fn least(problem: &Problem) -> Option<f64> {
    let mut best: Option<f64> = None;
    every(problem, &mut |_, cost| best = Some(best.map_or(cost, |b| b.min(cost))));
    best
}

/// Visits every acyclic selection of exactly the needed classes, with its cost.
pub fn every(problem: &Problem, visit: &mut impl FnMut(&[Option<u32>], f64)) {
    every_from(problem, &mut vec![None; problem.classes()], visit);
}

fn every_from(
    problem: &Problem,
    choice: &mut Vec<Option<u32>>,
    visit: &mut impl FnMut(&[Option<u32>], f64),
) {
    let Some(class) = undecided(problem, choice) else {
        if let Ok(cost) = problem.check(choice) {
            visit(choice, cost);
        }
        return;
    };
    for &node in problem.class(class) {
        choice[class as usize] = Some(node);
        every_from(problem, choice, visit);
    }
    choice[class as usize] = None;
}

/// Some class that the roots need under the choice so far and that has no node yet.
fn undecided(problem: &Problem, choice: &[Option<u32>]) -> Option<u32> {
    let mut seen = vec![false; problem.classes()];
    let mut stack = problem.roots().to_vec();
    while let Some(class) = stack.pop() {
        if std::mem::replace(&mut seen[class as usize], true) {
            continue;
        }
        match choice[class as usize] {
            None => return Some(class),
            Some(node) => stack.extend(problem.children(node)),
        }
    }
    None
}

/// Problems of up to `classes` classes: cyclic, with several roots, free and equal nodes.
pub fn problems(classes: u32) -> impl Strategy<Value = Problem> {
    let node = (0..classes, 0u32..5, prop::collection::vec(0..classes, 0..4));
    let nodes = prop::collection::vec(node, 1..3 * classes as usize);
    let leaves = prop::collection::vec((0..classes, 1u32..9), 1..4);
    let roots = prop::collection::vec(0..classes, 1..4);
    (nodes, leaves, roots).prop_map(move |(nodes, leaves, roots)| {
        let mut builder = ProblemBuilder::new(classes);
        for (class, cost, kids) in nodes {
            builder.node(class, f64::from(cost), &kids);
        }
        for (class, cost) in leaves {
            builder.node(class, f64::from(cost), &[]);
        }
        for root in roots {
            builder.root(root);
        }
        builder.build().expect("costs and references are in range")
    })
}

/// The same nodes with costs that are not short decimal numbers.
pub fn with_odd_costs(problem: &Problem) -> Problem {
    let mut builder = ProblemBuilder::new(problem.classes() as u32);
    for node in 0..problem.nodes() as u32 {
        let cost = problem.node_cost(node) * 0.123_456_789 + 1e-7 * f64::from(node);
        builder.node(problem.class_of[node as usize], cost, problem.children(node));
    }
    for &root in problem.roots() {
        builder.root(root);
    }
    builder.build().expect("costs and references are in range")
}
