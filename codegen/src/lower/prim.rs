//! What each primitive becomes.

use super::build::{Builder, Tensor, Value};
use crate::error::{Error, Result};
use crate::ir::{Binary, Op, Reduce, Space, Unary};
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Attr;
use fusec_dsl::source::Span;

/// Lowers a call of a primitive.
pub fn lower(b: &mut Builder, name: &str, args: &[Value], span: Span) -> Result<Value> {
    let mut cx = Prim { b, name, args, span };
    if let Some(op) = Binary::named(name) {
        return cx.binary(op);
    }
    if let Some(op) = Unary::named(name) {
        let x = cx.tensor(0)?;
        return Ok(Value::Tensor(cx.unary(op, x)?));
    }
    match name {
        "select" => cx.select(),
        "clamp" => cx.clamp(),
        "cast" => cx.cast(),
        "sum" | "mean" | "amax" => cx.reduce(),
        "slice" => cx.slice(),
        "split" => cx.split(),
        "repeat" => cx.repeat(),
        "pack_e2m1" => cx.pack(),
        "swizzle_128x4" => cx.swizzle(),
        _ => Err(cx.error(format!("the row templates have no `{name}`"))),
    }
}

struct Prim<'a> {
    b: &'a mut Builder,
    name: &'a str,
    args: &'a [Value],
    span: Span,
}

