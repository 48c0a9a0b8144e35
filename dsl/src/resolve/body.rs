//! Bodies: statements to flat SSA.

use super::consts;
use super::scope::{Division, ResultFrom, Scope, dim_function};
use crate::ast::{self, BinaryOp, Expr, ExprKind, Name, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::library::{Attr, Body, BodyKind, BodyNode, Ref};
use crate::source::Span;
use std::collections::BTreeMap;

/// Where a body stands, which decides what it may contain.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// The meaning of an op.
    Op,
    /// The left side of a rewrite (or either, of one that runs both ways).
    Left,
    /// The right side of a rewrite.
    Right,
    /// A fusion: pattern and meaning.
    Fusion,
    /// The graph of a test.
    Graph,
}

/// A resolved body with what messages need.
#[derive(Clone, Default)]
pub(super) struct Resolved {
    pub body: Body,
    /// Where each argument of each call is written.
    pub arg_spans: Vec<Vec<Span>>,
    /// Divisions of sizes, to be proved exact; those of the signature too.
    pub divisions: Vec<Division>,
}

/// The value of an expression; sizes and constants become nodes only when a call uses them.
#[derive(Clone)]
pub(super) enum Val {
    Node(Ref),
    /// A call with several results.
    Multi(Ref, usize),
    /// `(a, b)`
    Tuple(Vec<Ref>),
    Dim(Dim),
    Attr(Attr),
}

struct Local {
    /// `None` if its expression was wrong.
    value: Option<Val>,
    span: Span,
    used: bool,
}

pub(super) struct Builder<'s, 'a, 'e> {
    pub scope: &'s mut Scope<'a>,
    pub errors: &'e mut Vec<Diagnostic>,
    pub place: Place,
    pub nodes: Vec<BodyNode>,
    pub arg_spans: Vec<Vec<Span>>,
    locals: BTreeMap<String, Local>,
    params: BTreeMap<usize, Ref>,
    /// Something was wrong, reported here or elsewhere.
    failed: bool,
}

