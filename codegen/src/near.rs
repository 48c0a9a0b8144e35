//! Values that may be computed roughly, because they are rounded right away.
//!
//! `cast(h / (1.0 + exp(-h)), bf16)` keeps 8 of 24 bits. A quick value that is within a few units of
//! the exact one rounds to the same bf16 unless it lies that near to a rounding boundary. So the
//! kernel computes the quick value, looks, and computes the exact one only when it must: every bit
//! is as if it always had. This module finds such casts and bounds the difference.

use crate::ir::{Binary, Id, KernelIr, Op, Space, Unary};
use fusec_dsl::dtype::Dtype;

/// A bound on the relative difference of a value's quick and exact versions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// In units of 2^-24; 0 means that they are the same.
    pub units: u32,
    /// Never negative, so that sums do not cancel.
    pub positive: bool,
}

/// Beyond this the check would fail too often to pay.
const MOST_UNITS: u32 = 40;

impl Near {
    const fn same(positive: bool) -> Near {
        Near { units: 0, positive }
    }
}

/// For a cast to 16 bits of something worth it: how many units of f32 it may be off.
pub fn margin(ir: &KernelIr, id: Id) -> Option<u32> {
    let node = ir.node(id);
    let narrow = matches!(node.dtype, Dtype::Bf16 | Dtype::F16);
    if node.op != Op::Cast || !narrow || node.space != Space::Element {
        return None;
    }
    let near = near(ir, node.args[0])?;
    (near.units > 0 && near.units <= MOST_UNITS).then_some(near.units + 1)
}

/// The bound for a value; `None` where there is none.
pub fn near(ir: &KernelIr, id: Id) -> Option<Near> {
    let node = ir.node(id);
    let arg = |i: usize| near(ir, node.args[i]);
    match node.op {
        Op::Const(bits) => Some(Near::same(f32::from_bits(bits) > 0.0)),
        _ if node.space != Space::Element => Some(Near::same(false)),
        Op::Load { .. } | Op::Cast | Op::Reduce(_) | Op::Select => Some(Near::same(false)),
        // Two multiplications and a correction around ex2.approx, which is good to 4 units; and the
        // exact side rounds.
        Op::Unary(Unary::Exp) => (arg(0)?.units == 0).then_some(Near { units: 6, positive: true }),
        // The same, an addition, and rcp.approx.
        Op::Unary(Unary::Sigmoid) => {
            (arg(0)?.units == 0).then_some(Near { units: 11, positive: true })
        }
        Op::Unary(Unary::Neg) => Some(Near { positive: false, ..arg(0)? }),
        Op::Unary(Unary::Abs) => Some(Near { positive: true, ..arg(0)? }),
        Op::Unary(_) => match arg(0)?.units {
            0 if !is_slow(node.op) => Some(Near::same(false)),
            _ => None,
        },
        Op::Binary(op) => binary(op, arg(0)?, arg(1)?),
    }
}

fn binary(op: Binary, a: Near, b: Near) -> Option<Near> {
    if a.units == 0 && b.units == 0 {
        let positive = a.positive && b.positive && !matches!(op, Binary::Sub);
        return Some(Near::same(positive));
    }
    // Each side rounds once: two units. A quick quotient multiplies by rcp.approx: two more.
    let both = a.positive && b.positive;
    match op {
        Binary::Add if both => Some(Near { units: a.units.max(b.units) + 2, positive: true }),
        Binary::Mul => Some(Near { units: a.units + b.units + 2, positive: both }),
        Binary::Div => Some(Near { units: a.units + b.units + 4, positive: both }),
        _ => None,
    }
}

/// Functions that cost tens of instructions when they are exact.
fn is_slow(op: Op) -> bool {
    use Unary::*;
    matches!(op, Op::Unary(Exp | Exp2 | Log | Log2 | Tanh | Erf | Sigmoid | PowerAbove))
}

/// What computing a value needs: its operands, or what both of its versions start from.
pub fn operands(ir: &KernelIr, id: Id) -> Vec<Id> {
    let args = &ir.node(id).args;
    if margin(ir, id).is_none() {
        return args.clone();
    }
    let mut out = Vec::new();
    leaves(ir, args[0], &mut out);
    out
}

fn leaves(ir: &KernelIr, id: Id, out: &mut Vec<Id>) {
    let same = near(ir, id).is_some_and(|n| n.units == 0);
    if same {
        if !out.contains(&id) {
            out.push(id);
        }
        return;
    }
    for &arg in &ir.node(id).args {
        leaves(ir, arg, out);
    }
}
