//! Reading what commands work on: `.fuse` files, folders of them, and graphs.

use anyhow::{Context, Result, bail};
use fusec_dsl::diagnostic::Diagnostic;
use fusec_dsl::parse::decode;
use fusec_dsl::source::{FileId, SourceMap};
use fusec_engine::fx::{self, ReadOptions};
use fusec_engine::graph::Graph;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest `.fuse` file that is read.
const MAX_SOURCE: u64 = 64 << 20;

/// A path as it is shown: the user's, with `/`.
pub fn display(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// A file or folder that was asked for, as files with the name each has below it.
fn files_below(path: &Path) -> Result<Vec<(PathBuf, String)>> {
    if !path.is_dir() {
        return Ok(vec![(path.to_path_buf(), display(path))]);
    }
    let mut found = Vec::new();
    collect(path, &mut found)?;
    found.sort();
    let relative = |p: &PathBuf| display(p.strip_prefix(path).unwrap_or(p));
    Ok(found.into_iter().map(|p| (p.clone(), relative(&p))).collect())
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        let link = path.is_symlink();
        if path.is_dir() && !hidden && !link && !path.ends_with("target") {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "fuse") {
            found.push(path);
        }
    }
    Ok(())
}

/// Every `.fuse` file that a list of files and folders means, in order, each once.
pub fn fuse_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        let below = files_below(path)?;
        if below.is_empty() {
            bail!("no .fuse file below {}", path.display());
        }
        all.extend(
            below.into_iter().map(|(p, _)| p).filter(|p| !all.contains(p)).collect::<Vec<_>>(),
        );
    }
    Ok(all)
}

/// Text of a `.fuse` file.
pub fn read_source(path: &Path) -> Result<String> {
    let bytes = read_limited(open(path)?, MAX_SOURCE, path)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(e) => bail!(
            "{} is not UTF-8: the first bad byte is at offset {}",
            path.display(),
            e.utf8_error().valid_up_to()
        ),
    }
}

/// The standard library and the given files and folders, and what cannot be read as text. A given
/// file with the path of one of the library's own takes its place.
pub fn sources(paths: &[PathBuf]) -> Result<(SourceMap, Vec<Diagnostic>)> {
    let mut library: BTreeMap<&str, &str> = fusec_passes::FILES.iter().copied().collect();
    let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for path in paths {
        for (file, name) in files_below(path)? {
            library.retain(|embedded, _| !replaces(&name, embedded));
            let from = open(&file)?;
            all.insert(display(&file), read_limited(from, MAX_SOURCE, &file)?);
        }
    }
    all.extend(library.into_iter().map(|(path, text)| (path.into(), text.into())));
    let (mut map, mut faults) = (SourceMap::default(), Vec::new());
    for (path, bytes) in all {
        let next = FileId(map.iter().count() as u32);
        let text = decode(bytes, next).unwrap_or_else(|fault| {
            faults.push(fault);
            String::new()
        });
        map.add(path, text);
    }
    Ok((map, faults))
}

fn open(path: &Path) -> Result<std::fs::File> {
    std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Whether a file called `name` stands in for `passes/ops/norm.fuse`: it ends in `ops/norm.fuse`.
fn replaces(name: &str, embedded: &str) -> bool {
    let own = embedded.strip_prefix("passes/").unwrap_or(embedded);
    match name.strip_suffix(own) {
        Some(rest) => rest.is_empty() || rest == "./" || rest.ends_with("passes/"),
        None => false,
    }
}

/// A graph from plain or gzipped JSON; `-` is standard input.
pub fn read_graph(path: &Path) -> Result<Graph> {
    let options = ReadOptions::default();
    let document = if path.as_os_str() == "-" {
        fx::read_from(std::io::stdin().lock(), None, &options)
    } else {
        let file = open(path)?;
        let size = file.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
        fx::read_from(file, size, &options)
    };
    let graph = document.and_then(|document| Graph::from_fx(&document));
    graph.map_err(|fault| anyhow::anyhow!("{}: {fault}", path.display()))
}

fn read_limited(from: impl Read, limit: u64, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() as u64 > limit {
        bail!("{} is larger than {} MiB", path.display(), limit >> 20);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_in_for_the_librarys_own_only_under_its_path() {
        assert!(replaces("ops/norm.fuse", "passes/ops/norm.fuse"));
        assert!(replaces("../x/passes/ops/norm.fuse", "passes/ops/norm.fuse"));
        assert!(!replaces("norm.fuse", "passes/ops/norm.fuse"));
        assert!(!replaces("my_ops/norm.fuse", "passes/ops/norm.fuse"));
    }
}
