//! Dimension expressions: the ones that are integers over dimension names only.

use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::dim::Dim;

/// The value of an expression over integers and names that `known` accepts; `None` if it is
/// anything else.
///
/// # Errors
/// It is a dimension expression with a division that is not exact, or another mistake of its own.
pub fn dim(e: &Expr, known: &dyn Fn(&str) -> bool) -> Option<Result<Dim, String>> {
    match &e.kind {
        ExprKind::Int { value, .. } => Some(value.map(Dim::int).ok_or("a number too large".into())),
        ExprKind::Name(n) if known(n) => Some(Ok(Dim::sym(n))),
        ExprKind::Unary { op: UnaryOp::Neg, of } => Some(dim(of, known)?.map(|d| d.neg())),
        ExprKind::Binary { op, left, right, .. } => {
            let (a, b) = (dim(left, known)?, dim(right, known)?);
            binary(*op, a, b)
        }
        ExprKind::Call { callee, args } => {
            let name = callee.as_name()?;
            let [a, b] = args.as_slice() else { return None };
            let f: fn(&Dim, &Dim) -> Dim = match name {
                "ceil_div" => Dim::ceil_div,
                "round_up" => Dim::round_up,
                "max" => Dim::max_with,
                "min" => Dim::min_with,
                _ => return None,
            };
            let (a, b) = (dim(&a.value, known)?, dim(&b.value, known)?);
            Some(a.and_then(|a| b.map(|b| f(&a, &b))))
        }
        _ => None,
    }
}

fn binary(
    op: BinaryOp,
    a: Result<Dim, String>,
    b: Result<Dim, String>,
) -> Option<Result<Dim, String>> {
    let f = |a: Dim, b: Dim| match op {
        BinaryOp::Add => Ok(a.add(&b)),
        BinaryOp::Sub => Ok(a.sub(&b)),
        BinaryOp::Mul => Ok(a.mul(&b)),
        BinaryOp::Rem if b.as_int() == Some(0) => Err("a division by zero".to_string()),
        BinaryOp::Rem => Ok(a.modulo(&b)),
        // Exact only under a guard such as `d % group == 0`, so it is kept as a floor division.
        _ if b.as_int() == Some(0) => Err("a division by zero".to_string()),
        _ => Ok(a.floor_div(&b)),
    };
    let arithmetic =
        matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem);
    arithmetic.then(|| a.and_then(|a| b.and_then(|b| f(a, b))))
}
