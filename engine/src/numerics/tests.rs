//! Exhaustive over 8- and 16-bit codes, and against the `half` and `float8` crates.

use super::float::{self, E2M1, E4M3, E5M2, Format};
use super::*;
use fusec_dsl::dtype::Dtype::*;
use proptest::prelude::*;

fn codes(dtype: Dtype) -> std::ops::Range<u64> {
    0..1 << dtype.bits()
}

#[test]
fn every_code_survives_a_round_trip() {
    for dtype in [F8E4M3, F8E5M2, F8E8M0, I8, U8, F4E2M1x2, Bf16, F16, I16] {
        for code in codes(dtype) {
            assert_eq!(encode(dtype, decode(dtype, code)), code, "{dtype} {code:#x}");
        }
    }
    for code in (0..=u32::MAX).step_by(9973) {
        assert_eq!(encode(F32, decode(F32, u64::from(code))), u64::from(code));
        assert!(same(decode(F32, u64::from(code)), f64::from(f32::from_bits(code))));
    }
}

#[test]
fn every_code_decodes_as_the_crates_say() {
    for code in 0..=u16::MAX {
        let (bf16, f16) = (half::bf16::from_bits(code), half::f16::from_bits(code));
        assert!(same(decode(Bf16, u64::from(code)), bf16.to_f64()), "bf16 {code:#x}");
        assert!(same(decode(F16, u64::from(code)), f16.to_f64()), "f16 {code:#x}");
    }
    for code in 0..=u8::MAX {
        let (e4m3, e5m2) = (float8::F8E4M3::from_bits(code), float8::F8E5M2::from_bits(code));
        assert!(same(decode(F8E4M3, u64::from(code)), e4m3.to_f64()), "e4m3 {code:#x}");
        assert!(same(decode(F8E5M2, u64::from(code)), e5m2.to_f64()), "e5m2 {code:#x}");
    }
}

/// Every midpoint of two neighbours goes to the even code, and a nudge off it to the nearer one.
fn check_ties(format: Format) {
    for code in 0..format.max_code() {
        let (lo, hi) = (format.decode(code), format.decode(code + 1));
        let middle = (lo + hi) / 2.0;
        let even = if code & 1 == 0 { code } else { code + 1 };
        let nudge = |d: i64| f64::from_bits((middle.to_bits() as i64 + d) as u64);
        assert_eq!(format.encode(middle), even, "{format:?} tie above {lo}");
        assert_eq!(format.encode(nudge(-1)), code, "{format:?} below the tie above {lo}");
        assert_eq!(format.encode(nudge(1)), code + 1, "{format:?} above the tie above {lo}");
        let sign = 1u64 << (format.exponent + format.mantissa);
        assert_eq!(format.encode(-middle), sign | even, "{format:?} negative tie");
    }
}

#[test]
fn ties_go_to_even_and_one_bit_decides() {
    for format in [E4M3, E5M2, E2M1, float::BF16, float::F16] {
        check_ties(format);
    }
}

