//! Declared results of a signature; `Q.results` are those of the member.

use super::scope::ResultFrom;
use super::sig::Signer;
use crate::ast::{self, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{ResultDecl, TypeExpr};
use crate::source::Span;

impl Signer<'_, '_> {
    pub fn results(&mut self, sig: &ast::Signature) {
        for r in &sig.results {
            match r {
                ast::ResultDecl::Type(ty) => {
                    let Some(t) = self.ty(ty, false) else { continue };
                    self.result(String::new(), Some(t), ResultFrom::Last, ty.span);
                }
                ast::ResultDecl::Named { name, ty } => {
                    let t = match ty {
                        None => None,
                        Some(ty) => match self.ty(ty, false) {
                            Some(t) => Some(t),
                            None => continue,
                        },
                    };
                    self.named_result(name, t);
                }
                ast::ResultDecl::Family { var, span } => self.family_results(var, *span),
            }
        }
    }

    fn named_result(&mut self, name: &Name, ty: Option<TypeExpr>) {
        let at = self.scope.sig.results.iter().position(|r| r.name == name.text);
        if let Some(at) = at {
            let (from, first) = self.scope.results[at];
            if from == ResultFrom::Name {
                let message = format!("result `{}` is declared twice", name.text);
                self.errors.push(
                    Diagnostic::new(Code::Duplicate, name.span, message)
                        .because(first, "the first"),
                );
                return;
            }
            // A member's result has the name by chance.
            let param = self.scope.families.keys().next().cloned().unwrap_or_default();
            self.scope.sig.results[at].name = format!("{param}_{}", name.text);
        }
        self.result(name.text.clone(), ty, ResultFrom::Name, name.span);
    }

    fn result(&mut self, name: String, ty: Option<TypeExpr>, from: ResultFrom, span: Span) {
        self.scope.sig.results.push(ResultDecl { name, ty });
        self.scope.results.push((from, span));
    }

    /// `Q.results`
    fn family_results(&mut self, var: &Name, span: Span) {
        let param = self.scope.family_vars.get(&var.text).cloned().unwrap_or_default();
        let Some(used) = self.scope.families.get(&param).cloned() else {
            if self.silent || self.failed.contains(&var.text) {
                self.silent = true;
                return;
            }
            let known = self.scope.family_vars.keys().map(String::as_str);
            let message = format!("no parameter has a family variable `{}`", var.text);
            let error = Diagnostic::new(Code::UnknownType, var.span, message).did_you_mean(
                &var.text,
                var.span,
                known.filter(|k| *k != var.text),
            );
            self.errors.push(error);
            return;
        };
        let results = &self.world().lib.op(used.op).sig.results;
        for r in results {
            let name = if r.name.is_empty() { param.clone() } else { r.name.clone() };
            let taken = self.scope.sig.results.iter().any(|r| r.name == name);
            let name = if taken { format!("{param}_{name}") } else { name };
            self.result(name, None, ResultFrom::Last, span);
        }
    }
}
