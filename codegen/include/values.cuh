// What a kernel's expressions are written in: arithmetic on f32, one value or a pair, and casts.
//
// Every operation rounds once, to nearest even. Nothing is contracted: the compiler is told
// -fmad=false (nvcc, NVRTC) or -ffp-contract=off (a host compiler).
#pragma once

namespace fusec {

// Pairs, and a pair with one value for both.
FS_DEVICE f32x2 both(float v) { return {v, v}; }
FS_DEVICE f32x2 both(f32x2 v) { return v; }

#define FS_PAIRWISE(op)                                                                        \
    FS_DEVICE f32x2 operator op(f32x2 a, f32x2 b) { return {a.x op b.x, a.y op b.y}; }         \
    FS_DEVICE f32x2 operator op(f32x2 a, float b) { return {a.x op b, a.y op b}; }             \
    FS_DEVICE f32x2 operator op(float a, f32x2 b) { return {a op b.x, a op b.y}; }
FS_PAIRWISE(+)
FS_PAIRWISE(-)
FS_PAIRWISE(*)
FS_PAIRWISE(/)
#undef FS_PAIRWISE

#define FS_COMPARE(op)                                                                         \
    FS_DEVICE boolx2 operator op(f32x2 a, f32x2 b) { return {a.x op b.x, a.y op b.y}; }        \
    FS_DEVICE boolx2 operator op(f32x2 a, float b) { return {a.x op b, a.y op b}; }            \
    FS_DEVICE boolx2 operator op(float a, f32x2 b) { return {a op b.x, a op b.y}; }
FS_COMPARE(==)
FS_COMPARE(!=)
FS_COMPARE(<)
FS_COMPARE(<=)
FS_COMPARE(>)
FS_COMPARE(>=)
#undef FS_COMPARE

FS_DEVICE f32x2 operator-(f32x2 a) { return {-a.x, -a.y}; }

// 16-bit products and sums. Equal to computing in f32 and rounding: f32 has more than twice the bits.
FS_DEVICE bf16x2 operator*(bf16x2 a, bf16x2 b) { return {hw::mul_bf16x2(a.bits, b.bits)}; }
FS_DEVICE bf16x2 operator+(bf16x2 a, bf16x2 b) { return {hw::add_bf16x2(a.bits, b.bits)}; }
FS_DEVICE f16x2 operator*(f16x2 a, f16x2 b) { return {hw::mul_f16x2(a.bits, b.bits)}; }
FS_DEVICE f16x2 operator+(f16x2 a, f16x2 b) { return {hw::add_f16x2(a.bits, b.bits)}; }

// Widening, always exact.
FS_DEVICE float to_f32(float v) { return v; }
FS_DEVICE float to_f32(bf16 v) { return from_bf16_bits(v.bits); }
FS_DEVICE float to_f32(f16 v) { return hw::f16_to_f32(v.bits); }
FS_DEVICE float to_f32(e4m3 v) { return from_e4m3_bits(v.bits); }
FS_DEVICE float to_f32(e5m2 v) { return from_e5m2_bits(v.bits); }
FS_DEVICE f32x2 to_f32(f32x2 v) { return v; }
FS_DEVICE f32x2 to_f32(bf16x2 v) { return {hw::as_float(v.bits << 16), hw::as_float(v.bits & 0xffff0000u)}; }
FS_DEVICE f32x2 to_f32(f16x2 v) { return {hw::f16_to_f32(u16(v.bits)), hw::f16_to_f32(u16(v.bits >> 16))}; }
FS_DEVICE f32x2 to_f32(e4m3x2 v) { return {from_e4m3_bits(v.bits & 0xff), from_e4m3_bits(v.bits >> 8)}; }
FS_DEVICE f32x2 to_f32(e5m2x2 v) { return {from_e5m2_bits(v.bits & 0xff), from_e5m2_bits(v.bits >> 8)}; }

// Rounding a pair. 8-bit floats and e2m1 saturate.
template <class T> struct Round;
template <> struct Round<f32> {
    static FS_DEVICE f32x2 pair(f32x2 v) { return v; }
    static FS_DEVICE f32 one(float v) { return v; }
};
template <> struct Round<bf16> {
    static FS_DEVICE bf16x2 pair(f32x2 v) { return {hw::f32_to_bf16x2(v.x, v.y)}; }
    static FS_DEVICE bf16 one(float v) { return {u16(hw::f32_to_bf16x2(v, 0.0f))}; }
};
template <> struct Round<f16> {
    static FS_DEVICE f16x2 pair(f32x2 v) { return {hw::f32_to_f16x2(v.x, v.y)}; }
    static FS_DEVICE f16 one(float v) { return {u16(hw::f32_to_f16x2(v, 0.0f))}; }
};
template <> struct Round<e4m3> {
#if FS_HAS_FP8_CVT
    static FS_DEVICE e4m3x2 pair(f32x2 v) { return {hw::f32_to_e4m3x2(v.x, v.y)}; }
#else
    static FS_DEVICE e4m3x2 pair(f32x2 v) { return {u16(to_e4m3_bits(v.x) | u32(to_e4m3_bits(v.y)) << 8)}; }
#endif
    static FS_DEVICE e4m3 one(float v) { return {u8(pair({v, 0.0f}).bits)}; }
};
template <> struct Round<e5m2> {
#if FS_HAS_FP8_CVT
    static FS_DEVICE e5m2x2 pair(f32x2 v) { return {hw::f32_to_e5m2x2(v.x, v.y)}; }
#else
    static FS_DEVICE e5m2x2 pair(f32x2 v) { return {u16(to_e5m2_bits(v.x) | u32(to_e5m2_bits(v.y)) << 8)}; }
#endif
    static FS_DEVICE e5m2 one(float v) { return {u8(pair({v, 0.0f}).bits)}; }
};
template <> struct Round<e2m1> {
#if FS_HAS_E2M1_CVT
    static FS_DEVICE e2m1x2 pair(f32x2 v) { return {hw::f32_to_e2m1x2(v.x, v.y)}; }
#else
    static FS_DEVICE e2m1x2 pair(f32x2 v) { return {u8(to_e2m1_bits(v.x) | to_e2m1_bits(v.y) << 4)}; }
#endif
};

// cast<bf16>(v): a pair gives a pair, one value gives one.
template <class T> FS_DEVICE typename Traits<T>::Pair cast(f32x2 v) { return Round<T>::pair(v); }
template <class T> FS_DEVICE T cast(float v) { return Round<T>::one(v); }

FS_DEVICE float select(bool c, float a, float b) { return c ? a : b; }
template <class A, class B> FS_DEVICE f32x2 select(boolx2 c, A a, B b) {
    return {c.x ? both(a).x : both(b).x, c.y ? both(a).y : both(b).y};
}
template <class A, class B> FS_DEVICE f32x2 select(bool c, A a, B b) { return c ? both(a) : both(b); }

}  // namespace fusec
