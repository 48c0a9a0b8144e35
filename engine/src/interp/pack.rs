//! Primitives that look at bytes: bit casts, four-bit packing, tiles of scale factors.

use super::domain::Domain;
use super::tensor::Tensor;
use super::value::{EvalError, EvalResult, Value};
use fusec_dsl::dtype::Dtype;

/// The same bytes under another element type; the last axis scales with the size.
pub(super) fn bitcast<D: Domain>(
    d: &D,
    x: &Tensor<D::Elem>,
    to: Dtype,
) -> EvalResult<Value<D::Elem>> {
    let (have, want) = (x.dtype.bytes() as usize, to.bytes() as usize);
    if x.dtype == Dtype::C64 || to == Dtype::C64 {
        return Err(EvalError::new("complex tensors have no values here"));
    }
    let mut shape = x.shape.clone();
    if have != want {
        let bytes = x.last()? * have;
        if bytes % want != 0 {
            return Err(EvalError::new(format!("{} is no whole number of {to}", x.ty())));
        }
        shape.pop();
        shape.push(bytes / want);
    }
    let mut data = Vec::new();
    for parts in x.data.chunks_exact((want / have).max(1)) {
        d.bitcast(x.dtype, to, parts, &mut data);
    }
    Tensor::new(to, shape, data).map(Value::from)
}

/// Rounds to e2m1 and packs two a byte, the earlier in the low half.
pub(super) fn pack_e2m1<D: Domain>(d: &D, x: &Tensor<D::Elem>) -> EvalResult<Value<D::Elem>> {
    let last = x.last()?;
    if x.dtype != Dtype::F32 || last % 2 != 0 {
        return Err(EvalError::new(format!(
            "expected f32 with an even last axis, found {}",
            x.ty()
        )));
    }
    let mut shape = x.shape.clone();
    shape.pop();
    shape.push(last / 2);
    let data = x.data.chunks_exact(2).map(|p| d.pack_e2m1(p[0], p[1])).collect();
    Ok(Tensor { dtype: Dtype::U8, shape, data }.into())
}

/// Block scale factors in tiles of 128 rows by 4, four to an i32; 0 outside the matrix.
pub(super) fn swizzle_128x4<D: Domain>(d: &D, s: &Tensor<D::Elem>) -> EvalResult<Value<D::Elem>> {
    let (Dtype::F8E4M3, &[rows, blocks]) = (s.dtype, &s.shape[..]) else {
        return Err(EvalError::new(format!("expected f8e4m3fn[n, k], found {}", s.ty())));
    };
    let (tall, wide) = (rows.next_multiple_of(128), blocks.div_ceil(4));
    let mut bytes = vec![d.number(s.dtype, 0.0); tall * wide * 4];
    for r in 0..rows {
        for k in 0..blocks {
            let tile = (r / 128) * wide + k / 4;
            let place = tile * 512 + (r % 32) * 16 + ((r / 32) % 4) * 4 + k % 4;
            bytes[place] = s.data[r * blocks + k];
        }
    }
    bitcast(d, &Tensor::new(s.dtype, vec![tall, wide * 4], bytes)?, Dtype::I32)
}
