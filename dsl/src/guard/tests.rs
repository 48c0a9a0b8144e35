//! Guards against what counting says.

use super::*;
use crate::source::Span;
use crate::types::TensorType;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Bounds of the graph's symbols, and a target with one number.
struct Known {
    ranges: BTreeMap<&'static str, Interval>,
    group: Option<i64>,
    contiguous: Option<bool>,
}

impl Known {
    fn of(lo: i64, hi: i64) -> Known {
        let range = Interval { lo: Some(lo), hi: Some(hi) };
        Known { ranges: BTreeMap::from([("n", range)]), group: Some(2), contiguous: None }
    }
}

impl Facts for Known {
    fn range(&self, symbol: &str) -> Interval {
        self.ranges.get(symbol).copied().unwrap_or(Interval::ALL)
    }

    fn global(&self, space: &str, name: &str, args: &[i64]) -> Option<Attr> {
        match (space, name, args) {
            ("target", "sm", []) => Some(Attr::int(90)),
            ("target", "one_shot_limit", [ranks]) => Some(Attr::int(1 << (20 - ranks))),
            _ => None,
        }
    }

    fn group_size(&self, _: &str) -> Option<i64> {
        self.group
    }

    fn contiguous(&self, _: usize) -> Option<bool> {
        self.contiguous
    }
}

fn bin(op: BinOp, a: GuardExpr, b: GuardExpr) -> GuardExpr {
    GuardExpr::Bin(op, Box::new(a), Box::new(b))
}

fn int(v: i64) -> GuardExpr {
    GuardExpr::Const(Attr::int(v))
}

fn size(name: &str) -> GuardExpr {
    GuardExpr::Dim(Dim::sym(name))
}

fn guard(expr: GuardExpr, text: &str) -> Guard {
    Guard { expr, text: text.into(), span: Span::default(), from: None }
}

/// `d` is `n`, `h` is `8 * n`.
fn bindings() -> Bindings {
    let n = Dim::sym("n");
    let mut b = Bindings::default();
    b.dims.insert("d".into(), n.clone());
    b.dims.insert("h".into(), n.mul(&Dim::int(8)));
    b
}

fn arithmetic() -> impl Strategy<Value = GuardExpr> {
    let leaf = prop_oneof![(-9..40i64).prop_map(int), Just(size("d")), Just(size("h"))];
    let op = prop_oneof![Just(BinOp::Add), Just(BinOp::Sub), Just(BinOp::Mul)];
    leaf.prop_recursive(3, 8, 2, move |inner| {
        prop_oneof![
            (op.clone(), inner.clone(), inner.clone()).prop_map(|(op, a, b)| bin(op, a, b)),
            (inner, 1..9i64).prop_map(|(a, m)| bin(BinOp::Mod, a, int(m))),
        ]
    })
}

fn condition() -> impl Strategy<Value = GuardExpr> {
    use BinOp::*;
    let op = prop_oneof![Just(Eq), Just(Ne), Just(Lt), Just(Le), Just(Gt), Just(Ge)];
    let set = prop::collection::vec((-9..40i64).prop_map(int), 1..4).prop_map(GuardExpr::Set);
    let leaf = prop_oneof![
        3 => (op, arithmetic(), arithmetic()).prop_map(|(op, a, b)| bin(op, a, b)),
        1 => (arithmetic(), set).prop_map(|(a, s)| bin(In, a, s)),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| bin(And, a, b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| bin(Or, a, b)),
            inner.prop_map(|a| GuardExpr::Not(Box::new(a))),
        ]
    })
}

fn at(g: &Guard, n: i64) -> Truth {
    eval(g, &bindings(), &[], &Known::of(n, n))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_verdict_over_a_range_holds_at_every_size(
        e in condition(), lo in 1..20i64, span in 0..24i64,
    ) {
        let g = guard(e, "g");
        let all = eval(&g, &bindings(), &[], &Known::of(lo, lo + span));
        for n in lo..=lo + span {
            let one = at(&g, n);
            prop_assert!(!matches!(one, Truth::Depends(_)), "undecided at {}: {:?}", n, one);
            match &all {
                Truth::True => prop_assert_eq!(one, Truth::True),
                Truth::False(_) => prop_assert!(matches!(one, Truth::False(_))),
                Truth::Depends(_) => {}
            }
        }
    }

    #[test]
    fn a_cut_is_where_the_truth_changes(e in condition(), lo in 1..20i64, span in 0..24i64) {
        let g = guard(e, "g");
        let hi = lo + span;
        let holds = |n| at(&g, n) == Truth::True;
        let found = cuts(&g, &bindings(), &[], &Known::of(lo, hi), "n");
        for c in &found {
            prop_assert!((lo + 1..=hi).contains(c));
            prop_assert_ne!(holds(*c), holds(c - 1));
        }
        if !found.is_empty() {
            let changes: Vec<i64> = (lo + 1..=hi).filter(|n| holds(*n) != holds(n - 1)).collect();
            prop_assert_eq!(found, changes);
        }
    }

    #[test]
    fn a_bound_on_a_size_is_always_cut(limit in 2..5000i64, factor in 1..9i64) {
        let bytes = bin(BinOp::Mul, size("h"), int(factor));
        let g = guard(bin(BinOp::Le, bytes, int(limit * 8 * factor)), "g");
        let found = cuts(&g, &bindings(), &[], &Known::of(1, 8192), "n");
        prop_assert_eq!(found, vec![limit + 1]);
    }
}

