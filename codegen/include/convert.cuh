// Rounding to narrow types, as integer code: what a chip without the instruction does, and a CPU.
#pragma once

namespace fusec {

// Rounds `v` (sign removed) to EXP exponent and MAN mantissa bits, to nearest even, subnormals
// included. The result may be one past the largest finite code; the caller decides what that means.
template <int EXP, int MAN> FS_DEVICE u32 round_magnitude(u32 v) {
    constexpr int BIAS = (1 << (EXP - 1)) - 1;
    constexpr u32 LEAST_NORMAL = u32(127 - BIAS + 1) << 23;
    if (v < LEAST_NORMAL) {
        // Adding a float whose last place is the subnormal step lets the adder round.
        const float step = hw::as_float(u32(127 - BIAS + 1 + 23 - MAN) << 23);
        return hw::as_bits(hw::as_float(v) + step) - hw::as_bits(step);
    }
    const u32 odd = (v >> (23 - MAN)) & 1;
    const u32 rebased = v - (u32(127 - BIAS) << 23);
    return (rebased + ((1u << (22 - MAN)) - 1) + odd) >> (23 - MAN);
}

// Saturates; NaN stays NaN.
template <int EXP, int MAN, u32 LARGEST, u32 NAN_CODE> FS_DEVICE u8 narrow8(float v) {
    const u32 bits = hw::as_bits(v);
    const u32 sign = (bits >> 24) & 0x80;
    const u32 magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return u8(NAN_CODE);
    const u32 code = round_magnitude<EXP, MAN>(magnitude);
    return u8(sign | (code > LARGEST ? LARGEST : code));
}

FS_DEVICE u8 to_e4m3_bits(float v) { return narrow8<4, 3, 0x7e, 0x7f>(v); }
FS_DEVICE u8 to_e5m2_bits(float v) { return narrow8<5, 2, 0x7b, 0x7f>(v); }

// e2m1: 0, 0.5, 1, 1.5 and 2 are steps of 0.5; 2, 3 and 4 of 1; 4 and 6 of 2. Adding a float whose
// last place is the step lets the adder round; the low bits count steps, and each coarser range
// starts two codes later. There is no NaN: it becomes the largest value, as the instruction makes it.
FS_DEVICE u32 to_e2m1_bits(float v) {
    const float size = hw::min_number(hw::abs32(v), 6.0f);
    const float grid = size < 2.0f ? 4194304.0f : size < 4.0f ? 8388608.0f : 16777216.0f;
    const u32 sum = hw::as_bits(size + grid);
    const u32 code = (sum + 2 * ((sum >> 23) - 149)) & 7;
    const bool nan = v != v;
    return code | (nan ? 0 : (hw::as_bits(v) >> 28) & 8);
}

FS_DEVICE float from_bf16_bits(u32 low) { return hw::as_float(low << 16); }

// Widens an 8-bit float by moving its bits to f32's places and scaling the exponent.
template <int EXP, int MAN> FS_DEVICE float widen8(u32 code) {
    constexpr int BIAS = (1 << (EXP - 1)) - 1;
    const float magnitude = hw::as_float((code & 0x7f) << (23 - MAN)) * hw::as_float(u32(254 - BIAS) << 23);
    return hw::as_float(hw::as_bits(magnitude) | ((code & 0x80) << 24));
}
FS_DEVICE float from_e4m3_bits(u32 code) {
    return (code & 0x7f) == 0x7f ? hw::as_float(0x7fffffff) : widen8<4, 3>(code);
}
FS_DEVICE float from_e5m2_bits(u32 code) {
    const u32 magnitude = code & 0x7f;
    if (magnitude < 0x7c) return widen8<5, 2>(code);
    return hw::as_float(((code & 0x80) << 24) | (magnitude == 0x7c ? 0x7f800000 : 0x7fffffff));
}

}  // namespace fusec
