//! Laws of sizes, against evaluation over integers.

use super::*;

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
