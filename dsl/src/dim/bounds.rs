//! Bounds of sizes: interval arithmetic, sound and not always tight.

use super::{Atom, Dim, floor};

/// Inclusive bounds; `None` is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Smallest value.
    pub lo: Option<i64>,
    /// Largest value.
    pub hi: Option<i64>,
}

impl Interval {
    /// Nothing known.
    pub const ALL: Interval = Interval { lo: None, hi: None };

    /// Exactly one value.
    pub fn point(v: i64) -> Interval {
        Interval { lo: Some(v), hi: Some(v) }
    }
}

impl Dim {
    /// Bounds, given bounds on the symbols. Sound, not always tight.
    pub fn interval(&self, f: &dyn Fn(&str) -> Interval) -> Interval {
        let mut sum = (Some(0i128), Some(0i128));
        for (m, c) in self.0.iter() {
            let mut product = (Some(*c), Some(*c));
            for (atom, power) in m {
                let value = widen(atom.interval(f));
                for _ in 0..*power {
                    product = mul_bounds(product, value);
                }
            }
            sum = (add_bound(sum.0, product.0), add_bound(sum.1, product.1));
        }
        let narrow = |b: Option<i128>| b.and_then(|v| i64::try_from(v).ok());
        Interval { lo: narrow(sum.0), hi: narrow(sum.1) }
    }
}

impl Atom {
    fn interval(&self, f: &dyn Fn(&str) -> Interval) -> Interval {
        match self {
            Atom::Sym(s) => f(s),
            Atom::FloorDiv(a, b) => floor_div_interval(a.interval(f), b.interval(f)),
            Atom::Mod(a, b) => mod_interval(a.interval(f), b.interval(f)),
            Atom::Max(a, b) => {
                let (a, b) = (a.interval(f), b.interval(f));
                Interval { lo: a.lo.max(b.lo), hi: a.hi.zip(b.hi).map(|(x, y)| x.max(y)) }
            }
            Atom::Min(a, b) => {
                let (a, b) = (a.interval(f), b.interval(f));
                let hi = match (a.hi, b.hi) {
                    (Some(x), Some(y)) => Some(x.min(y)),
                    (x, y) => x.or(y),
                };
                Interval { lo: a.lo.zip(b.lo).map(|(x, y)| x.min(y)), hi }
            }
        }
    }
}

fn point_of(i: Interval) -> Option<i64> {
    i.lo.filter(|_| i.lo == i.hi)
}

/// An operation on two known numbers, the second not 0; else nothing is known.
fn point(a: Interval, b: Interval, f: fn(i128, i128) -> i128) -> Interval {
    match (point_of(a), point_of(b).filter(|b| *b != 0)) {
        (Some(a), Some(b)) => {
            let value = i64::try_from(f(a.into(), b.into())).ok();
            value.map_or(Interval::ALL, Interval::point)
        }
        _ => Interval::ALL,
    }
}

/// Of `a % b`: below `b`, and not above `a`.
fn mod_interval(a: Interval, b: Interval) -> Interval {
    let Some(1..) = b.lo else { return point(a, b, |a, b| a - b * floor(a, b)) };
    if let (Some(by), Some(lo), Some(hi)) = (point_of(b), a.lo, a.hi)
        && lo.div_euclid(by) == hi.div_euclid(by)
    {
        return Interval { lo: Some(lo.rem_euclid(by)), hi: Some(hi.rem_euclid(by)) };
    }
    let below = b.hi.map(|h| h - 1);
    let hi = match a.lo {
        Some(0..) => a.hi.map_or(below, |h| Some(below.map_or(h, |b| b.min(h)))),
        _ => below,
    };
    Interval { lo: Some(0), hi }
}

fn floor_div_interval(a: Interval, b: Interval) -> Interval {
    match b.lo {
        Some(lo) if lo > 0 => {
            let least = |v: i64| if v >= 0 { b.hi.map_or(0, |h| v / h) } else { v.div_euclid(lo) };
            let most = |v: i64| if v >= 0 { v / lo } else { b.hi.map_or(-1, |h| v.div_euclid(h)) };
            Interval { lo: a.lo.map(least), hi: a.hi.map(most) }
        }
        _ => point(a, b, floor),
    }
}

type Bounds = (Option<i128>, Option<i128>);

fn widen(i: Interval) -> Bounds {
    (i.lo.map(i128::from), i.hi.map(i128::from))
}

fn add_bound(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a.zip(b).and_then(|(a, b)| a.checked_add(b))
}

fn mul_bounds(a: Bounds, b: Bounds) -> Bounds {
    let known = |x: Option<i128>, y: Option<i128>| x.zip(y).and_then(|(x, y)| x.checked_mul(y));
    if let (Some(_), Some(_), Some(_), Some(_)) = (a.0, a.1, b.0, b.1) {
        let all = [known(a.0, b.0), known(a.0, b.1), known(a.1, b.0), known(a.1, b.1)];
        if all.iter().all(Option::is_some) {
            let all = all.map(Option::unwrap_or_default);
            return (all.into_iter().min(), all.into_iter().max());
        }
        return (None, None);
    }
    let (a_pos, b_pos) = (a.0.is_some_and(|v| v >= 0), b.0.is_some_and(|v| v >= 0));
    let (a_neg, b_neg) = (a.1.is_some_and(|v| v <= 0), b.1.is_some_and(|v| v <= 0));
    match (a_pos, b_pos) {
        (true, true) => (known(a.0, b.0), known(a.1, b.1)),
        (false, true) if a_neg => (known(a.0, b.1), known(a.1, b.0)),
        (true, false) if b_neg => (known(a.1, b.0), known(a.0, b.1)),
        _ => (None, None),
    }
}
