//! Operator schemas for a brief text, made up from how the operators are called.

use crate::fx::{ArgInfo, Document, Kind, Node, OpInfo, OutMeta, ResultRole, ReturnInfo, Value};

/// Declares every operator that the document calls and does not declare.
pub(super) fn ops(doc: &mut Document) {
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
    for i in named..positional {
        info.args.insert(i, param(format!("arg{i}"), None));
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
