//! Which element type an operation on several operands happens in, as PyTorch decides it.

use super::domain::Domain;
use super::tensor::Tensor;
use super::value::{EvalError, EvalResult, Value};
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Attr;
use std::borrow::Cow;

/// Bool, integer or float: the higher kind decides the type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Bool,
    Int,
    Float,
}

fn class(dtype: Dtype) -> Class {
    match dtype {
        Dtype::B8 => Class::Bool,
        d if d.is_float() => Class::Float,
        _ => Class::Int,
    }
}

/// Arithmetic is for 16- to 64-bit floats, integers and bools.
pub(super) fn arithmetic_type(dtype: Dtype) -> EvalResult<Dtype> {
    match dtype {
        Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::F8E8M0 | Dtype::F4E2M1x2 | Dtype::C64 => {
            Err(EvalError::new(format!("no arithmetic on {dtype}: cast it to f32 first")))
        }
        d => Ok(d),
    }
}

/// The smallest type that holds values of both.
fn join(a: Dtype, b: Dtype) -> Dtype {
    match (class(a), class(b)) {
        _ if a == b => a,
        (x, y) if x < y => b,
        (x, y) if x > y => a,
        (Class::Float, _) if a.bits() == b.bits() => Dtype::F32,
        (Class::Int, _) if a.bits() == b.bits() => Dtype::I16,
        // `u8` with a wider integer is that integer; nothing else is unsigned.
        _ if a.bits() > b.bits() => a,
        _ => b,
    }
}

/// The type of an operation over these operands. Tensors with axes decide before tensors without
/// and those before numbers, except that a float makes everything float.
pub(super) fn promote<E: Copy>(operands: &[&Value<E>]) -> EvalResult<Dtype> {
    let (mut axes, mut points, mut numbers) = (None, None, None);
    for v in operands {
        let (slot, dtype) = match v {
            Value::Tensor(t) if t.shape.is_empty() => (&mut points, arithmetic_type(t.dtype)?),
            Value::Tensor(t) => (&mut axes, arithmetic_type(t.dtype)?),
            Value::Attr(Attr::Float(_)) => (&mut numbers, Dtype::F32),
            Value::Attr(Attr::Int(_)) => (&mut numbers, Dtype::I64),
            Value::Attr(Attr::Bool(_)) => (&mut numbers, Dtype::B8),
            other => {
                let found = other.ty();
                return Err(EvalError::new(format!(
                    "expected a tensor or a number, found {found}"
                )));
            }
        };
        *slot = Some(slot.map_or(dtype, |s| join(s, dtype)));
    }
    let ranked = [axes, points, numbers].into_iter().flatten();
    let winner = ranked.reduce(|a, b| if class(b) > class(a) { b } else { a });
    Ok(winner.unwrap_or(Dtype::F32))
}

/// An operand as a tensor of the operation's type.
pub(super) fn operand<'v, D: Domain>(
    d: &D,
    dtype: Dtype,
    v: &'v Value<D::Elem>,
) -> EvalResult<Cow<'v, Tensor<D::Elem>>> {
    if let Some(n) = v.number() {
        return Ok(Cow::Owned(Tensor::scalar(dtype, d.number(dtype, n))));
    }
    let t = v.tensor()?;
    if t.dtype == dtype {
        return Ok(Cow::Borrowed(t));
    }
    let data = t.data.iter().map(|x| d.cast(t.dtype, dtype, *x)).collect();
    Ok(Cow::Owned(Tensor { dtype, shape: t.shape.clone(), data }))
}
