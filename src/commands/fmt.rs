//! `fusec fmt`: one form for every `.fuse` file.

use crate::Status;
use crate::args::{FmtArgs, Global};
use crate::inputs;
use crate::report::count;
use crate::ui::Ui;
use anyhow::{Context, Result, bail};
use fusec_dsl::source::SourceMap;
use similar::TextDiff;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Formats files in place, or says what would change.
pub fn run(args: &FmtArgs, _: &Global, ui: &Ui) -> Result<Status> {
    let paths = match args.files.is_empty() {
        true => vec![PathBuf::from(".")],
        false => args.files.clone(),
    };
    if paths.iter().any(|p| p.as_os_str() == "-") {
        if paths.len() > 1 {
            bail!("`-` is standard input and stands alone");
        }
        return standard_input(args, ui);
    }
    let (mut changed, mut broken) = (0, 0);
    let files = inputs::fuse_files(&paths)?;
    for path in &files {
        let text = inputs::read_source(path)?;
        match formatted(&inputs::display(path), &text, ui)? {
            None => broken += 1,
            Some(new) if new == text => {}
            Some(new) => {
                changed += 1;
                settle(path, &text, &new, args, ui)?;
            }
        }
    }
    let dry = args.check || args.diff;
    let verb = if dry { "would change" } else { "changed" };
    let unread = if broken > 0 { format!(", {broken} not read") } else { String::new() };
    ui.say(format!("{verb} {changed} of {}{unread}", count(files.len(), "file")));
    let clean = broken == 0 && !(dry && changed > 0);
    Ok(if clean { Status::Clean } else { Status::Findings })
}

/// The text's one form; `None`, with its errors said, when it does not parse.
fn formatted(name: &str, text: &str, ui: &Ui) -> Result<Option<String>> {
    match fusec_dsl::format::format(text) {
        Ok(new) => Ok(Some(new)),
        Err(errors) => {
            let mut sources = SourceMap::default();
            sources.add(name, text);
            let color = ui.colors(&std::io::stderr());
            let text = crate::diagnostics::render(&sources, &errors, ui.format, color);
            ui.err().write_all(text.as_bytes())?;
            Ok(None)
        }
    }
}

fn settle(path: &Path, old: &str, new: &str, args: &FmtArgs, ui: &Ui) -> Result<()> {
    let name = inputs::display(path);
    if args.diff {
        let diff = TextDiff::from_lines(old, new);
        write!(ui.out(), "{}", diff.unified_diff().header(&name, &name))?;
    } else if args.check {
        writeln!(ui.out(), "{name}")?;
    } else {
        std::fs::write(path, new).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

fn standard_input(args: &FmtArgs, ui: &Ui) -> Result<Status> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    let Some(new) = formatted("<stdin>", &text, ui)? else { return Ok(Status::Findings) };
    let dry = args.check || args.diff;
    match (dry, new == text) {
        (false, _) => write!(ui.out(), "{new}")?,
        (true, true) => {}
        (true, false) => settle(Path::new("<stdin>"), &text, &new, args, ui)?,
    }
    Ok(if dry && new != text { Status::Findings } else { Status::Clean })
}
