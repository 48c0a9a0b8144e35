//! Binds: recognizing a library op in a torch call.

use crate::egraph::canon;
use crate::egraph::term::{TermDag, TermId, Terms};
use crate::fx;
use crate::graph::{Arg, Bound, Graph, NodeIndex, Source, View};
use fusec_dsl::library::{Attr, Bind, BindValue, Library, Scalar, TypeExpr};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Binds by torch target.
pub struct Binds {
    by_target: FxHashMap<String, Vec<usize>>,
}

impl Binds {
    /// Indexes the library's binds.
    pub fn new(lib: &Library) -> Binds {
        let mut by_target: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (i, b) in lib.binds.iter().enumerate() {
            by_target.entry(b.target.clone()).or_default().push(i);
        }
        Binds { by_target }
    }

    /// Binds of a target.
    pub fn of(&self, target: &str) -> Vec<usize> {
        self.by_target.get(target).cloned().unwrap_or_default()
    }
}

type ArgumentOf<'a> = dyn FnMut(&mut TermDag, &Arg) -> Result<TermId, String> + 'a;

/// Applies a bind to a call: the op's term, and for output buffers the term behind each `getitem`.
///
/// # Errors
/// Why the call is not this op.
pub fn apply(
    graph: &Graph,
    dag: &mut TermDag,
    node: NodeIndex,
    bind: &Bind,
    argument: &mut ArgumentOf<'_>,
) -> Result<(TermId, BTreeMap<usize, TermId>), String> {
    let bound = graph.normalized_args(node).ok_or("an operator without a schema")?;
    let mut env: FxHashMap<&str, TermId> = FxHashMap::default();
    let mut named = vec![false; bound.len()];
    let mut outs: Vec<(usize, usize)> = Vec::new();
    let mut next = 0;
    for arg in &bind.args {
        let slot = match &arg.name {
            Some(name) => bound.iter().position(|b| b.name() == name),
            None => {
                next += 1;
                Some(next - 1)
            }
        };
        let slot = slot.filter(|s| *s < bound.len()).ok_or("the operator has no such argument")?;
        named[slot] = true;
        let given = &bound[slot];
        if let Some(result) = arg.out {
            let index = graph
                .mutated_index(node, given.name())
                .filter(|_| given.view == View::Whole)
                .ok_or_else(|| format!("`{}` is not a whole output buffer", given.name()))?;
            outs.push((index, result));
        }
        let value = given.arg().ok_or_else(|| format!("`{}` is missing", given.name()))?;
        accept(dag, &arg.value, value, &mut env, argument)
            .map_err(|why| format!("`{}`: {why}", given.name()))?;
    }
    for (b, _) in bound.iter().zip(&named).filter(|(_, named)| !**named) {
        unnamed_is_default(b)?;
    }
    let args = operands(dag, bind, &env)?;
    let term = canon::call(dag, bind.op, &args)?;
    let several = dag.context.lib.op(bind.op).sig.results.len() > 1;
    let mut found = BTreeMap::new();
    for (index, result) in outs {
        let part = if several { canon::proj(dag, term, result)? } else { term };
        found.insert(index, part);
    }
    Ok((term, found))
}

fn accept<'b>(
    dag: &mut TermDag,
    want: &'b BindValue,
    given: &Arg,
    env: &mut FxHashMap<&'b str, TermId>,
    argument: &mut ArgumentOf<'_>,
) -> Result<(), String> {
    match want {
        BindValue::Buffer => Ok(()),
        BindValue::Var(name) => {
            let term = argument(dag, given)?;
            match *env.entry(name).or_insert(term) == term {
                true => Ok(()),
                false => Err(format!("`{name}` is two different values")),
            }
        }
        BindValue::Const(want) => match equals(want, given) {
            true => Ok(()),
            false => Err(format!("expected {want}, found {}", shown(given))),
        },
        BindValue::List(wants) => {
            let items = given.items().ok_or("not a list")?;
            if items.len() != wants.len() {
                return Err(format!("{} items, expected {}", items.len(), wants.len()));
            }
            wants.iter().zip(items).try_for_each(|(w, g)| accept(dag, w, g, env, argument))
        }
    }
}

fn equals(want: &Attr, given: &Arg) -> bool {
    match (want, given) {
        (Attr::None, Arg::None) => true,
        (Attr::Bool(a), Arg::Bool(b)) => a == b,
        (Attr::Int(a), _) if given.as_dim().is_some() => given.as_dim().as_ref() == Some(a),
        (Attr::Str(a), Arg::Str(b)) => a == b,
        (Attr::Dtype(a), Arg::Dtype(b)) => a == b,
        (Attr::List(a), _) => given
            .items()
            .is_some_and(|b| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equals(a, b))),
        (_, Arg::Float(f)) => want.as_f64() == Some(f.get()),
        (Attr::Float(_), Arg::Int(v)) => want.as_f64() == Some(*v as f64),
        _ => false,
    }
}

fn shown(arg: &Arg) -> String {
    match arg {
        Arg::Node(_) => "a tensor".into(),
        Arg::None => "none".into(),
        Arg::Int(v) => v.to_string(),
        Arg::Float(v) => format!("{:?}", v.get()),
        Arg::Bool(v) => v.to_string(),
        Arg::Str(s) => format!("{s:?}"),
        Arg::Sym(d) => d.to_string(),
        Arg::Dtype(d) => d.to_string(),
        _ => "another value".into(),
    }
}

/// An argument that the bind does not name must be what the operator takes by itself.
fn unnamed_is_default(b: &Bound<'_>) -> Result<(), String> {
    let (Source::Given, Some(value)) = (b.source, b.arg()) else { return Ok(()) };
    let same = match (&b.param.default, value) {
        (_, Arg::None) => true,
        (Some(default), value) => is_default(default, value),
        (None, _) => false,
    };
    match same {
        true => Ok(()),
        false => Err(format!("`{}` is {}, not its default", b.name(), shown(value))),
    }
}

fn is_default(default: &fx::Value, value: &Arg) -> bool {
    match (default, value) {
        (fx::Value::Int(a), Arg::Int(b)) => a == b,
        (fx::Value::Bool(a), Arg::Bool(b)) => a == b,
        (fx::Value::Str(a), Arg::Str(b)) => **a == **b,
        (fx::Value::Float(a), Arg::Float(b)) => a.parse() == Ok(b.get()),
        (fx::Value::List(a), _) => value
            .items()
            .is_some_and(|b| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_default(a, b))),
        _ => false,
    }
}

fn operands(
    dag: &mut TermDag,
    bind: &Bind,
    env: &FxHashMap<&str, TermId>,
) -> Result<Vec<TermId>, String> {
    let lib = dag.context.lib.clone();
    let mut out = Vec::new();
    for (param, value) in lib.op(bind.op).sig.params.iter().zip(&bind.op_args) {
        let term = match value {
            BindValue::Const(a) => dag.attr(a.clone()),
            BindValue::Var(name) => *env
                .get(name.as_str())
                .ok_or_else(|| format!("`{name}` is not among the torch arguments"))?,
            BindValue::List(_) | BindValue::Buffer => return Err("not an operand".into()),
        };
        // torch passes groups and enum values as strings.
        let group = match (&param.ty, dag.ty(term).attr()) {
            (TypeExpr::Scalar(Scalar::Group), Some(Attr::Str(s))) => Some(Attr::Group(s.clone())),
            _ => None,
        };
        out.push(match group {
            Some(group) => dag.attr(group),
            None => term,
        });
    }
    Ok(out)
}
