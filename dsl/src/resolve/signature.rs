//! Signatures: generics, parameters, declared types, results.

use super::dims;
use super::nearest;
use super::scope::Scope;
use crate::ast::{self, TyKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::{Dtype, DtypeSet};
use crate::library::{
    Attr, DtypeExpr, Generic, Param, ResultDecl, Scalar, Signature, TensorExpr, TypeExpr,
};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Names that a signature brings into scope.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Index of each parameter.
    pub params: BTreeMap<String, usize>,
    /// Dtype generics.
    pub generics: BTreeSet<String>,
    /// Dimension names, `int` parameters among them.
    pub dims: BTreeSet<String>,
}

impl Names {
    /// The names of a resolved signature.
    pub fn of(sig: &Signature) -> Names {
        let mut names = Names::default();
        names.generics.extend(sig.generics.iter().map(|g| g.name.clone()));
        for (i, p) in sig.params.iter().enumerate() {
            names.params.insert(p.name.clone(), i);
            match &p.ty {
                TypeExpr::Tensor(t) | TypeExpr::State(t) => {
                    let symbols = t.dims.iter().flat_map(Dim::symbols);
                    names.dims.extend(symbols.map(|s| s.to_string()));
                }
                TypeExpr::Scalar(Scalar::Int) => {
                    names.dims.insert(p.name.clone());
                }
                _ => {}
            }
        }
        names
    }
}

