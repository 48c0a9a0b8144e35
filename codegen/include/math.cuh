// The functions of the language. Square roots and their reciprocals are correctly rounded; the
// transcendental ones are computed in double and rounded, which is the same but for one argument
// in hundreds of millions.
#pragma once

namespace fusec {
namespace op {

#define FS_FUNCTION(name, expression)                                             \
    FS_DEVICE float name(float v) { return expression; }                          \
    FS_DEVICE f32x2 name(f32x2 v) { return {name(v.x), name(v.y)}; }
FS_FUNCTION(abs, hw::abs32(v))
FS_FUNCTION(sqrt, hw::sqrt_rn(v))
FS_FUNCTION(rsqrt, hw::rsqrt_rn(v))
FS_FUNCTION(exp, float(hw::exp64(double(v))))
FS_FUNCTION(exp2, float(hw::exp2_64(double(v))))
FS_FUNCTION(log, float(hw::log64(double(v))))
FS_FUNCTION(log2, float(hw::log2_64(double(v))))
FS_FUNCTION(tanh, float(hw::tanh64(double(v))))
FS_FUNCTION(erf, float(hw::erf64(double(v))))
FS_FUNCTION(sigmoid, float(1.0 / (1.0 + hw::exp64(-double(v)))))
FS_FUNCTION(ceil, hw::ceil32(v))
FS_FUNCTION(floor, hw::floor32(v))
FS_FUNCTION(round, hw::rint32(v))
#undef FS_FUNCTION

#define FS_FUNCTION2(name, function)                                                              \
    FS_DEVICE float name(float a, float b) { return function(a, b); }                             \
    template <class A, class B> FS_DEVICE f32x2 name(A a, B b) {                                  \
        return {function(both(a).x, both(b).x), function(both(a).y, both(b).y)};                  \
    }
FS_FUNCTION2(min, hw::min_nan)
FS_FUNCTION2(max, hw::max_nan)
#undef FS_FUNCTION2

// Quick versions, for values that are rounded to 16 bits right away; near.rs counts their errors.
FS_DEVICE float quick_exp(float v) {
    const float t = v * 1.44269502f;  // log2(e), rounded; the next two lines bring back what is lost
    float lost = hw::fma_rn(v, 1.44269502f, -t);
    lost = hw::fma_rn(v, 1.92596303e-8f, lost);
    const float power = hw::exp2_fast(t);
    return hw::fma_rn(power, lost * 0.693147181f, power);
}
FS_DEVICE f32x2 quick_exp(f32x2 v) { return {quick_exp(v.x), quick_exp(v.y)}; }
FS_DEVICE float quick_reciprocal(float v) { return hw::rcp_fast(v); }
FS_DEVICE f32x2 quick_reciprocal(f32x2 v) { return {hw::rcp_fast(v.x), hw::rcp_fast(v.y)}; }
FS_DEVICE float quick_sigmoid(float v) { return hw::rcp_fast(1.0f + quick_exp(-v)); }
FS_DEVICE f32x2 quick_sigmoid(f32x2 v) { return {quick_sigmoid(v.x), quick_sigmoid(v.y)}; }

}  // namespace op

// Whether everything within `units` last places of v rounds to the same T: v is not that near to the
// middle between two of them, and T's rounding is the ordinary one at its size.
template <class T> struct Ordinary;
template <> struct Ordinary<bf16> {
    static constexpr u32 DROPPED = 16;
    static constexpr float LEAST = 7.9e-31f, MOST = 1.2e30f;
};
template <> struct Ordinary<f16> {
    static constexpr u32 DROPPED = 13;
    static constexpr float LEAST = 6.2e-5f, MOST = 3.2e4f;
};
template <class T> FS_DEVICE bool surely_rounds(float v, u32 units) {
    using O = Ordinary<T>;
    constexpr u32 KEPT_OUT = (1u << O::DROPPED) - 1, MIDDLE = 1u << (O::DROPPED - 1);
    const u32 past = (hw::as_bits(v) - MIDDLE + units) & KEPT_OUT;
    const float size = hw::abs32(v);
    return past > 2 * units && size > O::LEAST && size < O::MOST;
}
template <class T> FS_DEVICE bool surely_rounds(f32x2 v, u32 units) {
    return surely_rounds<T>(v.x, units) & surely_rounds<T>(v.y, units);
}

}  // namespace fusec
