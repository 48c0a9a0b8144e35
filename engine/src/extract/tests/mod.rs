//! Properties of the whole solver and of its steps against brute force; public problems; models.

mod brute;
#[path = "../../../benches/decoder/mod.rs"]
mod decoder;
mod gym;
mod models;
mod properties;
mod serialized;
