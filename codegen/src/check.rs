//! Kernels against the interpreter: inputs, expected results, and how far apart results are.

use crate::error::{Error, Result};
use crate::instances::Instance;
use crate::ir::{InputRole, Output, Sink, Space};
use crate::kernel::Kernel;
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{Library, TypeExpr};
use fusec_engine::interp::{Kind, Tensor, Value, eval_body, random_tensor};
use fusec_engine::numerics;

/// Operands of one call, in the order of the kernel's inputs.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Number of rows.
    pub rows: usize,
    /// Operands.
    pub inputs: Vec<Tensor>,
}

/// How far results are from what they should be, in steps of their type's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Values compared.
    pub total: u64,
    /// Values one step off.
    pub one: u64,
    /// Values further off.
    pub more: u64,
    /// The furthest.
    pub worst: u64,
}

impl Steps {
    /// Counts another value.
    pub fn count(&mut self, steps: u64) {
        self.total += 1;
        self.one += u64::from(steps == 1);
        self.more += u64::from(steps > 1);
        self.worst = self.worst.max(steps);
    }

    /// Both together.
    pub fn and(self, other: Steps) -> Steps {
        Steps {
            total: self.total + other.total,
            one: self.one + other.one,
            more: self.more + other.more,
            worst: self.worst.max(other.worst),
        }
    }
}

impl Problem {
    /// Random operands; scales of the whole tensor are of a size that uses the code's range.
    pub fn random(kernel: &Kernel, rows: usize, kind: Kind, seed: u64) -> Problem {
        let make = |(i, input): (usize, &crate::ir::Input)| {
            let seed = seed.wrapping_mul(1000).wrapping_add(i as u64);
            match input.role {
                InputRole::Rows(cols) => random_tensor(input.dtype, &[rows, cols], kind, seed),
                InputRole::Column => {
                    random_tensor(input.dtype, &[kernel.ir.cols], Kind::Ordinary, seed)
                }
                InputRole::Scalar => {
                    let v = if input.name == "gs" { 300.0 } else { 0.0173 };
                    let v = numerics::round(input.dtype, v);
                    Tensor { dtype: input.dtype, shape: vec![1], data: vec![v] }
                }
            }
        };
        Problem { rows, inputs: kernel.ir.inputs.iter().enumerate().map(make).collect() }
    }

    /// What the interpreter makes of it.
    pub fn expected(&self, library: &Library, instance: &Instance) -> Result<Vec<Tensor>> {
        let mut inputs = self.inputs.iter();
        let mut params = Vec::new();
        for param in &instance.fusion.sig.params {
            let value = match (&param.ty, instance.bound.attrs.get(&param.name)) {
                (TypeExpr::Tensor(_), _) => inputs.next().cloned().map(Value::from),
                (_, Some(a)) => Some(Value::Attr(a.clone())),
                (_, None) => param.default.clone().map(Value::Attr),
            };
            let missing = || Error::at(param.span, format!("`{}` is not given", param.name));
            params.push(value.ok_or_else(missing)?);
        }
        let mut bindings = Bindings { dtypes: instance.bound.dtypes.clone(), ..Default::default() };
        for (name, value) in &instance.bound.dims {
            bindings.dims.insert(name.as_str().into(), Dim::int(*value));
        }
        bindings.leading.insert("b".into(), vec![Dim::int(self.rows as i64)]);
        bindings.leading.insert("k".into(), vec![Dim::int(1)]);
        let values = eval_body(library, &instance.fusion.body, &params, &bindings)
            .map_err(|e| Error::new(format!("the interpreter: {e}")))?;
        values.iter().map(|v| v.tensor().cloned().map_err(|e| Error::new(e.to_string()))).collect()
    }
}

/// A result's values as rows of codes, wherever the layout puts them.
pub struct Codes<'a> {
    /// Bits of a code.
    width: usize,
    dtype: Dtype,
    bytes: &'a [u8],
    cols: usize,
    place: Place,
}

enum Place {
    Strided { row: usize, col: usize },
    Tiled { tiles: usize },
}

