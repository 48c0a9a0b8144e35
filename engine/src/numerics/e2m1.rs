//! Four-bit floats, two a byte, the earlier in the low half.

use super::float::E2M1;

/// Nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, ties to even, saturating.
///
/// NaN becomes 6, as `cvt.rn.satfinite.e2m1x2` does.
pub fn encode(v: f64) -> u8 {
    E2M1.encode(v) as u8
}

/// The value of the low four bits.
pub fn decode(code: u8) -> f64 {
    E2M1.decode(u64::from(code & 0xf))
}

/// Two values to a byte.
pub fn pack(first: f64, second: f64) -> u8 {
    encode(first) | encode(second) << 4
}

/// Both values of a byte.
pub fn unpack(byte: u8) -> [f64; 2] {
    [decode(byte), decode(byte >> 4)]
}
