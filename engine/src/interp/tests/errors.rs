//! What does not fit is an error that says where and why.

use super::*;
use Dtype::*;

#[test]
fn errors_name_the_op_and_the_types() {
    let x = tensor(Bf16, &[2, 6], &[0.0; 12]);
    let w = tensor(Bf16, &[5], &[0.0; 5]);
    let two = tensor(F32, &[2], &[1.0; 2]);
    let lines = [
        ("rms_norm", vec![x.clone(), w, float(1e-6)]),
        ("rms_norm", vec![x.clone(), float(1e-6)]),
        ("silu", vec![tensor(I32, &[2], &[1.0, 2.0])]),
        ("silu_and_mul", vec![tensor(Bf16, &[3], &[0.0; 3])]),
        ("quant_fp8_static", vec![x.clone(), two.clone()]),
        (
            "quant_fp8_group",
            vec![x.clone(), int(4), Attr::Str("row_major".into()).into(), flag(false)],
        ),
        ("quant_nvfp4", vec![x.clone(), two]),
        ("add", vec![x.clone(), tensor(Bf16, &[4], &[0.0; 4])]),
        ("add", vec![x.clone(), tensor(F8E4M3, &[6], &[0.0; 6])]),
        ("add", vec![x.clone()]),
        ("add", vec![x.clone(), Attr::Str("a".into()).into()]),
        ("cast", vec![x.clone(), int(3)]),
        ("mean", vec![tensor(I32, &[2], &[1.0, 2.0]), int(0), flag(true), none()]),
        ("sum", vec![x.clone(), int(5), flag(true), none()]),
        ("reshape", vec![x.clone(), ints(&[-3, 4])]),
        ("slice", vec![x, int(0), int(0), int(1), int(0)]),
    ]
    .map(|(name, args)| show(call(name, &args)));
    insta::assert_snapshot!(lines.join("\n"), @"
    error: in `rms_norm`: `weight`: bf16[5]: expected 6, found 5
    error: in `rms_norm`: expected 3 operands, found 2
    error: in `silu`: `T` may not be i32
    error: in `silu_and_mul`: `x`: bf16[3]: no whole `d` makes 2*d equal to 3
    error: in `quant_fp8_static`: refused by `numel(scale) == 1`: numel(scale) = 2
    error: in `quant_fp8_group`: refused by `d % group == 0`: d = 6, group = 4
    error: in `quant_nvfp4`: refused by `d % 16 == 0`: d = 6
    error: in `add`: shapes [2, 6] and [4] do not broadcast
    error: in `add`: no arithmetic on f8e4m3fn: cast it to f32 first
    error: in `add`: no such primitive with 1 operands
    error: in `add`: expected a tensor or a number, found a
    error: in `cast`: expected an element type, found 3
    error: in `mean`: the mean of i32: cast it first
    error: in `sum`: no axis 5 in bf16[2, 6]
    error: in `reshape`: a size of -3
    error: in `slice`: expected at least 1, found 0
    ");
}
