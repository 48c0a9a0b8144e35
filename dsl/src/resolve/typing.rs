//! Types of bodies: sizes stay symbolic, dtype variables and ranks run through what they may be.

use super::body::Resolved;
use super::rigid::Rigid;
use super::scope::{Division, Scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::{Dim, Interval};
use crate::dtype::{Dtype, DtypeSet};
use crate::guard::{self, Facts, Truth};
use crate::infer::{self, Bindings, Fault, FaultKind};
use crate::library::{Attr, BodyKind, GuardExpr, Ref, Scalar, TypeExpr};
use crate::source::Span;
use crate::types::{TensorType, Type};
use std::collections::BTreeMap;

/// One choice of dtypes, ranks and flags.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub bindings: Bindings,
    pub params: Vec<Type>,
}

/// A typed body in one case.
pub(super) struct Typed {
    pub case: Case,
    pub types: Vec<Type>,
    pub rigid: Rigid,
}

/// Nothing is known but bounds on sizes.
pub(super) struct Bounds {
    pub least_leading: i64,
    pub ranges: BTreeMap<String, Interval>,
}

impl Facts for Bounds {
    fn range(&self, symbol: &str) -> Interval {
        if let Some(r) = self.ranges.get(symbol) {
            return *r;
        }
        let lo = if symbol.contains("..") { self.least_leading } else { 1 };
        Interval { lo: Some(lo), hi: None }
    }

    fn global(&self, _: &str, _: &str, _: &[i64]) -> Option<Attr> {
        None
    }

    fn group_size(&self, _: &str) -> Option<i64> {
        None
    }

    fn contiguous(&self, _: usize) -> Option<bool> {
        None
    }
}

/// Combinations beyond this many are not looked at.
const MAX_CASES: usize = 512;

/// Dtypes that stand for a variable without a class.
const TYPICAL: &[Dtype] = &[Dtype::Bf16, Dtype::F32, Dtype::I64, Dtype::F8E4M3, Dtype::B8];

/// What a dtype variable runs through: three of its class tell every two apart, and how they mix.
fn dtypes(class: DtypeSet) -> Vec<Dtype> {
    match class == DtypeSet::ANY {
        true => TYPICAL.to_vec(),
        false => class.iter().take(3).collect(),
    }
}

/// Shapes that stand for `b..`: any one size, none, and, where a guard may ask for it, one element.
fn leading(name: &str, asked: bool) -> Vec<Vec<Dim>> {
    let any = vec![Dim::sym(&format!("{name}.."))];
    if asked { vec![any, vec![], vec![Dim::int(1)]] } else { vec![any, vec![]] }
}

/// Whether a guard calls a function of an operand.
fn asks(e: &GuardExpr) -> bool {
    match e {
        GuardExpr::Call(..) => true,
        GuardExpr::Bin(_, a, b) => asks(a) || asks(b),
        GuardExpr::Not(a) | GuardExpr::Field(a, _) => asks(a),
        _ => false,
    }
}

/// The cases of an item that its own guards do not rule out, the most general rank first.
pub(super) fn cases<'c>(
    scope: &'c Scope<'_>,
    rigid: &'c Rigid,
) -> impl Iterator<Item = Case> + use<'c> {
    let names: Vec<&String> = scope.leading.iter().collect();
    let asked = scope.sig.guards.iter().any(|g| asks(&g.expr));
    let shapes: Vec<_> = names.iter().map(|n| leading(n, asked)).collect();
    let types: Vec<_> = scope.sig.generics.iter().map(|g| dtypes(g.class)).collect();
    let is_bool = |t: &TypeExpr| matches!(t, TypeExpr::Scalar(Scalar::Bool));
    let n_bools = scope.sig.params.iter().filter(|p| is_bool(&p.ty)).count().min(4);
    let counts: Vec<usize> = shapes
        .iter()
        .map(Vec::len)
        .chain(types.iter().map(Vec::len))
        .chain(std::iter::repeat_n(2, n_bools))
        .collect();
    let total = counts.iter().fold(1usize, |n, c| n.saturating_mul(*c)).min(MAX_CASES);
    let bounds = Bounds { least_leading: 2, ranges: BTreeMap::new() };
    (0..total).filter_map(move |k| {
        let mut rest = k;
        let mut digits = vec![0; counts.len()];
        for (digit, count) in digits.iter_mut().zip(&counts).rev() {
            (*digit, rest) = (rest % count, rest / count);
        }
        let (of_shapes, others) = digits.split_at(shapes.len());
        let (of_types, flags) = others.split_at(types.len());
        let mut b = Bindings::default();
        for d in &scope.dims {
            b.dims.insert(d.as_str().into(), rigid.apply(&Dim::sym(d)));
        }
        for ((name, list), i) in names.iter().zip(&shapes).zip(of_shapes) {
            b.leading.insert((*name).clone(), list[*i].clone());
        }
        for ((g, list), i) in scope.sig.generics.iter().zip(&types).zip(of_types) {
            b.dtypes.insert(g.name.clone(), list[*i]);
        }
        let params = params(scope, &b, flags);
        let never = |g| matches!(guard::eval(g, &b, &params, &bounds), Truth::False(_));
        let refuted = scope.sig.guards.iter().any(never);
        (!refuted).then_some(Case { bindings: b, params })
    })
}

