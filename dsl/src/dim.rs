//! Symbolic integer dimensions with a normal form: equal expressions compare equal.
//!
//! A [`Dim`] is a polynomial with integer coefficients over atoms. An atom is a symbol (`n`, `s72`)
//! or a non-polynomial term (`a // b`, `a % b`, `max`, `min`) whose parts are themselves normal.
//! `ceil_div` and `round_up` are written in terms of `//`, so `128 * ((s + 127) // 128)` and
//! `round_up(s, 128)` are the same value. Division is floor division, as in Python.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A symbolic integer in normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(Arc<Poly>);

/// Sum of `coefficient * monomial`; no zero coefficients; monomials in order.
type Poly = BTreeMap<Monomial, i128>;
/// Product of atoms, each with its power, in order. Empty is 1.
type Monomial = Vec<(Atom, u32)>;

/// A factor that the polynomial cannot look into.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A symbol.
    Sym(Arc<str>),
    /// `floor(a / b)`.
    FloorDiv(Dim, Dim),
    /// `a mod b`, with the sign of `b`.
    Mod(Dim, Dim),
    /// The larger.
    Max(Dim, Dim),
    /// The smaller.
    Min(Dim, Dim),
}

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

impl From<i64> for Dim {
    fn from(v: i64) -> Dim {
        Dim::int(v)
    }
}

impl Dim {
    /// A constant.
    pub fn int(v: i64) -> Dim {
        Dim::from_terms([(Vec::new(), i128::from(v))])
    }

    /// A symbol.
    pub fn sym(name: &str) -> Dim {
        Dim::atom(Atom::Sym(name.into()))
    }

    fn atom(a: Atom) -> Dim {
        Dim::from_terms([(vec![(a, 1)], 1)])
    }

