//! What the loaded `.fuse` files declare, resolved and typed: the hand-over to the engine.
//!
//! Plain data. Names are resolved to ids, families are expanded, bodies are flat SSA. Everything is
//! sorted by name, so the order of files does not matter.

use crate::dim::Dim;
use crate::dtype::{Dtype, DtypeSet};
use crate::source::Span;
use std::fmt;
use std::sync::Arc;

/// Index into [`Library::ops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

/// All items of the loaded files.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Ops, primitives included, sorted by name.
    pub ops: Vec<Op>,
    /// How ops are spelled in PyTorch, sorted by torch target.
    pub binds: Vec<Bind>,
    /// Rewrites, one per family instance, sorted by name.
    pub rewrites: Vec<Rewrite>,
    /// Fusions, one per family instance, sorted by name.
    pub fusions: Vec<Fusion>,
    /// Passes, sorted by name.
    pub passes: Vec<Pass>,
    /// Tests in source order, files sorted by path.
    pub tests: Vec<Test>,
}

impl Library {
    /// The op with this name.
    pub fn op_named(&self, name: &str) -> Option<OpId> {
        self.ops.binary_search_by(|o| o.name.as_str().cmp(name)).ok().map(|i| OpId(i as u32))
    }

    /// The op behind an id.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.0 as usize]
    }
}

/// A declared operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// Name, unique over the loaded files.
    pub name: String,
    /// Doc comment, without the slashes.
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
    /// Parameters, results, generics and guards.
    pub sig: Signature,
    /// What it means.
    pub meaning: Meaning,
    /// Whether every rank of a group takes part.
    pub collective: bool,
    /// Whether its first two operands may be swapped without changing a bit.
    pub commutative: bool,
}

/// What an op means.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A leaf known to the interpreter and the code generator, by [`Op::name`].
    Primitive,
    /// An expression over other ops.
    Body(Body),
    /// Not our business: can be matched, never looked into.
    Opaque,
}

/// The typed outside of an op, a rewrite or a fusion.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Dtype variables such as `T: bf16 | f16`.
    pub generics: Vec<Generic>,
    /// Operands and attributes, in order.
    pub params: Vec<Param>,
    /// Results. One unnamed result has the name `""`.
    pub results: Vec<ResultDecl>,
    /// The `where` conjunction, in source order; inherited guards come after the item's own.
    pub guards: Vec<Guard>,
}

/// A dtype variable.
#[derive(Clone, Debug)]
pub struct Generic {
    /// Its name, as `T`.
    pub name: String,
    /// What it may stand for.
    pub class: DtypeSet,
}

/// One operand or attribute.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: TypeExpr,
    /// Default, which an absent argument takes.
    pub default: Option<Attr>,
    /// `x: T[..]?`: may be `none`.
    pub optional: bool,
    /// Where it is written.
    pub span: Span,
}

/// One result.
#[derive(Clone, Debug)]
pub struct ResultDecl {
    /// Name, or `""`.
    pub name: String,
    /// Type; `None` for fusions and rewrites that leave it to inference.
    pub ty: Option<TypeExpr>,
}

/// A declared type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExpr {
    /// `T[s.., n, 2*d]`.
    Tensor(TensorExpr),
    /// A linear state, such as a paged cache: `state C[..]`.
    State(TensorExpr),
    /// A list of tensors of any types (operands of `concat`).
    Tensors,
    /// `int`, `f64`, `bool`, `dtype`, `ints`, `group`, `opaque`, or an enum.
    Scalar(Scalar),
    /// Anything; bound to nothing in particular.
    Any,
}

/// A declared tensor type.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorExpr {
    /// Element type.
    pub dtype: DtypeExpr,
    /// Leading dimensions: absent, `..` (`Some("")`) or `s..` (`Some("s")`).
    pub leading: Option<String>,
    /// Trailing dimensions, over dimension names.
    pub dims: Vec<Dim>,
}

/// An element type in a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DtypeExpr {
    /// A generic, by name.
    Generic(String),
    /// A concrete type.
    Is(Dtype),
    /// Any type (`_`).
    Any,
}

/// Attribute types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Integer, possibly symbolic.
    Int,
    /// Double.
    Float,
    /// Boolean.
    Bool,
    /// An element type.
    Dtype,
    /// A list of integers.
    Ints,
    /// A process group.
    Group,
    /// Compared by identity.
    Opaque,
    /// One of a named set, such as `scale_layout`.
    Enum(String),
}

