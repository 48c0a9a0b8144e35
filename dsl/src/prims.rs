//! Result types of primitives, by name: PyTorch's rules for broadcasting, promotion and views.

use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::infer::Fault;
use crate::library::Attr;
use crate::types::{TensorType, Type};

type Result<T> = std::result::Result<T, Fault>;

/// The result type of a primitive over operands in parameter order, or how they do not fit. `None`
/// if it has no rule of its own: its declared type says all.
pub fn call(name: &str, args: &[Type]) -> Option<Result<Type>> {
    let rule = match name {
        "add" | "sub" | "mul" | "min" | "max" => arithmetic as fn(&[Type]) -> Result<Type>,
        "div" => divide,
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" => compare,
        "select" => select,
        "neg" | "abs" | "ceil" | "floor" | "round" | "clamp" => unary,
        "sqrt" | "rsqrt" | "exp" | "exp2" | "log" | "log2" | "tanh" | "erf" | "sigmoid" => curve,
        "cast" => cast,
        "bitcast" => bitcast,
        "sum" => sum,
        "mean" => mean,
        "amax" => reduce,
        "reshape" => reshape,
        "expand" => expand,
        "permute" => permute,
        "slice" => slice,
        "split" => split,
        "concat" => concat,
        "repeat" => repeat,
        "pack_e2m1" => pack,
        "swizzle_128x4" => swizzle,
        "matmul" => matmul,
        _ => return None,
    };
    Some(rule(args))
}

fn tensor(args: &[Type], i: usize) -> Result<&TensorType> {
    match args.get(i) {
        Some(Type::Tensor(t)) => Ok(t),
        Some(other) => Err(Fault::kind(format!("operand {} is {other}, not a tensor", i + 1))),
        None => Err(Fault::kind(format!("operand {} is missing", i + 1))),
    }
}

fn of(dtype: Dtype, shape: Vec<Dim>) -> Type {
    Type::Tensor(TensorType { dtype, shape })
}

fn int(args: &[Type], i: usize) -> Result<Dim> {
    match args.get(i) {
        Some(Type::Attr(Attr::Int(d)) | Type::Int(d)) => Ok(d.clone()),
        Some(other) => Err(Fault::kind(format!("operand {} is {other}, not an integer", i + 1))),
        None => Err(Fault::kind(format!("operand {} is missing", i + 1))),
    }
}

fn ints(args: &[Type], i: usize) -> Result<Vec<Dim>> {
    let not = |t: &Type| format!("operand {} is {t}, not a list of integers", i + 1);
    match args.get(i) {
        Some(t @ Type::Attr(Attr::List(items))) => items
            .iter()
            .map(|a| match a {
                Attr::Int(d) => Ok(d.clone()),
                _ => Err(Fault::kind(not(t))),
            })
            .collect(),
        Some(t @ Type::List(items)) => items
            .iter()
            .map(|a| match a {
                Type::Int(d) | Type::Attr(Attr::Int(d)) => Ok(d.clone()),
                _ => Err(Fault::kind(not(t))),
            })
            .collect(),
        Some(other) => Err(Fault::kind(not(other))),
        None => Err(Fault::kind(format!("operand {} is missing", i + 1))),
    }
}

/// Axis `i` of `args`, counted from the front.
fn axis(args: &[Type], i: usize, rank: usize) -> Result<usize> {
    let axis = int(args, i)?.as_int().ok_or("an axis must be a constant")?;
    let from_front = if axis < 0 { axis + rank as i64 } else { axis };
    match usize::try_from(from_front) {
        Ok(a) if a < rank => Ok(a),
        _ => Err(Fault::shape(format!("axis {axis} of a tensor of rank {rank}"))),
    }
}

/// Shapes stretched to each other, as in PyTorch.
pub fn broadcast(a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>> {
    let rank = a.len().max(b.len());
    let at = |s: &[Dim], i: usize| (i + s.len()).checked_sub(rank).map(|j| s[j].clone());
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (Some(x), Some(y)) if x == y => Ok(x),
            (Some(x), Some(y)) if y.as_int() == Some(1) => Ok(x),
            (Some(x), Some(y)) if x.as_int() == Some(1) => Ok(y),
            (Some(x), None) => Ok(x),
            (None, Some(y)) => Ok(y),
            (Some(x), Some(y)) => Err(Fault::shape(format!("sizes {x} and {y} do not match"))),
            (None, None) => Ok(Dim::int(1)),
        })
        .collect()
}

