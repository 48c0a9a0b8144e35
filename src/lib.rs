//! The command line of fusec: all input and output is here, no logic.
//!
//! A command reads files, calls one function of a library crate, and prints what it returns.

mod args;
mod commands;
mod config;
mod diagnostics;
mod inputs;
mod loaded;
pub mod reference;
mod report;
mod spec;
mod ui;

use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use ui::Ui;

/// What a command that did its job found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nothing to fix.
    Clean,
    /// Something to fix.
    Findings,
}

/// Runs the command line and maps the outcome to an exit status: 0, 1 or 2.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let ui = Ui::new(cli.global.format, cli.global.color);
    match run(&cli, &ui) {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Findings) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.fail(&error);
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli, ui: &Ui) -> anyhow::Result<Status> {
    match &cli.command {
        Command::Check(args) => commands::check::run(args, &cli.global, ui),
        Command::Fmt(args) => commands::fmt::run(args, &cli.global, ui),
        Command::Opt(args) => commands::opt::run(args, &cli.global, ui),
        Command::Explain(args) => commands::explain::run(args, &cli.global, ui),
        Command::Test(args) => commands::test::run(args, &cli.global, ui),
        Command::Build(args) => commands::build::run(args, &cli.global, ui),
        Command::Extract(args) => commands::extract::run(args, ui),
        Command::Completions(args) => commands::completions::run(args, ui),
    }
}

/// Whether the reader of our output went away: `fusec opt .. | head` is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|e| e.downcast_ref::<io::Error>());
    causes.any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
