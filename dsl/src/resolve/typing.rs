//! Types of bodies, with dimensions symbolic and generics at representative dtypes.

use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::infer::{self, Bindings};
use crate::library::{
    Attr, BinOp, Body, BodyKind, GuardExpr, Meaning, OpId, Param, Scalar, Signature, TypeExpr,
};
use crate::source::Span;
use crate::types::Type;
use std::sync::Arc;

/// Combinations of dtypes that are tried for one item.
const MAX_COMBINATIONS: usize = 16;

/// A type for each parameter, dimensions as symbols, or `None` where a value decides.
fn rigid(sig: &Signature, dtypes: &[(String, Dtype)]) -> (Bindings, Vec<Option<Type>>) {
    let mut b = Bindings::default();
    b.dtypes.extend(dtypes.iter().cloned());
    for p in &sig.params {
        if let TypeExpr::Tensor(t) | TypeExpr::State(t) = &p.ty
            && let Some(name) = t.leading.as_ref().filter(|n| !n.is_empty())
        {
            let single = sig.guards.iter().any(|g| is_single(&g.expr, &sig.params, &p.name));
            let sizes = if single { Vec::new() } else { vec![Dim::sym(&format!("{name}.."))] };
            b.leading.insert(name.clone(), sizes);
        }
        if let TypeExpr::Scalar(Scalar::Int) = p.ty {
            b.dims.insert(p.name.as_str().into(), Dim::sym(&p.name));
        }
    }
    assume_multiples(sig, &mut b);
    let types = sig
        .params
        .iter()
        .map(|p| match &p.ty {
            TypeExpr::Scalar(Scalar::Int) => Some(Type::Attr(Attr::Int(Dim::sym(&p.name)))),
            TypeExpr::Scalar(Scalar::Float) => Some(Type::Attr(Attr::float(1.0))),
            TypeExpr::Scalar(Scalar::Bool) => Some(Type::Attr(Attr::Bool(true))),
            TypeExpr::Scalar(Scalar::Group) => {
                Some(Type::Attr(Attr::Group(p.name.as_str().into())))
            }
            TypeExpr::Scalar(Scalar::Enum(_)) => Some(Type::Attr(Attr::Str("".into()))),
            TypeExpr::Tensor(_) | TypeExpr::State(_) => {
                b.apply(&p.ty).ok().filter(|t| *t != Type::Unknown)
            }
            _ => None,
        })
        .collect();
    (b, types)
}

/// `numel(p) == 1` for this parameter.
fn is_single(e: &GuardExpr, params: &[Param], name: &str) -> bool {
    let GuardExpr::Bin(BinOp::Eq, a, b) = e else { return false };
    let GuardExpr::Call(f, args) = &**a else { return false };
    let of = match args.as_slice() {
        [GuardExpr::Param(i)] => params.get(*i).is_some_and(|p| p.name == name),
        _ => false,
    };
    f == "numel" && of && **b == GuardExpr::Const(Attr::int(1))
}

/// A guard `d % m == 0` makes `d` a multiple: `d = m * d'`.
fn assume_multiples(sig: &Signature, b: &mut Bindings) {
    for g in &sig.guards {
        let Some((name, multiple)) = multiple(&g.expr) else { continue };
        let known = b.dims.get(&name).cloned();
        let value = match known {
            None => multiple.mul(&Dim::sym(&format!("{name}'"))),
            // Several multiples: their product is one too.
            Some(d) if d.modulo(&multiple).as_int() == Some(0) => d,
            Some(d) => d.mul(&multiple),
        };
        b.dims.insert(name, value);
    }
}

