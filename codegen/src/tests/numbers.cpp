// Compiled after hw_host.h and the headers of every kernel: their shortcuts against plain formulas.
// Prints what is wrong; exits with the number of wrong values, at most 1.

using namespace fusec;

static u64 wrong = 0;

static void expect(bool right, const char* what, double input) {
    if (right) return;
    if (wrong++ < 20) std::printf("%s of %.9g\n", what, input);
}

static u32 code_of_e2m1(float v) {
    static const float values[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    if (std::isnan(v)) return 7;
    if (std::fabs(v) > 6.0f) return std::signbit(v) ? 15 : 7;
    u32 best = 0;
    for (u32 c = 1; c < 8; c++) {
        const double now = std::fabs(double(std::fabs(v)) - values[c]);
        const double then = std::fabs(double(std::fabs(v)) - values[best]);
        if (now < then || (now == then && c % 2 == 0)) best = c;
    }
    return best | (std::signbit(v) ? 8 : 0);
}

static void check_e2m1() {
    for (u64 b = 0; b < 1ull << 32; b += 4093) {
        const float v = hw::as_float(u32(b));
        expect(to_e2m1_bits(v) == code_of_e2m1(v), "e2m1", v);
    }
    for (int i = -700; i <= 700; i++) {
        for (int step = -1; step <= 1; step++) {
            const float v = std::nextafter(float(i) / 64, step < 0 ? -INFINITY : INFINITY);
            const float w = step == 0 ? float(i) / 64 : v;
            expect(to_e2m1_bits(w) == code_of_e2m1(w), "e2m1", w);
        }
    }
    expect(to_e2m1_bits(INFINITY) == 7 && to_e2m1_bits(-INFINITY) == 15, "e2m1", INFINITY);
}

static void check_power_above() {
    const auto one = [](u32 bits) {
        const float v = hw::as_float(bits);
        const float plain = float(std::exp2(double(std::ceil(float(std::log2(double(v)))))));
        expect(op::power_above(v) == plain, "power_above", v);
    };
    for (u32 e = 0; e < 255; e++) {
        for (u32 m = 0; m < 200; m++) one(e << 23 | m);
        for (u32 m = 1; m < 50; m++) one(e << 23 | (0x800000 - m));
        for (u32 m = 0; m < 0x800000; m += 65521) one(e << 23 | m);
    }
}

static void check_quotient() {
    for (u32 m = 0; m < 0x800000; m += 1021) {
        const float d = hw::as_float(0x3f800000 | m);
        const op::Divisor by = op::divisor(d);
        for (u32 a = 0; a < 2048; a++) {
            const float x = (1.0f + float(a % 1024) / 1024) * (a < 1024 ? 1.0f : -1.0f);
            expect(op::quotient(f32x2{x, x}, by).x == x / d, "quotient", x);
        }
    }
    for (const float d : {3.0f, 1e-12f, 2.3e-13f, 1e12f, 1e20f, 7.6e35f, INFINITY, NAN}) {
        const op::Divisor by = op::divisor(d);
        for (const float x : {0.0f, -0.0f, 1e-40f, -1e-40f, 448 * d, -300 * d, d / 1000, -d, INFINITY}) {
            if (std::isinf(x) && !std::isinf(d)) continue;
            const u8 quick = to_e4m3_bits(op::quotient(f32x2{x, x}, by).x);
            expect(quick == to_e4m3_bits(x / d), "quotient to e4m3", x);
        }
    }
}

template <class T> static void check_surely(float (*exact)(float)) {
    for (u64 b = 0; b < 1ull << 32; b += 1 << 16) {
        const float v = exact(hw::as_float(u32(b)));
        if (!surely_rounds<T>(v, 13)) continue;
        for (int off = -13; off <= 13; off++) {
            const float near = hw::as_float(hw::as_bits(v) + off);
            expect(cast<T>(near).bits == cast<T>(v).bits, "surely_rounds", v);
        }
    }
}

static void check_8_bits() {
    for (u32 code = 0; code < 256; code++) {
        const float v = from_e4m3_bits(code), w = from_e5m2_bits(code);
        if (!std::isnan(v)) expect(to_e4m3_bits(v) == code, "e4m3", v);
        if (std::isfinite(w)) expect(to_e5m2_bits(w) == code, "e5m2", w);
    }
}

int main() {
    check_e2m1();
    check_power_above();
    check_quotient();
    check_surely<bf16>([](float v) { return v / (1.0f + std::exp(-v)); });
    check_surely<f16>([](float v) { return v / (1.0f + std::exp(-v)) * 1.0009f; });
    check_8_bits();
    return wrong != 0;
}
