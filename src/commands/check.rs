//! `fusec check`: what is wrong with `.fuse` files.

use crate::Status;
use crate::args::{CheckArgs, Global};
use crate::config::Config;
use crate::loaded::Loaded;
use crate::report::count;
use crate::ui::Ui;
use anyhow::Result;
use fusec_dsl::diagnostic::Severity;
use std::io::Write;

/// Checks and prints every diagnostic.
pub fn run(args: &CheckArgs, global: &Global, ui: &Ui) -> Result<Status> {
    let config = Config::load(global)?;
    let paths = [args.files.clone(), config.pass_paths()].concat();
    let working = ui.working("checking");
    let loaded = Loaded::read(&paths)?;
    drop(working);
    let out = ui.out();
    let text = loaded.render(ui.format, ui.colors(&std::io::stdout()));
    { out }.write_all(text.as_bytes())?;
    let of = |s| loaded.diagnostics.iter().filter(|d| d.severity() == s).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let all: Vec<_> = loaded.sources.iter().collect();
    let own = all.iter().filter(|(_, s)| !fusec_passes::FILES.iter().any(|(p, _)| *p == s.path));
    let files = match own.count() {
        0 => count(all.len(), "file"),
        n => count(n, "file"),
    };
    let (errors_said, warnings_said) = (count(errors, "error"), count(warnings, "warning"));
    ui.say(format!("checked {files}: {errors_said}, {warnings_said}"));
    Ok(if errors == 0 { Status::Clean } else { Status::Findings })
}
