//! What a brief text refers to and does not hold: operator schemas, made up from how the operators
//! are called; constants, subgraphs and conditions, of which only the name is known.

use crate::fx::{
    ArgInfo, AttrRef, Constant, Container, Document, Kind, Node, OpInfo, OutMeta, ResultRole,
    ReturnInfo, Subgraph, Tree, Value,
};
use crate::graph::Exprs;

/// Declares everything that the document refers to and does not declare.
pub(super) fn missing(doc: &mut Document, exprs: &mut Exprs) {
    ops(doc);
    for node in &doc.nodes {
        match &node.attr {
            Some(AttrRef::Constant(key)) => {
                let meta = node.out.clone();
                let constant = Constant { meta, data_le_b64: None };
                doc.constants.entry(key.clone()).or_insert(constant);
            }
            Some(AttrRef::Graph(key)) => {
                let (nodes, outputs) = (Vec::new(), Vec::new());
                let body = Subgraph { nodes, output_container: Container::Tuple, outputs };
                doc.graphs.entry(key.clone()).or_insert(body);
            }
            _ => {}
        }
        out_keys(&node.out, exprs);
        let args = node.args.iter().flatten().chain(node.kwargs.iter().map(|(_, v)| v));
        args.for_each(|v| value_keys(v, exprs));
    }
    doc.outputs.iter().for_each(|o| value_keys(&o.value, exprs));
}

fn know(key: &str, exprs: &mut Exprs) {
    exprs.add(key.to_owned(), Tree::Opaque(key.to_owned()));
}

fn out_keys(out: &OutMeta, exprs: &mut Exprs) {
    match out {
        OutMeta::Symfloat(key) | OutMeta::Symbool(key) => know(key, exprs),
        OutMeta::Tuple(items) | OutMeta::List(items) => {
            items.iter().for_each(|v| out_keys(v, exprs));
        }
        _ => {}
    }
}

fn value_keys(value: &Value, exprs: &mut Exprs) {
    match value {
        Value::Symfloat(key) | Value::Symbool(key) => know(key, exprs),
        Value::List(items) | Value::Tuple(items) => {
            items.iter().for_each(|v| value_keys(v, exprs));
        }
        Value::Dict(pairs) => pairs.iter().for_each(|(k, v)| {
            value_keys(k, exprs);
            value_keys(v, exprs);
        }),
        Value::Slice(parts) => {
            [&parts.0, &parts.1, &parts.2].into_iter().for_each(|v| value_keys(v, exprs));
        }
        _ => {}
    }
}

fn ops(doc: &mut Document) {
    for node in &doc.nodes {
        let target = match (&node.functionalized, node.kind) {
            (Some(f), _) => &f.op,
            (None, Kind::Op) => &node.target,
            _ => continue,
        };
        match doc.ops.get_mut(target) {
            Some(info) if info.schema.is_empty() => widen(info, node),
            Some(_) => {}
            None => {
                let mut info = blank(node);
                widen(&mut info, node);
                doc.ops.insert(target.clone(), info);
            }
        }
    }
}

fn blank(node: &Node) -> OpInfo {
    let returns = match (&node.functionalized, &node.out) {
        (Some(_), _) | (None, OutMeta::None) => Vec::new(),
        _ => vec![ReturnInfo { r#type: "Any".into(), alias: None, writes: None }],
    };
    // An empty text marks it as made up: no real schema has one.
    OpInfo {
        schema: String::new(),
        args: Vec::new(),
        returns,
        tags: Vec::new(),
        mutable: false,
        view: false,
    }
}

/// Makes room for the arguments of one more call.
fn widen(info: &mut OpInfo, node: &Node) {
    let positional =
        if node.functionalized.is_some() { 0 } else { node.args.iter().flatten().count() };
    let named = info.args.iter().filter(|a| a.kwarg_only.is_none()).count();
    // An in-place operator writes its first arguments.
    let mut writes = node.mutates.iter().filter(|m| !node.kwargs.iter().any(|(k, _)| k == *m));
    for i in named..positional {
        let name = writes.next().cloned().unwrap_or(format!("arg{i}"));
        info.args.insert(i, param(name, None));
    }
    for (key, _) in &node.kwargs {
        if !key.starts_with('_') && !info.args.iter().any(|a| a.name == *key) {
            info.args.push(param(key.clone(), Some(true)));
        }
    }
    for name in written(node) {
        match info.args.iter_mut().find(|a| a.name == name) {
            Some(arg) => arg.writes = Some(true),
            None => {
                let mut arg = param(name, Some(true));
                arg.writes = Some(true);
                info.args.push(arg);
            }
        }
        info.mutable = true;
    }
}

/// Names of the arguments that the call says it writes.
fn written(node: &Node) -> Vec<String> {
    let mut out = node.mutates.clone();
    for role in node.functionalized.iter().flat_map(|f| &f.results) {
        if let ResultRole::MutatedArg(name) = role {
            out.push(name.clone());
        }
    }
    let base = |k: &str| {
        let inner = k.strip_prefix('_')?;
        inner
            .strip_suffix("_base_index")
            .or_else(|| inner.strip_suffix("_length"))
            .map(str::to_owned)
    };
    if node.functionalized.as_ref().is_some_and(|f| f.version == 2) {
        out.extend(node.kwargs.iter().filter_map(|(k, _)| base(k)));
    }
    out
}

fn param(name: String, kwarg_only: Option<bool>) -> ArgInfo {
    let default = Some(Value::None);
    ArgInfo { name, r#type: "Any".into(), kwarg_only, default, alias: None, writes: None }
}
