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

// Over the warps that share a row: each lane takes one partial result. Sums go on in double: the
// order of the terms inside a warp costs a few units in the last place of f32, and what follows would
// add to that.
template <class R, class P, int COUNT>
FS_DEVICE float merge_warps(const Partials<P, COUNT>& partials, int copy, int which, int first) {
    constexpr int WARPS = Partials<P, COUNT>::WARPS_A_ROW;
    constexpr int LANES = WARPS <= 2 ? 2 : WARPS <= 4 ? 4 : WARPS <= 8 ? 8 : WARPS <= 16 ? 16 : 32;
    const int mine = hw::thread() % LANES;
    const float part = WARPS == LANES || mine < WARPS ? partials.of_warp[copy][which][first + mine] : R::nothing();
    if constexpr (!R::ADDS) return reduce_lanes<R, LANES>(part);
    double total = double(part);
    FS_UNROLL for (int m = LANES / 2; m > 0; m /= 2) total += hw::shuffle_xor(total, m);
    return float(total);
}

// The I-th reduction that ends a phase.
template <class P, int PHASE, int I> using Reduction = decltype(P::reduction(Int<PHASE>{}, Int<I>{}));

// For each reduction of a phase: what nothing adds up to.
template <class P, int PHASE, int I = 0> FS_DEVICE void start_sums(f32x2* mine) {
    if constexpr (I < P::reductions(PHASE)) {
        mine[I] = both(Reduction<P, PHASE, I>::nothing());
        start_sums<P, PHASE, I + 1>(mine);
    }
}

// For each: over the lanes of a warp that share a row; the warp's result goes to `partials`.
template <class P, int PHASE, int COUNT, int I = 0>
FS_DEVICE void reduce_warps(const f32x2* mine, float* row, Partials<P, COUNT>& partials, int copy) {
    if constexpr (I < COUNT) {
        row[I] = reduce_group<Reduction<P, PHASE, I>, (P::TPR < 32 ? P::TPR : 32)>(mine[I]);
        if (Partials<P, COUNT>::WARPS_A_ROW > 1 && hw::thread() % 32 == 0) {
            partials.of_warp[copy][I][hw::thread() / 32] = row[I];
        }
        reduce_warps<P, PHASE, COUNT, I + 1>(mine, row, partials, copy);
    }
}

// For each: over the warps that share a row.
template <class P, int PHASE, int COUNT, int I = 0>
FS_DEVICE void reduce_partials(float* row, const Partials<P, COUNT>& partials, int copy) {
    if constexpr (I < COUNT) {
        constexpr int WARPS = Partials<P, COUNT>::WARPS_A_ROW;
        row[I] = merge_warps<Reduction<P, PHASE, I>>(partials, copy, I, hw::thread() / 32 / WARPS * WARPS);
        reduce_partials<P, PHASE, COUNT, I + 1>(row, partials, copy);
    }
}

template <class P, int PHASE> FS_DEVICE void reduce_row(const f32x2* mine, float* row, int copy) {
    constexpr int COUNT = P::reductions(PHASE);
    FS_SHARED Partials<P, COUNT> partials;
    reduce_warps<P, PHASE>(mine, row, partials, copy);
    if constexpr (Partials<P, COUNT>::WARPS_A_ROW > 1) {
        hw::sync();
        reduce_partials<P, PHASE>(row, partials, copy);
    }
}

}  // namespace fusec
