//! Preconditions are inherited: what an op requires, every use of it requires.

use super::body::Resolved;
use super::rigid::Rigid;
use super::scope::Scope;
use super::show;
use super::typing::{Bounds, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::guard::{self, Truth};
use crate::infer::{self, Bindings};
use crate::library::{Attr, BodyKind, DtypeExpr, Guard, GuardExpr, Op, Ref, TypeExpr};
use crate::source::Span;
use crate::types::Type;
use std::collections::BTreeMap;

/// A guard of an op at one of its calls, not implied by what is known there.
struct Need<'w> {
    op: &'w Op,
    guard: &'w Guard,
    call: Span,
    /// In the caller's names, if it can be said in them.
    here: Option<GuardExpr>,
    /// It can hold for no size.
    never: bool,
}

/// Guards that calls of a body require and the item's own guards do not establish.
fn needs<'w>(scope: &Scope<'w>, body: &Resolved, typed: &Typed) -> Vec<Need<'w>> {
    let mut out = Vec::new();
    let world = scope.world;
    let bounds = Bounds { least_leading: 1, ranges: BTreeMap::new() };
    for node in &body.body.nodes {
        let BodyKind::Call { op, args } = &node.kind else { continue };
        let decl = world.lib.op(*op);
        if decl.sig.guards.is_empty() {
            continue;
        }
        let types: Vec<Type> = args.iter().map(|a| typed.types[*a].clone()).collect();
        let bindings = infer::bindings(&decl.sig, &types).unwrap_or_default();
        let at = Site { scope, body, typed, decl, args, bindings };
        for g in &decl.sig.guards {
            let truth = guard::eval(g, &at.bindings, &types, &bounds);
            if truth == Truth::True {
                continue;
            }
            let here = at.expr(&g.expr);
            let own = scope.sig.guards.iter().any(|o| Some(&o.expr) == here.as_ref());
            if !own {
                let never = matches!(truth, Truth::False(_));
                out.push(Need { op: decl, guard: g, call: node.span, here, never });
            }
        }
    }
    out
}

fn missing(n: &Need<'_>) -> Diagnostic {
    let message = format!("`{}` needs `{}`", n.op.name, n.guard.text);
    Diagnostic::new(Code::MissingGuard, n.call, message)
        .label("nothing here establishes it")
        .because(n.guard.span, "required here")
}

/// Reports guards of the ops that an op's body calls and its own guards do not imply: the meaning
/// of an op is defined wherever the op is.
pub(super) fn op_guards(
    scope: &Scope<'_>,
    body: &Resolved,
    typed: &Typed,
    errors: &mut Vec<Diagnostic>,
) {
    for n in needs(scope, body, typed) {
        let d = missing(&n);
        errors.push(match &n.here {
            Some(e) => d.help(format!("add `where {}`", show::guard(e, &scope.sig))),
            None => d.help("the value it is about has no name outside the body"),
        });
    }
}

