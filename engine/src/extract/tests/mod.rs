//! Properties of the whole solver and of its steps, against brute force.

mod brute;
mod properties;
