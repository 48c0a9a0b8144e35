//! Every mistake is reported once, on its line, in words.

use fusec_dsl::diagnostic::{Code, Diagnostic};
use fusec_dsl::parse::{self, MAX_BYTES, MAX_DEPTH, parse_text};
use fusec_dsl::render::{Format, Region, render};
use fusec_dsl::source::{FileId, SourceMap};
use std::path::PathBuf;

/// Lines with `//~ code` (this line) or `//~^ code` (the line above).
fn marked(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if let Some((_, mark)) = line.split_once("//~") {
            let up = usize::from(mark.starts_with('^'));
            out.push((i + 1 - up, mark.trim_start_matches('^').trim().to_string()));
        }
    }
    out
}

fn found(name: &str, text: &str) -> (Vec<(usize, String)>, String) {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let (_, errors) = parse::parse(sources.get(file), file);
    let line = |d: &Diagnostic| Region::of(d.span(), &sources).line;
    let places = errors.iter().map(|d| (line(d), d.code.to_string())).collect();
    (places, render(&errors, &sources, Format::Text, false))
}

#[test]
fn each_mistake_on_its_line() {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/syntax/errors"));
    let mut wrong = Vec::new();
    for (name, text) in crate::files(&[dir]) {
        let (places, rendered) = found(&name, &text);
        insta::assert_snapshot!(format!("errors_{}", name.trim_end_matches(".fuse")), rendered);
        if places != marked(&text) {
            wrong.push(format!("{name}:\n  marked {:?}\n  found  {places:?}", marked(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn first(text: &str) -> Diagnostic {
    parse_text(text, FileId(0)).1.into_iter().next().expect("there is an error")
}

fn body(expr: &str) -> String {
    format!("op f(x: _) -> _ {{\n    y = {expr}\n    y\n}}\n")
}

#[test]
fn depth_has_a_limit() {
    for n in [MAX_DEPTH, 10 * MAX_DEPTH, 1000 * MAX_DEPTH] {
        for expr in [
            format!("{}x{}", "(".repeat(n), ")".repeat(n)),
            format!("{}x{}", "f(".repeat(n), ")".repeat(n)),
            "f(a, [\n".repeat(n),
            format!("{}x", "-".repeat(n)),
            format!("x{}", " + x".repeat(n)),
            format!("x{}", ".x".repeat(n)),
        ] {
            let (_, errors) = parse_text(&body(&expr), FileId(0));
            let codes: Vec<Code> = errors.iter().map(|d| d.code).collect();
            assert_eq!(codes, [Code::TooDeep], "{n} of {}", &expr[..8]);
        }
    }
}

#[test]
fn depth_below_the_limit_is_fine() {
    let n = MAX_DEPTH - 2;
    for expr in [
        format!("{}x{}", "(".repeat(n), ")".repeat(n)),
        format!("{}x{}", "f(".repeat(n), ")".repeat(n)),
        format!("{}x{}", "f(a = [".repeat(n / 2), "])".repeat(n / 2)),
        format!("{}x", "-".repeat(n)),
        format!("x{}", " + x".repeat(n)),
        format!("x{}", " | x".repeat(1000)),
    ] {
        let (_, errors) = parse_text(&body(&expr), FileId(0));
        assert_eq!(errors, [], "{}", &expr[..8]);
        fusec_dsl::format::format(&body(&expr)).expect("formats");
    }
}

#[test]
fn one_error_for_a_file_that_is_no_fuse_file() {
    assert_eq!(first(&"x".repeat(MAX_BYTES + 1)).code, Code::TooLarge);
    let error = parse::decode(vec![b'o', b'p', 0xff], FileId(0)).expect_err("not UTF-8");
    assert_eq!(error.code, Code::NotUtf8);
    assert_eq!(error.notes, ["the first byte that does not decode is at offset 2"]);
    assert_eq!(parse::decode(b"op".to_vec(), FileId(0)).as_deref(), Ok("op"));
    assert_eq!(parse_text("", FileId(0)).1, []);
    assert_eq!(parse_text("\u{FEFF}// nothing\r\n", FileId(0)).1, []);
}

/// Later stages must not complain about uses of an item that did not parse.
#[test]
fn a_broken_item_keeps_its_name() {
    let text = "op f(x y) -> _\nrewrite approx(1 ulp) r(x: _) { a b }\nvariant family v(x) {}\n";
    let (file, errors) = parse_text(text, FileId(0));
    assert_eq!(errors.len(), 3);
    let names: Vec<_> = file
        .items
        .iter()
        .map(|i| match i {
            fusec_dsl::ast::Item::Broken(b) => {
                (b.keyword.as_deref().unwrap_or(""), b.name.as_ref().map_or("", |n| n.as_str()))
            }
            other => panic!("parsed {other:?}"),
        })
        .collect();
    assert_eq!(names, [("op", "f"), ("rewrite", "r"), ("variant", "v")]);
}

/// Ten times the text takes about ten times as long; quadratic would be a hundred times.
#[test]
fn time_is_linear() {
    let good = "op f(x: _) -> _ {\n    y = f(x, g(x), [a, b]) + 3*x\n    y\n}\n";
    let bad = "op f(x: _) -> _ {\n    y = f(x, g(x) [a, b]) + 3*x\n    y\n";
    let open = "op f(x: _) -> _ {\n    f((\n";
    for text in [good, bad, open] {
        let once = |text: &str| {
            let start = std::time::Instant::now();
            parse_text(text, FileId(0));
            start.elapsed().as_secs_f64()
        };
        // The least of several: other work on the machine only adds.
        let time = |n: usize| (0..3).map(|_| once(&text.repeat(n))).fold(f64::MAX, f64::min);
        // Below the limit on explained errors.
        let (small, large) = (time(10), time(100));
        assert!(large < 50.0 * small, "{large} s for ten times what took {small} s");
    }
}

#[test]
fn only_so_many_errors_a_file() {
    let (file, errors) = parse_text(&"op f(x y)\n".repeat(1000), FileId(0));
    assert_eq!((file.items.len(), errors.len()), (1000, 200));
    let last = errors.last().expect("there are some");
    assert_eq!(last.notes, ["there are more; only the first 200 of a file are reported"]);
    assert_eq!(errors[198].notes, Vec::<String>::new());
}
