//! Elements as members of a prime field, non-linear functions uninterpreted.
//!
//! Two expressions that agree on random members are equal as algebra, whatever the functions are,
//! with probability better than 1 - 2^-50. Order, where `max`, `min` and comparisons need one, is
//! a keyed pseudo-random total order: laws that hold in every order hold in it.

use super::domain::{Binary, Compare, Domain, Unary};
use crate::numerics;
use fusec_dsl::dtype::Dtype;

/// The prime 2^61 - 1.
pub const P: u64 = (1 << 61) - 1;

/// A member of the field, and the narrowest element type it is known to be a value of: a
/// conversion to a type that contains it is the identity.
#[derive(Clone, Copy, Debug)]
pub struct Fp {
    /// Below [`P`].
    pub v: u64,
    /// Which type's values it is among.
    pub of: Dtype,
}

impl PartialEq for Fp {
    fn eq(&self, other: &Fp) -> bool {
        self.v == other.v
    }
}

/// What a conversion to fewer bits does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// An uninterpreted odd function a type: equality means *rounding point for rounding point*.
    Kept,
    /// Nothing: equality means *equal in real arithmetic*.
    Dropped,
}

/// The field meaning, under one interpretation of the uninterpreted functions.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Chooses the interpretation.
    pub key: u64,
    /// What conversions do.
    pub rounding: Rounding,
}

/// Scrambles a word (splitmix64's finalizer).
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn add(a: u64, b: u64) -> u64 {
    let s = a + b;
    if s >= P { s - P } else { s }
}

fn neg(a: u64) -> u64 {
    if a == 0 { 0 } else { P - a }
}

fn mul(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    let folded = (wide as u64 & P) + (wide >> 61) as u64;
    if folded >= P { folded - P } else { folded }
}

fn pow(mut base: u64, mut e: u64) -> u64 {
    let mut out = 1;
    while e > 0 {
        if e & 1 == 1 {
            out = mul(out, base);
        }
        base = mul(base, base);
        e >>= 1;
    }
    out
}

/// One over `a`; 0 for 0, as an uninterpreted convention.
fn inverse(a: u64) -> u64 {
    pow(a, P - 2)
}

fn is_negative(a: u64) -> bool {
    a > P / 2
}

/// The member that a finite number is: every one is an integer times a power of two.
fn embed(v: f64) -> u64 {
    let bits = v.abs().to_bits();
    let (field, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i64);
    let (significand, e) =
        if biased == 0 { (field, -1074) } else { (field | 1 << 52, biased - 1075) };
    // 2 has order 61 in the field.
    let magnitude = mul(significand, pow(2, e.rem_euclid(61) as u64));
    if v < 0.0 { neg(magnitude) } else { magnitude }
}

/// Functions that are hashed, by name, so that their keys differ.
#[derive(Clone, Copy)]
enum Key {
    Round(Dtype),
    Unary(Unary),
    Truncate(Dtype),
    Bitcast(Dtype, Dtype, usize),
    Order,
    Pack,
    Number,
}

impl Key {
    fn word(self) -> u64 {
        let (kind, a, b, c) = match self {
            Key::Round(d) => (1, d as u64, 0, 0),
            Key::Unary(u) => (2, u as u64, 0, 0),
            Key::Truncate(d) => (3, d as u64, 0, 0),
            Key::Bitcast(f, t, i) => (4, f as u64, t as u64, i as u64),
            Key::Order => (5, 0, 0, 0),
            Key::Pack => (6, 0, 0, 0),
            Key::Number => (7, 0, 0, 0),
        };
        kind | a << 8 | b << 16 | c << 24
    }
}

impl Field {
    fn hash(&self, key: Key, parts: &[u64]) -> u64 {
        let seed = mix(self.key ^ mix(key.word()));
        parts.iter().fold(seed, |h, p| mix(h ^ mix(*p))) % P
    }

    /// An uninterpreted function with `f(-x) = -f(x)` and `f(0) = 0`.
    fn odd(&self, key: Key, v: u64) -> u64 {
        match v {
            0 => 0,
            v if is_negative(v) => neg(self.hash(key, &[neg(v)])),
            v => self.hash(key, &[v]),
        }
    }

    /// A member that is a value of `dtype`, for inputs.
    pub fn input(&self, dtype: Dtype, random: u64) -> Fp {
        match dtype {
            Dtype::B8 => Fp { v: random & 1, of: dtype },
            _ => Fp { v: mix(random) % P, of: dtype },
        }
    }

    fn to_type(&self, dtype: Dtype, x: Fp) -> Fp {
        let exact = self.rounding == Rounding::Dropped || !dtype.is_float();
        match exact || numerics::contains(dtype, x.of) {
            true if numerics::contains(dtype, x.of) => x,
            true => Fp { v: x.v, of: dtype },
            false => Fp { v: self.odd(Key::Round(dtype), x.v), of: dtype },
        }
    }

    /// The result of an operation: through f32 to the element type.
    fn settle(&self, dtype: Dtype, x: Fp) -> Fp {
        let wide = if dtype == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
        let x = if dtype.is_float() { self.to_type(wide, x) } else { x };
        self.to_type(dtype, x)
    }

    fn order(&self, x: Fp) -> (u64, u64) {
        (self.hash(Key::Order, &[x.v]), x.v)
    }

