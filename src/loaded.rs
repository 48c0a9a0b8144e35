//! The rules of one run: sources, the library that they declare, and what is wrong with them.

use crate::args::Format;
use crate::inputs;
use crate::ui::Ui;
use anyhow::Result;
use fusec_dsl::ast::File;
use fusec_dsl::diagnostic::{self, Diagnostic, Severity};
use fusec_dsl::library::Library;
use fusec_dsl::parse::parse;
use fusec_dsl::resolve::resolve;
use fusec_dsl::source::{FileId, SourceMap};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// The standard library and the user's files, resolved.
pub struct Loaded {
    /// Their texts.
    pub sources: SourceMap,
    /// Their trees.
    pub files: Vec<(FileId, File)>,
    /// What they declare.
    pub library: Arc<Library>,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Reads and resolves the standard library and the given files and folders.
    pub fn read(paths: &[PathBuf]) -> Result<Loaded> {
        let (sources, mut diagnostics) = inputs::sources(paths)?;
        let mut files = Vec::new();
        for (id, source) in sources.iter() {
            let (file, faults) = parse(source, id);
            diagnostics.extend(faults);
            files.push((id, file));
        }
        let library = resolve(&files, &sources, &mut diagnostics);
        diagnostic::sort(&mut diagnostics);
        Ok(Loaded { sources, files, library: Arc::new(library), diagnostics })
    }

    /// Path of a file.
    pub fn path(&self, file: FileId) -> &str {
        &self.sources.get(file).path
    }

    /// Whether a file is among those that the user named, or below one.
    pub fn is_given(&self, file: FileId, given: &[PathBuf]) -> bool {
        let path = std::path::Path::new(self.path(file));
        given.iter().any(|g| path.starts_with(g))
    }

    /// Whether a file is the standard library's own.
    pub fn is_shipped(&self, file: FileId) -> bool {
        fusec_passes::FILES.iter().any(|(path, _)| *path == self.path(file))
    }

    /// Every diagnostic in the form asked for.
    pub fn render(&self, format: Format, color: bool) -> String {
        crate::diagnostics::render(&self.sources, &self.diagnostics, format, color)
    }

    /// Shows errors as talk, for commands whose data is something else. True if there were any.
    pub fn say_errors(&self, ui: &Ui) -> Result<bool> {
        let errors: Vec<Diagnostic> =
            self.diagnostics.iter().filter(|d| d.severity() == Severity::Error).cloned().collect();
        let color = ui.colors(&std::io::stderr());
        let text = crate::diagnostics::render(&self.sources, &errors, ui.format, color);
        if !errors.is_empty() {
            ui.err().write_all(text.as_bytes())?;
        }
        Ok(!errors.is_empty())
    }
}
