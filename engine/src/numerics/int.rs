//! Integers and booleans as `f64` values.
//!
//! `i64` values beyond 2^53 are not all representable: the interpreter refuses them as input, and
//! results beyond that are the nearest `f64`. Indices and slots, which is what graphs hold, are far
//! below.

use fusec_dsl::dtype::Dtype;

/// Largest magnitude at which every integer is an exact `f64`.
pub const EXACT: f64 = 9_007_199_254_740_992.0;

/// Inclusive bounds of an integer type; packed codes count as unsigned.
pub fn bounds(dtype: Dtype) -> (f64, f64) {
    match dtype {
        Dtype::B8 => (0.0, 1.0),
        Dtype::U8 | Dtype::F4E2M1x2 => (0.0, 255.0),
        Dtype::I8 => (-128.0, 127.0),
        Dtype::I16 => (-32768.0, 32767.0),
        Dtype::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        _ => (-EXACT, EXACT),
    }
}

/// A real number to an integer type: toward zero, saturating, NaN to zero.
pub fn truncate(dtype: Dtype, v: f64) -> f64 {
    if dtype == Dtype::B8 {
        return f64::from(u8::from(v != 0.0));
    }
    let (lo, hi) = bounds(dtype);
    // Adding zero turns -0 into +0: integers have one zero.
    if v.is_nan() { 0.0 } else { v.trunc().clamp(lo, hi) + 0.0 }
}

/// An integer to an integer type: keeps the low bits.
pub fn wrap(dtype: Dtype, v: i128) -> f64 {
    match dtype {
        Dtype::B8 => f64::from(u8::from(v != 0)),
        _ => decode(dtype, v as u64),
    }
}

/// The two's complement bits of a value.
pub fn encode(dtype: Dtype, v: f64) -> u64 {
    let width = dtype.bits();
    let bits = truncate(dtype, v) as i64 as u64;
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

/// The value of two's complement bits.
pub fn decode(dtype: Dtype, code: u64) -> f64 {
    match dtype {
        Dtype::B8 => f64::from(u8::from(code as u8 != 0)),
        Dtype::U8 | Dtype::F4E2M1x2 => f64::from(code as u8),
        Dtype::I8 => f64::from(code as i8),
        Dtype::I16 => f64::from(code as i16),
        Dtype::I32 => f64::from(code as i32),
        _ => code as i64 as f64,
    }
}
