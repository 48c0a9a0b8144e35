//! Rewrites, fusions and passes. A rule with families becomes one instance a combination.

use super::body::{Builder, Place, Resolved, operands};
use super::rigid::Rigid;
use super::scope::{Scope, World};
use super::sig::{self, Pick};
use super::typing::{self, Typed};
use super::verdicts::{self, Verdict};
use super::{consts, guards, has_errors, inherit};
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{
    Attr, Body, BodyKind, BodyNode, Exactness, Fusion, Guard, GuardExpr, Kernel, Pass, Ref,
    ResultDecl, Rewrite, TypeExpr,
};
use std::collections::BTreeSet;

fn doc(doc: Option<&ast::Doc>) -> String {
    doc.map_or(String::new(), |d| d.text.clone())
}

/// Every combination of members, in order.
fn picks(vars: &[(&str, &str, usize)]) -> Vec<Pick> {
    let mut out = vec![Pick::new()];
    for (var, _, n) in vars {
        let longer = |p: &Pick| {
            (0..*n)
                .map(|i| {
                    let mut p = p.clone();
                    p.insert((*var).to_string(), i);
                    p
                })
                .collect::<Vec<_>>()
        };
        out = out.iter().flat_map(longer).collect();
    }
    out
}

/// Builds every instance of a rule. What is wrong with several is said once.
fn instances<'w, T>(
    world: &'w World<'_>,
    sig: &ast::Signature,
    errors: &mut Vec<Diagnostic>,
    build: &dyn Fn(Scope<'w>, &mut Vec<Diagnostic>) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut out = Vec::new();
    let mut seen: Vec<Vec<Verdict>> = Vec::new();
    let mut own: Vec<Guard> = Vec::new();
    for pick in picks(&sig::family_vars(world, sig)) {
        let Some(mut scope) = sig::resolve(world, sig, &pick, &mut found) else { continue };
        let Some(list) = guards::guards(&mut scope, &sig.guards, &mut found) else { continue };
        scope.names.sig.guards = list;
        seen.push(verdicts::of(&scope));
        own.clone_from(&scope.sig.guards);
        out.extend(build(scope, &mut found));
    }
    verdicts::report(&seen, &own, &mut found);
    let broken = has_errors(&found);
    let mut places = BTreeSet::new();
    found.retain(|d| places.insert((d.code, d.span())));
    errors.append(&mut found);
    if broken { Vec::new() } else { out }
}

/// `[rms_norm, quant_nvfp4]`: members of variant families, then of plain ones.
fn members(scope: &Scope<'_>, sig: &ast::Signature) -> (Vec<String>, Vec<String>) {
    let (mut variants, mut members) = (Vec::new(), Vec::new());
    for p in &sig.params {
        let Some(used) = scope.families.get(p.name.as_str()) else { continue };
        let variant = scope.world.families.get(used.family.as_str()).is_some_and(|f| f.ast.variant);
        match variant {
            true => variants.push(used.member.clone()),
            false => members.push(used.member.clone()),
        }
    }
    (variants, members)
}

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

fn base(body: &Body, mut r: Ref) -> Ref {
    while let BodyKind::Proj { of, .. } = body.nodes[r].kind {
        r = of;
    }
    r
}