/// A constant attribute value. Total order and equality are by bits, so it can be interned.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attr {
    /// `none`.
    None,
    /// `true` or `false`.
    Bool(bool),
    /// Integer, possibly symbolic.
    Int(Dim),
    /// A double, by its bits.
    Float(u64),
    /// An element type.
    Dtype(Dtype),
    /// An enum value or a string.
    Str(Arc<str>),
    /// A process group, by name.
    Group(Arc<str>),
    /// An opaque value, by identity.
    Opaque(Arc<str>),
    /// A list.
    List(Arc<[Attr]>),
}

impl Attr {
    /// A double.
    pub fn float(v: f64) -> Attr {
        Attr::Float(v.to_bits())
    }

    /// A constant integer.
    pub fn int(v: i64) -> Attr {
        Attr::Int(Dim::int(v))
    }

    /// As a number, if it is one and not symbolic.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Attr::Float(b) => Some(f64::from_bits(*b)),
            Attr::Int(d) => d.as_int().map(|v| v as f64),
            Attr::Bool(b) => Some(f64::from(u8::from(*b))),
            _ => None,
        }
    }
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::None => f.write_str("none"),
            Attr::Bool(b) => write!(f, "{b}"),
            Attr::Int(d) => write!(f, "{d}"),
            Attr::Float(b) => write!(f, "{:?}", f64::from_bits(*b)),
            Attr::Dtype(d) => write!(f, "{d}"),
            Attr::Str(s) | Attr::Group(s) | Attr::Opaque(s) => f.write_str(s),
            Attr::List(l) => {
                f.write_str("[")?;
                for (i, a) in l.iter().enumerate() {
                    write!(f, "{}{a}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Index into [`Body::nodes`].
pub type Ref = usize;

/// A straight-line expression: nodes in topological order, then what it yields.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Nodes; each refers only to earlier ones.
    pub nodes: Vec<BodyNode>,
    /// One entry per declared result.
    pub results: Vec<Ref>,
}

/// One node of a body, with the place it was written.
#[derive(Clone, Debug)]
pub struct BodyNode {
    /// What it is.
    pub kind: BodyKind,
    /// Where it was written.
    pub span: Span,
    /// The name it was bound to, for messages.
    pub name: Option<String>,
}

/// What a body node is.
#[derive(Clone, Debug)]
pub enum BodyKind {
    /// The i-th parameter of the item.
    Param(usize),
    /// A constant.
    Const(Attr),
    /// A dimension expression used as an integer.
    Dim(Dim),
    /// A dtype that a generic stands for, used as an argument (`cast(x, T)`).
    Generic(String),
    /// A call; one argument per parameter of the op, defaults filled in.
    Call {
        /// The op.
        op: OpId,
        /// Arguments.
        args: Vec<Ref>,
    },
    /// One result of a call that has several.
    Proj {
        /// The call.
        of: Ref,
        /// Which result.
        index: usize,
    },
    /// A list of values, for `concat([a, b])` or `[n, d]`.
    List(Vec<Ref>),
    /// Either of several patterns (only on a left side).
    Alt(Vec<Ref>),
    /// Anything (only on a left side).
    Any,
}

/// A condition with its source text, for "refused by" messages.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The condition.
    pub expr: GuardExpr,
    /// Its source text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// The op or fusion it was inherited from, if not written here.
    pub from: Option<String>,
}

/// A guard or an integer or attribute expression in one.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardExpr {
    /// A constant.
    Const(Attr),
    /// A dimension expression over dimension names.
    Dim(Dim),
    /// A parameter's value (attributes) or the parameter itself (in calls).
    Param(usize),
    /// The dtype a generic stands for.
    Generic(String),
    /// `target.sm`, `g.size`: a field of a parameter or of `target`/`config`.
    Field(Box<GuardExpr>, String),
    /// `target`, `config`.
    Global(String),
    /// `bytes(x)`, `numel(x)`, `contiguous(x)`, `aligned(x, 16)`, `stride(x, -2)`, `target.one_shot_limit(n)`.
    Call(String, Vec<GuardExpr>),
    /// A binary operation.
    Bin(BinOp, Box<GuardExpr>, Box<GuardExpr>),
    /// `!a`.
    Not(Box<GuardExpr>),
    /// `{2, 4, 8}`, the right side of `in`.
    Set(Vec<GuardExpr>),
}