/// The guards that a rule inherits from the ops in it. What cannot be said in the rule's own names
/// is an error.
pub(super) fn rule_guards(
    scope: &Scope<'_>,
    body: &Resolved,
    typed: &Typed,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Guard> {
    let mut out: Vec<Guard> = Vec::new();
    for n in needs(scope, body, typed) {
        if n.never {
            errors.push(
                missing(&n)
                    .label("it never holds here")
                    .help("no graph has such sizes: change the rule"),
            );
            continue;
        }
        let Some(expr) = n.here.clone() else {
            errors.push(
                missing(&n).help("it is about a value inside the rule: state it with a `where`"),
            );
            continue;
        };
        if out.iter().any(|g| g.expr == expr) {
            continue;
        }
        let text = show::guard(&expr, &scope.sig);
        let from = Some(n.op.name.clone());
        out.push(Guard { expr, text, span: n.guard.span, from });
    }
    out
}

/// A call of an op with guards.
struct Site<'s, 'w> {
    scope: &'s Scope<'w>,
    body: &'s Resolved,
    typed: &'s Typed,
    decl: &'w Op,
    args: &'s [Ref],
    bindings: Bindings,
}

impl Site<'_, '_> {
    /// A guard of the op in the caller's names.
    fn expr(&self, e: &GuardExpr) -> Option<GuardExpr> {
        Some(match e {
            GuardExpr::Const(_) | GuardExpr::Global(_) => e.clone(),
            GuardExpr::Dim(d) => self.size(&self.bindings.dim_value(d))?,
            GuardExpr::Param(i) => self.param(*i)?,
            GuardExpr::Generic(g) => self.generic(g)?,
            GuardExpr::Field(of, name) => GuardExpr::Field(Box::new(self.expr(of)?), name.clone()),
            GuardExpr::Call(name, args) => self.call(name, args)?,
            GuardExpr::Bin(op, a, b) => {
                GuardExpr::Bin(*op, Box::new(self.expr(a)?), Box::new(self.expr(b)?))
            }
            GuardExpr::Not(inner) => GuardExpr::Not(Box::new(self.expr(inner)?)),
            GuardExpr::Set(items) => {
                GuardExpr::Set(items.iter().map(|i| self.expr(i)).collect::<Option<_>>()?)
            }
        })
    }

    /// A size in the caller's names; `None` if it is made of leading sizes.
    fn size(&self, d: &Dim) -> Option<GuardExpr> {
        let d = self.rigid().back(d);
        if d.as_int().is_some() {
            return Some(GuardExpr::Const(Attr::Int(d)));
        }
        let named = d.symbols().iter().all(|s| self.scope.dims.contains(&**s));
        named.then_some(GuardExpr::Dim(d))
    }

    fn rigid(&self) -> &Rigid {
        &self.typed.rigid
    }

    fn param(&self, i: usize) -> Option<GuardExpr> {
        match &self.body.body.nodes[*self.args.get(i)?].kind {
            BodyKind::Param(j) => Some(GuardExpr::Param(*j)),
            BodyKind::Const(a) => Some(GuardExpr::Const(a.clone())),
            BodyKind::Dim(d) => Some(GuardExpr::Dim(d.clone())),
            BodyKind::Generic(g) => Some(GuardExpr::Generic(g.clone())),
            _ => None,
        }
    }

    /// The caller's dtype behind a dtype variable of the op.
    fn generic(&self, name: &str) -> Option<GuardExpr> {
        for (p, arg) in self.decl.sig.params.iter().zip(self.args) {
            let (TypeExpr::Tensor(t) | TypeExpr::State(t)) = &p.ty else { continue };
            let BodyKind::Param(j) = self.body.body.nodes[*arg].kind else { continue };
            let (TypeExpr::Tensor(own) | TypeExpr::State(own)) = &self.scope.sig.params[j].ty
            else {
                continue;
            };
            if t.dtype != DtypeExpr::Generic(name.into()) {
                continue;
            }
            return match &own.dtype {
                DtypeExpr::Generic(g) => Some(GuardExpr::Generic(g.clone())),
                DtypeExpr::Is(d) => Some(GuardExpr::Const(Attr::Dtype(*d))),
                DtypeExpr::Any => continue,
            };
        }
        None
    }

    fn call(&self, name: &str, args: &[GuardExpr]) -> Option<GuardExpr> {
        let direct: Option<Vec<GuardExpr>> = args.iter().map(|a| self.expr(a)).collect();
        if let Some(args) = direct {
            return Some(GuardExpr::Call(name.into(), args));
        }
        let [GuardExpr::Param(i)] = args else { return None };
        let Type::Tensor(t) = &self.typed.types[*self.args.get(*i)?] else { return None };
        let value = match name {
            "numel" => t.numel(),
            "bytes" => t.bytes(),
            _ => return None,
        };
        // A value inside the rule is as large as some operand, or its size has a name.
        let same = |ty: &Type| match (ty, name) {
            (Type::Tensor(p), "numel") => p.numel() == value,
            (Type::Tensor(p), _) => p.bytes() == value,
            _ => false,
        };
        match self.typed.case.params.iter().position(same) {
            Some(j) => Some(GuardExpr::Call(name.into(), vec![GuardExpr::Param(j)])),
            None => self.size(&value),
        }
    }
}
