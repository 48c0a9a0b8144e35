// Vectors of a row in registers, and how they come from memory and go there.
#pragma once

namespace fusec {

// Which vector of which row a thread works on. `active` is false past the end of a row or of the
// tensor: such a thread computes on zeros and stores nothing, so that everybody meets at barriers.
template <class P> struct At {
    i64 row;
    int vec;
    bool active;

    // How many of the vector's elements exist.
    FS_DEVICE int valid() const {
        if constexpr (P::D % P::VEC == 0) return active ? P::VEC : 0;
        return active ? (P::D - vec * P::VEC < P::VEC ? P::D - vec * P::VEC : P::VEC) : 0;
    }
    // Elements that do not exist count as `otherwise` in a reduction.
    FS_DEVICE f32x2 mask(int pair, f32x2 v, float otherwise) const {
        if constexpr (P::RAGGED) {
            const int n = valid();
            if (2 * pair >= n) v.x = otherwise;
            if (2 * pair + 1 >= n) v.y = otherwise;
        }
        return v;
    }
};

// N elements of T in registers, read and written a pair at a time.
template <class T, int N> struct Vec {
    using Pair = typename Traits<T>::Pair;
    static constexpr int BITS = Traits<T>::BITS;
    static constexpr int BYTES = N * BITS / 8;
    static constexpr int WORDS = (BYTES + 3) / 4;
    u32 w[WORDS];

    FS_DEVICE Pair get(int j) const {
        if constexpr (BITS == 32) {
            return {hw::as_float(w[2 * j]), hw::as_float(w[2 * j + 1])};
        } else if constexpr (BITS == 16) {
            return {w[j]};
        } else {
            return {u16(w[j / 2] >> (16 * (j % 2)))};
        }
    }
    FS_DEVICE void set(int j, Pair v) {
        if constexpr (BITS == 32) {
            w[2 * j] = hw::as_bits(v.x);
            w[2 * j + 1] = hw::as_bits(v.y);
        } else if constexpr (BITS == 16) {
            w[j] = v.bits;
        } else {
            constexpr int PER_WORD = 16 / BITS;
            const u32 moved = u32(v.bits) << (2 * BITS * (j % PER_WORD));
            w[j / PER_WORD] = j % PER_WORD == 0 ? moved : w[j / PER_WORD] | moved;
        }
    }
};

// Whole words by the widest accesses that divide the vector; `p` is aligned to it.
template <int WORDS, bool BY_ALL_ROWS> FS_DEVICE void load_words(const char* p, u32* w) {
    if constexpr (WORDS % 4 == 0) {
        FS_UNROLL for (int i = 0; i < WORDS; i += 4) {
            if constexpr (BY_ALL_ROWS) hw::load16_shared_by_rows(p + 4 * i, w + i);
            else hw::load16(p + 4 * i, w + i);
        }
    } else if constexpr (WORDS % 2 == 0) {
        FS_UNROLL for (int i = 0; i < WORDS; i += 2) hw::load8(p + 4 * i, w + i);
    } else {
        FS_UNROLL for (int i = 0; i < WORDS; i++) w[i] = reinterpret_cast<const u32*>(p)[i];
    }
}
template <int BYTES> FS_DEVICE void store_words(char* p, const u32* w) {
    constexpr int WORDS = BYTES / 4;
    if constexpr (BYTES % 16 == 0) {
        FS_UNROLL for (int i = 0; i < WORDS; i += 4) hw::store16(p + 4 * i, w + i);
    } else if constexpr (BYTES % 8 == 0) {
        FS_UNROLL for (int i = 0; i < WORDS; i += 2) hw::store8(p + 4 * i, w + i);
    } else if constexpr (BYTES % 4 == 0) {
        FS_UNROLL for (int i = 0; i < WORDS; i++) reinterpret_cast<u32*>(p)[i] = w[i];
    } else {
        static_assert(BYTES == 2 || BYTES == 1, "a vector is a power of two of bytes");
        if constexpr (BYTES == 2) *reinterpret_cast<u16*>(p) = u16(w[0]);
        else *p = char(w[0]);
    }
}

// Element by element: rows that are not aligned, and the last vector of a ragged one. The loops are
// unrolled, so that registers are indexed by constants; `n` elements exist.
template <int BITS, int COUNT> FS_DEVICE void load_elements(const char* p, u32* w, int n) {
    constexpr int BYTES = BITS / 8;
    FS_UNROLL for (int e = 0; e < COUNT; e++) {
        if (e >= n) continue;
        const int b = e * BYTES;
        if constexpr (BYTES == 4) w[e] = *reinterpret_cast<const u32*>(p + b);
        else if constexpr (BYTES == 2) w[b / 4] |= u32(*reinterpret_cast<const u16*>(p + b)) << (8 * (b % 4));
        else w[b / 4] |= u32(u8(p[b])) << (8 * (b % 4));
    }
}
template <int BITS, int COUNT> FS_DEVICE void store_elements(char* p, const u32* w, int n) {
    constexpr int PER_STORE = BITS < 8 ? 8 / BITS : 1;  // elements that share a byte go together
    constexpr int BYTES = BITS * PER_STORE / 8;
    FS_UNROLL for (int e = 0; e < COUNT; e += PER_STORE) {
        if (e >= n) continue;
        const int b = e * BITS / 8;
        if constexpr (BYTES == 4) *reinterpret_cast<u32*>(p + b) = w[e];
        else if constexpr (BYTES == 2) *reinterpret_cast<u16*>(p + b) = u16(w[b / 4] >> (8 * (b % 4)));
        else p[b] = char(w[b / 4] >> (8 * (b % 4)));
    }
}

template <class P, class T, bool BY_ALL_ROWS>
FS_DEVICE Vec<T, P::VEC> load_vector(const char* row, int first, const At<P>& at) {
    using V = Vec<T, P::VEC>;
    V v;
    FS_UNROLL for (int i = 0; i < V::WORDS; i++) v.w[i] = 0;
    const char* p = row + i64(first + at.vec * P::VEC) * V::BITS / 8;
    if constexpr (P::ALIGNED) {
        if (at.active) load_words<V::WORDS, BY_ALL_ROWS>(p, v.w);
    } else {
        load_elements<V::BITS, P::VEC>(p, v.w, at.valid());
    }
    return v;
}

// A tensor of rows; `stride` is the distance of two rows in bytes.
template <class T> struct Rows {
    char* data;
    i64 stride;

    template <class P> FS_DEVICE Vec<T, P::VEC> load(const At<P>& at, int first) const {
        return load_vector<P, T, false>(data + at.row * stride, first, at);
    }
    template <class P> FS_DEVICE void store(const At<P>& at, const Vec<T, P::VEC>& v) const {
        using V = Vec<T, P::VEC>;
        char* p = data + at.row * stride + i64(at.vec) * V::BYTES;
        if constexpr (P::ALIGNED) {
            if (at.active) store_words<V::BYTES>(p, v.w);
        } else {
            store_elements<V::BITS, P::VEC>(p, v.w, at.valid());
        }
    }
};

// A vector that every row uses.
template <class T> struct Column {
    const char* data;
    template <class P> FS_DEVICE Vec<T, P::VEC> load(const At<P>& at, int first) const {
        return load_vector<P, T, true>(data, first, at);
    }
};

// One number for the whole tensor.
template <class T> struct Scalar {
    const char* data;
    FS_DEVICE T load() const { return *reinterpret_cast<const T*>(data); }
};

// One number a row.
template <class T> struct PerRow {
    char* data;
    FS_DEVICE void store(i64 row, T v) const { reinterpret_cast<T*>(data)[row] = v; }
};

// A number a group, at any two strides (in bytes): rows of scales, columns of them, padded columns.
template <class T> struct Groups {
    char* data;
    i64 row_stride, group_stride;
    FS_DEVICE void store(i64 row, int group, T v) const {
        *reinterpret_cast<T*>(data + row * row_stride + group * group_stride) = v;
    }
};

// Bytes in tiles of 128 rows by 4 groups, as the tensor cores of sm_100 read block scales.
template <int GROUPS> struct Swizzled128x4 {
    static constexpr int TILES = (GROUPS + 3) / 4;
    char* data;
    FS_DEVICE void store(i64 row, int group, u8 v) const {
        const i64 tile = (row / 128) * TILES + group / 4;
        const int inside = int(row % 32) * 16 + int(row / 32 % 4) * 4 + group % 4;
        data[tile * 512 + inside] = char(v);
    }
    // Zeros from group `first` to the end of the tile.
    FS_DEVICE void clear(i64 row, int first, int lane, int lanes) const {
        for (int g = first + lane; g < TILES * 4; g += lanes) store(row, g, 0);
    }
};

}  // namespace fusec
