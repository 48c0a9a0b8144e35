//! Ops: signatures first, so that every body can call every op, then bodies.

use super::body::{Builder, Place, Resolved};
use super::scope::{Names, Scope, World};
use super::sig::{self, Pick};
use super::{guards, has_errors, inherit, linear, typing, verdicts};
use crate::ast::{self, MarkerKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Body, Meaning, Op, Signature};

/// The text of a doc comment.
pub(super) fn doc(doc: Option<&ast::Doc>) -> String {
    doc.map_or(String::new(), |d| d.text.clone())
}

/// An op of which only the name is known.
pub(super) fn placeholder(op: &ast::Op) -> Op {
    let has = |kind| op.markers.iter().any(|m| m.kind == kind);
    let meaning = match (has(MarkerKind::Primitive), has(MarkerKind::Opaque)) {
        (true, _) => Meaning::Primitive,
        (_, true) => Meaning::Opaque,
        _ if op.body.is_none() && has(MarkerKind::Collective) => Meaning::Primitive,
        _ => Meaning::Body(Body::default()),
    };
    Op {
        name: op.name.text.clone(),
        doc: doc(op.doc.as_ref()),
        span: op.name.span,
        sig: Signature::default(),
        meaning,
        collective: has(MarkerKind::Collective),
        commutative: has(MarkerKind::Commutative),
    }
}

/// Resolves the signature of every op; broken ones are marked.
pub(super) fn signatures(
    world: &mut World<'_>,
    trees: &[&ast::Op],
    errors: &mut Vec<Diagnostic>,
) -> Vec<Names> {
    let mut all = Vec::new();
    for op in trees {
        let names = sig::resolve(world, &op.sig, &Pick::new(), errors).and_then(|mut scope| {
            scope.names.sig.guards = guards::guards(&mut scope, &op.sig.guards, errors)?;
            result_is_declared(op, errors).then_some(scope.names)
        });
        all.push(names);
    }
    for (i, names) in all.iter().enumerate() {
        world.broken_ops[i] = names.is_none();
        if let Some(n) = names {
            world.lib.ops[i].sig = n.sig.clone();
        }
    }
    all.into_iter().map(Option::unwrap_or_default).collect()
}

fn result_is_declared(op: &ast::Op, errors: &mut Vec<Diagnostic>) -> bool {
    let declared = !op.sig.results.is_empty();
    if !declared {
        let message = format!("op `{}` declares no result", op.name.text);
        errors.push(
            Diagnostic::new(Code::MissingResult, op.name.span, message)
                .because(op.sig.params_span, "`-> ..` belongs after the parameters")
                .help("write the result's type: `-> T[b.., d]`"),
        );
    }
    declared
}

/// Resolves the body of every op that has one; broken ops are marked.
pub(super) fn bodies(
    world: &mut World<'_>,
    trees: &[&ast::Op],
    names: &[Names],
    errors: &mut Vec<Diagnostic>,
) -> Vec<Option<Resolved>> {
    let mut all = Vec::new();
    for (i, op) in trees.iter().enumerate() {
        let resolved = match (&world.lib.ops[i].meaning, &op.body) {
            _ if world.broken_ops[i] => None,
            (Meaning::Body(_), Some(block)) => {
                let mut scope = Scope { world, names: names[i].clone() };
                Builder::new(&mut scope, Place::Op, errors).block(block)
            }
            (Meaning::Body(_), None) => {
                no_body(op, errors);
                None
            }
            (_, Some(block)) => {
                needless_body(op, block, errors);
                None
            }
            (_, None) => None,
        };
        all.push(resolved);
    }
    for (i, resolved) in all.iter().enumerate() {
        world.broken_ops[i] |= trees[i].body.is_some() && resolved.is_none();
        if let Meaning::Body(body) = &mut world.lib.ops[i].meaning {
            match resolved {
                Some(r) => *body = r.body.clone(),
                None => world.broken_ops[i] = true,
            }
        }
    }
    all
}

fn no_body(op: &ast::Op, errors: &mut Vec<Diagnostic>) {
    let message = format!("op `{}` has no meaning", op.name.text);
    errors.push(
        Diagnostic::new(Code::MissingResult, op.name.span, message)
            .help("give it a body in braces, or mark it `opaque` after the result type"),
    );
}

fn needless_body(op: &ast::Op, block: &ast::Block, errors: &mut Vec<Diagnostic>) {
    let message = format!("op `{}` has both a body and a marker that denies one", op.name.text);
    let marker = op.markers.first().map_or(op.name.span, |m| m.span);
    errors.push(
        Diagnostic::new(Code::UnusedValue, block.span, message)
            .because(marker, "says that the meaning is not written here")
            .help("remove the body or the marker"),
    );
}

/// Types every body and checks guards; broken ops are marked.
pub(super) fn check(
    world: &mut World<'_>,
    names: &[Names],
    bodies: &[Option<Resolved>],
    errors: &mut Vec<Diagnostic>,
) {
    let mut bad = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        if world.broken_ops[i] {
            continue;
        }
        let scope = Scope { world, names: names[i].clone() };
        let before = errors.len();
        verdicts::report(&[verdicts::of(&scope)], &scope.sig.guards, errors);
        if !matches!(world.lib.ops[i].meaning, Meaning::Primitive) {
            typing::solvable(&scope, &[], errors);
            body.iter().for_each(|b| linear::check(&scope, b, errors));
            let divisions = body.as_ref().map_or(&scope.divisions, |b| &b.divisions);
            typing::divisions(&scope, divisions, errors);
        }
        let fine = !has_errors(&errors[before..]);
        if let Some(body) = body.as_ref().filter(|_| fine)
            && let Some(typed) = typing::op_body(&scope, body, errors)
        {
            inherit::op_guards(&scope, body, &typed, errors);
        }
        if has_errors(&errors[before..]) {
            bad.push(i);
        }
    }
    bad.into_iter().for_each(|i| world.broken_ops[i] = true);
}
