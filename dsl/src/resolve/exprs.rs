//! Expressions of bodies: names, operators, patterns, sizes.

use super::body::{Builder, Place, Val};
use super::consts;
use super::scope::{DIM_FUNCTIONS, dim_function};
use crate::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::library::{Attr, BodyKind, Ref};
use crate::source::Span;

impl Builder<'_, '_, '_> {
    pub fn expr(&mut self, e: &Expr) -> Option<Val> {
        if let Some(a) = consts::literal(e) {
            return Some(Val::Attr(a));
        }
        match &e.kind {
            ExprKind::Name(name) => self.name(name, e.span),
            ExprKind::Call { callee, args } => self.call(callee, args, e.span),
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, e.span),
            ExprKind::Unary { op, of } => self.unary(*op, of, e.span),
            ExprKind::List(items) => self.list(items, e.span),
            ExprKind::Field { of, name } => {
                let (used, value) = self.scope.family_field(of, name, self.errors)?;
                let d = self.scope.member_value(&used, &value, self.errors)?;
                Some(Val::Dim(d))
            }
            ExprKind::Any => self
                .pattern_only(e.span, "_")
                .then(|| Val::Node(self.push(BodyKind::Any, e.span, Vec::new()))),
            ExprKind::Alt(items) => self.alternatives(items, e.span),
            ExprKind::Int { .. } => None,
            ExprKind::Optional(_) => {
                let message = "an operand that may be missing is not carried out by this version";
                self.errors.push(
                    Diagnostic::new(Code::Unsupported, e.span, message)
                        .help("write the two forms with `|` between them"),
                );
                None
            }
            _ => {
                let text = self.scope.world.text(e.span);
                let message = format!("`{text}` is no value");
                self.errors.push(Diagnostic::new(Code::TypeMismatch, e.span, message));
                None
            }
        }
    }

    /// Whether this is a pattern; says so if not.
    pub fn pattern_only(&mut self, span: Span, what: &str) -> bool {
        let pattern = self.place == Place::Left || (what != "|" && self.place == Place::Fusion);
        if !pattern {
            let message = format!("`{what}` has no value here");
            self.errors.push(
                Diagnostic::new(Code::Unbound, span, message)
                    .note("only the left side of a rewrite matches without saying what"),
            );
        }
        pattern
    }

    fn alternatives(&mut self, items: &[Expr], span: Span) -> Option<Val> {
        if !self.pattern_only(span, "|") {
            return None;
        }
        let refs: Vec<Option<Ref>> = items.iter().map(|i| self.value(i)).collect();
        let refs: Vec<Ref> = refs.into_iter().collect::<Option<_>>()?;
        Some(Val::Node(self.push(BodyKind::Alt(refs), span, Vec::new())))
    }

    fn list(&mut self, items: &[Expr], span: Span) -> Option<Val> {
        let refs: Vec<Option<Ref>> = items.iter().map(|i| self.value(i)).collect();
        let refs: Vec<Ref> = refs.into_iter().collect::<Option<_>>()?;
        let spans = items.iter().map(|i| i.span).collect();
        Some(Val::Node(self.push(BodyKind::List(refs), span, spans)))
    }

    /// Whether a bare name has a value here.
    pub fn knows(&self, name: &str) -> bool {
        self.locals.contains_key(name)
            || self.scope.param(name).is_some()
            || self.scope.families.contains_key(name)
            || self.scope.dims.contains(name)
            || self.scope.is_generic(name)
            || consts::named(self.scope.world, name, None).is_some()
    }

    /// The node of a parameter; each has one.
    pub fn param_node(&mut self, param: usize, span: Span) -> Ref {
        if let Some(r) = self.params.get(&param) {
            return *r;
        }
        let r = self.push(BodyKind::Param(param), span, Vec::new());
        self.params.insert(param, r);
        r
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Val> {
        if self.locals.contains_key(name) {
            return self.use_local(name);
        }
        if let Some(i) = self.scope.param(name) {
            return Some(Val::Node(self.param_node(i, span)));
        }
        if self.scope.dims.contains(name) {
            return Some(Val::Dim(Dim::sym(name)));
        }
        if self.scope.is_generic(name) {
            let kind = BodyKind::Generic(name.to_string());
            return Some(Val::Node(self.push(kind, span, Vec::new())));
        }
        if let Some(a) = consts::named(self.scope.world, name, None) {
            return Some(Val::Attr(a));
        }
        let error = self.unknown(name, span);
        self.errors.push(error);
        None
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        if self.scope.families.contains_key(name) {
            let message = format!("`{name}` is a family; it has no value of its own");
            return Diagnostic::new(Code::TypeMismatch, span, message)
                .help(format!("call it: `{name}(..)`"));
        }
        if self.scope.leading.contains(name) {
            let message = format!("`{name}..` stands for any number of sizes");
            return Diagnostic::new(Code::TypeMismatch, span, message);
        }
        let locals = self.locals.keys().map(String::as_str);
        let generics = self.scope.sig.generics.iter().map(|g| g.name.as_str());
        let dtypes = Dtype::ALL.iter().map(|d| d.short());
        let known = locals.chain(self.scope.known()).chain(generics).chain(dtypes);
        let world = self.scope.world;
        let op = world.lib.op_named(name).is_some();
        let error = Diagnostic::new(Code::UnknownName, span, format!("no value `{name}` here"));
        match op {
            true => error.help(format!("`{name}` is an op: call it, `{name}(..)`")),
            false => error
                .label("no parameter, size, dtype or earlier statement has this name")
                .did_you_mean(name, span, known),
        }
    }

    /// A value as a size, if it is one.
    pub fn as_dim(&self, v: &Val) -> Option<Dim> {
        match v {
            Val::Dim(d) | Val::Attr(Attr::Int(d)) => Some(d.clone()),
            Val::Node(r) => match self.nodes[*r].kind {
                BodyKind::Param(i) if self.scope.is_int(i) => {
                    Some(Dim::sym(&self.scope.sig.params[i].name))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn unary(&mut self, op: UnaryOp, of: &Expr, span: Span) -> Option<Val> {
        let v = self.expr(of)?;
        if op == UnaryOp::Not {
            let r = self.node_of(v, of.span)?;
            let no = self.push(BodyKind::Const(Attr::Bool(false)), span, Vec::new());
            return self.operator("!", "eq", vec![(r, of.span), (no, span)], span);
        }
        if let Some(d) = self.as_dim(&v) {
            return Some(Val::Dim(d.neg()));
        }
        let r = self.node_of(v, of.span)?;
        self.operator("-", "neg", vec![(r, of.span)], span)
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Option<Val> {
        let (a, b) = (self.expr(left), self.expr(right));
        let (a, b) = (a?, b?);
        if let (Some(x), Some(y)) = (self.as_dim(&a), self.as_dim(&b)) {
            return self.scope.combine(op, &x, &y, span, self.errors).map(Val::Dim);
        }
        if let (Val::Attr(x), Val::Attr(y)) = (&a, &b)
            && let Some(folded) = consts::fold(op, x, y)
        {
            return Some(Val::Attr(folded));
        }
        let Some(name) = primitive(op) else {
            let message = format!("`{}` is not an operation on values", op.as_str());
            self.errors.push(Diagnostic::new(Code::TypeMismatch, span, message));
            return None;
        };
        let (x, y) = (self.node_of(a, left.span), self.node_of(b, right.span));
        self.operator(op.as_str(), name, vec![(x?, left.span), (y?, right.span)], span)
    }

    /// A call of the primitive behind an operator.
    fn operator(
        &mut self,
        symbol: &str,
        name: &str,
        args: Vec<(Ref, Span)>,
        span: Span,
    ) -> Option<Val> {
        let world = self.scope.world;
        let Some(op) = world.lib.op_named(name) else {
            if !world.index.broken.contains(name) {
                let message = format!("`{symbol}` needs an op `{name}`, which no file declares");
                self.errors.push(
                    Diagnostic::new(Code::UnknownOp, span, message)
                        .help("load the file that declares the primitives"),
                );
            }
            return None;
        };
        if world.broken_ops[op.0 as usize] || world.lib.op(op).sig.params.len() != args.len() {
            return None;
        }
        let (refs, spans) = args.into_iter().unzip();
        Some(Val::Node(self.push(BodyKind::Call { op, args: refs }, span, spans)))
    }

    /// `ceil_div(n, 4)` and the like, if every argument is a size.
    pub fn size_function(&mut self, name: &str, args: &[ast::Arg]) -> Option<Option<Val>> {
        let is_op = self.scope.world.lib.op_named(name).is_some();
        let plain = args.len() == 2 && args.iter().all(|a| a.name.is_none());
        let known = DIM_FUNCTIONS.contains(&name);
        if !plain || !known || (is_op && !args.iter().all(|a| self.looks_like_size(&a.value))) {
            return None;
        }
        let values: Vec<Option<Val>> = args.iter().map(|a| self.expr(&a.value)).collect();
        let Some(values) = values.into_iter().collect::<Option<Vec<Val>>>() else {
            return Some(None);
        };
        let mut dims = Vec::new();
        for (v, a) in values.iter().zip(args) {
            match self.as_dim(v) {
                Some(d) => dims.push(d),
                None => {
                    let message = format!("`{name}` is a function of sizes");
                    let at = a.value.span;
                    self.errors.push(Diagnostic::new(Code::TypeMismatch, at, message));
                    return Some(None);
                }
            }
        }
        Some(dim_function(name, &dims).map(Val::Dim))
    }

    /// Whether an expression is made of sizes alone; looks, and resolves nothing.
    fn looks_like_size(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int { .. } => true,
            ExprKind::Field { of, .. } => {
                of.as_name().is_some_and(|n| self.scope.families.contains_key(n))
            }
            ExprKind::Name(n) => match self.locals.get(n.as_str()) {
                Some(l) => l.value.as_ref().is_some_and(|v| self.as_dim(v).is_some()),
                None => match self.scope.param(n) {
                    Some(i) => self.scope.is_int(i),
                    None => self.scope.dims.contains(n),
                },
            },
            ExprKind::Unary { op: UnaryOp::Neg, of } => self.looks_like_size(of),
            ExprKind::Binary { left, right, .. } => {
                self.looks_like_size(left) && self.looks_like_size(right)
            }
            ExprKind::Call { callee, args } => {
                let name = callee.as_name().unwrap_or("");
                DIM_FUNCTIONS.contains(&name) && args.iter().all(|a| self.looks_like_size(&a.value))
            }
            _ => false,
        }
    }
}

fn primitive(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
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
        _ => return None,
    })
}