impl<'a> Codes<'a> {
    /// Reads a result of `rows` rows from its buffer.
    pub fn new(kernel: &Kernel, output: &Output, bytes: &'a [u8], rows: usize) -> Codes<'a> {
        let node = kernel.ir.node(output.value);
        let at = kernel.placement(output, rows as u64);
        let cols = match node.space {
            Space::Element => kernel.ir.cols,
            Space::Group(g) => kernel.ir.cols / g,
            _ => 1,
        };
        let width = crate::plan::bits(node.dtype);
        let place = match output.sink {
            Sink::Rows => Place::Strided { row: at.stride as usize, col: width / 8 },
            Sink::PerRow => Place::Strided { row: at.stride as usize, col: 0 },
            Sink::Groups(_) => {
                Place::Strided { row: at.stride as usize, col: at.group_stride as usize }
            }
            Sink::Swizzled128x4 => Place::Tiled { tiles: cols.div_ceil(4) },
        };
        Codes { width, dtype: node.dtype, bytes, cols, place }
    }

    /// Values of a row.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The bytes of a row, where they lie together.
    pub fn row(&self, r: usize) -> Option<&'a [u8]> {
        match self.place {
            Place::Strided { row, col } if col * 8 == self.width || self.width < 8 => {
                self.bytes.get(r * row..(r + 1) * row)
            }
            _ => None,
        }
    }

    /// One code.
    pub fn code(&self, r: usize, c: usize) -> u64 {
        let at = match self.place {
            Place::Strided { row, .. } if self.width < 8 => r * row + c / 2,
            Place::Strided { row, col } => r * row + c * col,
            Place::Tiled { tiles } => {
                ((r / 128) * tiles + c / 4) * 512 + (r % 32) * 16 + (r / 32 % 4) * 4 + c % 4
            }
        };
        if self.width < 8 {
            return u64::from(self.bytes[at] >> (4 * (c % 2)) & 0xf);
        }
        let bytes = &self.bytes[at..at + self.width / 8];
        bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
    }

    /// Bytes outside the matrix but inside its tiles that are not 0.
    pub fn dirty_padding(&self, rows: usize) -> u64 {
        let Place::Tiled { tiles } = self.place else { return 0 };
        let outside = |r: usize, c: usize| r >= rows || c >= self.cols;
        let all = (0..rows.next_multiple_of(128)).flat_map(|r| (0..tiles * 4).map(move |c| (r, c)));
        all.filter(|(r, c)| outside(*r, *c) && self.code(*r, *c) != 0).count() as u64
    }

    fn value(&self, code: u64) -> f64 {
        match self.dtype {
            Dtype::F4E2M1x2 => numerics::e2m1::decode(code as u8),
            dtype => numerics::decode(dtype, code),
        }
    }

    /// Steps between two codes of this result; 0 and -0 are a step apart here.
    ///
    /// An f32 result is a scale made from the largest 16-bit value of a row or group: its step is that
    /// of bf16, and any smaller difference counts as one.
    pub fn steps(&self, a: u64, b: u64) -> u64 {
        if a == b {
            return 0;
        }
        let (x, y) = (self.value(a), self.value(b));
        let far = match self.dtype {
            Dtype::F4E2M1x2 => {
                let ordinal = |c: u64| if c & 8 != 0 { -((c & 7) as i64) } else { (c & 7) as i64 };
                ordinal(a).abs_diff(ordinal(b))
            }
            Dtype::F32 => ((x - y).abs() / x.abs().max(y.abs()) * 128.0).ceil() as u64,
            dtype => numerics::ulp::distance(dtype, x, y),
        };
        if x.is_nan() && y.is_nan() { 0 } else { far.max(1) }
    }
}

/// Compares one row of a result with one row of what it should be.
pub fn compare_row(got: &Codes, at: usize, want: &Codes, from: usize) -> Steps {
    let mut steps = Steps::default();
    if let (Some(a), Some(b)) = (got.row(at), want.row(from))
        && a == b
    {
        return Steps { total: got.cols() as u64, ..steps };
    }
    for c in 0..got.cols() {
        steps.count(got.steps(got.code(at, c), want.code(from, c)));
    }
    steps
}

/// The bytes of an interpreter's result, laid out as the kernel lays it out.
pub fn laid_out(kernel: &Kernel, output: &Output, tensor: &Tensor, rows: usize) -> Vec<u8> {
    let plain = tensor.to_bytes();
    let Sink::Groups(_) = output.sink else { return plain };
    let at = kernel.placement(output, rows as u64);
    let mut bytes = vec![0; at.bytes as usize];
    let size = tensor.dtype.bytes() as usize;
    let groups = plain.len() / size / rows.max(1);
    for (i, element) in plain.chunks_exact(size).enumerate() {
        let to = (i / groups) * at.stride as usize + (i % groups) * at.group_stride as usize;
        bytes[to..to + size].copy_from_slice(element);
    }
    bytes
}
