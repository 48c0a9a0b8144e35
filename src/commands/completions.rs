//! `fusec completions`: a script for a shell.

use crate::Status;
use crate::args::{Cli, CompletionsArgs};
use crate::ui::Ui;
use anyhow::Result;
use clap::CommandFactory;
use std::io::Write;

/// Prints the script.
pub fn run(args: &CompletionsArgs, ui: &Ui) -> Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fusec", &mut script);
    ui.out().write_all(&script)?;
    Ok(Status::Clean)
}
