//! Extraction problems shaped like the saturated e-graph of a decoder-only language model.
//!
//! Each layer is a chain of alternatives: spelled-out or named norms and quantizers, fused
//! kernels with several results (a tuple class and free projections), the residual full or
//! sharded (`full = all_gather(shard)`, `shard = slice(full)`: a 2-cycle each), collectives
//! fused with what follows. Costs are a launch plus bytes over bandwidth, in microseconds.

use fusec_engine::extract::{ClassId, Problem, ProblemBuilder};

/// Size of a model.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Number of layers.
    pub layers: usize,
    /// Tokens a step: few means launches dominate, many means bytes do.
    pub tokens: f64,
    /// With the algebra of sharded residuals and with decompositions.
    pub algebra: bool,
}

const HIDDEN: f64 = 8192.0;
const INNER: f64 = 3584.0;
const RANKS: f64 = 8.0;

struct Maker {
    builder: ProblemBuilder,
    model: Model,
}

/// A value that may exist in full and as this rank's shard.
#[derive(Clone, Copy)]
struct Value {
    full: ClassId,
    shard: ClassId,
}

/// The problem of a whole model; roots are the caches and the last norm.
pub fn decoder(model: Model) -> Problem {
    let mut maker = Maker { builder: ProblemBuilder::new(0), model };
    let embedded = maker.leaf();
    let mut residual = maker.value(HIDDEN);
    maker.node(residual.full, 0.0, &[embedded]);
    let mut partial = maker.leaf();
    for layer in 0..model.layers {
        (residual, partial) = maker.layer(layer, residual, partial);
    }
    let (_, last) = maker.add_norm(residual, partial, Quant::None);
    maker.builder.root(last.full);
    maker.builder.build().expect("costs are positive")
}

/// The quantizer after a norm.
#[derive(Clone, Copy, PartialEq)]
enum Quant {
    None,
    Fp8,
    Fp4,
}

impl Maker {
    fn leaf(&mut self) -> ClassId {
        let class = self.builder.class();
        self.builder.node(class, 0.0, &[]);
        class
    }

    fn node(&mut self, class: ClassId, cost: f64, kids: &[ClassId]) {
        self.builder.node(class, cost, kids);
    }

    /// A new class with one node.
    fn op(&mut self, cost: f64, kids: &[ClassId]) -> ClassId {
        let class = self.builder.class();
        self.node(class, cost, kids);
        class
    }

    /// A kernel that moves so many bytes a token.
    fn kernel(&self, bytes: f64) -> f64 {
        2.0 + self.model.tokens * bytes / 3e6
    }

    fn shard_kernel(&self, bytes: f64) -> f64 {
        2.0 + self.model.tokens * bytes / RANKS / 3e6
    }

    /// A collective on so many bytes a token.
    fn collective(&self, bytes: f64) -> f64 {
        5.0 + self.model.tokens * bytes / 3e5
    }

    /// A matrix product: the dearer of its weights' bytes and its operations.
    fn mm(&self, rows: f64, columns: f64) -> f64 {
        2.0 + (rows * columns / 3e6).max(self.model.tokens * rows * columns * 2.0 / 1.2e9)
    }

    /// A full and a sharded class, each derivable from the other.
    fn value(&mut self, bytes: f64) -> Value {
        let value = Value { full: self.builder.class(), shard: self.builder.class() };
        if self.model.algebra {
            self.node(value.full, self.collective(bytes), &[value.shard]);
            self.node(value.shard, self.shard_kernel(bytes / 4.0), &[value.full]);
        }
        value
    }

    /// A projection of a tuple, added to an existing class.
    fn projection(&mut self, class: ClassId, tuple: ClassId) {
        self.node(class, 0.0, &[tuple]);
    }

    /// Spelled-out RMS norm of a class as further nodes of the result.
    fn spelled_norm(&mut self, x: ClassId, weight: ClassId, result: ClassId, share: f64) {
        if !self.model.algebra {
            return;
        }
        let cost = 2.0 + self.model.tokens * HIDDEN * 6.0 / share / 3e6;
        let wide = self.op(cost, &[x]);
        let square = self.op(cost, &[wide]);
        self.node(square, cost, &[wide, wide]);
        let mean = self.op(cost, &[square]);
        let root = self.op(2.0, &[mean]);
        let scaled = self.op(cost, &[wide, root]);
        let narrow = self.op(cost, &[scaled]);
        self.node(result, cost, &[narrow, weight]);
        self.node(x, cost, &[wide]);
    }

