//! Guards and signatures as text, in the language's own form.

use crate::dtype::{Dtype, DtypeSet};
use crate::library::{
    BinOp, DtypeExpr, Generic, GuardExpr, Param, ResultDecl, Scalar, Signature, TensorExpr,
    TypeExpr,
};

fn symbol(op: BinOp) -> (&'static str, u8) {
    match op {
        BinOp::Or => ("||", 1),
        BinOp::And => ("&&", 2),
        BinOp::Eq => ("==", 3),
        BinOp::Ne => ("!=", 3),
        BinOp::Lt => ("<", 3),
        BinOp::Le => ("<=", 3),
        BinOp::Gt => (">", 3),
        BinOp::Ge => (">=", 3),
        BinOp::In => ("in", 3),
        BinOp::Add => ("+", 4),
        BinOp::Sub => ("-", 4),
        BinOp::Mul => ("*", 5),
        BinOp::Div => ("/", 5),
        BinOp::Mod => ("%", 5),
    }
}

/// A guard, with the names of the signature's parameters.
pub fn guard(e: &GuardExpr, sig: &Signature) -> String {
    at(e, sig, 0)
}

fn at(e: &GuardExpr, sig: &Signature, level: u8) -> String {
    let list =
        |items: &[GuardExpr]| items.iter().map(|i| at(i, sig, 0)).collect::<Vec<_>>().join(", ");
    match e {
        GuardExpr::Const(a) => a.to_string(),
        GuardExpr::Dim(d) => match d.size() > 1 && level > 4 {
            true => format!("({d})"),
            false => d.to_string(),
        },
        GuardExpr::Param(i) => sig.params.get(*i).map_or("?".into(), |p| p.name.clone()),
        GuardExpr::Generic(g) | GuardExpr::Global(g) => g.clone(),
        GuardExpr::Field(of, name) => format!("{}.{name}", at(of, sig, 9)),
        GuardExpr::Call(name, args) => format!("{name}({})", list(args)),
        GuardExpr::Set(items) => format!("{{{}}}", list(items)),
        GuardExpr::Not(inner) => format!("!{}", at(inner, sig, 9)),
        GuardExpr::Bin(op, a, b) => {
            let (text, own) = symbol(*op);
            let made = format!("{} {text} {}", at(a, sig, own), at(b, sig, own + 1));
            if own < level { format!("({made})") } else { made }
        }
    }
}

/// A dtype set: a class if it is one, else its members.
pub fn class(set: DtypeSet) -> String {
    let named = ["any", "float", "half", "fp8", "int"];
    if let Some(name) = named.into_iter().find(|n| DtypeSet::class(n) == Some(set)) {
        return name.into();
    }
    set.iter().map(Dtype::short).collect::<Vec<_>>().join(" | ")
}

fn tensor(t: &TensorExpr) -> String {
    let dtype = match &t.dtype {
        DtypeExpr::Generic(g) => g.clone(),
        DtypeExpr::Is(d) => d.to_string(),
        DtypeExpr::Any => "_".into(),
    };
    let leading = t.leading.iter().map(|l| format!("{l}.."));
    let dims: Vec<String> = leading.chain(t.dims.iter().map(|d| d.to_string())).collect();
    format!("{dtype}[{}]", dims.join(", "))
}

/// A declared type.
pub fn type_expr(ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Tensor(t) => tensor(t),
        TypeExpr::State(t) => format!("state {}", tensor(t)),
        TypeExpr::Tensors => "tensors".into(),
        TypeExpr::Any => "_".into(),
        TypeExpr::Scalar(s) => match s {
            Scalar::Int => "int".into(),
            Scalar::Float => "f64".into(),
            Scalar::Bool => "bool".into(),
            Scalar::Dtype => "dtype".into(),
            Scalar::Ints => "ints".into(),
            Scalar::Group => "group".into(),
            Scalar::Opaque => "opaque".into(),
            Scalar::Enum(name) => name.clone(),
        },
    }
}

/// A parameter as declared.
pub fn param(p: &Param) -> String {
    let optional = if p.optional { "?" } else { "" };
    let default = p.default.as_ref().map_or(String::new(), |d| format!(" = {d}"));
    format!("{}: {}{optional}{default}", p.name, type_expr(&p.ty))
}

fn result(r: &ResultDecl) -> String {
    match (&r.ty, r.name.as_str()) {
        (Some(t), "") => type_expr(t),
        (Some(t), name) => format!("{name}: {}", type_expr(t)),
        (None, "") => "_".into(),
        (None, name) => name.into(),
    }
}

fn generic(g: &Generic) -> String {
    match g.class == DtypeSet::ANY {
        true => g.name.clone(),
        false => format!("{}: {}", g.name, class(g.class)),
    }
}

/// A signature without its guards: `<T: half>(x: T[b.., d]) -> T[b.., d]`.
pub fn signature(sig: &Signature) -> String {
    let join = |items: Vec<String>| items.join(", ");
    let generics = match sig.generics.is_empty() {
        true => String::new(),
        false => format!("<{}>", join(sig.generics.iter().map(generic).collect())),
    };
    let params = join(sig.params.iter().map(param).collect());
    let results = match sig.results.as_slice() {
        [] => String::new(),
        [one] => format!(" -> {}", result(one)),
        many => format!(" -> ({})", join(many.iter().map(result).collect())),
    };
    format!("{generics}({params}){results}")
}
