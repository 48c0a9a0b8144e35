//! Rewrites: two sides that have the same names, the same types, and nothing lost between them.

use super::body::{Builder, Place, Resolved};
use super::instances::{instances, members};
use super::ops::doc;
use super::rigid::Rigid;
use super::rules::{finish_rule, is_operation, mentions, params_of, unnamed, unused};
use super::scope::{Scope, World};
use super::typing::{self, Typed};
use super::{consts, has_errors, inherit, linear};
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{BodyKind, BodyNode, Exactness, Rewrite, TypeExpr};

/// Resolves every rewrite.
pub(super) fn rewrites(world: &World<'_>, errors: &mut Vec<Diagnostic>) -> Vec<Rewrite> {
    let mut out = Vec::new();
    for rule in &world.index.rewrites {
        let Some(exactness) = exactness(rule.item.approx.as_ref(), errors) else { continue };
        out.extend(instances(world, &rule.item.sig, errors, &|scope, errors| {
            rewrite(scope, rule.item, rule.pass, exactness, errors)
        }));
    }
    out
}

fn exactness(approx: Option<&ast::Approx>, errors: &mut Vec<Diagnostic>) -> Option<Exactness> {
    let Some(a) = approx else { return Some(Exactness::Exact) };
    let bound = consts::literal(&a.bound).and_then(|v| v.as_f64()).filter(|v| *v >= 0.0);
    if a.unit.text != "ulp" {
        errors.push(
            Diagnostic::new(Code::UnknownType, a.unit.span, format!("no unit `{}`", a.unit.text))
                .help_edit("the unit is `ulp`", a.unit.span, "ulp"),
        );
        return None;
    }
    if bound.is_none() {
        let message = "a bound is a number that is not negative";
        errors.push(Diagnostic::new(Code::TypeMismatch, a.bound.span, message));
    }
    bound.map(Exactness::Ulp)
}

fn rewrite(
    mut scope: Scope<'_>,
    item: &ast::Rewrite,
    pass: Option<&str>,
    exactness: Exactness,
    errors: &mut Vec<Diagnostic>,
) -> Option<Rewrite> {
    let left = if item.both_ways { Place::Right } else { Place::Left };
    let lhs = Builder::new(&mut scope, left, errors).block(&item.lhs);
    let rhs = Builder::new(&mut scope, Place::Right, errors).block(&item.rhs);
    let (lhs, rhs) = (lhs?, rhs?);
    let before = errors.len();
    is_operation(&lhs, errors);
    if item.both_ways {
        is_operation(&rhs, errors);
    }
    bound_on(&scope, item, &lhs, &rhs, errors);
    unused(&scope, &item.sig, &[&lhs, &rhs], errors);
    attributes_kept(&scope, item, &lhs, &rhs, errors);
    same_count(&mut scope, item, &lhs, &rhs, errors);
    if has_errors(&errors[before..]) {
        return None;
    }
    finish_rule(&scope, &lhs, &rhs.divisions, errors);
    linear::check(&scope, &rhs, errors);
    let typed = sides(&scope, item, &lhs, &rhs, errors)?;
    let mut inherited = inherit::rule_guards(&scope, &lhs, &typed.0, errors);
    for g in inherit::rule_guards(&scope, &rhs, &typed.1, errors) {
        if !inherited.iter().any(|o| o.expr == g.expr) {
            inherited.push(g);
        }
    }
    let (mut all, plain) = members(&scope, &item.sig);
    all.extend(plain);
    let name = match all.is_empty() {
        true => item.name.text.clone(),
        false => format!("{}[{}]", item.name.text, all.join(", ")),
    };
    scope.names.sig.guards.extend(inherited);
    Some(Rewrite {
        name,
        doc: doc(item.doc.as_ref()),
        span: item.name.span,
        pass: pass.map(str::to_string),
        sig: scope.names.sig,
        lhs: lhs.body,
        rhs: rhs.body,
        both_ways: item.both_ways,
        exactness,
    })
}

/// Parameters that a side uses and the matched side does not bind.
fn bound_on(
    scope: &Scope<'_>,
    item: &ast::Rewrite,
    lhs: &Resolved,
    rhs: &Resolved,
    errors: &mut Vec<Diagnostic>,
) {
    let mut check = |from: &Resolved, to: &Resolved, side: &str| {
        let bound = params_of(&from.body);
        for n in &to.body.nodes {
            let BodyKind::Param(i) = n.kind else { continue };
            if bound.contains(&i) {
                continue;
            }
            let p = &scope.sig.params[i];
            let message = format!("the {side} side does not determine `{}`", p.name);
            errors.push(
                Diagnostic::new(Code::Unbound, n.span, message)
                    .because(p.span, "declared here")
                    .help("a rule can only use what it matched"),
            );
        }
    };
    check(lhs, rhs, "left");
    if item.both_ways {
        check(rhs, lhs, "right");
    }
}