impl Scope<'_> {
    /// Dtype generics of an item; those bound to a family are left to the caller.
    pub fn generics(&mut self, generics: &[ast::Generic]) -> Vec<Generic> {
        let mut out = Vec::new();
        for g in generics {
            if matches!(g.class.as_slice(), [one] if self.families.contains_key(one.as_str())) {
                continue;
            }
            let mut class = if g.class.is_empty() { DtypeSet::ANY } else { DtypeSet::NONE };
            for word in &g.class {
                match DtypeSet::class(word.as_str()) {
                    Some(set) => class = class.union(set),
                    None => self.unknown_type(word.as_str(), word.span),
                }
            }
            out.push(Generic { name: g.name.text.clone(), class });
        }
        out
    }

    fn unknown_type(&mut self, word: &str, span: Span) {
        if self.broken.contains(word) {
            return;
        }
        let classes = ["float", "half", "fp8", "int", "any"];
        let words = ["bool", "dtype", "ints", "tensors", "group", "opaque", "state"];
        let known: Vec<&str> = (Dtype::ALL.iter().map(|d| d.short()))
            .chain(classes)
            .chain(words)
            .chain(self.families.keys().copied())
            .chain(self.enums.keys().copied())
            .collect();
        let near = nearest(word, known.into_iter());
        let mut d = Diagnostic::new(Code::UnknownType, span, format!("unknown type `{word}`"))
            .label("no dtype, class, family or enum of this name");
        d = match near {
            Some(near) => d.help_edit(format!("did you mean `{near}`?"), span, near),
            None => d.help("declare it as a generic, `<T: float>`, or as an `enum`"),
        };
        self.report(d);
    }

    /// One parameter.
    pub fn param(&mut self, p: &ast::Param, generics: &BTreeSet<String>) -> Option<Param> {
        let ty = self.ty(&p.ty, generics)?;
        let default = match &p.default {
            None => None,
            Some(e) => Some(self.constant(e)?),
        };
        Some(Param { name: p.name.text.clone(), ty, default, optional: p.optional, span: p.span })
    }

    /// A type.
    pub fn ty(&mut self, ty: &ast::Ty, generics: &BTreeSet<String>) -> Option<TypeExpr> {
        Some(match &ty.kind {
            TyKind::Any => TypeExpr::Any,
            TyKind::Tensor(t) => TypeExpr::Tensor(self.tensor(t, generics)?),
            TyKind::State(Some(t)) => TypeExpr::State(self.tensor(t, generics)?),
            TyKind::State(None) => TypeExpr::Any,
            TyKind::Word(word) => match word.as_str() {
                "int" => TypeExpr::Scalar(Scalar::Int),
                "f64" => TypeExpr::Scalar(Scalar::Float),
                "bool" => TypeExpr::Scalar(Scalar::Bool),
                "dtype" => TypeExpr::Scalar(Scalar::Dtype),
                "ints" => TypeExpr::Scalar(Scalar::Ints),
                "group" => TypeExpr::Scalar(Scalar::Group),
                "opaque" => TypeExpr::Scalar(Scalar::Opaque),
                "tensors" => TypeExpr::Tensors,
                e if self.enums.contains_key(e) => TypeExpr::Scalar(Scalar::Enum(e.to_string())),
                other => {
                    let other = other.to_string();
                    self.unknown_type(&other, ty.span);
                    return None;
                }
            },
        })
    }

    fn tensor(&mut self, t: &ast::TensorTy, generics: &BTreeSet<String>) -> Option<TensorExpr> {
        let word = t.dtype.as_str();
        let dtype = if word == "_" {
            DtypeExpr::Any
        } else if generics.contains(word) {
            DtypeExpr::Generic(word.to_string())
        } else if let Some(d) = Dtype::from_short(word) {
            DtypeExpr::Is(d)
        } else {
            self.unknown_type(word, t.dtype.span);
            return None;
        };
        let leading =
            t.leading.as_ref().map(|l| l.name.as_ref().map_or(String::new(), |n| n.text.clone()));
        let mut out = Vec::new();
        for e in &t.dims {
            match dims::dim(e, &|_| true) {
                Some(Ok(d)) => out.push(d),
                Some(Err(why)) => {
                    self.report(Diagnostic::new(Code::ShapeMismatch, e.span, why));
                    return None;
                }
                None => {
                    let message = "a dimension is an integer expression over names";
                    self.report(Diagnostic::new(Code::ShapeMismatch, e.span, message));
                    return None;
                }
            }
        }
        Some(TensorExpr { dtype, leading, dims: out })
    }

    /// Declared results, families left out.
    pub fn results(
        &mut self,
        results: &[ast::ResultDecl],
        generics: &BTreeSet<String>,
    ) -> Option<Vec<ResultDecl>> {
        let mut out = Vec::new();
        for r in results {
            match r {
                ast::ResultDecl::Type(ty) => {
                    // A lone word that is no type names a result: `-> y`.
                    let named = match &ty.kind {
                        TyKind::Word(w) if w != "int" && !self.enums.contains_key(w.as_str()) => {
                            Some(w.clone())
                        }
                        _ => None,
                    };
                    out.push(match named {
                        Some(name) => ResultDecl { name, ty: None },
                        None => {
                            ResultDecl { name: String::new(), ty: Some(self.ty(ty, generics)?) }
                        }
                    });
                }
                ast::ResultDecl::Named { name, ty } => {
                    let ty = match ty {
                        None => None,
                        Some(ty) => Some(self.ty(ty, generics)?),
                    };
                    out.push(ResultDecl { name: name.text.clone(), ty });
                }
                ast::ResultDecl::Family { .. } => {}
            }
        }
        Some(out)
    }

    /// A constant attribute: a literal, a dtype, or an enum value.
    pub fn constant(&mut self, e: &ast::Expr) -> Option<Attr> {
        match self.literal(e) {
            Some(a) => Some(a),
            None => {
                let d = Diagnostic::new(Code::TypeMismatch, e.span, "not a constant")
                    .help("use a number, `true`, `none`, a string, a dtype or an enum value");
                self.report(d);
                None
            }
        }
    }

    /// A constant attribute, if it is one.
    pub fn literal(&self, e: &ast::Expr) -> Option<Attr> {
        use ast::ExprKind::*;
        Some(match &e.kind {
            None => Attr::None,
            Bool(b) => Attr::Bool(*b),
            Int { value, .. } => Attr::int((*value)?),
            Float { value, .. } => Attr::float(*value),
            Str(s) => Attr::Str(s.as_str().into()),
            Name(n) => match Dtype::from_short(n) {
                Some(d) => Attr::Dtype(d),
                Option::None if self.enum_values.contains_key(n.as_str()) => {
                    Attr::Str(n.as_str().into())
                }
                Option::None => return Option::None,
            },
            Unary { op: ast::UnaryOp::Neg, of } => match self.literal(of)? {
                Attr::Int(d) => Attr::Int(d.neg()),
                Attr::Float(bits) => Attr::float(-f64::from_bits(bits)),
                _ => return Option::None,
            },
            List(items) => {
                let items: Option<Vec<Attr>> = items.iter().map(|i| self.literal(i)).collect();
                Attr::List(items?.into())
            }
            _ => return Option::None,
        })
    }
}
