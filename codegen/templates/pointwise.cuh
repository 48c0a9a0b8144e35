// Results that depend on one element, or on one group of neighbours: activations, group scales.
//
// A row is cut into CHUNKS of ITEMS * TPR vectors, and every chunk goes to a block of its own, so one
// long row fills the machine too. Short rows go RPB to a block. The program is as in rowwise.cuh,
// with one phase and no reduction over the row.
#pragma once

namespace fusec {

template <class P> FS_DEVICE At<P> place_in_chunk(i64 row, bool live, int chunk, int lane, int item) {
    const int vec = (chunk * P::ITEMS + item) * P::TPR + lane;
    return {row, vec, live && (!P::RAGGED || vec * P::VEC < P::D)};
}

template <class P> FS_DEVICE void pointwise(const typename P::Args& args) {
    const int lane = hw::thread() % P::TPR;
    const i64 pieces = (P::padded_rows(args) + P::RPB - 1) / P::RPB * P::CHUNKS;
    i64 piece = hw::block();
    typename P::Uniforms uniforms;
    bool first = true;
    for (; piece < pieces; piece += hw::blocks()) {
        const i64 row = (P::CHUNKS == 1 ? piece : piece / P::CHUNKS) * P::RPB + hw::thread() / P::TPR;
        const int chunk = P::CHUNKS == 1 ? 0 : int(piece % P::CHUNKS);
        typename P::Regs regs[P::ITEMS];
        typename P::Columns columns[P::ITEMS];
        FS_UNROLL for (int i = 0; i < P::ITEMS; i++) {
            const At<P> at = place_in_chunk<P>(row, row < args.rows, chunk, lane, i);
            P::load(args, at, regs[i]);
            P::load_columns(args, at, columns[i]);
        }
        if (first) P::load_uniforms(args, uniforms);
        first = false;
        typename P::Row values;
        FS_UNROLL for (int i = 0; i < P::ITEMS; i++) {
            f32x2 none[1];
            P::phase(Int<0>{}, args, place_in_chunk<P>(row, row < args.rows, chunk, lane, i), uniforms, columns[i], values, regs[i], none);
        }
        if (chunk == 0) P::pad(args, row, lane);
    }
}

}  // namespace fusec
