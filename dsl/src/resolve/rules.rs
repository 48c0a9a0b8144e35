//! What rewrites and fusions have in common: a pattern to start from, and names it binds.

use super::body::Resolved;
use super::outcome::operands;
use super::scope::{Division, Scope};
use super::{linear, typing};
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Body, BodyKind, BodyNode, GuardExpr, Ref, ResultDecl};
use std::collections::BTreeSet;

fn base(body: &Body, mut r: Ref) -> Ref {
    while let BodyKind::Proj { of, .. } = body.nodes[r].kind {
        r = of;
    }
    r
}

/// A pattern starts at an operation that leads to all of its results.
pub(super) fn is_operation(side: &Resolved, errors: &mut Vec<Diagnostic>) {
    let body = &side.body;
    let bases: Vec<Ref> = body.results.iter().map(|r| base(body, *r)).collect();
    for b in &bases {
        let node = &body.nodes[*b];
        if !matches!(node.kind, BodyKind::Call { .. } | BodyKind::Alt(_)) {
            errors.push(
                Diagnostic::new(Code::TypeMismatch, node.span, "a pattern must be an operation")
                    .label("this matches everything")
                    .help("match the op that produces the value"),
            );
            return;
        }
    }
    let reaches_all = |from: Ref| {
        let (mut seen, mut stack) = (vec![false; body.nodes.len()], vec![from]);
        while let Some(r) = stack.pop() {
            if !std::mem::replace(&mut seen[r], true) {
                stack.extend(operands(&body.nodes[r].kind));
            }
        }
        bases.iter().all(|b| seen[*b])
    };
    if !bases.iter().any(|b| reaches_all(*b)) {
        let at = body.nodes[bases[0]].span;
        let message = "no single operation of this pattern leads to all of its results";
        let mut d = Diagnostic::new(Code::Unsupported, at, message);
        for b in &bases[1..] {
            d = d.because(body.nodes[*b].span, "this is computed apart from it");
        }
        errors.push(d.help("split it into two rules"));
    }
}

pub(super) fn params_of(body: &Body) -> BTreeSet<usize> {
    let of = |n: &BodyNode| match n.kind {
        BodyKind::Param(i) => Some(i),
        _ => None,
    };
    body.nodes.iter().filter_map(of).collect()
}

/// Parameters that occur nowhere.
pub(super) fn unused(
    scope: &Scope<'_>,
    sig: &ast::Signature,
    sides: &[&Resolved],
    errors: &mut Vec<Diagnostic>,
) {
    let bound: BTreeSet<usize> = sides.iter().flat_map(|s| params_of(&s.body)).collect();
    for p in &sig.params {
        let used = match scope.families.contains_key(p.name.as_str()) {
            true => scope.called.contains(p.name.as_str()),
            false => scope.param(&p.name.text).is_none_or(|i| bound.contains(&i)),
        };
        if !used {
            let message = format!("the pattern does not contain `{}`", p.name.text);
            errors.push(
                Diagnostic::new(Code::UnusedParameter, p.name.span, message)
                    .help("use it, or remove it: a rule knows only what it matches"),
            );
        }
    }
}

pub(super) fn unnamed(n: usize) -> Vec<ResultDecl> {
    vec![ResultDecl { name: String::new(), ty: None }; n]
}

/// What every rule must satisfy before its bodies are typed.
pub(super) fn finish_rule(
    scope: &Scope<'_>,
    pattern: &Resolved,
    divisions: &[Division],
    errors: &mut Vec<Diagnostic>,
) {
    let of = |n: &BodyNode| match &n.kind {
        BodyKind::Dim(d) => Some(d.clone()),
        _ => None,
    };
    let more: Vec<_> = pattern.body.nodes.iter().filter_map(of).collect();
    linear::check(scope, pattern, errors);
    typing::solvable(scope, &more, errors);
    typing::divisions(scope, divisions, errors);
}

pub(super) fn mentions(e: &GuardExpr, param: usize, name: &str) -> bool {
    match e {
        GuardExpr::Param(i) => *i == param,
        GuardExpr::Dim(d) => d.symbols().iter().any(|s| **s == *name),
        GuardExpr::Bin(_, a, b) => mentions(a, param, name) || mentions(b, param, name),
        GuardExpr::Not(a) | GuardExpr::Field(a, _) => mentions(a, param, name),
        GuardExpr::Call(_, l) | GuardExpr::Set(l) => l.iter().any(|a| mentions(a, param, name)),
        GuardExpr::Const(_) | GuardExpr::Generic(_) | GuardExpr::Global(_) => false,
    }
}
