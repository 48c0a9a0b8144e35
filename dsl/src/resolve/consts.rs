//! Constants: literals, dtypes and enum values.

use super::scope::World;
use crate::ast::{Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::library::{Attr, Scalar, TypeExpr};

/// The value of a literal, if the expression is one. Names are not literals.
pub(super) fn literal(e: &Expr) -> Option<Attr> {
    Some(match &e.kind {
        ExprKind::None => Attr::None,
        ExprKind::Bool(b) => Attr::Bool(*b),
        ExprKind::Int { value, .. } => Attr::int((*value)?),
        ExprKind::Float { value, .. } => Attr::float(*value),
        ExprKind::Str(s) => Attr::Str(s.as_str().into()),
        ExprKind::List(items) => Attr::List(items.iter().map(literal).collect::<Option<_>>()?),
        ExprKind::Unary { op: UnaryOp::Neg, of } => negate(&literal(of)?)?,
        _ => return None,
    })
}

/// A number with the other sign.
pub(super) fn negate(a: &Attr) -> Option<Attr> {
    match a {
        Attr::Int(d) => Some(Attr::Int(d.neg())),
        Attr::Float(bits) => Some(Attr::float(-f64::from_bits(*bits))),
        _ => None,
    }
}

/// The constant that a name stands for: a dtype, or a value of an enum.
pub(super) fn named(world: &World<'_>, name: &str, ty: Option<&TypeExpr>) -> Option<Attr> {
    let wants_enum = matches!(ty, Some(TypeExpr::Scalar(Scalar::Enum(_))));
    match Dtype::from_short(name) {
        Some(d) if !wants_enum => Some(Attr::Dtype(d)),
        _ => world.index.values.contains(name).then(|| Attr::Str(name.into())),
    }
}

/// A constant expression.
pub(super) fn constant(
    world: &World<'_>,
    e: &Expr,
    ty: Option<&TypeExpr>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Attr> {
    if let Some(a) = literal(e).or_else(|| named(world, e.as_name()?, ty)) {
        return enum_value(world, &a, ty, e, errors).then_some(a);
    }
    if matches!(e.kind, ExprKind::Int { value: None, .. }) {
        return None;
    }
    let known = values_of(world, ty);
    let text = world.text(e.span);
    errors.push(
        Diagnostic::new(Code::UnknownName, e.span, format!("`{text}` is not a constant"))
            .did_you_mean(&text, e.span, known),
    );
    None
}

/// The values of an enum type.
pub(super) fn values_of<'w>(world: &'w World<'_>, ty: Option<&TypeExpr>) -> Vec<&'w str> {
    let Some(TypeExpr::Scalar(Scalar::Enum(name))) = ty else { return Vec::new() };
    let decl = world.index.enums.get(name.as_str());
    decl.map_or(Vec::new(), |e| e.values.iter().map(|v| v.as_str()).collect())
}

/// Reports a value that is not one of the wanted enum's.
pub(super) fn enum_value(
    world: &World<'_>,
    value: &Attr,
    ty: Option<&TypeExpr>,
    e: &Expr,
    errors: &mut Vec<Diagnostic>,
) -> bool {
    let (Attr::Str(s), Some(TypeExpr::Scalar(Scalar::Enum(name)))) = (value, ty) else {
        return true;
    };
    let known = values_of(world, ty);
    if known.contains(&&**s) {
        return true;
    }
    let message = format!("`{s}` is no value of enum `{name}`");
    errors.push(
        Diagnostic::new(Code::TypeMismatch, e.span, message)
            .note(format!("`{name}` has {}", known.join(", ")))
            .did_you_mean(s, e.span, known),
    );
    false
}

/// Whether a constant is a value of an attribute type.
pub(super) fn fits(s: &Scalar, value: &Attr) -> bool {
    match (s, value) {
        (Scalar::Int, Attr::Int(_))
        | (Scalar::Float, Attr::Float(_) | Attr::Int(_))
        | (Scalar::Bool, Attr::Bool(_))
        | (Scalar::Dtype, Attr::Dtype(_))
        | (Scalar::Enum(_), Attr::Str(_))
        | (Scalar::Opaque, _) => true,
        (Scalar::Ints, Attr::List(items)) => items.iter().all(|i| matches!(i, Attr::Int(_))),
        _ => false,
    }
}

/// Arithmetic on two literals, where it has a value.
pub(super) fn fold(op: crate::ast::BinaryOp, a: &Attr, b: &Attr) -> Option<Attr> {
    use crate::ast::BinaryOp::*;
    if !matches!(a, Attr::Float(_)) && !matches!(b, Attr::Float(_)) {
        return None;
    }
    let number = |a: &Attr| match a {
        Attr::Float(_) => a.as_f64(),
        Attr::Int(d) => Dim::as_int(d).map(|v| v as f64),
        _ => None,
    };
    let (x, y) = (number(a)?, number(b)?);
    let value = match op {
        Add => x + y,
        Sub => x - y,
        Mul => x * y,
        Div => x / y,
        _ => return None,
    };
    Some(Attr::float(value))
}
