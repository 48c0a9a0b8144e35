// The machine, on a GPU: every instruction the templates use that C++ has no word for.
// hw_host.h says the same in plain C++, so that the same kernels run in tests on a CPU.
#pragma once

#define FS_DEVICE __device__ __forceinline__
#define FS_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define FS_SHARED __shared__
#define FS_UNROLL _Pragma("unroll")

#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
#define FS_HAS_E2M1_CVT (__CUDA_ARCH__ >= 1000)
#else
#define FS_HAS_E2M1_CVT 0
#endif
#define FS_HAS_FP8_CVT (__CUDA_ARCH__ >= 890)

namespace fusec {
namespace hw {

FS_DEVICE int thread() { return threadIdx.x; }
FS_DEVICE unsigned block() { return blockIdx.x; }
FS_DEVICE unsigned blocks() { return gridDim.x; }
FS_DEVICE void sync() { __syncthreads(); }

FS_DEVICE unsigned as_bits(float v) { return __float_as_uint(v); }
FS_DEVICE float as_float(unsigned v) { return __uint_as_float(v); }

template <class T> FS_DEVICE T shuffle_xor(T v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }

// NaN if either is NaN.
FS_DEVICE float min_nan(float a, float b) { float r; asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
FS_DEVICE float max_nan(float a, float b) { float r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }

// Correctly rounded. `/` is too: the compiler is told -prec-div=true and -fmad=false.
FS_DEVICE float sqrt_rn(float v) { return __fsqrt_rn(v); }
FS_DEVICE float rsqrt_rn(float v) { return __frsqrt_rn(v); }
FS_DEVICE float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// Good to about 2 units in the last place, subnormals flushed; for fast paths that check themselves.
FS_DEVICE float exp2_fast(float v) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
FS_DEVICE float rcp_fast(float v) { float r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }

// Conversions round to nearest even. Two results in one register, `x` in the low half.
FS_DEVICE unsigned f32_to_bf16x2(float x, float y) { unsigned r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x)); return r; }
FS_DEVICE unsigned f32_to_f16x2(float x, float y) { unsigned r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x)); return r; }
FS_DEVICE float f16_to_f32(unsigned short v) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v)); return r; }

// Products and sums of 16-bit pairs, each rounded once.
FS_DEVICE unsigned mul_bf16x2(unsigned a, unsigned b) {
    unsigned r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0x80008000u));  // + -0.0: changes nothing
    return r;
}
FS_DEVICE unsigned add_bf16x2(unsigned a, unsigned b) {
    unsigned r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(0x3f803f80u), "r"(b));  // * 1.0
    return r;
}
FS_DEVICE unsigned mul_f16x2(unsigned a, unsigned b) { unsigned r; asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
FS_DEVICE unsigned add_f16x2(unsigned a, unsigned b) { unsigned r; asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }

#if FS_HAS_FP8_CVT
FS_DEVICE unsigned short f32_to_e4m3x2(float x, float y) { unsigned short r; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(y), "f"(x)); return r; }
FS_DEVICE unsigned short f32_to_e5m2x2(float x, float y) { unsigned short r; asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(y), "f"(x)); return r; }
#endif
#if FS_HAS_E2M1_CVT
FS_DEVICE unsigned char f32_to_e2m1x2(float x, float y) {
    unsigned short r;
    asm("{\n.reg .b8 t;\ncvt.rn.satfinite.e2m1x2.f32 t, %1, %2;\ncvt.u16.u8 %0, t;\n}" : "=h"(r) : "f"(y), "f"(x));
    return (unsigned char)r;
}
#endif

// Rows are read once: they should not push what all rows share out of the first-level cache.
// Not `.nc`: an output may be the same buffer as an input.
FS_DEVICE void load16(const void* p, unsigned* w) {
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
}
FS_DEVICE void load8(const void* p, unsigned* w) {
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p));
}
FS_DEVICE void load16_shared_by_rows(const void* p, unsigned* w) {
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
}
FS_DEVICE void store16(void* p, const unsigned* w) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
}
FS_DEVICE void store8(void* p, const unsigned* w) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(w[0]), "r"(w[1]) : "memory");
}

// Doubles, for functions whose f32 versions are not correctly rounded.
FS_DEVICE double exp64(double v) { return ::exp(v); }
FS_DEVICE double exp2_64(double v) { return ::exp2(v); }
FS_DEVICE double log64(double v) { return ::log(v); }
FS_DEVICE double log2_64(double v) { return ::log2(v); }
FS_DEVICE double tanh64(double v) { return ::tanh(v); }
FS_DEVICE double erf64(double v) { return ::erf(v); }
FS_DEVICE float ceil32(float v) { return ::ceilf(v); }
FS_DEVICE float floor32(float v) { return ::floorf(v); }
FS_DEVICE float rint32(float v) { return ::rintf(v); }
FS_DEVICE float abs32(float v) { return ::fabsf(v); }
// The number, if one is NaN.
FS_DEVICE float min_number(float a, float b) { return ::fminf(a, b); }
FS_DEVICE int leading_zeros(unsigned v) { return __clz(v); }

}  // namespace hw
}  // namespace fusec
