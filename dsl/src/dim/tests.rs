//! Laws of sizes, against evaluation over integers.

use super::*;
use proptest::prelude::*;

fn s(n: &str) -> Dim {
    Dim::sym(n)
}

#[test]
fn normal_form() {
    let n = s("n");
    let a = n.add(&Dim::int(127)).floor_div(&Dim::int(128)).mul(&Dim::int(128));
    assert_eq!(a, n.round_up(&Dim::int(128)));
    assert_eq!(n.mul(&Dim::int(8)).exact_div(&n), Some(Dim::int(8)));
    assert_eq!(n.mul(&Dim::int(8)).modulo(&Dim::int(4)), Dim::int(0));
    assert_eq!(n.mul(&Dim::int(2)).add(&n).to_string(), "3*n");
}

#[test]
fn solves_linear() {
    let pattern = s("d").mul(&Dim::int(2));
    let (var, value) = pattern.solve(&Dim::int(28672), &|_| false).unwrap();
    assert_eq!((&*var, value), ("d", Dim::int(14336)));
    assert!(pattern.solve(&Dim::int(7), &|_| false).is_none());
}

#[test]
fn bounds() {
    let f = |_: &str| Interval { lo: Some(1), hi: Some(2048) };
    let i = s("n").mul(&Dim::int(8192)).interval(&f);
    assert_eq!(i, Interval { lo: Some(8192), hi: Some(2048 * 8192) });
}

/// An expression as written, before any normal form.
#[derive(Clone, Debug)]
enum Tree {
    Int(i64),
    Sym(usize),
    Op(Op, Box<Tree>, Box<Tree>),
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    Max,
    Min,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

impl Tree {
    fn dim(&self) -> Dim {
        match self {
            Tree::Int(v) => Dim::int(*v),
            Tree::Sym(i) => s(NAMES[*i]),
            Tree::Op(op, x, y) => {
                let (x, y) = (x.dim(), y.dim());
                match op {
                    Op::Add => x.add(&y),
                    Op::Sub => x.sub(&y),
                    Op::Mul => x.mul(&y),
                    Op::FloorDiv => x.floor_div(&y),
                    Op::Mod => x.modulo(&y),
                    Op::Max => x.max_with(&y),
                    Op::Min => x.min_with(&y),
                }
            }
        }
    }

    /// The value; `None` if a division is by zero or a number leaves 128 bits.
    fn eval(&self, values: &[i64; 3]) -> Option<i128> {
        Some(match self {
            Tree::Int(v) => i128::from(*v),
            Tree::Sym(i) => i128::from(values[*i]),
            Tree::Op(op, x, y) => {
                let (x, y) = (x.eval(values)?, y.eval(values)?);
                match op {
                    Op::Add => x.checked_add(y)?,
                    Op::Sub => x.checked_sub(y)?,
                    Op::Mul => x.checked_mul(y)?,
                    Op::FloorDiv => {
                        let q = x.checked_div_euclid(y)?;
                        if y < 0 && x.checked_rem_euclid(y)? != 0 { q - 1 } else { q }
                    }
                    Op::Mod => {
                        let r = x.checked_rem_euclid(y)?;
                        if y < 0 && r != 0 { r + y } else { r }
                    }
                    Op::Max => x.max(y),
                    Op::Min => x.min(y),
                }
            }
        })
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::Add),
        Just(Op::Sub),
        Just(Op::Mul),
        Just(Op::FloorDiv),
        Just(Op::Mod),
        Just(Op::Max),
        Just(Op::Min),
    ]
}

fn tree(numbers: impl Strategy<Value = i64> + 'static) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![numbers.prop_map(Tree::Int), (0..3usize).prop_map(Tree::Sym)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        (op(), inner.clone(), inner).prop_map(|(op, a, b)| Tree::Op(op, a.into(), b.into()))
    })
}

fn hostile() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MAX),
        Just(i64::MIN),
        Just(i64::MAX - 1),
        Just(1 << 62),
        Just(-1),
        Just(0),
        Just(1),
        Just(3),
        any::<i64>(),
    ]
}

