//! The field meaning: what it proves equal, and what it tells apart.

use super::*;
use crate::interp::domain::{Binary, Compare, Domain, Unary};
use crate::interp::field::{Field, Fp, Rounding};
use Dtype::*;
use proptest::prelude::*;

const KEPT: Field = Field { key: 7, rounding: Rounding::Kept };
const DROPPED: Field = Field { key: 7, rounding: Rounding::Dropped };

fn x(d: Dtype, random: u64) -> Fp {
    KEPT.input(d, random)
}

proptest! {
    #[test]
    fn a_field(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
        let [a, b, c] = [a, b, c].map(|r| x(F32, r));
        let (f, op) = (DROPPED, |o, a, b| DROPPED.binary(F32, o, a, b));
        use Binary::*;
        prop_assert_eq!(op(Add, a, b), op(Add, b, a));
        prop_assert_eq!(op(Mul, op(Mul, a, b), c), op(Mul, a, op(Mul, b, c)));
        prop_assert_eq!(op(Mul, op(Add, a, b), c), op(Add, op(Mul, a, c), op(Mul, b, c)));
        prop_assert_eq!(op(Sub, op(Add, a, b), b), a);
        prop_assert_eq!(op(Mul, op(Div, a, b), b), a);
        prop_assert_eq!(op(Div, f.number(F32, 1.0), f.number(F32, 8.0)), f.number(F32, 0.125));
        prop_assert_eq!(op(Mul, f.number(F32, 0.1), f.number(F32, 2.0)), f.number(F32, 0.2));
    }

    #[test]
    fn rounding_is_odd_idempotent_and_not_associative(a in 1u64.., b in any::<u64>(), c in any::<u64>()) {
        let [a, b, c] = [a, b, c].map(|r| x(F32, r));
        let add = |a, b| KEPT.binary(F32, Binary::Add, a, b);
        prop_assert_ne!(add(add(a, b), c), add(a, add(b, c)));
        let cast = |v| KEPT.cast(F32, Bf16, v);
        let once = cast(a);
        prop_assert_ne!(once, a);
        prop_assert_eq!(cast(once), once);
        prop_assert_eq!(KEPT.cast(Bf16, F32, once), once);
        let neg = |v| KEPT.unary(F32, Unary::Neg, v);
        prop_assert_eq!(cast(neg(a)), neg(once));
        prop_assert_eq!(DROPPED.cast(F32, Bf16, a), a);
    }

    #[test]
    fn the_order_is_total(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
        let [a, b, c] = [a, b, c].map(|r| x(F32, r));
        let max = |a, b| KEPT.binary(F32, Binary::Max, a, b);
        prop_assert_eq!(max(a, max(b, c)), max(max(a, b), c));
        prop_assert_eq!(max(a, b), max(b, a));
        prop_assert_eq!(max(a, a), a);
        prop_assert!(KEPT.compare(Compare::Le, a, max(a, b)));
    }
}

#[test]
fn identities_hold_and_strangers_differ() {
    let a = x(Bf16, 3);
    let one = KEPT.number(Bf16, 1.0);
    assert_eq!(KEPT.binary(Bf16, Binary::Mul, a, one), a);
    assert_ne!(KEPT.unary(F32, Unary::Exp, a), KEPT.unary(F32, Unary::Log, a));
    let other = Field { key: 8, ..KEPT };
    assert_ne!(KEPT.unary(F32, Unary::Exp, a), other.unary(F32, Unary::Exp, a));
    let rsqrt = DROPPED.unary(F32, Unary::Rsqrt, a);
    let sqrt = DROPPED.unary(F32, Unary::Sqrt, a);
    assert_eq!(DROPPED.binary(F32, Binary::Mul, rsqrt, sqrt), one);
    let exp = DROPPED.unary(F32, Unary::Exp, DROPPED.unary(F32, Unary::Neg, a));
    let written = DROPPED.binary(F32, Binary::Div, one, DROPPED.binary(F32, Binary::Add, one, exp));
    assert_eq!(DROPPED.unary(F32, Unary::Sigmoid, a), written);
}
