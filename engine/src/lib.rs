//! Tensor graphs, e-graph rewriting, exact extraction, and the reference interpreter.
//!
//! No CUDA and no file access. Data flows in one line: FX JSON is imported to a graph, lifted to
//! typed ops, saturated in an e-graph, and the cheapest selection becomes a plan.

pub mod config;
pub mod diff;
pub mod egraph;
pub mod explain;
pub mod extract;
pub mod fx;
pub mod graph;
pub mod interp;
pub mod lift;
pub mod numerics;
pub mod optimize;
pub mod report;
pub mod rewrite;
pub mod settings;
pub mod summary;
pub mod target;
pub mod text;
pub mod verify;

/// Benches and tests share modules that name the crate from outside.
#[cfg(test)]
extern crate self as fusec_engine;
