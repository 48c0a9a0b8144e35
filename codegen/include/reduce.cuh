// Reductions over a group of neighbouring lanes, and over a row.
#pragma once

namespace fusec {

struct Sum {
    static constexpr bool ADDS = true;
    static FS_DEVICE float nothing() { return 0.0f; }
    static FS_DEVICE float merge(float a, float b) { return a + b; }
    static FS_DEVICE f32x2 merge(f32x2 a, f32x2 b) { return a + b; }
};
// NaN if anything is.
struct Max {
    static constexpr bool ADDS = false;
    static FS_DEVICE float nothing() { return hw::as_float(0xff800000u); }  // -infinity
    static FS_DEVICE float merge(float a, float b) { return op::max(a, b); }
    static FS_DEVICE f32x2 merge(f32x2 a, f32x2 b) { return op::max(a, b); }
};

// Over LANES neighbouring lanes (a power of two, at most 32); every lane gets the result.
template <class R, int LANES> FS_DEVICE float reduce_lanes(float v) {
    static_assert(LANES >= 1 && LANES <= 32 && (LANES & (LANES - 1)) == 0, "a power of two up to 32");
    FS_UNROLL for (int m = LANES / 2; m > 0; m /= 2) v = R::merge(v, hw::shuffle_xor(v, m));
    return v;
}
template <class R, int LANES> FS_DEVICE float reduce_group(f32x2 v) {
    return reduce_lanes<R, LANES>(R::merge(v.x, v.y));
}

// One partial result a warp, for the reductions of one phase. Two copies: a warp that is ahead by one
// row must not overwrite what a slow one still reads.
template <class P, int COUNT> struct Partials {
    static constexpr int WARPS_A_ROW = P::TPR <= 32 ? 1 : P::TPR / 32;
    float of_warp[2][COUNT][P::RPB * WARPS_A_ROW];
};

// Over a row held by TPR threads. Sums of warps are added in double: the order of the rest costs a
// few units in the last place of f32 at most, and these would add to that.
template <class R, class P, int COUNT>
FS_DEVICE float merge_warps(const Partials<P, COUNT>& partials, int copy, int which, int first) {
    constexpr int WARPS = Partials<P, COUNT>::WARPS_A_ROW;
    if constexpr (R::ADDS) {
        double total = 0.0;
        FS_UNROLL for (int w = 0; w < WARPS; w++) total += double(partials.of_warp[copy][which][first + w]);
        return float(total);
    } else {
        float total = R::nothing();
        FS_UNROLL for (int w = 0; w < WARPS; w++) total = R::merge(total, partials.of_warp[copy][which][first + w]);
        return total;
    }
}

template <class P, int PHASE> FS_DEVICE void reduce_row(const f32x2* mine, float* row, int copy) {
    constexpr int COUNT = P::reductions(PHASE);
    constexpr int LANES = P::TPR < 32 ? P::TPR : 32;
    FS_SHARED Partials<P, COUNT> partials;
    constexpr int WARPS = Partials<P, COUNT>::WARPS_A_ROW;
    const int warp = hw::thread() / 32;
    static_for<0, COUNT>([&](auto i) {
        using R = decltype(P::reduction(Int<PHASE>{}, i));
        row[i.value] = reduce_group<R, LANES>(mine[i.value]);
        if (WARPS > 1 && hw::thread() % 32 == 0) partials.of_warp[copy][i.value][warp] = row[i.value];
    });
    if constexpr (WARPS > 1) {
        hw::sync();
        static_for<0, COUNT>([&](auto i) {
            using R = decltype(P::reduction(Int<PHASE>{}, i));
            row[i.value] = merge_warps<R>(partials, copy, i.value, warp / WARPS * WARPS);
        });
    }
}

}  // namespace fusec
