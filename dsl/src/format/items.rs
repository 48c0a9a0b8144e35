//! Printing items.

use super::lists::List;
use super::{Printer, WIDTH, flat};
use crate::ast::*;
use crate::source::Span;

/// Whether an item always has blank lines around it; among short ones the author decides.
fn tall(item: &Item) -> bool {
    !matches!(item, Item::Op(Op { body: None, .. }) | Item::Bind(_))
}

/// A span that starts and ends where `span` ends: for what follows an element.
fn end_of(span: Span) -> Span {
    Span { start: span.end, ..span }
}

/// The last character, a closing brace.
fn last_char(span: Span) -> usize {
    (span.end as usize).saturating_sub(1)
}

impl Printer<'_> {
    pub fn file(&mut self, file: &File) {
        if let Some(doc) = &file.doc {
            self.comments_before(doc.span.start as usize, 0, true);
            self.keep_blank(doc.span.start as usize);
            self.doc(doc, "//!");
        }
        let mut above: Option<&Item> = None;
        for item in &file.items {
            let first = item.doc().map_or(item.span(), |d| d.span);
            let apart = above.map_or(file.doc.is_some(), |a| tall(a) || tall(item));
            self.space(first.start as usize, apart);
            self.comments_before(first.start as usize, 0, true);
            self.keep_blank(first.start as usize);
            if let Some(doc) = item.doc() {
                self.doc(doc, "///");
                self.comments_before(item.span().start as usize, 0, false);
            }
            self.item(item);
            self.after(item.span());
            self.fresh = false;
            above = Some(item);
        }
        self.space(self.text.len(), false);
        self.comments_before(self.text.len(), 0, true);
    }

    /// The blank line between an item and what precedes the next one.
    fn space(&mut self, next: usize, apart: bool) {
        let comment = self.comments.get(self.next).map(|c| c.start).filter(|c| *c < next);
        if apart && !self.out.is_empty() {
            self.push("\n");
            // What comes next has its blank line.
            self.last_end = self.last_end.max(comment.unwrap_or(next));
        }
    }

    fn doc(&mut self, doc: &Doc, slashes: &str) {
        for line in doc.text.split('\n') {
            self.push(slashes);
            if !line.is_empty() {
                self.push(" ");
                self.push(line);
            }
            self.push("\n");
        }
        self.last_end = self.last_end.max(doc.span.end as usize);
        self.fresh = false;
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Op(i) => self.op(i),
            Item::Bind(i) => self.bind(i),
            Item::Family(i) => self.family(i),
            Item::Enum(i) => self.enumeration(i),
            Item::Rewrite(i) => self.rewrite(i),
            Item::Fusion(i) => self.fusion(i),
            Item::Pass(i) => self.pass(i),
            Item::Test(i) => self.test(i),
            // A file with broken items is not formatted.
            Item::Broken(_) => {}
        }
    }

    /// Keyword, name, generics, parameters, results, markers, and `where`; then, with a body, the
    /// line up to where `{` goes.
    fn head(
        &mut self,
        keyword: &str,
        name: &Name,
        sig: &Signature,
        markers: &[Marker],
        body: bool,
    ) {
        self.push(&format!("{keyword} {}{}", name.text, flat::generics(&sig.generics)));
        let tail = format!("{}{}", flat::results(&sig.results), flat::markers(markers));
        let brace = if body && sig.guards.is_empty() { 2 } else { 0 };
        let whole = tail.chars().count() + brace;
        self.params(&sig.params, sig.rest, sig.params_span, whole);
        if self.fits(&tail, brace) || !flat::results_in_parens(&sig.results) {
            self.push(&tail);
        } else {
            self.push(" -> ");
            let after = flat::markers(markers);
            self.results(sig, after.chars().count() + brace);
            self.push(&after);
        }
        self.guards(&sig.guards);
        match (body, sig.guards.is_empty()) {
            (true, true) => self.push(" "),
            (true, false) => self.push("\n"),
            (false, _) => {}
        }
    }

    fn results(&mut self, sig: &Signature, reserve: usize) {
        let list = List {
            open: "(",
            close: ")",
            items: &sig.results,
            span: sig.results_span.unwrap_or_default(),
            rest: None,
            flat: flat::result,
            at: ResultDecl::span,
            print: |p, r, _, _| p.push(&flat::result(r)),
        };
        self.list(&list, 0, reserve);
    }

    /// Ends with the last guard's comma, not with a line end.
    fn guards(&mut self, guards: &[Expr]) {
        if guards.is_empty() {
            return;
        }
        self.push("\nwhere\n");
        for guard in guards {
            self.before(guard.span, 4, false);
            self.expr(guard, 4, 1);
            self.push(",");
            self.after(guard.span);
        }
        self.out.pop();
    }

    /// `{`, the statements, `}`.
    fn block(&mut self, block: &Block, indent: usize) {
        self.push("{\n");
        self.fresh = true;
        self.stmts(&block.stmts, indent + 4);
        self.close(block.span, indent);
    }

    /// Comments before the closing brace of `span`, and the brace.
    fn close(&mut self, span: Span, indent: usize) {
        self.comments_before(last_char(span), indent + 4, true);
        self.indent(indent);
        self.push("}");
        self.last_end = self.last_end.max(span.end as usize);
        self.fresh = false;
    }

    fn stmts(&mut self, stmts: &[Stmt], indent: usize) {
        for stmt in stmts {
            self.before(stmt.span, indent, true);
            self.stmt(stmt, indent);
            self.after(stmt.span);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, indent: usize) {
        if !stmt.targets.is_empty() {
            self.push(&format!("{} = ", flat::names(&stmt.targets, stmt.tuple)));
        }
        self.expr(&stmt.value, indent, 0);
    }

    fn op(&mut self, op: &Op) {
        self.head("op", &op.name, &op.sig, &op.markers, op.body.is_some());
        if let Some(body) = &op.body {
            self.block(body, 0);
        }
    }

    fn bind(&mut self, bind: &Bind) {
        let args = flat::join(&bind.args, flat::expr);
        self.push(&format!("bind {}({args})", bind.op.text));
        if !bind.results.is_empty() {
            self.push(&format!(" -> {}", flat::names(&bind.results, bind.tuple)));
        }
        self.push("\n");
        for call in &bind.torch {
            self.before(call.span, 4, false);
            self.torch(call, 4);
            self.after(call.span);
        }
        self.out.pop();
    }

    fn torch(&mut self, call: &TorchCall, indent: usize) {
        self.push(&format!("torch {}", flat::string(&call.target.text)));
        self.torch_args(&call.args, Span { start: call.target.span.end, ..call.span }, indent);
    }

    fn family(&mut self, family: &Family) {
        let keyword = if family.variant { "variant family" } else { "family" };
        self.head(keyword, &family.name, &family.sig, &[], true);
        self.push("{\n");
        self.fresh = true;
        let left = |m: &Member| match m.params.is_empty() {
            true => m.name.text.clone(),
            false => format!("{}({})", m.name.text, flat::join(&m.params, flat::param)),
        };
        let right = |m: &Member| {
            let field = |f: &Field| format!("{} = {}", f.name.text, flat::expr(&f.value));
            m.fields.iter().map(field).collect::<Vec<_>>().join(" ")
        };
        let width = |s: String| s.chars().count();
        let column = family.members.iter().map(|m| width(left(m))).max().unwrap_or(0);
        let widest = family.members.iter().map(|m| width(right(m))).max().unwrap_or(0);
        let aligned = 4 + column + 1 + widest <= WIDTH;
        for m in &family.members {
            self.before(m.span, 4, true);
            let (left, right) = (left(m), right(m));
            self.push(&left);
            if !right.is_empty() {
                self.indent(if aligned { column + 1 - width(left) } else { 1 });
                self.push(&right);
            }
            self.after(m.span);
        }
        self.close(family.span, 0);
    }

    fn enumeration(&mut self, e: &Enum) {
        self.push(&format!("enum {} ", e.name.text));
        let list = List {
            open: "{",
            close: "}",
            items: &e.values,
            span: e.span,
            rest: None,
            flat: |n: &Name| n.text.clone(),
            at: |n| n.span,
            print: |p, n, _, _| p.push(&n.text),
        };
        let flat = format!("{{ {} }}", flat::join(&e.values, |n| n.text.clone()));
        match self.fits(&flat, 0) && !self.has_comment(e.span) {
            true => self.push(&flat),
            false => self.list(&list, 0, 0),
        }
    }

    fn rewrite(&mut self, r: &Rewrite) {
        let keyword = match &r.approx {
            Some(a) => format!("rewrite approx({} {})", flat::expr(&a.bound), a.unit.text),
            None => "rewrite".into(),
        };
        self.head(&keyword, &r.name, &r.sig, &[], true);
        self.push("{\n");
        self.fresh = true;
        match (r.lhs.stmts.split_last(), &r.rhs.stmts[..]) {
            (Some((last, above)), [right])
                if last.targets.is_empty() && right.targets.is_empty() =>
            {
                self.stmts(above, 4);
                self.sides(r, last, right);
            }
            _ => {
                self.stmts(&r.lhs.stmts, 4);
                self.comments_before(r.arrow.start as usize, 4, true);
                self.push(arrow(r));
                self.push("\n");
                (self.last_end, self.fresh) = (self.last_end.max(r.arrow.end as usize), true);
                self.stmts(&r.rhs.stmts, 4);
            }
        }
        self.close(r.span, 0);
    }

    /// `left => right` on one line if it fits, else the arrow starts a line.
    fn sides(&mut self, r: &Rewrite, left: &Stmt, right: &Stmt) {
        self.before(left.span, 4, true);
        let (l, right_text) = (flat::expr(&left.value), flat::expr(&right.value));
        let whole = format!("{l} {} {right_text}", arrow(r));
        if self.fits(&whole, 0) && !self.has_comment(join(left.span, right.span)) {
            self.push(&whole);
        } else {
            self.expr(&left.value, 4, 0);
            self.after(left.span);
            self.comments_before(r.arrow.start as usize, 4, false);
            self.indent(4);
            self.push(&format!("{} ", arrow(r)));
            self.expr(&right.value, 4, 0);
        }
        self.after(right.span);
    }

    fn fusion(&mut self, f: &Fusion) {
        self.head("fusion", &f.name, &f.sig, &[], true);
        self.block(&f.body, 0);
        if let Some(kernel) = &f.kernel {
            self.after(f.body.span);
            self.before(kernel.span, 0, false);
            self.kernel(kernel);
        }
        if let Some(cost) = &f.cost {
            let above = f.kernel.as_ref().map_or(f.body.span, |k| k.span);
            self.after(end_of(above));
            self.before(cost.span, 0, false);
            self.push("cost ");
            self.block(cost, 0);
        }
    }

    fn kernel(&mut self, kernel: &Kernel) {
        match &kernel.kind {
            KernelKind::Template(name) => {
                self.push(&format!("kernel {}", name.text));
                self.tune(&kernel.tune, name.span);
            }
            KernelKind::Extern { call, means } => {
                self.push("kernel extern ");
                self.torch(call, 0);
                let mut end = call.span;
                if let Some(means) = means {
                    self.after(call.span);
                    self.before(means.span, 0, false);
                    self.push("means ");
                    self.block(means, 0);
                    end = means.span;
                }
                self.tune(&kernel.tune, end);
            }
        }
    }

    /// All tunables on one line if they fit, else a line each.
    fn tune(&mut self, all: &[Tune], above: Span) {
        let item =
            |t: &Tune| format!("{} in {{{}}}", t.name.text, flat::join(&t.values, flat::expr));
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        let joined = flat::join(all, item);
        self.after(above);
        if "    tune ".len() + joined.chars().count() <= WIDTH {
            self.before(first.span, 4, false);
            self.push(&format!("tune {joined}"));
            self.last_end = self.last_end.max(last.span.end as usize);
            return;
        }
        for (i, t) in all.iter().enumerate() {
            self.before(t.span, 4, false);
            self.push(&format!("tune {}", item(t)));
            if i + 1 < all.len() {
                self.after(t.span);
            }
        }
    }

    fn pass(&mut self, pass: &Pass) {
        self.push(&format!("pass {}", pass.name.text));
        self.guards(&pass.guards);
    }

    fn test(&mut self, test: &Test) {
        self.push(&format!("test {} {{\n", flat::string(&test.name.text)));
        self.fresh = true;
        self.before(test.body.span, 4, false);
        self.push("graph ");
        let inputs = Span { start: test.name.span.end, end: test.body.span.end, ..test.span };
        let reserve = 2;
        self.params(&test.inputs, None, graph_params(test, inputs), reserve);
        self.push(" {\n");
        self.fresh = true;
        self.stmts(&test.body.stmts, 8);
        self.returns(test);
        self.close(test.body.span, 4);
        self.after(test.body.span);
        for fires in &test.fires {
            self.before(fires.span, 4, true);
            self.fires(fires);
            self.after(fires.span);
        }
        self.close(test.span, 0);
    }

    fn returns(&mut self, test: &Test) {
        let [first, ..] = &test.returns[..] else { return };
        let span = test.returns.iter().map(|e| e.span).reduce(join).unwrap_or(first.span);
        self.before(span, 8, true);
        self.push("return ");
        match &test.returns[..] {
            [one] => self.expr(one, 8, 0),
            all => self.exprs("(", ")", all, span, 8, 0),
        }
        self.after(span);
    }

    fn fires(&mut self, f: &Fires) {
        let Some(fusion) = &f.fusion else { return self.push("fires nothing") };
        let members = match f.members.is_empty() {
            true => String::new(),
            false => format!("[{}]", flat::join(&f.members, |n| n.text.clone())),
        };
        let times = match f.times {
            1 => "once".to_string(),
            2 => "twice".to_string(),
            n => format!("{n} times"),
        };
        self.push(&format!("fires {}{members} {times}", fusion.text));
    }
}

fn arrow(r: &Rewrite) -> &'static str {
    if r.both_ways { "<=>" } else { "=>" }
}

/// From the first input to the last: the test keeps no span of the parentheses.
fn graph_params(test: &Test, around: Span) -> Span {
    match (test.inputs.first(), test.inputs.last()) {
        (Some(a), Some(b)) => join(a.span, b.span),
        _ => Span { end: around.start, ..around },
    }
}