impl Prim<'_> {
    fn error(&self, message: impl Into<String>) -> Error {
        Error::at(self.span, message)
    }

    fn tensor(&self, i: usize) -> Result<Tensor> {
        match self.args.get(i) {
            Some(Value::Tensor(t)) => Ok(*t),
            _ => Err(self.error(format!("operand {} of `{}` must be a tensor", i + 1, self.name))),
        }
    }

    fn int(&self, i: usize) -> Result<i64> {
        match self.args.get(i) {
            Some(Value::Attr(Attr::Int(d))) => d.as_int(),
            _ => None,
        }
        .ok_or_else(|| {
            self.error(format!("operand {} of `{}` must be a known integer", i + 1, self.name))
        })
    }

    fn absent(&self, i: usize) -> bool {
        matches!(self.args.get(i), None | Some(Value::Attr(Attr::None)))
    }

    /// An operand of arithmetic, and its type if it is a tensor: a number has none of its own.
    fn operand(&mut self, i: usize) -> Result<(Tensor, Option<Dtype>)> {
        match &self.args[i] {
            Value::Tensor(t) => Ok((*t, Some(self.b.dtype(t.id)))),
            Value::Attr(a) => match a.as_f64() {
                Some(v) => Ok((self.b.constant(v, self.span), None)),
                None => {
                    Err(self.error(format!("`{a}` is not a number known when the kernel is built")))
                }
            },
            _ => Err(self.error(format!("operand {} of `{}` is a list", i + 1, self.name))),
        }
    }

    /// Arithmetic is in f32; other types come in by a cast.
    fn wide(&mut self, t: Tensor) -> Result<Tensor> {
        match self.b.dtype(t.id) {
            Dtype::F32 => Ok(t),
            Dtype::Bf16 | Dtype::F16 => Ok(self.b.cast(t, Dtype::F32, self.span)),
            other => Err(self.error(format!("`{}` on {other}: cast it to f32 first", self.name))),
        }
    }

    /// The space and row length of a result of several operands.
    fn shape(&self, parts: &[Tensor]) -> Result<(Space, usize, usize)> {
        let space = parts.iter().map(|t| self.b.space(t.id)).max().unwrap_or(Space::Uniform);
        let seen = parts.iter().map(|t| t.cols).max().unwrap_or(1);
        if let Some(odd) = parts.iter().find(|t| t.cols != seen && t.cols != 1) {
            return Err(self.error(format!(
                "rows of {} and of {seen} elements do not fit together",
                odd.cols
            )));
        }
        let groups: Vec<usize> =
            parts.iter().filter_map(|t| group_of(self.b.space(t.id))).collect();
        if space != Space::Element && groups.windows(2).any(|w| w[0] != w[1]) {
            return Err(self.error("groups of different lengths do not fit together"));
        }
        let own =
            parts.iter().filter(|t| self.b.space(t.id) == space).map(|t| self.b.cols(t.id)).max();
        Ok((space, own.unwrap_or(1), seen))
    }

    fn push(&mut self, op: Op, parts: &[Tensor], dtype: Dtype) -> Result<Tensor> {
        let (space, own, seen) = self.shape(parts)?;
        let ids: Vec<usize> = parts.iter().map(|t| t.id).collect();
        Ok(Tensor { cols: seen, ..self.b.push(op, &ids, dtype, (space, own), self.span) })
    }

    fn binary(&mut self, op: Binary) -> Result<Value> {
        if let (Value::Attr(a), Value::Attr(b)) = (&self.args[0], &self.args[1]) {
            return self.fold(op, a, b);
        }
        let ((x, dx), (y, dy)) = (self.operand(0)?, self.operand(1)?);
        let dtype = match (dx, dy) {
            (Some(a), Some(b)) if a != b => Dtype::F32,
            (Some(d), _) | (_, Some(d)) => d,
            (None, None) => Dtype::F32,
        };
        let native = matches!(op, Binary::Add | Binary::Mul)
            && matches!(dtype, Dtype::Bf16 | Dtype::F16)
            && (dx, dy) == (Some(dtype), Some(dtype))
            && [x, y].iter().all(|t| self.b.space(t.id) == Space::Element);
        if native {
            return Ok(Value::Tensor(self.push(Op::Binary(op), &[x, y], dtype)?));
        }
        let (x, y) = (self.wide(x)?, self.wide(y)?);
        let result = if op.compares() { Dtype::B8 } else { Dtype::F32 };
        let z = self.push(Op::Binary(op), &[x, y], result)?;
        Ok(Value::Tensor(if op.compares() { z } else { self.b.cast(z, dtype, self.span) }))
    }

    fn fold(&self, op: Binary, a: &Attr, b: &Attr) -> Result<Value> {
        if let (Binary::Eq | Binary::Ne, None) = (op, a.as_f64().zip(b.as_f64())) {
            return Ok(Value::Attr(Attr::Bool((a == b) == (op == Binary::Eq))));
        }
        let Some((x, y)) = a.as_f64().zip(b.as_f64()) else {
            return Err(self.error(format!("`{}` of {a} and {b}", self.name)));
        };
        Ok(Value::Attr(match op {
            Binary::Add => Attr::float(x + y),
            Binary::Sub => Attr::float(x - y),
            Binary::Mul => Attr::float(x * y),
            Binary::Div => Attr::float(x / y),
            Binary::Min => Attr::float(x.min(y)),
            Binary::Max => Attr::float(x.max(y)),
            Binary::Eq => Attr::Bool(x == y),
            Binary::Ne => Attr::Bool(x != y),
            Binary::Lt => Attr::Bool(x < y),
            Binary::Le => Attr::Bool(x <= y),
            Binary::Gt => Attr::Bool(x > y),
            Binary::Ge => Attr::Bool(x >= y),
        }))
    }

    fn unary(&mut self, op: Unary, x: Tensor) -> Result<Tensor> {
        let dtype = self.b.dtype(x.id);
        let wide = self.wide(x)?;
        let (op, wide) = self.power_above(op, wide);
        let y = self.push(Op::Unary(op), &[wide], Dtype::F32)?;
        Ok(self.b.cast(y, dtype, self.span))
    }

    /// `exp2(ceil(log2(x)))` needs neither function.
    fn power_above(&self, op: Unary, x: Tensor) -> (Unary, Tensor) {
        let inner = |id: usize, op: Unary| {
            let node = self.b.node(id);
            (node.op == Op::Unary(op)).then(|| node.args[0])
        };
        match inner(x.id, Unary::Ceil).and_then(|id| inner(id, Unary::Log2)) {
            Some(id) if op == Unary::Exp2 => (Unary::PowerAbove, Tensor { id, cols: x.cols }),
            _ => (op, x),
        }
    }

    fn select(&mut self) -> Result<Value> {
        if let Value::Attr(Attr::Bool(c)) = &self.args[0] {
            return Ok(self.args[if *c { 1 } else { 2 }].clone());
        }
        let c = self.tensor(0)?;
        let ((x, dx), (y, dy)) = (self.operand(1)?, self.operand(2)?);
        let dtype = match (dx, dy) {
            (Some(a), Some(b)) if a != b => Dtype::F32,
            (Some(d), _) | (_, Some(d)) => d,
            (None, None) => Dtype::F32,
        };
        let (x, y) = (self.wide(x)?, self.wide(y)?);
        let z = self.push(Op::Select, &[c, x, y], Dtype::F32)?;
        Ok(Value::Tensor(self.b.cast(z, dtype, self.span)))
    }

    fn clamp(&mut self) -> Result<Value> {
        let x = self.tensor(0)?;
        let dtype = self.b.dtype(x.id);
        let mut y = self.wide(x)?;
        for (i, op) in [(1, Binary::Max), (2, Binary::Min)] {
            if !self.absent(i) {
                let (bound, _) = self.operand(i)?;
                y = self.push(Op::Binary(op), &[y, bound], Dtype::F32)?;
            }
        }
        Ok(Value::Tensor(self.b.cast(y, dtype, self.span)))
    }

    fn cast(&mut self) -> Result<Value> {
        let Some(Value::Attr(Attr::Dtype(dtype))) = self.args.get(1) else {
            return Err(self.error("the type to cast to is not known"));
        };
        use Dtype::*;
        if !matches!(dtype, Bf16 | F16 | F32 | F8E4M3 | F8E5M2) {
            return Err(self.error(format!("the row templates do not cast to {dtype}")));
        }
        let mut x = self.tensor(0)?;
        if let Some(largest) = saturates_at(*dtype) {
            x = self.unclamped(x, largest);
        }
        Ok(Value::Tensor(self.b.cast(x, *dtype, self.span)))
    }

    /// What a clamp limits, where the cast that follows saturates at least as tightly: both give the
    /// largest value for what lies outside, and keep NaN.
    fn unclamped(&self, x: Tensor, largest: f32) -> Tensor {
        let limit = |id: usize, op: Binary| {
            let node = self.b.node(id);
            if node.op != Op::Binary(op) {
                return None;
            }
            match self.b.node(node.args[1]).op {
                Op::Const(bits) => Some((node.args[0], f32::from_bits(bits))),
                _ => None,
            }
        };
        match limit(x.id, Binary::Min) {
            Some((inner, hi)) if hi >= largest => match limit(inner, Binary::Max) {
                Some((id, lo)) if lo <= -largest => Tensor { id, cols: x.cols },
                _ => x,
            },
            _ => x,
        }
    }

    fn reduce(&mut self) -> Result<Value> {
        let x = self.tensor(0)?;
        let dtype = self.b.dtype(x.id);
        if self.b.space(x.id) != Space::Element {
            return Err(self.error(format!("`{}` of something that is not a row", self.name)));
        }
        let (space, length, cols) = if self.absent(3) {
            if self.int(1)? != -1 {
                return Err(
                    self.error("the row templates reduce the last axis only: write `axis = -1`")
                );
            }
            if !matches!(self.args.get(2), Some(Value::Attr(Attr::Bool(true)))) {
                return Err(self.error("the row templates keep the reduced axis: write `keepdim`"));
            }
            (Space::Row, x.cols, 1)
        } else {
            let group = usize::try_from(self.int(3)?).unwrap_or(0);
            if group == 0 || !x.cols.is_multiple_of(group) {
                return Err(
                    self.error(format!("a row of {} elements has no groups of {group}", x.cols))
                );
            }
            (Space::Group(group), group, x.cols / group)
        };
        let kind = if self.name == "amax" { Reduce::Max } else { Reduce::Sum };
        let wide = self.wide(x)?;
        let mut y = self.b.push(Op::Reduce(kind), &[wide.id], Dtype::F32, (space, cols), self.span);
        if self.name == "mean" {
            let count = self.b.constant(length as f64, self.span);
            y = self.push(Op::Binary(Binary::Div), &[y, count], Dtype::F32)?;
        }
        Ok(Value::Tensor(self.b.cast(y, dtype, self.span)))
    }

    fn slice(&mut self) -> Result<Value> {
        let x = self.tensor(0)?;
        if self.int(1)? != -1 || !(self.absent(4) || self.int(4)? == 1) {
            return Err(self.error("the row templates slice the last axis only, with step 1"));
        }
        let (start, end) = (self.int(2)?, self.int(3)?.min(x.cols as i64));
        self.part(x, start, end)
    }

    fn part(&mut self, x: Tensor, start: i64, end: i64) -> Result<Value> {
        let node = self.b.node(x.id);
        let Op::Load { input, first } = node.op else {
            return Err(self.error("the row templates slice operands only, not what they computed"));
        };
        if start < 0 || end <= start || end > x.cols as i64 {
            return Err(self.error(format!("no elements {start}..{end} in a row of {}", x.cols)));
        }
        let (dtype, space) = (node.dtype, node.space);
        let load = Op::Load { input, first: first + start as usize };
        let cols = (end - start) as usize;
        Ok(Value::Tensor(self.b.push(load, &[], dtype, (space, cols), self.span)))
    }

    fn split(&mut self) -> Result<Value> {
        let x = self.tensor(0)?;
        if self.int(2)? != -1 {
            return Err(self.error("the row templates split the last axis only"));
        }
        let sizes = self.sizes(1)?;
        let mut start = 0;
        let mut parts = Vec::new();
        for size in sizes {
            parts.push(self.part(x, start, start + size)?);
            start += size;
        }
        Ok(Value::Tuple(parts))
    }

    fn sizes(&self, i: usize) -> Result<Vec<i64>> {
        let known = |a: &Attr| match a {
            Attr::Int(d) => d.as_int(),
            _ => None,
        };
        let sizes: Option<Vec<i64>> = match &self.args[i] {
            Value::Attr(Attr::List(l)) => l.iter().map(known).collect(),
            Value::Tuple(items) => items
                .iter()
                .map(|v| match v {
                    Value::Attr(a) => known(a),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        sizes.ok_or_else(|| self.error("the sizes must be known integers"))
    }

    fn repeat(&mut self) -> Result<Value> {
        let (x, times) = (self.tensor(0)?, self.int(1)?);
        match group_of(self.b.space(x.id)) {
            Some(g) if g as i64 == times => {
                Ok(Value::Tensor(Tensor { id: x.id, cols: x.cols * g }))
            }
            _ => {
                Err(self.error("the row templates repeat a value of a group over that group only"))
            }
        }
    }

    fn pack(&mut self) -> Result<Value> {
        let x = self.tensor(0)?;
        if self.b.space(x.id) != Space::Element || !x.cols.is_multiple_of(2) {
            return Err(self.error("`pack_e2m1` needs an even row"));
        }
        Ok(Value::Tensor(self.push(Op::Cast, &[x], Dtype::F4E2M1x2)?))
    }

    fn swizzle(&mut self) -> Result<Value> {
        let s = self.tensor(0)?;
        match (self.b.space(s.id), self.b.dtype(s.id)) {
            (Space::Group(_), Dtype::F8E4M3) => Ok(Value::Swizzled(s.id)),
            _ => Err(self.error("`swizzle_128x4` needs f8e4m3fn scales of groups")),
        }
    }
}

fn group_of(space: Space) -> Option<usize> {
    match space {
        Space::Group(g) => Some(g),
        _ => None,
    }
}

/// The largest magnitude of a type that saturates.
fn saturates_at(dtype: Dtype) -> Option<f32> {
    match dtype {
        Dtype::F8E4M3 => Some(448.0),
        Dtype::F8E5M2 => Some(57344.0),
        _ => None,
    }
}