/// The type that two tensors are computed in.
pub fn promote(a: &TensorType, b: &TensorType) -> Result<Dtype> {
    use Dtype::*;
    if a.dtype == b.dtype {
        return Ok(a.dtype);
    }
    // A 0-d tensor counts only if its kind (float, int, bool) is higher.
    let kind = |d: Dtype| if d.is_float() { 2 } else { u8::from(d != B8) };
    if kind(a.dtype) != kind(b.dtype) {
        return Ok(if kind(a.dtype) > kind(b.dtype) { a.dtype } else { b.dtype });
    }
    match (a.shape.is_empty(), b.shape.is_empty()) {
        (true, false) => return Ok(b.dtype),
        (false, true) => return Ok(a.dtype),
        _ => {}
    }
    let order = [F64, F32, I64, I32, I16];
    match (a.dtype, b.dtype) {
        (Bf16, F16) | (F16, Bf16) => Ok(F32),
        (U8, I8) | (I8, U8) => Ok(I16),
        (x, y) => order
            .into_iter()
            .find(|d| *d == x || *d == y)
            .ok_or_else(|| Fault::dtype(format!("{x} and {y} do not mix"))),
    }
}

/// Tensors and numbers together; a number takes the tensor's type.
fn mixed(args: &[Type], from: usize) -> Result<TensorType> {
    let mut out: Option<TensorType> = None;
    for (i, arg) in args.iter().enumerate().skip(from) {
        match arg {
            Type::Tensor(t) => {
                out = Some(match out {
                    None => t.clone(),
                    Some(o) => {
                        TensorType { dtype: promote(&o, t)?, shape: broadcast(&o.shape, &t.shape)? }
                    }
                });
            }
            Type::Attr(a) if a.as_f64().is_some() || matches!(a, Attr::Int(_)) => {}
            Type::Int(_) => {}
            other => {
                return Err(Fault::kind(format!("operand {} is {other}, not a number", i + 1)));
            }
        }
    }
    let whole =
        args.iter().skip(from).any(|a| matches!(a, Type::Int(_) | Type::Attr(Attr::Int(_))));
    let fraction = args.iter().skip(from).any(|a| matches!(a, Type::Attr(Attr::Float(_))));
    match out {
        Some(t) if fraction && !t.dtype.is_float() => {
            Ok(TensorType { dtype: Dtype::F32, shape: t.shape })
        }
        Some(t) if whole && t.dtype == Dtype::B8 => {
            Ok(TensorType { dtype: Dtype::I64, shape: t.shape })
        }
        Some(t) => Ok(t),
        None => Err(Fault::kind("no operand is a tensor")),
    }
}

fn arithmetic(args: &[Type]) -> Result<Type> {
    mixed(args, 0).map(Type::Tensor)
}

/// The quotient of integers is a float.
fn divide(args: &[Type]) -> Result<Type> {
    mixed(args, 0).map(as_float).map(Type::Tensor)
}

fn as_float(t: TensorType) -> TensorType {
    TensorType { dtype: if t.dtype.is_float() { t.dtype } else { Dtype::F32 }, ..t }
}

fn compare(args: &[Type]) -> Result<Type> {
    Ok(of(Dtype::B8, mixed(args, 0)?.shape))
}

fn select(args: &[Type]) -> Result<Type> {
    let value = mixed(args, 1)?;
    match args.first() {
        Some(Type::Attr(Attr::Bool(_))) => Ok(Type::Tensor(value)),
        Some(Type::Tensor(c)) if c.dtype == Dtype::B8 => {
            Ok(of(value.dtype, broadcast(&c.shape, &value.shape)?))
        }
        other => Err(Fault::kind(format!("the condition is {}", other.unwrap_or(&Type::Unknown)))),
    }
}

fn unary(args: &[Type]) -> Result<Type> {
    tensor(args, 0).cloned().map(Type::Tensor)
}

/// A function of real numbers: of integers, it is a float.
fn curve(args: &[Type]) -> Result<Type> {
    tensor(args, 0).cloned().map(as_float).map(Type::Tensor)
}

fn dtype(args: &[Type], i: usize) -> Result<Dtype> {
    match args.get(i) {
        Some(Type::Attr(Attr::Dtype(d))) => Ok(*d),
        other => Err(Fault::kind(format!("{} is not a dtype", other.unwrap_or(&Type::Unknown)))),
    }
}

fn cast(args: &[Type]) -> Result<Type> {
    Ok(of(dtype(args, 1)?, tensor(args, 0)?.shape.clone()))
}

fn bitcast(args: &[Type]) -> Result<Type> {
    let (x, to) = (tensor(args, 0)?, dtype(args, 1)?);
    let mut shape = x.shape.clone();
    if x.dtype.bits() != to.bits() {
        let last = shape.last_mut().ok_or("a scalar keeps its size")?;
        let bits = last.mul(&Dim::int(x.dtype.bits().into()));
        *last = bits
            .exact_div(&Dim::int(to.bits().into()))
            .ok_or_else(|| Fault::division(format!("{x} is not a whole number of {to}")))?;
    }
    Ok(of(to, shape))
}