/// Types of the parameters; flag 0 is true.
fn params(scope: &Scope<'_>, b: &Bindings, flags: &[usize]) -> Vec<Type> {
    let mut flags = flags.iter();
    let of = |p: &crate::library::Param| match &p.ty {
        TypeExpr::Scalar(Scalar::Int) => Type::Attr(Attr::Int(b.dim_value(&Dim::sym(&p.name)))),
        TypeExpr::Scalar(Scalar::Float) => Type::Attr(Attr::float(1.0)),
        TypeExpr::Scalar(Scalar::Bool) => {
            Type::Attr(Attr::Bool(flags.next().is_none_or(|f| *f == 0)))
        }
        TypeExpr::Scalar(Scalar::Dtype) => Type::Attr(Attr::Dtype(Dtype::F32)),
        TypeExpr::Scalar(Scalar::Group) => Type::Attr(Attr::Group("group".into())),
        TypeExpr::Scalar(Scalar::Opaque) => Type::Attr(Attr::Opaque("opaque".into())),
        TypeExpr::Scalar(Scalar::Enum(_)) => {
            let world = scope.world;
            let values = super::consts::values_of(world, Some(&p.ty));
            values.first().map_or(Type::Unknown, |v| Type::Attr(Attr::Str((*v).into())))
        }
        ty => b.apply(ty).unwrap_or(Type::Unknown),
    };
    scope.sig.params.iter().map(of).collect()
}

fn is_unknown(t: &Type) -> bool {
    match t {
        Type::Unknown => true,
        Type::List(items) | Type::Tuple(items) => items.iter().any(is_unknown),
        _ => false,
    }
}

/// The type of every node of a body, or the first call that does not fit.
pub(super) fn nodes(
    scope: &Scope<'_>,
    body: &Resolved,
    case: &Case,
) -> Result<Vec<Type>, (Ref, Fault)> {
    let mut types: Vec<Type> = Vec::new();
    for (r, node) in body.body.nodes.iter().enumerate() {
        let ty = match &node.kind {
            BodyKind::Param(i) => case.params[*i].clone(),
            BodyKind::Const(a) => Type::Attr(a.clone()),
            BodyKind::Dim(d) => Type::Attr(Attr::Int(case.bindings.dim_value(d))),
            BodyKind::Generic(g) => {
                let dtype = case.bindings.dtypes.get(g);
                dtype.map_or(Type::Unknown, |d| Type::Attr(Attr::Dtype(*d)))
            }
            BodyKind::Any => Type::Unknown,
            BodyKind::List(items) => Type::List(items.iter().map(|i| types[*i].clone()).collect()),
            BodyKind::Alt(items) => alternatives(items, &types).map_err(|f| (r, f))?,
            BodyKind::Proj { of, index } => match &types[*of] {
                Type::Tuple(parts) => parts.get(*index).cloned().unwrap_or(Type::Unknown),
                _ => Type::Unknown,
            },
            BodyKind::Call { op, args } => {
                let args: Vec<Type> = args.iter().map(|a| types[*a].clone()).collect();
                match infer::check(&scope.world.lib, *op, &args) {
                    Ok(t) => t,
                    Err(_) if args.iter().any(is_unknown) => Type::Unknown,
                    Err(fault) => return Err((r, fault)),
                }
            }
        };
        types.push(ty);
    }
    Ok(types)
}

