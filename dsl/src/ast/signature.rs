//! Signatures and types.

use super::{Expr, Name, join};
use crate::source::Span;

/// The typed outside of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    /// `<T: bf16 | f16, Q: quantizer>`
    pub generics: Vec<Generic>,
    /// Operands and attributes.
    pub params: Vec<Param>,
    /// `..` as the last parameter: more operands of any type may follow.
    pub rest: Option<Span>,
    /// What stands after `->`; empty without an arrow.
    pub results: Vec<ResultDecl>,
    /// From `->` to the last result; `None` without an arrow.
    pub results_span: Option<Span>,
    /// The `where` conjunction.
    pub guards: Vec<Expr>,
    /// From `(` to `)` of the parameters.
    pub params_span: Span,
}

/// `T: bf16 | f16`, `Q: quantizer`, `C`
#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    /// The variable.
    pub name: Name,
    /// Alternatives: dtypes, dtype classes, or one family. Empty is no bound.
    pub class: Vec<Name>,
    /// The whole.
    pub span: Span,
}

/// `x: T[n, d]? = none`
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Ty,
    /// A `?` after the type.
    pub optional: bool,
    /// After `=`.
    pub default: Option<Expr>,
    /// The whole.
    pub span: Span,
}

/// One result after `->`.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultDecl {
    /// `-> T[n, d]`: one result without a name.
    Type(Ty),
    /// `-> (y: T[n, d], h)`, `-> y`.
    Named {
        /// Its name.
        name: Name,
        /// Its type, unless left to inference.
        ty: Option<Ty>,
    },
    /// `Q.results`: the results of the member that the family variable stands for.
    Family {
        /// The family variable.
        var: Name,
        /// With `.results`.
        span: Span,
    },
}

impl ResultDecl {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            ResultDecl::Type(ty) => ty.span,
            ResultDecl::Named { name, ty: None } => name.span,
            ResultDecl::Named { name, ty: Some(ty) } => join(name.span, ty.span),
            ResultDecl::Family { span, .. } => *span,
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Ty {
    /// What it is.
    pub kind: TyKind,
    /// Where it stands.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TyKind {
    /// `_`
    Any,
    /// A word without brackets: `int`, `f64`, `bool`, `dtype`, `ints`, `tensors`, `group`,
    /// `opaque`, an enum, or a family variable. The span is the type's.
    Word(String),
    /// `T[b.., n, 2*d]`, with or without `strided(..)`.
    Tensor(TensorTy),
    /// `state`, `state C[..]`.
    State(Option<TensorTy>),
}

/// `T[b.., n, 2*d] strided(d + pad)`
#[derive(Clone, Debug, PartialEq)]
pub struct TensorTy {
    /// A dtype, a generic, or `_`.
    pub dtype: Name,
    /// `..` or `b..` before the other dimensions.
    pub leading: Option<Leading>,
    /// The other dimensions.
    pub dims: Vec<Expr>,
    /// Arguments of `strided(..)`; `None` is contiguous.
    pub strided: Option<Vec<Expr>>,
    /// The whole.
    pub span: Span,
}

/// Any number of leading dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Leading {
    /// The name in `b..`; `None` for `..`.
    pub name: Option<Name>,
    /// The whole.
    pub span: Span,
}
