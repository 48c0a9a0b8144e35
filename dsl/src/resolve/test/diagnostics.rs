//! One snapshot per kind of mistake: the text, then all that is said about it.

use super::check;

fn all(cases: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, text) in cases {
        let found = check(text);
        assert!(!found.is_empty(), "{name} is not reported");
        out.push_str(&format!("==== {name}\n{text}----\n{found}\n"));
    }
    out
}

#[test]
fn names() {
    let cases = [
        (
            "unknown_op",
            r#"op f(x: f32[n]) -> f32[n] {
    rsqurt(x)
}
"#,
        ),
        (
            "unknown_value",
            r#"op f(x: f32[n], weight: f32[n]) -> f32[n] {
    x * wieght
}
"#,
        ),
        (
            "op_without_call",
            r#"op f(x: f32[n]) -> f32[n] {
    x * silu
}
"#,
        ),
        (
            "unknown_size_in_a_result",
            r#"op f(x: f32[n]) -> f32[m] {
    x
}
"#,
        ),
        (
            "unknown_leading_sizes",
            r#"op f(x: f32[b.., n]) -> f32[c.., n] {
    x
}
"#,
        ),
        (
            "unknown_dtype",
            r#"op f(x: float32[n]) -> f32[n] {
    x
}
op g(x: bf17[n]) -> f32[n] {
    cast(x, f32)
}
"#,
        ),
        (
            "unknown_class",
            r#"op f<T: flaot>(x: T[n]) -> T[n] {
    x + 1.0
}
"#,
        ),
        (
            "class_as_dtype",
            r#"op f(x: half[n]) -> f32[n] {
    cast(x, f32)
}
"#,
        ),
        (
            "dtype_as_type",
            r#"op f(x: f32) -> f32[] {
    x
}
"#,
        ),
        (
            "unknown_enum",
            r#"op f(x: f32[n], l: scale_layuot) -> f32[n] {
    x + 1.0
}
"#,
        ),
        (
            "unknown_enum_value",
            r#"op f(x: f32[b.., d]) -> (q: f8e4m3fn[b.., d], s: f32[b.., d/16])
where
    d % 16 == 0,
{
    (q, s) = quant_fp8_group(x, 16, row_mayor, false)
}
"#,
        ),
        (
            "value_of_another_enum",
            r#"enum fruit { apple, pear }

op f(x: f32[b.., d]) -> (q: f8e4m3fn[b.., d], s: f32[b.., d/16])
where
    d % 16 == 0,
{
    (q, s) = quant_fp8_group(x, 16, apple, false)
}

op g(x: f32[b.., d], l: fruit) -> (q: f8e4m3fn[b.., d], s: f32[b.., d/16])
where
    d % 16 == 0,
{
    (q, s) = quant_fp8_group(x, 16, l, false)
}
"#,
        ),
        (
            "unknown_family",
            r#"fusion f<T: half, Q: quantiser>(x: T[b.., 2*d], q: Q) -> Q.results {
    q(silu_and_mul(x))
}
"#,
        ),
        (
            "unknown_family_variable",
            r#"fusion f<T: half, Q: quantizer>(x: T[b.., 2*d], q: Q) -> R.results {
    q(silu_and_mul(x))
}
"#,
        ),
        (
            "unknown_family_field",
            r#"fusion f<T: half, Q: quantizer>(x: T[b.., 2*d], q: Q) -> Q.results
where
    d % q.blok == 0,
{
    q(silu_and_mul(x))
}
"#,
        ),
        (
            "unknown_member",
            r#"family f<T: half>(x: T[b.., d]) {
    quant_fp8_tokens
}
"#,
        ),
        (
            "family_as_a_value",
            r#"fusion f<T: half, Q: quantizer>(x: T[b.., 2*d], q: Q) -> y {
    y = silu_and_mul(x) + q
}
"#,
        ),
        (
            "unknown_target_field",
            r#"pass p
where
    target.sms_count >= 80,
    target.smm >= 80,
    target.fusion_limit > 0,
"#,
        ),
        (
            "unknown_guard_function",
            r#"op f(x: f32[n]) -> f32[n]
where
    byte(x) > 16,
    numel(n) > 2,
{
    x + 1.0
}
"#,
        ),
        (
            "unknown_group_field",
            r#"op f(x: f32[n], g: group) -> f32[n] collective
where
    g.sise == 2,
    x.size == 2,
"#,
        ),
        (
            "unknown_fusion_in_a_test",
            r#"fusion f<T: half, Q: quantizer>(x: T[b.., 2*d], q: Q) -> Q.results {
    q(silu_and_mul(x))
}

