//! Normal forms at construction: views that do nothing vanish, views of views merge, splits become
//! slices, casts that cannot round fold, operands of commutative ops are sorted.
//!
//! Nothing here changes a bit of any value. A graph's own nodes and the right sides of rules are
//! built through [`call`] alike.

use super::node::Operator;
use super::term::{Args, Terms};
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{Attr, OpId};
use fusec_dsl::types::Type;

/// Applies a library op, in normal form.
///
/// # Errors
/// The operands do not fit the op's signature.
pub fn call<T: Terms>(t: &mut T, op: OpId, args: &[T::Ref]) -> Result<T::Ref, String> {
    let prims = t.context().prims.clone();
    let is = |p: Option<OpId>| p == Some(op);
    if is(prims.cast) {
        return cast(t, op, args);
    }
    if is(prims.reshape) || is(prims.expand) {
        return reshape(t, op, args);
    }
    if is(prims.permute) {
        return permute(t, op, args);
    }
    if is(prims.slice) {
        return slice(t, op, args);
    }
    if is(prims.split) {
        return split(t, op, args);
    }
    let mut args: Args<T::Ref> = args.into();
    float_operands(t, op, &mut args);
    axis_from_end(t, op, &mut args);
    if t.context().lib.op(op).commutative && args.len() >= 2 && args[1] < args[0] {
        args.swap(0, 1);
    }
    t.add(Operator::op(op), 0, &args)
}

/// One result of a value that has several.
///
/// # Errors
/// The value has no such result.
pub fn proj<T: Terms>(t: &mut T, of: T::Ref, index: usize) -> Result<T::Ref, String> {
    if let Some(parts) = t.operands(of, Operator::TUPLE) {
        return parts.get(index).copied().ok_or_else(|| format!("no part {index}"));
    }
    if !matches!(t.ty(of), Type::Tuple(_)) && index == 0 {
        return Ok(of);
    }
    let op = Operator::proj(index).ok_or("more results than are supported")?;
    t.add(op, 0, &[of])
}

/// A list: one attribute if every item is one.
pub fn list<T: Terms>(t: &mut T, items: &[T::Ref]) -> Result<T::Ref, String> {
    let attrs: Option<Vec<Attr>> = items.iter().map(|i| t.ty(*i).attr().cloned()).collect();
    match attrs {
        Some(attrs) => Ok(t.attr(Attr::List(attrs.into()))),
        None => t.add(Operator::LIST, 0, items),
    }
}

/// A number beside a float tensor is a float, however it was spelled.
fn float_operands<T: Terms>(t: &mut T, op: OpId, args: &mut [T::Ref]) {
    let lib = t.context().lib.clone();
    let decl = lib.op(op);
    let float_tensor = |t: &T, r: T::Ref| t.ty(r).tensor().is_some_and(|x| x.dtype.is_float());
    for i in 0..args.len() {
        let declared_float = matches!(
            decl.sig.params.get(i).map(|p| &p.ty),
            Some(fusec_dsl::library::TypeExpr::Scalar(fusec_dsl::library::Scalar::Float))
        );
        let operand = matches!(
            decl.sig.params.get(i).map(|p| &p.ty),
            Some(fusec_dsl::library::TypeExpr::Any)
        );
        let beside = operand && args.iter().any(|a| float_tensor(t, *a));
        let value = match t.ty(args[i]) {
            Type::Attr(Attr::Int(d)) if declared_float || beside => d.as_int(),
            _ => None,
        };
        if let Some(v) = value {
            args[i] = t.attr(Attr::float(v as f64));
        }
    }
}

