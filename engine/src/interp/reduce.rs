//! Primitives that combine elements: sums, means, maxima, matrix products.

use super::domain::{Binary, Domain};
use super::elementwise::{broadcast, offsets};
use super::promote::{arithmetic_type, operand, promote};
use super::tensor::Tensor;
use super::value::{EvalError, EvalResult, Value};
use fusec_dsl::dtype::Dtype;

/// What to do with the elements of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Sum,
    Mean,
    Amax,
}

impl Reduction {
    pub(super) fn named(name: &str) -> Option<Reduction> {
        Some(match name {
            "sum" => Reduction::Sum,
            "mean" => Reduction::Mean,
            "amax" => Reduction::Amax,
            _ => return None,
        })
    }
}

/// Over an axis, or over runs of `group` elements of the last axis.
pub(super) fn reduce<D: Domain>(
    d: &D,
    op: Reduction,
    args: &[&Value<D::Elem>],
) -> EvalResult<Value<D::Elem>> {
    let [x, axis, keepdim, group] = args else {
        return Err(EvalError::new("expected x, axis, keepdim, group"));
    };
    let x = x.tensor()?;
    let (shape, sizes) = match group.is_none() {
        true => over_axis(x, x.axis(axis.int()?)?, keepdim.bool()?),
        false => over_groups(x, group.count()?)?,
    };
    let dtype = result_type(op, x.dtype)?;
    let (before, length, after) = sizes;
    if length == 0 && op == Reduction::Amax {
        return Err(EvalError::new("the largest of no elements"));
    }
    let mut data = Vec::with_capacity(before * after);
    for i in 0..before {
        for k in 0..after {
            let at = |j: usize| x.data[(i * length + j) * after + k];
            data.push(combine(d, op, dtype, x.dtype, length, at));
        }
    }
    Ok(Tensor { dtype, shape, data }.into())
}

type Sizes = (usize, usize, usize);

fn over_axis<E: Copy>(x: &Tensor<E>, axis: usize, keepdim: bool) -> (Vec<usize>, Sizes) {
    let mut shape = x.shape.clone();
    match keepdim {
        true => shape[axis] = 1,
        false => drop(shape.remove(axis)),
    }
    (shape, x.around(axis))
}

fn over_groups<E: Copy>(x: &Tensor<E>, group: usize) -> EvalResult<(Vec<usize>, Sizes)> {
    let last = x.last()?;
    if last % group != 0 {
        return Err(EvalError::new(format!("groups of {group} do not divide {}", x.ty())));
    }
    let mut shape = x.shape.clone();
    shape.pop();
    shape.push(last / group);
    Ok((shape, (x.numel() / group, group, 1)))
}

fn result_type(op: Reduction, dtype: Dtype) -> EvalResult<Dtype> {
    match op {
        _ if arithmetic_type(dtype)?.is_float() => Ok(dtype),
        Reduction::Amax => Ok(dtype),
        Reduction::Sum => Ok(Dtype::I64),
        Reduction::Mean => Err(EvalError::new(format!("the mean of {dtype}: cast it first"))),
    }
}

fn combine<D: Domain>(
    d: &D,
    op: Reduction,
    dtype: Dtype,
    from: Dtype,
    length: usize,
    at: impl Fn(usize) -> D::Elem,
) -> D::Elem {
    let mut terms = (0..length).map(|j| d.cast(from, dtype, at(j)));
    match op {
        Reduction::Sum => d.sum(dtype, &mut terms, 1),
        Reduction::Mean => d.sum(dtype, &mut terms, length),
        Reduction::Amax => {
            let first = at(0);
            terms.fold(first, |a, b| d.binary(dtype, Binary::Max, a, b))
        }
    }
}

/// `a[.., m, k] @ b[.., k, n]`, leading axes broadcast; the sum is exact, then rounded once.
pub(super) fn matmul<D: Domain>(
    d: &D,
    a: &Value<D::Elem>,
    b: &Value<D::Elem>,
) -> EvalResult<Value<D::Elem>> {
    let dtype = promote(&[a, b])?;
    let (a, b) = (operand(d, dtype, a)?, operand(d, dtype, b)?);
    let (&[ref la @ .., m, k], &[ref lb @ .., kb, n]) = (&a.shape[..], &b.shape[..]) else {
        return Err(EvalError::new(format!("matmul of {} and {}", a.ty(), b.ty())));
    };
    if k != kb {
        return Err(EvalError::new(format!("matmul of {} and {}", a.ty(), b.ty())));
    }
    let mut shape = broadcast(&[la, lb])?;
    let (ia, ib) = (offsets(&shape, la), offsets(&shape, lb));
    shape.extend([m, n]);
    let mut data = Vec::with_capacity(ia.len() * m * n);
    for (pa, pb) in ia.into_iter().zip(ib) {
        for i in 0..m {
            for j in 0..n {
                let pair = |l| (a.data[(pa * m + i) * k + l], b.data[(pb * k + l) * n + j]);
                data.push(d.dot(dtype, &mut (0..k).map(pair)));
            }
        }
    }
    Ok(Tensor { dtype, shape, data }.into())
}
