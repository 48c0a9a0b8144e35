// The machine, on a CPU: hw_cuda.cuh in plain C++, for tests without a GPU.
//
// A block's threads are coroutines of one OS thread. Each runs until it meets a barrier, then the
// next one runs; a shuffle is a barrier of the warp with a slot for each lane. So a kernel that
// would deadlock on a GPU stops here too, with a message.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define FS_DEVICE inline
#define FS_KERNEL(threads, blocks) static void
#define FS_SHARED static
#define FS_UNROLL
#define FS_HAS_E2M1_CVT 0
#define FS_HAS_FP8_CVT 0

namespace fusec {
namespace hw {

// A meeting point of `size` coroutines.
struct Barrier {
    int size = 0, waiting = 0;
    unsigned round = 0;
};

struct Thread {
    ucontext_t context;
    std::vector<char> stack;
    bool done = false;
};

// The one block that is running.
struct Block {
    std::vector<Thread> threads;
    std::vector<Barrier> warps;
    std::vector<uint64_t> slots;  // two for each thread: a shuffle may overtake the last one's readers
    std::vector<unsigned char> parity;
    Barrier all;
    ucontext_t scheduler;
    int now = 0;
    bool moved = false;
    unsigned index = 0, count = 0;
    void (*body)(const void*) = nullptr;
    const void* argument = nullptr;
};

inline Block& running() {
    static Block block;
    return block;
}

inline void wait(Barrier& barrier) {
    Block& b = running();
    const unsigned round = barrier.round;
    b.moved = true;
    if (++barrier.waiting == barrier.size) {
        barrier.waiting = 0;
        barrier.round++;
        return;
    }
    while (barrier.round == round) swapcontext(&b.threads[b.now].context, &b.scheduler);
    b.moved = true;
}

inline void thread_main() {
    Block& b = running();
    b.body(b.argument);
    b.threads[b.now].done = true;
    b.moved = true;
}

inline void start_threads(Block& b) {
    for (Thread& t : b.threads) {
        t.done = false;
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = t.stack.size();
        t.context.uc_link = &b.scheduler;
        makecontext(&t.context, thread_main, 0);
    }
}

inline void run_block(Block& b) {
    start_threads(b);
    for (bool left = true; left;) {
        left = false;
        b.moved = false;
        for (b.now = 0; b.now < int(b.threads.size()); b.now++) {
            if (b.threads[b.now].done) continue;
            left = true;
            swapcontext(&b.scheduler, &b.threads[b.now].context);
        }
        if (left && !b.moved) {
            std::fprintf(stderr, "fusec: the threads of block %u wait for each other for ever\n", b.index);
            std::abort();
        }
    }
}

// Runs `body(argument)` as every thread of every block, one block after another.
inline void launch(unsigned grid, int threads, void (*body)(const void*), const void* argument) {
    Block& b = running();
    b.body = body;
    b.argument = argument;
    b.count = grid;
    b.threads.resize(threads);
    for (Thread& t : b.threads) t.stack.resize(64 << 10);
    b.slots.assign(2 * threads, 0);
    b.parity.assign(threads, 0);
    b.warps.assign((threads + 31) / 32, Barrier{});
    for (size_t w = 0; w < b.warps.size(); w++) b.warps[w].size = std::min(32, threads - 32 * int(w));
    b.all = Barrier{};
    b.all.size = threads;
    for (b.index = 0; b.index < grid; b.index++) run_block(b);
}

inline int thread() { return running().now; }
inline unsigned block() { return running().index; }
inline unsigned blocks() { return running().count; }
inline void sync() { wait(running().all); }

inline unsigned as_bits(float v) { unsigned r; std::memcpy(&r, &v, 4); return r; }
inline float as_float(unsigned v) { float r; std::memcpy(&r, &v, 4); return r; }

template <class T> inline T shuffle_xor(T v, int mask) {
    static_assert(sizeof(T) <= 8, "a slot holds eight bytes");
    Block& b = running();
    const int me = b.now, count = int(b.threads.size());
    const int half = (b.parity[me] ^= 1) * count;
    std::memcpy(&b.slots[half + me], &v, sizeof(T));
    wait(b.warps[me / 32]);
    T r;
    std::memcpy(&r, &b.slots[half + (me ^ mask)], sizeof(T));
    return r;
}

inline float quiet(float a, float b) { return std::isnan(a) ? a : b; }
inline float min_nan(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return quiet(a, b);
    return a < b || (a == b && std::signbit(a)) ? a : b;
}
inline float max_nan(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return quiet(a, b);
    return a > b || (a == b && std::signbit(b)) ? a : b;
}

inline float sqrt_rn(float v) { return std::sqrt(v); }
inline float rsqrt_rn(float v) { return float(1.0 / std::sqrt(double(v))); }
inline float fma_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float exp2_fast(float v) { return std::exp2(v); }
inline float rcp_fast(float v) { return 1.0f / v; }

inline unsigned short bf16_bits(float v) {
    const unsigned b = as_bits(v);
    if ((b & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (unsigned short)((b + 0x7fff + ((b >> 16) & 1)) >> 16);
}
inline unsigned short f16_bits(float v) {
    const _Float16 h = _Float16(v);
    unsigned short r;
    std::memcpy(&r, &h, 2);
    return r;
}
inline float f16_to_f32(unsigned short v) {
    _Float16 h;
    std::memcpy(&h, &v, 2);
    return float(h);
}
inline float bf16_to_f32(unsigned v) { return as_float(v << 16); }
inline unsigned f32_to_bf16x2(float x, float y) { return bf16_bits(x) | unsigned(bf16_bits(y)) << 16; }
inline unsigned f32_to_f16x2(float x, float y) { return f16_bits(x) | unsigned(f16_bits(y)) << 16; }

inline unsigned mul_bf16x2(unsigned a, unsigned b) {
    return f32_to_bf16x2(bf16_to_f32(a & 0xffff) * bf16_to_f32(b & 0xffff), bf16_to_f32(a >> 16) * bf16_to_f32(b >> 16));
}
inline unsigned add_bf16x2(unsigned a, unsigned b) {
    return f32_to_bf16x2(bf16_to_f32(a & 0xffff) + bf16_to_f32(b & 0xffff), bf16_to_f32(a >> 16) + bf16_to_f32(b >> 16));
}
inline unsigned mul_f16x2(unsigned a, unsigned b) {
    return f32_to_f16x2(f16_to_f32(a & 0xffff) * f16_to_f32(b & 0xffff), f16_to_f32(a >> 16) * f16_to_f32(b >> 16));
}
inline unsigned add_f16x2(unsigned a, unsigned b) {
    return f32_to_f16x2(f16_to_f32(a & 0xffff) + f16_to_f32(b & 0xffff), f16_to_f32(a >> 16) + f16_to_f32(b >> 16));
}

// A misaligned vector access is an error on a GPU, so it is one here.
inline void aligned(const void* p, int bytes) {
    if (reinterpret_cast<uintptr_t>(p) % bytes) {
        std::fprintf(stderr, "fusec: misaligned %d-byte access\n", bytes);
        std::abort();
    }
}
inline void load16(const void* p, unsigned* w) { aligned(p, 16); std::memcpy(w, p, 16); }
inline void load8(const void* p, unsigned* w) { aligned(p, 8); std::memcpy(w, p, 8); }
inline void load16_shared_by_rows(const void* p, unsigned* w) { load16(p, w); }
inline void store16(void* p, const unsigned* w) { aligned(p, 16); std::memcpy(p, w, 16); }
inline void store8(void* p, const unsigned* w) { aligned(p, 8); std::memcpy(p, w, 8); }

inline double exp64(double v) { return std::exp(v); }
inline double exp2_64(double v) { return std::exp2(v); }
inline double log64(double v) { return std::log(v); }
inline double log2_64(double v) { return std::log2(v); }
inline double tanh64(double v) { return std::tanh(v); }
inline double erf64(double v) { return std::erf(v); }
inline float ceil32(float v) { return std::ceil(v); }
inline float floor32(float v) { return std::floor(v); }
inline float rint32(float v) { return std::nearbyint(v); }
inline float abs32(float v) { return std::fabs(v); }
inline float min_number(float a, float b) { return std::isnan(a) || b < a ? b : a; }
inline int leading_zeros(unsigned v) { return v ? __builtin_clz(v) : 32; }

}  // namespace hw
}  // namespace fusec