/// An axis is counted from the end, so that patterns do not depend on the rank.
fn axis_from_end<T: Terms>(t: &mut T, op: OpId, args: &mut [T::Ref]) {
    let lib = t.context().lib.clone();
    let Some(at) = lib.op(op).sig.params.iter().position(|p| p.name == "axis") else { return };
    let rank = match args.first().map(|x| t.ty(*x)) {
        Some(Type::Tensor(x)) => x.shape.len(),
        Some(Type::List(xs)) => xs.first().and_then(Type::tensor).map_or(0, |x| x.shape.len()),
        _ => 0,
    };
    let axis = args.get(at).and_then(|a| dim_of(t, *a)).and_then(|d| d.as_int());
    if let Some(axis) = axis.filter(|a| (0..rank as i64).contains(a)) {
        args[at] = t.attr(Attr::int(axis - rank as i64));
    }
}

/// Whether every value of `from` is a value of `to`.
pub fn widens(from: Dtype, to: Dtype) -> bool {
    use Dtype::*;
    match from {
        _ if from == to => true,
        Bf16 | F16 => matches!(to, F32 | F64),
        F32 => to == F64,
        F8E4M3 | F8E5M2 | F8E8M0 => matches!(to, F32 | F64),
        I8 | U8 | I16 => matches!(to, I32 | I64 | F32 | F64),
        I32 => matches!(to, I64 | F64),
        _ => false,
    }
}

fn cast<T: Terms>(t: &mut T, op: OpId, args: &[T::Ref]) -> Result<T::Ref, String> {
    let (x, target) = (args[0], t.ty(args[1]).attr().cloned());
    let (Some(from), Some(Attr::Dtype(to))) = (t.ty(x).tensor().map(|x| x.dtype), target) else {
        return t.add(Operator::op(op), 0, args);
    };
    if from == to {
        return Ok(x);
    }
    if let Some(inner) = t.operands(x, Operator::op(op))
        && let Some(source) = t.ty(inner[0]).tensor().map(|x| x.dtype)
        && widens(source, from)
    {
        return cast(t, op, &[inner[0], args[1]]);
    }
    t.add(Operator::op(op), 0, args)
}

/// `reshape` and `expand`: the result's shape as the attribute; nothing if the shape is the same.
fn reshape<T: Terms>(t: &mut T, op: OpId, args: &[T::Ref]) -> Result<T::Ref, String> {
    let kids = [t.type_id(args[0]), t.type_id(args[1])];
    let ty = t.context().result(Operator::op(op), 0, &kids)?;
    if ty == kids[0] {
        return Ok(args[0]);
    }
    let Some(shape) = t.context().ty(ty).tensor().map(|x| x.shape.clone()) else {
        return t.add(Operator::op(op), 0, args);
    };
    let mut x = args[0];
    if let Some(inner) = t.operands(x, Operator::op(op)) {
        x = inner[0];
        if t.type_id(x) == ty {
            return Ok(x);
        }
    }
    let shape = t.attr(Attr::List(shape.into_iter().map(Attr::Int).collect()));
    Ok(t.insert(Operator::op(op), 0, &[x, shape], ty))
}

/// The integers of a list attribute, if all are known.
fn ints<T: Terms>(t: &T, r: T::Ref) -> Option<Vec<i64>> {
    let Some(Attr::List(items)) = t.ty(r).attr() else { return None };
    items
        .iter()
        .map(|a| match a {
            Attr::Int(d) => d.as_int(),
            _ => None,
        })
        .collect()
}

fn permute<T: Terms>(t: &mut T, op: OpId, args: &[T::Ref]) -> Result<T::Ref, String> {
    let rank = t.ty(args[0]).tensor().map_or(0, |x| x.shape.len()) as i64;
    let Some(dims) = ints(t, args[1]) else { return t.add(Operator::op(op), 0, args) };
    let mut dims: Vec<i64> = dims.iter().map(|d| if *d < 0 { d + rank } else { *d }).collect();
    let mut x = args[0];
    if let Some(inner) = t.operands(x, Operator::op(op))
        && let Some(first) = ints(t, inner[1])
        && dims.iter().all(|d| (0..first.len() as i64).contains(d))
    {
        dims = dims.iter().map(|d| first[*d as usize]).collect();
        x = inner[0];
    }
    if dims.iter().enumerate().all(|(i, d)| i as i64 == *d) && dims.len() as i64 == rank {
        return Ok(x);
    }
    let dims = t.attr(Attr::List(dims.into_iter().map(Attr::int).collect()));
    t.add(Operator::op(op), 0, &[x, dims])
}

