//! The real library holds; rules that are wrong in one small way do not.

use super::*;
use crate::interp::tests::LIBRARY;

#[test]
fn every_rewrite_of_the_library_holds() {
    let lines: Vec<String> = LIBRARY
        .rewrites
        .iter()
        .map(|r| format!("{}: {}", r.name, verify_rewrite(&LIBRARY, r, 1)))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    clamp_both: WRONG: element []: left 2.0, right -1.0 (f16, 31744 steps) (not equal in real arithmetic either)
    test "counterexample of clamp_both" {
        graph (x: f16[]) {
            v3 = clamp(x, none, -1.0)
            v6 = clamp(v3, 2.0, none)
            return v6
        }
        fires nothing
    }
    // x = [0.0]
    // lo = 2.0
    // hi = -1.0

    written_add_rms_norm: exact
    written_gelu_tanh_mul: exact
    written_quant_fp8_static: WRONG: only the left side has a value: in `quant_fp8_static`: the result is not what is declared: f8e4m3fn[1, 1] has other leading sizes
    test "counterexample of written_quant_fp8_static" {
        graph (x: f16[1], scale: f32[1, 1]) {
            v2 = cast(x, f32)
            v5 = div(1.0, scale)
            v6 = mul(v2, v5)
            v9 = clamp(v6, -448.0, 448.0)
            v11 = cast(v9, f8e4m3fn)
            return v11
        }
        fires nothing
    }
    // x = [0.0]
    // scale = [0.0]

    written_rms_norm: exact
    written_rms_norm_f32: exact
    written_silu_and_mul: exact
    written_silu_mul: exact
    "#);
}

