//! Building expressions: precedence, and a limit on height so that no later stage, walking the
//! tree by recursion, can run out of stack.

use super::build::{Build, P};
use super::{MAX_DEPTH, Rule};
use crate::ast::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// An expression with its height.
struct Tall {
    expr: Expr,
    height: usize,
}

impl Build<'_> {
    /// Any of the expression rules, `line` and `guard` included.
    pub fn expr(&mut self, p: P<'_>) -> Option<Expr> {
        self.tall(p).map(|t| t.expr)
    }

    pub fn exprs(&mut self, p: P<'_>) -> Option<Vec<Expr>> {
        p.into_inner().filter(|c| !is_keyword(c)).map(|c| self.expr(c)).collect()
    }

    fn tall(&mut self, p: P<'_>) -> Option<Tall> {
        match p.as_rule() {
            Rule::expr | Rule::line => self.alternatives(p),
            Rule::wide | Rule::chain => self.infix(p),
            Rule::unary => self.unary(p),
            Rule::path => self.path(p),
            Rule::list => self.many(p, ExprKind::List),
            Rule::set => self.many(p, ExprKind::Set),
            Rule::paren => self.paren(p),
            _ => self.leaf(p),
        }
    }

    /// Counts one level on top of `below`, or reports that the expression is too deep.
    fn stack(&mut self, kind: ExprKind, span: Span, below: usize) -> Option<Tall> {
        let height = below + 1;
        if height > MAX_DEPTH {
            self.errors.push(too_deep(span));
            return None;
        }
        Some(Tall { expr: Expr { kind, span, parens: false }, height })
    }

    fn alternatives(&mut self, p: P<'_>) -> Option<Tall> {
        let mut all = Vec::new();
        for c in p.into_inner() {
            all.push(self.tall(c)?);
        }
        if all.len() == 1 {
            return all.pop();
        }
        let span = all.iter().map(|t| t.expr.span).reduce(join)?;
        let below = all.iter().map(|t| t.height).max()?;
        self.stack(ExprKind::Alt(all.into_iter().map(|t| t.expr).collect()), span, below)
    }

    /// Operands and operators in turn; all operators are left-associative.
    fn infix(&mut self, p: P<'_>) -> Option<Tall> {
        let (mut operands, mut pending) = (Vec::new(), Vec::<(BinaryOp, Span)>::new());
        for c in p.into_inner() {
            if c.as_rule() != Rule::infix {
                operands.push(self.tall(c)?);
                continue;
            }
            let op = binary_op(c.as_str())?;
            while pending.last().is_some_and(|(o, _)| o.precedence() >= op.precedence()) {
                self.reduce(&mut operands, &mut pending)?;
            }
            pending.push((op, self.span(&c)));
        }
        while !pending.is_empty() {
            self.reduce(&mut operands, &mut pending)?;
        }
        operands.pop()
    }

    fn reduce(
        &mut self,
        operands: &mut Vec<Tall>,
        pending: &mut Vec<(BinaryOp, Span)>,
    ) -> Option<()> {
        let (op, op_span) = pending.pop()?;
        let (right, left) = (operands.pop()?, operands.pop()?);
        let span = join(left.expr.span, right.expr.span);
        let below = left.height.max(right.height);
        let (left, right) = (Box::new(left.expr), Box::new(right.expr));
        let kind = ExprKind::Binary { op, op_span, left, right };
        let made = self.stack(kind, span, below)?;
        operands.push(made);
        Some(())
    }

    fn unary(&mut self, p: P<'_>) -> Option<Tall> {
        let mut prefixes = Vec::new();
        for c in p.into_inner() {
            if c.as_rule() == Rule::prefix {
                prefixes.push((c.as_str() == "!", self.span(&c)));
                continue;
            }
            let mut made = self.tall(c)?;
            for (not, at) in prefixes.into_iter().rev() {
                let op = if not { UnaryOp::Not } else { UnaryOp::Neg };
                let span = join(at, made.expr.span);
                let kind = ExprKind::Unary { op, of: Box::new(made.expr) };
                made = self.stack(kind, span, made.height)?;
            }
            return Some(made);
        }
        None
    }

    /// `a.b.c(args)?`
    fn path(&mut self, p: P<'_>) -> Option<Tall> {
        let start = self.span(&p);
        let mut made: Option<Tall> = None;
        for c in p.into_inner() {
            let here = self.span(&c);
            let span = join(Span { end: start.start, ..start }, here);
            made = match (c.as_rule(), made) {
                (Rule::ident, None) => self.leaf(c),
                (Rule::ident, Some(of)) => {
                    let (name, below) = (self.name(&c), of.height);
                    self.stack(ExprKind::Field { of: Box::new(of.expr), name }, span, below)
                }
                (Rule::args, Some(callee)) => {
                    let (args, below) = self.args(c)?;
                    let below = below.max(callee.height);
                    let callee = Box::new(callee.expr);
                    self.stack(ExprKind::Call { callee, args }, span, below)
                }
                (_, Some(of)) => {
                    let below = of.height;
                    self.stack(ExprKind::Optional(Box::new(of.expr)), span, below)
                }
                (_, None) => None,
            };
            made.as_ref()?;
        }
        made
    }

    /// Arguments and the height of the highest.
    pub fn args(&mut self, p: P<'_>) -> Option<(Vec<Arg>, usize)> {
        let (mut args, mut height) = (Vec::new(), 0);
        for arg in p.into_inner() {
            let span = self.span(&arg);
            let (mut name, mut value) = (None, None);
            for c in arg.into_inner() {
                match c.as_rule() {
                    Rule::ident => name = Some(self.name(&c)),
                    _ => value = Some(self.tall(c)?),
                }
            }
            let value = value?;
            height = height.max(value.height);
            args.push(Arg { name, value: value.expr, span });
        }
        Some((args, height))
    }

    fn many(&mut self, p: P<'_>, kind: fn(Vec<Expr>) -> ExprKind) -> Option<Tall> {
        let span = self.span(&p);
        let (mut all, mut below) = (Vec::new(), 0);
        for c in p.into_inner() {
            let made = self.tall(c)?;
            below = below.max(made.height);
            all.push(made.expr);
        }
        self.stack(kind(all), span, below)
    }

    /// A tuple, or an expression in parentheses.
    fn paren(&mut self, p: P<'_>) -> Option<Tall> {
        let span = self.span(&p);
        let (mut all, mut below, mut comma) = (Vec::new(), 0, false);
        for c in p.into_inner() {
            if c.as_rule() == Rule::comma {
                comma = true;
                continue;
            }
            let made = self.tall(c)?;
            below = below.max(made.height);
            all.push(made.expr);
        }
        if all.len() == 1 && !comma {
            let expr = Expr { parens: true, ..all.pop()? };
            return Some(Tall { expr, height: below });
        }
        self.stack(ExprKind::Tuple(all), span, below)
    }

    fn leaf(&mut self, p: P<'_>) -> Option<Tall> {
        let span = self.span(&p);
        let text = self.text(span);
        let kind = match p.as_rule() {
            Rule::number => self.number(text, span),
            Rule::string => ExprKind::Str(self.string(&p).text),
            Rule::any => ExprKind::Any,
            Rule::rest => ExprKind::Rest,
            _ => match text {
                "none" => ExprKind::None,
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "in" | "where" => {
                    self.syntax(span, format!("expected an expression, found `{text}`"));
                    ExprKind::Name(text.to_string())
                }
                _ => ExprKind::Name(text.to_string()),
            },
        };
        self.stack(kind, span, 0)
    }

    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            let value = text.parse().ok();
            if value.is_none() {
                self.errors.push(bad_number(text, span, "64-bit integer"));
            }
            return ExprKind::Int { text: text.to_string(), value };
        }
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            self.errors.push(bad_number(text, span, "double"));
        }
        ExprKind::Float { text: text.to_string(), value }
    }
}

fn is_keyword(p: &P<'_>) -> bool {
    matches!(p.as_rule(), Rule::kw_where | Rule::kw_return | Rule::kw_strided)
}

fn binary_op(text: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    let all = [Or, And, Eq, Ne, Lt, Le, Gt, Ge, In, Add, Sub, Mul, Div, Rem];
    all.into_iter().find(|op| op.as_str() == text)
}

fn bad_number(text: &str, span: Span, kind: &str) -> Diagnostic {
    Diagnostic::new(Code::BadNumber, span, format!("`{text}` does not fit a {kind}"))
}

/// Too many levels, by brackets or by operators.
pub(crate) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::new(Code::TooDeep, span, format!("nested deeper than {MAX_DEPTH} levels"))
        .help("bind inner parts to names, one statement each")
}
