//! Quotients that share a divisor: `h / repeat(scales, group)`.
//!
//! Scales are the largest magnitude of what they divide, times something. That, few bits on top, and
//! an 8-bit float to round to make division three multiply-adds, and still exact: see `quotient` in
//! `math.cuh` for the argument, which needs exactly what [`shared`] checks.

use crate::ir::{Binary, Id, KernelIr, Op, Reduce, Space, Unary};
use fusec_dsl::dtype::Dtype;

/// The divisor of a quotient that may be computed by its inverse.
pub fn shared(ir: &KernelIr, id: Id) -> Option<Id> {
    let node = ir.node(id);
    if node.op != Op::Binary(Binary::Div) || node.space != Space::Element {
        return None;
    }
    let (x, d) = (node.args[0], node.args[1]);
    let few_bits = ir.node(x).op == Op::Cast
        && matches!(ir.node(ir.node(x).args[0]).dtype, Dtype::Bf16 | Dtype::F16);
    let users = ir.nodes.iter().filter(|n| n.args.contains(&id));
    let to_8_bits = |d: Dtype| matches!(d, Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::F4E2M1x2);
    let mut rounded = users.map(|n| n.op == Op::Cast && to_8_bits(n.dtype));
    let is_result = ir.outputs.iter().any(|o| o.value == id);
    let fits = few_bits && !is_result && rounded.all(|r| r);
    (fits && least(ir, d, x)? >= SMALLEST).then_some(d)
}

/// Inverses of divisors from here on are ordinary numbers, and so are corrections of quotients that
/// an 8-bit float can tell from zero.
const SMALLEST: f32 = 1e-16;

/// Every divisor of the kernel that quotients share.
pub fn divisors(ir: &KernelIr) -> Vec<Id> {
    let mut all: Vec<Id> = (0..ir.nodes.len()).filter_map(|id| shared(ir, id)).collect();
    all.sort();
    all.dedup();
    all
}

/// The smallest that `d` can be, if it is infinite or NaN whenever an `x` that it divides is: it comes
/// from the largest magnitude of them by steps that keep infinity and NaN.
fn least(ir: &KernelIr, d: Id, x: Id) -> Option<f32> {
    let node = ir.node(d);
    if !matches!(node.space, Space::Row | Space::Group(_)) {
        return None;
    }
    let constant = |id: Id| match ir.node(id).op {
        Op::Const(b) => Some(f32::from_bits(b)).filter(|c| (1e-10..1e4).contains(c)),
        _ => None,
    };
    match node.op {
        Op::Reduce(Reduce::Max) => {
            let abs = ir.node(node.args[0]);
            (abs.op == Op::Unary(Unary::Abs) && abs.args[0] == x).then_some(0.0)
        }
        Op::Binary(Binary::Div) => Some(least(ir, node.args[0], x)? / constant(node.args[1])?),
        Op::Binary(Binary::Max) => Some(least(ir, node.args[0], x)?.max(constant(node.args[1])?)),
        Op::Unary(Unary::PowerAbove) => least(ir, node.args[0], x),
        _ => None,
    }
}
