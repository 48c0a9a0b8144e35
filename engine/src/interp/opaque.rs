//! Ops that nobody looks into, as uninterpreted functions: equal operands give equal results.
//!
//! What a rule proves with them holds whatever they compute, as long as it is a function of their
//! operands.

use super::domain::Domain;
use super::random::Rng;
use super::tensor::Tensor;
use super::value::{EvalError, EvalResult, Value};
use fusec_dsl::infer;
use fusec_dsl::library::{Library, OpId};
use fusec_dsl::types::Type;
use std::hash::{Hash, Hasher};

/// Calls an opaque op: the declared type, elements chosen by the operands.
pub(super) fn call<D: Domain>(
    lib: &Library,
    d: &D,
    op: OpId,
    args: &[&Value<D::Elem>],
) -> EvalResult<Value<D::Elem>> {
    let types: Vec<Type> = args.iter().map(|v| v.ty()).collect();
    let ty = infer::call(lib, op, &types).map_err(EvalError::new)?;
    let mut hasher = rustc_hash::FxHasher::default();
    op.hash(&mut hasher);
    args.iter().for_each(|v| digest(d, v, &mut hasher));
    result(d, &ty, &mut Rng::new(hasher.finish()))
}

fn digest<D: Domain>(d: &D, v: &Value<D::Elem>, hasher: &mut impl Hasher) {
    match v {
        Value::Tensor(t) => {
            (t.dtype, &t.shape).hash(hasher);
            t.data.iter().for_each(|x| d.digest(*x).hash(hasher));
        }
        Value::Attr(a) => a.hash(hasher),
        Value::List(items) | Value::Tuple(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|v| digest(d, v, hasher));
        }
    }
}

fn result<D: Domain>(d: &D, ty: &Type, rng: &mut Rng) -> EvalResult<Value<D::Elem>> {
    match ty {
        Type::Tensor(t) => {
            let size = |n: &fusec_dsl::dim::Dim| n.as_int().and_then(|n| usize::try_from(n).ok());
            let shape: Option<Vec<usize>> = t.shape.iter().map(size).collect();
            let shape = shape.ok_or_else(|| EvalError::new(format!("a result of type {t}")))?;
            let numel = super::tensor::numel(&shape)?;
            let data = (0..numel).map(|_| d.arbitrary(t.dtype, rng.next())).collect();
            Ok(Tensor { dtype: t.dtype, shape, data }.into())
        }
        Type::Tuple(parts) => {
            parts.iter().map(|t| result(d, t, rng)).collect::<EvalResult<_>>().map(Value::Tuple)
        }
        other => Err(EvalError::new(format!("its result type is not known: {other}"))),
    }
}
