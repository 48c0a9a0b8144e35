//! The whole pipeline, from text and JSON to text.

mod book;
mod cli;
mod opt;
mod support;
mod tidy;
