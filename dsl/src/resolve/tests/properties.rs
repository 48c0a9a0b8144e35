//! Properties of whole loads: the order of files is irrelevant, nothing panics, and one mistake
//! never takes back what does not depend on it.

use super::{passes, show};
use crate::library::Library;
use crate::resolve::load;
use proptest::prelude::*;

/// A small vocabulary with every kind of item.
const SMALL: &str = include_str!("small.fuse");

fn file(path: &str, text: &str) -> (String, String) {
    (path.into(), text.into())
}

fn listing(lib: &Library) -> String {
    format!("{lib:#?}")
}

#[test]
fn the_order_of_files_is_irrelevant() {
    let mut files = passes();
    let (lib, map, found) = load(&files);
    files.reverse();
    let (again, same_map, same_found) = load(&files);
    assert_eq!(listing(&lib), listing(&again));
    assert_eq!(show(&map, &found), show(&same_map, &same_found));
    files.rotate_left(3);
    assert_eq!(listing(&load(&files).0), listing(&lib));
}

#[test]
fn the_small_vocabulary_is_right() {
    let (lib, map, found) = load(&[file("small.fuse", SMALL)]);
    assert_eq!(show(&map, &found), "");
    let names: Vec<String> = lib.fusions.iter().map(|f| f.instance()).collect();
    assert_eq!(
        names,
        [
            "fused[once, scaled]",
            "fused[once, tiled]",
            "fused[twice, scaled]",
            "fused[twice, tiled]"
        ]
    );
}

/// Items of the small vocabulary, each a piece of text.
fn items() -> Vec<&'static str> {
    SMALL.split("\n\n").collect()
}

const TOKENS: &[&str] = &[
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
    "->",
    "=>",
    "<=>",
    "|",
    "||",
    "&&",
    "?",
    "_",
    "..",
    "b..",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<=",
    ">=",
    "in",
    "!",
    "\n",
    "\n\n",
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
    "extern",
    "torch",
    "out",
    "tune",
    "primitive",
    "opaque",
    "collective",
    "state",
    "T",
    "Q",
    "N",
    "float",
    "half",
    "f32",
    "bf16",
    "int",
    "bool",
    "dtype",
    "group",
    "ints",
    "x",
    "y",
    "d",
    "n",
    "k",
    "q",
    "norm",
    "scale",
    "once",
    "scaled",
    "quantizer",
    "add",
    "cast",
    "max",
    "ceil_div",
    "round_up",
    "numel",
    "bytes",
    "target",
    "sm",
    "size",
    "block",
    "results",
    "none",
    "true",
    "0",
    "1",
    "16",
    "9223372036854775807",
    "1.5",
    "1e300",
    "\"a\"",
    "-1",
    ".",
];

fn soup() -> impl Strategy<Value = String> {
    let token = prop::sample::select(TOKENS);
    prop::collection::vec(token, 0..40).prop_map(|t| t.join(" "))
}

/// The small vocabulary with some words replaced, dropped or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..3usize, prop::sample::select(TOKENS));
    prop::collection::vec(change, 1..5).prop_map(|changes| {
        let mut words: Vec<String> = split_words(SMALL);
        for (at, how, token) in changes {
            let i = at.index(words.len());
            match how {
                0 => words[i] = token.into(),
                1 => words[i].clear(),
                _ => words.insert(i, token.into()),
            }
        }
        words.concat()
    })
}