/// The name and the divisor of `name % divisor == 0`.
fn multiple(e: &GuardExpr) -> Option<(Arc<str>, Dim)> {
    let GuardExpr::Bin(BinOp::Eq, a, b) = e else { return None };
    if **b != GuardExpr::Const(Attr::int(0)) {
        return None;
    }
    match &**a {
        GuardExpr::Dim(d) => d.as_remainder(),
        GuardExpr::Bin(BinOp::Mod, x, m) => match (&**x, &**m) {
            (GuardExpr::Dim(x), GuardExpr::Const(Attr::Int(m)) | GuardExpr::Dim(m)) => {
                Some((x.as_sym()?.into(), m.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

fn combinations(sig: &Signature) -> Vec<Vec<(String, Dtype)>> {
    let mut out = vec![Vec::new()];
    for g in &sig.generics {
        let mut next = Vec::new();
        for chosen in &out {
            for d in g.class.iter() {
                let mut with: Vec<(String, Dtype)> = chosen.clone();
                with.push((g.name.clone(), d));
                next.push(with);
            }
        }
        next.truncate(MAX_COMBINATIONS);
        out = next;
    }
    out
}

/// Type of each node; `Err` at the first that does not type. Unknown types stay unknown.
fn types(
    scope: &Scope<'_>,
    b: &Bindings,
    params: &[Option<Type>],
    body: &Body,
) -> Result<Vec<Option<Type>>, (Span, String)> {
    let mut out: Vec<Option<Type>> = Vec::new();
    for node in &body.nodes {
        let ty = match &node.kind {
            BodyKind::Param(i) => params.get(*i).cloned().flatten(),
            BodyKind::Const(a) => Some(Type::Attr(a.clone())),
            BodyKind::Dim(d) => Some(Type::Attr(Attr::Int(b.dim_value(d)))),
            BodyKind::Generic(g) => b.dtypes.get(g).map(|d| Type::Attr(Attr::Dtype(*d))),
            BodyKind::Proj { of, index } => match &out[*of] {
                Some(Type::Tuple(parts)) => match parts.get(*index) {
                    Some(t) => Some(t.clone()).filter(|t| *t != Type::Unknown),
                    None => {
                        let message =
                            format!("{} results, this is number {}", parts.len(), index + 1);
                        return Err((node.span, message));
                    }
                },
                Some(other) => {
                    return Err((node.span, format!("one result of type {other}, not several")));
                }
                None => None,
            },
            BodyKind::List(items) => {
                let items: Option<Vec<Type>> = items.iter().map(|i| out[*i].clone()).collect();
                items.map(|items| match items.iter().map(|t| t.attr().cloned()).collect() {
                    Some(attrs) => {
                        let attrs: Vec<Attr> = attrs;
                        Type::Attr(Attr::List(attrs.into()))
                    }
                    None => Type::List(items),
                })
            }
            BodyKind::Alt(items) => items.first().and_then(|i| out[*i].clone()),
            BodyKind::Any => None,
            BodyKind::Call { op, args } => {
                let args: Option<Vec<Type>> = args.iter().map(|a| out[*a].clone()).collect();
                match args {
                    None => None,
                    Some(args) => match infer::call(&scope.library, *op, &args) {
                        Ok(t) => Some(t).filter(|t| *t != Type::Unknown),
                        Err(why) => return Err((node.span, why)),
                    },
                }
            }
        };
        out.push(ty);
    }
    Ok(out)
}

fn combination_note(dtypes: &[(String, Dtype)]) -> Option<String> {
    let parts: Vec<String> = dtypes.iter().map(|(g, d)| format!("{g} = {d}")).collect();
    (!parts.is_empty()).then(|| format!("with {}", parts.join(", ")))
}

fn mismatch(span: Span, why: String, dtypes: &[(String, Dtype)]) -> Diagnostic {
    let mut d = Diagnostic::new(Code::TypeMismatch, span, why);
    if let Some(note) = combination_note(dtypes) {
        d = d.note(note);
    }
    d.help("two dimension names are never assumed equal; cast where dtypes differ")
}

/// Whether a body types at every combination of dtypes.
pub fn check_body(scope: &mut Scope<'_>, sig: &Signature, body: &Body) -> bool {
    for dtypes in combinations(sig) {
        let (b, params) = rigid(sig, &dtypes);
        if let Err((span, why)) = types(scope, &b, &params, body) {
            scope.report(mismatch(span, why, &dtypes));
            return false;
        }
    }
    true
}

/// Whether both sides type, and have the same results.
pub fn check_sides(
    scope: &mut Scope<'_>,
    sig: &Signature,
    lhs: &Body,
    rhs: &Body,
    arrow: Span,
) -> bool {
    for dtypes in combinations(sig) {
        let (b, params) = rigid(sig, &dtypes);
        let left = types(scope, &b, &params, lhs);
        let right = types(scope, &b, &params, rhs);
        let (left, right) = match (left, right) {
            (Ok(l), Ok(r)) => (l, r),
            (Err((span, why)), _) | (_, Err((span, why))) => {
                scope.report(mismatch(span, why, &dtypes));
                return false;
            }
        };
        for (l, r) in lhs.results.iter().zip(&rhs.results) {
            if let (Some(a), Some(b)) = (&left[*l], &right[*r])
                && a != b
            {
                let d = Diagnostic::new(
                    Code::TypeMismatch,
                    arrow,
                    format!("the two sides have different types: {a} and {b}"),
                )
                .because(lhs.nodes[*l].span, format!("{a}"))
                .because(rhs.nodes[*r].span, format!("{b}"));
                scope.report(d);
                return false;
            }
        }
    }
    true
}

/// Whether an op's meaning types and yields what is declared.
pub fn check_op(scope: &mut Scope<'_>, op: OpId) {
    let decl = scope.library.op(op).clone();
    let Meaning::Body(body) = &decl.meaning else { return };
    for dtypes in combinations(&decl.sig) {
        let (b, params) = rigid(&decl.sig, &dtypes);
        let types = match types(scope, &b, &params, body) {
            Ok(types) => types,
            Err((span, why)) => {
                scope.report(mismatch(span, why, &dtypes));
                return;
            }
        };
        for (r, declared) in body.results.iter().zip(&decl.sig.results) {
            let want = declared.ty.as_ref().and_then(|t| b.apply(t).ok());
            if let (Some(found), Some(want)) = (&types[*r], want)
                && want != Type::Unknown
                && *found != want
            {
                let d = Diagnostic::new(
                    Code::TypeMismatch,
                    body.nodes[*r].span,
                    format!("the result is {found}, declared is {want}"),
                )
                .because(decl.span, "of this op");
                let note = combination_note(&dtypes);
                scope.report(note.into_iter().fold(d, Diagnostic::note));
                return;
            }
        }
    }
}