/// A sum of integers is a 64-bit one.
fn sum(args: &[Type]) -> Result<Type> {
    let whole = |t: TensorType| match t.dtype.is_float() {
        true => t,
        false => TensorType { dtype: Dtype::I64, ..t },
    };
    reduce(args).map(|t| match t {
        Type::Tensor(t) => Type::Tensor(whole(t)),
        other => other,
    })
}

fn mean(args: &[Type]) -> Result<Type> {
    match tensor(args, 0)?.dtype {
        d if d.is_float() => reduce(args),
        d => Err(Fault::dtype(format!("the mean of {d} is not defined"))),
    }
}

/// `(x, axis, keepdim, group)`.
fn reduce(args: &[Type]) -> Result<Type> {
    let x = tensor(args, 0)?;
    let mut shape = x.shape.clone();
    if let Some(Type::Attr(Attr::Int(group))) = args.get(3) {
        let last = shape.last_mut().ok_or("groups of a scalar")?;
        *last = last.exact_div(group).ok_or_else(|| {
            Fault::division(format!("{last} is not a multiple of the group size {group}"))
        })?;
        return Ok(of(x.dtype, shape));
    }
    let at = axis(args, 1, shape.len())?;
    match args.get(2) {
        Some(Type::Attr(Attr::Bool(true))) => shape[at] = Dim::int(1),
        _ => {
            shape.remove(at);
        }
    }
    Ok(of(x.dtype, shape))
}

fn product(shape: &[Dim]) -> Dim {
    shape.iter().fold(Dim::int(1), |n, d| n.mul(d))
}

fn reshape(args: &[Type]) -> Result<Type> {
    let (x, mut shape) = (tensor(args, 0)?, ints(args, 1)?);
    let numel = x.numel();
    let mut negative = shape.iter().filter(|d| d.as_int().is_some_and(|v| v < 0));
    let (open, more) = (negative.next(), negative.next());
    if let Some(bad) = more.or(open.filter(|d| d.as_int() != Some(-1))) {
        return Err(Fault::shape(format!("size {bad} in a new shape; one size may be -1")));
    }
    if let Some(open) = shape.iter().position(|d| d.as_int() == Some(-1)) {
        shape[open] = Dim::int(1);
        let rest = product(&shape);
        shape[open] = numel
            .exact_div(&rest)
            .ok_or_else(|| Fault::division(format!("{x} does not divide into groups of {rest}")))?;
    }
    if product(&shape) != numel {
        return Err(Fault::shape(format!(
            "{x} has {numel} elements, the new shape {}",
            product(&shape)
        )));
    }
    Ok(of(x.dtype, shape))
}

fn expand(args: &[Type]) -> Result<Type> {
    let (x, mut shape) = (tensor(args, 0)?, ints(args, 1)?);
    let extra = shape.len().checked_sub(x.shape.len()).ok_or("expand to a lower rank")?;
    for (i, d) in shape.iter_mut().enumerate() {
        let own = i.checked_sub(extra).map(|j| &x.shape[j]);
        match own {
            Some(own) if d.as_int() == Some(-1) || own == d => *d = own.clone(),
            Some(own) if own.as_int() != Some(1) => {
                return Err(Fault::shape(format!("size {own} does not stretch to {d}")));
            }
            _ => {}
        }
    }
    Ok(of(x.dtype, shape))
}

fn permute(args: &[Type]) -> Result<Type> {
    let (x, dims) = (tensor(args, 0)?, ints(args, 1)?);
    let rank = x.shape.len();
    let mut order = Vec::new();
    for d in &dims {
        let d = d.as_int().ok_or("axes must be constants")?;
        let d = if d < 0 { d + rank as i64 } else { d };
        match usize::try_from(d) {
            Ok(d) if d < rank && !order.contains(&d) => order.push(d),
            _ => {
                return Err(Fault::shape(format!("axis {d} is no axis of {x}, or is named twice")));
            }
        }
    }
    if order.len() != rank {
        return Err(Fault::shape(format!("{} axes for a tensor of rank {rank}", order.len())));
    }
    Ok(of(x.dtype, order.into_iter().map(|i| x.shape[i].clone()).collect()))
}

/// A bound of a slice: counted from the front, inside the axis.
pub fn slice_bound(value: &Dim, size: &Dim) -> Dim {
    match (value.as_int(), size.as_int()) {
        (Some(i64::MAX), _) => size.clone(),
        (Some(v), _) if v < 0 => value.add(size).max_with(&Dim::int(0)),
        (Some(v), Some(s)) if v > s => size.clone(),
        _ => value.clone(),
    }
}

