//! Building signatures: generics, parameters, types, results, guards.

use super::Rule;
use super::build::{Build, P};
use crate::ast::*;

/// What stands before an item's braces.
pub(super) struct Head {
    pub name: Name,
    pub sig: Signature,
    pub markers: Vec<Marker>,
    pub approx: Option<Approx>,
    pub variant: bool,
}

impl Build<'_> {
    pub fn head(&mut self, p: P<'_>) -> Option<Head> {
        let of_op = p.as_rule() == Rule::op_head;
        let (mut name, mut approx, mut variant) = (None, None, false);
        let (mut sig, mut markers) = (Signature::default(), Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                Rule::kw_variant => variant = true,
                Rule::approx => approx = Some(self.approx(c)?),
                Rule::generics => sig.generics = self.generics(c)?,
                Rule::params => {
                    sig.params_span = self.span(&c);
                    (sig.params, sig.rest) = self.params(c)?;
                }
                Rule::results => {
                    sig.results_span = Some(self.span(&c));
                    sig.results = self.results(c, of_op)?;
                }
                Rule::guards => sig.guards = self.exprs(c)?,
                Rule::marker => markers.push(self.marker(c)?),
                _ => {}
            }
        }
        Some(Head { name: name?, sig, markers, approx, variant })
    }

    fn marker(&self, p: P<'_>) -> Option<Marker> {
        let span = self.span(&p);
        let kind = match p.into_inner().next()?.as_rule() {
            Rule::kw_primitive => MarkerKind::Primitive,
            Rule::kw_opaque => MarkerKind::Opaque,
            Rule::kw_collective => MarkerKind::Collective,
            _ => MarkerKind::Commutative,
        };
        Some(Marker { kind, span })
    }

    fn approx(&mut self, p: P<'_>) -> Option<Approx> {
        let span = self.span(&p);
        let (mut bound, mut unit) = (None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::expr => bound = Some(self.expr(c)?),
                Rule::ident => unit = Some(self.name(&c)),
                _ => {}
            }
        }
        Some(Approx { bound: bound?, unit: unit?, span })
    }

    fn generics(&mut self, p: P<'_>) -> Option<Vec<Generic>> {
        p.into_inner()
            .map(|g| {
                let span = self.span(&g);
                let mut names = self.names(g).into_iter();
                Some(Generic { name: names.next()?, class: names.collect(), span })
            })
            .collect()
    }

    /// Parameters, and the `..` after them.
    pub fn params(&mut self, p: P<'_>) -> Option<(Vec<Param>, Option<crate::source::Span>)> {
        let (mut params, mut rest) = (Vec::new(), None);
        for c in p.into_inner() {
            if let Some(at) = rest {
                self.syntax(at, "`..` stands after the last parameter");
            }
            match c.as_rule() {
                Rule::rest => rest = Some(self.span(&c)),
                _ => params.push(self.param(c)?),
            }
        }
        Some((params, rest))
    }

    fn param(&mut self, p: P<'_>) -> Option<Param> {
        let span = self.span(&p);
        let (mut name, mut ty, mut optional, mut default) = (None, None, false, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                Rule::ty => ty = Some(self.ty(c)?),
                Rule::opt => optional = true,
                _ => default = Some(self.expr(c)?),
            }
        }
        Some(Param { name: name?, ty: ty?, optional, default, span })
    }

    /// A lone word after `->` is the result's type in an op, its name elsewhere.
    fn results(&mut self, p: P<'_>, of_op: bool) -> Option<Vec<ResultDecl>> {
        p.into_inner()
            .map(|c| match c.as_rule() {
                Rule::member_results => self.member_results(c),
                Rule::result => self.result(c),
                _ => {
                    let ty = self.ty(c)?;
                    Some(match ty.kind {
                        TyKind::Word(text) if !of_op => {
                            ResultDecl::Named { name: Name { text, span: ty.span }, ty: None }
                        }
                        _ => ResultDecl::Type(ty),
                    })
                }
            })
            .collect()
    }

    fn member_results(&mut self, p: P<'_>) -> Option<ResultDecl> {
        let span = self.span(&p);
        let var = p.into_inner().next().map(|v| self.name(&v))?;
        Some(ResultDecl::Family { var, span })
    }

    fn result(&mut self, p: P<'_>) -> Option<ResultDecl> {
        let (mut name, mut ty) = (None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::member_results => return self.member_results(c),
                Rule::ident => name = Some(self.name(&c)),
                _ => ty = Some(self.ty(c)?),
            }
        }
        Some(ResultDecl::Named { name: name?, ty })
    }

    pub fn ty(&mut self, p: P<'_>) -> Option<Ty> {
        let span = self.span(&p);
        let (mut state, mut tensor, mut kind) = (false, None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::kw_state => state = true,
                Rule::tensor => tensor = Some(self.tensor(c)?),
                Rule::any => kind = Some(TyKind::Any),
                _ => kind = Some(TyKind::Word(self.name(&c).text)),
            }
        }
        let kind = match (state, tensor) {
            (true, tensor) => TyKind::State(tensor),
            (false, Some(tensor)) => TyKind::Tensor(tensor),
            (false, None) => kind?,
        };
        Some(Ty { kind, span })
    }

    fn tensor(&mut self, p: P<'_>) -> Option<TensorTy> {
        let span = self.span(&p);
        let (mut dtype, mut leading, mut dims, mut strided) = (None, None, Vec::new(), None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::dims => (leading, dims) = self.dims(c)?,
                Rule::strided => strided = Some(self.exprs(c)?),
                _ => dtype = Some(self.name(&c)),
            }
        }
        Some(TensorTy { dtype: dtype?, leading, dims, strided, span })
    }

    fn dims(&mut self, p: P<'_>) -> Option<(Option<Leading>, Vec<Expr>)> {
        let (mut leading, mut dims) = (None, Vec::new());
        for (i, c) in p.into_inner().enumerate() {
            if c.as_rule() != Rule::leading {
                dims.push(self.expr(c)?);
                continue;
            }
            let span = self.span(&c);
            if i > 0 {
                let text = self.text(span).to_string();
                let error = self.syntax(span, format!("`{text}` must come first in a shape"));
                error.notes.push("it stands for all dimensions before the others".into());
            }
            leading = Some(Leading { name: self.names(c).pop(), span });
        }
        Some((leading, dims))
    }
}
