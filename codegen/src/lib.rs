//! CUDA kernels generated from fusions.
//!
//! ```text
//! Fusion --lower--> KernelIr --plan--> Plan --emit--> CUDA source --NVRTC--> cubin
//! ```

pub mod abi;
pub mod emit;
pub mod error;
pub mod ir;
pub mod lower;
pub mod plan;
pub mod cuda;
pub mod host;

#[cfg(test)]
mod scratch;
