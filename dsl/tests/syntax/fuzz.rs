//! Whatever the bytes: no panic, no hang, places inside the file; and what parses, formats.

use fusec_dsl::diagnostic::Diagnostic;
use fusec_dsl::format::format;
use fusec_dsl::parse::{decode, parse_text};
use fusec_dsl::render::{Format, render};
use fusec_dsl::source::{FileId, SourceMap};
use proptest::prelude::*;

/// Few cases by default; `PROPTEST_CASES` sets another number.
fn config(cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases, ..config },
    }
}

/// What holds for any text.
fn check(text: &str) {
    let (file, errors) = parse_text(text, FileId(0));
    for d in &errors {
        check_places(d, text);
    }
    let in_order = errors.windows(2).all(|w| w[0].span() <= w[1].span());
    assert!(in_order, "errors in source order");
    let mut sources = SourceMap::default();
    sources.add("a.fuse", text);
    let few = &errors[..errors.len().min(3)];
    for (_, format) in Format::ALL {
        render(few, &sources, format, false);
    }
    match format(text) {
        Err(same) => assert_eq!(same, errors),
        Ok(once) => {
            assert_eq!(errors, []);
            let (again, errors) = parse_text(&once, FileId(0));
            assert_eq!(errors, [], "formatted:\n{once}");
            assert_eq!(crate::bare(&file), crate::bare(&again), "formatted:\n{once}");
            assert_eq!(comments(text), comments(&once));
            let twice = format(&once).expect("formats");
            assert!(twice == once, "once:\n{once}\ntwice:\n{twice}");
        }
    }
}

fn check_places(d: &Diagnostic, text: &str) {
    let edits = d.help.iter().filter_map(|h| h.edit.as_ref()).map(|e| e.span);
    for span in d.labels.iter().map(|l| l.span).chain(edits) {
        let range = span.start as usize..span.end as usize;
        assert!(text.get(range.clone()).is_some(), "{range:?} of {} in {d:?}", text.len());
    }
    assert!(d.labels[0].primary && d.labels[1..].iter().all(|l| !l.primary));
}

/// The comments of a text that parses, sorted.
fn comments(text: &str) -> Vec<String> {
    let mut out: Vec<String> = text
        .lines()
        .filter_map(|l| {
            let quoted = |at: usize| l[..at].replace("\\\"", "").matches('"').count() % 2 == 1;
            let at = l.match_indices("//").map(|(at, _)| at).find(|at| !quoted(*at))?;
            Some(l[at..].trim_end().to_string())
        })
        .filter(|c| !c.starts_with("//!") && (!c.starts_with("///") || c.starts_with("////")))
        .collect();
    out.sort();
    out
}

/// Words, marks and pieces of items, so that soups get past the first token.
const VOCABULARY: [&str; 78] = [
    "op",
    "bind",
    "family",
    "variant",
    "enum",
    "rewrite",
    "fusion",
    "pass",
    "test",
    "where",
    "kernel",
    "cost",
    "tune",
    "torch",
    "extern",
    "means",
    "graph",
    "return",
    "fires",
    "once",
    "state",
    "strided",
    "in",
    "out",
    "none",
    "true",
    "x",
    "y",
    "T",
    "_",
    "rms_norm",
    "primitive",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ",",
    ":",
    "=",
    "=>",
    "<=>",
    "->",
    "==",
    "!=",
    "<=",
    "&&",
    "||",
    "|",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "?",
    "..",
    ".",
    "1",
    "2.5e-3",
    "99999999999999999999",
    "2d",
    "\"s\"",
    "\"open",
    "// c",
    "/// d",
    "//! m",
    ";",
    "ü",
    "\n",
    "\n",
    "\nop f(x: _) -> _ {\n",
    "\n}\n",
    "\n    y = f(x)\n",
    "\u{FEFF}",
];

fn soup() -> impl Strategy<Value = String> {
    let token = proptest::sample::select(&VOCABULARY[..]);
    proptest::collection::vec((token, proptest::bool::weighted(0.9)), 0..60).prop_map(|tokens| {
        tokens.iter().map(|(t, blank)| format!("{t}{}", if *blank { " " } else { "" })).collect()
    })
}

