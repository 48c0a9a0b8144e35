//! Binds: how PyTorch spells an op.

use super::consts;
use super::scope::{Scope, World};
use crate::ast::{self, Expr, ExprKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Attr, Bind, BindArg, BindValue, Op, Scalar, Signature, TypeExpr};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What names in torch arguments may mean.
pub(super) struct Vars<'s, 'a> {
    pub scope: &'s Scope<'a>,
    /// Variables of the bind.
    pub names: &'s [String],
    /// Results, for `out`.
    pub results: &'s [String],
}

/// Resolves every bind, sorted by target.
pub(super) fn resolve(world: &World<'_>, errors: &mut Vec<Diagnostic>) -> Vec<Bind> {
    let mut out: Vec<Bind> = Vec::new();
    for tree in &world.index.binds {
        out.extend(bind(world, tree, errors));
    }
    out.sort_by(|a, b| a.target.cmp(&b.target));
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    out.retain(|b| match seen.get(&spelling(b)) {
        None => seen.insert(spelling(b), b.span).is_none(),
        Some(first) => {
            let message = format!("`{}` with these arguments is bound twice", b.target);
            errors.push(
                Diagnostic::new(Code::Duplicate, b.span, message)
                    .because(*first, "the first")
                    .help("one torch call has one meaning: remove one"),
            );
            false
        }
    });
    out
}

/// A torch call with its variables numbered: two with the same spelling match the same nodes.
fn spelling(b: &Bind) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = b.target.clone();
    for a in &b.args {
        text.push_str(&format!(" {}=", a.name.as_deref().unwrap_or("")));
        spell(&a.value, &mut numbers, &mut text);
    }
    text
}

fn spell<'b>(v: &'b BindValue, numbers: &mut BTreeMap<&'b str, usize>, text: &mut String) {
    match v {
        BindValue::Var(name) => {
            let next = numbers.len();
            let n = *numbers.entry(name).or_insert(next);
            text.push_str(&format!("${n}"));
        }
        BindValue::Const(a) => text.push_str(&format!("{a:?}")),
        BindValue::Buffer => text.push_str("out"),
        BindValue::List(items) => {
            text.push('[');
            items.iter().for_each(|i| spell(i, numbers, text));
            text.push(']');
        }
    }
}

fn bind(world: &World<'_>, tree: &ast::Bind, errors: &mut Vec<Diagnostic>) -> Vec<Bind> {
    let Some(op) = world.op(&tree.op, errors) else { return Vec::new() };
    let decl = world.lib.op(op);
    let mut vars = Vec::new();
    let Some(op_args) = op_args(world, tree, decl, &mut vars, errors) else { return Vec::new() };
    let Some(results) = results(tree, decl, errors) else { return Vec::new() };
    let mut scope = Scope::empty(world);
    scope.names.dims = sizes(&decl.sig);
    let mut out = Vec::new();
    for call in &tree.torch {
        let known = Vars { scope: &scope, names: &vars, results: &results };
        let Some(args) = torch_args(&known, &call.args, errors) else { continue };
        if carries_all(tree, call, &vars, &args, errors) {
            out.push(Bind {
                op,
                target: call.target.text.clone(),
                op_args: op_args.clone(),
                results: results.clone(),
                args,
                span: call.span,
            });
        }
    }
    out
}

/// Names of sizes in a signature's parameter types.
fn sizes(sig: &Signature) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for p in &sig.params {
        if let TypeExpr::Tensor(t) | TypeExpr::State(t) = &p.ty {
            out.extend(t.dims.iter().flat_map(|d| d.symbols()).map(|s| s.to_string()));
        }
    }
    out
}

/// Every variable of the head occurs among the torch arguments.
fn carries_all(
    tree: &ast::Bind,
    call: &ast::TorchCall,
    vars: &[String],
    args: &[BindArg],
    errors: &mut Vec<Diagnostic>,
) -> bool {
    let passed = variables(args);
    let missing = vars.iter().find(|v| !passed.contains(v.as_str()));
    if let Some(name) = missing {
        let at = tree.args.iter().find(|a| a.as_name() == Some(name)).map_or(call.span, |a| a.span);
        let message = format!("`{}` has no argument for `{name}`", call.target.text);
        errors.push(
            Diagnostic::new(Code::Unbound, call.span, message)
                .because(at, "a variable of the bind")
                .help("pass it, or write its value in the head of the bind"),
        );
    }
    missing.is_none()
}

/// Variables that occur in torch arguments.
pub(super) fn variables(args: &[BindArg]) -> BTreeSet<&str> {
    fn collect<'b>(v: &'b BindValue, out: &mut BTreeSet<&'b str>) {
        match v {
            BindValue::Var(name) => drop(out.insert(name)),
            BindValue::List(items) => items.iter().for_each(|i| collect(i, out)),
            BindValue::Const(_) | BindValue::Buffer => {}
        }
    }
    let mut out = BTreeSet::new();
    args.iter().for_each(|a| collect(&a.value, &mut out));
    out
}

