//! States are linear: what writes one takes it and returns the next, so each has one consumer.

use super::body::Resolved;
use super::outcome::operands;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{BodyKind, Ref, TypeExpr};
use crate::source::Span;

/// Reports a state that is consumed twice.
pub(super) fn check(scope: &Scope<'_>, body: &Resolved, errors: &mut Vec<Diagnostic>) {
    let nodes = &body.body.nodes;
    if nodes.iter().any(|n| matches!(n.kind, BodyKind::Alt(_))) {
        // Of alternatives, one is taken.
        return;
    }
    for (r, node) in nodes.iter().enumerate().filter(|(r, _)| is_state(scope, body, *r)) {
        let uses = uses(body, r);
        let [first, second, ..] = uses.as_slice() else { continue };
        let name = match &node.kind {
            BodyKind::Param(i) => scope.sig.params[*i].name.clone(),
            _ => node.name.clone().unwrap_or_else(|| scope.world.text(node.span)),
        };
        errors.push(
            Diagnostic::new(Code::NotLinear, *second, format!("state `{name}` is used twice"))
                .label("the second use")
                .because(*first, "the first use consumes it")
                .help("pass on the state that the first use returns"),
        );
    }
}

fn is_state(scope: &Scope<'_>, body: &Resolved, r: Ref) -> bool {
    let of_call = |call: Ref, index: usize| match &body.body.nodes[call].kind {
        BodyKind::Call { op, .. } => {
            let results = &scope.world.lib.op(*op).sig.results;
            results.get(index).is_some_and(|r| matches!(r.ty, Some(TypeExpr::State(_))))
        }
        _ => false,
    };
    match &body.body.nodes[r].kind {
        BodyKind::Param(i) => matches!(scope.sig.params[*i].ty, TypeExpr::State(_)),
        BodyKind::Call { op, .. } => {
            scope.world.lib.op(*op).sig.results.len() == 1 && of_call(r, 0)
        }
        BodyKind::Proj { of, index } => of_call(*of, *index),
        _ => false,
    }
}

/// Where a value is used, in the order of the text.
fn uses(body: &Resolved, of: Ref) -> Vec<Span> {
    let mut out = Vec::new();
    for (n, node) in body.body.nodes.iter().enumerate() {
        for (i, r) in operands(&node.kind).into_iter().enumerate() {
            if r == of {
                out.push(body.arg_spans[n].get(i).copied().unwrap_or(node.span));
            }
        }
    }
    let results = body.body.results.iter().filter(|r| **r == of);
    out.extend(results.map(|r| body.body.nodes[*r].span));
    out.sort();
    out
}
