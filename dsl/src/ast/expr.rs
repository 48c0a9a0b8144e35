//! Statements and expressions.

use super::Name;
use crate::source::Span;

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

impl Expr {
    /// The word, if it is a plain name.
    pub fn as_name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(n) => Some(n),
            _ => None,
        }
    }
}