fn dim_of<T: Terms>(t: &T, r: T::Ref) -> Option<Dim> {
    match t.ty(r).attr() {
        Some(Attr::Int(d)) => Some(d.clone()),
        _ => None,
    }
}

/// A bound of a slice, counted from the front and inside the axis.
fn bound(value: Option<Dim>, size: &Dim, absent: &Dim) -> Dim {
    let Some(value) = value else { return absent.clone() };
    match value.as_int() {
        Some(v) if v < 0 => value.add(size),
        Some(v) if v == i64::MAX => size.clone(),
        Some(v) if size.as_int().is_some_and(|s| v > s) => size.clone(),
        _ => value,
    }
}

/// `slice(x, axis, start, end, step)`, with bounds from the front; nothing if it keeps everything.
fn slice<T: Terms>(t: &mut T, op: OpId, args: &[T::Ref]) -> Result<T::Ref, String> {
    let shape = t.ty(args[0]).tensor().map(|x| x.shape.clone()).ok_or("slice of a non-tensor")?;
    let axis = dim_of(t, args[1]).and_then(|d| d.as_int()).ok_or("slice along an unknown axis")?;
    let rank = shape.len() as i64;
    let axis = if axis < 0 { axis } else { axis - rank };
    let size = usize::try_from(axis + rank).ok().and_then(|a| shape.get(a));
    let size = size.ok_or("slice along an axis that is not there")?.clone();
    let start = bound(dim_of(t, args[2]), &size, &Dim::int(0));
    let end = bound(dim_of(t, args[3]), &size, &size);
    let step = args.get(4).and_then(|s| dim_of(t, *s)).unwrap_or(Dim::int(1));
    let one = step.as_int() == Some(1);
    if one && start.as_int() == Some(0) && end == size {
        return Ok(args[0]);
    }
    let (mut x, mut start, mut end) = (args[0], start, end);
    if one
        && let Some(inner) = t.operands(x, Operator::op(op))
        && dim_of(t, inner[1]).and_then(|d| d.as_int()) == Some(axis)
        && dim_of(t, inner[4]).and_then(|d| d.as_int()) == Some(1)
        && let Some(offset) = dim_of(t, inner[2])
    {
        (start, end) = (start.add(&offset), end.add(&offset));
        x = inner[0];
    }
    let attrs = [Attr::int(axis), Attr::Int(start), Attr::Int(end), Attr::Int(step)];
    let mut kids: Args<T::Ref> = Args::from_slice(&[x]);
    for a in attrs {
        let a = t.attr(a);
        kids.push(a);
    }
    t.add(Operator::op(op), 0, &kids)
}

/// A split is its slices.
fn split<T: Terms>(t: &mut T, op: OpId, args: &[T::Ref]) -> Result<T::Ref, String> {
    let (Some(Attr::List(sizes)), Some(slice_op)) =
        (t.ty(args[1]).attr().cloned(), t.context().prims.slice)
    else {
        return t.add(Operator::op(op), 0, args);
    };
    let mut parts: Args<T::Ref> = Args::new();
    let mut at = Dim::int(0);
    for size in sizes.iter() {
        let Attr::Int(size) = size else { return Err("split sizes are not integers".into()) };
        let end = at.add(size);
        let bounds = [t.attr(Attr::Int(at)), t.attr(Attr::Int(end.clone())), t.attr(Attr::int(1))];
        let kids = [args[0], args[2], bounds[0], bounds[1], bounds[2]];
        parts.push(slice(t, slice_op, &kids)?);
        at = end;
    }
    t.add(Operator::TUPLE, 0, &parts)
}
