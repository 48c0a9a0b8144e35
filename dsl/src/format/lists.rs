//! What may need more than one line: bracketed lists and expressions.

use super::{Printer, WIDTH, flat};
use crate::ast::*;
use crate::source::Span;

/// A list between brackets.
pub(super) struct List<'l, T> {
    pub open: &'static str,
    pub close: &'static str,
    pub items: &'l [T],
    /// From the opening to the closing bracket.
    pub span: Span,
    /// Last element without a span of its own: `..`.
    pub rest: Option<Span>,
    pub flat: fn(&T) -> String,
    pub at: fn(&T) -> Span,
    /// Prints one element at an indentation, leaving room for what follows.
    pub print: fn(&mut Printer<'_>, &T, usize, usize),
}

impl Printer<'_> {
    /// On one line if it fits with `reserve` characters after it; else its elements on a line of
    /// their own; else each on its own.
    pub fn list<T>(&mut self, list: &List<'_, T>, indent: usize, reserve: usize) {
        let mut parts: Vec<String> = list.items.iter().map(list.flat).collect();
        parts.extend(list.rest.map(|_| "..".to_string()));
        let joined = parts.join(", ");
        let commented = self.has_comment(list.span);
        let whole = format!("{}{joined}{}", list.open, list.close);
        if !commented && (self.fits(&whole, reserve) || parts.is_empty()) {
            return self.push(&whole);
        }
        self.push(list.open);
        self.push("\n");
        let inner = indent + 4;
        if !commented && inner + joined.chars().count() < WIDTH {
            self.indent(inner);
            self.push(&joined);
            self.push(",\n");
        } else {
            self.one_a_line(list, inner);
        }
        self.comments_before((list.span.end as usize).saturating_sub(1), inner, false);
        self.indent(indent);
        self.push(list.close);
    }

    fn one_a_line<T>(&mut self, list: &List<'_, T>, indent: usize) {
        for item in list.items {
            let span = (list.at)(item);
            self.before(span, indent, false);
            (list.print)(self, item, indent, 1);
            self.push(",");
            self.after(span);
        }
        if let Some(span) = list.rest {
            self.before(span, indent, false);
            self.push("..,");
            self.after(span);
        }
    }

    pub fn params(&mut self, all: &[Param], rest: Option<Span>, span: Span, reserve: usize) {
        let list = List {
            open: "(",
            close: ")",
            items: all,
            span,
            rest,
            flat: flat::param,
            at: |p| p.span,
            print: |p, param, _, _| p.push(&flat::param(param)),
        };
        let indent = self.line_indent();
        self.list(&list, indent, reserve);
    }

    /// Blanks at the start of the current line.
    fn line_indent(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |i| i + 1);
        self.out[start..].bytes().take_while(|b| *b == b' ').count()
    }

    pub fn torch_args(&mut self, all: &[TorchArg], span: Span, indent: usize) {
        let list = List {
            open: "(",
            close: ")",
            items: all,
            span,
            rest: None,
            flat: flat::torch_arg,
            at: |a| a.span,
            print: |p, arg, _, _| p.push(&flat::torch_arg(arg)),
        };
        self.list(&list, indent, 0);
    }

    /// An expression; `indent` is that of its line.
    pub fn expr(&mut self, e: &Expr, indent: usize, reserve: usize) {
        let text = flat::expr(e);
        if self.fits(&text, reserve) && !self.has_comment(e.span) {
            return self.push(&text);
        }
        if !flat::keeps_parens(e) {
            return self.broken(e, indent, reserve);
        }
        self.push("(\n");
        self.indent(indent + 4);
        self.broken(e, indent + 4, 0);
        self.push("\n");
        self.indent(indent);
        self.push(")");
    }

    /// An expression that does not fit: broken at its brackets, the outermost last ones first.
    fn broken(&mut self, e: &Expr, indent: usize, reserve: usize) {
        match &e.kind {
            ExprKind::Call { callee, args } => {
                self.push(&flat::expr(callee));
                self.args(args, e.span, indent, reserve);
            }
            ExprKind::List(all) => self.exprs("[", "]", all, e.span, indent, reserve),
            ExprKind::Set(all) => self.exprs("{", "}", all, e.span, indent, reserve),
            ExprKind::Tuple(all) => self.exprs("(", ")", all, e.span, indent, reserve),
            ExprKind::Unary { op, of } => {
                self.push(op.as_str());
                self.expr(of, indent, reserve);
            }
            ExprKind::Binary { op, left, right, .. } => {
                let between = flat::operator(*op, left, right, false);
                let right_first = breakable(right) && !self.has_comment(left.span);
                if right_first {
                    self.push(&format!("{}{between}", flat::expr(left)));
                    self.expr(right, indent, reserve);
                } else {
                    let rest = format!("{between}{}", flat::expr(right));
                    self.expr(left, indent, reserve + rest.chars().count());
                    self.push(&rest);
                }
            }
            ExprKind::Alt(all) => self.alternatives(all, indent, reserve),
            _ => self.push(&flat::expr(e)),
        }
    }

    fn alternatives(&mut self, all: &[Expr], indent: usize, reserve: usize) {
        for (i, e) in all.iter().enumerate() {
            if i > 0 {
                self.push("\n");
                self.indent(indent);
                self.push("| ");
            }
            self.expr(e, indent, if i + 1 == all.len() { reserve } else { 0 });
        }
    }

    pub fn exprs(
        &mut self,
        open: &'static str,
        close: &'static str,
        items: &[Expr],
        span: Span,
        indent: usize,
        reserve: usize,
    ) {
        let list = List {
            open,
            close,
            items,
            span,
            rest: None,
            flat: flat::expr,
            at: |e| e.span,
            print: |p, e, indent, reserve| p.expr(e, indent, reserve),
        };
        self.list(&list, indent, reserve);
    }

    pub fn args(&mut self, items: &[Arg], span: Span, indent: usize, reserve: usize) {
        let list = List {
            open: "(",
            close: ")",
            items,
            span,
            rest: None,
            flat: flat::arg,
            at: |a| a.span,
            print: |p, a, indent, reserve| {
                if let Some(name) = &a.name {
                    p.push(&format!("{} = ", name.text));
                }
                p.expr(&a.value, indent, reserve);
            },
        };
        self.list(&list, indent, reserve);
    }
}

/// Whether there is a bracket to break at.
fn breakable(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { args, .. } => !args.is_empty(),
        ExprKind::List(all) | ExprKind::Set(all) | ExprKind::Tuple(all) => !all.is_empty(),
        ExprKind::Unary { of, .. } => breakable(of),
        ExprKind::Binary { left, right, .. } => e.parens || breakable(left) || breakable(right),
        _ => false,
    }
}
