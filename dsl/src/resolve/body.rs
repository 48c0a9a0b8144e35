//! Bodies: statements to flat SSA.

use super::outcome::prune;
use super::scope::{Division, Scope};
use crate::ast::{self, Expr, ExprKind, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
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

pub(super) struct Local {
    /// `None` if its expression was wrong.
    pub value: Option<Val>,
    span: Span,
    used: bool,
}

pub(super) struct Builder<'s, 'a, 'e> {
    pub scope: &'s mut Scope<'a>,
    pub errors: &'e mut Vec<Diagnostic>,
    pub place: Place,
    pub nodes: Vec<BodyNode>,
    pub arg_spans: Vec<Vec<Span>>,
    pub locals: BTreeMap<String, Local>,
    pub params: BTreeMap<usize, Ref>,
    /// Something was wrong, reported here or elsewhere.
    pub failed: bool,
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

    pub fn unused_value(&mut self, span: Span, help: &str) {
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

    pub fn because_op(&self, error: Diagnostic, call: Ref) -> Diagnostic {
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

    pub fn use_local(&mut self, name: &str) -> Option<Val> {
        let l = self.locals.get_mut(name)?;
        l.used = true;
        l.value.clone()
    }
}
