//! CUDA kernels generated from fusions.
//!
//! ```text
//! Fusion --lower--> KernelIr --plan--> Plan --emit--> CUDA source --NVRTC--> cubin
//! ```

pub mod abi;
pub mod check;
pub mod cuda;
pub mod divide;
pub mod emit;
pub mod error;
pub mod host;
pub mod instances;
pub mod ir;
pub mod kernel;
pub mod lower;
pub mod manifest;
pub mod near;
pub mod plan;

#[cfg(test)]
mod tests;
