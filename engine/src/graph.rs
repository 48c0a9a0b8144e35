//! The typed tensor graph.
