//! The C++ expression of a value.

use super::names::Names;
use crate::ir::{Binary, Id, KernelIr, Node, Op, Space, Unary};
use crate::near::near;
use fusec_dsl::dtype::Dtype;

/// The C++ name of an element type.
pub fn c_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "f32",
        Dtype::Bf16 => "bf16",
        Dtype::F16 => "f16",
        Dtype::F8E4M3 => "e4m3",
        Dtype::F8E5M2 => "e5m2",
        Dtype::F4E2M1x2 => "e2m1",
        // Lowering lets nothing else through.
        _ => "bool",
    }
}

/// How other expressions refer to a value.
pub fn reference(ir: &KernelIr, names: &Names, id: Id) -> String {
    let node = ir.node(id);
    let name = &names.values[id];
    match (node.op, node.space) {
        (Op::Const(bits), _) => literal(f32::from_bits(bits)),
        (_, Space::Uniform) => format!("u.{name}"),
        (_, Space::Row) => format!("row.{name}"),
        (_, Space::Group(_)) => format!("v.{name}"),
        (_, Space::Element) => name.clone(),
    }
}

/// Where the inverse of a shared divisor is kept.
pub fn divisor_of(ir: &KernelIr, names: &Names, id: Id) -> String {
    let holder = if ir.node(id).space == Space::Row { "row" } else { "v" };
    format!("{holder}.by_{}", names.values[id])
}

/// The expression that computes a value from others. Loads and reductions are not expressions.
pub fn expression(ir: &KernelIr, names: &Names, node: &Node) -> String {
    let arg = |i: usize| reference(ir, names, node.args[i]);
    match node.op {
        Op::Unary(Unary::Neg) => format!("-{}", arg(0)),
        Op::Unary(f) => format!("op::{}({})", f.name(), arg(0)),
        Op::Binary(f) => match f.symbol() {
            Some(symbol) => format!("{} {symbol} {}", arg(0), arg(1)),
            None => format!(
                "op::{}({}, {})",
                if f == Binary::Min { "min" } else { "max" },
                arg(0),
                arg(1)
            ),
        },
        Op::Select => format!("select({}, {}, {})", arg(0), arg(1), arg(2)),
        Op::Cast if node.dtype == Dtype::F32 => format!("to_f32({})", arg(0)),
        Op::Cast => format!("cast<{}>({})", c_type(node.dtype), arg(0)),
        Op::Const(bits) => literal(f32::from_bits(bits)),
        Op::Load { .. } | Op::Reduce(_) => names.values[0].clone(),
    }
}

/// Both versions of a value that is rounded right away: quick and exact, each one expression.
pub fn versions(ir: &KernelIr, names: &Names, id: Id) -> (String, String) {
    (nested(ir, names, id, true), nested(ir, names, id, false))
}

fn nested(ir: &KernelIr, names: &Names, id: Id, quick: bool) -> String {
    if near(ir, id).is_some_and(|n| n.units == 0) {
        return reference(ir, names, id);
    }
    let node = ir.node(id);
    let arg = |i: usize| nested(ir, names, node.args[i], quick);
    match node.op {
        Op::Unary(Unary::Neg) => format!("-({})", arg(0)),
        Op::Unary(f @ (Unary::Exp | Unary::Sigmoid)) if quick => {
            format!("op::quick_{}({})", f.name(), arg(0))
        }
        Op::Unary(f) => format!("op::{}({})", f.name(), arg(0)),
        Op::Binary(Binary::Div) if quick => {
            format!("{} * op::quick_reciprocal({})", arg(0), arg(1))
        }
        Op::Binary(f) => format!("({} {} {})", arg(0), f.symbol().unwrap_or(","), arg(1)),
        // The others have one version only.
        _ => reference(ir, names, id),
    }
}

/// A literal that reads back as the same f32.
fn literal(v: f32) -> String {
    if v.is_nan() {
        "hw::as_float(0x7fffffffu)".into()
    } else if v.is_infinite() {
        format!("hw::as_float({}u)", v.to_bits())
    } else {
        format!("{v:?}f")
    }
}
