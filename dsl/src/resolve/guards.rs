//! Conditions: `where` clauses to [`GuardExpr`].

use super::consts;
use super::scope::{DIM_FUNCTIONS, Scope};
use crate::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::DtypeSet;
use crate::library::{Attr, BinOp, Guard, GuardExpr, Scalar, TypeExpr};

/// Fields of `target`, with the number of arguments each takes.
pub const TARGET_FIELDS: &[(&str, usize)] = &[
    ("fusion_limit", 1),
    ("l2_bytes", 0),
    ("memory_bytes", 0),
    ("one_shot_limit", 1),
    ("sm", 0),
    ("smem_bytes", 0),
    ("sms", 0),
];

/// Functions of guards with the number of arguments each takes; the first is an operand.
const FUNCTIONS: &[(&str, usize)] =
    &[("aligned", 2), ("bytes", 1), ("contiguous", 1), ("numel", 1), ("stride", 2)];

const GROUP_FIELDS: &[&str] = &["rank", "size"];

/// Resolves a conjunction.
pub(super) fn guards(
    scope: &mut Scope<'_>,
    list: &[Expr],
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<Guard>> {
    let mut out = Vec::new();
    let mut whole = true;
    for e in list {
        let mut g = Guards { scope, errors, family: false };
        let Some(expr) = g.expr(e) else {
            whole = false;
            continue;
        };
        let family = g.family;
        if !is_condition(&expr, scope) {
            let text = scope.world.text(e.span);
            errors.push(
                Diagnostic::new(Code::TypeMismatch, e.span, format!("`{text}` is no condition"))
                    .help("compare it with something"),
            );
            whole = false;
            continue;
        }
        let text = match family {
            true => super::show::guard(&expr, &scope.sig),
            false => scope.world.text(e.span),
        };
        out.push(Guard { expr, text, span: e.span, from: None });
    }
    whole.then_some(out)
}

fn is_condition(e: &GuardExpr, scope: &Scope<'_>) -> bool {
    use BinOp::*;
    match e {
        GuardExpr::Bin(op, ..) => !matches!(op, Add | Sub | Mul | Div | Mod),
        GuardExpr::Not(_) | GuardExpr::Field(..) => true,
        GuardExpr::Param(i) => {
            matches!(scope.sig.params[*i].ty, TypeExpr::Scalar(Scalar::Bool) | TypeExpr::Any)
        }
        GuardExpr::Const(a) => matches!(a, Attr::Bool(_)),
        GuardExpr::Call(name, _) => {
            !matches!(name.as_str(), "bytes" | "numel" | "stride")
                && !DIM_FUNCTIONS.contains(&name.as_str())
        }
        _ => false,
    }
}

struct Guards<'s, 'a, 'e> {
    scope: &'s mut Scope<'a>,
    errors: &'e mut Vec<Diagnostic>,
    /// A field of a family member occurred, so the source text does not show the value.
    family: bool,
}

