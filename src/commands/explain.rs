//! `fusec explain`: what a name means, and why a fusion did not fire.

use crate::Status;
use crate::args::{ExplainArgs, Global};
use crate::config::Config;
use crate::loaded::Loaded;
use crate::ui::Ui;
use anyhow::{Result, bail};
use clap::builder::styling::Style;
use fusec_dsl::diagnostic::closest;
use fusec_dsl::library::{Fusion, Library};
use fusec_dsl::source::Span;
use std::fmt::Write as _;
use std::io::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The book's page of errors.
const ERRORS: &str = include_str!("../../book/src/errors.md");

/// One declared item.
struct Item<'a> {
    kind: &'static str,
    name: String,
    doc: &'a str,
    span: Span,
    pass: Option<&'a str>,
}

/// Explains a name, alone or on a graph.
pub fn run(args: &ExplainArgs, global: &Global, ui: &Ui) -> Result<Status> {
    if let Some(section) = error_page(&args.name) {
        writeln!(ui.out(), "{}", section.trim_end())?;
        return Ok(Status::Clean);
    }
    let config = Config::load(global)?;
    let loaded = Loaded::read(&[args.passes.passes.clone(), config.pass_paths()].concat())?;
    if loaded.say_errors(ui)? {
        return Ok(Status::Findings);
    }
    let items = named(&loaded.library, &args.name);
    if items.is_empty() {
        bail!(unknown(&loaded.library, &args.name));
    }
    let mut text = String::new();
    for item in &items {
        describe(&mut text, &loaded, item);
    }
    ui.out().write_all(text.as_bytes())?;
    Ok(Status::Clean)
}

/// The section of the errors page about one code.
fn error_page(name: &str) -> Option<&'static str> {
    let start = ERRORS.find(&format!("\n## {name}\n"))? + 1;
    let rest = &ERRORS[start..];
    let end = rest[3..].find("\n## ").map_or(rest.len(), |i| i + 4);
    Some(&rest[..end])
}

fn named<'a>(lib: &'a Library, name: &str) -> Vec<Item<'a>> {
    let mut found = Vec::new();
    for p in lib.passes.iter().filter(|p| p.name == name) {
        found.push(Item {
            kind: "pass",
            name: p.name.clone(),
            doc: &p.doc,
            span: p.span,
            pass: None,
        });
    }
    for o in lib.ops.iter().filter(|o| o.name == name) {
        found.push(Item {
            kind: "op",
            name: o.name.clone(),
            doc: &o.doc,
            span: o.span,
            pass: None,
        });
    }
    for r in lib.rewrites.iter().filter(|r| base(&r.name) == base(name)) {
        let pass = r.pass.as_deref();
        let name = base(&r.name).to_string();
        found.push(Item { kind: "rewrite", name, doc: &r.doc, span: r.span, pass });
    }
    for f in lib.fusions.iter().filter(|f| is_called(f, name)) {
        let pass = f.pass.as_deref();
        found.push(Item { kind: "fusion", name: f.name.clone(), doc: &f.doc, span: f.span, pass });
    }
    found.dedup_by(|a, b| a.kind == b.kind && a.span == b.span);
    found
}

/// A name without its family members.
fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

fn is_called(f: &Fusion, name: &str) -> bool {
    f.name == name || f.label() == name || f.instance() == name
}

fn describe(text: &mut String, loaded: &Loaded, item: &Item<'_>) {
    let source = loaded.sources.get(item.span.file);
    let before = source.text.get(..item.span.start as usize).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let place = format!("{}:{line}", source.path);
    let _ = writeln!(text, "{BOLD}{} {}{BOLD:#}  {DIM}{place}{DIM:#}", item.kind, item.name);
    if let Some(pass) = item.pass {
        let _ = writeln!(text, "in pass {pass}");
    }
    if !item.doc.is_empty() {
        let _ = writeln!(text, "\n{}", item.doc.trim_end());
    }
    let _ = writeln!(text, "\n{}", indented(&source.text, item.span));
    let instances = instances(&loaded.library, item);
    if instances.len() > 1 {
        let _ = writeln!(text, "\nstands for\n  {}", instances.join("\n  "));
    }
}

/// The item's own text.
fn indented(text: &str, span: Span) -> String {
    let source = text.get(span.start as usize..span.end as usize).unwrap_or("");
    source.trim_end().lines().map(|l| format!("    {l}")).collect::<Vec<_>>().join("\n")
}

fn instances(lib: &Library, item: &Item<'_>) -> Vec<String> {
    let mut all: Vec<String> = match item.kind {
        "fusion" => lib.fusions.iter().filter(|f| f.span == item.span).map(Fusion::label).collect(),
        _ => Vec::new(),
    };
    all.dedup();
    all
}

fn unknown(lib: &Library, name: &str) -> String {
    let ops = lib.ops.iter().map(|o| o.name.as_str());
    let rewrites = lib.rewrites.iter().map(|r| r.name.as_str());
    let fusions = lib.fusions.iter().map(|f| f.name.as_str());
    let passes = lib.passes.iter().map(|p| p.name.as_str());
    let codes = fusec_dsl::diagnostic::Code::ALL.iter().map(|c| c.as_str());
    let all = ops.chain(rewrites).chain(fusions).chain(passes).chain(codes);
    let mut message = format!("no op, fusion, rewrite, pass or error is called `{name}`");
    if let Some(near) = closest(name, all) {
        let _ = write!(message, "\nhelp: did you mean `{near}`?");
    }
    message
}
