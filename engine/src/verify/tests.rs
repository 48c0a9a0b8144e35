//! The real library holds; rules that are wrong in one small way do not.

use super::*;
use crate::interp::tests::LIBRARY;
use fusec_dsl::diagnostic::Diagnostic;
use std::sync::LazyLock;

/// Verdicts on the wrong rules.
static WRONG: LazyLock<Vec<(String, Verdict)>> =
    LazyLock::new(|| verdicts(include_str!("wrong.fuse")));

/// The real library and one more file.
fn with(text: &str) -> (Library, Vec<Diagnostic>) {
    let own = |(p, t): &(&str, &str)| (p.to_string(), t.to_string());
    let mut files: Vec<_> = fusec_passes::FILES.iter().map(own).collect();
    files.push(("test.fuse".into(), text.into()));
    let (library, _, diagnostics) = fusec_dsl::resolve::load(&files);
    (library, diagnostics)
}

/// Verdicts of the rewrites in a text, in its order.
fn verdicts(text: &str) -> Vec<(String, Verdict)> {
    let (library, diagnostics) = with(text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let mut own: Vec<&Rewrite> = library
        .rewrites
        .iter()
        .filter(|r| LIBRARY.rewrites.iter().all(|o| o.name != r.name))
        .collect();
    own.sort_by_key(|r| r.span.start);
    own.into_iter().map(|r| (r.name.clone(), verify_rewrite(&library, r, 1))).collect()
}

fn show(verdicts: &[(String, Verdict)]) -> String {
    verdicts.iter().map(|(name, v)| format!("{name}: {v}\n")).collect()
}

/// A new rule passes or fails here; only those that the field does not prove are listed.
#[test]
fn every_rewrite_of_the_library_holds() {
    let mut sampled = Vec::new();
    for r in &LIBRARY.rewrites {
        let verdict = verify_rewrite(&LIBRARY, r, 1);
        match &verdict {
            Verdict::Exact(Proof::Field) => {}
            Verdict::Exact(_) | Verdict::Approx { .. } => {
                sampled.push(format!("{}: {verdict}", r.name));
            }
            _ => panic!("{}: {verdict}", r.name),
        }
    }
    insta::assert_snapshot!(sampled.join("\n"), @"
    clamp_both: exact on 8728 sampled elements
    sigmoid_silu: approx: at most 0 ulp, 0.00 % of 9714 elements
    ");
}

#[test]
fn every_fusion_of_the_library_has_a_value() {
    assert!(LIBRARY.fusions.len() > 50);
    for f in &LIBRARY.fusions {
        let verdict = verify_fusion(&LIBRARY, f, 1);
        assert!(matches!(verdict, Verdict::Exact(_)), "{}: {verdict}", f.instance());
    }
}

#[test]
fn wrong_rules_are_rejected() {
    for (name, v) in WRONG.iter() {
        assert!(matches!(v, Verdict::Wrong(_)), "{name} passed: {v}");
    }
    assert!(WRONG.len() >= 20);
    insta::assert_snapshot!("wrong", show(&WRONG));
}

/// Guards of the ops on the right side are inherited; here they are taken away again.
#[test]
fn a_guard_is_needed() {
    let guarded = ["clamp_both", "written_quant_fp8_static", "written_rope_full"];
    let lines = LIBRARY.rewrites.iter().filter(|r| guarded.contains(&r.name.as_str())).map(|r| {
        let mut r = r.clone();
        assert!(!r.sig.guards.is_empty());
        r.sig.guards.clear();
        let verdict = verify_rewrite(&LIBRARY, &r, 1).to_string();
        format!("{}: {}", r.name, verdict.lines().next().unwrap_or_default())
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    clamp_both: WRONG: element []: left 2.0, right -1.0 (f16, 31744 steps) (not equal as real numbers either)
    written_quant_fp8_static: WRONG: only the left side has a value: in `quant_fp8_static`: refused by `numel(scale) == 1`: numel(scale) = 128
    written_rope_full: WRONG: only the left side has a value: in `rope_full`: refused by `d % 2 == 0`: d = 1
    ");
}

#[test]
fn right_rules_pass() {
    insta::assert_snapshot!(show(&verdicts(include_str!("right.fuse"))), @"
    commuted: exact
    widened_sum: exact
    exact_cast: exact
    double_negation: exact
    twice: exact
    saturating_cast: exact on 29316 sampled elements
    grouped_maximum: exact
    halves: exact
    sliced_sum: exact
    norm_roundings: approx: at most 1 ulp, 27.05 % of 16036 elements; NaN against a number in 10 of the hostile ones
    reciprocal: approx: at most 1 ulp, 26.25 % of 14746 elements; NaN against a number in 3 of the hostile ones
    around_an_opaque_op: exact
    ");
}

#[test]
fn a_counterexample_can_be_pasted() {
    for (name, v) in WRONG.iter() {
        let Verdict::Wrong(c) = v else { panic!("{name} passed") };
        if !c.graph.is_empty() {
            let text = format!("{}\n{}", include_str!("wrong.fuse"), c.graph);
            let (library, diagnostics) = with(&text);
            assert!(diagnostics.is_empty(), "{}\n{diagnostics:#?}", c.graph);
            assert_eq!(library.tests.len(), LIBRARY.tests.len() + 1);
        }
    }
}

#[test]
fn counterexamples_are_small() {
    let sizes: Vec<String> = WRONG
        .iter()
        .filter_map(|(name, v)| match v {
            Verdict::Wrong(c) => Some(format!("{name} {}", c.size)),
            _ => None,
        })
        .collect();
    insta::assert_snapshot!(sizes.join("\n"), @"
    swapped_difference 2
    swapped_gate 2
    swapped_halves 2
    eps_outside_the_root 2
    sum_for_mean 4
    rounds_once_or_twice 2
    rounded_or_unrounded_sum 3
    stale_residual 3
    cast_elided 1
    associativity 3
    distributivity 3
    reciprocal_for_division 2
    lost_abs 1
    lost_nan 1
    lost_sign_of_zero 1
    lost_denormals 1
    negated_zero_sum 1
    tighter_clamp 1
    one_sided_clamp 1
    crossed_limits 1
    floor_for_ceil 1
    other_gelu 1
    unpermuted 4
    one_of_two_spellings 1
    wrong_one_way 2
    added_on_every_rank 2
    norm_before_the_sum 2
    bound_too_small 3
    past_an_opaque_op 1
    ");
}

#[test]
fn an_external_kernel_is_held_to_what_it_means() {
    let (library, diagnostics) = with(include_str!("extern.fuse"));
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let own = library.fusions.iter().filter(|f| f.name.starts_with("ext_"));
    let lines: Vec<_> =
        own.map(|f| format!("{}: {}", f.name, verify_fusion(&library, f, 1))).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    ext_right: exact
    ext_wrong: WRONG: element [0, 0]: left 0.059326171875, right 0.05908203125 (bf16, 1 step) (equal as real numbers: rounding or special values differ)
    test "counterexample of ext_wrong" {
        graph (x: bf16[1, 2]) {
            v1 = silu_and_mul(x)
            return v1
        }
        fires nothing
    }
    // x = [0.291015625, 0.35546875]
    "#);
}

#[test]
fn the_same_seed_gives_the_same_verdict() {
    let text = include_str!("extern.fuse");
    let (library, _) = with(text);
    let verdicts = || -> Vec<String> {
        let own = library.fusions.iter().filter(|f| f.name.starts_with("ext_"));
        own.map(|f| verify_fusion(&library, f, 7).to_string()).collect()
    };
    assert_eq!(verdicts(), verdicts());
}
