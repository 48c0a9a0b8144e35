//! What a `.fuse` file says, as written: plain data, a span on everything, no names resolved.

use crate::source::Span;

/// A word, with the place it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl Name {
    /// The word as a `&str`.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Str {
    /// What is between the quotes, escapes resolved.
    pub text: String,
    /// Where it stands, quotes included.
    pub span: Span,
}

/// A doc comment (`///` or `//!` lines), without the slashes and one space after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The lines, joined by `\n`.
    pub text: String,
    /// From the first slash to the end of the last line.
    pub span: Span,
}

/// A parsed file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The `//!` lines at the top.
    pub doc: Option<Doc>,
    /// Items in source order, broken ones included.
    pub items: Vec<Item>,
}

/// One top-level item.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `op`
    Op(Op),
    /// `bind`
    Bind(Bind),
    /// `family`, `variant family`
    Family(Family),
    /// `enum`
    Enum(Enum),
    /// `rewrite`
    Rewrite(Rewrite),
    /// `fusion`
    Fusion(Fusion),
    /// `pass`
    Pass(Pass),
    /// `test`
    Test(Test),
    /// Something that did not parse; the errors are already reported.
    Broken(Broken),
}

/// An item that did not parse. What is known of it keeps later stages from reporting a second
/// error for the same mistake (a use of `name` is not an unknown name).
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The item's keyword, if it could be told: `op`, `fusion`, ..
    pub keyword: Option<String>,
    /// The item's name, if it could be told.
    pub name: Option<Name>,
    /// The whole piece of text.
    pub span: Span,
}

/// `op name<..>(..) -> .. markers where .. { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Name,
    /// Generics, parameters, results, guards.
    pub sig: Signature,
    /// `primitive`, `opaque`, `collective`, `commutative`, in source order.
    pub markers: Vec<Marker>,
    /// The meaning; `None` when there are no braces.
    pub body: Option<Block>,
    /// Doc comment excluded.
    pub span: Span,
}

/// A word after an op's result type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Which.
    pub kind: MarkerKind,
    /// Where it stands.
    pub span: Span,
}

/// What a marker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkerKind {
    /// A leaf the interpreter and the code generator know.
    Primitive,
    /// Can be matched, never looked into.
    Opaque,
    /// Every rank of a group takes part.
    Collective,
    /// The first two operands may be swapped.
    Commutative,
}

/// The typed outside of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    /// `<T: bf16 | f16, Q: quantizer>`
    pub generics: Vec<Generic>,
    /// Operands and attributes.
    pub params: Vec<Param>,
    /// `..` as the last parameter: more operands of any type may follow.
    pub rest: Option<Span>,
    /// What stands after `->`; empty without an arrow.
    pub results: Vec<ResultDecl>,
    /// From `->` to the last result; `None` without an arrow.
    pub results_span: Option<Span>,
    /// The `where` conjunction.
    pub guards: Vec<Expr>,
    /// From `(` to `)` of the parameters.
    pub params_span: Span,
}

/// `T: bf16 | f16`, `Q: quantizer`, `C`
#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    /// The variable.
    pub name: Name,
    /// Alternatives: dtypes, dtype classes, or one family. Empty is no bound.
    pub class: Vec<Name>,
    /// The whole.
    pub span: Span,
}

/// `x: T[n, d]? = none`
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Ty,
    /// A `?` after the type.
    pub optional: bool,
    /// After `=`.
    pub default: Option<Expr>,
    /// The whole.
    pub span: Span,
}

/// One result after `->`.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultDecl {
    /// `-> T[n, d]`: one result without a name.
    Type(Ty),
    /// `-> (y: T[n, d], h)`, `-> y`.
    Named {
        /// Its name.
        name: Name,
        /// Its type, unless left to inference.
        ty: Option<Ty>,
    },
    /// `Q.results`: the results of the member that the family variable stands for.
    Family {
        /// The family variable.
        var: Name,
        /// With `.results`.
        span: Span,
    },
}

impl ResultDecl {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            ResultDecl::Type(ty) => ty.span,
            ResultDecl::Named { name, ty: None } => name.span,
            ResultDecl::Named { name, ty: Some(ty) } => join(name.span, ty.span),
            ResultDecl::Family { span, .. } => *span,
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Ty {
    /// What it is.
    pub kind: TyKind,
    /// Where it stands.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TyKind {
    /// `_`
    Any,
    /// A word without brackets: `int`, `f64`, `bool`, `dtype`, `ints`, `tensors`, `group`,
    /// `opaque`, an enum, or a family variable. The span is the type's.
    Word(String),
    /// `T[b.., n, 2*d]`, with or without `strided(..)`.
    Tensor(TensorTy),
    /// `state`, `state C[..]`.
    State(Option<TensorTy>),
}

/// `T[b.., n, 2*d] strided(d + pad)`
#[derive(Clone, Debug, PartialEq)]
pub struct TensorTy {
    /// A dtype, a generic, or `_`.
    pub dtype: Name,
    /// `..` or `b..` before the other dimensions.
    pub leading: Option<Leading>,
    /// The other dimensions.
    pub dims: Vec<Expr>,
    /// Arguments of `strided(..)`; `None` is contiguous.
    pub strided: Option<Vec<Expr>>,
    /// The whole.
    pub span: Span,
}

/// Any number of leading dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Leading {
    /// The name in `b..`; `None` for `..`.
    pub name: Option<Name>,
    /// The whole.
    pub span: Span,
}