fn alternatives(items: &[Ref], types: &[Type]) -> Result<Type, Fault> {
    let mut known = items.iter().map(|i| &types[*i]).filter(|t| !is_unknown(t));
    let Some(first) = known.next() else { return Ok(Type::Unknown) };
    match known.find(|t| *t != first) {
        Some(other) => {
            Err(Fault::kind(format!("the alternatives have the types {first} and {other}")))
        }
        None => Ok(first.clone()),
    }
}

fn code(kind: FaultKind) -> Code {
    match kind {
        FaultKind::Kind => Code::TypeMismatch,
        FaultKind::Dtype => Code::DtypeMismatch,
        FaultKind::Shape => Code::ShapeMismatch,
        FaultKind::Division => Code::InexactDivision,
    }
}

/// `with T = bf16, W = f32`, and the sizes that guards constrain.
pub(super) fn with(case: &Case) -> Option<String> {
    let dtypes = case.bindings.dtypes.iter().map(|(n, d)| format!("{n} = {d}"));
    let all: Vec<String> = dtypes.collect();
    (!all.is_empty()).then(|| format!("with {}", all.join(", ")))
}

/// Says what does not fit in a call, and where each side comes from.
pub(super) fn fault(
    scope: &Scope<'_>,
    body: &Resolved,
    case: &Case,
    at: Ref,
    fault: &Fault,
) -> Diagnostic {
    let node = &body.body.nodes[at];
    let BodyKind::Call { op, args } = &node.kind else {
        return Diagnostic::new(code(fault.kind), node.span, fault.text.clone());
    };
    let decl = scope.world.lib.op(*op);
    let spans = &body.arg_spans[at];
    let span = fault.operand.and_then(|i| spans.get(i)).copied().unwrap_or(node.span);
    let message = format!("`{}` does not take this: {}", decl.name, fault.text);
    let mut d = Diagnostic::new(code(fault.kind), span, message);
    if let Some(p) = fault.operand.and_then(|i| decl.sig.params.get(i)) {
        let text = format!("declared as `{}`", super::show::param(p));
        d = d.because(p.span, text);
    }
    let types = nodes_before(scope, body, case, at);
    for (arg, arg_span) in args.iter().zip(spans) {
        let Some(t @ Type::Tensor(_)) = types.get(*arg) else { continue };
        match *arg_span == span {
            true => d = d.label(format!("this is {t}")),
            false => d = d.because(*arg_span, format!("this is {t}")),
        }
        if let BodyKind::Param(i) = body.body.nodes[*arg].kind {
            let p = &scope.sig.params[i];
            d = d.because(p.span, format!("`{}` is declared here", p.name));
        }
    }
    let mut seen = Vec::new();
    d.labels.retain(|l| {
        let new = !seen.contains(&(l.span, l.text.clone()));
        seen.push((l.span, l.text.clone()));
        new
    });
    if let Some(text) = with(case) {
        d = d.note(text);
    }
    match fault.kind {
        FaultKind::Division => d.help("say in a `where` what divides the size: `d % 16 == 0`"),
        FaultKind::Dtype => d.help("convert one of them with `cast(.., dtype)`"),
        _ => d,
    }
}

/// Types of the nodes before a call that does not type.
fn nodes_before(scope: &Scope<'_>, body: &Resolved, case: &Case, at: Ref) -> Vec<Type> {
    let mut shorter = body.clone();
    shorter.body.nodes.truncate(at);
    nodes(scope, &shorter, case).unwrap_or_default()
}

/// Types the body of an op in every case and compares its results with the declared ones.
/// Yields the most general case.
pub(super) fn op_body(
    scope: &Scope<'_>,
    body: &Resolved,
    errors: &mut Vec<Diagnostic>,
) -> Option<Typed> {
    let rigid = Rigid::new(&scope.sig);
    let mut first = None;
    for case in cases(scope, &rigid) {
        let types = match nodes(scope, body, &case) {
            Ok(types) => types,
            Err((at, f)) => {
                errors.push(fault(scope, body, &case, at, &f));
                return None;
            }
        };
        if let Some(d) = declared_results(scope, body, &case, &types) {
            errors.push(d);
            return None;
        }
        first.get_or_insert((case, types));
    }
    first.map(|(case, types)| Typed { case, types, rigid })
}