    fn function(&self, op: Unary, v: u64) -> u64 {
        let hash = |op| self.hash(Key::Unary(op), &[v]);
        match op {
            Unary::Neg => neg(v),
            Unary::Abs => v.min(neg(v)),
            Unary::Rsqrt => inverse(hash(Unary::Sqrt)),
            Unary::Sigmoid => inverse(add(1, self.hash(Key::Unary(Unary::Exp), &[neg(v)]))),
            Unary::Tanh | Unary::Erf | Unary::Round => self.odd(Key::Unary(op), v),
            Unary::Sqrt | Unary::Exp | Unary::Exp2 | Unary::Log | Unary::Log2 => hash(op),
            Unary::Ceil | Unary::Floor => hash(op),
        }
    }
}

/// Not known to be a value of anything narrower than `f64`.
fn fresh(v: u64) -> Fp {
    Fp { v, of: Dtype::F64 }
}

/// The narrowest float type with this value.
fn narrowest(v: f64) -> Dtype {
    let order = [Dtype::F8E4M3, Dtype::Bf16, Dtype::F16, Dtype::F32];
    let fits = |d: &Dtype| numerics::same(numerics::round(*d, v), v);
    order.into_iter().find(fits).unwrap_or(Dtype::F64)
}

/// The exact result; an operand itself where the operation leaves it as it is.
fn exactly(op: Binary, a: Fp, b: Fp) -> Fp {
    match op {
        Binary::Add if a.v == 0 => b,
        Binary::Add | Binary::Sub if b.v == 0 => a,
        Binary::Mul if a.v == 1 => b,
        Binary::Mul | Binary::Div if b.v == 1 => a,
        Binary::Mul if a.v == P - 1 => Fp { v: neg(b.v), of: b.of },
        Binary::Mul | Binary::Div if b.v == P - 1 => Fp { v: neg(a.v), of: a.of },
        Binary::Add => fresh(add(a.v, b.v)),
        Binary::Sub => fresh(add(a.v, neg(b.v))),
        Binary::Mul => fresh(mul(a.v, b.v)),
        Binary::Div => fresh(mul(a.v, inverse(b.v))),
        Binary::Min | Binary::Max => a,
    }
}

impl Domain for Field {
    type Elem = Fp;

    fn number(&self, dtype: Dtype, v: f64) -> Fp {
        let v = match (self.rounding, dtype) {
            (Rounding::Dropped, _) | (_, Dtype::F64) => v,
            _ => f64::from(v as f32),
        };
        match v.is_finite() {
            true if dtype.is_float() => Fp { v: embed(v), of: narrowest(v) },
            true => Fp { v: embed(v.trunc()), of: dtype },
            false => Fp { v: self.odd(Key::Number, embed(v.signum())), of: Dtype::F8E4M3 },
        }
    }

    fn unary(&self, dtype: Dtype, op: Unary, x: Fp) -> Fp {
        let v = self.function(op, x.v);
        let of = if matches!(op, Unary::Neg | Unary::Abs) { x.of } else { Dtype::F64 };
        self.settle(dtype, Fp { v, of })
    }

    fn binary(&self, dtype: Dtype, op: Binary, a: Fp, b: Fp) -> Fp {
        let x = match op {
            Binary::Min if self.order(b) < self.order(a) => b,
            Binary::Max if self.order(b) > self.order(a) => b,
            _ => exactly(op, a, b),
        };
        self.settle(dtype, x)
    }

    fn compare(&self, op: Compare, a: Fp, b: Fp) -> bool {
        op.of(self.order(a), self.order(b))
    }

    fn is_true(&self, x: Fp) -> bool {
        x.v != 0
    }

    fn cast(&self, from: Dtype, to: Dtype, x: Fp) -> Fp {
        match to {
            Dtype::B8 => Fp { v: u64::from(x.v != 0), of: to },
            _ if to.is_float() || !from.is_float() => self.to_type(to, x),
            _ => Fp { v: self.odd(Key::Truncate(to), x.v), of: to },
        }
    }

    fn sum(&self, dtype: Dtype, terms: &mut dyn Iterator<Item = Fp>, divisor: usize) -> Fp {
        let zero = Fp { v: 0, of: Dtype::F8E4M3 };
        let total = terms.fold(zero, |acc, x| exactly(Binary::Add, acc, x));
        let divisor = Fp { v: divisor as u64 % P, of: Dtype::F64 };
        self.to_type(dtype, exactly(Binary::Div, total, divisor))
    }

    fn dot(&self, dtype: Dtype, pairs: &mut dyn Iterator<Item = (Fp, Fp)>) -> Fp {
        let mut products = pairs.map(|(a, b)| exactly(Binary::Mul, a, b));
        self.sum(dtype, &mut products, 1)
    }

    fn bitcast(&self, from: Dtype, to: Dtype, parts: &[Fp], out: &mut Vec<Fp>) {
        if from == to {
            return out.extend_from_slice(parts);
        }
        let values: Vec<u64> = parts.iter().map(|p| p.v).collect();
        let count = (parts.len() * from.bytes() as usize) / to.bytes() as usize;
        out.extend((0..count).map(|i| {
            let v = self.hash(Key::Bitcast(from, to, i), &values);
            Fp { v, of: to }
        }));
    }

    fn pack_e2m1(&self, first: Fp, second: Fp) -> Fp {
        let half = |x: Fp| self.to_type(Dtype::F4E2M1x2, x).v;
        Fp { v: self.hash(Key::Pack, &[half(first), half(second)]), of: Dtype::U8 }
    }

    fn digest(&self, x: Fp) -> u64 {
        x.v
    }

    fn arbitrary(&self, dtype: Dtype, word: u64) -> Fp {
        self.input(dtype, word)
    }
}
