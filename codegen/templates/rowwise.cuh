// Rows whose results depend on the whole row: norms, scales of a row.
//
// TPR threads hold a row in registers, ITEMS vectors of VEC elements each; RPB rows go to a block.
// Phases are the parts between reductions over the row. A program P says what happens in each:
//
//     load(args, at)                     a vector's inputs, all of them before anything is computed
//     phase(Int<K>, .., regs, row, mine) one vector: compute, keep, store, add to `mine`
//     between(Int<K>, .., sums, row)     what follows from the reductions of phase K, once a row
//
// With fewer blocks than rows each block takes several, one after another, and keeps the columns.
#pragma once

namespace fusec {

template <class P> FS_DEVICE At<P> place(i64 row, bool live, int lane, int item) {
    const int vec = item * P::TPR + lane;
    return {row, vec, live && (!P::RAGGED || vec * P::VEC < P::D)};
}

template <class P> FS_DEVICE void rowwise(const typename P::Args& args) {
    const int lane = hw::thread() % P::TPR;
    const i64 blocks = (P::padded_rows(args) + P::RPB - 1) / P::RPB;
    i64 block = hw::block();
    i64 row = block * P::RPB + hw::thread() / P::TPR;

    typename P::Regs regs[P::ITEMS];
    FS_UNROLL for (int i = 0; i < P::ITEMS; i++) P::load(args, place<P>(row, row < args.rows, lane, i), regs[i]);
    typename P::Columns columns[P::ITEMS];
    FS_UNROLL for (int i = 0; i < P::ITEMS; i++) P::load_columns(args, place<P>(0, true, lane, i), columns[i]);
    typename P::Uniforms uniforms;
    P::load_uniforms(args, uniforms);

    for (int copy = 0;; copy ^= 1) {
        typename P::Row values;
        static_for<0, P::PHASES>([&](auto phase) {
            constexpr int COUNT = P::reductions(phase.value);
            f32x2 mine[COUNT > 0 ? COUNT : 1];
            static_for<0, COUNT>([&](auto i) { mine[i.value] = both(decltype(P::reduction(phase, i))::nothing()); });
            FS_UNROLL for (int i = 0; i < P::ITEMS; i++) {
                P::phase(phase, args, place<P>(row, row < args.rows, lane, i), uniforms, columns[i], values, regs[i], mine);
            }
            if constexpr (COUNT > 0) {
                float sums[COUNT];
                reduce_row<P, phase.value>(mine, sums, copy);
                P::between(phase, args, row, row < args.rows && lane == 0, uniforms, sums, values);
            }
        });
        P::pad(args, row, lane);
        block += hw::blocks();
        if (block >= blocks) return;
        row = block * P::RPB + hw::thread() / P::TPR;
        FS_UNROLL for (int i = 0; i < P::ITEMS; i++) P::load(args, place<P>(row, row < args.rows, lane, i), regs[i]);
    }
}

}  // namespace fusec