/// A verdict in one line.
fn shown(e: GuardExpr, text: &str, params: &[Type], facts: &Known) -> String {
    let mut b = bindings();
    b.dims.insert("c".into(), Dim::int(4104));
    b.dtypes.insert("T".into(), crate::dtype::Dtype::Bf16);
    match eval(&guard(e, text), &b, params, facts) {
        Truth::True => format!("true: {text}"),
        Truth::False(why) => format!("false: {why}"),
        Truth::Depends(why) => format!("depends: {why}"),
    }
}

#[test]
fn reasons_show_what_was_seen() {
    use BinOp::*;
    let x =
        TensorType { dtype: crate::dtype::Dtype::Bf16, shape: vec![Dim::sym("n"), Dim::int(4104)] };
    let params = [
        Type::Tensor(x),
        Type::Attr(Attr::Group("tp:0".into())),
        Type::Attr(Attr::Bool(true)),
        Type::Attr(Attr::None),
        Type::Attr(Attr::float(1e-6)),
    ];
    let p = GuardExpr::Param;
    let field = |of, name: &str| GuardExpr::Field(Box::new(of), name.into());
    let call = |name: &str, args| GuardExpr::Call(name.into(), args);
    let target = || GuardExpr::Global("target".into());
    let known = Known::of(1, 2048);
    let unknown = Known { ranges: BTreeMap::new(), group: None, contiguous: Some(false) };
    let limit = || call("target.one_shot_limit", vec![field(p(1), "size")]);
    let dtype = |d| GuardExpr::Const(Attr::Dtype(d));
    let cases = [
        (bin(Eq, bin(Mod, size("c"), int(16)), int(0)), "c % 16 == 0", &known),
        (bin(Eq, bin(Mod, size("c"), int(8)), int(0)), "c % 8 == 0", &known),
        (bin(Le, size("d"), int(1024)), "d <= 1024", &known),
        (bin(Le, size("missing"), int(1024)), "missing <= 1024", &known),
        (bin(Eq, bin(Div, size("c"), int(16)), int(0)), "c / 16 == 0", &known),
        (bin(Eq, bin(Div, size("c"), int(8)), int(513)), "c / 8 == 513", &known),
        (bin(Ge, field(target(), "sm"), int(100)), "target.sm >= 100", &known),
        (bin(Ge, field(target(), "smm"), int(100)), "target.smm >= 100", &known),
        (
            bin(In, field(p(1), "size"), GuardExpr::Set(vec![int(2), int(4)])),
            "g.size in {2, 4}",
            &known,
        ),
        (
            bin(In, field(p(1), "size"), GuardExpr::Set(vec![int(4), int(8)])),
            "g.size in {4, 8}",
            &known,
        ),
        (
            bin(In, field(p(1), "size"), GuardExpr::Set(vec![int(4), int(8)])),
            "g.size in {4, 8}",
            &unknown,
        ),
        (
            bin(Le, call("bytes", vec![p(0)]), limit()),
            "bytes(x) <= target.one_shot_limit(g.size)",
            &known,
        ),
        (bin(Eq, call("numel", vec![p(0)]), int(1)), "numel(x) == 1", &known),
        (call("contiguous", vec![p(0)]), "contiguous(x)", &known),
        (call("contiguous", vec![p(0)]), "contiguous(x)", &unknown),
        (call("aligned", vec![p(0), int(16)]), "aligned(x, 16)", &known),
        (
            bin(Eq, GuardExpr::Generic("T".into()), dtype(crate::dtype::Dtype::F16)),
            "T == f16",
            &known,
        ),
        (bin(Eq, p(2), GuardExpr::Const(Attr::Bool(false))), "flag == false", &known),
        (GuardExpr::Not(Box::new(p(2))), "!flag", &known),
        (bin(Eq, p(3), GuardExpr::Const(Attr::None)), "group == none", &known),
        (bin(Lt, p(4), GuardExpr::Const(Attr::float(1e-5))), "eps < 1e-5", &known),
        (
            bin(Or, bin(Le, size("d"), int(9)), bin(Gt, size("d"), int(9))),
            "d <= 9 || d > 9",
            &known,
        ),
    ];
    let mut out = String::new();
    for (e, text, facts) in cases {
        out.push_str(&shown(e, text, &params, facts));
        out.push('\n');
    }
    insta::assert_snapshot!(out);
}
