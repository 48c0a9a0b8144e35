//! Primitives that treat every element alike, with broadcasting.

use super::domain::{Binary, Compare, Domain, Unary};
use super::float::Floats;
use super::promote::{arithmetic_type, operand, promote};
use super::tensor::{Tensor, numel};
use super::value::{EvalError, EvalResult, Value};
use crate::numerics;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Attr;

/// The shape several shapes broadcast to.
pub fn broadcast(shapes: &[&[usize]]) -> EvalResult<Vec<usize>> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for shape in shapes {
        for (slot, n) in out[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*slot, *n) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *slot = b,
                _ => {
                    let all = shapes.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>();
                    let all = all.join(" and ");
                    return Err(EvalError::new(format!("shapes {all} do not broadcast")));
                }
            }
        }
    }
    numel(&out)?;
    Ok(out)
}

/// For each element of `out` in order, the index of the element of `shape` that lands there.
pub(super) fn offsets(out: &[usize], shape: &[usize]) -> Vec<usize> {
    let total: usize = out.iter().product();
    if out == shape {
        return (0..total).collect();
    }
    let lead = out.len() - shape.len();
    let mut strides = vec![0; out.len()];
    let mut step = 1;
    for (i, n) in shape.iter().enumerate().rev() {
        strides[lead + i] = if *n == 1 { 0 } else { step };
        step *= n;
    }
    let mut all = vec![0];
    for (n, stride) in out.iter().zip(&strides) {
        let mut next = Vec::with_capacity(all.len() * n);
        for base in &all {
            next.extend((0..*n).map(|i| base + i * stride));
        }
        all = next;
    }
    all
}

fn zip<E: Copy, R>(
    out: &[usize],
    a: &Tensor<E>,
    b: &Tensor<E>,
    mut f: impl FnMut(E, E) -> R,
) -> Vec<R> {
    if a.shape == b.shape {
        return a.data.iter().zip(&b.data).map(|(a, b)| f(*a, *b)).collect();
    }
    let (ia, ib) = (offsets(out, &a.shape), offsets(out, &b.shape));
    ia.into_iter().zip(ib).map(|(i, j)| f(a.data[i], b.data[j])).collect()
}

/// A function of one tensor or number.
pub fn unary<D: Domain>(d: &D, op: Unary, x: &Value<D::Elem>) -> EvalResult<Value<D::Elem>> {
    if let Some(n) = x.number() {
        return Ok(Attr::float(Floats.unary(Dtype::F64, op, n)).into());
    }
    let from = arithmetic_type(x.tensor()?.dtype)?;
    let dtype = if from.is_float() || op.keeps_integers() { from } else { Dtype::F32 };
    let t = operand(d, dtype, x)?;
    Ok(t.map(|x| d.unary(dtype, op, x)).into())
}

/// A function of two tensors or numbers.
pub fn binary<D: Domain>(
    d: &D,
    op: Binary,
    a: &Value<D::Elem>,
    b: &Value<D::Elem>,
) -> EvalResult<Value<D::Elem>> {
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        return Ok(numbers(op, a, b, x, y).into());
    }
    let mut dtype = promote(&[a, b])?;
    if op == Binary::Div && !dtype.is_float() {
        dtype = Dtype::F32;
    }
    let (a, b) = (operand(d, dtype, a)?, operand(d, dtype, b)?);
    let shape = broadcast(&[&a.shape, &b.shape])?;
    let data = zip(&shape, &a, &b, |a, b| d.binary(dtype, op, a, b));
    Ok(Tensor { dtype, shape, data }.into())
}

/// Two numbers: integers stay integers, except under division.
fn numbers<E: Copy>(op: Binary, a: &Value<E>, b: &Value<E>, x: f64, y: f64) -> Attr {
    if let (Value::Attr(Attr::Int(i)), Value::Attr(Attr::Int(j))) = (a, b) {
        match op {
            Binary::Add => return Attr::Int(i.add(j)),
            Binary::Sub => return Attr::Int(i.sub(j)),
            Binary::Mul => return Attr::Int(i.mul(j)),
            Binary::Min => return Attr::Int(i.min_with(j)),
            Binary::Max => return Attr::Int(i.max_with(j)),
            Binary::Div => {}
        }
    }
    Attr::float(Floats.binary(Dtype::F64, op, x, y))
}

