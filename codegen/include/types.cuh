// Element types, and pairs of them: a kernel works on two neighbouring elements at a time, because
// that is what the conversion and 16-bit instructions take.
#pragma once

namespace fusec {

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;
using u16 = unsigned short;
using u8 = unsigned char;

// One element, by its bits. `float` is itself.
using f32 = float;
struct bf16 { u16 bits; };
struct f16 { u16 bits; };
struct e4m3 { u8 bits; };
struct e5m2 { u8 bits; };
struct e2m1 {};  // half a byte: exists in pairs only

// Two elements; the earlier one is `x`, or the low bits.
struct f32x2 { float x, y; };
struct boolx2 { bool x, y; };
struct bf16x2 { u32 bits; };
struct f16x2 { u32 bits; };
struct e4m3x2 { u16 bits; };
struct e5m2x2 { u16 bits; };
struct e2m1x2 { u8 bits; };

// What a pair of T is called, and how many bits one T has in memory.
template <class T> struct Traits;
template <> struct Traits<f32> { using Pair = f32x2; static constexpr int BITS = 32; };
template <> struct Traits<bf16> { using Pair = bf16x2; static constexpr int BITS = 16; };
template <> struct Traits<f16> { using Pair = f16x2; static constexpr int BITS = 16; };
template <> struct Traits<e4m3> { using Pair = e4m3x2; static constexpr int BITS = 8; };
template <> struct Traits<e5m2> { using Pair = e5m2x2; static constexpr int BITS = 8; };
template <> struct Traits<e2m1> { using Pair = e2m1x2; static constexpr int BITS = 4; };

// A compile-time integer as an argument: which phase, which reduction.
template <int V> struct Int { static constexpr int value = V; };

}  // namespace fusec
