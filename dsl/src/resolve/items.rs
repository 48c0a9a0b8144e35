//! Items in the order in which they depend on each other: ops, binds, rules, tests.

use super::body::{Builder, Member, Wanted};
use super::expand::{self, Instance};
use super::scope::{Scope, doc};
use super::signature::Names;
use super::typing;
use crate::ast::{self, Item, KernelKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{
    Body, Exactness, Expectation, Fusion, Kernel, Meaning, OpId, Pass, Rewrite, Signature, Test,
};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Signatures of every op, then their meanings.
pub fn ops(scope: &mut Scope<'_>) {
    let declared = scope.ops.clone();
    for op in &declared {
        let sig = op_signature(scope, op).unwrap_or_default();
        scope.declare(op, sig);
    }
    for (i, op) in declared.iter().enumerate() {
        let Some(block) = &op.body else { continue };
        let sig = scope.library.ops[i].sig.clone();
        let names = Names::of(&sig);
        if let Some(body) = op_body(scope, &sig, &names, block, op.name.span) {
            scope.library.ops[i].meaning = Meaning::Body(body);
        }
    }
    cycles(scope);
    for i in 0..declared.len() {
        typing::check_op(scope, OpId(i as u32));
    }
}

fn op_signature(scope: &mut Scope<'_>, op: &ast::Op) -> Option<Signature> {
    let generics = scope.generics(&op.sig.generics);
    let generic_names: BTreeSet<String> = generics.iter().map(|g| g.name.clone()).collect();
    let mut params = Vec::new();
    for p in &op.sig.params {
        params.push(scope.param(p, &generic_names)?);
    }
    let mut sig = Signature { generics, params, ..Signature::default() };
    let names = Names::of(&sig);
    sig.results = scope.results(&op.sig.results, &generic_names)?;
    sig.guards = scope.guards(&op.sig.guards, &names, &BTreeMap::new())?;
    Some(sig)
}

fn op_body(
    scope: &mut Scope<'_>,
    sig: &Signature,
    names: &Names,
    block: &ast::Block,
    span: Span,
) -> Option<Body> {
    let wanted: Vec<Wanted> = sig
        .results
        .iter()
        .map(|r| if r.name.is_empty() { Wanted::Last } else { Wanted::Named(r.name.clone()) })
        .collect();
    let members = BTreeMap::new();
    let mut builder = Builder::new(scope, names, &members, false);
    builder.block(block);
    builder.finish(&wanted, span)
}

/// An op whose meaning leads back to itself becomes opaque, with an error that names the way.
fn cycles(scope: &mut Scope<'_>) {
    let calls = |scope: &Scope<'_>, op: usize| -> Vec<usize> {
        match &scope.library.ops[op].meaning {
            Meaning::Body(body) => body.nodes.iter().filter_map(called).collect(),
            _ => Vec::new(),
        }
    };
    let mut state = vec![0u8; scope.library.ops.len()];
    for start in 0..state.len() {
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        if state[start] == 0 {
            state[start] = 1;
            path.push((start, calls(scope, start)));
        }
        while let Some((op, rest)) = path.last_mut() {
            let op = *op;
            match rest.pop() {
                None => {
                    state[op] = 2;
                    path.pop();
                }
                Some(next) if state[next] == 1 => {
                    let from = path.iter().position(|(o, _)| *o == next).unwrap_or(0);
                    let mut way: Vec<String> = path[from..]
                        .iter()
                        .map(|(o, _)| format!("`{}`", scope.library.ops[*o].name))
                        .collect();
                    way.push(way[0].clone());
                    let span = scope.library.ops[next].span;
                    let message =
                        format!("`{}` is defined by itself", scope.library.ops[next].name);
                    scope.report(
                        Diagnostic::new(Code::Cyclic, span, message)
                            .note(format!("{} leads back", way.join(" uses ")))
                            .help("write one of them in simpler ops, or mark it `opaque`"),
                    );
                    scope.library.ops[next].meaning = Meaning::Opaque;
                }
                Some(next) if state[next] == 0 => {
                    state[next] = 1;
                    let below = calls(scope, next);
                    path.push((next, below));
                }
                Some(_) => {}
            }
        }
    }
}

fn called(node: &crate::library::BodyNode) -> Option<usize> {
    match node.kind {
        crate::library::BodyKind::Call { op, .. } => Some(op.0 as usize),
        _ => None,
    }
}

/// How ops are spelled in PyTorch.
pub fn binds(scope: &mut Scope<'_>) {
    for (_, file) in scope.files.clone() {
        for item in &file.items {
            if let Item::Bind(bind) = item {
                super::bind::bind(scope, bind);
            }
        }
    }
}

/// Passes, rewrites and fusions.
pub fn rules(scope: &mut Scope<'_>) {
    for (pass, file) in scope.files.clone() {
        for item in &file.items {
            match item {
                Item::Pass(p) => {
                    let guards = scope.guards(&p.guards, &Names::default(), &BTreeMap::new());
                    if let Some(guards) = guards {
                        scope.library.passes.push(Pass {
                            name: p.name.text.clone(),
                            doc: doc(&p.doc),
                            span: p.name.span,
                            guards,
                        });
                    }
                }
                Item::Rewrite(r) => rewrite(scope, r, &pass),
                Item::Fusion(f) => fusion(scope, f, &pass),
                _ => {}
            }
        }
    }
}

