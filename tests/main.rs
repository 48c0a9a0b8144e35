//! The whole pipeline, from text and JSON to text.

mod support;
mod tidy;
