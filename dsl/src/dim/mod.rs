//! Symbolic integer dimensions with a normal form: equal expressions compare equal.
//!
//! A [`Dim`] is a polynomial with integer coefficients over atoms. An atom is a symbol (`n`, `s72`)
//! or a non-polynomial term (`a // b`, `a % b`, `max`, `min`) whose parts are themselves normal.
//! `ceil_div` and `round_up` are written in terms of `//`, so `128 * ((s + 127) // 128)` and
//! `round_up(s, 128)` are the same value. Division is floor division, as in Python.
//!
//! A result whose coefficients would not fit is left as an atom that divides by zero: it equals
//! nothing but the same operation on the same operands, and never evaluates.

mod bounds;
mod show;
#[cfg(test)]
mod tests;

pub use bounds::Interval;

use std::collections::BTreeMap;
use std::sync::Arc;

/// A symbolic integer in normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(Arc<Poly>);

/// Sum of `coefficient * monomial`; no zero coefficients; monomials in order.
type Poly = BTreeMap<Monomial, i128>;
/// Product of atoms, each with its power, in order. Empty is 1.
type Monomial = Vec<(Atom, u32)>;

/// Coefficients stay below this, so that no sum or product of two overflows silently.
const MAX_COEFFICIENT: u128 = 1 << 100;
/// Powers stay below this; no shape is near it.
const MAX_POWER: u32 = 64;

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
        Dim(Arc::new(Poly::from([(vec![(a, 1)], 1)])))
    }

    /// Terms whose coefficients are known to fit.
    fn from_terms(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Dim {
        Dim::checked(terms).unwrap_or_else(|| Dim::atom(Atom::FloorDiv(Dim::zero(), Dim::zero())))
    }

    /// The sum of terms; `None` if a coefficient is too large to compute with.
    fn checked(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Option<Dim> {
        let mut poly = Poly::new();
        for (m, c) in terms {
            let slot = poly.entry(m).or_insert(0);
            *slot = slot.checked_add(c).filter(|c| c.unsigned_abs() <= MAX_COEFFICIENT)?;
        }
        poly.retain(|_, c| *c != 0);
        Some(Dim(Arc::new(poly)))
    }

    fn zero() -> Dim {
        Dim(Arc::new(Poly::new()))
    }

    /// Both operands of a commutative operation in one atom.
    fn pair(a: &Dim, b: &Dim) -> Dim {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        Dim::atom(Atom::Max(a.clone(), b.clone()))
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
        Dim::checked(self.0.iter().chain(other.0.iter()).map(|(m, c)| (m.clone(), *c)))
            .unwrap_or_else(|| Dim::atom(Atom::FloorDiv(Dim::pair(self, other), Dim::zero())))
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
        let product = || {
            let mut terms = Vec::with_capacity(self.0.len() * other.0.len());
            for (ma, ca) in self.0.iter() {
                for (mb, cb) in other.0.iter() {
                    terms.push((mul_monomials(ma, mb)?, ca.checked_mul(*cb)?));
                }
            }
            Dim::checked(terms)
        };
        product().unwrap_or_else(|| Dim::atom(Atom::Mod(Dim::pair(self, other), Dim::zero())))
    }

    /// The quotient, if the division leaves no remainder whatever the symbols are (as long as the
    /// divisor is not 0).
    pub fn exact_div(&self, by: &Dim) -> Option<Dim> {
        if by.0.len() != 1 {
            return (self == by && !by.is_zero())
                .then(|| Dim::int(1))
                .or_else(|| (self.is_zero() && !by.is_zero()).then(Dim::zero));
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
            return Dim::from_terms([(Vec::new(), floor(a.into(), b.into()))]);
        }
        if by.as_int() != Some(0)
            && let Some(q) = self.exact_div(by)
        {
            return q;
        }
        if let Some(b) = by.as_int().filter(|b| *b > 0) {
            let (whole, rest) = self.split_multiples(i128::from(b));
            if !whole.is_zero()
                && let Some(quotient) = whole.exact_div(by)
            {
                return quotient.add(&rest.floor_div(by));
            }
        }
        Dim::atom(Atom::FloorDiv(self.clone(), by.clone()))
    }

    /// `self - by * floor(self / by)`.
    pub fn modulo(&self, by: &Dim) -> Dim {
        if let (Some(a), Some(b)) = (self.as_int(), by.as_int())
            && b != 0
        {
            let (a, b) = (i128::from(a), i128::from(b));
            return Dim::from_terms([(Vec::new(), a - b * floor(a, b))]);
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
}

/// `floor(a / b)` of numbers; `b` is not 0.
fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)
}

fn mul_monomials(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<&Atom, u32> = BTreeMap::new();
    for (atom, p) in a.iter().chain(b) {
        let power = powers.entry(atom).or_insert(0);
        *power = power.checked_add(*p).filter(|p| *p <= MAX_POWER)?;
    }
    Some(powers.into_iter().map(|(a, p)| (a.clone(), p)).collect())
}

fn div_monomials(a: &Monomial, by: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<&Atom, u32> = a.iter().map(|(a, p)| (a, *p)).collect();
    for (atom, p) in by {
        let have = powers.get_mut(atom)?;
        *have = have.checked_sub(*p)?;
    }
    Some(powers.into_iter().filter(|(_, p)| *p > 0).map(|(a, p)| (a.clone(), p)).collect())
}
