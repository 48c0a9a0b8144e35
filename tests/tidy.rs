//! Habits that a reader relies on, over every file of the repository.

use crate::support::root;
use std::fs;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let skip = [".git", ".venv", ".fusec", "target", "snapshots", "__pycache__"];
        match path.is_dir() {
            _ if skip.contains(&name.as_str()) => {}
            true => collect(&path, found),
            false => found.push(path),
        }
    }
}

/// Text files with their paths from the root.
fn texts() -> Vec<(String, String)> {
    let relative = |p: &PathBuf| p.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    let read = |p: PathBuf| Some((relative(&p), fs::read_to_string(&p).ok()?));
    files().into_iter().filter_map(read).collect()
}

/// Rust files, unit tests in files of their own aside.
fn rust() -> Vec<(String, String)> {
    let is_code = |path: &str| path.ends_with(".rs");
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    texts().into_iter().filter(|(path, _)| is_code(path) && !is_test(path)).collect()
}

#[test]
fn every_module_says_what_it_is() {
    let silent: Vec<String> =
        rust().into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(p, _)| p).collect();
    assert!(silent.is_empty(), "no module doc: {silent:?}");
}

#[test]
fn libraries_neither_print_nor_exit() {
    let words = ["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!(", "process::exit"];
    let mut found = Vec::new();
    for (path, text) in rust() {
        let library = ["dsl/src", "engine/src", "codegen/src", "passes/src"];
        let is_tool = path.contains("/src/bin/");
        if is_tool || !library.iter().any(|l| path.starts_with(l)) {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (i, line) in code.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            if words.iter().any(|w| code.contains(w)) {
                found.push(format!("{path}:{}", i + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn nothing_is_left_undone_or_switched_off() {
    let words = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];
    for (path, text) in rust() {
        for word in words {
            assert!(!text.contains(word), "{path} has {word}");
        }
    }
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let words = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("../", "shared"),
    ];
    for (path, text) in texts() {
        for word in words {
            assert!(!text.contains(word), "{path} has {word}");
        }
    }
}

#[test]
fn text_files_end_with_one_newline_and_have_no_tabs_or_trailing_blanks() {
    for (path, text) in texts() {
        let ours = [".rs", ".fuse", ".toml", ".md", ".sh"].iter().any(|e| path.ends_with(e));
        if !ours || text.is_empty() {
            continue;
        }
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path}: its end");
        for (i, line) in text.lines().enumerate() {
            assert!(!line.ends_with([' ', '\t']), "{path}:{}: blanks at the end", i + 1);
        }
    }
}
