//! Building items.

use super::Rule;
use super::build::{Build, P};
use crate::ast::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl Build<'_> {
    pub fn item(&mut self, p: P<'_>) -> Option<Item> {
        let mut doc = None;
        for c in p.into_inner() {
            return match c.as_rule() {
                Rule::doc => {
                    doc = Some(self.doc(c, "///"));
                    continue;
                }
                Rule::op => self.op(c, doc).map(Item::Op),
                Rule::bind => self.bind(c, doc).map(Item::Bind),
                Rule::family => self.family(c, doc).map(Item::Family),
                Rule::enumeration => self.enumeration(c, doc).map(Item::Enum),
                Rule::rewrite => self.rewrite(c, doc).map(Item::Rewrite),
                Rule::fusion => self.fusion(c, doc).map(Item::Fusion),
                Rule::pass => self.pass(c, doc).map(Item::Pass),
                _ => self.test(c, doc).map(Item::Test),
            };
        }
        None
    }

    fn op(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Op> {
        let span = self.span(&p);
        let (mut head, mut body) = (None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::op_head => head = Some(self.head(c)?),
                _ => body = Some(self.block(c)?),
            }
        }
        let head = head?;
        Some(Op { doc, name: head.name, sig: head.sig, markers: head.markers, body, span })
    }

    fn bind(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Bind> {
        let span = self.span(&p);
        let (mut op, mut args, mut results) = (None, Vec::new(), Vec::new());
        let (mut tuple, mut torch) = (false, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => op = Some(self.name(&c)),
                Rule::args => args = self.bind_args(c)?,
                Rule::names => {
                    tuple = c.as_str().starts_with('(');
                    results = self.names(c);
                }
                Rule::torch_call => torch.push(self.torch_call(c)?),
                _ => {}
            }
        }
        Some(Bind { doc, op: op?, args, results, tuple, torch, span })
    }

    fn bind_args(&mut self, p: P<'_>) -> Option<Vec<Expr>> {
        let (args, _) = self.args(p)?;
        for arg in args.iter().filter(|a| a.name.is_some()) {
            let error = self.syntax(arg.span, "a bind names the op's arguments by position");
            error.notes.push("keywords belong to the `torch` lines below".into());
        }
        Some(args.into_iter().map(|a| a.value).collect())
    }

    fn torch_call(&mut self, p: P<'_>) -> Option<TorchCall> {
        let span = self.span(&p);
        let (mut target, mut args) = (None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::string => target = Some(self.string(&c)),
                Rule::torch_args => {
                    args = c.into_inner().map(|a| self.torch_arg(a)).collect::<Option<_>>()?;
                }
                _ => {}
            }
        }
        Some(TorchCall { target: target?, args, span })
    }

    fn torch_arg(&mut self, p: P<'_>) -> Option<TorchArg> {
        let span = self.span(&p);
        let (mut name, mut value, mut out) = (None, None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                Rule::out => out = self.names(c).pop(),
                _ => value = Some(self.expr(c)?),
            }
        }
        Some(TorchArg { name, value, out, span })
    }

    fn family(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Family> {
        let span = self.span(&p);
        let (mut head, mut members) = (None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::family_head => head = Some(self.head(c)?),
                _ => members.push(self.member(c)?),
            }
        }
        let head = head?;
        let (name, sig, variant) = (head.name, head.sig, head.variant);
        Some(Family { doc, variant, name, sig, members, span })
    }

    fn member(&mut self, p: P<'_>) -> Option<Member> {
        let span = self.span(&p);
        let (mut name, mut params, mut fields) = (None, Vec::new(), Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                Rule::params => params = self.member_params(c)?,
                _ => fields.push(self.member_field(c)?),
            }
        }
        Some(Member { name: name?, params, fields, span })
    }

    fn member_params(&mut self, p: P<'_>) -> Option<Vec<Param>> {
        let (params, rest) = self.params(p)?;
        if let Some(at) = rest {
            self.syntax(at, "a family member names all of its parameters");
        }
        Some(params)
    }

    fn member_field(&mut self, p: P<'_>) -> Option<Field> {
        let span = self.span(&p);
        let (mut name, mut value) = (None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                _ => value = Some(self.expr(c)?),
            }
        }
        Some(Field { name: name?, value: value?, span })
    }

    fn enumeration(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Enum> {
        let span = self.span(&p);
        let mut names = self.names(p).into_iter();
        Some(Enum { doc, name: names.next()?, values: names.collect(), span })
    }

    fn rewrite(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Rewrite> {
        let span = self.span(&p);
        let (mut head, mut arrow, mut sides) = (None, None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::rewrite_head => head = Some(self.head(c)?),
                Rule::arrow => arrow = Some((c.as_str() == "<=>", self.span(&c))),
                _ => sides.push(self.block(c)?),
            }
        }
        let (head, (both_ways, arrow)) = (head?, arrow?);
        let (rhs, lhs) = (sides.pop()?, sides.pop()?);
        let (name, sig, approx) = (head.name, head.sig, head.approx);
        Some(Rewrite { doc, approx, name, sig, lhs, both_ways, arrow, rhs, span })
    }

    fn fusion(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Fusion> {
        let span = self.span(&p);
        let (mut head, mut body) = (None, None);
        let (mut kernel, mut cost) = (None::<Kernel>, None::<Block>);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::fusion_head => head = Some(self.head(c)?),
                Rule::block => body = Some(self.block(c)?),
                Rule::kernel => {
                    let first = kernel.take().map(|k| k.span);
                    let new = kernel.insert(self.kernel(c)?).span;
                    self.once("kernel", new, first);
                }
                _ => {
                    let first = cost.take().map(|b| b.span);
                    let new = cost.insert(self.cost(c)?).span;
                    self.once("cost", new, first);
                }
            }
        }
        let head = head?;
        Some(Fusion { doc, name: head.name, sig: head.sig, body: body?, kernel, cost, span })
    }

    /// Reports a clause that was there already.
    fn once(&mut self, what: &str, at: Span, first: Option<Span>) {
        let Some(first) = first else { return };
        let message = format!("a fusion has one `{what}` clause");
        let error = Diagnostic::new(Code::Syntax, at, message).label("second one");
        self.errors.push(error.because(first, "first one"));
    }

    fn cost(&mut self, p: P<'_>) -> Option<Block> {
        let block = p.into_inner().find(|c| c.as_rule() == Rule::block)?;
        self.block(block)
    }

    fn kernel(&mut self, p: P<'_>) -> Option<Kernel> {
        let span = self.span(&p);
        let (mut kind, mut tune) = (None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => kind = Some(KernelKind::Template(self.name(&c))),
                Rule::external => kind = Some(self.external(c)?),
                Rule::tune => {
                    for item in c.into_inner().filter(|i| i.as_rule() == Rule::tune_item) {
                        tune.push(self.tune_item(item)?);
                    }
                }
                _ => {}
            }
        }
        Some(Kernel { kind: kind?, tune, span })
    }

    fn external(&mut self, p: P<'_>) -> Option<KernelKind> {
        let (mut call, mut means) = (None, None);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::torch_call => call = Some(self.torch_call(c)?),
                Rule::block => means = Some(self.block(c)?),
                _ => {}
            }
        }
        Some(KernelKind::Extern { call: call?, means })
    }

    fn tune_item(&mut self, p: P<'_>) -> Option<Tune> {
        let span = self.span(&p);
        let (mut name, mut values) = (None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                Rule::set => values = self.exprs(c)?,
                _ => {}
            }
        }
        Some(Tune { name: name?, values, span })
    }

    fn pass(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Pass> {
        let span = self.span(&p);
        let (mut name, mut guards) = (None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::ident => name = Some(self.name(&c)),
                Rule::guards => guards = self.exprs(c)?,
                _ => {}
            }
        }
        Some(Pass { doc, name: name?, guards, span })
    }

    fn test(&mut self, p: P<'_>, doc: Option<Doc>) -> Option<Test> {
        let span = self.span(&p);
        let (mut name, mut graph, mut fires) = (None, None, Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::string => name = Some(self.string(&c)),
                Rule::graph => graph = Some(self.graph(c)?),
                Rule::fires => fires.push(self.fires(c)?),
                _ => {}
            }
        }
        let (inputs, body, returns) = graph?;
        Some(Test { doc, name: name?, inputs, body, returns, fires, span })
    }

    fn graph(&mut self, p: P<'_>) -> Option<(Vec<Param>, Block, Vec<Expr>)> {
        let span = self.span(&p);
        let (mut inputs, mut stmts, mut returns) = (Vec::new(), Vec::new(), Vec::new());
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::params => inputs = self.member_params(c)?,
                Rule::stmt => stmts.push(self.stmt(c)?),
                Rule::returns => returns = self.exprs(c)?,
                _ => {}
            }
        }
        if let [Expr { kind: ExprKind::Tuple(all), .. }] = &mut returns[..] {
            returns = std::mem::take(all);
        }
        Some((inputs, Block { stmts, span }, returns))
    }

    fn fires(&mut self, p: P<'_>) -> Option<Fires> {
        let span = self.span(&p);
        let (mut names, mut times) = (Vec::new(), 0);
        for c in p.into_inner() {
            match c.as_rule() {
                Rule::fusion_name => names = self.names(c),
                Rule::times => times = self.times(c)?,
                _ => {}
            }
        }
        let mut names = names.into_iter();
        Some(Fires { fusion: names.next(), members: names.collect(), times, span })
    }

    fn times(&mut self, p: P<'_>) -> Option<usize> {
        let first = p.into_inner().next()?;
        match first.as_rule() {
            Rule::kw_once => Some(1),
            Rule::kw_twice => Some(2),
            _ => {
                let times = first.as_str().parse().ok();
                if times.is_none() {
                    let span = self.span(&first);
                    let message = format!("`{}` is not a number of times", first.as_str());
                    self.errors.push(Diagnostic::new(Code::BadNumber, span, message));
                }
                times
            }
        }
    }
}
