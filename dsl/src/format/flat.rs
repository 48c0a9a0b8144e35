//! Every construct that fits on one line, as one line.

use crate::ast::*;

/// `T: bf16 | f16`
fn generic(g: &Generic) -> String {
    let class: Vec<&str> = g.class.iter().map(Name::as_str).collect();
    match class.is_empty() {
        true => g.name.text.clone(),
        false => format!("{}: {}", g.name.text, class.join(" | ")),
    }
}

/// `<T: half, Q: quantizer>`, or nothing.
pub(super) fn generics(all: &[Generic]) -> String {
    match all.is_empty() {
        true => String::new(),
        false => format!("<{}>", join(all, generic)),
    }
}

pub(super) fn join<T>(items: &[T], flat: impl Fn(&T) -> String) -> String {
    items.iter().map(flat).collect::<Vec<_>>().join(", ")
}

pub(super) fn param(p: &Param) -> String {
    let optional = if p.optional { "?" } else { "" };
    let default = p.default.as_ref().map(|e| format!(" = {}", expr(e))).unwrap_or_default();
    format!("{}: {}{optional}{default}", p.name.text, ty(&p.ty))
}

fn ty(t: &Ty) -> String {
    match &t.kind {
        TyKind::Any => "_".into(),
        TyKind::Word(word) => word.clone(),
        TyKind::Tensor(t) => tensor(t),
        TyKind::State(None) => "state".into(),
        TyKind::State(Some(t)) => format!("state {}", tensor(t)),
    }
}

fn tensor(t: &TensorTy) -> String {
    let leading = t.leading.iter().map(|l| {
        let name = l.name.as_ref().map(Name::as_str).unwrap_or_default();
        format!("{name}..")
    });
    let dims: Vec<String> = leading.chain(t.dims.iter().map(dim)).collect();
    let strided = t.strided.as_ref().map(|s| format!(" strided({})", join(s, dim)));
    format!("{}[{}]{}", t.dtype.text, dims.join(", "), strided.unwrap_or_default())
}

pub(super) fn result(r: &ResultDecl) -> String {
    match r {
        ResultDecl::Type(t) => ty(t),
        ResultDecl::Named { name, ty: None } => name.text.clone(),
        ResultDecl::Named { name, ty: Some(t) } => format!("{}: {}", name.text, ty(t)),
        ResultDecl::Family { var, .. } => format!("{}.results", var.text),
    }
}

/// Whether results need parentheses: several, or one with a name and a type.
pub(super) fn results_in_parens(all: &[ResultDecl]) -> bool {
    all.len() > 1 || matches!(all, [ResultDecl::Named { ty: Some(_), .. }])
}

/// ` -> ..`, or nothing.
pub(super) fn results(all: &[ResultDecl]) -> String {
    match (all.is_empty(), results_in_parens(all)) {
        (true, _) => String::new(),
        (_, true) => format!(" -> ({})", join(all, result)),
        (_, false) => format!(" -> {}", join(all, result)),
    }
}

pub(super) fn markers(all: &[Marker]) -> String {
    let word = |m: &Marker| match m.kind {
        MarkerKind::Primitive => " primitive",
        MarkerKind::Opaque => " opaque",
        MarkerKind::Collective => " collective",
        MarkerKind::Commutative => " commutative",
    };
    all.iter().map(word).collect()
}

/// `y`, `(y, h)`
pub(super) fn names(all: &[Name], tuple: bool) -> String {
    let joined = join(all, |n| n.text.clone());
    if tuple && all.len() > 1 { format!("({joined})") } else { joined }
}

pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn torch_arg(a: &TorchArg) -> String {
    let name = a.name.as_ref().map(|n| format!("{} = ", n.text)).unwrap_or_default();
    let value = a.value.as_ref().map(expr);
    let out = a.out.as_ref().map(|n| format!("out {}", n.text));
    let parts: Vec<String> = value.into_iter().chain(out).collect();
    format!("{name}{}", parts.join(" "))
}

pub(super) fn arg(a: &Arg) -> String {
    let name = a.name.as_ref().map(|n| format!("{} = ", n.text)).unwrap_or_default();
    format!("{name}{}", expr(&a.value))
}

/// A dimension: products and quotients are tight.
fn dim(e: &Expr) -> String {
    Flat { dims: true }.expr(e)
}

pub(super) fn expr(e: &Expr) -> String {
    Flat { dims: false }.expr(e)
}

/// Whether written parentheses are kept: around what is one word anyway they say nothing.
pub(super) fn keeps_parens(e: &Expr) -> bool {
    e.parens
        && matches!(e.kind, ExprKind::Binary { .. } | ExprKind::Unary { .. } | ExprKind::Alt(_))
}

/// ` + ` or `*`: products are tight in dimensions and next to an integer, as in `2*n*d`.
pub(super) fn operator(op: BinaryOp, left: &Expr, right: &Expr, dims: bool) -> String {
    match dims && is_product(op) || tight(op, left, right) {
        true => op.as_str().to_string(),
        false => format!(" {} ", op.as_str()),
    }
}

fn is_product(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Mul | BinaryOp::Div)
}

fn tight(op: BinaryOp, left: &Expr, right: &Expr) -> bool {
    let int = |e: &Expr| matches!(e.kind, ExprKind::Int { .. });
    let above = match &left.kind {
        ExprKind::Binary { op, left, right, .. } => tight(*op, left, right),
        _ => false,
    };
    is_product(op) && (int(left) || int(right) || (above && !left.parens))
}

struct Flat {
    dims: bool,
}

impl Flat {
    fn expr(&self, e: &Expr) -> String {
        let text = self.kind(&e.kind);
        if keeps_parens(e) { format!("({text})") } else { text }
    }

    fn kind(&self, kind: &ExprKind) -> String {
        match kind {
            ExprKind::Name(n) => n.clone(),
            ExprKind::None => "none".into(),
            ExprKind::Bool(b) => b.to_string(),
            ExprKind::Int { text, .. } | ExprKind::Float { text, .. } => text.clone(),
            ExprKind::Str(s) => string(s),
            ExprKind::Any => "_".into(),
            ExprKind::Rest => "..".into(),
            ExprKind::Optional(of) => format!("{}?", self.expr(of)),
            ExprKind::Call { callee, args } => {
                format!("{}({})", self.expr(callee), self.args(args))
            }
            ExprKind::Field { of, name } => format!("{}.{}", self.expr(of), name.text),
            ExprKind::List(all) => format!("[{}]", self.all(all)),
            ExprKind::Set(all) => format!("{{{}}}", self.all(all)),
            ExprKind::Tuple(all) => {
                let comma = if all.len() == 1 { "," } else { "" };
                format!("({}{comma})", self.all(all))
            }
            ExprKind::Unary { op, of } => format!("{}{}", op.as_str(), self.expr(of)),
            ExprKind::Binary { op, left, right, .. } => {
                let between = operator(*op, left, right, self.dims);
                format!("{}{between}{}", self.expr(left), self.expr(right))
            }
            ExprKind::Alt(all) => all.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(" | "),
        }
    }

    fn all(&self, all: &[Expr]) -> String {
        join(all, |e| self.expr(e))
    }

    fn args(&self, all: &[Arg]) -> String {
        join(all, |a| {
            let name = a.name.as_ref().map(|n| format!("{} = ", n.text)).unwrap_or_default();
            format!("{name}{}", self.expr(&a.value))
        })
    }
}
