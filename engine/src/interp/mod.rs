//! The reference interpreter: what a body means, on the CPU.
