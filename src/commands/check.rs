//! `fusec check`: what is wrong with `.fuse` files.

use crate::Status;
use crate::args::{CheckArgs, Global};
use crate::config::Config;
use crate::loaded::Loaded;
use crate::report::count;
use crate::ui::Ui;
use anyhow::Result;
use fusec_dsl::diagnostic::{Code, Diagnostic, Severity, sort};
use fusec_dsl::source::{FileId, Span};
use fusec_engine::verify::{Proof, Verdict, verify_fusion, verify_rewrite};
use std::io::Write;

/// Checks and prints every diagnostic.
pub fn run(args: &CheckArgs, global: &Global, ui: &Ui) -> Result<Status> {
    let config = Config::load(global)?;
    let paths = [args.files.clone(), config.pass_paths()].concat();
    let working = ui.working("checking");
    let mut loaded = Loaded::read(&paths)?;
    drop(working);
    let of = |l: &Loaded, s| l.diagnostics.iter().filter(|d| d.severity() == s).count();
    let all: Vec<FileId> = loaded.sources.iter().map(|(id, _)| id).collect();
    let own: Vec<FileId> = all.iter().copied().filter(|id| !loaded.is_shipped(*id)).collect();
    let files = if own.is_empty() { all } else { own };
    if args.verify && of(&loaded, Severity::Error) == 0 {
        let found = verify(&loaded, &files, args.seed, ui);
        loaded.diagnostics.extend(found);
        sort(&mut loaded.diagnostics);
    }
    let text = loaded.render(ui.format, ui.colors(&std::io::stdout()));
    ui.out().write_all(text.as_bytes())?;
    let (errors, warnings) = (of(&loaded, Severity::Error), of(&loaded, Severity::Warning));
    let (said_errors, said_warnings) = (count(errors, "error"), count(warnings, "warning"));
    ui.say(format!("checked {}: {said_errors}, {said_warnings}", count(files.len(), "file")));
    Ok(if errors == 0 { Status::Clean } else { Status::Findings })
}

/// Evaluates the rules of some files: says what is proved, returns what is wrong.
fn verify(loaded: &Loaded, files: &[FileId], seed: u64, ui: &Ui) -> Vec<Diagnostic> {
    let _working = ui.working("evaluating rules");
    let lib = &loaded.library;
    let (mut found, mut generated) = (Vec::new(), 0);
    let mut take = |name: String, span: Span, verdict: Verdict| match (
        diagnostic(&name, span, &verdict),
        &verdict,
    ) {
        (Some(wrong), _) => found.push(wrong),
        (None, Verdict::Exact(Proof::Construction)) => generated += 1,
        (None, _) => ui.say(format!("{name}: {verdict}")),
    };
    for r in lib.rewrites.iter().filter(|r| files.contains(&r.span.file)) {
        take(r.name.clone(), r.span, verify_rewrite(lib, r, seed));
    }
    for f in lib.fusions.iter().filter(|f| files.contains(&f.span.file)) {
        take(f.instance(), f.span, verify_fusion(lib, f, seed));
    }
    if generated > 0 {
        ui.say(format!("{}: exact by construction", count(generated, "generated kernel")));
    }
    found
}

/// What a verdict has to complain about, if anything.
fn diagnostic(name: &str, span: Span, verdict: &Verdict) -> Option<Diagnostic> {
    match verdict {
        Verdict::Wrong(c) => {
            let message = format!("the two sides of `{name}` differ: {}", c.difference);
            let real = match c.equal_in_reals {
                Some(true) => "equal as real numbers: rounding or special values differ",
                Some(false) => "not equal as real numbers either",
                None => "whether they are equal as real numbers cannot be evaluated",
            };
            let graph =
                format!("smallest graph found on which they differ:\n{}", c.graph.trim_end());
            Some(Diagnostic::new(Code::NotEquivalent, span, message).note(real).note(graph))
        }
        Verdict::Unproven(why) => {
            let message = format!("nothing can be said about `{name}`: {why}");
            Some(Diagnostic::new(Code::Unproven, span, message))
        }
        Verdict::Exact(_) | Verdict::Approx { .. } => None,
    }
}