/// Words and what is between them.
fn split_words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        match out.last_mut() {
            Some(last) if word(c) && last.chars().all(word) => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

/// Everything a library says of itself is in range.
fn is_sound(lib: &Library) {
    assert!(lib.ops.is_sorted_by(|a, b| a.name < b.name));
    assert!(lib.rewrites.is_sorted_by(|a, b| a.name <= b.name));
    assert!(lib.fusions.is_sorted_by_key(|f| f.instance()));
    let body = |b: &crate::library::Body, params: usize| {
        for (i, n) in b.nodes.iter().enumerate() {
            use crate::library::BodyKind::*;
            match &n.kind {
                Param(p) => assert!(*p < params),
                Call { op, args } => {
                    assert_eq!(lib.op(*op).sig.params.len(), args.len());
                    assert!(args.iter().all(|a| *a < i));
                }
                Proj { of, .. } => assert!(*of < i),
                List(l) | Alt(l) => assert!(l.iter().all(|a| *a < i)),
                Const(_) | Dim(_) | Generic(_) | Any => {}
            }
        }
        assert!(b.results.iter().all(|r| *r < b.nodes.len()));
    };
    for r in &lib.rewrites {
        body(&r.lhs, r.sig.params.len());
        body(&r.rhs, r.sig.params.len());
        assert_eq!(r.lhs.results.len(), r.sig.results.len());
        assert_eq!(r.rhs.results.len(), r.sig.results.len());
    }
    for f in &lib.fusions {
        body(&f.body, f.sig.params.len());
        assert_eq!(f.body.results.len(), f.sig.results.len());
    }
    lib.tests.iter().for_each(|t| body(&t.graph, t.inputs.len()));
    lib.binds.iter().for_each(|b| assert_eq!(lib.op(b.op).sig.params.len(), b.op_args.len()));
}

/// Loads and looks at everything that comes out.
fn survives(text: &str) {
    let (lib, map, found) = load(&[file("t.fuse", text)]);
    is_sound(&lib);
    show(&map, &found);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        survives(&text);
    }

    #[test]
    fn no_tokens_panic(text in soup()) {
        survives(&text);
    }

    #[test]
    fn no_mutation_panics(text in mutated()) {
        survives(&text);
    }

    #[test]
    fn no_item_with_odd_tokens_panics(head in 0..10usize, tail in soup()) {
        let heads = [
            "op f<T: float>(x: T[b.., d]) -> ", "op f(x: f32[n]) -> f32[n] {\n",
            "rewrite r<T: half>(x: T[n, d], k: int) {\n once(x) => ",
            "fusion g<T: half, Q: quantizer>(x: T[b.., d], q: Q) -> (Q.results, ",
            "op f(x: f32[n, d], k: int) -> f32[n]\nwhere ", "bind once(x) torch \"a\"(",
            "family f<T: half>(x: T[b.., d]) { scaled", "test \"a\" { graph (x: f32[",
            "enum e { ", "fusion g(x: f32[n]) -> y { y = once(x) } kernel ",
        ];
        survives(&format!("{SMALL}\n{}{tail}", heads[head]));
    }

    #[test]
    fn items_in_any_order_mean_the_same(seed in any::<u64>()) {
        let mut shuffled = items();
        let mut state = seed | 1;
        for i in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            shuffled.swap(i, (state >> 33) as usize % (i + 1));
        }
        let (lib, map, found) = load(&[file("t.fuse", &shuffled.join("\n\n"))]);
        prop_assert_eq!(show(&map, &found), "");
        let whole = load(&[file("t.fuse", SMALL)]).0;
        let names = |l: &Library| {
            let ops = l.ops.iter().map(|o| o.name.clone());
            let rules = l.rewrites.iter().map(|r| r.name.clone());
            let guards = |f: &crate::library::Fusion| {
                f.sig.guards.iter().map(|g| g.text.clone()).collect::<Vec<_>>().join(", ")
            };
            let fusions = l.fusions.iter().map(|f| format!("{} {}", f.instance(), guards(f)));
            ops.chain(rules).chain(fusions).collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&lib), names(&whole));
    }

    #[test]
    fn a_missing_item_costs_only_what_uses_it(gone in any::<prop::sample::Index>()) {
        let mut some = items();
        some.remove(gone.index(some.len()));
        let (lib, _, _) = load(&[file("t.fuse", &some.join("\n\n"))]);
        is_sound(&lib);
        let whole = load(&[file("t.fuse", SMALL)]).0;
        for op in &lib.ops {
            prop_assert!(whole.op_named(&op.name).is_some());
        }
    }
}
