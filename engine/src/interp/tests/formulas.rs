//! Library ops written out in plain Rust over the `half` and `float8` crates, as a second opinion.

use half::{bf16, f16};

/// To the nearest bf16.
pub(super) fn to_bf16(v: f32) -> f32 {
    bf16::from_f32(v).to_f32()
}

/// To the nearest f16.
pub(super) fn to_f16(v: f32) -> f32 {
    f16::from_f32(v).to_f32()
}

/// To the nearest f8e4m3fn of a value within its range.
pub(super) fn to_e4m3(v: f32) -> f32 {
    if v.is_nan() { f32::NAN } else { float8::F8E4M3::from_f32(v.clamp(-448.0, 448.0)).to_f32() }
}

/// Code of the nearest e2m1; ties to the even code.
pub(super) fn e2m1_code(v: f32) -> u8 {
    const VALUES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    if v.is_nan() {
        return 7;
    }
    let size = v.abs().min(6.0);
    let mut best = 0;
    for (code, value) in VALUES.iter().enumerate() {
        let (near, had) = ((value - size).abs(), (VALUES[best] - size).abs());
        if near < had || (near == had && code % 2 == 0) {
            best = code;
        }
    }
    best as u8 | if v.is_sign_negative() { 8 } else { 0 }
}

/// `1 / sqrt(mean(h^2) + eps)` of a row.
pub(super) fn inverse_rms(row: &[f32], eps: f32) -> f32 {
    let squares = row.iter().map(|h| f64::from(h * h));
    let mean = (squares.sum::<f64>() / row.len() as f64) as f32;
    (1.0 / f64::from(mean + eps).sqrt()) as f32
}

/// SiLU in f32.
pub(super) fn silu(x: f32) -> f32 {
    x / (1.0 + libm::exp(f64::from(-x)) as f32)
}

/// The largest magnitude; NaN if there is one.
pub(super) fn largest(row: &[f32]) -> f32 {
    row.iter()
        .fold(0.0, |m: f32, x| if x.is_nan() || m.is_nan() { f32::NAN } else { m.max(x.abs()) })
}

/// The larger; NaN if the first is.
pub(super) fn at_least(v: f32, least: f32) -> f32 {
    if v.is_nan() { v } else { v.max(least) }
}