    /// Spelled-out fp8 quantizer.
    fn spelled_quant(&mut self, x: ClassId, scale: ClassId, result: ClassId, share: f64) {
        if !self.model.algebra {
            return;
        }
        let cost = 2.0 + self.model.tokens * HIDDEN * 6.0 / share / 3e6;
        let wide = self.op(cost, &[x]);
        let inverse = self.op(2.0, &[scale]);
        let scaled = self.op(cost, &[wide, inverse]);
        self.node(scaled, cost, &[inverse, wide]);
        let clamped = self.op(cost, &[scaled]);
        self.node(result, cost, &[clamped]);
    }

    /// `all_reduce`, residual add, norm and quantizer with all their fusions: the new residual
    /// and what the next matrix product reads.
    fn add_norm(&mut self, residual: Value, partial: ClassId, quant: Quant) -> (Value, Value) {
        let (weight, scale) = (self.leaf(), self.leaf());
        let reduced = self.value(2.0 * HIDDEN);
        self.node(reduced.full, self.collective(2.0 * HIDDEN) * 1.6, &[partial]);
        let sum = self.value(2.0 * HIDDEN);
        let norm = self.value(2.0 * HIDDEN);
        self.whole(reduced.full, residual.full, sum.full, norm.full, weight);
        let (cost, tuple) = (self.collective(2.0 * HIDDEN) * 1.6 + 1.0, self.builder.class());
        self.node(tuple, cost, &[partial, residual.full, weight]);
        self.projection(norm.full, tuple);
        self.projection(sum.full, tuple);
        if self.model.algebra {
            self.node(reduced.shard, self.collective(2.0 * HIDDEN), &[partial]);
            self.sharded(reduced.shard, residual.shard, sum.shard, norm.shard, weight);
        }
        if quant == Quant::None {
            return (sum, norm);
        }
        let out = self.quantized(residual, partial, reduced, sum, norm, (weight, scale), quant);
        (sum, out)
    }

    fn whole(&mut self, h: ClassId, r: ClassId, sum: ClassId, norm: ClassId, weight: ClassId) {
        self.node(sum, self.kernel(6.0 * HIDDEN), &[h, r]);
        if self.model.algebra {
            self.node(sum, self.kernel(6.0 * HIDDEN), &[r, h]);
        }
        self.node(norm, self.kernel(4.0 * HIDDEN), &[sum, weight]);
        let tuple = self.op(self.kernel(8.0 * HIDDEN), &[h, r, weight]);
        self.projection(norm, tuple);
        self.projection(sum, tuple);
        self.spelled_norm(sum, weight, norm, 1.0);
    }

    fn sharded(&mut self, h: ClassId, r: ClassId, sum: ClassId, norm: ClassId, weight: ClassId) {
        self.node(sum, self.shard_kernel(6.0 * HIDDEN), &[h, r]);
        self.node(norm, self.shard_kernel(4.0 * HIDDEN), &[sum, weight]);
        let tuple = self.op(self.shard_kernel(8.0 * HIDDEN), &[h, r, weight]);
        self.projection(norm, tuple);
        self.projection(sum, tuple);
        self.spelled_norm(sum, weight, norm, RANKS);
    }

    #[allow(clippy::too_many_arguments)]
    fn quantized(
        &mut self,
        residual: Value,
        partial: ClassId,
        reduced: Value,
        sum: Value,
        norm: Value,
        (weight, scale): (ClassId, ClassId),
        quant: Quant,
    ) -> Value {
        let bytes = if quant == Quant::Fp8 { 1.0 } else { 0.5 } * HIDDEN;
        let out = self.value(bytes);
        let (kernel, shard) = (self.kernel(2.0 * HIDDEN + bytes), self.shard_kernel(2.0 * HIDDEN));
        self.node(out.full, kernel, &[norm.full, scale]);
        self.node(out.full, kernel, &[sum.full, weight, scale]);
        let fused = self
            .op(self.kernel(6.0 * HIDDEN + bytes), &[reduced.full, residual.full, weight, scale]);
        let all = self.op(
            self.collective(2.0 * HIDDEN) * 1.6 + 1.1,
            &[partial, residual.full, weight, scale],
        );
        for tuple in [fused, all] {
            self.projection(out.full, tuple);
            self.projection(sum.full, tuple);
        }
        if quant == Quant::Fp8 {
            self.spelled_quant(norm.full, scale, out.full, 1.0);
        } else {
            let scales = self.op(0.0, &[out.full]);
            self.projection(scales, fused);
            self.projection(scales, all);
        }
        if self.model.algebra {
            self.node(out.shard, shard, &[norm.shard, scale]);
            self.node(out.shard, shard, &[sum.shard, weight, scale]);
            let kids = [reduced.shard, residual.shard, weight, scale];
            let fused = self.op(self.shard_kernel(7.0 * HIDDEN), &kids);
            self.projection(out.shard, fused);
            self.projection(sum.shard, fused);
        }
        out
    }

