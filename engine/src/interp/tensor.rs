//! Dense row-major tensors.

use super::value::{EvalError, EvalResult};
use crate::numerics;
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::types::TensorType;

/// A dense row-major tensor. Elements of the float domain are exact values as `f64`; those of
/// packed types (`f4e2m1fnx2`) are their codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<E = f64> {
    /// Element type.
    pub dtype: Dtype,
    /// One entry an axis.
    pub shape: Vec<usize>,
    /// Elements, last axis fastest.
    pub data: Vec<E>,
}

/// More elements than the interpreter is willing to hold.
const MOST: usize = 1 << 28;

/// Number of elements of a shape, if it is reasonable.
pub(super) fn numel(shape: &[usize]) -> EvalResult<usize> {
    // An empty tensor may have other sizes of any magnitude.
    let some = shape.iter().try_fold(1usize, |n, d| n.checked_mul((*d).max(1)));
    match some.filter(|n| *n <= MOST) {
        Some(_) => Ok(shape.iter().product()),
        None => Err(EvalError::new(format!("a tensor of shape {shape:?} is too large"))),
    }
}

impl<E: Copy> Tensor<E> {
    /// A tensor over these elements; an error when their number does not fit the shape.
    pub fn new(dtype: Dtype, shape: Vec<usize>, data: Vec<E>) -> EvalResult<Tensor<E>> {
        if numel(&shape)? != data.len() {
            return Err(EvalError::new(format!("{} elements do not fill {shape:?}", data.len())));
        }
        Ok(Tensor { dtype, shape, data })
    }

    /// A tensor without axes.
    pub fn scalar(dtype: Dtype, value: E) -> Tensor<E> {
        Tensor { dtype, shape: Vec::new(), data: vec![value] }
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.data.len()
    }

    /// The type, with constant dimensions.
    pub fn ty(&self) -> TensorType {
        let shape = self.shape.iter().map(|n| Dim::int(*n as i64)).collect();
        TensorType { dtype: self.dtype, shape }
    }

    /// An axis counted from either end, checked.
    pub fn axis(&self, axis: i64) -> EvalResult<usize> {
        let rank = self.shape.len() as i64;
        let at = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&at) {
            return Err(EvalError::new(format!("no axis {axis} in {}", self.ty())));
        }
        Ok(at as usize)
    }

    /// Sizes before, at and after an axis.
    pub fn around(&self, axis: usize) -> (usize, usize, usize) {
        let before = self.shape[..axis].iter().product();
        let after = self.shape[axis + 1..].iter().product();
        (before, self.shape[axis], after)
    }

    /// Length of the last axis; an error for a tensor without axes.
    pub fn last(&self) -> EvalResult<usize> {
        let last = self.shape.last().copied();
        last.ok_or_else(|| EvalError::new(format!("{} has no axes", self.ty())))
    }

    /// The same type and shape with other elements.
    pub fn map(&self, f: impl FnMut(E) -> E) -> Tensor<E> {
        let data = self.data.iter().copied().map(f).collect();
        Tensor { dtype: self.dtype, shape: self.shape.clone(), data }
    }
}

impl Tensor<f64> {
    /// Little-endian bytes, as the tensor lies in memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        let width = self.dtype.bytes() as usize;
        let codes = self.data.iter().map(|v| numerics::encode(self.dtype, *v));
        codes.flat_map(|c| c.to_le_bytes().into_iter().take(width)).collect()
    }

    /// From little-endian bytes.
    pub fn from_bytes(dtype: Dtype, shape: Vec<usize>, bytes: &[u8]) -> EvalResult<Tensor> {
        if dtype == Dtype::C64 {
            return Err(EvalError::new("complex tensors have no values here"));
        }
        let width = dtype.bytes() as usize;
        let data = bytes.chunks_exact(width).map(|c| numerics::decode(dtype, from_le(c)));
        let data: Vec<f64> = data.collect();
        if dtype == Dtype::I64 && data.iter().any(|v| v.abs() > numerics::int::EXACT) {
            return Err(EvalError::new("an i64 beyond 2^53 is not held exactly here"));
        }
        Tensor::new(dtype, shape, data)
    }

    /// Rounds the values to the type.
    pub fn rounded(dtype: Dtype, shape: Vec<usize>, values: &[f64]) -> EvalResult<Tensor> {
        Tensor::new(dtype, shape, values.iter().map(|v| numerics::round(dtype, *v)).collect())
    }

    /// Same type, shape and values; any two NaNs are the same, 0 and -0 are not.
    pub fn same(&self, other: &Tensor) -> bool {
        let values = || self.data.iter().zip(&other.data).all(|(a, b)| numerics::same(*a, *b));
        self.dtype == other.dtype && self.shape == other.shape && values()
    }
}

/// Up to eight little-endian bytes as a number.
pub(super) fn from_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |code, b| code << 8 | u64::from(*b))
}
