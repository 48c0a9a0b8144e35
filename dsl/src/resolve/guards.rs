//! Guards: conditions over dimensions, attributes, dtypes and the target.

use super::body::Member;
use super::dims;
use super::nearest;
use super::scope::Scope;
use super::signature::Names;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dtype::Dtype;
use crate::library::{Attr, BinOp, Guard, GuardExpr};
use crate::source::Span;
use std::collections::BTreeMap;

/// Functions of operands that guards may call.
const FUNCTIONS: &[&str] =
    &["aligned", "bytes", "ceil_div", "contiguous", "max", "min", "numel", "round_up", "stride"];
/// Spaces of facts from outside the graph.
const GLOBALS: &[&str] = &["config", "target"];

impl Scope<'_> {
    /// Resolves a `where` conjunction.
    pub fn guards(
        &mut self,
        guards: &[Expr],
        names: &Names,
        members: &BTreeMap<String, Member>,
    ) -> Option<Vec<Guard>> {
        let mut out = Vec::new();
        for e in guards {
            let expr = self.guard(e, names, members)?;
            out.push(Guard { expr, text: self.text(e.span), span: e.span, from: None });
        }
        Some(out)
    }

    fn guard(
        &mut self,
        e: &Expr,
        names: &Names,
        members: &BTreeMap<String, Member>,
    ) -> Option<GuardExpr> {
        if let Some(d) = dims::dim(e, &|n| names.dims.contains(n)) {
            return match d {
                Ok(d) => match d.as_int() {
                    Some(v) => Some(GuardExpr::Const(Attr::int(v))),
                    None => Some(GuardExpr::Dim(d)),
                },
                Err(why) => {
                    self.report(Diagnostic::new(Code::ShapeMismatch, e.span, why));
                    None
                }
            };
        }
        if let Some(value) = self.literal(e) {
            return Some(GuardExpr::Const(value));
        }
        match &e.kind {
            ExprKind::Name(n) => self.guard_name(n, e.span, names),
            ExprKind::Field { of, name } => {
                let member = of.as_name().and_then(|n| members.get(n));
                if let Some(member) = member {
                    let Some(value) = member.fields.get(name.as_str()) else {
                        let message = format!("the family has no field `{}`", name.text);
                        self.report(Diagnostic::new(Code::UnknownName, name.span, message));
                        return None;
                    };
                    let value = value.clone();
                    return self.guard(&value, names, members);
                }
                let of = self.guard(of, names, members)?;
                Some(GuardExpr::Field(Box::new(of), name.text.clone()))
            }
            ExprKind::Call { callee, args } => {
                let function = self.function(callee)?;
                let args: Option<Vec<GuardExpr>> =
                    args.iter().map(|a| self.guard(&a.value, names, members)).collect();
                Some(GuardExpr::Call(function, args?))
            }
            ExprKind::Unary { op: UnaryOp::Not, of } => {
                Some(GuardExpr::Not(Box::new(self.guard(of, names, members)?)))
            }
            ExprKind::Binary { op, left, right, .. } => {
                let (a, b) = (self.guard(left, names, members), self.guard(right, names, members));
                Some(GuardExpr::Bin(bin_op(*op), Box::new(a?), Box::new(b?)))
            }
            ExprKind::Set(items) => {
                let items: Option<Vec<GuardExpr>> =
                    items.iter().map(|i| self.guard(i, names, members)).collect();
                Some(GuardExpr::Set(items?))
            }
            _ => {
                self.report(
                    Diagnostic::new(Code::TypeMismatch, e.span, "not a condition")
                        .help("guards compare dimensions, attributes, dtypes and `target.*`"),
                );
                None
            }
        }
    }

    fn guard_name(&mut self, n: &str, span: Span, names: &Names) -> Option<GuardExpr> {
        if let Some(i) = names.params.get(n) {
            return Some(GuardExpr::Param(*i));
        }
        if names.generics.contains(n) {
            return Some(GuardExpr::Generic(n.to_string()));
        }
        if GLOBALS.contains(&n) {
            return Some(GuardExpr::Global(n.to_string()));
        }
        if let Some(d) = Dtype::from_short(n) {
            return Some(GuardExpr::Const(Attr::Dtype(d)));
        }
        let known: Vec<&str> = (names.params.keys().map(String::as_str))
            .chain(names.dims.iter().map(String::as_str))
            .chain(names.generics.iter().map(String::as_str))
            .chain(GLOBALS.iter().copied())
            .collect();
        let mut d = Diagnostic::new(Code::UnknownName, span, format!("unknown name `{n}`"))
            .label("no parameter, dimension or generic has this name");
        if let Some(near) = nearest(n, known.into_iter()) {
            d = d.help_edit(format!("did you mean `{near}`?"), span, near);
        }
        self.report(d);
        None
    }

    fn function(&mut self, callee: &Expr) -> Option<String> {
        match &callee.kind {
            ExprKind::Name(n) if FUNCTIONS.contains(&n.as_str()) => Some(n.clone()),
            ExprKind::Field { of, name } if of.as_name().is_some_and(|n| GLOBALS.contains(&n)) => {
                Some(format!("{}.{}", of.as_name()?, name.text))
            }
            _ => {
                let word = self.text(callee.span);
                let mut d = Diagnostic::new(
                    Code::UnknownName,
                    callee.span,
                    format!("unknown function `{word}` in a guard"),
                );
                d = match nearest(&word, FUNCTIONS.iter().copied()) {
                    Some(near) => d.help_edit(format!("did you mean `{near}`?"), callee.span, near),
                    None => d.help(format!("there are {}", FUNCTIONS.join(", "))),
                };
                self.report(d);
                None
            }
        }
    }
}

fn bin_op(op: BinaryOp) -> BinOp {
    match op {
        BinaryOp::Or => BinOp::Or,
        BinaryOp::And => BinOp::And,
        BinaryOp::Eq => BinOp::Eq,
        BinaryOp::Ne => BinOp::Ne,
        BinaryOp::Lt => BinOp::Lt,
        BinaryOp::Le => BinOp::Le,
        BinaryOp::Gt => BinOp::Gt,
        BinaryOp::Ge => BinOp::Ge,
        BinaryOp::In => BinOp::In,
        BinaryOp::Add => BinOp::Add,
        BinaryOp::Sub => BinOp::Sub,
        BinaryOp::Mul => BinOp::Mul,
        BinaryOp::Div => BinOp::Div,
        BinaryOp::Rem => BinOp::Mod,
    }
}