/// `(x, axis, start, end, step)`.
fn slice(args: &[Type]) -> Result<Type> {
    let x = tensor(args, 0)?;
    let at = axis(args, 1, x.shape.len())?;
    let size = &x.shape[at];
    let optional = |i: usize, absent: &Dim| match args.get(i) {
        None | Some(Type::Attr(Attr::None)) => Ok(absent.clone()),
        _ => int(args, i).map(|d| slice_bound(&d, size)),
    };
    let (start, end) = (optional(2, &Dim::int(0))?, optional(3, size)?);
    let step = match args.get(4) {
        None | Some(Type::Attr(Attr::None)) => Dim::int(1),
        _ => int(args, 4)?,
    };
    if step.as_int().is_none_or(|s| s <= 0) {
        return Err(Fault::shape(format!("step {step} is not a positive constant")));
    }
    let length = end.sub(&start);
    if length.as_int().is_some_and(|l| l < 0) {
        return Err(Fault::shape(format!("from {start} to {end}")));
    }
    let mut shape = x.shape.clone();
    shape[at] = length.ceil_div(&step);
    Ok(of(x.dtype, shape))
}

/// `(x, sizes, axis)`.
fn split(args: &[Type]) -> Result<Type> {
    let (x, sizes) = (tensor(args, 0)?, ints(args, 1)?);
    let at = axis(args, 2, x.shape.len())?;
    let sum = sizes.iter().fold(Dim::int(0), |n, d| n.add(d));
    if sum != x.shape[at] {
        return Err(Fault::shape(format!("parts add up to {sum}, the axis has {}", x.shape[at])));
    }
    let part = |size: &Dim| {
        let mut shape = x.shape.clone();
        shape[at] = size.clone();
        of(x.dtype, shape)
    };
    Ok(Type::Tuple(sizes.iter().map(part).collect()))
}

/// `(xs, axis)`.
fn concat(args: &[Type]) -> Result<Type> {
    let Some(Type::List(items)) = args.first() else {
        return Err(Fault::kind("not a list of tensors"));
    };
    let first = tensor(items, 0)?;
    let at = axis(args, 1, first.shape.len())?;
    let mut out = first.clone();
    for i in 1..items.len() {
        let next = tensor(items, i)?;
        let mut expected = next.shape.clone();
        if expected.len() != first.shape.len() {
            return Err(Fault::shape(format!("{next} beside {first}")));
        }
        expected[at] = first.shape[at].clone();
        if expected != first.shape {
            return Err(Fault::shape(format!("{next} beside {first}")));
        }
        out.dtype = promote(&out, next)?;
        out.shape[at] = out.shape[at].add(&next.shape[at]);
    }
    Ok(Type::Tensor(out))
}

fn repeat(args: &[Type]) -> Result<Type> {
    let (x, times) = (tensor(args, 0)?, int(args, 1)?);
    let mut shape = x.shape.clone();
    let last = shape.last_mut().ok_or("repeat of a scalar")?;
    *last = last.mul(&times);
    Ok(of(x.dtype, shape))
}

fn pack(args: &[Type]) -> Result<Type> {
    let x = tensor(args, 0)?;
    let mut shape = x.shape.clone();
    let last = shape.last_mut().ok_or("packing of a scalar")?;
    *last = last
        .exact_div(&Dim::int(2))
        .ok_or_else(|| Fault::division(format!("{last} may be odd")))?;
    Ok(of(Dtype::U8, shape))
}

fn swizzle(args: &[Type]) -> Result<Type> {
    let x = tensor(args, 0)?;
    let [rows, blocks] = x.shape.as_slice() else {
        return Err(Fault::shape(format!("scale factors of rank {}, not 2", x.shape.len())));
    };
    Ok(of(Dtype::I32, vec![rows.round_up(&Dim::int(128)), blocks.ceil_div(&Dim::int(4))]))
}

fn matmul(args: &[Type]) -> Result<Type> {
    let (a, b) = (tensor(args, 0)?, tensor(args, 1)?);
    let (Some((k, left)), [batch @ .., inner, n]) = (a.shape.split_last(), b.shape.as_slice())
    else {
        return Err(Fault::shape("operands of rank 0 or 1"));
    };
    if k != inner {
        return Err(Fault::shape(format!("inner sizes {k} and {inner}")));
    }
    let (rows, left_batch) = left.split_last().ok_or("a left operand of rank 1")?;
    let mut shape = broadcast(left_batch, batch)?;
    shape.extend([rows.clone(), n.clone()]);
    if a.dtype != b.dtype {
        return Err(Fault::dtype(format!("{} and {} do not multiply", a.dtype, b.dtype)));
    }
    Ok(of(a.dtype, shape))
}