fn side(
    scope: &mut Scope<'_>,
    instance: &Instance,
    block: &ast::Block,
    pattern: bool,
    span: Span,
) -> Option<Body> {
    let mut builder = Builder::new(scope, &instance.names, &instance.members, pattern);
    builder.block(block);
    builder.finish(&instance.wanted, span)
}

fn rewrite<'a>(scope: &mut Scope<'a>, r: &'a ast::Rewrite, pass: &Option<String>) {
    let exactness = match &r.approx {
        None => Exactness::Exact,
        Some(a) => match scope.constant(&a.bound).and_then(|b| b.as_f64()) {
            Some(ulp) => Exactness::Ulp(ulp),
            None => return,
        },
    };
    let reported = scope.found.len();
    for instance in expand::instances(scope, &r.sig) {
        let lhs = side(scope, &instance, &r.lhs, true, r.name.span);
        let rhs = side(scope, &instance, &r.rhs, r.both_ways, r.name.span);
        let (Some(lhs), Some(rhs)) = (lhs, rhs) else { return };
        let all: Vec<String> = instance.variants.iter().chain(&instance.plain).cloned().collect();
        let name = match all.is_empty() {
            true => r.name.text.clone(),
            false => format!("{}[{}]", r.name.text, all.join(", ")),
        };
        if !typing::check_sides(scope, &instance.sig, &lhs, &rhs, r.arrow) {
            // Instances share their text: the first error speaks for all.
            scope.found.truncate((reported + 1).max(1));
            return;
        }
        scope.library.rewrites.push(Rewrite {
            name,
            doc: doc(&r.doc),
            span: r.name.span,
            pass: pass.clone(),
            sig: instance.sig,
            lhs,
            rhs,
            both_ways: r.both_ways,
            exactness,
        });
    }
}

fn fusion<'a>(scope: &mut Scope<'a>, f: &'a ast::Fusion, pass: &Option<String>) {
    let reported = scope.found.len();
    for instance in expand::instances(scope, &f.sig) {
        let Some(body) = side(scope, &instance, &f.body, true, f.name.span) else { return };
        if !typing::check_body(scope, &instance.sig, &body) {
            scope.found.truncate((reported + 1).max(1));
            return;
        }
        let Some(kernel) = kernel(scope, f.kernel.as_ref(), &instance) else { return };
        scope.library.fusions.push(Fusion {
            name: f.name.text.clone(),
            members: instance.plain.clone(),
            variants: instance.variants.clone(),
            doc: doc(&f.doc),
            span: f.name.span,
            pass: pass.clone(),
            sig: instance.sig,
            body,
            kernel,
        });
    }
}

fn kernel(
    scope: &mut Scope<'_>,
    kernel: Option<&ast::Kernel>,
    instance: &Instance,
) -> Option<Kernel> {
    let Some(kernel) = kernel else { return Some(Kernel::Auto) };
    Some(match &kernel.kind {
        KernelKind::Template(name) => {
            let mut tune = Vec::new();
            for t in &kernel.tune {
                let values: Option<Vec<_>> = t.values.iter().map(|v| scope.constant(v)).collect();
                tune.push((t.name.text.clone(), values?));
            }
            Kernel::Template { name: name.text.clone(), tune, span: kernel.span }
        }
        KernelKind::Extern { call, means } => {
            let args = super::bind::arguments(scope, &call.args, &[])?;
            let means = match means {
                None => None,
                Some(block) => Some(side(scope, instance, block, false, kernel.span)?),
            };
            Kernel::Extern { target: call.target.text.clone(), args, means, span: kernel.span }
        }
    })
}

/// Tests.
pub fn tests(scope: &mut Scope<'_>) {
    for (_, file) in scope.files.clone() {
        for item in &file.items {
            if let Item::Test(t) = item
                && let Some(test) = test(scope, t)
            {
                scope.library.tests.push(test);
            }
        }
    }
}

fn test(scope: &mut Scope<'_>, t: &ast::Test) -> Option<Test> {
    let mut sig = Signature::default();
    for p in &t.inputs {
        sig.params.push(scope.param(p, &BTreeSet::new())?);
    }
    let names = Names::of(&sig);
    let members: BTreeMap<String, Member> = BTreeMap::new();
    let mut builder = Builder::new(scope, &names, &members, false);
    builder.block(&t.body);
    let graph = builder.returns(&t.returns, t.name.span)?;
    let mut expect = Vec::new();
    for f in &t.fires {
        let members: Vec<&str> = f.members.iter().map(ast::Name::as_str).collect();
        let fusion = f.fusion.as_ref().map(|name| match members.is_empty() {
            true => name.text.clone(),
            false => format!("{}[{}]", name.text, members.join(", ")),
        });
        if let Some(name) = &fusion
            && !scope.library.fusions.iter().any(|x| x.label() == *name)
        {
            let message = format!("no fusion is named `{name}`");
            scope.report(Diagnostic::new(Code::UnknownName, f.span, message));
            return None;
        }
        expect.push(Expectation { fusion, times: f.times, span: f.span });
    }
    let (name, span, inputs) = (t.name.text.clone(), t.name.span, sig.params);
    Some(Test { name, span, inputs, graph, expect })
}