/// Operators of guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, exact
    Div,
    /// `%`
    Mod,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `in`
    In,
}

/// How exactly two sides of a rule agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exactness {
    /// Rounding point for rounding point.
    Exact,
    /// At most this many units in the last place of the result.
    Ulp(f64),
}

/// Two sides are equal.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// Name, with `[member]` for a family instance.
    pub name: String,
    /// Doc comment.
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
    /// The pass it belongs to, or `None` when always on.
    pub pass: Option<String>,
    /// What its variables are.
    pub sig: Signature,
    /// Left side.
    pub lhs: Body,
    /// Right side, over the same parameters.
    pub rhs: Body,
    /// `<=>`.
    pub both_ways: bool,
    /// Bound on the difference.
    pub exactness: Exactness,
}

/// An expression that one kernel computes.
#[derive(Clone, Debug)]
pub struct Fusion {
    /// Declared name.
    pub name: String,
    /// Members of plain families, in order: `["quant_fp8_static"]`.
    pub members: Vec<String>,
    /// Members of `variant` families, in order; reports sum over them.
    pub variants: Vec<String>,
    /// Doc comment.
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
    /// The pass it belongs to, or `None` when always on.
    pub pass: Option<String>,
    /// Operands, results, guards.
    pub sig: Signature,
    /// Pattern and meaning.
    pub body: Body,
    /// How it is computed.
    pub kernel: Kernel,
}

impl Fusion {
    /// Name in reports: the declared name and the plain family members.
    pub fn label(&self) -> String {
        match self.members.is_empty() {
            true => self.name.clone(),
            false => format!("{}[{}]", self.name, self.members.join(", ")),
        }
    }

    /// Unique name: every family member.
    pub fn instance(&self) -> String {
        let all: Vec<&str> =
            self.variants.iter().chain(&self.members).map(String::as_str).collect();
        match all.is_empty() {
            true => self.name.clone(),
            false => format!("{}[{}]", self.name, all.join(", ")),
        }
    }
}

/// How a fusion is computed.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// The compiler picks the template.
    Auto,
    /// A named template with tunables.
    Template {
        /// Its name.
        name: String,
        /// `tune threads in {256, 512}`.
        tune: Vec<(String, Vec<Attr>)>,
        /// Where it stands.
        span: Span,
    },
    /// An existing torch op.
    Extern {
        /// Its target.
        target: String,
        /// Arguments.
        args: Vec<BindArg>,
        /// Its meaning, where it is not exactly the body's.
        means: Option<Body>,
        /// Where it stands.
        span: Span,
    },
}

/// A switch with its enabling conditions.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Name, as in a configuration file.
    pub name: String,
    /// Doc comment.
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
    /// Enabling conditions over `target` and `config`.
    pub guards: Vec<Guard>,
}

/// How one op is spelled in PyTorch.
#[derive(Clone, Debug)]
pub struct Bind {
    /// The op.
    pub op: OpId,
    /// `ns.name.overload`.
    pub target: String,
    /// The op's arguments, one per parameter: a variable bound by [`Bind::args`] or a constant.
    pub op_args: Vec<BindValue>,
    /// Names of the op's results, for `out`.
    pub results: Vec<String>,
    /// Torch arguments, in the order written.
    pub args: Vec<BindArg>,
    /// Where it stands.
    pub span: Span,
}

/// One torch argument of a bind.
#[derive(Clone, Debug)]
pub struct BindArg {
    /// Keyword, or `None` for the next positional one.
    pub name: Option<String>,
    /// What is passed.
    pub value: BindValue,
    /// `out y`: after the call the argument holds this result.
    pub out: Option<usize>,
}

/// A value in a bind.
#[derive(Clone, Debug)]
pub enum BindValue {
    /// A variable.
    Var(String),
    /// A constant that must be equal.
    Const(Attr),
    /// A list.
    List(Vec<BindValue>),
    /// An output buffer, or `_`: what is passed does not matter.
    Buffer,
}

/// A test in a `.fuse` file.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Inputs of the graph with their types.
    pub inputs: Vec<Param>,
    /// The graph.
    pub graph: Body,
    /// `fires f[member] once`, `fires f 3 times`, `fires nothing`.
    pub expect: Vec<Expectation>,
}

/// How often a fusion is expected to be chosen.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// [`Fusion::label`]; `None` is any fusion.
    pub fusion: Option<String>,
    /// How often.
    pub times: usize,
    /// Where it stands.
    pub span: Span,
}