/// Statements between braces, or one side of a rewrite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In source order.
    pub stmts: Vec<Stmt>,
    /// Braces included; for a side of a rewrite, from the first statement to the last.
    pub span: Span,
}

/// `y = e`, `(y, h) = e`, or a bare `e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The names it binds, `_` among them for a result that is dropped; empty for a bare expression.
    pub targets: Vec<Name>,
    /// Whether the names stand in parentheses.
    pub tuple: bool,
    /// The right side.
    pub value: Expr,
    /// The whole.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, redundant parentheses excluded.
    pub span: Span,
    /// Whether it was written in parentheses, for the formatter.
    pub parens: bool,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A word that is not a constant.
    Name(String),
    /// `none`
    None,
    /// `true`, `false`
    Bool(bool),
    /// An integer. `value` is `None` when it does not fit (already reported).
    Int {
        /// As written.
        text: String,
        /// Its value.
        value: Option<i64>,
    },
    /// A number with a point or an exponent.
    Float {
        /// As written.
        text: String,
        /// Its value.
        value: f64,
    },
    /// `"tanh"`
    Str(String),
    /// `_`: anything.
    Any,
    /// `..`: more arguments that are not looked at.
    Rest,
    /// `x?`: an operand that may be missing.
    Optional(Box<Expr>),
    /// `f(a, k = b)`, `target.one_shot_limit(2)`
    Call {
        /// A [`ExprKind::Name`] or a [`ExprKind::Field`].
        callee: Box<Expr>,
        /// Arguments in order.
        args: Vec<Arg>,
    },
    /// `g.size`
    Field {
        /// The left side.
        of: Box<Expr>,
        /// The field.
        name: Name,
    },
    /// `[a, b]`
    List(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `{2, 4, 8}`
    Set(Vec<Expr>),
    /// `-a`, `!a`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        of: Box<Expr>,
    },
    /// `a + b`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a | b`: either pattern; at least two.
    Alt(Vec<Expr>),
}

/// One argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// The keyword, if there is one.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
    /// The whole.
    pub span: Span,
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

impl UnaryOp {
    /// As written.
    pub fn as_str(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
        }
    }
}

/// An infix operator, `|` excepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
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
    /// `in`
    In,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
}

impl BinaryOp {
    /// As written.
    pub fn as_str(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Or => "||",
            And => "&&",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            In => "in",
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
        }
    }

    /// How tightly it binds: higher is tighter. All are left-associative.
    pub fn precedence(self) -> u8 {
        use BinaryOp::*;
        match self {
            Or => 1,
            And => 2,
            Eq | Ne | Lt | Le | Gt | Ge | In => 3,
            Add | Sub => 4,
            Mul | Div | Rem => 5,
        }
    }
}

/// `bind f(a, b) -> y` and the `torch` lines under it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bind {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// The op.
    pub op: Name,
    /// The op's arguments: names, constants, enum values.
    pub args: Vec<Expr>,
    /// Names of the op's results; empty without `->`.
    pub results: Vec<Name>,
    /// Whether the results stand in parentheses.
    pub tuple: bool,
    /// The spellings, at least one.
    pub torch: Vec<TorchCall>,
    /// Doc comment excluded.
    pub span: Span,
}

/// `torch "ns.op.overload"(args)`
#[derive(Clone, Debug, PartialEq)]
pub struct TorchCall {
    /// The target.
    pub target: Str,
    /// The arguments.
    pub args: Vec<TorchArg>,
    /// The whole.
    pub span: Span,
}

/// One torch argument: `x`, `eps = 1e-6`, `result = out y`, `x out y`, `_`.
#[derive(Clone, Debug, PartialEq)]
pub struct TorchArg {
    /// The keyword, if there is one.
    pub name: Option<Name>,
    /// What is passed; `None` for a mere output buffer (`out y`).
    pub value: Option<Expr>,
    /// The result that the argument holds afterwards.
    pub out: Option<Name>,
    /// The whole.
    pub span: Span,
}

/// `family name<..>(..) { members }`
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// `variant family`: members differ only in rounding.
    pub variant: bool,
    /// Its name.
    pub name: Name,
    /// Generics, common parameters, results and guards (the last two are normally empty).
    pub sig: Signature,
    /// The members.
    pub members: Vec<Member>,
    /// Doc comment excluded.
    pub span: Span,
}

/// `quant_fp8_group(group: int, ue8m0: bool) block = group`
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The op.
    pub name: Name,
    /// Its extra parameters.
    pub params: Vec<Param>,
    /// `key = expression` over the extra parameters.
    pub fields: Vec<Field>,
    /// The whole.
    pub span: Span,
}

