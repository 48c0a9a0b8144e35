//! Makes IR nodes, each once.

use crate::error::{Error, Result};
use crate::ir::{Id, Input, InputRole, KernelIr, Node, Op, Output, Space};
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{Attr, Fusion};
use fusec_dsl::source::Span;
use std::collections::BTreeMap;

/// What an expression evaluates to while lowering.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A constant.
    Attr(Attr),
    /// Several results, or a list.
    Tuple(Vec<Value>),
    /// Scales of groups, bound for 128x4 tiles.
    Swizzled(Id),
}

/// A tensor value, and how long its rows look: a scale repeated over its group looks like a full row.
#[derive(Clone, Copy, Debug)]
pub struct Tensor {
    pub id: Id,
    pub cols: usize,
}

type Key = (Op, Vec<Id>, Dtype, Space);

/// Nodes so far.
#[derive(Default)]
pub struct Builder {
    inputs: Vec<Input>,
    nodes: Vec<Node>,
    cols: Vec<usize>,
    known: BTreeMap<Key, Vec<(usize, Id)>>,
}

impl Builder {
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub fn dtype(&self, id: Id) -> Dtype {
        self.nodes[id].dtype
    }

    pub fn space(&self, id: Id) -> Space {
        self.nodes[id].space
    }

    /// How long a row of the value itself is.
    pub fn cols(&self, id: Id) -> usize {
        self.cols[id]
    }

    /// Remembers the first name that a value was bound to.
    pub fn name(&mut self, id: Id, name: &str) {
        self.nodes[id].name.get_or_insert_with(|| name.to_string());
    }

    /// A node, or the one that is already there.
    pub fn push(
        &mut self,
        op: Op,
        args: &[Id],
        dtype: Dtype,
        shape: (Space, usize),
        span: Span,
    ) -> Tensor {
        let (space, cols) = shape;
        let same = self.known.entry((op, args.to_vec(), dtype, space)).or_default();
        if let Some((_, id)) = same.iter().find(|(c, _)| *c == cols) {
            return Tensor { id: *id, cols };
        }
        let id = self.nodes.len();
        same.push((cols, id));
        self.nodes.push(Node { op, args: args.to_vec(), dtype, space, span, name: None });
        self.cols.push(cols);
        Tensor { id, cols }
    }

    pub fn input(
        &mut self,
        name: &str,
        dtype: Dtype,
        role: InputRole,
        cols: usize,
        span: Span,
    ) -> Tensor {
        self.inputs.push(Input { name: name.to_string(), dtype, role });
        let space = if role == InputRole::Scalar { Space::Uniform } else { Space::Element };
        let load = Op::Load { input: self.inputs.len() - 1, first: 0 };
        self.push(load, &[], dtype, (space, cols), span)
    }

    /// Widened or rounded to a type; saturating types need no clamp before them.
    pub fn cast(&mut self, t: Tensor, dtype: Dtype, span: Span) -> Tensor {
        let from = self.dtype(t.id);
        if from == dtype {
            return t;
        }
        let wide = match from {
            Dtype::F32 => t,
            _ => {
                let shape = (self.space(t.id), self.cols(t.id));
                Tensor { cols: t.cols, ..self.push(Op::Cast, &[t.id], Dtype::F32, shape, span) }
            }
        };
        if dtype == Dtype::F32 {
            return wide;
        }
        let shape = (self.space(wide.id), self.cols(wide.id));
        Tensor { cols: t.cols, ..self.push(Op::Cast, &[wide.id], dtype, shape, span) }
    }

    pub fn constant(&mut self, v: f64, span: Span) -> Tensor {
        let bits = (v as f32).to_bits();
        self.push(Op::Const(bits), &[], Dtype::F32, (Space::Uniform, 1), span)
    }

    /// Checks that one length of row is left, and drops what no result needs.
    pub fn finish(self, fusion: &Fusion, outputs: Vec<Output>) -> Result<KernelIr> {
        let cols = self.cols;
        let mut live = vec![false; self.nodes.len()];
        outputs.iter().for_each(|o| live[o.value] = true);
        let mut length = None;
        for id in (0..self.nodes.len()).rev() {
            if !live[id] {
                continue;
            }
            self.nodes[id].args.iter().for_each(|a| live[*a] = true);
            if self.nodes[id].space == Space::Element && *length.get_or_insert(cols[id]) != cols[id]
            {
                let message = format!(
                    "rows of {} and of {} elements in one kernel",
                    length.unwrap_or(0),
                    cols[id]
                );
                return Err(Error::at(self.nodes[id].span, message));
            }
        }
        let Some(cols) = length else {
            return Err(Error::at(fusion.span, "nothing here has a value an element"));
        };
        let mut ir = KernelIr {
            fusion: fusion.instance(),
            cols,
            inputs: self.inputs,
            nodes: self.nodes,
            outputs,
        };
        ir.drop_dead();
        Ok(ir)
    }
}
