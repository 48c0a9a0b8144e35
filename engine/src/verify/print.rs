//! A counterexample as a `.fuse` test that can be pasted, values in comments.

use super::check::Side;
use super::claim::Claim;
use super::draw::{Draw, Plan};
use crate::interp::Value;
use fusec_dsl::library::{Attr, Body, BodyKind, Library, Ref};
use std::fmt::Write;

/// Elements of one tensor that are printed.
const SHOWN: usize = 64;

/// The left side over the inputs of a draw.
pub(super) fn graph(lib: &Library, claim: &Claim<'_>, side: &Side<'_>, draw: &Draw) -> String {
    let mut out = String::new();
    let inputs: Vec<String> = inputs(claim, draw);
    let printer = Printer { lib, claim, draw, body: side.left };
    let (statements, results) = printer.statements();
    let _ = writeln!(out, "test \"counterexample of {}\" {{", claim.name.replace('"', "'"));
    let _ = writeln!(out, "    graph ({}) {{", inputs.join(", "));
    for s in statements {
        let _ = writeln!(out, "        {s}");
    }
    let _ = writeln!(out, "        return {results}");
    let _ = writeln!(out, "    }}\n    fires nothing\n}}");
    for (rank, values) in draw.values.iter().enumerate() {
        for (p, v) in claim.sig.params.iter().zip(values) {
            let place =
                if draw.values.len() > 1 { format!(" on rank {rank}") } else { String::new() };
            if let Some(text) = value(v) {
                let _ = writeln!(out, "// {}{place} = {text}", p.name);
            }
        }
    }
    out
}

/// Tensors are inputs; attributes are written where they are used, except groups.
fn inputs(claim: &Claim<'_>, draw: &Draw) -> Vec<String> {
    let mut out = Vec::new();
    for (p, plan) in claim.sig.params.iter().zip(&draw.plans) {
        match plan {
            Plan::Tensor(dtype, shape) => {
                let shape: Vec<_> = shape.iter().map(usize::to_string).collect();
                out.push(format!("{}: {dtype}[{}]", p.name, shape.join(", ")));
            }
            Plan::Attr(Attr::Group(_)) => out.push(format!("{}: group", p.name)),
            Plan::List(_) => out.push(format!("{}: tensors", p.name)),
            Plan::Attr(_) => {}
        }
    }
    out
}

fn value(v: &Value) -> Option<String> {
    match v {
        Value::Tensor(t) => {
            let shown: Vec<_> = t.data.iter().take(SHOWN).map(|x| format!("{x:?}")).collect();
            let rest = t.numel().saturating_sub(SHOWN);
            let more = if rest > 0 { format!(", {rest} more") } else { String::new() };
            Some(format!("[{}{more}]", shown.join(", ")))
        }
        Value::Attr(Attr::Group(_)) => None,
        Value::Attr(a) => Some(a.to_string()),
        Value::List(items) | Value::Tuple(items) => {
            let all: Vec<_> = items.iter().filter_map(value).collect();
            Some(format!("[{}]", all.join(", ")))
        }
    }
}

struct Printer<'a> {
    lib: &'a Library,
    claim: &'a Claim<'a>,
    draw: &'a Draw,
    body: &'a Body,
}

impl Printer<'_> {
    /// One statement a call; the names of the results.
    fn statements(&self) -> (Vec<String>, String) {
        let mut names: Vec<String> = Vec::with_capacity(self.body.nodes.len());
        let mut out = Vec::new();
        for (i, node) in self.body.nodes.iter().enumerate() {
            names.push(match &node.kind {
                BodyKind::Call { op, args } => {
                    let op = self.lib.op(*op);
                    let args: Vec<_> = args.iter().map(|a| names[*a].clone()).collect();
                    let results = op.sig.results.len();
                    let name = format!("v{i}");
                    let target = match results {
                        0 | 1 => name.clone(),
                        n => {
                            let parts: Vec<_> = (0..n).map(|k| format!("{name}_{k}")).collect();
                            format!("({})", parts.join(", "))
                        }
                    };
                    out.push(format!("{target} = {}({})", op.name, args.join(", ")));
                    name
                }
                kind => self.atom(kind, &names),
            });
        }
        let results: Vec<_> = self.body.results.iter().map(|r| self.result(*r, &names)).collect();
        (out, results.join(", "))
    }

    fn result(&self, r: Ref, names: &[String]) -> String {
        names.get(r).cloned().unwrap_or_default()
    }

    fn atom(&self, kind: &BodyKind, names: &[String]) -> String {
        match kind {
            BodyKind::Param(i) => match &self.draw.plans[*i] {
                Plan::Attr(a) if !matches!(a, Attr::Group(_)) => a.to_string(),
                _ => self.claim.sig.params[*i].name.clone(),
            },
            BodyKind::Const(Attr::Int(d)) | BodyKind::Dim(d) => {
                self.draw.bindings.dim_value(d).to_string()
            }
            BodyKind::Const(a) => a.to_string(),
            BodyKind::Generic(g) => match self.draw.bindings.dtypes.get(g) {
                Some(d) => d.to_string(),
                None => g.clone(),
            },
            BodyKind::Proj { of, index } => format!("{}_{index}", names[*of]),
            BodyKind::List(items) => {
                let all: Vec<_> = items.iter().map(|r| names[*r].clone()).collect();
                format!("[{}]", all.join(", "))
            }
            BodyKind::Call { .. } | BodyKind::Alt(_) | BodyKind::Any => String::from("_"),
        }
    }
}
