//! The interpreter against hand-computed values and against formulas written out in Rust.

mod errors;
mod field;
mod formulas;
mod fuzz;
mod norms;
mod primitives;
mod quantizers;
mod ranks;

use super::float::Floats;
use super::{EvalResult, Interp, Tensor, Value, eval_op};
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{Attr, Library};
use std::sync::LazyLock;

/// The real library.
pub(crate) static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let own = |(p, t): &(&str, &str)| (p.to_string(), t.to_string());
    let files: Vec<_> = fusec_passes::FILES.iter().map(own).collect();
    let (library, _, diagnostics) = fusec_dsl::resolve::load(&files);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    library
});

/// An op of the real library.
pub(super) fn call(name: &str, args: &[Value]) -> EvalResult<Value> {
    let op = LIBRARY.op_named(name).unwrap_or_else(|| panic!("no op {name}"));
    eval_op(&LIBRARY, op, args)
}

/// A primitive, with every argument given.
pub(super) fn prim(name: &str, args: &[Value]) -> EvalResult<Value> {
    Interp::new(&LIBRARY, Floats).primitive(name, &args.iter().collect::<Vec<_>>())
}

pub(super) fn tensor(dtype: Dtype, shape: &[usize], values: &[f64]) -> Value {
    Tensor::rounded(dtype, shape.to_vec(), values).expect("a test tensor").into()
}

pub(super) fn float(v: f64) -> Value {
    Attr::float(v).into()
}

pub(super) fn int(v: i64) -> Value {
    Attr::int(v).into()
}

pub(super) fn ints(v: &[i64]) -> Value {
    Attr::List(v.iter().map(|n| Attr::int(*n)).collect()).into()
}

pub(super) fn flag(b: bool) -> Value {
    Attr::Bool(b).into()
}

pub(super) fn none() -> Value {
    Attr::None.into()
}

pub(super) fn dtype(d: Dtype) -> Value {
    Attr::Dtype(d).into()
}

/// `bf16[2, 2] 1 2 | 3 4`, or the error.
pub(super) fn show(result: EvalResult<Value>) -> String {
    match result {
        Ok(v) => text(&v),
        Err(e) => format!("error: {e}"),
    }
}

fn text(v: &Value) -> String {
    match v {
        Value::Tensor(t) => {
            let row = t.shape.last().copied().unwrap_or(1).max(1);
            let line = |r: &[f64]| r.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
            let rows: Vec<_> = t.data.chunks(row).map(line).collect();
            format!("{} {}", t.ty(), rows.join(" | "))
        }
        Value::Attr(a) => a.to_string(),
        Value::List(l) | Value::Tuple(l) => l.iter().map(text).collect::<Vec<_>>().join("; "),
    }
}

/// Both the same, bit for bit; the first difference otherwise.
pub(super) fn assert_same(got: &Value, want: &Tensor, what: &str) {
    let got = got.tensor().expect("a tensor");
    assert_eq!((got.dtype, &got.shape), (want.dtype, &want.shape), "{what}");
    for (i, (g, w)) in got.data.iter().zip(&want.data).enumerate() {
        assert!(crate::numerics::same(*g, *w), "{what}: element {i} is {g:?}, expected {w:?}");
    }
}

/// The results of an op with several.
pub(super) fn results(v: Value) -> Vec<Value> {
    match v {
        Value::Tuple(parts) => parts,
        one => vec![one],
    }
}
