//! Primitives that move elements without looking at them.

use super::elementwise::offsets;
use super::tensor::{Tensor, numel};
use super::value::{EvalError, EvalResult, Value};

fn sized(n: i64) -> EvalResult<usize> {
    usize::try_from(n).map_err(|_| EvalError::new(format!("a size of {n}")))
}

/// The same elements in the same order; one size may be -1.
pub(super) fn reshape<E: Copy>(x: &Tensor<E>, shape: &[i64]) -> EvalResult<Value<E>> {
    let known = shape.iter().filter(|n| **n != -1).try_fold(1i64, |p, n| p.checked_mul(*n));
    let guess = known.filter(|k| *k > 0).map_or(0, |k| x.numel() as i64 / k);
    let shape = shape.iter().map(|n| sized(if *n == -1 { guess } else { *n }));
    Ok(Tensor::new(x.dtype, shape.collect::<EvalResult<_>>()?, x.data.clone())?.into())
}

/// Axes in another order.
pub(super) fn permute<E: Copy>(x: &Tensor<E>, dims: &[i64]) -> EvalResult<Value<E>> {
    let dims = dims.iter().map(|a| x.axis(*a)).collect::<EvalResult<Vec<_>>>()?;
    let mut sorted = dims.clone();
    sorted.sort_unstable();
    if sorted != (0..x.shape.len()).collect::<Vec<_>>() {
        return Err(EvalError::new(format!("{dims:?} does not permute {}", x.ty())));
    }
    let mut all = vec![0];
    for axis in &dims {
        let (_, n, stride) = x.around(*axis);
        all = all.iter().flat_map(|base| (0..n).map(move |i| base + i * stride)).collect();
    }
    let shape = dims.iter().map(|a| x.shape[*a]).collect();
    let data = all.into_iter().map(|i| x.data[i]).collect();
    Ok(Tensor { dtype: x.dtype, shape, data }.into())
}

/// Some positions of one axis, in order.
fn take<E: Copy>(x: &Tensor<E>, axis: usize, positions: &[usize]) -> Tensor<E> {
    let (before, n, after) = x.around(axis);
    let mut data = Vec::with_capacity(before * positions.len() * after);
    for i in 0..before {
        for p in positions {
            let start = (i * n + p) * after;
            data.extend_from_slice(&x.data[start..start + after]);
        }
    }
    let mut shape = x.shape.clone();
    shape[axis] = positions.len();
    Tensor { dtype: x.dtype, shape, data }
}

/// `start, start + step, ..` below `end`; bounds count from the end when negative and are
/// limited to the axis.
pub(super) fn slice<E: Copy>(
    x: &Tensor<E>,
    axis: i64,
    start: i64,
    end: i64,
    step: usize,
) -> EvalResult<Value<E>> {
    let axis = x.axis(axis)?;
    let n = x.shape[axis] as i64;
    let place = |i: i64| (if i < 0 { i.saturating_add(n) } else { i }).clamp(0, n) as usize;
    let positions: Vec<usize> = (place(start)..place(end)).step_by(step).collect();
    Ok(take(x, axis, &positions).into())
}

/// Consecutive parts of one axis.
pub(super) fn split<E: Copy>(x: &Tensor<E>, sizes: &[i64], axis: i64) -> EvalResult<Value<E>> {
    let axis = x.axis(axis)?;
    let sizes = sizes.iter().map(|n| sized(*n)).collect::<EvalResult<Vec<_>>>()?;
    let total = sizes.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
    if total != Some(x.shape[axis]) {
        return Err(EvalError::new(format!(
            "{sizes:?} does not add up to axis {axis} of {}",
            x.ty()
        )));
    }
    let mut start = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for n in sizes {
        parts.push(take(x, axis, &(start..start + n).collect::<Vec<_>>()).into());
        start += n;
    }
    Ok(Value::Tuple(parts))
}

/// Tensors one after another along an axis.
pub(super) fn concat<E: Copy>(xs: &[&Tensor<E>], axis: i64) -> EvalResult<Value<E>> {
    let Some(first) = xs.first() else {
        return Err(EvalError::new("nothing to concatenate"));
    };
    let axis = first.axis(axis)?;
    let rest = |t: &Tensor<E>| {
        let mut shape = t.shape.clone();
        if axis < shape.len() {
            shape.remove(axis);
        }
        (t.dtype, t.shape.len(), shape)
    };
    if let Some(odd) = xs.iter().find(|t| rest(t) != rest(first)) {
        return Err(EvalError::new(format!("{} and {} along axis {axis}", first.ty(), odd.ty())));
    }
    let (before, _, after) = first.around(axis);
    let mut data = Vec::with_capacity(xs.iter().map(|t| t.numel()).sum());
    for i in 0..before {
        for t in xs {
            let run = t.shape[axis] * after;
            data.extend_from_slice(&t.data[i * run..(i + 1) * run]);
        }
    }
    let mut shape = first.shape.clone();
    shape[axis] = xs.iter().map(|t| t.shape[axis]).sum();
    Ok(Tensor { dtype: first.dtype, shape, data }.into())
}

/// Axes of size 1 stretched; -1 keeps an axis; new axes may come first.
pub(super) fn expand<E: Copy>(x: &Tensor<E>, shape: &[i64]) -> EvalResult<Value<E>> {
    let fail = || EvalError::new(format!("{} does not expand to {shape:?}", x.ty()));
    let lead = shape.len().checked_sub(x.shape.len()).ok_or_else(fail)?;
    let mut out = Vec::with_capacity(shape.len());
    for (i, n) in shape.iter().enumerate() {
        let had = i.checked_sub(lead).map(|j| x.shape[j]);
        out.push(match (had, *n) {
            (Some(had), -1) => had,
            (Some(had), n) if had == 1 || had as i64 == n => sized(n)?,
            (None, n) => sized(n)?,
            _ => return Err(fail()),
        });
    }
    numel(&out)?;
    let data = offsets(&out, &x.shape).into_iter().map(|i| x.data[i]).collect();
    Ok(Tensor { dtype: x.dtype, shape: out, data }.into())
}

/// Each element of the last axis `times` times in a row.
pub(super) fn repeat<E: Copy>(x: &Tensor<E>, times: usize) -> EvalResult<Value<E>> {
    let last = x.last()?;
    let mut shape = x.shape.clone();
    shape.pop();
    shape.push(last.saturating_mul(times));
    numel(&shape)?;
    let data = x.data.iter().flat_map(|e| std::iter::repeat_n(*e, times)).collect();
    Ok(Tensor { dtype: x.dtype, shape, data }.into())
}