/// The op's arguments as the head of the bind gives them.
fn op_args(
    world: &World<'_>,
    tree: &ast::Bind,
    decl: &Op,
    vars: &mut Vec<String>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<BindValue>> {
    let n = decl.sig.params.len();
    if let Some(extra) = tree.args.get(n) {
        let given = tree.args.len();
        let plural = if n == 1 { "" } else { "s" };
        let message = format!("`{}` takes {n} argument{plural}, found {given}", decl.name);
        errors.push(
            Diagnostic::new(Code::WrongArguments, extra.span, message)
                .label("one too many")
                .because(decl.span, "declared here"),
        );
        return None;
    }
    let mut out = Vec::new();
    for (i, p) in decl.sig.params.iter().enumerate() {
        let value = match (tree.args.get(i), &p.default) {
            (Some(e), _) => op_arg(world, e, &p.ty, vars, errors)?,
            (None, Some(default)) => BindValue::Const(default.clone()),
            (None, None) if p.optional => BindValue::Const(Attr::None),
            (None, None) => {
                let message = format!("`{}` needs `{}`", decl.name, p.name);
                errors.push(
                    Diagnostic::new(Code::WrongArguments, tree.op.span, message)
                        .label("not given")
                        .because(p.span, "declared here"),
                );
                return None;
            }
        };
        out.push(value);
    }
    Some(out)
}

fn op_arg(
    world: &World<'_>,
    e: &Expr,
    ty: &TypeExpr,
    vars: &mut Vec<String>,
    errors: &mut Vec<Diagnostic>,
) -> Option<BindValue> {
    let Some(name) = e.as_name() else {
        return consts::constant(world, e, Some(ty), errors).map(BindValue::Const);
    };
    let is_value = match ty {
        TypeExpr::Scalar(Scalar::Enum(_)) => consts::values_of(world, Some(ty)).contains(&name),
        TypeExpr::Scalar(Scalar::Dtype) => crate::dtype::Dtype::from_short(name).is_some(),
        _ => false,
    };
    if is_value {
        return consts::named(world, name, Some(ty)).map(BindValue::Const);
    }
    if !vars.iter().any(|v| v == name) {
        vars.push(name.to_string());
    }
    Some(BindValue::Var(name.to_string()))
}

/// Names of the op's results, as the bind gives them.
fn results(tree: &ast::Bind, decl: &Op, errors: &mut Vec<Diagnostic>) -> Option<Vec<String>> {
    let (given, has) = (tree.results.len(), decl.sig.results.len());
    if given == 0 {
        return Some(decl.sig.results.iter().map(|r| r.name.clone()).collect());
    }
    if given != has {
        let plural = if has == 1 { "" } else { "s" };
        let message = format!("`{}` has {has} result{plural}, {given} are named", decl.name);
        errors.push(
            Diagnostic::new(Code::WrongArguments, tree.results[0].span, message)
                .because(decl.span, "declared here"),
        );
        return None;
    }
    Some(tree.results.iter().map(|r| r.text.clone()).collect())
}

/// The arguments of a torch call.
pub(super) fn torch_args(
    vars: &Vars<'_, '_>,
    args: &[ast::TorchArg],
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<BindArg>> {
    let mut out: Vec<BindArg> = Vec::new();
    let mut whole = true;
    for a in args {
        let name = a.name.as_ref().map(|n| n.text.clone());
        if let Some(n) = a.name.as_ref()
            && out.iter().any(|o| o.name.as_deref() == Some(n.as_str()))
        {
            let message = format!("argument `{}` is given twice", n.text);
            errors.push(Diagnostic::new(Code::WrongArguments, n.span, message));
            whole = false;
        }
        let value = match &a.value {
            None => Some(BindValue::Buffer),
            Some(e) => torch_value(vars, e, errors),
        };
        let result = match &a.out {
            None => Some(None),
            Some(n) => result_index(vars, n, errors).map(Some),
        };
        match (value, result) {
            (Some(value), Some(out_index)) => out.push(BindArg { name, value, out: out_index }),
            _ => whole = false,
        }
    }
    whole.then_some(out)
}

fn result_index(
    vars: &Vars<'_, '_>,
    name: &ast::Name,
    errors: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let at = vars.results.iter().position(|r| *r == name.text);
    if at.is_none() {
        let known = vars.results.iter().map(String::as_str).filter(|r| !r.is_empty());
        let message = format!("no result `{}`", name.text);
        let d = Diagnostic::new(Code::UnknownResult, name.span, message)
            .did_you_mean(&name.text, name.span, known);
        errors.push(d.help("name the results in the head: `bind f(x) -> (y, h)`"));
    }
    at
}

fn torch_value(vars: &Vars<'_, '_>, e: &Expr, errors: &mut Vec<Diagnostic>) -> Option<BindValue> {
    let world = vars.scope.world;
    if let Some(a) = consts::literal(e) {
        return Some(BindValue::Const(a));
    }
    match &e.kind {
        ExprKind::Any => Some(BindValue::Buffer),
        ExprKind::List(items) => {
            let items: Vec<_> = items.iter().map(|i| torch_value(vars, i, errors)).collect();
            Some(BindValue::List(items.into_iter().collect::<Option<_>>()?))
        }
        ExprKind::Int { .. } => None,
        ExprKind::Name(name) => {
            if vars.names.contains(name) || vars.scope.dims.contains(name) {
                return Some(BindValue::Var(name.clone()));
            }
            if let Some(a) = consts::named(world, name, None) {
                return Some(BindValue::Const(a));
            }
            let sizes = vars.scope.dims.iter().map(String::as_str);
            let known = vars.names.iter().map(String::as_str).chain(sizes);
            errors.push(
                Diagnostic::new(Code::UnknownName, e.span, format!("no variable `{name}` here"))
                    .label("neither an argument of the op nor a size")
                    .did_you_mean(name, e.span, known),
            );
            None
        }
        _ => {
            let text = world.text(e.span);
            let message = format!("`{text}` is not a variable or a constant");
            errors.push(
                Diagnostic::new(Code::TypeMismatch, e.span, message)
                    .note("a bind passes arguments on; it computes nothing"),
            );
            None
        }
    }
}
