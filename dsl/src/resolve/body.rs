//! Bodies: statements to flat SSA.

use super::dims;
use super::nearest;
use super::scope::Scope;
use super::signature::Names;
use crate::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dtype::Dtype;
use crate::library::{Attr, Body, BodyKind, BodyNode, OpId, Ref, Scalar, TypeExpr};
use crate::source::Span;
use std::collections::BTreeMap;

/// A family parameter in one instance: the member, and where its extra parameters are.
#[derive(Clone, Debug)]
pub struct Member {
    /// The op it stands for.
    pub op: OpId,
    /// Extra parameters: name at the op, index in the instance's signature.
    pub extra: Vec<(String, usize)>,
    /// Fields, as `block`.
    pub fields: BTreeMap<String, Expr>,
}

/// Builds one body.
pub struct Builder<'s, 'a> {
    scope: &'s mut Scope<'a>,
    names: &'s Names,
    members: &'s BTreeMap<String, Member>,
    body: Body,
    bound: BTreeMap<String, Ref>,
    /// The value of the last bare expression.
    last: Option<Ref>,
    pattern: bool,
    failed: bool,
}

impl<'s, 'a> Builder<'s, 'a> {
    /// A builder over the names of a signature. `pattern` allows `_` and `|`.
    pub fn new(
        scope: &'s mut Scope<'a>,
        names: &'s Names,
        members: &'s BTreeMap<String, Member>,
        pattern: bool,
    ) -> Self {
        Builder {
            scope,
            names,
            members,
            body: Body::default(),
            bound: BTreeMap::new(),
            last: None,
            pattern,
            failed: false,
        }
    }

    /// Adds the statements of a block.
    pub fn block(&mut self, block: &ast::Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    /// The finished body; `None` if anything was reported. `results` are names, `""` for the last
    /// bare expression, `Q.results` spelled as [`Wanted::Parts`].
    pub fn finish(mut self, results: &[Wanted], span: Span) -> Option<Body> {
        for want in results {
            match want {
                Wanted::Last => match self.last {
                    Some(r) => self.body.results.push(r),
                    None => self.missing(span, "the body has no final expression"),
                },
                Wanted::Parts(n) => match (self.last, n) {
                    (Some(r), 1) => self.body.results.push(r),
                    (Some(r), n) => {
                        for index in 0..*n {
                            let part = self.push(BodyKind::Proj { of: r, index }, span);
                            self.body.results.push(part);
                        }
                    }
                    (None, _) => self.missing(span, "the body has no final expression"),
                },
                Wanted::Named(name) => match self.bound.get(name).copied() {
                    Some(r) => self.body.results.push(r),
                    None => match (self.last, results.len()) {
                        (Some(r), 1) => self.body.results.push(r),
                        _ => self.missing(span, &format!("nothing binds the result `{name}`")),
                    },
                },
            }
        }
        (!self.failed).then_some(self.body)
    }

    /// The finished body of a test's graph.
    pub fn returns(mut self, values: &[Expr], span: Span) -> Option<Body> {
        for e in values {
            if let Some(r) = self.expr(e, None) {
                self.body.results.push(r);
            }
        }
        if values.is_empty() {
            self.missing(span, "the graph returns nothing");
        }
        (!self.failed).then_some(self.body)
    }

    fn missing(&mut self, span: Span, message: &str) {
        self.fail(
            Diagnostic::new(Code::MissingResult, span, message)
                .help("bind every declared result by its name, or end with an expression"),
        );
    }

    fn fail(&mut self, d: Diagnostic) {
        self.failed = true;
        self.scope.report(d);
    }

    fn push(&mut self, kind: BodyKind, span: Span) -> Ref {
        self.body.nodes.push(BodyNode { kind, span, name: None });
        self.body.nodes.len() - 1
    }

    fn stmt(&mut self, stmt: &ast::Stmt) {
        let Some(value) = self.expr(&stmt.value, None) else {
            // One error is enough: the names are known, their value is not.
            for t in &stmt.targets {
                let any = self.push(BodyKind::Any, t.span);
                self.bound.insert(t.text.clone(), any);
            }
            return;
        };
        if stmt.targets.is_empty() {
            self.last = Some(value);
            return;
        }
        let several = stmt.tuple && stmt.targets.len() > 1;
        for (index, target) in stmt.targets.iter().enumerate() {
            let r = match several {
                true if target.text == "_" => continue,
                true => self.push(BodyKind::Proj { of: value, index }, target.span),
                false => value,
            };
            self.body.nodes[r].name.get_or_insert(target.text.clone());
            self.bound.insert(target.text.clone(), r);
        }
    }

    fn is_dim(&self, name: &str) -> bool {
        self.names.dims.contains(name) && !self.bound.contains_key(name)
    }

    /// An expression; `expected` is the parameter it is passed for.
    fn expr(&mut self, e: &Expr, expected: Option<&TypeExpr>) -> Option<Ref> {
        let dims_only = !matches!(e.kind, ExprKind::Name(_) | ExprKind::Int { .. });
        if dims_only && let Some(d) = dims::dim(e, &|n| self.is_dim(n)) {
            return match d {
                Ok(d) => match d.as_int() {
                    Some(v) => Some(self.number(v, expected, e.span)),
                    None => Some(self.push(BodyKind::Dim(d), e.span)),
                },
                Err(why) => {
                    self.fail(Diagnostic::new(Code::ShapeMismatch, e.span, why));
                    None
                }
            };
        }
        match &e.kind {
            ExprKind::Name(n) => self.name(n, e.span),
            ExprKind::Int { value, .. } => Some(self.number((*value)?, expected, e.span)),
            ExprKind::Float { .. } | ExprKind::Bool(_) | ExprKind::None | ExprKind::Str(_) => {
                let value = self.scope.literal(e)?;
                Some(self.push(BodyKind::Const(value), e.span))
            }
            ExprKind::Any if self.pattern => Some(self.push(BodyKind::Any, e.span)),
            ExprKind::Alt(items) if self.pattern => {
                let items: Option<Vec<Ref>> = items.iter().map(|i| self.expr(i, None)).collect();
                let items = items?;
                Some(self.push(BodyKind::Alt(items), e.span))
            }
            ExprKind::Optional(of) => self.expr(of, expected),
            ExprKind::List(items) => {
                let items: Option<Vec<Ref>> = items.iter().map(|i| self.expr(i, None)).collect();
                let items = items?;
                Some(self.push(BodyKind::List(items), e.span))
            }
            ExprKind::Unary { op, of } => self.unary(*op, of, e),
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, e.span),
            ExprKind::Call { callee, args } => self.call(callee, args, e.span),
            _ => {
                self.fail(
                    Diagnostic::new(Code::TypeMismatch, e.span, "not a value here")
                        .help("use an op, a parameter, a constant or a name bound above"),
                );
                None
            }
        }
    }