/// A comparison, to `b8`.
pub fn compare<D: Domain>(
    d: &D,
    op: Compare,
    a: &Value<D::Elem>,
    b: &Value<D::Elem>,
) -> EvalResult<Value<D::Elem>> {
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        return Ok(Attr::Bool(op.of(x, y)).into());
    }
    let dtype = promote(&[a, b])?;
    let (a, b) = (operand(d, dtype, a)?, operand(d, dtype, b)?);
    let shape = broadcast(&[&a.shape, &b.shape])?;
    let (yes, no) = (d.number(Dtype::B8, 1.0), d.number(Dtype::B8, 0.0));
    let data = zip(&shape, &a, &b, |a, b| if d.compare(op, a, b) { yes } else { no });
    Ok(Tensor { dtype: Dtype::B8, shape, data }.into())
}

/// `a` where the condition holds, else `b`.
pub fn select<D: Domain>(
    d: &D,
    cond: &Value<D::Elem>,
    a: &Value<D::Elem>,
    b: &Value<D::Elem>,
) -> EvalResult<Value<D::Elem>> {
    if let (Value::Attr(Attr::Bool(c)), Some(_), Some(_)) = (cond, a.number(), b.number()) {
        return Ok(if *c { a.clone() } else { b.clone() });
    }
    let cond = match cond {
        Value::Tensor(t) if t.dtype == Dtype::B8 => t.clone(),
        Value::Attr(Attr::Bool(c)) => {
            Tensor::scalar(Dtype::B8, d.number(Dtype::B8, f64::from(u8::from(*c))))
        }
        other => {
            let found = other.ty();
            return Err(EvalError::new(format!(
                "expected a condition (b8 or bool), found {found}"
            )));
        }
    };
    let dtype = select_type(a, b)?;
    // Selection does not compute, so nothing else would round a number.
    let settled = |v: &Value<D::Elem>| -> EvalResult<Tensor<D::Elem>> {
        let t = operand(d, dtype, v)?.into_owned();
        Ok(if v.number().is_some() { t.map(|x| d.cast(dtype, dtype, x)) } else { t })
    };
    let (a, b) = (settled(a)?, settled(b)?);
    let shape = broadcast(&[&cond.shape, &a.shape, &b.shape])?;
    let [ic, ia, ib] = [&cond, &a, &b].map(|t| offsets(&shape, &t.shape));
    let pick = |i: usize| match d.is_true(cond.data[ic[i]]) {
        true => a.data[ia[i]],
        false => b.data[ib[i]],
    };
    let data = (0..ic.len()).map(pick).collect();
    Ok(Tensor { dtype, shape, data }.into())
}

/// Selection moves values, so it works on every element type when both sides have the same.
fn select_type<E: Copy>(a: &Value<E>, b: &Value<E>) -> EvalResult<Dtype> {
    match (a, b) {
        (Value::Tensor(x), Value::Tensor(y)) if x.dtype == y.dtype => Ok(x.dtype),
        _ => promote(&[a, b]),
    }
}

/// `min(max(x, lo), hi)`; either bound may be `none`.
pub fn clamp<D: Domain>(
    d: &D,
    x: &Value<D::Elem>,
    lo: &Value<D::Elem>,
    hi: &Value<D::Elem>,
) -> EvalResult<Value<D::Elem>> {
    let dtype = arithmetic_type(x.tensor()?.dtype)?;
    let bound = |v: &Value<D::Elem>| match v.number() {
        Some(n) => Ok(Some(d.number(dtype, n))),
        None if v.is_none() => Ok(None),
        None => Err(EvalError::new(format!("expected a number or none, found {}", v.ty()))),
    };
    let (lo, hi) = (bound(lo)?, bound(hi)?);
    let limit = |x: D::Elem| {
        let x = lo.map_or(x, |lo| d.binary(dtype, Binary::Max, x, lo));
        hi.map_or(x, |hi| d.binary(dtype, Binary::Min, x, hi))
    };
    Ok(x.tensor()?.map(limit).into())
}

/// Conversion to another element type.
pub fn cast<D: Domain>(d: &D, x: &Value<D::Elem>, to: Dtype) -> EvalResult<Value<D::Elem>> {
    if let Some(n) = x.number() {
        return Ok(Attr::float(numerics::round(to, n)).into());
    }
    let t = x.tensor()?;
    if t.dtype != to && !(numerics::is_numeric(t.dtype) && numerics::is_numeric(to)) {
        return Err(EvalError::new(format!("no conversion from {} to {to}", t.dtype)));
    }
    let mut out = t.clone();
    out.dtype = to;
    if t.dtype != to {
        out.data.iter_mut().for_each(|x| *x = d.cast(t.dtype, to, *x));
    }
    Ok(out.into())
}
