//! Operations in which every rank of a group takes part, over all ranks at once.

use super::domain::{Binary, Domain};
use super::tensor::Tensor;
use super::value::{EvalError, EvalResult, Value};
use super::views;
use fusec_dsl::dtype::Dtype;

/// Runs a collective by name. `args[rank]` are the arguments on that rank; the result has one
/// value a rank.
pub fn collective<D: Domain>(
    d: &D,
    name: &str,
    args: &[Vec<&Value<D::Elem>>],
) -> EvalResult<Vec<Value<D::Elem>>> {
    let first = args.first().ok_or_else(|| EvalError::new("no ranks"))?;
    let inputs = args.iter().map(|a| match a.first() {
        Some(x) => x.tensor(),
        None => Err(EvalError::new("expected a tensor")),
    });
    let inputs = inputs.collect::<EvalResult<Vec<_>>>()?;
    if let Some(odd) = inputs.iter().find(|t| t.shape != inputs[0].shape) {
        return Err(EvalError::new(format!("ranks disagree: {} and {}", inputs[0].ty(), odd.ty())));
    }
    match (name, &first[1..]) {
        ("all_reduce", [_group]) => {
            let total = sum_in_rank_order(d, &inputs);
            Ok(vec![total.into(); inputs.len()])
        }
        ("all_gather", [axis, _group]) => {
            let whole = views::concat(&inputs, axis.int()?)?;
            Ok(vec![whole; inputs.len()])
        }
        ("reduce_scatter", [axis, _group]) => {
            let total = sum_in_rank_order(d, &inputs);
            scatter(&total, axis.int()?, inputs.len())
        }
        ("all_gather" | "reduce_scatter" | "all_reduce", rest) => {
            Err(EvalError::new(format!("unexpected {} arguments after the tensor", rest.len())))
        }
        _ => Err(EvalError::new(format!("the interpreter knows no collective `{name}`"))),
    }
}

/// In f32 (f64 for f64), in rank order, rounded once.
fn sum_in_rank_order<D: Domain>(d: &D, inputs: &[&Tensor<D::Elem>]) -> Tensor<D::Elem> {
    let dtype = inputs[0].dtype;
    let wide = if dtype == Dtype::F64 || !dtype.is_float() { dtype } else { Dtype::F32 };
    let mut total = inputs[0].map(|x| d.cast(dtype, wide, x));
    for t in &inputs[1..] {
        for (acc, x) in total.data.iter_mut().zip(&t.data) {
            *acc = d.binary(wide, Binary::Add, *acc, d.cast(dtype, wide, *x));
        }
    }
    total.map(|x| d.cast(wide, dtype, x))
}

/// Rank `r` gets the r-th of equal parts of an axis.
fn scatter<E: Copy>(total: &Tensor<E>, axis: i64, ranks: usize) -> EvalResult<Vec<Value<E>>> {
    let n = total.shape[total.axis(axis)?];
    if n % ranks != 0 {
        let ty = total.ty();
        return Err(EvalError::new(format!("{ty} does not split into {ranks} equal parts")));
    }
    match views::split(total, &vec![(n / ranks) as i64; ranks], axis)? {
        Value::Tuple(parts) => Ok(parts),
        one => Ok(vec![one]),
    }
}