    fn number(&mut self, v: i64, expected: Option<&TypeExpr>, span: Span) -> Ref {
        let value = match expected {
            Some(TypeExpr::Scalar(Scalar::Float)) => Attr::float(v as f64),
            _ => Attr::int(v),
        };
        self.push(BodyKind::Const(value), span)
    }

    fn name(&mut self, n: &str, span: Span) -> Option<Ref> {
        if let Some(r) = self.bound.get(n) {
            return Some(*r);
        }
        if let Some(i) = self.names.params.get(n) {
            let known = self
                .body
                .nodes
                .iter()
                .position(|x| matches!(x.kind, BodyKind::Param(p) if p == *i));
            return Some(match known {
                Some(r) => r,
                None => self.push(BodyKind::Param(*i), span),
            });
        }
        if self.names.generics.contains(n) {
            return Some(self.push(BodyKind::Generic(n.to_string()), span));
        }
        if self.names.dims.contains(n) {
            return Some(self.push(BodyKind::Dim(crate::dim::Dim::sym(n)), span));
        }
        if let Some(d) = Dtype::from_short(n) {
            return Some(self.push(BodyKind::Const(Attr::Dtype(d)), span));
        }
        if self.scope.enum_values.contains_key(n) {
            return Some(self.push(BodyKind::Const(Attr::Str(n.into())), span));
        }
        self.unknown_name(n, span);
        None
    }

    fn unknown_name(&mut self, n: &str, span: Span) {
        let known: Vec<String> = (self.bound.keys())
            .chain(self.names.params.keys())
            .chain(&self.names.dims)
            .chain(&self.names.generics)
            .cloned()
            .collect();
        let mut d = Diagnostic::new(Code::UnknownName, span, format!("unknown name `{n}`"))
            .label("no parameter, dimension or binding above has this name");
        d = match nearest(n, known.iter().map(String::as_str)) {
            Some(near) => d.help_edit(format!("did you mean `{near}`?"), span, near),
            None => d.help("bind it above, or add it to the parameters"),
        };
        self.fail(d);
    }

    fn operator(&mut self, name: &str, span: Span, args: Vec<Ref>) -> Option<Ref> {
        let Some(op) = self.scope.op_or_report(name, span) else {
            self.failed = true;
            return None;
        };
        Some(self.push(BodyKind::Call { op, args }, span))
    }

