//! Binary floating point of at most 32 bits, by exponent and mantissa widths.

use fusec_dsl::dtype::Dtype;

/// What the all-ones exponent means, and so what happens above the largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// Infinity and NaNs; overflow is infinity.
    Infinity,
    /// Infinity and NaNs as codes, but what is too large saturates (`f8e5m2`).
    Saturate,
    /// Values, except that all ones is NaN; conversion saturates (`f8e4m3fn`).
    NanOnly,
    /// Values only; conversion saturates and NaN becomes the largest value (`e2m1`).
    Finite,
    /// An unsigned power of two, all ones is NaN (`f8e8m0fnu`).
    Exponent,
}

/// A floating point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Exponent bits.
    pub exponent: u32,
    /// Mantissa bits, without the hidden one.
    pub mantissa: u32,
    /// Exponent bias.
    pub bias: i32,
    /// The top of the range.
    pub top: Top,
}

const fn ieee(exponent: u32, mantissa: u32, top: Top) -> Format {
    Format { exponent, mantissa, bias: (1 << (exponent - 1)) - 1, top }
}

/// `f32`.
pub const F32: Format = ieee(8, 23, Top::Infinity);
/// `bf16`.
pub const BF16: Format = ieee(8, 7, Top::Infinity);
/// `f16`.
pub const F16: Format = ieee(5, 10, Top::Infinity);
/// `f8e5m2`.
pub const E5M2: Format = ieee(5, 2, Top::Saturate);
/// `f8e4m3fn`.
pub const E4M3: Format = ieee(4, 3, Top::NanOnly);
/// One `e2m1`, in the low four bits.
pub const E2M1: Format = ieee(2, 1, Top::Finite);
/// `f8e8m0fnu`.
pub const E8M0: Format = ieee(8, 0, Top::Exponent);

impl Format {
    /// The format of an element type of at most 32 bits; `None` for other types.
    pub fn of(dtype: Dtype) -> Option<Format> {
        Some(match dtype {
            Dtype::F32 => F32,
            Dtype::Bf16 => BF16,
            Dtype::F16 => F16,
            Dtype::F8E5M2 => E5M2,
            Dtype::F8E4M3 => E4M3,
            Dtype::F8E8M0 => E8M0,
            _ => return None,
        })
    }

    /// Code of the largest finite value.
    pub fn max_code(self) -> u64 {
        let ones = (1u64 << (self.exponent + self.mantissa)) - 1;
        match self.top {
            Top::Infinity | Top::Saturate => ones - (1 << self.mantissa),
            Top::NanOnly | Top::Exponent => ones - 1,
            Top::Finite => ones,
        }
    }

    /// The largest finite value.
    pub fn max(self) -> f64 {
        self.decode(self.max_code())
    }

    /// The nearest value, as conversion gives it.
    pub fn round(self, v: f64) -> f64 {
        match self.top {
            _ if v.is_nan() => self.canonical_nan(),
            Top::Saturate if v.is_infinite() => self.max().copysign(v),
            _ => self.decode(self.encode(v)),
        }
    }

    /// The NaN that arithmetic and conversion produce; the largest value where there is none.
    pub fn canonical_nan(self) -> f64 {
        match self.top {
            Top::Finite => self.max(),
            _ => f64::NAN,
        }
    }

