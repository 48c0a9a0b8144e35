//! Exact extraction: the cheapest acyclic selection of e-nodes, with a proof.
//!
//! The cost of a selection is the sum over its *distinct* nodes, so shared values and kernels
//! with several results are paid once. Finding the least is NP-hard; graphs of models are narrow,
//! so after a few reductions ([`Problem`] shrinks several times) bucket elimination solves them
//! exactly in time linear in the number of layers. What is too wide for tables goes to local
//! search and branch and bound, and the answer says how far from the least it can be at most.
//!
//! ```text
//! Problem --derive--> first selection, ceiling --draft--> whole-number costs
//!         --presolve--> smaller draft --component--> independent parts
//!         --eliminate | search--> a selection a part, with a bound --> Solution
//! ```

mod ascent;
mod clock;
mod component;
mod derive;
mod draft;
mod eliminate;
mod greedy;
mod local;
mod must;
mod neighbourhood;
mod order;
mod presolve;
mod problem;
mod search;
pub mod serialized;
mod solve;
mod tables;
#[cfg(test)]
mod tests;
mod units;

pub use problem::{
    ClassId, ExtractError, Limits, NodeId, Problem, ProblemBuilder, Solution, Stats,
};
pub use solve::solve;