test "a" {
    graph (x: bf16[s0, 64], s: f32[1]) {
        y = silu_and_mul(x)
        return quant_fp8_static(y, s)
    }
    fires f once
    fires g once
}
"#,
        ),
        (
            "a_broken_item_is_no_news",
            r#"op f(x: f32[n]) -> f32[n] {
    x +
}

op g(x: f32[n]) -> f32[n] {
    f(x)
}

rewrite r(x: f32[n]) {
    f(x) => g(x)
}
"#,
        ),
        (
            "one_cause_one_error",
            r#"op f(x: f32[n, m]) -> f32[q, m] {
    x
}

op g(x: f32[n, m]) -> f32[n, m] {
    y = f(x)
    z = y + f(x)
    z * z
}

bind f(x)
    torch "demo.f.default"(x)
"#,
        ),
    ];
    insta::assert_snapshot!(all(&cases));
}

#[test]
fn declarations() {
    let cases = [
        (
            "duplicate_op",
            r#"op f(x: f32[n]) -> f32[n] {
    x + 1.0
}

op f(x: f32[n]) -> f32[n] {
    x + 2.0
}
"#,
        ),
        (
            "duplicate_of_another_file",
            r#"op silu(x: f32[n]) -> f32[n] {
    x + 1.0
}
"#,
        ),
        (
            "duplicate_rule",
            r#"rewrite r(x: f32[n]) {
    neg(neg(x)) => x
}

fusion r(x: f32[n]) -> y {
    y = neg(x)
}
"#,
        ),
        (
            "duplicate_parameter",
            r#"op f(x: f32[n], x: f32[n]) -> f32[n] {
    x + 1.0
}
"#,
        ),
        (
            "duplicate_variable",
            r#"op f<T: half, T: float>(x: T[n]) -> T[n] {
    x + 1.0
}
"#,
        ),
        (
            "duplicate_result",
            r#"op f(x: f32[n]) -> (y: f32[n], y: f32[n]) {
    y = x + 1.0
}
"#,
        ),
        (
            "duplicate_binding",
            r#"op f(x: f32[n]) -> f32[n] {
    y = x + 1.0
    y = y + 1.0
    x = y
    x
}
"#,
        ),
        (
            "duplicate_enum_value",
            r#"enum e { a, b, a }
"#,
        ),
        (
            "duplicate_member",
            r#"family f<T: half>(x: T[b.., d]) {
    quant_fp8_token
    quant_fp8_token
}
"#,
        ),
        (
            "duplicate_bind",
            r#"bind silu(x)
    torch "demo.silu.default"(x, 1)

bind gelu(y)
    torch "demo.silu.default"(y, 1)

bind gelu(y)
    torch "demo.silu.default"(y, 2)
"#,
        ),
        (
            "second_pass",
            r#"pass a
where
    target.sm >= 80,

pass b
where
    target.sm >= 90,
"#,
        ),
        (
            "two_parameters_share_a_family",
            r#"fusion f<T: half, Q: quantizer>(x: T[b.., 2*d], q: Q, r: Q) -> Q.results {
    q(silu_and_mul(x))
}
"#,
        ),
        (
            "cyclic",
            r#"op f(x: f32[n]) -> f32[n] {
    g(x) + 1.0
}

op g(x: f32[n]) -> f32[n] {
    h(x)
}

op h(x: f32[n]) -> f32[n] {
    f(x)
}

op user(x: f32[n]) -> f32[n] {
    f(x)
}