    /// A matrix product of a value that may be gathered inside of it.
    fn gathered_mm(&mut self, x: Value, bytes: f64, columns: f64) -> ClassId {
        let (weight, scale) = (self.leaf(), self.leaf());
        let product = self.op(self.mm(HIDDEN, columns), &[x.full, weight, scale]);
        if self.model.algebra {
            let cost = self.mm(HIDDEN, columns).max(self.collective(bytes)) + 3.0;
            self.node(product, cost, &[x.shard, weight, scale]);
        }
        product
    }

    /// Norms of q and k, rope, cache write, attention; the cache becomes a root.
    fn attention(&mut self, product: ClassId) -> ClassId {
        let (cache, slot, table) = (self.leaf(), self.leaf(), self.leaf());
        let (wq, wk) = (self.leaf(), self.leaf());
        let small = self.kernel(1280.0 * 2.0);
        let split = self.op(0.0, &[product]);
        let [q, k, v] = [(); 3].map(|()| self.op(0.0, &[split]));
        let (qn, kn) = (self.op(small, &[q, wq]), self.op(small, &[k, wk]));
        self.spelled_norm(q, wq, qn, RANKS);
        self.spelled_norm(k, wk, kn, RANKS);
        let rope = self.op(small, &[qn, kn, table]);
        let fused = self.op(small, &[q, k, wq, wk, table]);
        let (qr, kr) = (self.op(0.0, &[rope]), self.op(0.0, &[rope]));
        self.projection(qr, fused);
        self.projection(kr, fused);
        let written = self.op(small, &[cache, kr, v, slot]);
        let with_write = self.op(small + 0.4, &[qn, kn, table, cache, v, slot]);
        let all = self.op(small + 0.6, &[q, k, wq, wk, table, cache, v, slot]);
        for tuple in [with_write, all] {
            for class in [qr, kr, written] {
                self.projection(class, tuple);
            }
        }
        self.builder.root(written);
        let scale = self.leaf();
        let attended = self.op(self.kernel(1024.0 * 20.0), &[qr, kr, v, written]);
        let quantized = self.op(self.kernel(1024.0 * 3.0), &[attended, scale]);
        self.node(quantized, self.kernel(1024.0 * 19.0), &[qr, kr, v, written, scale]);
        self.spelled_quant(attended, scale, quantized, RANKS);
        quantized
    }

    /// Gated activation and its quantizer.
    fn activation(&mut self, product: ClassId) -> ClassId {
        let scale = self.leaf();
        let (pair, single) = (self.kernel(INNER * 6.0), self.kernel(INNER * 3.0));
        let active = self.op(pair, &[product]);
        if self.model.algebra {
            let (low, high) = (self.op(single, &[product]), self.op(single, &[product]));
            let sigmoid = self.op(single, &[low]);
            let silu = self.op(single, &[low]);
            self.node(silu, single, &[low, sigmoid]);
            self.node(silu, single, &[sigmoid, low]);
            self.node(active, pair, &[silu, high]);
            self.node(active, pair, &[high, silu]);
        }
        let quantized = self.op(single, &[active, scale]);
        self.node(quantized, pair * 0.9, &[product, scale]);
        self.spelled_quant(active, scale, quantized, RANKS);
        quantized
    }

    /// A matrix product whose result is summed over ranks afterwards.
    fn partial_mm(&mut self, x: ClassId, rows: f64) -> ClassId {
        let (weight, scale) = (self.leaf(), self.leaf());
        self.op(self.mm(rows, HIDDEN), &[x, weight, scale])
    }

    fn layer(&mut self, at: usize, residual: Value, partial: ClassId) -> (Value, ClassId) {
        let (residual, x) = self.add_norm(residual, partial, Quant::Fp8);
        let product = self.gathered_mm(x, HIDDEN, 1280.0);
        let attended = self.attention(product);
        let partial = self.partial_mm(attended, 1024.0);
        let quant = if at.is_multiple_of(2) { Quant::Fp8 } else { Quant::Fp4 };
        let (residual, x) = self.add_norm(residual, partial, quant);
        let product = self.gathered_mm(x, HIDDEN, 2.0 * INNER);
        let active = self.activation(product);
        (residual, self.partial_mm(active, INNER))
    }
}
