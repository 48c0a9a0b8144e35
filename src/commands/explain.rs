//! `fusec explain`: what a name means, and why a fusion did not fire.

use crate::Status;
use crate::args::{ExplainArgs, Global};
use crate::config::Config;
use crate::loaded::Loaded;
use crate::ui::Ui;
use anyhow::{Result, bail};
use clap::builder::styling::Style;
use fusec_dsl::ast::{self, Doc, File, Name};
use fusec_dsl::diagnostic::{Code, closest};
use fusec_dsl::library::{Fusion, Library};
use fusec_dsl::render::Region;
use fusec_dsl::source::{FileId, Span};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The book's page of errors.
const ERRORS: &str = include_str!("../../book/src/errors.md");

/// One declared item.
struct Item<'a> {
    kind: &'static str,
    name: &'a Name,
    doc: Option<&'a Doc>,
    span: Span,
}

/// Explains a name, alone or on a graph.
pub fn run(args: &ExplainArgs, global: &Global, ui: &Ui) -> Result<Status> {
    if let Some(section) = error_page(&args.name) {
        writeln!(ui.out(), "{}", for_terminal(section).trim_end())?;
        return Ok(Status::Clean);
    }
    let config = Config::load(global)?;
    let loaded = Loaded::read(&[args.passes.passes.clone(), config.pass_paths()].concat())?;
    if loaded.say_errors(ui)? {
        return Ok(Status::Findings);
    }
    let items = named(&loaded.files, &args.name);
    if items.is_empty() {
        bail!(unknown(&loaded.files, &args.name));
    }
    let mut text = String::new();
    for item in &items {
        describe(&mut text, &loaded, item);
    }
    if let Some(path) = &args.graph {
        let given = config.with(&args.given)?;
        let _working = ui.working("matching");
        super::misses::describe(&mut text, path, &args.name, &loaded, &given)?;
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

/// Markdown with its code indented instead of fenced, and its heading in bold.
fn for_terminal(section: &str) -> String {
    let (mut text, mut code) = (String::new(), false);
    for line in section.lines() {
        match line.strip_prefix("## ") {
            _ if line.starts_with("```") => code = !code,
            Some(title) => text.push_str(&format!("{BOLD}{title}{BOLD:#}\n")),
            None if code && !line.is_empty() => text.push_str(&format!("    {line}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

/// Every item with this name, family members aside.
fn named<'a>(files: &'a [(FileId, File)], name: &str) -> Vec<Item<'a>> {
    let base = name.split('[').next().unwrap_or(name);
    all(files).filter(|item| item.name.text == base).collect()
}

fn all(files: &[(FileId, File)]) -> impl Iterator<Item = Item<'_>> {
    files.iter().flat_map(|(_, file)| &file.items).filter_map(item)
}

fn item(item: &ast::Item) -> Option<Item<'_>> {
    let (kind, name, doc, span) = match item {
        ast::Item::Op(i) => ("op", &i.name, &i.doc, i.span),
        ast::Item::Family(i) => ("family", &i.name, &i.doc, i.span),
        ast::Item::Enum(i) => ("enum", &i.name, &i.doc, i.span),
        ast::Item::Rewrite(i) => ("rewrite", &i.name, &i.doc, i.span),
        ast::Item::Fusion(i) => ("fusion", &i.name, &i.doc, i.span),
        ast::Item::Pass(i) => ("pass", &i.name, &i.doc, i.span),
        ast::Item::Bind(_) | ast::Item::Test(_) | ast::Item::Broken(_) => return None,
    };
    Some(Item { kind, name, doc: doc.as_ref(), span })
}

fn describe(text: &mut String, loaded: &Loaded, item: &Item<'_>) {
    let source = loaded.sources.get(item.span.file);
    let line = Region::of(item.name.span, &loaded.sources).line;
    let place = format!("{}:{line}", source.path);
    let _ = writeln!(text, "{BOLD}{} {}{BOLD:#}  {DIM}{place}{DIM:#}", item.kind, item.name.text);
    if let Some(doc) = item.doc {
        let _ = writeln!(text, "\n{}", doc.text.trim_end());
    }
    let _ = writeln!(text, "\n{}", indented(&source.text, item.span));
    let (title, list) = related(&loaded.library, item);
    if !list.is_empty() {
        let _ = writeln!(text, "\n{title}\n  {}", list.join("\n  "));
    }
}

/// The item's own text.
fn indented(text: &str, span: Span) -> String {
    let source = text.get(span.start as usize..span.end as usize).unwrap_or("");
    let line = |l: &str| if l.is_empty() { String::new() } else { format!("    {l}") };
    source.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// What else to know: instances of a fusion, spellings of an op, rules of a pass.
fn related(lib: &Library, item: &Item<'_>) -> (&'static str, Vec<String>) {
    let name = item.name.text.as_str();
    let mut list: Vec<String> = match item.kind {
        "fusion" => {
            let own = lib.fusions.iter().filter(|f| f.name == name);
            own.map(Fusion::label).filter(|l| l != name).collect()
        }
        "op" => {
            let own = lib.binds.iter().filter(|b| lib.op(b.op).name == name);
            own.map(|b| b.target.clone()).collect()
        }
        "pass" => {
            let pass = Some(name);
            let fusions = lib.fusions.iter().filter(|f| f.pass.as_deref() == pass);
            let rewrites = lib.rewrites.iter().filter(|r| r.pass.as_deref() == pass);
            fusions.map(Fusion::label).chain(rewrites.map(|r| r.name.clone())).collect()
        }
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    list.retain(|entry| seen.insert(entry.clone()));
    let title = match item.kind {
        "fusion" => "stands for",
        "op" => "PyTorch spells it",
        _ => "holds",
    };
    (title, list)
}

fn unknown(files: &[(FileId, File)], name: &str) -> String {
    let codes = Code::ALL.iter().map(|c| c.as_str());
    let names: Vec<&str> = all(files).map(|i| i.name.text.as_str()).chain(codes).collect();
    let mut message = format!("no op, family, fusion, rewrite, pass or error is called `{name}`");
    if let Some(near) = closest(name, names) {
        let _ = write!(message, "\nhelp: did you mean `{near}`?");
    }
    message
}