op self(x: f32[n]) -> f32[n] {
    self(x)
}
"#,
        ),
        (
            "no_meaning",
            r#"op f(x: f32[n]) -> f32[n]

op g(x: f32[n]) -> f32[n] opaque {
    x + 1.0
}

op h(x: f32[n]) opaque
"#,
        ),
        (
            "missing_result",
            r#"op f(x: f32[n]) -> (y: f32[n], h: f32[n]) {
    y = x + 1.0
}

op g(x: f32[n]) -> f32[n] {
    y = x + 1.0
}
"#,
        ),
        (
            "wrong_number_of_results",
            r#"op f(x: f32[b.., d]) -> f32[b.., d] {
    quant_fp8_token(x)
}

op g(x: f32[b.., d]) -> f32[b.., d] {
    (a, b, c) = quant_fp8_token(x)
    a
}

op h(x: f32[b.., d]) -> f32[b.., d] {
    cast(quant_fp8_token(x), f32)
}
"#,
        ),
        (
            "unused_value",
            r#"op f(x: f32[n]) -> (y: f32[n]) {
    y = x + 1.0
    x + 2.0
}

op g(x: f32[n]) -> f32[n] {
    x + 1.0
    x + 2.0
}
"#,
        ),
        (
            "unused_binding",
            r#"op f(x: f32[n]) -> f32[n] {
    y = x + 1.0
    _z = x + 2.0
    x + 3.0
}
"#,
        ),
        (
            "bad_default",
            r#"op f(x: f32[n], k: int = 1.5, l: scale_layout = rowmajor) -> f32[n] {
    x + 1.0
}
"#,
        ),
        (
            "unsupported",
            r#"op f(x: f32[n, d] strided(d + 8)) -> f32[n, d] {
    x + 1.0
}

op g(x: f32[n], ..) -> f32[n] opaque

rewrite r(x: f32[n], y: f32[n]) {
    add(x?, y) => y
}
"#,
        ),
        (
            "member_of_another_shape",
            r#"family f<T: half>(x: T[b.., d], y: T[b.., d], z: T[b.., d]) {
    silu_mul
}
"#,
        ),
        (
            "bad_bound",
            r#"rewrite approx(-1 ulp) r(x: f32[n]) {
    neg(neg(x)) => abs(x)
}

rewrite approx(1 bits) s(x: f32[n]) {
    neg(neg(x)) => abs(x)
}
"#,
        ),
    ];
    insta::assert_snapshot!(all(&cases));
}

#[test]
fn types() {
    let cases = [
        (
            "too_many_arguments",
            r#"op f(x: f32[n]) -> f32[n] {
    silu(x, x)
}
"#,
        ),
        (
            "too_few_arguments",
            r#"op f<T: half>(x: T[b.., d]) -> T[b.., d] {
    rms_norm(x)
}
"#,
        ),
        (
            "unknown_keyword",
            r#"op f(x: f32[b.., d]) -> f32[b..] {
    mean(x, axes = -1)
}
"#,
        ),
        (
            "given_twice",
            r#"op f(x: f32[b.., d]) -> f32[b..] {
    mean(x, -1, axis = -1)
}
"#,
        ),
        (
            "number_for_a_tensor",
            r#"op f(x: f32[b.., d]) -> f32[b.., d] {
    silu_mul(x, 1.0)
}
"#,
        ),
        (
            "tensor_for_a_number",
            r#"op f(x: f32[b.., d], e: f32[d]) -> f32[b.., d] {
    rms_norm(x, e, e)
}
"#,
        ),
        (
            "dtype",
            r#"op f(x: bf16[b.., d], y: f32[b.., d]) -> bf16[b.., d] {
    silu_mul(x, y)
}
"#,
        ),
        (
            "dtype_outside_a_class",
            r#"op f(x: f32[n, d], s: f32[1]) -> u8[n, d/2]
where
    d % 16 == 0,
{
    (q, _) = quant_nvfp4(x, s)
    q
}
"#,
        ),
        (
            "dtype_of_the_result",
            r#"op f<T: float, W: float>(x: T[b.., d], w: W[d]) -> T[b.., d] {
    cast(cast(x, W) * w, W)
}
"#,
        ),
        (
            "shape",
            r#"op f(x: f32[n, d], y: f32[n, e]) -> f32[n, d] {
    silu_mul(x, y)
}