    fn from_terms(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Dim {
        let mut poly = Poly::new();
        for (m, c) in terms {
            let slot = poly.entry(m).or_insert(0);
            *slot = slot.saturating_add(c);
        }
        poly.retain(|_, c| *c != 0);
        Dim(Arc::new(poly))
    }

    /// The value, if it has no symbols.
    pub fn as_int(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new() as &Monomial).and_then(|c| i64::try_from(*c).ok()),
            _ => None,
        }
    }

    /// The symbol, if it is exactly one.
    pub fn as_sym(&self) -> Option<&str> {
        let (m, c) = self.0.iter().next()?;
        match (m.as_slice(), c, self.0.len()) {
            ([(Atom::Sym(s), 1)], 1, 1) => Some(s),
            _ => None,
        }
    }

    /// Its terms: each a product of atoms with their powers, and a coefficient. No terms is 0.
    pub fn terms(&self) -> impl Iterator<Item = (&[(Atom, u32)], i128)> {
        self.0.iter().map(|(m, c)| (m.as_slice(), *c))
    }

    /// The symbol and the divisor, if it is exactly `symbol % divisor`.
    pub fn as_remainder(&self) -> Option<(Arc<str>, Dim)> {
        let (m, c) = self.0.iter().next()?;
        match (m.as_slice(), c, self.0.len()) {
            ([(Atom::Mod(x, by), 1)], 1, 1) => Some((x.as_sym()?.into(), by.clone())),
            _ => None,
        }
    }

    /// Sum.
    pub fn add(&self, other: &Dim) -> Dim {
        Dim::from_terms(self.0.iter().chain(other.0.iter()).map(|(m, c)| (m.clone(), *c)))
    }

    /// Negation.
    pub fn neg(&self) -> Dim {
        Dim::from_terms(self.0.iter().map(|(m, c)| (m.clone(), -*c)))
    }

    /// Difference.
    pub fn sub(&self, other: &Dim) -> Dim {
        self.add(&other.neg())
    }

    /// Product.
    pub fn mul(&self, other: &Dim) -> Dim {
        let mut terms = Vec::with_capacity(self.0.len() * other.0.len());
        for (ma, ca) in self.0.iter() {
            for (mb, cb) in other.0.iter() {
                terms.push((mul_monomials(ma, mb), ca.saturating_mul(*cb)));
            }
        }
        Dim::from_terms(terms)
    }

    /// The quotient, if the division leaves no remainder whatever the symbols are.
    pub fn exact_div(&self, by: &Dim) -> Option<Dim> {
        if by.0.len() != 1 {
            return (self == by)
                .then(|| Dim::int(1))
                .or_else(|| self.is_zero().then(|| Dim::int(0)));
        }
        let (mb, cb) = by.0.iter().next()?;
        let mut terms = Vec::new();
        for (m, c) in self.0.iter() {
            if c % cb != 0 {
                return None;
            }
            terms.push((div_monomials(m, mb)?, c / cb));
        }
        Some(Dim::from_terms(terms))
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// `floor(self / by)`; division by zero is left as an atom that never evaluates.
    pub fn floor_div(&self, by: &Dim) -> Dim {
        if let (Some(a), Some(b)) = (self.as_int(), by.as_int())
            && b != 0
        {
            return Dim::int(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0));
        }
        if by.as_int() != Some(0)
            && let Some(q) = self.exact_div(by)
        {
            return q;
        }
        if let Some(b) = by.as_int().filter(|b| *b > 0) {
            let (whole, rest) = self.split_multiples(i128::from(b));
            if !whole.is_zero() {
                let quotient = whole.exact_div(by).unwrap_or_else(|| Dim::int(0));
                return quotient.add(&rest.floor_div(by));
            }
        }
        Dim::atom(Atom::FloorDiv(self.clone(), by.clone()))
    }

    /// `self - by * floor(self / by)`.
    pub fn modulo(&self, by: &Dim) -> Dim {
        if let (Some(a), Some(b)) = (self.as_int(), by.as_int())
            && b > 0
        {
            return Dim::int(a.rem_euclid(b));
        }
        if by.as_int() != Some(0) && self.exact_div(by).is_some() {
            return Dim::int(0);
        }
        if let Some(b) = by.as_int().filter(|b| *b > 0) {
            let (whole, rest) = self.split_multiples(i128::from(b));
            if !whole.is_zero() {
                return rest.modulo(by);
            }
        }
        Dim::atom(Atom::Mod(self.clone(), by.clone()))
    }

    /// Splits into terms whose coefficient is a multiple of `b`, and what is left.
    fn split_multiples(&self, b: i128) -> (Dim, Dim) {
        let (mut whole, mut rest) = (Vec::new(), Vec::new());
        for (m, c) in self.0.iter() {
            let keep = c.rem_euclid(b);
            rest.push((m.clone(), keep));
            whole.push((m.clone(), c - keep));
        }
        (Dim::from_terms(whole), Dim::from_terms(rest))
    }

    /// `ceil(self / by)` for positive `by`.
    pub fn ceil_div(&self, by: &Dim) -> Dim {
        self.add(by).sub(&Dim::int(1)).floor_div(by)
    }

    /// The next multiple of `by` that is not smaller.
    pub fn round_up(&self, by: &Dim) -> Dim {
        self.ceil_div(by).mul(by)
    }

    /// The larger of two.
    pub fn max_with(&self, other: &Dim) -> Dim {
        match self.sub(other).as_int() {
            Some(d) if d >= 0 => self.clone(),
            Some(_) => other.clone(),
            None => {
                let (a, b) = if self <= other { (self, other) } else { (other, self) };
                Dim::atom(Atom::Max(a.clone(), b.clone()))
            }
        }
    }

    /// The smaller of two.
    pub fn min_with(&self, other: &Dim) -> Dim {
        match self.sub(other).as_int() {
            Some(d) if d <= 0 => self.clone(),
            Some(_) => other.clone(),
            None => {
                let (a, b) = if self <= other { (self, other) } else { (other, self) };
                Dim::atom(Atom::Min(a.clone(), b.clone()))
            }
        }
    }

    /// Replaces every symbol that `f` knows.
    pub fn subst(&self, f: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        let mut sum = Dim::int(0);
        for (m, c) in self.0.iter() {
            let mut product = Dim::from_terms([(Vec::new(), *c)]);
            for (atom, power) in m {
                let value = match atom {
                    Atom::Sym(s) => f(s).unwrap_or_else(|| Dim::sym(s)),
                    Atom::FloorDiv(a, b) => a.subst(f).floor_div(&b.subst(f)),
                    Atom::Mod(a, b) => a.subst(f).modulo(&b.subst(f)),
                    Atom::Max(a, b) => a.subst(f).max_with(&b.subst(f)),
                    Atom::Min(a, b) => a.subst(f).min_with(&b.subst(f)),
                };
                for _ in 0..*power {
                    product = product.mul(&value);
                }
            }
            sum = sum.add(&product);
        }
        sum
    }

    /// The value under an assignment; `None` when a symbol is unknown or a division is by zero.
    pub fn eval(&self, f: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        self.subst(&|s| f(s).map(Dim::int)).as_int()
    }

    /// Every symbol in it, sorted, each once.
    pub fn symbols(&self) -> Vec<Arc<str>> {
        let mut out = Vec::new();
        self.collect_symbols(&mut out);
        out.sort();
        out.dedup();
        out
    }

    fn collect_symbols(&self, out: &mut Vec<Arc<str>>) {
        for (atom, _) in self.0.keys().flatten() {
            match atom {
                Atom::Sym(s) => out.push(s.clone()),
                Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Max(a, b) | Atom::Min(a, b) => {
                    a.collect_symbols(out);
                    b.collect_symbols(out);
                }
            }
        }
    }

    /// Solves `self = value` for the one symbol in `self` that `is_bound` does not know, when it
    /// occurs linearly. `None` when nothing, or more than one thing, is left to solve.
    pub fn solve(&self, value: &Dim, is_bound: &dyn Fn(&str) -> bool) -> Option<(Arc<str>, Dim)> {
        let free: Vec<_> = self.symbols().into_iter().filter(|s| !is_bound(s)).collect();
        let [var] = free.as_slice() else { return None };
        let (slope, rest) = self.linear_in(var)?;
        if slope.is_zero() {
            return None;
        }
        Some((var.clone(), value.sub(&rest).exact_div(&slope)?))
    }

    /// Number of terms of the sum: a measure of its size.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// `(slope, rest)` with `self = slope * symbol + rest`, neither containing the symbol.
    pub fn linear_in(&self, symbol: &str) -> Option<(Dim, Dim)> {
        let (mut slope, mut rest) = (Vec::new(), Vec::new());
        for (m, c) in self.0.iter() {
            match m.iter().position(|(a, _)| matches!(a, Atom::Sym(s) if &**s == symbol)) {
                Some(i) if m[i].1 == 1 => {
                    let mut m = m.clone();
                    m.remove(i);
                    slope.push((m, *c));
                }
                Some(_) => return None,
                None => rest.push((m.clone(), *c)),
            }
        }
        let (slope, rest) = (Dim::from_terms(slope), Dim::from_terms(rest));
        let hidden = |d: &Dim| d.symbols().iter().any(|s| &**s == symbol);
        (!hidden(&slope) && !hidden(&rest)).then_some((slope, rest))
    }

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

    fn fmt_monomial(f: &mut fmt::Formatter<'_>, m: &Monomial, c: i128) -> fmt::Result {
        if m.is_empty() || c != 1 {
            write!(f, "{c}")?;
        }
        for (i, (atom, power)) in m.iter().enumerate() {
            if i > 0 || c != 1 {
                f.write_str("*")?;
            }
            write!(f, "{atom}")?;
            for _ in 1..*power {
                write!(f, "*{atom}")?;
            }
        }
        Ok(())
    }
}

