//! Every quantizer against a plain formula, hostile rows included.

use super::formulas::*;
use super::*;
use crate::interp::{Kind, random_tensor};
use Dtype::*;

fn f32s(t: &Tensor) -> Vec<f32> {
    t.data.iter().map(|v| *v as f32).collect()
}

fn from_f32s(dtype: Dtype, shape: &[usize], data: Vec<f32>) -> Tensor {
    let data = data.into_iter().map(f64::from).collect();
    Tensor::new(dtype, shape.to_vec(), data).expect("a shape")
}

fn name(s: &str) -> Value {
    Attr::Str(s.into()).into()
}

/// Random tensors with the interesting rows put in by hand as well.
fn inputs(t: Dtype, d: usize) -> Vec<Tensor> {
    let hard = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e30, 6e-8, 1e-40, 448.0];
    let by_hand = hard.iter().flat_map(|v| (0..d).map(move |i| if i % 3 == 0 { *v } else { 0.0 }));
    let by_hand = by_hand.collect::<Vec<_>>();
    vec![
        Tensor::rounded(t, vec![hard.len(), d], &by_hand).unwrap(),
        random_tensor(t, &[9, d], Kind::Ordinary, 1),
        random_tensor(t, &[40, d], Kind::Hostile, 2),
    ]
}

#[test]
fn static_fp8_multiplies_by_the_reciprocal() {
    for t in [Bf16, F16, F32] {
        for scale in [1.0f32, 0.013, 3.7, 0.0, 1e-30, f32::INFINITY] {
            for x in inputs(t, 24) {
                let inverse = 1.0 / scale;
                let q = f32s(&x).into_iter().map(|v| to_e4m3(v * inverse)).collect();
                let want = from_f32s(F8E4M3, &x.shape, q);
                let scale = tensor(F32, &[1], &[f64::from(scale)]);
                let got = call("quant_fp8_static", &[x.into(), scale]).unwrap();
                assert_same(&got, &want, &format!("{t}"));
            }
        }
    }
}

#[test]
fn a_row_is_divided_by_its_scale() {
    for t in [Bf16, F16, F32] {
        for x in inputs(t, 24) {
            let (mut q, mut scales) = (Vec::new(), Vec::new());
            for row in f32s(&x).chunks(24) {
                let scale = at_least(largest(row) / 448.0, 1.0 / (448.0 * 512.0));
                q.extend(row.iter().map(|v| to_e4m3(v / scale)));
                scales.push(scale);
            }
            let rows = x.shape[0];
            let got = results(call("quant_fp8_token", &[x.clone().into()]).unwrap());
            assert_same(&got[1], &from_f32s(F32, &[rows, 1], scales), "scales");
            assert_same(&got[0], &from_f32s(F8E4M3, &x.shape, q), "codes");
        }
    }
}

#[test]
fn a_group_is_divided_by_its_scale() {
    for (group, ue8m0) in [(8, false), (8, true), (24, false), (1, true)] {
        for x in inputs(Bf16, 24) {
            let (mut q, mut scales) = (Vec::new(), Vec::new());
            for part in f32s(&x).chunks(group) {
                let mut scale = at_least(largest(part), 1e-10) / 448.0;
                if ue8m0 {
                    let power = libm::log2(f64::from(at_least(scale, 1e-10))) as f32;
                    scale = libm::exp2(f64::from(power.ceil())) as f32;
                }
                q.extend(part.iter().map(|v| to_e4m3(v / scale)));
                scales.push(scale);
            }
            let shape = [x.shape[0], 24 / group];
            let args = [x.clone().into(), int(group as i64), name("row_major"), flag(ue8m0)];
            let got = results(call("quant_fp8_group", &args).unwrap());
            assert_same(&got[1], &from_f32s(F32, &shape, scales), "scales");
            assert_same(&got[0], &from_f32s(F8E4M3, &x.shape, q), "codes");
        }
    }
}

/// Codes and block scales of NVFP4, in plain rows.
fn nvfp4(x: &[f32], gs: f32) -> (Vec<u8>, Vec<f32>) {
    let (mut q, mut scales) = (Vec::new(), Vec::new());
    for block in x.chunks(16) {
        let scale = to_e4m3(gs * (largest(block) * 0.166_666_671_633_720_4_f32));
        let factor = if scale == 0.0 { 0.0 } else { 1.0 / (scale * (1.0 / gs)) };
        let code = |v: f32| e2m1_code(v * factor);
        q.extend(block.chunks(2).map(|p| code(p[0]) | code(p[1]) << 4));
        scales.push(scale);
    }
    (q, scales)
}

#[test]
fn nvfp4_in_rows_and_in_tiles() {
    for t in [Bf16, F16] {
        for gs in [1.0f32, 2688.0, 0.3, 1e-20] {
            for x in inputs(t, 96) {
                let (q, scales) = nvfp4(&f32s(&x), gs);
                let rows = x.shape[0];
                let q = Tensor::from_bytes(U8, vec![rows, 48], &q).unwrap();
                let scales = from_f32s(F8E4M3, &[rows, 6], scales);
                let gs = tensor(F32, &[], &[f64::from(gs)]);
                let linear = call("quant_nvfp4_linear", &[x.clone().into(), gs.clone()]);
                let linear = results(linear.unwrap());
                assert_same(&linear[0], &q, "codes");
                assert_same(&linear[1], &scales, "scales");
                let tiled = results(call("quant_nvfp4", &[x.into(), gs]).unwrap());
                assert_same(&tiled[0], &q, "codes");
                let swizzled = prim("swizzle_128x4", &[scales.into()]).unwrap();
                assert_same(&tiled[1], swizzled.tensor().unwrap(), "tiles");
            }
        }
    }
}

#[test]
fn rows_by_hand() {
    let x = tensor(Bf16, &[3, 2], &[0.0, -0.0, 448.0, -1.0, f64::NAN, 1.0]);
    let scale = tensor(F32, &[1], &[2.0]);
    let args = [x.clone(), int(2), name("row_major"), flag(true)];
    let lines = [
        show(call("quant_fp8_static", &[x.clone(), scale])),
        show(call("quant_fp8_token", &[x])),
        show(call("quant_fp8_group", &args)),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    f8e4m3fn[3, 2] 0 -0 | 224 -0.5 | NaN 0.5
    f8e4m3fn[3, 2] 0 -0 | 448 -1 | NaN NaN; f32[3, 1] 0.000004359654212748865 | 1 | NaN
    f8e4m3fn[3, 2] 0 -0 | 448 -1 | NaN NaN; f32[3, 1] 0.00000000011641532182693481 | 1 | NaN
    ");
}
