//! The whole pipeline, from text and JSON to text.

mod book;
mod build;
mod cli;
mod invariance;
mod opt;
mod oracle;
mod passes;
mod pipeline;
mod support;
mod tidy;
