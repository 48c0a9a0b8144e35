//! The e-graph side: typed terms, patterns compiled from `.fuse` bodies, saturation in two phases.
//!
//! Rewrites saturate first; fusions are then matched once over the saturated e-graph and added as
//! alternatives. A fusion never feeds another pattern, so the order of rules cannot matter.

pub mod build;
pub mod canon;
pub mod context;
pub mod cost;
pub mod matcher;
pub mod node;
pub mod pattern;
pub mod rules;
pub mod saturate;
pub mod segment;
pub mod selection;
pub mod solve;
pub mod term;