/// A pattern starts at an operation that leads to all of its results.
fn is_operation(side: &Resolved, errors: &mut Vec<Diagnostic>) {
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

fn params_of(body: &Body) -> BTreeSet<usize> {
    let of = |n: &BodyNode| match n.kind {
        BodyKind::Param(i) => Some(i),
        _ => None,
    };
    body.nodes.iter().filter_map(of).collect()
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

fn mentions(e: &GuardExpr, param: usize, name: &str) -> bool {
    match e {
        GuardExpr::Param(i) => *i == param,
        GuardExpr::Dim(d) => d.symbols().iter().any(|s| **s == *name),
        GuardExpr::Bin(_, a, b) => mentions(a, param, name) || mentions(b, param, name),
        GuardExpr::Not(a) | GuardExpr::Field(a, _) => mentions(a, param, name),
        GuardExpr::Call(_, l) | GuardExpr::Set(l) => l.iter().any(|a| mentions(a, param, name)),
        GuardExpr::Const(_) | GuardExpr::Generic(_) | GuardExpr::Global(_) => false,
    }
}

/// Parameters that occur nowhere.
fn unused(
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

fn unnamed(n: usize) -> Vec<ResultDecl> {
    vec![ResultDecl { name: String::new(), ty: None }; n]
}

/// What every rule must satisfy before its bodies are typed.
fn finish_rule(
    scope: &Scope<'_>,
    pattern: &Resolved,
    divisions: &[super::scope::Division],
    errors: &mut Vec<Diagnostic>,
) {
    let of = |n: &BodyNode| match &n.kind {
        BodyKind::Dim(d) => Some(d.clone()),
        _ => None,
    };
    let more: Vec<_> = pattern.body.nodes.iter().filter_map(of).collect();
    typing::solvable(scope, &more, errors);
    typing::divisions(scope, divisions, errors);
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

/// Resolves every fusion.
pub(super) fn fusions(world: &World<'_>, errors: &mut Vec<Diagnostic>) -> Vec<Fusion> {
    let mut out = Vec::new();
    for rule in &world.index.fusions {
        if let Some(cost) = &rule.item.cost {
            let message = "a `cost` of one's own is not carried out by this version";
            errors.push(
                Diagnostic::new(Code::Unsupported, cost.span, message)
                    .help("remove it: the cost follows from the body"),
            );
            continue;
        }
        out.extend(instances(world, &rule.item.sig, errors, &|scope, errors| {
            fusion(scope, rule.item, rule.pass, errors)
        }));
    }
    out
}

fn fusion(
    mut scope: Scope<'_>,
    item: &ast::Fusion,
    pass: Option<&str>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Fusion> {
    let body = Builder::new(&mut scope, Place::Fusion, errors).block(&item.body)?;
    let before = errors.len();
    is_operation(&body, errors);
    unused(&scope, &item.sig, &[&body], errors);
    if has_errors(&errors[before..]) {
        return None;
    }
    if scope.sig.results.is_empty() {
        scope.names.sig.results = unnamed(body.body.results.len());
    }
    finish_rule(&scope, &body, &body.divisions, errors);
    let typed = typed_fusion(&scope, &body, errors)?;
    let inherited = inherit::rule_guards(&scope, &body, &typed, errors);
    let kernel = kernel(&mut scope, item, errors)?;
    let (variants, members) = members(&scope, &item.sig);
    scope.names.sig.guards.extend(inherited);
    Some(Fusion {
        name: item.name.text.clone(),
        members,
        variants,
        doc: doc(item.doc.as_ref()),
        span: item.name.span,
        pass: pass.map(str::to_string),
        sig: scope.names.sig,
        body: body.body,
        kernel,
    })
}

/// A fusion is a pattern: it must type in some case, the most general one that does.
fn typed_fusion(scope: &Scope<'_>, body: &Resolved, errors: &mut Vec<Diagnostic>) -> Option<Typed> {
    let rigid = Rigid::new(&scope.sig);
    let mut wrong = None;
    for case in typing::cases(scope, &rigid) {
        match typing::nodes(scope, body, &case) {
            Ok(types) => {
                if let Some(d) = typing::declared_results(scope, body, &case, &types) {
                    errors.push(d);
                    return None;
                }
                return Some(Typed { case, types, rigid: rigid.clone() });
            }
            Err((at, f)) => {
                wrong.get_or_insert_with(|| typing::fault(scope, body, &case, at, &f));
            }
        }
    }
    errors.extend(wrong);
    None
}

fn kernel(
    scope: &mut Scope<'_>,
    item: &ast::Fusion,
    errors: &mut Vec<Diagnostic>,
) -> Option<Kernel> {
    let Some(k) = &item.kernel else { return Some(Kernel::Auto) };
    match &k.kind {
        ast::KernelKind::Template(name) => {
            let mut tune = Vec::new();
            for t in &k.tune {
                let values: Option<Vec<Attr>> =
                    t.values.iter().map(|v| tunable(scope.world, v, errors)).collect();
                tune.push((t.name.text.clone(), values?));
            }
            Some(Kernel::Template { name: name.text.clone(), tune, span: k.span })
        }
        ast::KernelKind::Extern { call, means } => external(scope, call, means.as_ref(), errors),
    }
}

/// A value of a tunable: a literal, or a word.
fn tunable(world: &World<'_>, e: &ast::Expr, errors: &mut Vec<Diagnostic>) -> Option<Attr> {
    match e.as_name() {
        Some(word) => Some(Attr::Str(word.into())),
        None => consts::constant(world, e, None, errors),
    }
}

fn external(
    scope: &mut Scope<'_>,
    call: &ast::TorchCall,
    means: Option<&ast::Block>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Kernel> {
    let names: Vec<String> = scope.sig.params.iter().map(|p| p.name.clone()).collect();
    let results: Vec<String> = scope.sig.results.iter().map(|r| r.name.clone()).collect();
    let vars = super::binds::Vars { scope, names: &names, results: &results };
    let args = super::binds::torch_args(&vars, &call.args, errors)?;
    let passed = super::binds::variables(&args);
    for (i, p) in scope.sig.params.iter().enumerate() {
        let guarded = scope.sig.guards.iter().any(|g| mentions(&g.expr, i, &p.name));
        if !passed.contains(p.name.as_str()) && !guarded {
            let message = format!("the kernel never receives `{}`", p.name);
            errors.push(
                Diagnostic::new(Code::AttributeLost, p.span, message)
                    .label("matched here")
                    .because(call.span, "no argument carries it")
                    .help("pass it, or fix its value with a `where`"),
            );
        }
    }
    let means = match means {
        None => None,
        Some(block) => Some(Builder::new(scope, Place::Op, errors).block(block)?.body),
    };
    Some(Kernel::Extern { target: call.target.text.clone(), args, means, span: call.span })
}

/// Resolves every pass header.
pub(super) fn passes(world: &World<'_>, errors: &mut Vec<Diagnostic>) -> Vec<Pass> {
    let mut out = Vec::new();
    for (pass, file_doc) in &world.index.passes {
        let mut scope = Scope::empty(world);
        let Some(guards) = guards::guards(&mut scope, &pass.guards, errors) else { continue };
        out.push(Pass {
            name: pass.name.text.clone(),
            doc: doc(pass.doc.as_ref().or(*file_doc)),
            span: pass.name.span,
            guards,
        });
    }
    out
}