impl Guards<'_, '_, '_> {
    fn error(&mut self, d: Diagnostic) -> Option<GuardExpr> {
        self.errors.push(d);
        None
    }

    fn expr(&mut self, e: &Expr) -> Option<GuardExpr> {
        if let Some(a) = consts::literal(e) {
            return Some(GuardExpr::Const(a));
        }
        match &e.kind {
            ExprKind::Name(name) => self.name(name, e),
            ExprKind::Field { of, name } => self.field(of, name),
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Unary { op: UnaryOp::Not, of } => {
                self.expr(of).map(|g| GuardExpr::Not(Box::new(g)))
            }
            ExprKind::Unary { op: UnaryOp::Neg, of } => {
                let zero = Box::new(GuardExpr::Const(Attr::int(0)));
                self.expr(of).map(|g| GuardExpr::Bin(BinOp::Sub, zero, Box::new(g)))
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right),
            ExprKind::Set(items) => {
                let items: Vec<_> = items.iter().map(|i| self.expr(i)).collect();
                Some(GuardExpr::Set(items.into_iter().collect::<Option<_>>()?))
            }
            ExprKind::Int { value: None, .. } => None,
            _ => {
                let text = self.scope.world.text(e.span);
                let message = format!("`{text}` has no meaning in a guard");
                self.error(Diagnostic::new(Code::TypeMismatch, e.span, message))
            }
        }
    }

    fn name(&mut self, name: &str, e: &Expr) -> Option<GuardExpr> {
        if let Some(i) = self.scope.param(name) {
            return Some(match self.scope.is_int(i) {
                true => GuardExpr::Dim(Dim::sym(name)),
                false => GuardExpr::Param(i),
            });
        }
        if self.scope.dims.contains(name) {
            return Some(GuardExpr::Dim(Dim::sym(name)));
        }
        if self.scope.is_generic(name) {
            return Some(GuardExpr::Generic(name.to_string()));
        }
        if matches!(name, "target" | "config") {
            return Some(GuardExpr::Global(name.to_string()));
        }
        if let Some(a) = consts::named(self.scope.world, name, None) {
            return Some(GuardExpr::Const(a));
        }
        if let Some(set) = DtypeSet::class(name) {
            let all = set.iter().map(|d| GuardExpr::Const(Attr::Dtype(d))).collect();
            return Some(GuardExpr::Set(all));
        }
        let error = if self.scope.families.contains_key(name) {
            Diagnostic::new(Code::TypeMismatch, e.span, format!("`{name}` is a family"))
                .help(format!("ask for a field of its member, as `{name}.block`"))
        } else {
            self.scope.unknown_name(name, e.span, "parameter or size")
        };
        self.error(error)
    }

    fn field(&mut self, of: &Expr, name: &ast::Name) -> Option<GuardExpr> {
        match of.as_name() {
            Some("target") if self.scope.param("target").is_none() => {
                self.target_field(name, 0)?;
                let of = Box::new(GuardExpr::Global("target".into()));
                Some(GuardExpr::Field(of, name.text.clone()))
            }
            Some("config") if self.scope.param("config").is_none() => {
                let of = Box::new(GuardExpr::Global("config".into()));
                Some(GuardExpr::Field(of, name.text.clone()))
            }
            Some(p) => match self.scope.param(p) {
                Some(i) => self.param_field(i, name),
                None => self.family_field(of, name),
            },
            None => self.family_field(of, name),
        }
    }

    fn param_field(&mut self, param: usize, name: &ast::Name) -> Option<GuardExpr> {
        let group = matches!(self.scope.sig.params[param].ty, TypeExpr::Scalar(Scalar::Group));
        if group && GROUP_FIELDS.contains(&name.as_str()) {
            return Some(GuardExpr::Field(Box::new(GuardExpr::Param(param)), name.text.clone()));
        }
        let (p, field) = (&self.scope.sig.params[param].name, &name.text);
        let error = Diagnostic::new(
            Code::UnknownField,
            name.span,
            format!("parameter `{p}` has no field `{field}`"),
        );
        let error = match group {
            true => error
                .did_you_mean(field, name.span, GROUP_FIELDS.iter().copied())
                .note("a group has `size` and `rank`"),
            false => error.note("only groups and families have fields"),
        };
        self.error(error)
    }

    fn family_field(&mut self, of: &Expr, name: &ast::Name) -> Option<GuardExpr> {
        let (used, value) = self.scope.family_field(of, name, self.errors)?;
        self.family = true;
        if let Some(a) = consts::literal(&value).or_else(|| {
            let n = value.as_name().filter(|n| !used.names.contains_key(*n))?;
            consts::named(self.scope.world, n, None)
        }) {
            return Some(GuardExpr::Const(a));
        }
        let renamed = value.as_name().and_then(|n| used.names.get(n));
        if let Some(i) = renamed.and_then(|n| self.scope.param(n))
            && !self.scope.is_int(i)
        {
            return Some(GuardExpr::Param(i));
        }
        self.scope.member_value(&used, &value, self.errors).map(GuardExpr::Dim)
    }

    fn target_field(&mut self, name: &ast::Name, given: usize) -> Option<()> {
        let known = TARGET_FIELDS.iter().find(|(n, _)| *n == name.text);
        let error = match known {
            Some((_, arity)) if *arity == given => return Some(()),
            Some((n, 0)) => Diagnostic::new(
                Code::WrongArguments,
                name.span,
                format!("`target.{n}` takes no argument"),
            ),
            Some((n, arity)) => Diagnostic::new(
                Code::WrongArguments,
                name.span,
                format!("`target.{n}` takes {arity} argument, found {given}"),
            )
            .help(format!("write `target.{n}(g.size)`")),
            None => {
                let names: Vec<&str> = TARGET_FIELDS.iter().map(|(n, _)| *n).collect();
                let message = format!("a target has no `{}`", name.text);
                Diagnostic::new(Code::UnknownField, name.span, message)
                    .note(format!("it has {}", names.join(", ")))
                    .did_you_mean(&name.text, name.span, names)
            }
        };
        self.errors.push(error);
        None
    }

    fn call(&mut self, callee: &Expr, args: &[ast::Arg]) -> Option<GuardExpr> {
        if let Some(named) = args.iter().find_map(|a| a.name.as_ref()) {
            let message = format!("functions of guards have no keyword `{}`", named.text);
            return self.error(Diagnostic::new(Code::WrongArguments, named.span, message));
        }
        let name = match &callee.kind {
            ExprKind::Name(n) => {
                self.function(n, callee, args.len())?;
                n.clone()
            }
            ExprKind::Field { of, name } if of.as_name() == Some("target") => {
                self.target_field(name, args.len())?;
                format!("target.{}", name.text)
            }
            ExprKind::Field { of, name } if of.as_name() == Some("config") => {
                format!("config.{}", name.text)
            }
            _ => {
                let text = self.scope.world.text(callee.span);
                let message = format!("no function `{text}`");
                return self.error(Diagnostic::new(Code::UnknownName, callee.span, message));
            }
        };
        let values: Vec<_> = args.iter().map(|a| self.expr(&a.value)).collect();
        let values: Vec<GuardExpr> = values.into_iter().collect::<Option<_>>()?;
        if FUNCTIONS.iter().any(|(n, _)| *n == name) && !matches!(values[0], GuardExpr::Param(_)) {
            let at = args[0].span;
            let message = format!("`{name}` asks about an operand");
            return self.error(
                Diagnostic::new(Code::TypeMismatch, at, message).label("not a tensor parameter"),
            );
        }
        Some(GuardExpr::Call(name, values))
    }

    fn function(&mut self, name: &str, callee: &Expr, given: usize) -> Option<()> {
        let sizes = DIM_FUNCTIONS.iter().map(|n| (*n, 2));
        let all: Vec<(&str, usize)> = FUNCTIONS.iter().copied().chain(sizes).collect();
        match all.iter().find(|(n, _)| *n == name) {
            Some((_, arity)) if *arity == given => return Some(()),
            Some((_, arity)) => self.errors.push(Diagnostic::new(
                Code::WrongArguments,
                callee.span,
                format!("`{name}` takes {arity} arguments, found {given}"),
            )),
            None => {
                let names: Vec<&str> = all.iter().map(|(n, _)| *n).collect();
                self.errors.push(
                    Diagnostic::new(
                        Code::UnknownName,
                        callee.span,
                        format!("guards have no function `{name}`"),
                    )
                    .note(format!("they have {}", names.join(", ")))
                    .did_you_mean(name, callee.span, names),
                );
            }
        }
        None
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<GuardExpr> {
        let (mut a, mut b) = (self.expr(left), self.expr(right));
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            a = a.map(|a| self.beside_none(a, &b, left));
            b = b.map(|b| self.beside_none(b, &a, right));
        }
        let (a, b) = (a?, b?);
        self.comparable(&a, left, &b, right)?;
        self.comparable(&b, right, &a, left)?;
        if op == BinaryOp::In && !matches!(b, GuardExpr::Set(_)) {
            let message = "the right side of `in` is not a set";
            return self.error(
                Diagnostic::new(Code::TypeMismatch, right.span, message)
                    .help("a set is written `{2, 4, 8}`; a class of dtypes is one too"),
            );
        }
        Some(GuardExpr::Bin(bin_op(op), Box::new(a), Box::new(b)))
    }

    /// A tensor has no value in a guard; an enum parameter is compared with values of its enum.
    fn comparable(
        &mut self,
        a: &GuardExpr,
        at: &Expr,
        other: &GuardExpr,
        there: &Expr,
    ) -> Option<()> {
        let GuardExpr::Param(i) = a else { return Some(()) };
        let p = &self.scope.sig.params[*i];
        let is_none = matches!(other, GuardExpr::Const(Attr::None));
        if matches!(p.ty, TypeExpr::Tensor(_) | TypeExpr::State(_) | TypeExpr::Tensors) && !is_none
        {
            let message = format!("`{}` is a tensor; a guard does not see its elements", p.name);
            let d = Diagnostic::new(Code::TypeMismatch, at.span, message)
                .because(p.span, "declared here");
            self.errors.push(d.help("ask for its `numel(..)`, `bytes(..)` or a size in its type"));
            return None;
        }
        let values: Vec<&GuardExpr> = match other {
            GuardExpr::Set(items) => items.iter().collect(),
            one => vec![one],
        };
        for v in values {
            let GuardExpr::Const(c) = v else { continue };
            if !consts::enum_value(self.scope.world, c, Some(&p.ty), there, self.errors) {
                return None;
            }
        }
        Some(())
    }

    /// An integer parameter compared with `none` is asked for its value, not for its size.
    fn beside_none(&self, g: GuardExpr, other: &Option<GuardExpr>, e: &Expr) -> GuardExpr {
        let none = matches!(other, Some(GuardExpr::Const(Attr::None)));
        match e.as_name().and_then(|n| self.scope.param(n)) {
            Some(i) if none => GuardExpr::Param(i),
            _ => g,
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
