//! Schemas for operators that the optimizer inserts.

use super::effect::TAG_COLLECTIVE;
use super::{Arg, Graph, Node, OpSchema, Value};
use crate::fx;
use std::fmt::Write;
use std::sync::Arc;

impl Graph {
    /// Declares an operator, so that nodes can call it. An operator that is known stays as it is.
    ///
    /// Tags `fusec_collective` and `fusec_state` say what [`Graph::effect`] cannot see in a name.
    pub fn declare(&mut self, target: &str, info: fx::OpInfo) {
        let defaults = vec![None; info.args.len()];
        let schema = OpSchema { info, defaults };
        self.ops.entry(Arc::from(target)).or_insert(schema);
    }

    /// Declares the operator of a node by how the node calls it, if nothing declares it.
    pub(super) fn declare_synthetic(&mut self, node: &Node) {
        self.declare_by_call(node, Vec::new());
    }

    /// [`Graph::declare`] by how a node calls it, as an operator that every rank must run.
    pub fn declare_collective(&mut self, node: &Node) {
        self.declare_by_call(node, vec![TAG_COLLECTIVE.into()]);
    }

    fn declare_by_call(&mut self, node: &Node, tags: Vec<String>) {
        if self.ops.contains_key(&*node.target) {
            return;
        }
        let mut args = Vec::new();
        for (i, arg) in node.args.iter().enumerate() {
            args.push(param(format!("arg{i}"), arg, self, None));
        }
        for (name, arg) in &node.kwargs {
            args.push(param(name.to_string(), arg, self, Some(true)));
        }
        let returns = returns(&node.value);
        let schema = schema_text(&node.target, &args, &returns);
        let (mutable, view) = (false, false);
        self.declare(&node.target, fx::OpInfo { schema, args, returns, tags, mutable, view });
    }
}

fn param(name: String, arg: &Arg, graph: &Graph, kwarg_only: Option<bool>) -> fx::ArgInfo {
    let r#type = arg_type(arg, graph).into();
    fx::ArgInfo { name, r#type, kwarg_only, default: None, alias: None, writes: None }
}

fn arg_type(arg: &Arg, graph: &Graph) -> &'static str {
    match arg {
        Arg::Node(n) => match graph[*n].value {
            Value::Int(_) => "int",
            Value::Float(_) | Value::SymFloat(_) => "float",
            Value::Bool(_) | Value::SymBool(_) => "bool",
            _ => "Tensor",
        },
        Arg::Int(_) | Arg::Sym(_) => "int",
        Arg::Float(_) | Arg::SymFloat(_) => "float",
        Arg::Bool(_) | Arg::SymBool(_) => "bool",
        Arg::Str(_) => "str",
        Arg::Dtype(_) | Arg::ForeignDtype(_) => "ScalarType",
        Arg::Device(_) => "Device",
        Arg::Layout(_) => "Layout",
        Arg::MemoryFormat(_) => "MemoryFormat",
        Arg::None => "Optional[Tensor]",
        Arg::List(items) | Arg::Tuple(items) => match items.first().map(|a| arg_type(a, graph)) {
            Some("Tensor") => "List[Tensor]",
            Some("float") => "List[float]",
            _ => "List[int]",
        },
        _ => "PyObject",
    }
}

fn returns(value: &Value) -> Vec<fx::ReturnInfo> {
    let one = |v: &Value| {
        let r#type = match v {
            Value::Int(_) => "int",
            Value::List(_) => "List[Tensor]",
            _ => "Tensor",
        };
        fx::ReturnInfo { r#type: r#type.into(), alias: None, writes: None }
    };
    match value {
        Value::None => Vec::new(),
        Value::Tuple(items) => items.iter().map(one).collect(),
        other => vec![one(other)],
    }
}

/// The schema as torch writes it, `ns::name.overload(Tensor arg0, *, int n) -> Tensor`.
fn schema_text(target: &str, args: &[fx::ArgInfo], returns: &[fx::ReturnInfo]) -> String {
    let mut parts = target.splitn(3, '.');
    let (ns, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let overload = parts.next().filter(|o| *o != "default").unwrap_or("");
    let dot = if overload.is_empty() { "" } else { "." };
    let mut out = format!("{ns}::{name}{dot}{overload}(");
    let mut star = false;
    for (i, a) in args.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        if a.kwarg_only == Some(true) && !std::mem::replace(&mut star, true) {
            out.push_str("*, ");
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "{} {}", schema_type(&a.r#type), a.name);
    }
    let types: Vec<String> = returns.iter().map(|r| schema_type(&r.r#type)).collect();
    let result = match types.as_slice() {
        [one] => one.clone(),
        many => format!("({})", many.join(", ")),
    };
    format!("{out}) -> {result}")
}

fn schema_type(ty: &str) -> String {
    let inside = |prefix: &str| ty.strip_prefix(prefix).and_then(|t| t.strip_suffix(']'));
    match (inside("List["), inside("Optional[")) {
        (Some(item), _) => format!("{}[]", schema_type(item)),
        (_, Some(item)) => format!("{}?", schema_type(item)),
        _ => ty.to_owned(),
    }
}
