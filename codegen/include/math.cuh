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

// exp2(ceil(log2(v))), the power of two that is not below v: exactly as if log2 were rounded to f32
// first, which takes the few numbers just above a power of two down to it. Half a last place of the
// logarithm k is 2^(j - 24), with j the place of |k|'s first bit (of |k| - 1, where k < 0: the spacing
// below a power of two is half of that above); it spans 2^(j - 1) * ln(2) steps of v.
FS_DEVICE float power_above(float v) {
    const u32 bits = hw::as_bits(v);
    if (bits - 0x00800000u >= 0x7f000000u) return exp2(ceil(log2(v)));  // not a positive normal number
    const int k = int(bits >> 23) - 127;
    const u32 size = u32(k ^ (k >> 31));
    const u32 taken_down = size == 0 ? 0 : 1453635u >> (hw::leading_zeros(size) - 9);
    const u32 up = (bits & 0x007fffffu) > taken_down ? 0x00800000u : 0;
    return hw::as_float((bits & 0x7f800000u) + up);
}
FS_DEVICE f32x2 power_above(f32x2 v) { return {power_above(v.x), power_above(v.y)}; }

// A divisor that many quotients share: at least as large as the largest magnitude of what it divides,
// over some 1e3, and not tiny. Infinity is kept as a zero with inverse 0, so that quotients are 0, or NaN
// of infinity.
struct Divisor {
    float value, inverse;
};
FS_DEVICE Divisor divisor(float v) {
    const float inverse = 1.0f / v;
    return {inverse == 0.0f ? 0.0f : v, inverse};
}

// x / d, correctly rounded, for x with at most 11 significant bits: one correction of x * (1/d) does
// it (checked for every bf16 and divisor). Where x is so small that the correction loses bits, the
// result is below what an 8-bit float can hold, and zero keeps its sign.
FS_DEVICE float quotient(float x, const Divisor& d) {
    const float rough = x * d.inverse;
    const float excess = hw::fma_rn(rough, d.value, -x);
    return hw::fma_rn(-excess, d.inverse, rough);
}
FS_DEVICE f32x2 quotient(f32x2 x, const Divisor& d) { return {quotient(x.x, d), quotient(x.y, d)}; }

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
