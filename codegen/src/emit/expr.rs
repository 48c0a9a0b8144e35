//! The C++ expression of a value.

use super::names::Names;
use crate::ir::{Binary, Id, KernelIr, Node, Op, Space, Unary};
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