/// `key = expression`
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key.
    pub name: Name,
    /// The value.
    pub value: Expr,
    /// The whole.
    pub span: Span,
}

/// `enum scale_layout { row_major, col_major }`
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Name,
    /// Its values.
    pub values: Vec<Name>,
    /// Doc comment excluded.
    pub span: Span,
}

/// `rewrite name<..>(..) where .. { left => right }`
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// `approx(1 ulp)`
    pub approx: Option<Approx>,
    /// Its name.
    pub name: Name,
    /// Generics, parameters, results, guards.
    pub sig: Signature,
    /// Left side.
    pub lhs: Block,
    /// `<=>` instead of `=>`.
    pub both_ways: bool,
    /// Where the arrow stands.
    pub arrow: Span,
    /// Right side.
    pub rhs: Block,
    /// Doc comment excluded.
    pub span: Span,
}

/// `approx(1 ulp)`
#[derive(Clone, Debug, PartialEq)]
pub struct Approx {
    /// The bound.
    pub bound: Expr,
    /// Its unit, as `ulp`.
    pub unit: Name,
    /// The whole.
    pub span: Span,
}

/// `fusion name<..>(..) -> .. where .. { .. } kernel ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Fusion {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Name,
    /// Generics, parameters, results, guards.
    pub sig: Signature,
    /// Pattern and meaning.
    pub body: Block,
    /// How it is computed; `None` leaves it to the compiler.
    pub kernel: Option<Kernel>,
    /// `cost { bytes = .. }`
    pub cost: Option<Block>,
    /// Doc comment excluded.
    pub span: Span,
}

/// The `kernel` clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Template or external op.
    pub kind: KernelKind,
    /// `tune threads in {256, 512}`, one entry a name.
    pub tune: Vec<Tune>,
    /// From `kernel` to the end of the clause.
    pub span: Span,
}

/// What computes a fusion.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelKind {
    /// A template of the CUDA backend.
    Template(Name),
    /// `extern torch "..."(..)`
    Extern {
        /// The op and its arguments.
        call: TorchCall,
        /// `means { .. }`: its own meaning, where it is not exactly the body's.
        means: Option<Block>,
    },
}

/// `threads in {256, 512}`
#[derive(Clone, Debug, PartialEq)]
pub struct Tune {
    /// The tunable.
    pub name: Name,
    /// What it may be.
    pub values: Vec<Expr>,
    /// The whole.
    pub span: Span,
}

/// `pass name where ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Name,
    /// Enabling conditions.
    pub guards: Vec<Expr>,
    /// Doc comment excluded.
    pub span: Span,
}

/// `test "name" { graph (..) { .. return .. } fires .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Doc comment.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Str,
    /// Inputs of the graph.
    pub inputs: Vec<Param>,
    /// Statements of the graph before `return`.
    pub body: Block,
    /// After `return`.
    pub returns: Vec<Expr>,
    /// What must be chosen.
    pub fires: Vec<Fires>,
    /// Doc comment excluded.
    pub span: Span,
}

/// `fires f[member] once`, `fires f 3 times`, `fires nothing`
#[derive(Clone, Debug, PartialEq)]
pub struct Fires {
    /// The fusion; `None` for `nothing`.
    pub fusion: Option<Name>,
    /// `[member, member]`
    pub members: Vec<Name>,
    /// How often; 0 for `nothing`.
    pub times: usize,
    /// The whole.
    pub span: Span,
}

impl Item {
    /// Where it stands, doc comment excluded.
    pub fn span(&self) -> Span {
        match self {
            Item::Op(i) => i.span,
            Item::Bind(i) => i.span,
            Item::Family(i) => i.span,
            Item::Enum(i) => i.span,
            Item::Rewrite(i) => i.span,
            Item::Fusion(i) => i.span,
            Item::Pass(i) => i.span,
            Item::Test(i) => i.span,
            Item::Broken(i) => i.span,
        }
    }

    /// Its doc comment.
    pub fn doc(&self) -> Option<&Doc> {
        match self {
            Item::Op(i) => i.doc.as_ref(),
            Item::Bind(i) => i.doc.as_ref(),
            Item::Family(i) => i.doc.as_ref(),
            Item::Enum(i) => i.doc.as_ref(),
            Item::Rewrite(i) => i.doc.as_ref(),
            Item::Fusion(i) => i.doc.as_ref(),
            Item::Pass(i) => i.doc.as_ref(),
            Item::Test(i) => i.doc.as_ref(),
            Item::Broken(_) => None,
        }
    }
}

impl Expr {
    /// The word, if it is a plain name.
    pub fn as_name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(n) => Some(n),
            _ => None,
        }
    }
}

/// The span from the start of one to the end of the other; both in one file.
pub fn join(a: Span, b: Span) -> Span {
    Span { file: a.file, start: a.start.min(b.start), end: a.end.max(b.end) }
}
