//! Predicted time of kernels: a roofline over a device profile.
//!
//! A kernel that moves bytes takes as long as a copy of the same bytes in a CUDA graph; a
//! collective adds its latency and its wire time. A view costs nothing. Costs are compared at one
//! size per range.

use super::context::Context;
use super::node::{Operator, OperatorKind};
use crate::target::Target;
use fusec_dsl::dim::Dim;
use fusec_dsl::library::{Attr, OpId};
use fusec_dsl::types::Type;

/// What one kernel costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Time in microseconds.
    pub us: f64,
    /// Bytes through device memory.
    pub bytes: f64,
    /// Kernels.
    pub launches: u64,
}

impl Cost {
    /// Both one after the other.
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            us: self.us + other.us,
            bytes: self.bytes + other.bytes,
            launches: self.launches + other.launches,
        }
    }
}

/// Prices operators at one size of every symbol.
pub struct CostModel<'a> {
    /// The device.
    pub target: &'a Target,
    /// Value of each symbol.
    pub size: &'a dyn Fn(&str) -> i64,
    /// Ranks of a group; 2 where it is not known, since the choice is then none.
    pub ranks: &'a dyn Fn(&str) -> i64,
}

/// Ops that only rename or re-index memory.
const VIEWS: &[&str] = &["bitcast", "expand", "permute", "reshape", "slice", "split"];

impl CostModel<'_> {
    fn value(&self, d: &Dim) -> f64 {
        d.eval(&|s| Some((self.size)(s))).map_or(0.0, |v| v.max(0) as f64)
    }

    /// Bytes of a value; lists and tuples are the sum of their parts.
    pub fn bytes(&self, ty: &Type) -> f64 {
        match ty {
            Type::Tensor(t) => self.value(&t.bytes()),
            Type::List(items) | Type::Tuple(items) => items.iter().map(|t| self.bytes(t)).sum(),
            _ => 0.0,
        }
    }

    /// A kernel that reads and writes these bytes once.
    pub fn stream(&self, bytes: f64) -> Cost {
        Cost { us: self.target.copy_us(bytes), bytes, launches: 1 }
    }

    /// An all-reduce by a library: ring traffic over NVLink, one pass over memory.
    fn all_reduce(&self, bytes: f64, ranks: i64) -> Cost {
        let wire = 2.0 * (ranks - 1) as f64 / ranks as f64 * bytes;
        let us = self.target.collective_us(ranks) + wire / (self.target.comm.nvlink_gbps * 1e3);
        Cost { us, bytes: 2.0 * bytes, launches: 1 }
    }

    /// An all-reduce with something fused behind it: one shot where that is shorter.
    fn fused_all_reduce(&self, bytes: f64, ranks: i64, epilogue_bytes: f64) -> Cost {
        let wire = |traffic: f64| traffic / (self.target.comm.nvlink_gbps * 1e3);
        let memory = epilogue_bytes / (self.target.dram.gbps * 1e3);
        let one_shot = self.target.one_shot_us(ranks) + wire((ranks - 1) as f64 * bytes);
        let two_shot = self.target.collective_us(ranks)
            + wire(2.0 * (ranks - 1) as f64 / ranks as f64 * bytes);
        Cost { us: one_shot.min(two_shot) + memory, bytes: epilogue_bytes + bytes, launches: 1 }
    }

    /// A node that rules do not look into: a matrix product by its operations, else by its bytes.
    pub fn opaque(&self, target: &str, reads: &[Type], writes: &Type, moved: f64) -> Cost {
        let streamed = self.stream(moved);
        let product = target.contains("mm") || target.contains("linear") || target.contains("bmm");
        let operands: Vec<_> = reads.iter().filter_map(Type::tensor).collect();
        let inner = operands.iter().find(|t| t.shape.len() >= 2).and_then(|t| t.shape.last());
        let result = match writes {
            Type::Tuple(items) => items.iter().find_map(Type::tensor),
            other => other.tensor(),
        };
        let (true, Some(inner), Some(result)) = (product, inner, result) else { return streamed };
        let ops = 2.0 * self.value(inner) * self.value(&result.numel());
        let narrow = operands.iter().any(|t| t.dtype.bits() == 8 && t.dtype.is_float());
        let packed = target.contains("fp4");
        let t = &self.target.tflops;
        let rate = match (packed, narrow) {
            (true, _) => t.fp4.or(t.fp8).unwrap_or(t.bf16),
            (_, true) => t.fp8.unwrap_or(t.bf16),
            _ => t.bf16,
        };
        Cost { us: streamed.us.max(ops / (rate * 1e6)), ..streamed }
    }

    fn group_ranks<'t>(&self, kids: impl Iterator<Item = &'t Type>) -> i64 {
        let mut ranks = 2;
        for kid in kids {
            if let Type::Attr(Attr::Group(g)) = kid {
                ranks = (self.ranks)(g);
            }
        }
        ranks.max(2)
    }

    /// One operator over operands of these types.
    pub fn operator(&self, context: &Context, op: Operator, kids: &[&Type], result: &Type) -> Cost {
        let moved = kids.iter().map(|t| self.bytes(t)).sum::<f64>() + self.bytes(result);
        match op.kind() {
            OperatorKind::Op(id) => self.library_op(context, id, kids, result, moved),
            OperatorKind::Fusion(index) => {
                let fusion = &context.lib.fusions[index];
                let collective = fusion.body.nodes.iter().any(|n| match n.kind {
                    fusec_dsl::library::BodyKind::Call { op, .. } => context.lib.op(op).collective,
                    _ => false,
                });
                if !collective {
                    return self.stream(moved);
                }
                let operand = kids.first().map_or(0.0, |t| self.bytes(t));
                self.fused_all_reduce(operand, self.group_ranks(kids.iter().copied()), moved)
            }
            _ => Cost::default(),
        }
    }

    fn library_op(
        &self,
        context: &Context,
        id: OpId,
        kids: &[&Type],
        result: &Type,
        moved: f64,
    ) -> Cost {
        let op = context.lib.op(id);
        if VIEWS.contains(&op.name.as_str()) {
            Cost::default()
        } else if op.collective {
            self.all_reduce(self.bytes(result), self.group_ranks(kids.iter().copied()))
        } else {
            self.stream(moved)
        }
    }
}