fn lookup(values: [i64; 3]) -> impl Fn(&str) -> Option<i64> {
    move |name| NAMES.iter().position(|n| *n == name).map(|i| values[i])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_normal_form_has_the_value_of_the_expression(
        t in tree(-20..20i64),
        values in [1..50i64, 1..50i64, -9..50i64],
    ) {
        let d = t.dim();
        if let Some(v) = t.eval(&values).and_then(|v| i64::try_from(v).ok()) {
            prop_assert_eq!(d.eval(&lookup(values)), Some(v), "{}", d);
        }
    }

    #[test]
    fn a_value_is_exact_or_there_is_none(
        t in tree(hostile()),
        values in [hostile(), hostile(), hostile()],
    ) {
        if let (Some(v), Some(got)) = (t.eval(&values), t.dim().eval(&lookup(values))) {
            prop_assert_eq!(i128::from(got), v);
        }
    }

    #[test]
    fn equal_forms_have_equal_values(
        t in tree(hostile()),
        u in tree(hostile()),
        values in [hostile(), hostile(), hostile()],
    ) {
        let pairs = [(t.clone(), u.clone()), (flipped(&t), t)];
        for (t, u) in pairs {
            if t.dim() == u.dim()
                && let (Some(x), Some(y)) = (t.eval(&values), u.eval(&values))
            {
                prop_assert_eq!(x, y, "{:?} {:?}", t, u);
            }
        }
    }

    #[test]
    fn ring_laws(a in tree(-20..20i64), b in tree(-20..20i64), c in tree(-20..20i64)) {
        let (a, b, c) = (a.dim(), b.dim(), c.dim());
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.mul(&b), b.mul(&a));
        prop_assert_eq!(a.add(&b).add(&c), a.add(&b.add(&c)));
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert_eq!(a.sub(&a), Dim::int(0));
        prop_assert_eq!(a.add(&Dim::int(0)), a.clone());
        prop_assert_eq!(a.mul(&Dim::int(1)), a.clone());
        prop_assert_eq!(a.max_with(&b), b.max_with(&a));
        prop_assert_eq!(a.min_with(&b), b.min_with(&a));
    }

    #[test]
    fn a_quotient_and_a_remainder_make_the_whole(
        t in tree(-20..20i64),
        by in prop_oneof![1..64i64, -64..0i64],
        values in [1..50i64, 1..50i64, 1..50i64],
    ) {
        let (d, by_dim) = (t.dim(), Dim::int(by));
        let whole = d.floor_div(&by_dim).mul(&by_dim).add(&d.modulo(&by_dim));
        if let Some(v) = d.eval(&lookup(values)) {
            prop_assert_eq!(whole.eval(&lookup(values)), Some(v));
            let rest = d.modulo(&by_dim).eval(&lookup(values)).unwrap();
            let inside = if by > 0 { (0..by).contains(&rest) } else { (by + 1..1).contains(&rest) };
            prop_assert!(inside);
        }
        if let Some(q) = d.exact_div(&by_dim) {
            prop_assert_eq!(q.mul(&by_dim), d);
        }
    }

    #[test]
    fn bounds_hold(
        t in tree(-20..20i64),
        lo in [-5..20i64, 0..20i64, 1..20i64],
        span in [0..9i64, 0..9i64, 0..9i64],
        at in [0..9i64, 0..9i64, 0..9i64],
        open in any::<bool>(),
    ) {
        let values = [0, 1, 2].map(|i| lo[i] + at[i].min(span[i]));
        let range = |name: &str| {
            let i = NAMES.iter().position(|n| *n == name).unwrap_or(0);
            let hi = (!open).then_some(lo[i] + span[i]);
            Interval { lo: Some(lo[i]), hi }
        };
        let d = t.dim();
        let i = d.interval(&range);
        if let Some(v) = d.eval(&lookup(values)) {
            prop_assert!(i.lo.is_none_or(|l| l <= v), "{} = {} not in {:?}", d, v, i);
            prop_assert!(i.hi.is_none_or(|h| h >= v), "{} = {} not in {:?}", d, v, i);
        }
    }

    #[test]
    fn bounds_hold_for_hostile_numbers(
        t in tree(hostile()),
        values in [hostile(), hostile(), hostile()],
    ) {
        let range = |name: &str| {
            Interval::point(values[NAMES.iter().position(|n| *n == name).unwrap_or(0)])
        };
        let i = t.dim().interval(&range);
        if let Some(v) = t.eval(&values) {
            prop_assert!(i.lo.is_none_or(|l| i128::from(l) <= v), "{v} not in {i:?}");
            prop_assert!(i.hi.is_none_or(|h| i128::from(h) >= v), "{v} not in {i:?}");
        }
    }

    #[test]
    fn solving_undoes_substitution(
        slope in prop_oneof![1..99i64, -99..0i64],
        rest in tree(-20..20i64),
        value in -999..999i64,
    ) {
        // `x` is not among the names of the rest.
        let pattern = s("x").mul(&Dim::int(slope)).add(&rest.dim());
        let target = pattern.subst(&|n| (n == "x").then(|| Dim::int(value)));
        let solved = pattern.solve(&target, &|n| n != "x");
        prop_assert_eq!(solved, Some(("x".into(), Dim::int(value))));
    }
}

/// The same value, written the other way around.
fn flipped(t: &Tree) -> Tree {
    match t {
        Tree::Op(op @ (Op::Add | Op::Mul | Op::Max | Op::Min), a, b) => {
            Tree::Op(*op, flipped(b).into(), flipped(a).into())
        }
        Tree::Op(op, a, b) => Tree::Op(*op, flipped(a).into(), flipped(b).into()),
        leaf => leaf.clone(),
    }
}

#[test]
fn what_overflows_never_evaluates() {
    let huge = Dim::int(i64::MAX);
    let square = huge.mul(&huge);
    assert_eq!(square.as_int(), None);
    assert_eq!(square.sub(&square), Dim::int(0));
    let (fourth, sum) = (square.mul(&square), square.add(&square));
    assert_eq!((fourth.as_int(), sum.as_int()), (None, None));
    assert_ne!(fourth, sum);
    assert_ne!(fourth.add(&Dim::int(1)), fourth);
    assert_eq!(Dim::int(i64::MIN).floor_div(&Dim::int(-1)).as_int(), None);
    assert_eq!(Dim::int(7).floor_div(&Dim::int(0)).as_int(), None);
    assert_eq!(Dim::int(0).exact_div(&Dim::int(0)), None);
}
