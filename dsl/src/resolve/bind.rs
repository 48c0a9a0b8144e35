//! Binds: how an op is spelled in PyTorch.

use super::scope::Scope;
use crate::ast::{self, ExprKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Attr, Bind, BindArg, BindValue};

/// Resolves a bind; one [`Bind`] a `torch` line.
pub fn bind(scope: &mut Scope<'_>, b: &ast::Bind) {
    let Some(op) = scope.op_or_report(b.op.as_str(), b.op.span) else { return };
    let sig = scope.library.op(op).sig.clone();
    let mut op_args = Vec::new();
    for e in &b.args {
        match value(scope, e) {
            Some(v) => op_args.push(v),
            None => return,
        }
    }
    if op_args.len() > sig.params.len() {
        let message = format!("`{}` takes {} operands", b.op.text, sig.params.len());
        scope.report(Diagnostic::new(Code::WrongArguments, b.op.span, message));
        return;
    }
    for p in &sig.params[op_args.len()..] {
        match p.default.clone().or(p.optional.then_some(Attr::None)) {
            Some(default) => op_args.push(BindValue::Const(default)),
            None => {
                let message = format!("`{}` needs `{}`", b.op.text, p.name);
                scope.report(
                    Diagnostic::new(Code::WrongArguments, b.op.span, message)
                        .because(p.span, "declared here, without a default"),
                );
                return;
            }
        }
    }
    let results: Vec<String> = b.results.iter().map(|r| r.text.clone()).collect();
    for call in &b.torch {
        let Some(args) = arguments(scope, &call.args, &results) else { continue };
        scope.library.binds.push(Bind {
            op,
            target: call.target.text.clone(),
            op_args: op_args.clone(),
            results: results.clone(),
            args,
            span: call.span,
        });
    }
}

/// Arguments of a torch call.
pub fn arguments(
    scope: &mut Scope<'_>,
    args: &[ast::TorchArg],
    results: &[String],
) -> Option<Vec<BindArg>> {
    let mut out = Vec::new();
    for arg in args {
        let value = match &arg.value {
            Some(e) => value(scope, e)?,
            None => BindValue::Buffer,
        };
        let result = match &arg.out {
            None => None,
            Some(name) => match results.iter().position(|r| *r == name.text) {
                Some(i) => Some(i),
                None => {
                    let message = format!("no result is named `{}`", name.text);
                    scope.report(
                        Diagnostic::new(Code::UnknownName, name.span, message)
                            .help("name the results after `->`"),
                    );
                    return None;
                }
            },
        };
        out.push(BindArg { name: arg.name.as_ref().map(|n| n.text.clone()), value, out: result });
    }
    Some(out)
}

fn value(scope: &mut Scope<'_>, e: &ast::Expr) -> Option<BindValue> {
    if let Some(a) = scope.literal(e) {
        return Some(BindValue::Const(a));
    }
    match &e.kind {
        ExprKind::Name(n) => Some(BindValue::Var(n.clone())),
        ExprKind::Any => Some(BindValue::Buffer),
        ExprKind::List(items) => {
            let items: Option<Vec<BindValue>> = items.iter().map(|i| value(scope, i)).collect();
            Some(BindValue::List(items?))
        }
        _ => {
            scope.report(
                Diagnostic::new(Code::TypeMismatch, e.span, "a bind passes names and constants")
                    .help("compute in the op's meaning instead"),
            );
            None
        }
    }
}