/// A change to a text, by fractions of its length so that it fits any.
#[derive(Clone, Debug)]
enum Change {
    Delete(f64, usize),
    Insert(f64, &'static str),
    Duplicate(f64, usize),
    SwapLines(f64, f64),
    Truncate(f64),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0.0..1.0, 1..40usize).prop_map(|(at, n)| Change::Delete(at, n)),
        (0.0..1.0, proptest::sample::select(&VOCABULARY[..]))
            .prop_map(|(at, t)| Change::Insert(at, t)),
        (0.0..1.0, 1..40usize).prop_map(|(at, n)| Change::Duplicate(at, n)),
        (0.0..1.0, 0.0..1.0).prop_map(|(a, b)| Change::SwapLines(a, b)),
        (0.5..1.0).prop_map(Change::Truncate),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = |f: f64| (f * chars.len() as f64) as usize;
    match *change {
        Change::Delete(f, n) => {
            let (from, to) = (at(f), (at(f) + n).min(chars.len()));
            chars.drain(from..to);
        }
        Change::Insert(f, t) => {
            let from = at(f);
            chars.splice(from..from, t.chars());
        }
        Change::Duplicate(f, n) => {
            let (from, to) = (at(f), (at(f) + n).min(chars.len()));
            let copy = chars[from..to].to_vec();
            chars.splice(from..from, copy);
        }
        Change::SwapLines(a, b) => {
            let mut lines: Vec<&str> = text.lines().collect();
            let index = |f: f64| (f * lines.len() as f64) as usize;
            let (a, b) = (index(a), index(b));
            if a.max(b) < lines.len() {
                lines.swap(a, b);
            }
            return lines.join("\n");
        }
        Change::Truncate(f) => chars.truncate(at(f)),
    }
    chars.into_iter().collect()
}

/// Layout that means nothing, put where it may stand, by a cheap hash of the place.
fn disarrange(text: &str, seed: u64) -> String {
    let mut state = seed | 1;
    let mut dice = move |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        let plain = !line.contains("//") && !line.contains('"');
        let blanks = " ".repeat(dice(6) as usize);
        match (plain, dice(8)) {
            (true, 0) => out.push_str(&format!("{blanks}// own line {i}\n")),
            (true, 1) => out.push_str("\n\n\n"),
            _ => {}
        }
        let keep = line.trim_start().len() == line.len();
        let mut line =
            if keep { line.to_string() } else { format!(" {blanks}{}", line.trim_start()) };
        if plain && dice(3) == 0 {
            // Inside brackets only, or a statement would end too early.
            let comma = if dice(2) == 0 { ",\n".to_string() } else { format!(", // comma {i}\n") };
            line = line.replacen(", ", &comma, 1);
        }
        out.push_str(&line);
        if plain && dice(6) == 0 {
            out.push_str(&format!("  // end of line {i}"));
        }
        out.push('\n');
    }
    out
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(text) = decode(bytes, FileId(0)) {
            check(&text);
        }
    }

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn token_soup(text in soup()) {
        check(&text);
    }
}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn mutated_files(file in 0..9usize, changes in proptest::collection::vec(change(), 1..5)) {
        let files = crate::shipped();
        let mut text = files[file % files.len()].1.clone();
        for change in &changes {
            text = apply(&text, change);
        }
        check(&text);
    }

    #[test]
    fn layout_means_nothing(file in 0..9usize, seed in any::<u64>()) {
        let files = crate::shipped();
        let text = &files[file % files.len()].1;
        let ugly = disarrange(text, seed);
        check(&ugly);
        let (tree, _) = parse_text(text, FileId(0));
        let (same, errors) = parse_text(&ugly, FileId(0));
        prop_assert_eq!(errors, vec![], "{}", ugly);
        prop_assert_eq!(crate::bare(&tree), crate::bare(&same));
    }
}