/// Attributes that the left side matches and the right side never receives: two graphs that differ
/// would become one. A guard on the attribute says that it is looked at.
fn attributes_kept(
    scope: &Scope<'_>,
    item: &ast::Rewrite,
    lhs: &Resolved,
    rhs: &Resolved,
    errors: &mut Vec<Diagnostic>,
) {
    let (left, right) = (params_of(&lhs.body), params_of(&rhs.body));
    for i in left.difference(&right) {
        let p = &scope.sig.params[*i];
        let attribute = matches!(p.ty, TypeExpr::Scalar(_));
        let as_size = |n: &BodyNode| match &n.kind {
            BodyKind::Dim(d) => d.symbols().iter().any(|s| **s == *p.name),
            _ => false,
        };
        let used = rhs.body.nodes.iter().any(as_size);
        let guarded = scope.sig.guards.iter().any(|g| mentions(&g.expr, *i, &p.name));
        if !attribute || used || guarded {
            continue;
        }
        let message = format!("the right side never receives `{}`", p.name);
        errors.push(
            Diagnostic::new(Code::AttributeLost, p.span, message)
                .label("matched on the left")
                .because(item.rhs.span, "nothing here carries it")
                .note("graphs with different values would all match, and become the same")
                .help("pass it on, or fix its value with a `where`"),
        );
    }
}

/// Both sides have the same number of results; without an arrow, that many unnamed ones.
fn same_count(
    scope: &mut Scope<'_>,
    item: &ast::Rewrite,
    lhs: &Resolved,
    rhs: &Resolved,
    errors: &mut Vec<Diagnostic>,
) {
    let (l, r) = (lhs.body.results.len(), rhs.body.results.len());
    if l != r {
        let message = format!("the left side has {l} results, the right side {r}");
        errors.push(
            Diagnostic::new(Code::WrongArguments, item.arrow, message)
                .help("name the results after the parameters: `-> (y, h)`"),
        );
    }
    if scope.sig.results.is_empty() {
        scope.names.sig.results = unnamed(l);
    }
}

/// Types both sides in every case that the left side allows.
fn sides(
    scope: &Scope<'_>,
    item: &ast::Rewrite,
    lhs: &Resolved,
    rhs: &Resolved,
    errors: &mut Vec<Diagnostic>,
) -> Option<(Typed, Typed)> {
    let rigid = Rigid::new(&scope.sig);
    let (mut first, mut wrong) = (None, None);
    for case in typing::cases(scope, &rigid) {
        let left = match typing::nodes(scope, lhs, &case) {
            Ok(types) => types,
            Err((at, f)) => {
                wrong.get_or_insert_with(|| typing::fault(scope, lhs, &case, at, &f));
                continue;
            }
        };
        let right = match typing::nodes(scope, rhs, &case) {
            Ok(types) => types,
            Err((at, f)) => {
                errors.push(typing::fault(scope, rhs, &case, at, &f));
                return None;
            }
        };
        if let Some(d) = different(item, lhs, rhs, &left, &right, &case) {
            errors.push(d);
            return None;
        }
        let typed = |types| Typed { case: case.clone(), types, rigid: rigid.clone() };
        first.get_or_insert((typed(left), typed(right)));
    }
    if first.is_none() {
        errors.extend(wrong);
    }
    first
}

fn different(
    item: &ast::Rewrite,
    lhs: &Resolved,
    rhs: &Resolved,
    left: &[crate::types::Type],
    right: &[crate::types::Type],
    case: &typing::Case,
) -> Option<Diagnostic> {
    use crate::types::Type;
    for (l, r) in lhs.body.results.iter().zip(&rhs.body.results) {
        let (a, b) = (&left[*l], &right[*r]);
        let Type::Tensor(want) = a else { continue };
        if a == b || *b == Type::Unknown {
            continue;
        }
        let message = format!("the left side is {a}, the right side {b}");
        let d = Diagnostic::new(typing::mismatch(want, b), item.arrow, message)
            .label("the sides have different types")
            .because(lhs.body.nodes[*l].span, format!("this is {a}"))
            .because(rhs.body.nodes[*r].span, format!("this is {b}"));
        return Some(match typing::with(case) {
            Some(text) => d.note(text),
            None => d,
        });
    }
    None
}
