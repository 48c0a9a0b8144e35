//! Random tensors, the same for the same seed on every machine.

use super::tensor::Tensor;
use crate::numerics;
use fusec_dsl::dtype::Dtype;

/// What values to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Normal deviates of a scale that varies from row to row.
    Ordinary,
    /// Rows of zeros, NaNs, infinities, denormals, -0, huge values and rounding ties among
    /// ordinary ones.
    Hostile,
}

/// A small generator (xoshiro256++ seeded by splitmix64).
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Rng {
        let mut s = seed;
        let state = std::array::from_fn(|_| {
            s = s.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = s;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        Rng { state }
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// One of these, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Uniform in `0 .. 1`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal, with variance 1: the sum of twelve uniform deviates (no libm in it).
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// A random tensor. Integers are small; codes of packed types and bytes are uniform.
pub fn random_tensor(dtype: Dtype, shape: &[usize], kind: Kind, seed: u64) -> Tensor {
    let mut rng = Rng::new(seed);
    let row = shape.last().copied().unwrap_or(1).max(1);
    let numel = shape.iter().product();
    let mut data = Vec::with_capacity(numel);
    while data.len() < numel {
        let mood = if kind == Kind::Hostile { rng.below(12) } else { 0 };
        let scale = f64::from(1u32 << rng.below(8)) / 16.0;
        for _ in 0..row.min(numel - data.len()) {
            data.push(element(dtype, mood, scale, &mut rng));
        }
    }
    Tensor { dtype, shape: shape.to_vec(), data }
}

fn element(dtype: Dtype, mood: usize, scale: f64, rng: &mut Rng) -> f64 {
    match dtype {
        Dtype::B8 => f64::from(rng.next() as u8 & 1),
        Dtype::U8 | Dtype::F4E2M1x2 | Dtype::C64 => f64::from(rng.next() as u8),
        Dtype::F8E8M0 => numerics::decode(dtype, 120 + rng.next() % 16),
        d if d.is_float() => float(d, mood, scale, rng),
        _ => rng.below(17) as f64 - 8.0,
    }
}

fn float(dtype: Dtype, mood: usize, scale: f64, rng: &mut Rng) -> f64 {
    let ordinary = rng.normal() * scale;
    let rare = rng.below(16) == 0;
    let v = match mood {
        1 => 0.0,
        2 => -0.0,
        3 if rare => f64::NAN,
        4 if rare => f64::INFINITY.copysign(ordinary),
        5 => f64::MAX.copysign(ordinary) * f64::from(u8::from(rare)),
        6 => tiniest(dtype) * (rng.below(9) as f64 - 4.0),
        7 => tie(rng),
        8 => (rng.below(1921) as f64 - 960.0) * 0.5,
        9 => ordinary * 1e4,
        10 => ordinary * 1e-6,
        _ => ordinary,
    };
    let v = numerics::round(dtype, v);
    // The largest finite value, not the infinity that a huge one rounds to.
    if mood == 5 && v.is_infinite() { largest(dtype).copysign(v) } else { v }
}

/// The smallest denormal.
fn tiniest(dtype: Dtype) -> f64 {
    numerics::decode(dtype, 1)
}

/// The largest finite value.
fn largest(dtype: Dtype) -> f64 {
    numerics::float::Format::of(dtype).map_or(f64::MAX, |f| f.max())
}

/// Halfway between two neighbours of some short format, as far as the type can hold it.
fn tie(rng: &mut Rng) -> f64 {
    let mantissa = rng.pick(&[1u32, 2, 3, 7]);
    let steps = (1u64 << mantissa) + rng.next() % (1 << mantissa);
    let exponent = rng.below(12) as i32 - 6;
    (steps as f64 + 0.5) * 2f64.powi(exponent - mantissa as i32)
}