    fn unary(&mut self, op: UnaryOp, of: &Expr, e: &Expr) -> Option<Ref> {
        if let Some(value) = self.scope.literal(e) {
            return Some(self.push(BodyKind::Const(value), e.span));
        }
        let of = self.expr(of, None)?;
        match op {
            UnaryOp::Neg => self.operator("neg", e.span, vec![of]),
            UnaryOp::Not => {
                let no = self.push(BodyKind::Const(Attr::Bool(false)), e.span);
                self.operator("eq", e.span, vec![of, no])
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Option<Ref> {
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Eq => "eq",
            BinaryOp::Ne => "ne",
            BinaryOp::Lt => "lt",
            BinaryOp::Le => "le",
            BinaryOp::Gt => "gt",
            BinaryOp::Ge => "ge",
            _ => {
                let message = format!("`{}` has no meaning on tensors", op.as_str());
                self.fail(
                    Diagnostic::new(Code::TypeMismatch, span, message)
                        .help("conditions on sizes belong into `where`"),
                );
                return None;
            }
        };
        let (a, b) = (self.expr(left, None), self.expr(right, None));
        let args = vec![a?, b?];
        self.operator(name, span, args)
    }

    fn call(&mut self, callee: &Expr, args: &[ast::Arg], span: Span) -> Option<Ref> {
        let Some(name) = callee.as_name() else {
            self.fail(Diagnostic::new(Code::UnknownOp, callee.span, "not an op"));
            return None;
        };
        let members = self.members;
        if let Some(member) = members.get(name) {
            return self.member(member, args, span);
        }
        let Some(op) = self.scope.op_or_report(name, callee.span) else {
            self.failed = true;
            return None;
        };
        self.arguments(op, args, &[], span)
    }

    fn member(&mut self, member: &Member, args: &[ast::Arg], span: Span) -> Option<Ref> {
        let mut extra = Vec::new();
        for (name, index) in &member.extra {
            let r = self.push(BodyKind::Param(*index), span);
            extra.push((name.clone(), r));
        }
        self.arguments(member.op, args, &extra, span)
    }

    /// One argument a parameter: positional, by keyword, from `extra`, or the default.
    fn arguments(
        &mut self,
        op: OpId,
        args: &[ast::Arg],
        extra: &[(String, Ref)],
        span: Span,
    ) -> Option<Ref> {
        let sig = self.scope.library.op(op).sig.clone();
        let op_name = self.scope.library.op(op).name.clone();
        let mut slots: Vec<Option<Ref>> = vec![None; sig.params.len()];
        let mut next = 0;
        let mut good = true;
        for arg in args {
            let flag = |n: &str| {
                sig.params
                    .iter()
                    .position(|p| p.name == n && p.ty == TypeExpr::Scalar(Scalar::Bool))
            };
            let slot = match (&arg.name, arg.value.as_name()) {
                (Some(name), _) => sig.params.iter().position(|p| p.name == name.text),
                (None, Some(n)) if !self.known(n) && flag(n).is_some() => {
                    let slot = flag(n)?;
                    slots[slot] = Some(self.push(BodyKind::Const(Attr::Bool(true)), arg.span));
                    continue;
                }
                (None, _) => {
                    next += 1;
                    Some(next - 1)
                }
            };
            let Some(slot) = slot.filter(|s| *s < sig.params.len()) else {
                self.wrong_argument(&op_name, &sig, arg);
                good = false;
                continue;
            };
            let value = self.expr(&arg.value, Some(&sig.params[slot].ty));
            good &= value.is_some();
            slots[slot] = value;
        }
        for (name, r) in extra {
            if let Some(slot) = sig.params.iter().position(|p| p.name == *name) {
                slots[slot] = Some(*r);
            }
        }
        for (slot, param) in slots.iter_mut().zip(&sig.params) {
            let default = param.default.clone().or(param.optional.then_some(Attr::None));
            if let (None, Some(default)) = (&slot, default) {
                *slot = Some(self.push(BodyKind::Const(default), span));
            }
        }
        let absent = slots.iter().position(Option::is_none);
        if let (Some(i), true) = (absent, good) {
            let message = format!("`{op_name}` needs `{}`", sig.params[i].name);
            self.fail(
                Diagnostic::new(Code::WrongArguments, span, message)
                    .because(sig.params[i].span, "declared here, without a default")
                    .help(format!("pass `{} = ..`", sig.params[i].name)),
            );
        }
        let args: Option<Vec<Ref>> = slots.into_iter().collect();
        let args = args.filter(|_| good)?;
        Some(self.push(BodyKind::Call { op, args }, span))
    }

    fn known(&self, n: &str) -> bool {
        self.bound.contains_key(n) || self.names.params.contains_key(n) || self.is_dim(n)
    }

    fn wrong_argument(&mut self, op: &str, sig: &crate::library::Signature, arg: &ast::Arg) {
        let declared: Vec<&str> = sig.params.iter().map(|p| p.name.as_str()).collect();
        let message = match &arg.name {
            Some(name) => format!("`{op}` has no parameter `{}`", name.text),
            None => format!("`{op}` takes {} operands", sig.params.len()),
        };
        self.fail(
            Diagnostic::new(Code::WrongArguments, arg.span, message)
                .help(format!("it is declared as `{op}({})`", declared.join(", "))),
        );
    }
}

/// What a body is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The last bare expression.
    Last,
    /// The parts of the last bare expression: a family member with so many results.
    Parts(usize),
    /// A binding.
    Named(String),
}
