//! Element types with their exact rounding.
//!
//! A value of any element type is held as an `f64`, which represents every one of them exactly
//! (`i64` beyond 2^53 excepted, see [`int`]). [`round`] goes from a real result to the nearest
//! value of a type in one rounding; [`encode`] and [`decode`] go between values and bit patterns.

pub mod e2m1;
pub mod float;
pub mod int;
pub mod ulp;

use fusec_dsl::dtype::Dtype;

/// Rounds to the nearest value of `dtype`, ties to even; a NaN becomes the canonical one.
///
/// `bf16`, `f16` and `f32` overflow to infinity. `f8e4m3fn` and `f8e5m2` saturate, infinity
/// included. `f8e8m0fnu` drops the sign and rounds ties up, as PyTorch does. Integer types
/// truncate and saturate, as Rust's `as` does; `b8` is "not zero".
pub fn round(dtype: Dtype, v: f64) -> f64 {
    match dtype {
        Dtype::F64 => v,
        Dtype::F32 => f64::from(v as f32),
        Dtype::Bf16 if f64::from(v as f32) == v => f64::from(float::bf16_from_f32(v as f32)),
        _ => match float::Format::of(dtype) {
            Some(format) => format.round(v),
            None => int::truncate(dtype, v),
        },
    }
}

/// The bit pattern of a value, rounding to nearest even where it is not representable.
///
/// Keeps the sign and the leading payload bits of a NaN, so that `encode(decode(c)) == c`.
pub fn encode(dtype: Dtype, v: f64) -> u64 {
    match dtype {
        Dtype::F64 => v.to_bits(),
        _ => match float::Format::of(dtype) {
            Some(format) => format.encode(v),
            None => int::encode(dtype, v),
        },
    }
}

/// The value behind a bit pattern; bits beyond the type's width are ignored.
pub fn decode(dtype: Dtype, code: u64) -> f64 {
    match dtype {
        Dtype::F64 => f64::from_bits(code),
        _ => match float::Format::of(dtype) {
            Some(format) => format.decode(code),
            None => int::decode(dtype, code),
        },
    }
}

/// Every value of an 8-bit type, by bit pattern.
pub fn table(dtype: Dtype) -> Option<[f64; 256]> {
    (dtype.bits() == 8).then(|| std::array::from_fn(|code| decode(dtype, code as u64)))
}

/// Whether two values are the same: bit for bit, but any two NaNs are equal.
pub fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Whether elements of this type are numbers that arithmetic understands, not packed codes.
pub fn is_numeric(dtype: Dtype) -> bool {
    !matches!(dtype, Dtype::F4E2M1x2 | Dtype::C64)
}

/// Whether every value of `from` is also a value of `to`.
pub fn contains(to: Dtype, from: Dtype) -> bool {
    use Dtype::*;
    if to == from || to == F64 && from != I64 && is_numeric(from) {
        return true;
    }
    match (from, to) {
        (B8, _) => is_numeric(to) && to != F8E8M0,
        (U8, F32 | Bf16 | F16 | I16 | I32 | I64) => true,
        (I8, F32 | Bf16 | F16 | I16 | I32 | I64) => true,
        (I16, F32 | I32 | I64) | (I32, I64) => true,
        (F8E4M3 | F8E5M2, F16 | Bf16 | F32) => true,
        (F8E8M0 | Bf16 | F16, F32) => true,
        (F8E8M0, Bf16) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