impl Atom {
    fn interval(&self, f: &dyn Fn(&str) -> Interval) -> Interval {
        match self {
            Atom::Sym(s) => f(s),
            Atom::FloorDiv(a, b) => floor_div_interval(a.interval(f), b.interval(f)),
            Atom::Mod(_, b) => match b.interval(f) {
                Interval { lo: Some(lo), hi } if lo > 0 => {
                    Interval { lo: Some(0), hi: hi.map(|h| h - 1) }
                }
                _ => Interval::ALL,
            },
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

fn floor_div_interval(a: Interval, b: Interval) -> Interval {
    match b.lo {
        Some(lo) if lo > 0 => {
            let least = |v: i64| if v >= 0 { b.hi.map_or(0, |h| v / h) } else { v.div_euclid(lo) };
            let most = |v: i64| if v >= 0 { v / lo } else { b.hi.map_or(-1, |h| v.div_euclid(h)) };
            Interval { lo: a.lo.map(least), hi: a.hi.map(most) }
        }
        _ => Interval::ALL,
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

fn mul_monomials(a: &Monomial, b: &Monomial) -> Monomial {
    let mut powers: BTreeMap<&Atom, u32> = BTreeMap::new();
    for (atom, p) in a.iter().chain(b) {
        *powers.entry(atom).or_insert(0) += p;
    }
    powers.into_iter().map(|(a, p)| (a.clone(), p)).collect()
}

fn div_monomials(a: &Monomial, by: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<&Atom, u32> = a.iter().map(|(a, p)| (a, *p)).collect();
    for (atom, p) in by {
        let have = powers.get_mut(atom)?;
        *have = have.checked_sub(*p)?;
    }
    Some(powers.into_iter().filter(|(_, p)| *p > 0).map(|(a, p)| (a.clone(), p)).collect())
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Sym(s) => f.write_str(s),
            Atom::FloorDiv(a, b) => write!(f, "(({a})//({b}))"),
            Atom::Mod(a, b) => write!(f, "(({a}) % ({b}))"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        // Highest terms first, the constant last, as people write them.
        for (i, (m, c)) in self.0.iter().rev().enumerate() {
            match (i, *c < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            Dim::fmt_monomial(f, m, c.abs())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
}
