//! The command line's reference page, written from its own help.

use crate::args::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write;

/// The Markdown of `book/src/cli.md`.
pub fn markdown() -> String {
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut page = String::from(
        "# The command line\n\n<!-- Written by a test from the help texts: UPDATE_BOOK=1 cargo test -->\n",
    );
    section(&mut page, &command, "fusec", 1);
    page
}

fn section(page: &mut String, command: &Command, name: &str, depth: usize) {
    if depth > 1 {
        let _ = write!(page, "\n{} `{name}`\n", "#".repeat(depth));
    }
    let help = command.clone().render_long_help().to_string();
    // Options that every command has are shown once, at the top.
    let own = |l: &&str| depth == 1 || *l != "Global options:";
    let lines: Vec<&str> = help.lines().take_while(own).map(str::trim_end).collect();
    let _ = write!(page, "\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for sub in command.get_subcommands() {
        section(page, sub, &format!("{name} {}", sub.get_name()), depth + 1);
    }
}
