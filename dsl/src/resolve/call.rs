//! Calls in bodies: which op, which argument goes to which parameter, what is left to defaults.

use super::body::{Builder, Val};
use super::consts;
use crate::ast::{Arg, Expr, ExprKind, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Attr, BodyKind, Meaning, OpId, Param, Ref, Scalar, TypeExpr};
use crate::source::Span;

/// What is called, for messages.
struct Callee<'p> {
    name: &'p str,
    /// Where its parameters are declared.
    span: Span,
    params: &'p [Param],
}

type Slots = Vec<Option<(Ref, Span)>>;

impl<'a> Builder<'_, 'a, '_> {
    pub fn call(&mut self, callee: &Expr, args: &[Arg], span: Span) -> Option<Val> {
        let Some(name) = callee.as_name() else {
            let text = self.scope.world.text(callee.span);
            let message = format!("no op `{text}`");
            let error = Diagnostic::new(Code::UnknownOp, callee.span, message);
            self.errors.push(error.note("fields of `target` are for guards"));
            return None;
        };
        if self.scope.families.contains_key(name) {
            return self.family_call(name, callee.span, args, span);
        }
        if let Some(done) = self.size_function(name, args) {
            return done;
        }
        let head = Name { text: name.to_string(), span: callee.span };
        let Some(op) = self.scope.world.op(&head, self.errors) else {
            // Mistakes inside the arguments are mistakes of their own.
            args.iter().for_each(|a| drop(self.expr(&a.value)));
            return None;
        };
        let decl = self.scope.world.lib.op(op);
        let what = Callee { name, span: decl.span, params: &decl.sig.params };
        let args = self.arguments(&what, args, callee.span)?;
        self.call_node(op, args, span)
    }

    /// `q(y)`: the member's op, the family's parameters first, then the member's own.
    fn family_call(&mut self, name: &str, head: Span, args: &[Arg], span: Span) -> Option<Val> {
        let world = self.scope.world;
        let used = self.scope.families.get(name)?.clone();
        self.scope.called.insert(name.to_string());
        let family = world.families.get(used.family.as_str())?;
        let what = Callee { name, span: family.ast.sig.params_span, params: &family.sig.params };
        let own = self.arguments(&what, args, head)?;
        let decl = world.lib.op(used.op);
        let mut slots: Slots = vec![None; decl.sig.params.len()];
        for (slot, arg) in slots.iter_mut().zip(own) {
            *slot = Some(arg);
        }
        for (k, (param, original)) in used.extras.iter().zip(extra_names(family, &used)).enumerate()
        {
            let named = decl.sig.params.iter().position(|p| p.name == original);
            let at = named.unwrap_or(used.own + k);
            let r = self.param_node(*param, head);
            if let Some(slot) = slots.get_mut(at) {
                *slot = Some((r, head));
            }
        }
        let what = Callee { name: &decl.name, span: decl.span, params: &decl.sig.params };
        let args = self.fill(&what, slots, false, head)?;
        self.call_node(used.op, args, span)
    }

    fn call_node(&mut self, op: OpId, args: Vec<(Ref, Span)>, span: Span) -> Option<Val> {
        let decl = self.scope.world.lib.op(op);
        let (refs, spans): (Vec<Ref>, Vec<Span>) = args.into_iter().unzip();
        let results = match decl.sig.results.len() {
            1 if matches!(decl.meaning, Meaning::Primitive) && decl.name == "split" => {
                refs.get(1).and_then(|r| self.list_len(*r)).unwrap_or(1)
            }
            n => n,
        };
        let call = self.push(BodyKind::Call { op, args: refs }, span, spans);
        let split = decl.name == "split" && matches!(decl.meaning, Meaning::Primitive);
        Some(match results {
            1 if !split => Val::Node(call),
            n => Val::Multi(call, n),
        })
    }

    fn list_len(&self, r: Ref) -> Option<usize> {
        match &self.nodes[r].kind {
            BodyKind::List(items) => Some(items.len()),
            BodyKind::Const(Attr::List(items)) => Some(items.len()),
            _ => None,
        }
    }

    /// One node a parameter.
    fn arguments(
        &mut self,
        callee: &Callee<'_>,
        args: &[Arg],
        head: Span,
    ) -> Option<Vec<(Ref, Span)>> {
        let mut slots: Slots = vec![None; callee.params.len()];
        let (mut next, mut rest, mut whole) = (0, false, true);
        for arg in args {
            if matches!(arg.value.kind, ExprKind::Rest) {
                rest = self.pattern_only(arg.span, "..");
                whole &= rest;
                continue;
            }
            let flag = self.flag(callee, arg);
            let at = match (&arg.name, flag) {
                (Some(name), _) => self.keyword(callee, name),
                (None, Some(at)) => Some(at),
                (None, None) => {
                    next += 1;
                    self.positional(callee, next - 1, arg.span, args.len())
                }
            };
            let value = match flag {
                Some(_) => {
                    let on = BodyKind::Const(Attr::Bool(true));
                    Some(self.push(on, arg.span, Vec::new()))
                }
                None => self.argument(at.and_then(|i| callee.params.get(i)), &arg.value),
            };
            let (Some(at), Some(value)) = (at, value) else {
                whole = false;
                continue;
            };
            if let Some((_, first)) = slots[at].replace((value, arg.value.span)) {
                let message = format!("`{}` is given twice", callee.params[at].name);
                let error = Diagnostic::new(Code::WrongArguments, arg.span, message);
                self.errors.push(error.because(first, "the first"));
                whole = false;
            }
        }
        if !whole {
            return None;
        }
        self.fill(callee, slots, rest, head)
    }

