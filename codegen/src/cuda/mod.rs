//! CUDA, loaded at run time: the compiler (NVRTC), its cache, and the driver.

pub mod cache;
pub mod find;
pub mod launch;
pub mod nvrtc;
