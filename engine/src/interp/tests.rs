//! Primitives against hand-computed values.
