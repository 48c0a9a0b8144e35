//! A captured two-layer decoder stretched to any depth: its second layer, over and over.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const LAYER: &str = "s.layers.1.";

/// The document with this many layers.
pub fn stretch(document: &Value, layers: usize) -> Value {
    let nodes = document["nodes"].as_array().expect("nodes");
    let name = |n: &Value| n["name"].as_str().unwrap_or_default().to_string();
    let in_layer = |n: &Value| n["module"].as_str().is_some_and(|m| m.starts_with(LAYER));
    let body: Vec<&Value> = nodes.iter().filter(|n| in_layer(n)).collect();
    let inside: BTreeSet<String> = body.iter().map(|n| name(n)).collect();
    let inputs: BTreeSet<String> =
        nodes.iter().filter(|n| n["op"] == "placeholder").map(&name).collect();
    // What a layer takes from the one before, and what the rest takes from the last layer.
    let uses = |within: bool| -> BTreeSet<String> {
        let users = nodes.iter().filter(|n| in_layer(n) == within && n["op"] != "placeholder");
        users.flat_map(references).filter(|r| inside.contains(r) != within).collect()
    };
    let carried: Vec<String> = uses(true).difference(&inputs).cloned().collect();
    let left: Vec<String> = uses(false).into_iter().filter(|r| inside.contains(r)).collect();
    let next = pair(nodes, &carried, &left);
    let mut out = Vec::new();
    let mut renames: BTreeMap<String, String> = BTreeMap::new();
    for node in nodes {
        let last_of_body = body.last().is_some_and(|b| name(b) == name(node));
        out.push(renamed(node, &renames));
        if !last_of_body {
            continue;
        }
        let mut at: BTreeMap<String, String> =
            next.iter().map(|(from, to)| (from.clone(), to.clone())).collect();
        for copy in 2..layers {
            let mut map = at.clone();
            map.extend(inside.iter().map(|n| (n.clone(), format!("{n}_l{copy}"))));
            out.extend(body.iter().map(|n| renamed(n, &map)));
            at = next.iter().map(|(f, t)| (f.clone(), map[t].clone())).collect();
            renames = left.iter().map(|l| (l.clone(), map[l].clone())).collect();
        }
    }
    let mut document = document.clone();
    document["nodes"] = Value::Array(out);
    let outputs = renamed(&document["outputs"], &renames);
    document["outputs"] = outputs;
    document
}

/// Which value of the body plays the part of each carried one: the one of the same operator.
fn pair(nodes: &[Value], carried: &[String], left: &[String]) -> Vec<(String, String)> {
    let target = |n: &String| {
        let node = nodes.iter().find(|x| x["name"] == **n);
        node.map(|x| (x["target"].clone(), x["out"].clone()["tensor"]["shape"].clone()))
    };
    let partner = |c: &String| left.iter().find(|l| target(l) == target(c)).cloned();
    carried.iter().filter_map(|c| Some((c.clone(), partner(c)?))).collect()
}

fn references(node: &Value) -> Vec<String> {
    let mut out = Vec::new();
    visit(node, &mut out);
    out
}

fn visit(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|v| visit(v, out)),
        Value::Object(map) => match map.get("node") {
            Some(Value::String(n)) if map.len() == 1 => out.push(n.clone()),
            _ => map.values().for_each(|v| visit(v, out)),
        },
        _ => {}
    }
}

/// A node, or any value, with names replaced.
fn renamed(value: &Value, map: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|v| renamed(v, map)).collect(),
        Value::Object(fields) => {
            if let (Some(Value::String(n)), 1) = (fields.get("node"), fields.len()) {
                return json!({ "node": map.get(n).unwrap_or(n) });
            }
            let mut out: Map<String, Value> =
                fields.iter().map(|(k, v)| (k.clone(), renamed(v, map))).collect();
            if let Some(Value::String(n)) = fields.get("name")
                && let Some(new) = map.get(n)
            {
                out.insert("name".into(), json!(new));
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}
