//! Fusions and their kernels.

use super::body::{Builder, Place, Resolved};
use super::instances::{instances, members};
use super::ops::doc;
use super::rigid::Rigid;
use super::rules::{finish_rule, is_operation, mentions, unnamed, unused};
use super::scope::{Scope, World};
use super::typing::{self, Typed};
use super::{binds, consts, has_errors, inherit};
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Attr, Fusion, Kernel};

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

/// Kernel templates a fusion may name. Those without CUDA of their own yet are bound in the graph
/// and say so when they are built.
pub(super) const TEMPLATES: &[&str] = &[
    "allreduce",
    "attention",
    "gemm_collective",
    "headwise",
    "kv_write",
    "pointwise",
    "quantize",
    "rowwise",
];

fn unknown_template(name: &ast::Name) -> Diagnostic {
    let message = format!("no kernel template `{}`", name.text);
    Diagnostic::new(Code::UnknownName, name.span, message)
        .label("not one of the CUDA backend's templates")
        .note(format!("there are {}", TEMPLATES.join(", ")))
        .did_you_mean(name.as_str(), name.span, TEMPLATES.iter().copied())
}

fn kernel(
    scope: &mut Scope<'_>,
    item: &ast::Fusion,
    errors: &mut Vec<Diagnostic>,
) -> Option<Kernel> {
    let Some(k) = &item.kernel else { return Some(Kernel::Auto) };
    match &k.kind {
        ast::KernelKind::Template(name) => {
            if !TEMPLATES.contains(&name.as_str()) {
                errors.push(unknown_template(name));
                return None;
            }
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
    let vars = binds::Vars { scope, names: &names, results: &results };
    let args = binds::torch_args(&vars, &call.args, errors)?;
    let passed = binds::variables(&args);
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