op g(x: f32[n, d], y: f32[n, e]) -> f32[n, d] {
    x + y
}
"#,
        ),
        (
            "rank",
            r#"op f(x: f32[b.., n, d], w: f32[n, d], eps: f64) -> f32[b.., n, d] {
    rms_norm(x, w, eps)
}

op g(x: f32[b..]) -> f32[b..] {
    swizzle_128x4(cast(x, f8e4m3fn))
}
"#,
        ),
        (
            "odd_half",
            r#"op f(x: f32[b.., 2*d + 1]) -> f32[b.., d] {
    silu_and_mul(x)
}
"#,
        ),
        (
            "shape_of_the_result",
            r#"op f(x: f32[n, 2*d]) -> f32[n, d] {
    slice(x, -1, 0, d + 1)
}
"#,
        ),
        (
            "sides_differ",
            r#"rewrite r<T: float, W: float>(x: T[b.., d], w: W[d], eps: f64) {
    rms_norm(x, w, eps) * w => rms_norm(x, w, eps)
}

rewrite s(x: f32[n, d]) {
    sum(x, -1) => sum(x, -1, keepdim)
}
"#,
        ),
        (
            "alternatives_differ",
            r#"rewrite r(x: f32[n, d]) {
    sum(x, -1) | sum(x, -1, keepdim) => sum(x, -1)
}
"#,
        ),
        (
            "sizes_are_not_tensors",
            r#"op f(x: f32[n, d]) -> f32[n, d] {
    x * (n < d)
}

op g(x: f32[n, d]) -> f32[n, d] {
    x % 2.0
}
"#,
        ),
        (
            "a_type_is_no_size",
            r#"op f<T: float>(x: T[T, d]) -> T[d] {
    sum(x, 0)
}

op g(x: f32[b.., d]) -> f32[b.., d] {
    slice(x, -1, 0, b)
}
"#,
        ),
        (
            "undetermined_size",
            r#"op f(x: f32[n*m]) -> f32[n*m] {
    x + 1.0
}
"#,
        ),
        (
            "fusion_that_fits_nothing",
            r#"fusion f<T: half>(x: T[n, d], y: T[n, e]) -> y2 {
    y2 = silu_mul(x, y)
}
"#,
        ),
        (
            "two_results_for_one",
            r#"op f(x: f32[b.., d]) -> f32[b.., d] {
    h = quant_fp8_token(x)
    cast(h, f32)
}
"#,
        ),
    ];
    insta::assert_snapshot!(all(&cases));
}

#[test]
fn rules() {
    let cases = [
        (
            "missing_guard",
            r#"op f(x: bf16[n, d], gs: f32[1]) -> f32[n, 1] {
    (_, s) = quant_nvfp4_linear(x, gs)
    amax(cast(s, f32), keepdim)
}
"#,
        ),
        (
            "guard_of_an_inner_value",
            r#"op one<T: float>(x: T[k..]) -> T[k..]
where
    numel(x) == 1,
{
    x + 1.0
}

fusion f<T: half>(x: T[k.., d]) -> y {
    y = one(sum(x, -1))
}
"#,
        ),
        (
            "inherited_guard_never_holds",
            r#"op small<T: float>(x: T[n]) -> T[n]
where
    n <= 8,
{
    x + 1.0
}

fusion f<T: half>(x: T[16]) -> y {
    y = small(x)
}
"#,
        ),
        (
            "guard_never_holds",
            r#"op f(x: f32[n]) -> f32[n]
where
    n > 8,
    n < 4,
{
    x + 1.0
}

op g(x: f32[n]) -> f32[n]
where
    n % 4 == 5,
{
    x + 1.0
}

op h<T: half>(x: T[n]) -> T[n]
where
    T == f32,
{
    x + 1.0
}
"#,
        ),
        (
            "guard_always_holds",
            r#"op f<T: half>(x: T[n]) -> T[n]
where
    n >= 1,
    T in {bf16, f16},
    n % 2 < 2,
{
    x + 1.0
}
"#,
        ),
        (
            "not_a_condition",
            r#"op f(x: f32[n]) -> f32[n]
where
    n,
    n + 1,
    n in 4,
    T == f32,
{
    x + 1.0
}
"#,
        ),
        (
            "inexact_division",
            r#"op f(x: f32[n, d]) -> f32[n, d/2] {
    slice(x, -1, 0, d/2)
}

op g(x: f32[n, d]) -> f32[n, d]
where
    d % 8 == 0,
{
    repeat(amax(x, group = 16), 16)
}

op h(x: f32[n, d]) -> f32[n, d/0] {
    x
}
"#,
        ),
        (
            "unbound",
            r#"rewrite r(x: f32[n], y: f32[n]) {
    silu(x) => silu(y)
}

