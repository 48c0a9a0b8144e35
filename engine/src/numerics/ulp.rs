//! How far apart two values of a type are, in steps of its code.

use super::encode;
use super::float::Format;
use fusec_dsl::dtype::Dtype;

/// Number of representable values between two: 0 for equal, 1 for neighbours.
///
/// -0 and 0 are the same, infinity follows the largest finite value, two NaNs are the same, and
/// a NaN is infinitely far (`u64::MAX`) from anything else. Integers and packed codes count
/// their difference.
pub fn distance(dtype: Dtype, a: f64, b: f64) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (true, false) | (false, true) => u64::MAX,
        (false, false) => {
            ordinal(dtype, a).abs_diff(ordinal(dtype, b)).try_into().unwrap_or(u64::MAX)
        }
    }
}

/// Position of a value among all values of its type; both zeros are at 0.
pub fn ordinal(dtype: Dtype, v: f64) -> i128 {
    if dtype == Dtype::F64 {
        return signed(v.to_bits(), 1 << 63);
    }
    match Format::of(dtype) {
        Some(_) if dtype == Dtype::F8E8M0 => i128::from(encode(dtype, v)),
        Some(_) => signed(encode(dtype, v), 1 << (dtype.bits() - 1)),
        None => v as i128,
    }
}

fn signed(code: u64, sign: u64) -> i128 {
    let magnitude = i128::from(code & (sign - 1));
    if code & sign != 0 { -magnitude } else { magnitude }
}
