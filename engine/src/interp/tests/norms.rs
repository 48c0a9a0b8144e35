//! RMS norms in each rounding, and gated activations.

use super::formulas::*;
use super::*;
use crate::interp::{Kind, random_tensor};
use Dtype::*;

type Narrow = fn(f32) -> f32;

fn narrow(d: Dtype) -> Narrow {
    match d {
        Bf16 => to_bf16,
        F16 => to_f16,
        _ => |v| v,
    }
}

fn f32s(t: &Tensor) -> Vec<f32> {
    t.data.iter().map(|v| *v as f32).collect()
}

fn from_f32s(dtype: Dtype, shape: &[usize], data: Vec<f32>) -> Tensor {
    let data = data.into_iter().map(f64::from).collect();
    Tensor::new(dtype, shape.to_vec(), data).expect("a shape")
}

struct Case {
    t: Dtype,
    w: Dtype,
    shape: Vec<usize>,
    x: Tensor,
    residual: Tensor,
    weight: Tensor,
}

const EPS: f64 = 1e-6;

fn each_case(mut check: impl FnMut(&Case)) {
    for t in [Bf16, F16, F32] {
        for w in [Bf16, F16, F32] {
            for (seed, shape) in [vec![5, 48], vec![1, 1], vec![2, 3, 32]].into_iter().enumerate() {
                for kind in [Kind::Ordinary, Kind::Hostile] {
                    let seed = seed as u64 * 3;
                    let d = shape[shape.len() - 1];
                    let weight = random_tensor(w, &[d], Kind::Ordinary, seed + 2);
                    let x = random_tensor(t, &shape, kind, seed);
                    let residual = random_tensor(t, &shape, kind, seed + 1);
                    check(&Case { t, w, x, residual, weight, shape: shape.clone() });
                }
            }
        }
    }
}

/// `f(row, inverse rms, weight)` over rows of `h`.
fn normalize(h: &[f32], weight: &[f32], f: impl Fn(f32, f32, f32) -> f32) -> Vec<f32> {
    let rows = h.chunks(weight.len()).flat_map(|row| {
        let s = inverse_rms(row, EPS as f32);
        row.iter().zip(weight).map(move |(h, w)| (*h, s, *w)).collect::<Vec<_>>()
    });
    rows.map(|(h, s, w)| f(h, s, w)).collect()
}

#[test]
fn rms_norm_rounds_to_the_weight_and_then_to_the_input() {
    each_case(|c| {
        let (to_t, to_w) = (narrow(c.t), narrow(c.w));
        let y = normalize(&f32s(&c.x), &f32s(&c.weight), |h, s, w| to_t(to_w(to_w(h * s) * w)));
        let want = from_f32s(c.t, &c.shape, y);
        let got = call("rms_norm", &[c.x.clone().into(), c.weight.clone().into(), float(EPS)]);
        assert_same(&got.unwrap(), &want, &format!("{} {} {:?}", c.t, c.w, c.shape));
    });
}

#[test]
fn rms_norm_once_rounds_at_the_end() {
    each_case(|c| {
        let to_t = narrow(c.t);
        let y = normalize(&f32s(&c.x), &f32s(&c.weight), |h, s, w| to_t(h * s * w));
        let want = from_f32s(c.t, &c.shape, y);
        let got = call("rms_norm_once", &[c.x.clone().into(), c.weight.clone().into(), float(EPS)]);
        assert_same(&got.unwrap(), &want, &format!("{} {} {:?}", c.t, c.w, c.shape));
    });
}

#[test]
fn residual_adds_differ_in_what_they_normalize() {
    each_case(|c| {
        let (to_t, to_w) = (narrow(c.t), narrow(c.w));
        let sum: Vec<f32> = f32s(&c.x).iter().zip(f32s(&c.residual)).map(|(a, b)| a + b).collect();
        let rounded: Vec<f32> = sum.iter().map(|u| to_t(*u)).collect();
        let weight = f32s(&c.weight);
        let twice = |h: f32, s: f32, w: f32| to_t(to_w(to_w(h * s) * w));
        let once = |h: f32, s: f32, w: f32| to_t(h * s * w);
        let h = from_f32s(c.t, &c.shape, rounded.clone());
        for (name, y) in [
            ("add_rms_norm", normalize(&sum, &weight, twice)),
            ("add_rms_norm_once", normalize(&rounded, &weight, once)),
            ("add_then_rms_norm", normalize(&rounded, &weight, twice)),
        ] {
            let args = [&c.x, &c.residual, &c.weight].map(|t| Value::from(t.clone()));
            let got = call(name, &[&args[..], &[float(EPS)]].concat()).unwrap();
            let [gy, gh] = &results(got)[..] else { panic!("{name} has two results") };
            let what = format!("{name} {} {} {:?}", c.t, c.w, c.shape);
            assert_same(gy, &from_f32s(c.t, &c.shape, y), &what);
            assert_same(gh, &h, &what);
        }
    });
}

#[test]
fn rms_norm_by_hand() {
    // mean(9, 16) = 12.5; 3 / sqrt(12.5) = 0.848528, in bf16 0.84765625.
    let x = tensor(Bf16, &[1, 2], &[3.0, 4.0]);
    let w = tensor(Bf16, &[2], &[1.0, 3.0]);
    let both =
        ["rms_norm", "rms_norm_once"].map(|n| show(call(n, &[x.clone(), w.clone(), float(0.0)])));
    insta::assert_snapshot!(both.join("\n"), @"
    bf16[1, 2] 0.84765625 3.40625
    bf16[1, 2] 0.84765625 3.390625
    ");
}

#[test]
fn silu_and_mul_rounds_the_activation() {
    for t in [Bf16, F16, F32] {
        for kind in [Kind::Ordinary, Kind::Hostile] {
            let x = random_tensor(t, &[7, 2, 64], kind, 9);
            let to_t = narrow(t);
            let flat = f32s(&x);
            let y = flat.chunks(64).flat_map(|row| {
                let pair = |i: usize| to_t(to_t(silu(row[i])) * row[32 + i]);
                (0..32).map(pair).collect::<Vec<_>>()
            });
            let want = from_f32s(t, &[7, 2, 32], y.collect());
            let got = call("silu_and_mul", &[x.into()]).unwrap();
            assert_same(&got, &want, &format!("{t} {kind:?}"));
        }
    }
}

#[test]
fn activations_by_hand() {
    let x = tensor(F32, &[6], &[0.0, 1.0, -1.0, 3.0, f64::NEG_INFINITY, f64::NAN]);
    let all = ["silu", "gelu", "gelu_tanh"].map(|n| show(call(n, &[x.clone()])));
    insta::assert_snapshot!(all.join("\n"), @"
    f32[6] 0 0.7310585975646973 -0.2689414322376251 2.857722520828247 NaN NaN
    f32[6] 0 0.8413447141647339 -0.15865525603294373 2.995950222015381 NaN NaN
    f32[6] 0 0.8411920070648193 -0.15880799293518066 2.9963626861572266 NaN NaN
    ");
}
