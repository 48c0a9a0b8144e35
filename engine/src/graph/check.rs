//! Checks of a document that need no graph.

use super::import::opcode;
use crate::fx::{self, FxError};
use rustc_hash::FxHashSet;

pub(super) fn check_symbols(doc: &fx::Document) -> Result<(), FxError> {
    let mut known = FxHashSet::default();
    for s in &doc.symbols {
        let err = |what: String| Err(FxError::new(what).at(format!("symbol `{}`", s.name)));
        if !is_identifier(&s.name) {
            return err("the name of a symbol must be an identifier".into());
        }
        if !known.insert(s.name.as_str()) {
            return err("declared twice".into());
        }
        if let (Some(lo), Some(hi)) = (s.min, s.max)
            && lo > hi
        {
            return err(format!("empty range: {lo} to {hi}"));
        }
    }
    for (key, tree) in &doc.exprs {
        // Such a key names the expression where no size can say it: see `Exprs`.
        if key.contains(|c: char| c == '`' || c.is_control()) {
            let what = "the key of an expression with a backtick or a control character";
            return Err(FxError::new(what).at(format!("expression {key:?}")));
        }
        if let Some(s) = unknown_symbol(tree, &known) {
            let what = format!("symbol `{s}` is not declared in `symbols`");
            return Err(FxError::new(what).at(format!("expression `{key}`")));
        }
    }
    Ok(())
}

fn is_identifier(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(inner)
}

fn unknown_symbol<'t>(tree: &'t fx::Tree, known: &FxHashSet<&str>) -> Option<&'t str> {
    match tree {
        fx::Tree::Sym(s) if !known.contains(s.as_str()) => Some(s),
        fx::Tree::Call(_, args) => args.iter().find_map(|a| unknown_symbol(a, known)),
        _ => None,
    }
}

pub(super) fn check_inputs(doc: &fx::Document, placeholders: usize) -> Result<(), FxError> {
    if doc.inputs.len() == placeholders {
        return Ok(());
    }
    let what = format!("{} inputs for {placeholders} placeholders", doc.inputs.len());
    Err(FxError::new(what).at("`inputs`"))
}

/// Checks what does not need the other nodes.
pub(super) fn check_node(node: &fx::Node, doc: &fx::Document, i: usize) -> Result<(), FxError> {
    let err = |what: String| Err(FxError::at_node(&node.name, what));
    if opcode(node.kind) != node.op {
        let (op, kind) = (node.op.name(), node.kind.name());
        return err(format!("op `{op}` and kind `{kind}` do not go together"));
    }
    if (node.op == fx::Opcode::Placeholder) == node.args.is_some() {
        return err("`args` belongs to every node but placeholders".into());
    }
    if node.op == fx::Opcode::Placeholder {
        if i > 0 && doc.nodes[i - 1].op != fx::Opcode::Placeholder {
            return err("a placeholder after other nodes".into());
        }
        return match doc.inputs.get(i) {
            Some(input) if input.node == node.name => Ok(()),
            Some(input) => err(format!("is input {i}, but `inputs[{i}]` is `{}`", input.node)),
            None => err(format!("is input {i}, but there are {} inputs", doc.inputs.len())),
        };
    }
    match &node.attr {
        Some(fx::AttrRef::Constant(key)) if !doc.constants.contains_key(key) => {
            err(format!("constant `{key}` is not in `constants`"))
        }
        Some(fx::AttrRef::Graph(key)) if !doc.graphs.contains_key(key) => {
            err(format!("subgraph `{key}` is not in `graphs`"))
        }
        _ => Ok(()),
    }
}