    /// A bare name that is a bool parameter of the callee and nothing here: it means `true`.
    fn flag(&self, callee: &Callee<'_>, arg: &Arg) -> Option<usize> {
        let name = arg.value.as_name().filter(|n| arg.name.is_none() && !self.knows(n))?;
        let is_bool = |p: &Param| matches!(p.ty, TypeExpr::Scalar(Scalar::Bool));
        callee.params.iter().position(|p| p.name == name && is_bool(p))
    }

    fn keyword(&mut self, callee: &Callee<'_>, name: &Name) -> Option<usize> {
        let at = callee.params.iter().position(|p| p.name == name.text);
        if at.is_none() {
            let known = callee.params.iter().map(|p| p.name.as_str());
            let message = format!("`{}` has no parameter `{}`", callee.name, name.text);
            self.errors.push(
                Diagnostic::new(Code::WrongArguments, name.span, message)
                    .because(callee.span, "declared here")
                    .did_you_mean(&name.text, name.span, known),
            );
        }
        at
    }

    fn positional(
        &mut self,
        callee: &Callee<'_>,
        at: usize,
        span: Span,
        given: usize,
    ) -> Option<usize> {
        let n = callee.params.len();
        if at == n {
            let plural = if n == 1 { "" } else { "s" };
            let message = format!("`{}` takes {n} argument{plural}, found {given}", callee.name);
            self.errors.push(
                Diagnostic::new(Code::WrongArguments, span, message)
                    .label("one too many")
                    .because(callee.span, "declared here"),
            );
        }
        (at < n).then_some(at)
    }

    /// One argument; a value of an enum must be one of the parameter's.
    fn argument(&mut self, param: Option<&Param>, e: &Expr) -> Option<Ref> {
        let ty = param.map(|p| &p.ty);
        let wants_enum = matches!(ty, Some(TypeExpr::Scalar(Scalar::Enum(_))));
        if wants_enum && let Some(name) = e.as_name().filter(|n| !self.knows(n)) {
            let known = consts::values_of(self.scope.world, ty);
            let message = format!("no value `{name}` here");
            self.errors.push(
                Diagnostic::new(Code::UnknownName, e.span, message)
                    .note(format!("the enum has {}", known.join(", ")))
                    .did_you_mean(name, e.span, known),
            );
            return None;
        }
        let r = self.value(e)?;
        self.as_float(r, ty);
        if let BodyKind::Const(a) = &self.nodes[r].kind
            && !consts::enum_value(self.scope.world, a, ty, e, self.errors)
        {
            return None;
        }
        self.same_enum(r, ty, e).then_some(r)
    }

    /// A whole number where a double is wanted is a double.
    fn as_float(&mut self, r: Ref, ty: Option<&TypeExpr>) {
        if !matches!(ty, Some(TypeExpr::Scalar(Scalar::Float))) {
            return;
        }
        if let BodyKind::Const(a @ Attr::Int(_)) = &self.nodes[r].kind
            && let Some(v) = a.as_f64()
        {
            self.nodes[r].kind = BodyKind::Const(Attr::float(v));
        }
    }

    /// Reports a parameter of one enum passed where another is wanted.
    fn same_enum(&mut self, r: Ref, ty: Option<&TypeExpr>, e: &Expr) -> bool {
        let Some(TypeExpr::Scalar(Scalar::Enum(wanted))) = ty else { return true };
        let BodyKind::Param(i) = self.nodes[r].kind else { return true };
        let param = &self.scope.sig.params[i];
        match &param.ty {
            TypeExpr::Scalar(Scalar::Enum(found)) if found != wanted => {
                let message = format!("expected a {wanted}, found a {found}");
                let error = Diagnostic::new(Code::TypeMismatch, e.span, message)
                    .because(param.span, format!("`{}` is a {found}", param.name));
                self.errors.push(error);
                false
            }
            _ => true,
        }
    }

    /// Defaults for what is not given.
    fn fill(
        &mut self,
        callee: &Callee<'_>,
        slots: Slots,
        rest: bool,
        head: Span,
    ) -> Option<Vec<(Ref, Span)>> {
        let mut out = Vec::new();
        let mut missing: Vec<&str> = Vec::new();
        for (slot, p) in slots.into_iter().zip(callee.params) {
            let kind = match (&slot, &p.default) {
                (Some(given), _) => {
                    out.push(*given);
                    continue;
                }
                _ if rest => BodyKind::Any,
                (None, Some(value)) => BodyKind::Const(value.clone()),
                (None, None) if p.optional => BodyKind::Const(Attr::None),
                (None, None) => {
                    missing.push(&p.name);
                    continue;
                }
            };
            let r = self.push(kind, head, Vec::new());
            out.push((r, head));
        }
        if missing.is_empty() {
            return Some(out);
        }
        let names: Vec<String> = missing.iter().map(|m| format!("`{m}`")).collect();
        let message = format!("`{}` needs {}", callee.name, names.join(", "));
        self.errors.push(
            Diagnostic::new(Code::WrongArguments, head, message)
                .label("not given")
                .because(callee.span, "declared here"),
        );
        None
    }
}

/// What a member's extra parameters are called in the family.
fn extra_names(
    family: &super::scope::FamilyInfo<'_>,
    used: &super::scope::FamilyUse,
) -> Vec<String> {
    let member = family.members.iter().find(|m| m.ast.name.text == used.member);
    member.map_or(Vec::new(), |m| m.extras.iter().map(|p| p.name.clone()).collect())
}
