//! The `fusec` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    fusec::main(std::env::args_os())
}