/// A declared result type that is not the value's.
pub(super) fn declared_results(
    scope: &Scope<'_>,
    body: &Resolved,
    case: &Case,
    types: &[Type],
) -> Option<Diagnostic> {
    for (i, (r, decl)) in body.body.results.iter().zip(&scope.sig.results).enumerate() {
        let Some(ty) = &decl.ty else { continue };
        let (Ok(Type::Tensor(want)), found) = (case.bindings.apply(ty), &types[*r]) else {
            continue;
        };
        let found = match found {
            Type::Unknown => continue,
            Type::Tensor(t) if *t == want => continue,
            other => other,
        };
        let span = body.body.nodes[*r].span;
        let at = scope.results.get(i).map_or(span, |r| r.1);
        let kind = mismatch(&want, found);
        let message = format!("the result is {found}, declared as {want}");
        let d = Diagnostic::new(kind, span, message)
            .label(format!("this is {found}"))
            .because(at, format!("declared as `{}`", super::show::type_expr(ty)));
        return Some(match with(case) {
            Some(text) => d.note(text),
            None => d,
        });
    }
    None
}

/// Whether two types differ in dtype or in shape.
pub(super) fn mismatch(want: &TensorType, found: &Type) -> Code {
    match found {
        Type::Tensor(f) if f.shape == want.shape => Code::DtypeMismatch,
        Type::Tensor(_) => Code::ShapeMismatch,
        _ => Code::TypeMismatch,
    }
}

/// Reports sizes that the types of the operands cannot determine. `more` are sizes that the
/// pattern determines besides.
pub(super) fn solvable(scope: &Scope<'_>, more: &[Dim], errors: &mut Vec<Diagnostic>) {
    let mut known: Vec<String> = Vec::new();
    let mut open: Vec<(Dim, Span)> = more.iter().map(|d| (d.clone(), Span::default())).collect();
    for p in &scope.sig.params {
        match &p.ty {
            TypeExpr::Scalar(Scalar::Int) => known.push(p.name.clone()),
            TypeExpr::Tensor(t) | TypeExpr::State(t) => {
                open.extend(t.dims.iter().map(|d| (d.clone(), p.span)));
            }
            _ => {}
        }
    }
    loop {
        let before = known.len();
        for (d, _) in &open {
            let free: Vec<_> =
                d.symbols().into_iter().filter(|s| !known.iter().any(|k| **k == **s)).collect();
            if let [one] = free.as_slice()
                && d.linear_in(one).is_some_and(|(slope, _)| slope != Dim::int(0))
            {
                known.push(one.to_string());
            }
        }
        if known.len() == before {
            break;
        }
    }
    for (d, span) in &open {
        let missing = d.symbols().into_iter().find(|s| !known.iter().any(|k| **k == **s));
        if let Some(name) = missing {
            let message = format!("no operand determines `{name}`");
            errors.push(
                Diagnostic::new(Code::Unbound, *span, message)
                    .label(format!("it occurs in `{d}`"))
                    .help("a size is found from a type in which it is alone, or times a constant"),
            );
            return;
        }
    }
}

/// Reports quotients of sizes that guards do not make exact.
pub(super) fn divisions(scope: &Scope<'_>, list: &[Division], errors: &mut Vec<Diagnostic>) {
    let rigid = Rigid::new(&scope.sig);
    let mut said: Vec<(&Dim, &Dim)> = Vec::new();
    for d in list {
        let (of, by) = (rigid.apply(&d.of), rigid.apply(&d.by));
        let exact = by.as_int() != Some(0) && of.exact_div(&by).is_some();
        let seen = said.contains(&(&d.of, &d.by));
        if exact || seen {
            continue;
        }
        said.push((&d.of, &d.by));
        let message = format!("`{}` may leave a remainder when divided by `{}`", d.of, d.by);
        let error = Diagnostic::new(Code::InexactDivision, d.span, message)
            .note("`/` of sizes is exact; `ceil_div` rounds up");
        errors.push(match d.by.as_int() {
            Some(0) => error.help("divide by something else than zero"),
            _ => error.help(format!("add `where {} % {} == 0`", paren(&d.of), paren(&d.by))),
        });
    }
}

fn paren(d: &Dim) -> String {
    if d.size() > 1 { format!("({d})") } else { d.to_string() }
}
