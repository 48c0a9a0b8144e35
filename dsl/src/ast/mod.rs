//! What a `.fuse` file says, as written: plain data, a span on everything, no names resolved.

mod expr;
mod signature;

pub use expr::*;
pub use signature::*;

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

/// The span from the start of one to the end of the other; both in one file.
pub fn join(a: Span, b: Span) -> Span {
    Span { file: a.file, start: a.start.min(b.start), end: a.end.max(b.end) }
}
