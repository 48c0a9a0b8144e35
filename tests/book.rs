//! The book is executed: its `fuse` blocks are checked, its `console` blocks run.
//!
//! - ```` ```fuse ```` blocks of one page are loaded together with the standard library and must
//!   have nothing to fix; `file=NAME` names the file for the page's commands.
//! - ```` ```fuse,error=CODE ```` blocks are loaded alone and must give exactly that error; with
//!   `verify`, their rules are evaluated too.
//! - ```` ```console ```` blocks hold `$ command` lines with their output.
//!
//! `UPDATE_BOOK=1` rewrites the outputs and the generated page.

use crate::support::{Run, root, scrubbed, shell};
use std::fs;
use std::path::{Path, PathBuf};

struct Block {
    info: String,
    text: String,
    /// Byte range of the text in the page.
    range: std::ops::Range<usize>,
}

impl Block {
    fn is(&self, language: &str) -> bool {
        self.info.split(',').next() == Some(language)
    }

    fn option(&self, key: &str) -> Option<&str> {
        self.info.split(',').find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
    }
}

fn pages() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("book/src")).unwrap();
    let mut all: Vec<PathBuf> = folder.map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let fence = line.strip_prefix("```").map(str::trim_end);
        match (fence, open.take()) {
            (Some(info), None) => open = Some((info.to_string(), at + line.len())),
            (Some(_), Some((info, start))) => {
                let range = start..at;
                found.push(Block { info, text: page[range.clone()].to_string(), range });
            }
            (None, state) => open = state,
        }
        at += line.len();
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

/// A folder with the page's files in it.
fn folder_of(blocks: &[Block]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (i, block) in blocks.iter().enumerate().filter(|(_, b)| b.is("fuse")) {
        fs::write(folder.path().join(file_name(i, block)), &block.text).unwrap();
    }
    std::os::unix::fs::symlink(root().join("tests/fixtures"), folder.path().join("graphs"))
        .unwrap();
    folder
}

fn file_name(index: usize, block: &Block) -> String {
    block.option("file").map_or(format!("block{index}.fuse"), str::to_string)
}

fn check(folder: &Path, files: &[String], more: &str) -> Run {
    let files = files.join(" ");
    shell(folder, &format!("fusec check --isolated --format concise {files} {more}"))
}

#[test]
fn good_blocks_have_nothing_to_fix() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = blocks(&text);
        let good = |(_, b): &(usize, &Block)| b.is("fuse") && b.option("error").is_none();
        let files: Vec<String> =
            blocks.iter().enumerate().filter(good).map(|(i, b)| file_name(i, b)).collect();
        if !files.is_empty() {
            let run = check(folder_of(&blocks).path(), &files, "");
            assert!(run.status == 0, "{}:\n{}{}", page.display(), run.stdout, run.stderr);
        }
    }
}

#[test]
fn bad_blocks_give_the_error_they_say() {
    let mut wrong = String::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = blocks(&text);
        let folder = folder_of(&blocks);
        for (i, block) in blocks.iter().enumerate().filter(|(_, b)| b.is("fuse")) {
            let Some(code) = block.option("error") else { continue };
            let verify = if block.info.ends_with(",verify") { "--verify" } else { "" };
            let run = check(folder.path(), &[file_name(i, block)], verify);
            let named: Vec<&str> =
                run.stdout.lines().filter_map(|l| l.split_once('[')?.1.split(']').next()).collect();
            if named != [code] {
                wrong.push_str(&format!(
                    "{code}: {}\n{}{}",
                    page.display(),
                    run.stdout,
                    block.text
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn commands_print_what_the_book_says() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let blocks = blocks(&page);
        let folder = folder_of(&blocks);
        let mut updated = page.clone();
        for block in blocks.iter().rev().filter(|b| b.is("console")) {
            updated.replace_range(block.range.clone(), &transcript(folder.path(), &block.text));
        }
        settle(&path, &page, updated);
    }
}

/// The block with the output that its commands give now.
fn transcript(folder: &Path, block: &str) -> String {
    let mut out = String::new();
    for command in block.lines().filter_map(|l| l.strip_prefix("$ ")) {
        let run = shell(folder, command);
        out.push_str(&format!("$ {command}\n{}{}", scrubbed(&run.stdout), scrubbed(&run.stderr)));
    }
    out
}

#[test]
fn the_command_lines_page_is_its_help() {
    let path = root().join("book/src/cli.md");
    let page = fs::read_to_string(&path).unwrap_or_default();
    settle(&path, &page, fusec::reference::markdown());
}

/// Compares, or rewrites if asked to.
fn settle(path: &Path, page: &str, updated: String) {
    if page == updated {
        return;
    }
    if std::env::var_os("UPDATE_BOOK").is_some() {
        fs::write(path, updated).unwrap();
        return;
    }
    let diff = similar::TextDiff::from_lines(page, &updated).unified_diff().to_string();
    panic!("{} is out of date (UPDATE_BOOK=1 rewrites it):\n{diff}", path.display());
}

#[test]
fn the_readme_quotes_the_library() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let library: String = fusec_passes::FILES.iter().map(|(_, text)| *text).collect();
    let quotes = blocks(&readme);
    assert!(quotes.iter().any(|b| b.is("fuse")));
    for quote in quotes.iter().filter(|b| b.is("fuse")) {
        assert!(library.contains(&quote.text), "not in passes/:\n{}", quote.text);
    }
}

#[test]
fn every_error_has_a_section() {
    let page = fs::read_to_string(root().join("book/src/errors.md")).unwrap();
    for code in fusec_dsl::diagnostic::Code::ALL {
        let sections = page.matches(&format!("\n## {code}\n")).count();
        assert_eq!(sections, 1, "sections about {code}");
    }
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = fs::read_to_string(root().join("book/src/SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
    }
}
