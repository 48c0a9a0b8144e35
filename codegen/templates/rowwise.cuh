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

// One row's state in one thread.
template <class P> struct RowState {
    i64 row;
    int lane;
    bool live;
    typename P::Regs regs[P::ITEMS];
    typename P::Row values;

    FS_DEVICE At<P> at(int item) const { return place<P>(row, live, lane, item); }
    FS_DEVICE void begin(const typename P::Args& args, i64 block) {
        row = block * P::RPB + hw::thread() / P::TPR;
        lane = hw::thread() % P::TPR;
        live = row < args.rows;
        FS_UNROLL for (int i = 0; i < P::ITEMS; i++) P::load(args, at(i), regs[i]);
    }
};

template <class P, int PHASE = 0>
FS_DEVICE void run_phases(const typename P::Args& args, const typename P::Uniforms& uniforms,
                          const typename P::Columns* columns, RowState<P>& s, int copy) {
    if constexpr (PHASE < P::PHASES) {
        constexpr int COUNT = P::reductions(PHASE);
        f32x2 mine[COUNT > 0 ? COUNT : 1];
        start_sums<P, PHASE>(mine);
        FS_UNROLL for (int i = 0; i < P::ITEMS; i++) {
            P::phase(Int<PHASE>{}, args, s.at(i), uniforms, columns[i], s.values, s.regs[i], mine);
        }
        if constexpr (COUNT > 0) {
            float sums[COUNT];
            reduce_row<P, PHASE>(mine, sums, copy);
            P::between(Int<PHASE>{}, args, s.row, s.live && s.lane == 0, uniforms, sums, s.values);
        }
        run_phases<P, PHASE + 1>(args, uniforms, columns, s, copy);
    }
}

template <class P> FS_DEVICE void rowwise(const typename P::Args& args) {
    const i64 blocks = (P::padded_rows(args) + P::RPB - 1) / P::RPB;
    i64 block = hw::block();
    RowState<P> state;
    state.begin(args, block);
    typename P::Columns columns[P::ITEMS];
    FS_UNROLL for (int i = 0; i < P::ITEMS; i++) P::load_columns(args, place<P>(0, true, state.lane, i), columns[i]);
    typename P::Uniforms uniforms;
    P::load_uniforms(args, uniforms);
    for (int copy = 0;; copy ^= 1) {
        run_phases<P>(args, uniforms, columns, state, copy);
        P::pad(args, state.row, state.lane);
        block += hw::blocks();
        if (block >= blocks) return;
        state.begin(args, block);
    }
}

}  // namespace fusec
