//! One diagnostic in every format.

use fusec_dsl::diagnostic::{Code, Diagnostic};
use fusec_dsl::render::{Format, render};
use fusec_dsl::source::{SourceMap, Span};

fn span(sources: &SourceMap, file: u32, needle: &str) -> Span {
    let (id, source) = sources.iter().nth(file as usize).expect("the file exists");
    let start = source.text.find(needle).expect("the text is there");
    Span { file: id, start: start as u32, end: (start + needle.len()) as u32 }
}

fn sample() -> (Vec<Diagnostic>, SourceMap) {
    let mut sources = SourceMap::default();
    sources.add(
        "passes/my pass.fuse",
        "fusion f(x: _) -> y\nwhere\n    n > 1,\n{\n    (q, s) = quant_nvfp4(y, scale) // ü\n    a = 1\n}\n",
    );
    sources.add(
        "passes/ops/quant.fuse",
        "op quant_nvfp4(x: _) -> _\nwhere\n    d % 16 == 0,\n{ x }\n",
    );
    let guard = Diagnostic::new(
        Code::MissingGuard,
        span(&sources, 0, "quant_nvfp4(y, scale)"),
        "`quant_nvfp4` is only defined when `d % 16 == 0`",
    )
    .label("nothing here makes `d` a multiple of 16")
    .because(span(&sources, 1, "d % 16 == 0"), "required by the op")
    .note("two notes, 100% true:\nthis one has two lines")
    .help("or use `quant_fp8_static`")
    .help_edit("guard the fusion", span(&sources, 0, "n > 1,"), "n > 1,\n    d % 16 == 0,");
    let whole = span(&sources, 0, "{\n    (q, s) = quant_nvfp4(y, scale) // ü\n    a = 1\n}");
    let unused = Diagnostic::new(Code::UnusedBinding, whole, "`a` is not used");
    (vec![guard, unused], sources)
}

#[test]
fn every_format() {
    let (diagnostics, sources) = sample();
    for (name, format) in Format::ALL {
        let text = render(&diagnostics, &sources, format, false);
        insta::assert_snapshot!(format!("render_{name}"), text);
    }
}

#[test]
fn color_is_only_color() {
    let (diagnostics, sources) = sample();
    let colored = render(&diagnostics, &sources, Format::Text, true);
    assert!(colored.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').expect("a style ends") + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, render(&diagnostics, &sources, Format::Text, false));
}

#[test]
fn machine_formats_are_valid() {
    let (diagnostics, sources) = sample();
    for some in [&diagnostics[..], &[]] {
        let json = render(some, &sources, Format::Json, false);
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json.as_array().map(Vec::len), Some(some.len()));
        let sarif = render(some, &sources, Format::Sarif, false);
        let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
        assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(some.len()));
    }
}

#[test]
fn formats_have_names() {
    for (name, format) in Format::ALL {
        assert_eq!(name.parse(), Ok(format));
    }
    let error = "xml".parse::<Format>().expect_err("unknown");
    assert_eq!(error, "unknown format `xml`; there are text, concise, json, github, sarif");
}

#[test]
fn only_so_many_are_shown() {
    let (diagnostics, sources) = sample();
    let many: Vec<_> = diagnostics.iter().cycle().take(23).cloned().collect();
    assert!(render(&many, &sources, Format::Text, false).ends_with("... and 3 more\n"));
}

/// Spans from elsewhere (an edited file, a wrong length) must not panic.
#[test]
fn places_outside_the_text() {
    let mut sources = SourceMap::default();
    let file = sources.add("a.fuse", "ü");
    let empty = sources.add("empty.fuse", "");
    for file in [file, empty] {
        for (start, end) in [(0, 0), (0, 1), (1, 1), (5, 9), (9, 5), (u32::MAX, u32::MAX)] {
            let d = Diagnostic::new(Code::Syntax, Span { file, start, end }, "m").help_edit(
                "h",
                Span { file, start, end },
                "new",
            );
            for (_, format) in Format::ALL {
                render(std::slice::from_ref(&d), &sources, format, true);
            }
        }
    }
}
