//! Every primitive on small tensors, values in, values out.

use super::*;
use crate::interp::random::Rng;
use crate::interp::{Kind, random_tensor};
use crate::numerics::round;
use Dtype::*;
use fusec_dsl::infer;
use proptest::prelude::*;

/// One line a case: the primitive's name and what it gives.
fn cases(cases: &[(&str, Vec<Value>)]) -> String {
    cases.iter().map(|(name, args)| format!("{name}: {}\n", show(prim(name, args)))).collect()
}

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

#[test]
fn arithmetic() {
    let b = |v: &[f64]| tensor(Bf16, &[v.len()], v);
    let text = cases(&[
        ("add", vec![b(&[1.0, 256.0, 3e38]), b(&[2.0, 1.0, 3e38])]),
        ("add", vec![tensor(F32, &[2, 1], &[1.0, 10.0]), tensor(F32, &[3], &[1.0, 2.0, 3.0])]),
        ("sub", vec![tensor(F64, &[], &[1.0]), tensor(F64, &[2], &[1e-17, 0.5])]),
        ("mul", vec![b(&[3.0, 7.0]), float(0.1)]),
        ("mul", vec![tensor(F16, &[2], &[255.0, 300.0]), tensor(F16, &[2], &[257.0, 300.0])]),
        ("div", vec![float(1.0), tensor(F32, &[3], &[3.0, 0.0, -0.0])]),
        ("div", vec![tensor(I32, &[2], &[7.0, -7.0]), int(2)]),
        ("add", vec![tensor(I8, &[2], &[127.0, -128.0]), int(1)]),
        ("add", vec![b(&[1.0]), tensor(F32, &[1], &[1e-3])]),
        ("add", vec![b(&[1.0]), tensor(F32, &[], &[1e-3])]),
        ("add", vec![b(&[1.0]), tensor(F16, &[1], &[1e-3])]),
        (
            "min",
            vec![
                tensor(F32, &[4], &[1.0, NAN, 0.0, INF]),
                tensor(F32, &[4], &[2.0, 1.0, -0.0, NAN]),
            ],
        ),
        (
            "max",
            vec![
                tensor(F32, &[4], &[1.0, NAN, -0.0, INF]),
                tensor(F32, &[4], &[2.0, 1.0, 0.0, -INF]),
            ],
        ),
        ("mul", vec![int(3), int(4)]),
        ("div", vec![float(1.0), float(8.0)]),
    ]);
    insta::assert_snapshot!(text, @"
    add: bf16[3] 3 256 inf
    add: f32[2, 3] 2 3 4 | 11 12 13
    sub: f64[2] 1 0.5
    mul: bf16[2] 0.30078125 0.69921875
    mul: f16[2] inf inf
    div: f32[3] 0.3333333432674408 inf -inf
    div: f32[2] 3.5 -3.5
    add: i8[2] -128 -127
    add: f32[1] 1.0010000467300415
    add: bf16[1] 1
    add: f32[1] 1.0010004043579102
    min: f32[4] 1 NaN -0 NaN
    max: f32[4] 2 NaN 0 inf
    mul: 12
    div: 0.125
    ");
}

#[test]
fn functions() {
    let x = |v: &[f64]| vec![tensor(F32, &[v.len()], v)];
    let text = cases(&[
        ("neg", x(&[1.0, -0.0, NAN])),
        ("abs", x(&[-1.5, -0.0, -INF])),
        ("sqrt", x(&[2.0, -1.0, 0.0])),
        ("rsqrt", x(&[4.0, 2.0, 0.0, INF])),
        ("exp", x(&[0.0, 1.0, -INF, 100.0])),
        ("exp2", x(&[-3.0, 0.5, 127.0])),
        ("log", x(&[1.0, 0.0, -1.0])),
        ("log2", x(&[0.125, 3.0, 8.0])),
        ("tanh", x(&[0.5, 30.0])),
        ("erf", x(&[0.5, -3.0])),
        ("sigmoid", x(&[0.0, -100.0, 100.0])),
        ("ceil", x(&[-1.5, 1.5, 2.0])),
        ("floor", x(&[-1.5, 1.5])),
        ("round", x(&[0.5, 1.5, 2.5, -0.5])),
        ("exp", vec![tensor(Bf16, &[1], &[1.0])]),
        ("exp", vec![tensor(F64, &[1], &[1.0])]),
        ("exp", vec![tensor(I32, &[1], &[1.0])]),
        ("neg", vec![tensor(I8, &[2], &[-128.0, 5.0])]),
    ]);
    insta::assert_snapshot!(text, @"
    neg: f32[3] -1 0 NaN
    abs: f32[3] 1.5 0 inf
    sqrt: f32[3] 1.4142135381698608 NaN 0
    rsqrt: f32[4] 0.5 0.7071067690849304 inf 0
    exp: f32[4] 1 2.7182817459106445 0 inf
    exp2: f32[3] 0.125 1.4142135381698608 170141183460469230000000000000000000000
    log: f32[3] 0 -inf NaN
    log2: f32[3] -3 1.5849624872207642 3
    tanh: f32[2] 0.46211716532707214 1
    erf: f32[2] 0.5204998850822449 -0.9999778866767883
    sigmoid: f32[3] 0.5 0.00000000000000000000000000000000000000000003783505853677006 1
    ceil: f32[3] -1 2 2
    floor: f32[2] -2 1
    round: f32[4] 0 2 2 -0
    exp: bf16[1] 2.71875
    exp: f64[1] 2.7182818284590455
    exp: f32[1] 2.7182817459106445
    neg: i8[2] -128 -5
    ");
}

#[test]
fn comparisons_selection_and_limits() {
    let x = tensor(F32, &[5], &[-2.0, -0.0, 1.0, NAN, INF]);
    let cond = tensor(B8, &[2, 1], &[1.0, 0.0]);
    let text = cases(&[
        ("lt", vec![x.clone(), float(1.0)]),
        ("ge", vec![x.clone(), float(0.0)]),
        ("eq", vec![x.clone(), x.clone()]),
        ("ne", vec![x.clone(), x.clone()]),
        ("gt", vec![int(3), int(2)]),
        ("select", vec![cond.clone(), tensor(Bf16, &[2], &[1.0, 2.0]), float(0.1)]),
        ("select", vec![flag(false), x.clone(), tensor(F32, &[1], &[7.0])]),
        ("select", vec![cond, tensor(F8E5M2, &[1], &[2.0]), tensor(F8E5M2, &[1], &[4.0])]),
        ("select", vec![flag(true), float(1.0), float(2.0)]),
        ("clamp", vec![x.clone(), float(-1.0), float(1.0)]),
        ("clamp", vec![x.clone(), float(0.0), none()]),
        ("clamp", vec![x.clone(), none(), float(-1.0)]),
        ("clamp", vec![tensor(F32, &[1], &[5.0]), float(3.0), float(1.0)]),
        ("clamp", vec![tensor(Bf16, &[1], &[5.0]), none(), float(0.1)]),
    ]);
    insta::assert_snapshot!(text, @"
    lt: b8[5] 1 1 0 0 0
    ge: b8[5] 0 1 1 0 1
    eq: b8[5] 1 1 1 0 1
    ne: b8[5] 0 0 0 1 0
    gt: true
    select: bf16[2, 2] 1 2 | 0.10009765625 0.10009765625
    select: f32[5] 7 7 7 7 7
    select: f8e5m2[2, 1] 2 | 4
    select: 1.0
    clamp: f32[5] -1 -0 1 NaN 1
    clamp: f32[5] 0 0 1 NaN inf
    clamp: f32[5] -2 -1 -1 NaN -1
    clamp: f32[1] 1
    clamp: bf16[1] 0.10009765625
    ");
}

#[test]
fn conversions_and_bytes() {
    let wide = tensor(F32, &[6], &[0.3, 460.0, -INF, NAN, 1e-4, -0.0]);
    let text = cases(&[
        ("cast", vec![wide.clone(), dtype(Bf16)]),
        ("cast", vec![wide.clone(), dtype(F8E4M3)]),
        ("cast", vec![wide.clone(), dtype(F8E5M2)]),
        ("cast", vec![wide.clone(), dtype(I32)]),
        ("cast", vec![wide.clone(), dtype(B8)]),
        ("cast", vec![tensor(I32, &[2], &[300.0, -1.0]), dtype(U8)]),
        ("cast", vec![wide, dtype(F4E2M1x2)]),
        ("bitcast", vec![tensor(F32, &[2], &[1.0, NAN]), dtype(I32)]),
        ("bitcast", vec![tensor(Bf16, &[1, 2], &[1.0, -2.0]), dtype(U8)]),
        ("bitcast", vec![tensor(U8, &[4], &[0.0, 0.0, 128.0, 63.0]), dtype(F32)]),
        ("bitcast", vec![tensor(U8, &[3], &[0.0, 0.0, 128.0]), dtype(F32)]),
        ("pack_e2m1", vec![tensor(F32, &[4], &[1.0, -6.0, 0.25, 9.0])]),
        ("pack_e2m1", vec![tensor(F32, &[3], &[1.0, -6.0, 0.25])]),
    ]);
    insta::assert_snapshot!(text, @"
    cast: bf16[6] 0.30078125 460 -inf NaN 0.00010013580322265625 -0
    cast: f8e4m3fn[6] 0.3125 448 -448 NaN 0 -0
    cast: f8e5m2[6] 0.3125 448 -57344 NaN 0.0001068115234375 -0
    cast: i32[6] 0 460 -2147483648 0 0 0
    cast: b8[6] 1 1 1 1 1 0
    cast: u8[2] 44 255
    cast: error: no conversion from f32 to f4e2m1fnx2
    bitcast: i32[2] 1065353216 2143289344
    bitcast: u8[1, 4] 128 63 0 192
    bitcast: f32[1] 1
    bitcast: error: u8[3] is no whole number of f32
    pack_e2m1: u8[2] 242 112
    pack_e2m1: error: expected f32 with an even last axis, found f32[3]
    ");
}

#[test]
fn reductions() {
    let x = || tensor(F32, &[2, 4], &[1.0, 2.0, 3.0, 4.0, -1.0, NAN, 2.0, INF]);
    let over = |axis: i64, keep: bool| vec![x(), int(axis), flag(keep), none()];
    let cancel = tensor(F32, &[1, 3], &[1e30, 1.0, -1e30]);
    let text = cases(&[
        ("sum", over(0, false)),
        ("sum", over(-1, true)),
        ("mean", over(1, false)),
        ("amax", over(0, false)),
        ("amax", over(1, true)),
        ("amax", vec![x(), int(-1), flag(false), int(2)]),
        ("mean", vec![x(), int(-1), flag(false), int(3)]),
        ("sum", vec![cancel, int(-1), flag(false), none()]),
        ("mean", vec![tensor(Bf16, &[2], &[1.0, 1.0078125]), int(0), flag(false), none()]),
        ("sum", vec![tensor(I32, &[2], &[3.0, 4.0]), int(0), flag(false), none()]),
        ("amax", vec![tensor(F32, &[2, 0], &[]), int(1), flag(false), none()]),
        (
            "matmul",
            vec![
                tensor(Bf16, &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
                tensor(Bf16, &[2, 2, 1], &[1.0, 1.0, 256.0, 0.5]),
            ],
        ),
    ]);
    insta::assert_snapshot!(text, @"
    sum: f32[4] 0 NaN 5 inf
    sum: f32[2, 1] 10 | NaN
    mean: f32[2] 2.5 NaN
    amax: f32[4] 1 NaN 3 inf
    amax: f32[2, 1] 4 | NaN
    amax: f32[2, 2] 2 4 | NaN inf
    mean: error: groups of 3 do not divide f32[2, 4]
    sum: f32[1] 1
    mean: bf16[] 1
    sum: i64[] 7
    amax: error: the largest of no elements
    matmul: bf16[2, 2, 1] 3 | 7 | 256 | 768
    ");
}

#[test]
fn views() {
    let x = || tensor(F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let text = cases(&[
        ("reshape", vec![x(), ints(&[3, -1])]),
        ("reshape", vec![x(), ints(&[4])]),
        ("permute", vec![x(), ints(&[1, 0])]),
        ("permute", vec![x(), ints(&[1, 1])]),
        ("slice", vec![x(), int(-1), int(1), int(3), int(1)]),
        ("slice", vec![x(), int(1), int(0), int(i64::MAX), int(2)]),
        ("slice", vec![x(), int(0), int(-1), none(), int(1)]),
        ("slice", vec![x(), int(2), int(0), int(1), int(1)]),
        ("split", vec![x(), ints(&[1, 2]), int(-1)]),
        ("concat", vec![Value::List(vec![x(), tensor(Bf16, &[2, 1], &[7.0, 8.0])]), int(-1)]),
        ("concat", vec![Value::List(vec![x(), tensor(F32, &[3], &[7.0, 8.0, 9.0])]), int(0)]),
        ("expand", vec![tensor(F32, &[2, 1], &[1.0, 2.0]), ints(&[2, -1, 2])]),
        ("expand", vec![x(), ints(&[3, 3])]),
        ("repeat", vec![tensor(F32, &[2, 2], &[1.0, 2.0, 3.0, 4.0]), int(2)]),
        ("repeat", vec![x(), int(0)]),
    ]);
    insta::assert_snapshot!(text, @"
    reshape: f32[3, 2] 1 2 | 3 4 | 5 6
    reshape: error: 6 elements do not fill [4]
    permute: f32[3, 2] 1 4 | 2 5 | 3 6
    permute: error: [1, 1] does not permute f32[2, 3]
    slice: f32[2, 2] 2 3 | 5 6
    slice: f32[2, 2] 1 3 | 4 6
    slice: f32[1, 3] 4 5 6
    slice: error: no axis 2 in f32[2, 3]
    split: f32[2, 1] 1 | 4; f32[2, 2] 2 3 | 5 6
    concat: f32[2, 4] 1 2 3 7 | 4 5 6 8
    concat: error: f32[2, 3] and f32[3] along axis 0
    expand: f32[2, 2, 2] 1 1 | 2 2 | 1 1 | 2 2
    expand: error: f32[2, 3] does not expand to [3, 3]
    repeat: f32[2, 4] 1 1 2 2 | 3 3 4 4
    repeat: error: expected at least 1, found 0
    ");
}

#[test]
fn scale_tiles_by_the_inverse_map() {
    for (rows, blocks) in [(1, 1), (3, 4), (130, 9), (128, 8), (257, 5)] {
        let s = random_tensor(F8E4M3, &[rows, blocks], Kind::Ordinary, 5);
        let out = prim("swizzle_128x4", &[s.clone().into()]).unwrap();
        let out = out.tensor().unwrap();
        let (tall, wide) = (rows.div_ceil(128) * 128, blocks.div_ceil(4));
        assert_eq!(out.shape, [tall, wide]);
        let codes = s.to_bytes();
        for (at, byte) in out.to_bytes().into_iter().enumerate() {
            let (tile, inside) = (at / 512, at % 512);
            let row = tile / wide * 128 + inside % 16 / 4 * 32 + inside / 16;
            let block = tile % wide * 4 + inside % 4;
            let held = row < rows && block < blocks;
            assert_eq!(byte, if held { codes[row * blocks + block] } else { 0 }, "byte {at}");
        }
    }
}

/// Types and shapes agree with what the checker infers.
#[test]
fn types_agree_with_inference() {
    let mut rng = Rng::new(1);
    let x = |d: Dtype, s: &[usize]| Value::from(random_tensor(d, s, Kind::Hostile, 3));
    let mut calls: Vec<(&str, Vec<Value>)> = Vec::new();
    for d in [Bf16, F16, F32, F64] {
        let e = rng.pick(&[Bf16, F16, F32, F64]);
        for op in ["add", "sub", "mul", "div", "min", "max", "lt", "eq"] {
            calls.push((op, vec![x(d, &[2, 4]), x(e, &[4])]));
            calls.push((op, vec![x(d, &[2, 4]), x(e, &[])]));
            calls.push((op, vec![float(0.5), x(d, &[3])]));
        }
        for op in ["neg", "rsqrt", "exp", "ceil", "sigmoid"] {
            calls.push((op, vec![x(d, &[2, 3])]));
        }
        for op in ["sum", "mean", "amax"] {
            calls.push((op, vec![x(d, &[2, 4]), int(0), flag(true), none()]));
            calls.push((op, vec![x(d, &[2, 4]), int(1), flag(false), none()]));
            calls.push((op, vec![x(d, &[2, 4]), int(-1), flag(false), int(2)]));
        }
        calls.push(("matmul", vec![x(d, &[5, 2, 4]), x(d, &[4, 3])]));
        calls.push(("bitcast", vec![x(d, &[2, 8]), dtype(U8)]));
        calls.push(("repeat", vec![x(d, &[2, 8]), int(3)]));
        calls.push(("slice", vec![x(d, &[2, 8]), int(1), int(1), int(-1), int(2)]));
        calls.push(("split", vec![x(d, &[2, 8]), ints(&[3, 5]), int(1)]));
        calls.push(("expand", vec![x(d, &[1, 8]), ints(&[4, 2, 8])]));
    }
    for d in [I8, U8, I16, I32, I64, B8] {
        for op in ["add", "div", "max", "lt"] {
            calls.push((op, vec![x(d, &[2, 4]), x(rng.pick(&[I32, d, F32]), &[4])]));
            calls.push((op, vec![x(d, &[2, 4]), float(0.5)]));
        }
        calls.push(("exp", vec![x(d, &[2, 3])]));
        calls.push(("sum", vec![x(d, &[2, 4]), int(0), flag(true), none()]));
        calls.push(("amax", vec![x(d, &[2, 4]), int(0), flag(true), none()]));
    }
    calls.push(("pack_e2m1", vec![x(F32, &[2, 8])]));
    calls.push(("swizzle_128x4", vec![x(F8E4M3, &[130, 5])]));
    for (name, args) in calls {
        let types: Vec<_> = args.iter().map(Value::ty).collect();
        let op = LIBRARY.op_named(name).unwrap();
        let inferred = infer::call(&LIBRARY, op, &types).unwrap();
        assert_eq!(prim(name, &args).unwrap().ty(), inferred, "{name} of {types:?}");
    }
}

proptest! {
    #[test]
    fn f32_operations_are_the_processors(a in any::<f32>(), b in any::<f32>()) {
        let (x, y) = (f64::from(a), f64::from(b));
        let got = |op| match prim(op, &[tensor(F32, &[], &[x]), tensor(F32, &[], &[y])]) {
            Ok(Value::Tensor(t)) => t.data[0],
            other => panic!("{other:?}"),
        };
        let same = |op, want: f32| crate::numerics::same(got(op), f64::from(want));
        prop_assert!(same("add", a + b) && same("sub", a - b));
        prop_assert!(same("mul", a * b) && same("div", a / b));
    }

    #[test]
    fn sums_do_not_depend_on_order(seed in 0u64..1000) {
        let x = random_tensor(F32, &[300], Kind::Ordinary, seed);
        let mut y = x.clone();
        y.data.reverse();
        y.data.rotate_left(seed as usize % 300);
        let sum = |t: Tensor| show(prim("sum", &[t.into(), int(0), flag(false), none()]));
        prop_assert_eq!(sum(x), sum(y));
    }

    #[test]
    fn bytes_round_trip(seed in 0u64..200) {
        for d in Dtype::ALL.iter().copied().filter(|d| *d != C64) {
            let x = random_tensor(d, &[3, 5], Kind::Hostile, seed);
            let back = Tensor::from_bytes(d, vec![3, 5], &x.to_bytes()).unwrap();
            prop_assert!(back.same(&x));
            prop_assert!(x.data.iter().all(|v| d == F8E5M2 || crate::numerics::same(round(d, *v), *v)));
        }
    }
}
