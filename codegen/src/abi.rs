//! A kernel's arguments: 8 bytes each, so that anybody can pass them.

use crate::ir::{InputRole, KernelIr, Sink};
use crate::plan::{Geometry, bits};
use fusec_dsl::dtype::Dtype;

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Name in the CUDA source.
    pub name: String,
    /// What is passed.
    pub what: What,
    /// For pointers: what the address (and the stride that follows) must be a multiple of.
    pub align: usize,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Address of an operand.
    Input(usize),
    /// Bytes from one row of an operand to the next.
    InputStride(usize),
    /// Address of a result.
    Output(usize),
    /// Bytes from one row of a result to the next.
    OutputStride(usize),
    /// Bytes from one group's scale to the next group's.
    OutputGroupStride(usize),
    /// Number of rows.
    Rows,
}

/// The arguments of a kernel, in order. `names` are the inputs' and outputs' names in the source.
pub fn arguments(ir: &KernelIr, g: &Geometry, inputs: &[String], outputs: &[String]) -> Vec<Arg> {
    let mut args = Vec::new();
    let mut push = |name: String, what, align| args.push(Arg { name, what, align });
    for (i, input) in ir.inputs.iter().enumerate() {
        let align = match input.role {
            InputRole::Scalar => input.dtype.bytes() as usize,
            _ => alignment(input.dtype, g),
        };
        push(inputs[i].clone(), What::Input(i), align);
        if let InputRole::Rows(_) = input.role {
            push(format!("{}_stride", inputs[i]), What::InputStride(i), 1);
        }
    }
    for (o, output) in ir.outputs.iter().enumerate() {
        let dtype = ir.node(output.value).dtype;
        let align = match output.sink {
            Sink::Rows => alignment(dtype, g),
            Sink::Swizzled128x4 => 1,
            _ => dtype.bytes() as usize,
        };
        push(outputs[o].clone(), What::Output(o), align);
        if matches!(output.sink, Sink::Rows | Sink::Groups(_)) {
            push(format!("{}_stride", outputs[o]), What::OutputStride(o), 1);
        }
        if let Sink::Groups(_) = output.sink {
            push(format!("{}_group_stride", outputs[o]), What::OutputGroupStride(o), 1);
        }
    }
    push("rows".into(), What::Rows, 1);
    args
}

/// What the address of a vector must be a multiple of.
fn alignment(dtype: Dtype, g: &Geometry) -> usize {
    match g.aligned {
        true => (g.vec * bits(dtype) / 8).clamp(1, 16),
        false => dtype.bytes() as usize,
    }
}
