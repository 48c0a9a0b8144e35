//! Source excerpts with the places marked, laid out by annotate-snippets.

use super::clamp;
use crate::diagnostic::{Diagnostic, Help, Label, Severity};
use crate::source::{FileId, SourceMap};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use std::fmt::Write;

/// More errors than this are counted, not shown: nobody reads on.
const MAX_SHOWN: usize = 20;

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for d in diagnostics.iter().take(MAX_SHOWN) {
        out.push_str(&renderer.render(&report(d, sources)));
        out.push_str("\n\n");
    }
    // Writing to a `String` cannot fail.
    let _ = match diagnostics.len().saturating_sub(MAX_SHOWN) {
        0 => Ok(()),
        1 => writeln!(out, "... and 1 more"),
        more => writeln!(out, "... and {more} more"),
    };
    out
}

fn report<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Group<'a>> {
    let level = match d.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(d.message.as_str()).id(d.code.as_str());
    let mut group = Group::with_title(title).elements(snippets(d, sources));
    for note in &d.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    let mut groups = Vec::new();
    for help in &d.help {
        match &help.edit {
            None => group = group.element(Level::HELP.message(help.text.as_str())),
            Some(_) => groups.push(suggestion(help, sources)),
        }
    }
    groups.insert(0, group);
    groups
}

/// One excerpt a file, the primary label's first.
fn snippets<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Snippet<'a, Annotation<'a>>> {
    let mut files: Vec<FileId> = Vec::new();
    for label in &d.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
        .into_iter()
        .map(|file| {
            let source = sources.get(file);
            let here = d.labels.iter().filter(|l| l.span.file == file);
            Snippet::source(&*source.text)
                .path(source.path.as_str())
                .annotations(here.map(|l| annotation(l, &source.text)))
        })
        .collect()
}

fn annotation<'a>(label: &'a Label, text: &str) -> Annotation<'a> {
    let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(clamp(label.span, text));
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

fn suggestion<'a>(help: &'a Help, sources: &'a SourceMap) -> Group<'a> {
    let group = Group::with_title(Level::HELP.secondary_title(help.text.as_str()));
    match &help.edit {
        None => group,
        Some(edit) => {
            let source = sources.get(edit.span.file);
            let patch = Patch::new(clamp(edit.span, &source.text), edit.text.as_str());
            group.element(Snippet::source(&*source.text).path(source.path.as_str()).patch(patch))
        }
    }
}
