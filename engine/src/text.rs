//! The readable SSA text form of a graph.