impl<'s, 'a, 'e> Builder<'s, 'a, 'e> {
    pub fn new(
        scope: &'s mut Scope<'a>,
        place: Place,
        errors: &'e mut Vec<Diagnostic>,
    ) -> Builder<'s, 'a, 'e> {
        Builder {
            scope,
            errors,
            place,
            nodes: Vec::new(),
            arg_spans: Vec::new(),
            locals: BTreeMap::new(),
            params: BTreeMap::new(),
            failed: false,
        }
    }

    /// Resolves a block into a body with one value a declared result.
    pub fn block(mut self, block: &ast::Block) -> Option<Resolved> {
        let last = self.statements(&block.stmts);
        let end = Span { start: block.span.end.saturating_sub(1), ..block.span };
        let results = self.results(last, end);
        self.finish(results)
    }

    /// Resolves the graph of a test.
    pub fn graph(mut self, block: &ast::Block, returns: &[Expr]) -> Option<Resolved> {
        if let Some((_, span)) = self.statements(&block.stmts) {
            self.unused_value(span, "return it, or remove it");
        }
        let mut results = Vec::new();
        for e in returns {
            match self.expr(e).and_then(|v| self.parts(v, e.span)) {
                Some(refs) => results.extend(refs),
                None => self.failed = true,
            }
        }
        self.finish(Some(results))
    }

    fn finish(self, results: Option<Vec<Ref>>) -> Option<Resolved> {
        for (name, l) in &self.locals {
            if !l.used && !name.starts_with('_') && !self.failed {
                self.errors.push(
                    Diagnostic::new(Code::UnusedBinding, l.span, format!("`{name}` is not used"))
                        .help("remove it, or write `_` for a result that is dropped"),
                );
            }
        }
        let results = results.filter(|_| !self.failed)?;
        let pruned = prune(Body { nodes: self.nodes, results }, self.arg_spans);
        Some(Resolved { divisions: self.scope.divisions.clone(), ..pruned })
    }

    fn statements(&mut self, stmts: &[ast::Stmt]) -> Option<(Option<Val>, Span)> {
        let mut last = None;
        for (i, s) in stmts.iter().enumerate() {
            let value = self.statement_value(&s.value);
            self.failed |= value.is_none();
            if !s.targets.is_empty() {
                self.bind(s, value);
            } else if i + 1 == stmts.len() {
                last = Some((value, s.value.span));
            } else {
                self.unused_value(s.value.span, "bind it to a name, or remove it");
            }
        }
        last
    }

    fn unused_value(&mut self, span: Span, help: &str) {
        self.failed = true;
        self.errors.push(
            Diagnostic::new(Code::UnusedValue, span, "the value of this expression goes nowhere")
                .help(help),
        );
    }

    /// A tuple is a value only as the whole of a statement.
    fn statement_value(&mut self, e: &Expr) -> Option<Val> {
        let ExprKind::Tuple(items) = &e.kind else { return self.expr(e) };
        let mut refs = Vec::new();
        let mut whole = true;
        for i in items {
            match self.value(i) {
                Some(r) => refs.push(r),
                None => whole = false,
            }
        }
        whole.then_some(Val::Tuple(refs))
    }

    fn bind(&mut self, s: &ast::Stmt, value: Option<Val>) {
        if !s.tuple && s.targets.len() == 1 {
            if let Some(Val::Node(r)) = value {
                self.name_node(r, &s.targets[0]);
            }
            self.local(&s.targets[0], value);
            return;
        }
        let parts: Option<Vec<Ref>> = match &value {
            Some(Val::Multi(_, n)) if *n == s.targets.len() => Some(Vec::new()),
            Some(Val::Tuple(refs)) if refs.len() == s.targets.len() => Some(refs.clone()),
            Some(other) => {
                self.count_mismatch(s, other);
                None
            }
            None => None,
        };
        for (i, target) in s.targets.iter().enumerate() {
            if target.text == "_" {
                continue;
            }
            let part = match (&parts, &value) {
                (Some(_), Some(Val::Multi(of, _))) => {
                    let kind = BodyKind::Proj { of: *of, index: i };
                    Some(self.push(kind, target.span, Vec::new()))
                }
                (Some(refs), _) => refs.get(i).copied(),
                _ => None,
            };
            if let Some(r) = part {
                self.name_node(r, target);
            }
            self.local(target, part.map(Val::Node));
        }
    }

    fn count_mismatch(&mut self, s: &ast::Stmt, value: &Val) {
        self.failed = true;
        let n = match value {
            Val::Multi(_, n) => *n,
            Val::Tuple(refs) => refs.len(),
            _ => 1,
        };
        let (targets, plural) = (s.targets.len(), if n == 1 { "" } else { "s" });
        let message = format!("{targets} names for {n} value{plural}");
        let error = Diagnostic::new(Code::WrongArguments, s.value.span, message);
        let error = match value {
            Val::Multi(call, _) => self.because_op(error, *call),
            _ => error,
        };
        self.errors.push(error.help("give every result a name, or `_`"));
    }

    fn because_op(&self, error: Diagnostic, call: Ref) -> Diagnostic {
        match &self.nodes[call].kind {
            BodyKind::Call { op, .. } => {
                let op = self.scope.world.lib.op(*op);
                error.because(op.span, format!("`{}` is declared here", op.name))
            }
            _ => error,
        }
    }

    fn name_node(&mut self, r: Ref, target: &Name) {
        if target.text != "_" && !matches!(self.nodes[r].kind, BodyKind::Param(_)) {
            self.nodes[r].name.get_or_insert_with(|| target.text.clone());
        }
    }

    fn local(&mut self, target: &Name, value: Option<Val>) {
        if target.text == "_" {
            return;
        }
        let name = target.text.clone();
        let first = self.locals.get(&name).map(|l| l.span).or_else(|| {
            let i = self.scope.param(&name)?;
            Some(self.scope.sig.params[i].span)
        });
        if let Some(first) = first {
            self.failed = true;
            self.errors.push(
                Diagnostic::new(Code::Duplicate, target.span, format!("`{name}` is bound twice"))
                    .because(first, "the first")
                    .help("a name has one value; take another"),
            );
        }
        self.locals.insert(name, Local { value, span: target.span, used: first.is_some() });
    }

    /// The value of each declared result.
    fn results(&mut self, last: Option<(Option<Val>, Span)>, end: Span) -> Option<Vec<Ref>> {
        let declared = self.scope.results.clone();
        if declared.is_empty() {
            let Some((value, span)) = last else {
                self.failed = true;
                self.errors.push(
                    Diagnostic::new(Code::MissingResult, end, "the body has no value")
                        .help("end it with an expression, or name the results after `->`"),
                );
                return None;
            };
            return self.parts(value?, span);
        }
        let mut out: Vec<Option<Ref>> = Vec::new();
        for (i, (from, _)) in declared.iter().enumerate() {
            let name = self.scope.sig.results[i].name.clone();
            let bound = *from == ResultFrom::Name && self.locals.contains_key(&name);
            out.push(match bound {
                true => match self.use_local(&name) {
                    Some(v) => Some(self.node_of(v, end)?),
                    None => return None,
                },
                false => None,
            });
        }
        let open: Vec<usize> = (0..out.len()).filter(|i| out[*i].is_none()).collect();
        let (value, span) = match last {
            Some((value, span)) => (value?, span),
            None if open.is_empty() => return out.into_iter().collect(),
            None => {
                self.missing(&open, end);
                return None;
            }
        };
        if open.is_empty() {
            self.unused_value(span, "every result is bound by name already");
            return None;
        }
        let parts = self.parts(value, span)?;
        if parts.len() != open.len() {
            self.wrong_count(&open, parts.len(), span);
            return None;
        }
        for (i, r) in open.iter().zip(parts) {
            out[*i] = Some(r);
        }
        out.into_iter().collect()
    }

    fn result_names(&self, which: &[usize]) -> String {
        let name = |i: &usize| match self.scope.sig.results[*i].name.as_str() {
            "" => "the result".to_string(),
            name => format!("`{name}`"),
        };
        which.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn missing(&mut self, open: &[usize], end: Span) {
        if self.failed {
            return;
        }
        self.failed = true;
        let names = self.result_names(open);
        let verb = if open.len() == 1 { "has" } else { "have" };
        let at = self.scope.results[open[0]].1;
        self.errors.push(
            Diagnostic::new(Code::MissingResult, end, format!("{names} {verb} no value"))
                .label("the body ends here")
                .because(at, "declared here")
                .help("bind it by its name, or end the body with an expression"),
        );
    }

    fn wrong_count(&mut self, open: &[usize], found: usize, span: Span) {
        self.failed = true;
        let names = self.result_names(open);
        let at = self.scope.results[open[0]].1;
        let plural = if found == 1 { "" } else { "s" };
        let more = if open.len() == 1 { "" } else { "s" };
        let message = format!("{found} value{plural} for {} result{more}", open.len());
        self.errors.push(
            Diagnostic::new(Code::MissingResult, span, message)
                .because(at, "declared here")
                .note(format!("without a value: {names}")),
        );
    }

    /// A value as results.
    fn parts(&mut self, value: Val, span: Span) -> Option<Vec<Ref>> {
        match value {
            Val::Tuple(refs) => Some(refs),
            Val::Multi(of, n) => Some(
                (0..n)
                    .map(|index| self.push(BodyKind::Proj { of, index }, span, Vec::new()))
                    .collect(),
            ),
            other => self.node_of(other, span).map(|r| vec![r]),
        }
    }

    pub fn push(&mut self, kind: BodyKind, span: Span, arg_spans: Vec<Span>) -> Ref {
        self.nodes.push(BodyNode { kind, span, name: None });
        self.arg_spans.push(arg_spans);
        self.nodes.len() - 1
    }

    /// An expression as one node.
    pub fn value(&mut self, e: &Expr) -> Option<Ref> {
        let v = self.expr(e)?;
        self.node_of(v, e.span)
    }

    pub fn node_of(&mut self, v: Val, span: Span) -> Option<Ref> {
        Some(match v {
            Val::Node(r) => r,
            Val::Attr(a) => self.push(BodyKind::Const(a), span, Vec::new()),
            Val::Dim(d) => match d.as_int() {
                Some(_) => self.push(BodyKind::Const(Attr::Int(d)), span, Vec::new()),
                None => self.push(BodyKind::Dim(d), span, Vec::new()),
            },
            Val::Multi(call, n) => {
                let error = Diagnostic::new(
                    Code::TypeMismatch,
                    span,
                    format!("{n} values where one is wanted"),
                );
                let error = self.because_op(error, call);
                self.errors.push(error.help("bind its results first: `(a, b) = ..`"));
                return None;
            }
            Val::Tuple(refs) => {
                let message = format!("{} values where one is wanted", refs.len());
                self.errors.push(Diagnostic::new(Code::TypeMismatch, span, message));
                return None;
            }
        })
    }

    fn use_local(&mut self, name: &str) -> Option<Val> {
        let l = self.locals.get_mut(name)?;
        l.used = true;
        l.value.clone()
    }

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
        let known = super::scope::DIM_FUNCTIONS.contains(&name);
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
                super::scope::DIM_FUNCTIONS.contains(&name)
                    && args.iter().all(|a| self.looks_like_size(&a.value))
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

/// Operands of a node.
pub(super) fn operands(kind: &BodyKind) -> Vec<Ref> {
    match kind {
        BodyKind::Call { args, .. } => args.clone(),
        BodyKind::Proj { of, .. } => vec![*of],
        BodyKind::List(items) | BodyKind::Alt(items) => items.clone(),
        _ => Vec::new(),
    }
}

/// Drops nodes that no result needs.
fn prune(body: Body, arg_spans: Vec<Vec<Span>>) -> Resolved {
    let mut live = vec![false; body.nodes.len()];
    body.results.iter().for_each(|r| live[*r] = true);
    for i in (0..body.nodes.len()).rev() {
        if live[i] {
            operands(&body.nodes[i].kind).into_iter().for_each(|r| live[r] = true);
        }
    }
    let mut at = vec![0; body.nodes.len()];
    let mut out = Resolved::default();
    for (i, (mut node, spans)) in body.nodes.into_iter().zip(arg_spans).enumerate() {
        if !live[i] {
            continue;
        }
        match &mut node.kind {
            BodyKind::Call { args, .. } => args.iter_mut().for_each(|r| *r = at[*r]),
            BodyKind::Proj { of, .. } => *of = at[*of],
            BodyKind::List(l) | BodyKind::Alt(l) => l.iter_mut().for_each(|r| *r = at[*r]),
            _ => {}
        }
        at[i] = out.body.nodes.len();
        out.body.nodes.push(node);
        out.arg_spans.push(spans);
    }
    out.body.results = body.results.iter().map(|r| at[*r]).collect();
    out
}
