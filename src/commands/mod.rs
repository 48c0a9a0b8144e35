//! The commands, one file each.

pub mod build;
pub mod check;
pub mod completions;
pub mod explain;
pub mod extract;
pub mod fmt;
mod misses;
pub mod opt;
pub mod test;