    fn sign_bit(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// Nearest code, ties to even, in one rounding whatever the precision of `v`.
    ///
    /// An infinity that the format has is kept, even where conversion saturates.
    pub fn encode(self, v: f64) -> u64 {
        if self.top == Top::Exponent {
            return encode_exponent(v);
        }
        let sign = if v.is_sign_negative() { self.sign_bit() } else { 0 };
        if v.is_nan() {
            return self.encode_nan(v, sign);
        }
        let code = match v.is_infinite() {
            true if self.top == Top::Saturate => return sign | (self.max_code() + 1),
            true => u64::MAX,
            false => self.encode_magnitude(v.abs()),
        };
        sign | if code > self.max_code() { self.overflow() } else { code }
    }

    fn overflow(self) -> u64 {
        match self.top {
            Top::Infinity => self.max_code() + 1,
            _ => self.max_code(),
        }
    }

    fn encode_nan(self, v: f64, sign: u64) -> u64 {
        match self.top {
            Top::Finite => self.max_code(),
            Top::NanOnly | Top::Exponent => sign | (self.max_code() + 1),
            Top::Infinity | Top::Saturate => {
                let payload = (v.to_bits() & ((1 << 52) - 1)) >> (52 - self.mantissa);
                let payload = if payload == 0 { 1 << (self.mantissa - 1) } else { payload };
                sign | (self.max_code() + 1) | payload
            }
        }
    }

    /// Code of a finite magnitude as if the exponent had no upper end.
    fn encode_magnitude(self, v: f64) -> u64 {
        let (significand, exponent) = split(v);
        if significand == 0 {
            return 0;
        }
        let leading = exponent + 63 - significand.leading_zeros() as i32;
        let least = 1 - self.bias;
        let step = leading.max(least) - self.mantissa as i32;
        let rounded = shift_to_even(significand, step - exponent);
        match leading < least {
            true => rounded,
            // A carry out of the mantissa runs into the exponent, as it should.
            false => {
                (((leading + self.bias) as u64) << self.mantissa) + rounded - (1 << self.mantissa)
            }
        }
    }

    /// The value of a code.
    pub fn decode(self, code: u64) -> f64 {
        if self.top == Top::Exponent {
            return if code & 0xff == 0xff { f64::NAN } else { exp2i((code & 0xff) as i32 - 127) };
        }
        let negative = code & self.sign_bit() != 0;
        let magnitude = code & (self.sign_bit() - 1);
        let field = magnitude & ((1 << self.mantissa) - 1);
        if magnitude > self.max_code() {
            let quiet = if self.top == Top::NanOnly { 1 << (self.mantissa - 1) } else { field };
            let bits = (0x7ff << 52) | (quiet << (52 - self.mantissa));
            return f64::from_bits(bits | u64::from(negative) << 63);
        }
        let exponent = (magnitude >> self.mantissa) as i32;
        let hidden = if exponent == 0 { 0 } else { 1 << self.mantissa };
        let scale = exponent.max(1) - self.bias - self.mantissa as i32;
        let v = (field | hidden) as f64 * exp2i(scale);
        if negative { -v } else { v }
    }
}

/// PyTorch's conversion: the sign is dropped, a half rounds up, what is not finite is NaN.
fn encode_exponent(v: f64) -> u64 {
    if !v.is_finite() {
        return 0xff;
    }
    let (significand, exponent) = split(v.abs());
    if significand == 0 {
        return 0;
    }
    let width = 63 - significand.leading_zeros() as i32;
    let half_or_more = width > 0 && (significand >> (width - 1)) & 1 == 1;
    (exponent + width + 127 + i32::from(half_or_more)).clamp(0, 0xff) as u64
}

/// `v = significand * 2^exponent` for a finite `v >= 0`.
fn split(v: f64) -> (u64, i32) {
    let bits = v.to_bits();
    let field = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 {
        0 => (field, -1074),
        e => (field | 1 << 52, e - 1075),
    }
}

/// `v / 2^by`, to nearest, ties to even. `v` is below 2^53.
fn shift_to_even(v: u64, by: i32) -> u64 {
    if by <= 0 {
        return v << -by;
    }
    if by > 54 {
        return 0;
    }
    let (whole, rest, half) = (v >> by, v & ((1 << by) - 1), 1u64 << (by - 1));
    whole + u64::from(rest > half || (rest == half && whole & 1 == 1))
}

/// `2^e` for an exponent in the normal range of `f64`.
fn exp2i(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// The common case on the fast path: `f32` to `bf16`, as an `f32`.
pub fn bf16_from_f32(v: f32) -> f32 {
    let bits = v.to_bits();
    f32::from_bits((bits.wrapping_add(0x7fff + ((bits >> 16) & 1))) & 0xffff_0000)
}