#[test]
fn the_top_of_each_range() {
    let mut text = String::new();
    for dtype in [F8E4M3, F8E5M2, F16, Bf16, F32, F8E8M0] {
        let max = Format::of(dtype).map(Format::max).unwrap_or_default();
        let row = [max, max * 1.03, max * 1.2, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0]
            .map(|v| format!("{:?}", round(dtype, v)));
        text += &format!("{dtype}: {}\n", row.join(" "));
    }
    insta::assert_snapshot!(text, @"
    f8e4m3fn: 448.0 448.0 448.0 448.0 -448.0 NaN -0.0
    f8e5m2: 57344.0 57344.0 57344.0 57344.0 -57344.0 NaN -0.0
    f16: 65504.0 inf inf inf -inf NaN -0.0
    bf16: 3.3895313892515355e38 inf inf inf -inf NaN -0.0
    f32: 3.4028234663852886e38 inf inf inf -inf NaN -0.0
    f8e8m0fnu: 1.7014118346046923e38 1.7014118346046923e38 1.7014118346046923e38 NaN NaN NaN 5.877471754111438e-39
    ");
}

#[test]
fn e8m0_rounds_a_half_up_and_has_no_zero() {
    let row = [0.0, 1e-300, 5.8e-39, 8.9e-39, 1.0, 1.4999, 1.5, -2.0, 3.0, 2f64.powi(127) * 1.5]
        .map(|v| format!("{:#x}", encode(F8E8M0, v)));
    insta::assert_snapshot!(row.join(" "), @"0x0 0x0 0x0 0x1 0x7f 0x7f 0x80 0x80 0x81 0xff");
}

#[test]
fn e2m1_packs_the_earlier_value_low() {
    let values = [0.0, 0.25, 0.26, 0.75, 1.25, 2.5, 2.6, 5.0, 5.1, 100.0, f64::NAN, -0.1, -7.0];
    let codes = values.map(|v| format!("{v}:{:x}", e2m1::encode(v)));
    insta::assert_snapshot!(codes.join(" "), @"0:0 0.25:0 0.26:1 0.75:2 1.25:2 2.5:4 2.6:5 5:6 5.1:7 100:7 NaN:7 -0.1:8 -7:f");
    assert_eq!(e2m1::pack(1.0, -6.0), 0xf2);
    assert_eq!(e2m1::unpack(0xf2), [1.0, -6.0]);
}

#[test]
fn one_rounding_differs_from_two() {
    // Just above a bf16 tie, but below half an f32 step: through f32 it would look like the tie.
    let v = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
    assert_eq!(round(Bf16, v), 1.0 + 2f64.powi(-7));
    assert_eq!(round(Bf16, round(F32, v)), 1.0);
}

#[test]
fn steps_between_values() {
    let table = [
        (Bf16, 1.0, 1.0078125, 1),
        (Bf16, -0.0, 0.0, 0),
        (F8E4M3, -0.001953125, 0.001953125, 2),
        (F16, 65504.0, f64::INFINITY, 1),
        (F32, f64::NAN, f64::NAN, 0),
        (F32, f64::NAN, 1.0, u64::MAX),
        (F64, 1.0, 1.0 + f64::EPSILON, 1),
        (I32, -3.0, 4.0, 7),
        (F8E8M0, 1.0, 8.0, 3),
    ];
    for (dtype, a, b, steps) in table {
        assert_eq!(ulp::distance(dtype, a, b), steps, "{dtype} {a} {b}");
    }
}

#[test]
fn containment_is_true_for_every_value() {
    for from in [F8E4M3, F8E5M2, F8E8M0, I8, U8, B8, Bf16, F16, I16] {
        for to in [F8E4M3, F8E5M2, F8E8M0, Bf16, F16, F32, F64, I8, U8, I16, I32, I64] {
            let all = codes(from).map(|c| decode(from, c)).filter(|v| !v.is_infinite());
            let exact = all.clone().all(|v| same(round(to, v), v));
            assert!(exact || !contains(to, from), "{from} is not within {to}");
        }
    }
}

proptest! {
    #[test]
    fn rounding_agrees_with_half(v in any::<f32>()) {
        let v64 = f64::from(v);
        prop_assert!(same(round(Bf16, v64), half::bf16::from_f32(v).to_f64()));
        prop_assert!(same(round(F16, v64), half::f16::from_f32(v).to_f64()));
        prop_assert_eq!(encode(F32, v64), u64::from(v.to_bits()));
    }

    #[test]
    fn rounding_is_nearest(v in -500.0f64..500.0) {
        let nearest = |dtype: Dtype| {
            let all = codes(dtype).map(|c| decode(dtype, c)).filter(|x| x.is_finite());
            all.map(|x| (x - v).abs()).fold(f64::INFINITY, f64::min)
        };
        for dtype in [F8E4M3, F8E5M2] {
            prop_assert_eq!((round(dtype, v) - v).abs(), nearest(dtype));
        }
    }

    #[test]
    fn integers_wrap_and_truncate(v in -1.0e6f64..1.0e6) {
        prop_assert_eq!(round(I8, v), f64::from(v as i8));
        prop_assert_eq!(round(U8, v), f64::from(v as u8));
        prop_assert_eq!(int::wrap(I8, v as i128), f64::from(v as i64 as i8));
    }
}