rewrite s(x: f32[n], y: f32[n]) {
    silu(x) <=> silu(x) + y - y
}

rewrite t(x: f32[n]) {
    silu(x) => silu(_)
}

op f(x: f32[n]) -> f32[n] {
    x + _
}

rewrite u(x: f32[n]) {
    h = silu(x)
    neg(h) => neg(h)
}
"#,
        ),
        (
            "unused_parameter",
            r#"fusion f(x: f32[n], y: f32[n]) -> z {
    z = silu(x)
}

fusion g<T: half, Q: quantizer>(x: T[b.., 2*d], q: Q) -> y {
    y = silu_and_mul(x)
}

rewrite r(x: f32[n], k: int) {
    neg(neg(x)) => abs(x)
}
"#,
        ),
        (
            "attribute_lost",
            r#"rewrite r<T: float, W: float>(x: T[b.., d], w: W[d], eps: f64) {
    rms_norm(x, w, eps) => rms_norm(x, w, 1e-6)
}

fusion f<T: half>(x: T[b.., d], group: int, layout: scale_layout, ue8m0: bool) -> (q, s)
where
    ue8m0 == false,
{
    (q, s) = quant_fp8_group(x, group, layout, ue8m0)
}
kernel extern torch "demo.quant.default"(out q, x, group)
"#,
        ),
        (
            "not_an_operation",
            r#"rewrite r(x: f32[n]) {
    x => neg(neg(x))
}

rewrite s(x: f32[n]) {
    neg(neg(x)) <=> x
}
"#,
        ),
        (
            "no_common_root",
            r#"fusion f(x: f32[n], y: f32[n]) -> (a, b) {
    a = silu(x)
    b = gelu(y)
}
"#,
        ),
        (
            "results_of_the_sides",
            r#"rewrite r(x: f32[b.., d]) {
    quant_fp8_token(x) => silu(x)
}
"#,
        ),
        (
            "bind_arguments",
            r#"bind silu(x, y)
    torch "demo.a.default"(x, y)

bind rms_norm(x, w)
    torch "demo.b.default"(x, w)

bind rms_norm(x, w, eps)
    torch "demo.c.default"(x, w)

bind rms_norm(x, w, eps)
    torch "demo.d.default"(x, [e], w, eps)
    torch "demo.e.default"(x, [d], w, eps)
    torch "demo.f.default"(x + 1, w, eps)
    torch "demo.g.default"(x, w, eps, x = 1, x = 2)
"#,
        ),
        (
            "bind_results",
            r#"bind silu(x) -> (y, z)
    torch "demo.a.default"(result = out y, input = x)

bind silu(x) -> y
    torch "demo.b.default"(result = out z, input = x)
"#,
        ),
        (
            "test_inputs",
            r#"test "a" {
    graph (x: bf16[b.., 64], y: T[4]) {
        return silu(x)
    }
    fires nothing
}

test "b" {
    graph (x: bf16[s0, 63]) {
        return silu_and_mul(x)
    }
    fires nothing
}
"#,
        ),
    ];
    insta::assert_snapshot!(all(&cases));
}