#[test]
fn every_fusion_of_the_library_has_a_meaning() {
    let lines: Vec<String> = LIBRARY
        .fusions
        .iter()
        .map(|f| format!("{}: {}", f.instance(), verify_fusion(&LIBRARY, f, 1)))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    add_rms_norm_quant[add_rms_norm, quant_fp8_group]: exact
    add_rms_norm_quant[add_rms_norm, quant_fp8_static]: exact on 15198 sampled elements
    add_rms_norm_quant[add_rms_norm, quant_fp8_token]: exact
    add_rms_norm_quant[add_rms_norm, quant_nvfp4]: exact on 10320 sampled elements
    add_rms_norm_quant[add_rms_norm, quant_nvfp4_linear]: exact on 23100 sampled elements
    add_rms_norm_quant[add_rms_norm_once, quant_fp8_group]: exact
    add_rms_norm_quant[add_rms_norm_once, quant_fp8_static]: exact on 15198 sampled elements
    add_rms_norm_quant[add_rms_norm_once, quant_fp8_token]: exact
    add_rms_norm_quant[add_rms_norm_once, quant_nvfp4]: exact on 10320 sampled elements
    add_rms_norm_quant[add_rms_norm_once, quant_nvfp4_linear]: exact on 23100 sampled elements
    add_rms_norm_quant[add_then_rms_norm, quant_fp8_group]: exact
    add_rms_norm_quant[add_then_rms_norm, quant_fp8_static]: exact on 15198 sampled elements
    add_rms_norm_quant[add_then_rms_norm, quant_fp8_token]: exact
    add_rms_norm_quant[add_then_rms_norm, quant_nvfp4]: exact on 10320 sampled elements
    add_rms_norm_quant[add_then_rms_norm, quant_nvfp4_linear]: exact on 23100 sampled elements
    allreduce_add_rms_norm[add_rms_norm]: exact
    allreduce_add_rms_norm[add_rms_norm_once]: exact
    allreduce_add_rms_norm[add_then_rms_norm]: exact
    allreduce_add_rms_norm_quant[add_rms_norm, quant_fp8_group]: exact
    allreduce_add_rms_norm_quant[add_rms_norm, quant_fp8_static]: exact on 246176 sampled elements
    allreduce_add_rms_norm_quant[add_rms_norm, quant_fp8_token]: exact
    allreduce_add_rms_norm_quant[add_rms_norm, quant_nvfp4]: exact on 256640 sampled elements
    allreduce_add_rms_norm_quant[add_rms_norm, quant_nvfp4_linear]: exact on 214800 sampled elements
    allreduce_add_rms_norm_quant[add_rms_norm_once, quant_fp8_group]: exact
    allreduce_add_rms_norm_quant[add_rms_norm_once, quant_fp8_static]: exact on 246176 sampled elements
    allreduce_add_rms_norm_quant[add_rms_norm_once, quant_fp8_token]: exact
    allreduce_add_rms_norm_quant[add_rms_norm_once, quant_nvfp4]: exact on 256640 sampled elements
    allreduce_add_rms_norm_quant[add_rms_norm_once, quant_nvfp4_linear]: exact on 214800 sampled elements
    allreduce_add_rms_norm_quant[add_then_rms_norm, quant_fp8_group]: exact
    allreduce_add_rms_norm_quant[add_then_rms_norm, quant_fp8_static]: exact on 246176 sampled elements
    allreduce_add_rms_norm_quant[add_then_rms_norm, quant_fp8_token]: exact
    allreduce_add_rms_norm_quant[add_then_rms_norm, quant_nvfp4]: exact on 256640 sampled elements
    allreduce_add_rms_norm_quant[add_then_rms_norm, quant_nvfp4_linear]: exact on 214800 sampled elements
    allreduce_rms_norm[rms_norm]: exact
    allreduce_rms_norm[rms_norm_once]: exact
    allreduce_rms_norm_quant[rms_norm, quant_fp8_group]: exact
    allreduce_rms_norm_quant[rms_norm, quant_fp8_static]: exact on 350080 sampled elements
    allreduce_rms_norm_quant[rms_norm, quant_fp8_token]: exact
    allreduce_rms_norm_quant[rms_norm, quant_nvfp4]: exact on 352608 sampled elements
    allreduce_rms_norm_quant[rms_norm, quant_nvfp4_linear]: exact on 313700 sampled elements
    allreduce_rms_norm_quant[rms_norm_once, quant_fp8_group]: exact
    allreduce_rms_norm_quant[rms_norm_once, quant_fp8_static]: exact on 350080 sampled elements
    allreduce_rms_norm_quant[rms_norm_once, quant_fp8_token]: exact
    allreduce_rms_norm_quant[rms_norm_once, quant_nvfp4]: exact on 352608 sampled elements
    allreduce_rms_norm_quant[rms_norm_once, quant_nvfp4_linear]: exact on 313700 sampled elements
    rms_norm_quant[rms_norm, quant_fp8_group]: exact
    rms_norm_quant[rms_norm, quant_fp8_static]: exact on 7599 sampled elements
    rms_norm_quant[rms_norm, quant_fp8_token]: exact
    rms_norm_quant[rms_norm, quant_nvfp4]: exact on 7280 sampled elements
    rms_norm_quant[rms_norm, quant_nvfp4_linear]: exact on 8316 sampled elements
    rms_norm_quant[rms_norm_once, quant_fp8_group]: exact
    rms_norm_quant[rms_norm_once, quant_fp8_static]: exact on 7599 sampled elements
    rms_norm_quant[rms_norm_once, quant_fp8_token]: exact
    rms_norm_quant[rms_norm_once, quant_nvfp4]: exact on 7280 sampled elements
    rms_norm_quant[rms_norm_once, quant_nvfp4_linear]: exact on 8316 sampled elements
    silu_and_mul_quant[quant_fp8_group]: exact
    silu_and_mul_quant[quant_fp8_static]: exact on 5196 sampled elements
    silu_and_mul_quant[quant_fp8_token]: exact
    silu_and_mul_quant[quant_nvfp4]: exact on 7064 sampled elements
    silu_and_mul_quant[quant_nvfp4_linear]: exact on 6318 sampled elements
    silu_mul_quant[quant_fp8_group]: exact
    silu_mul_quant[quant_fp8_static]: exact on 5196 sampled elements
    silu_mul_quant[quant_fp8_token]: exact
    silu_mul_quant[quant_nvfp4]: exact on 7064 sampled elements
    silu_mul_quant[quant_nvfp4_linear]: exact on 6318 sampled elements
    ");
}
