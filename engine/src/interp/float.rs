//! Elements as numbers, with the rounding of every element type.

use super::domain::{Binary, Compare, Domain, Unary};
use super::random::{Kind, random_tensor};
use super::tensor::from_le;
use crate::numerics::{self, e2m1, int};
use fusec_dsl::dtype::Dtype;

/// Values as `f64`. Arithmetic on 16- and 32-bit floats computes in `f32` and rounds to the
/// element type; on `f64` it computes in `f64`; on integers it wraps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floats;

/// The type arithmetic happens in.
fn is_double(dtype: Dtype) -> bool {
    dtype == Dtype::F64
}

impl Domain for Floats {
    type Elem = f64;

    fn number(&self, dtype: Dtype, v: f64) -> f64 {
        match dtype {
            Dtype::F64 => v,
            d if d.is_float() => f64::from(v as f32),
            d => int::truncate(d, v),
        }
    }

    fn unary(&self, dtype: Dtype, op: Unary, x: f64) -> f64 {
        match dtype {
            Dtype::F64 => function(op, x),
            d if d.is_float() => numerics::round(d, f64::from(function(op, x) as f32)),
            d => int::wrap(d, function(op, x) as i128),
        }
    }

    fn binary(&self, dtype: Dtype, op: Binary, a: f64, b: f64) -> f64 {
        if is_double(dtype) {
            return arithmetic(op, a, b);
        }
        if dtype.is_float() {
            // One f64 operation on f32 values, rounded to f32, is the f32 operation: 53 bits are
            // more than twice 24 and two.
            let single = arithmetic(op, a, b) as f32;
            return numerics::round(dtype, f64::from(single));
        }
        integer(dtype, op, a as i128, b as i128)
    }

    fn compare(&self, op: Compare, a: f64, b: f64) -> bool {
        op.of(a, b)
    }

    fn is_true(&self, x: f64) -> bool {
        x != 0.0
    }

    fn cast(&self, from: Dtype, to: Dtype, x: f64) -> f64 {
        match from.is_float() || to.is_float() {
            true => numerics::round(to, x),
            false => int::wrap(to, x as i128),
        }
    }

    fn sum(&self, dtype: Dtype, terms: &mut dyn Iterator<Item = f64>, divisor: usize) -> f64 {
        let mut total = Exact::default();
        terms.for_each(|x| total.add(x));
        round_result(dtype, total.value() / divisor as f64)
    }

    fn dot(&self, dtype: Dtype, pairs: &mut dyn Iterator<Item = (f64, f64)>) -> f64 {
        let mut total = Exact::default();
        pairs.for_each(|(a, b)| total.add(a * b));
        round_result(dtype, total.value())
    }

    fn bitcast(&self, from: Dtype, to: Dtype, parts: &[f64], out: &mut Vec<f64>) {
        let (narrow, wide) = (from.bytes() as usize, to.bytes() as usize);
        let mut bytes = [0u8; 16];
        for (i, part) in parts.iter().enumerate() {
            let code = numerics::encode(from, *part).to_le_bytes();
            bytes[i * narrow..(i + 1) * narrow].copy_from_slice(&code[..narrow]);
        }
        let all = &bytes[..parts.len() * narrow];
        out.extend(all.chunks_exact(wide).map(|c| numerics::decode(to, from_le(c))));
    }

    fn pack_e2m1(&self, first: f64, second: f64) -> f64 {
        f64::from(e2m1::pack(first, second))
    }

    fn digest(&self, x: f64) -> u64 {
        if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
    }

    fn arbitrary(&self, dtype: Dtype, word: u64) -> f64 {
        random_tensor(dtype, &[], Kind::Ordinary, word).data[0]
    }
}

fn round_result(dtype: Dtype, v: f64) -> f64 {
    match dtype.is_float() {
        true => numerics::round(dtype, v),
        false => int::wrap(dtype, v as i128),
    }
}

/// A sum in twice the precision of `f64` (Neumaier's), so that order does not matter.
#[derive(Clone, Copy, Default)]
struct Exact {
    sum: f64,
    lost: f64,
}

impl Exact {
    fn add(&mut self, x: f64) {
        let next = self.sum + x;
        self.lost += match self.sum.abs() >= x.abs() {
            true => (self.sum - next) + x,
            false => (x - next) + self.sum,
        };
        self.sum = next;
    }

    /// Infinities and NaNs come from the plain sum: the correction is meaningless there.
    fn value(self) -> f64 {
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }
}

/// The function in `f64`. From `libm`, so that it is the same on every platform.
fn function(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sqrt => x.sqrt(),
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Exp => libm::exp(x),
        Unary::Exp2 => libm::exp2(x),
        Unary::Log => libm::log(x),
        Unary::Log2 => libm::log2(x),
        Unary::Tanh => libm::tanh(x),
        Unary::Erf => libm::erf(x),
        Unary::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
        Unary::Ceil => x.ceil(),
        Unary::Floor => x.floor(),
        Unary::Round => x.round_ties_even(),
    }
}

fn arithmetic(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Min => -larger(-a, -b),
        Binary::Max => larger(a, b),
    }
}

/// NaN if either is; 0 is larger than -0, so that the order of operands does not matter.
fn larger(a: f64, b: f64) -> f64 {
    match a.partial_cmp(&b) {
        None => f64::NAN,
        Some(std::cmp::Ordering::Less) => b,
        Some(std::cmp::Ordering::Greater) => a,
        Some(std::cmp::Ordering::Equal) if a.is_sign_negative() => b,
        Some(std::cmp::Ordering::Equal) => a,
    }
}

fn integer(dtype: Dtype, op: Binary, a: i128, b: i128) -> f64 {
    let v = match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        // Division of integers is division of floats (see `promote`), so this is unreachable
        // from a program; truncation is the harmless reading.
        Binary::Div => a.checked_div(b).unwrap_or(0),
    };
    int::wrap(dtype, v)
}
