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

}  // namespace op
}  // namespace fusec
