//! A graph to text.

use super::size::{size, sizes};
use super::{FORMATS, LAYOUTS, plain_device, plain_name, storage::Expected, usual_kind};
use crate::fx::write::json;
use crate::fx::{self, Kind, ResultRole};
use crate::graph::{Arg, Graph, Node, NodeIndex, TensorMeta, Value};
use std::fmt::Write;

/// The whole graph; [`super::parse`] gives it back.
pub fn print(graph: &Graph) -> String {
    let mut p = Printer::new(graph, true);
    p.graph();
    p.tail();
    p.out
}

/// What a reader of a diff needs; see the module's text for what is left out.
pub fn brief(graph: &Graph) -> String {
    let mut p = Printer::new(graph, false);
    p.graph();
    p.out
}

/// One node as in [`brief`], without the line end.
pub fn line(graph: &Graph, node: NodeIndex) -> String {
    let mut p = Printer::new(graph, false);
    p.node(node);
    p.out.trim_end().to_owned()
}

/// The device of the first tensor, which the header names.
fn main_device(graph: &Graph) -> Option<&str> {
    fn of(value: &Value) -> Option<&str> {
        match value {
            Value::Tensor(t) => Some(&t.device),
            other => other.items()?.iter().find_map(of),
        }
    }
    graph.nodes().find_map(|(_, n)| of(&n.value))
}

struct Printer<'g> {
    graph: &'g Graph,
    device: Option<&'g str>,
    full: bool,
    expected: Expected,
    out: String,
}

/// Writing to a String cannot fail.
macro_rules! put {
    ($p:expr, $($arg:tt)*) => { write!($p.out, $($arg)*).unwrap_or(()) };
}

impl<'g> Printer<'g> {
    fn new(graph: &'g Graph, full: bool) -> Printer<'g> {
        let device = main_device(graph);
        Printer { graph, device, full, expected: Expected::default(), out: String::new() }
    }

    fn graph(&mut self) {
        let header = &self.graph.header;
        put!(self, "graph {}: {}\n", name(&header.name), name(&header.capture));
        if let Some(device) = self.device {
            put!(self, "device {}\n", device_text(device));
        }
        for s in &self.graph.symbols {
            self.symbol(s);
        }
        for node in self.graph.print_order() {
            self.node(node);
        }
        self.returns();
    }

    fn symbol(&mut self, s: &fx::Symbol) {
        let bound = |b: Option<i64>| b.map(|v| v.to_string()).unwrap_or_default();
        put!(self, "symbol {} in {}..{}", s.name, bound(s.min), bound(s.max));
        if s.kind == fx::SymbolKind::Unbacked {
            put!(self, " unbacked");
        }
        if let Some(b) = &s.bound_by {
            put!(self, " at %{}", name(&b.input));
            if let Some(d) = b.dim {
                put!(self, "[{d}]");
            }
        }
        if let Some(hint) = s.hint.filter(|_| self.full) {
            put!(self, " hint {hint}");
        }
        if let Some(source) = s.source.as_ref().filter(|_| self.full) {
            put!(self, " source {}", json(source));
        }
        self.out.push('\n');
    }

    fn node(&mut self, index: NodeIndex) {
        let graph = self.graph;
        let node = &graph[index];
        if self.full {
            self.expected.enter(graph, index);
        }
        put!(self, "%{}: ", name(&node.name));
        self.result(node);
        self.out.push_str(" = ");
        match node.kind {
            Kind::Input => self.input(node),
            Kind::Attr => self.attr(node),
            _ => self.call(node),
        }
        if let Some(rare) = node.rare.as_ref().filter(|r| !r.unbacked_bindings.is_empty()) {
            for (symbol, path) in &rare.unbacked_bindings {
                put!(self, " binds {} {}", json(symbol), json(path));
            }
        }
        if let Some(module) = &node.module {
            put!(self, "  // {}", comment(module));
        }
        self.out.push('\n');
    }

    /// What a node yields, with labels when it is a functionalized call.
    fn result(&mut self, node: &Node) {
        let roles = node.functionalized.as_ref().filter(|_| sugar(node).is_some());
        match (roles, &node.value) {
            (Some(f), Value::Tuple(items)) if f.results.len() == items.len() => {
                self.out.push('(');
                for (i, (role, item)) in f.results.iter().zip(items).enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    if let Some(label) = label(role) {
                        put!(self, "{}: ", name(&label));
                    }
                    self.value(item);
                }
                self.out.push_str(if items.len() == 1 { ",)" } else { ")" });
            }
            (_, value) => self.value(value),
        }
    }

    fn input(&mut self, node: &Node) {
        let Some(input) = node.input() else { return };
        self.out.push_str(input.kind.name());
        if let Some(fqn) = &input.fqn {
            put!(self, " {}", fqn_text(fqn));
        }
        if input.mutated {
            self.out.push_str(" mutated");
        }
        if node.target != node.name {
            put!(self, " target {}", json(&*node.target));
        }
        if !self.full {
            return;
        }
        if let Some(persistent) = &input.persistent {
            put!(self, " persistent {}", json(persistent));
        }
        if let Some(source) = &input.source {
            put!(self, " source {}", json(source));
        }
    }

    fn attr(&mut self, node: &Node) {
        put!(self, "attr {}", name(&node.target));
        match node.rare.as_ref().and_then(|r| r.attr.as_ref()) {
            Some(fx::AttrRef::Constant(key)) if **key == *node.target => {
                self.out.push_str(" constant");
            }
            Some(other) => put!(self, " {}", json(other)),
            None => {}
        }
        self.out.push_str(if node.args.is_empty() { "" } else { " with " });
        if !node.args.is_empty() {
            self.args(&node.args, &[]);
        }
    }

    fn call(&mut self, node: &Node) {
        let mut args = node.args.as_slice();
        match (sugar(node), &node.functionalized) {
            (Some(word), Some(f)) => {
                put!(self, "{word} {}", name(&f.op));
                args = &[];
            }
            _ => {
                if usual_kind(&node.target) != node.kind {
                    put!(self, "{} ", node.kind.name());
                }
                self.out.push_str(&name(&node.target));
            }
        }
        self.args(args, &node.kwargs);
        if !node.mutates.is_empty() {
            let names: Vec<_> = node.mutates.iter().map(|m| name(m)).collect();
            put!(self, " mutates {}", names.join(", "));
        }
        let Some(f) = &node.functionalized else { return };
        if sugar(node).is_none() {
            put!(self, " functionalized {}", json(f));
        } else if !labels_tell(&f.results, &node.value) {
            put!(self, " results {}", json(&f.results));
        }
    }

    fn args(&mut self, args: &[Arg], kwargs: &[(std::sync::Arc<str>, Arg)]) {
        self.out.push('(');
        let mut first = true;
        for arg in args {
            self.out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            self.arg(arg);
        }
        for (key, arg) in kwargs {
            self.out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            put!(self, "{}=", name(key));
            self.arg(arg);
        }
        self.out.push(')');
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Node(n) => put!(self, "%{}", name(&self.graph[*n].name)),
            Arg::None => self.out.push_str("none"),
            Arg::Ellipsis => self.out.push_str("..."),
            Arg::Int(v) => put!(self, "{v}"),
            Arg::Float(v) => put!(self, "{v}"),
            Arg::Bool(v) => put!(self, "{v}"),
            Arg::Str(s) => self.out.push_str(&json(&**s)),
            Arg::Sym(d) => put!(self, "{{{}}}", size(d)),
            Arg::SymFloat(k) => put!(self, "symfloat({})", json(&**k)),
            Arg::SymBool(k) => put!(self, "symbool({})", json(&**k)),
            Arg::Dtype(d) => put!(self, "{d}"),
            Arg::ForeignDtype(s) => put!(self, "dtype({})", json(&**s)),
            Arg::Device(s) => self.out.push_str(&device_text(s)),
            Arg::Layout(s) => self.word(s, LAYOUTS, "layout"),
            Arg::MemoryFormat(s) => self.word(s, FORMATS, "format"),
            Arg::Op(s) => put!(self, "op({})", json(&**s)),
            Arg::List(items) => self.list(items, '[', "]"),
            Arg::Tuple(items) => self.list(items, '(', if items.len() == 1 { ",)" } else { ")" }),
            Arg::Dict(pairs) => {
                self.out.push_str("dict(");
                for (i, (k, v)) in pairs.iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.arg(k);
                    self.out.push_str(": ");
                    self.arg(v);
                }
                self.out.push(')');
            }
            Arg::Slice(parts) => {
                self.out.push_str("slice");
                self.list(&parts[..], '(', ")");
            }
            Arg::Complex(re, im) => put!(self, "complex({re}, {im})"),
            Arg::Opaque(o) => put!(self, "opaque({}, {})", json(&o.r#type), json(&o.repr)),
        }
    }

    fn word(&mut self, word: &str, known: &[&str], tag: &str) {
        match known.contains(&word) {
            true => self.out.push_str(word),
            false => put!(self, "{tag}({})", json(word)),
        }
    }

    fn list(&mut self, items: &[Arg], open: char, close: &str) {
        self.out.push(open);
        for (i, item) in items.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.arg(item);
        }
        self.out.push_str(close);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Tensor(t) => self.tensor(t),
            Value::Foreign(t) => {
                self.expected.next();
                self.expected.learn(t.storage);
                put!(self, "foreign {}", json(t));
            }
            Value::Tuple(items) => {
                self.values(items, '(', if items.len() == 1 { ",)" } else { ")" });
            }
            Value::List(items) => self.values(items, '[', "]"),
            Value::Int(d) => put!(self, "int({})", size(d)),
            Value::Float(v) => put!(self, "float({v})"),
            Value::Bool(v) => put!(self, "bool({v})"),
            Value::SymFloat(k) => put!(self, "symfloat({})", json(&**k)),
            Value::SymBool(k) => put!(self, "symbool({})", json(&**k)),
            Value::None => self.out.push_str("none"),
            Value::Unknown => self.out.push('?'),
            Value::Opaque(o) if self.full => {
                put!(self, "opaque({}, {})", json(&o.r#type), json(&o.repr));
            }
            Value::Opaque(_) => self.out.push_str("opaque"),
        }
    }

    fn values(&mut self, items: &[Value], open: char, close: &str) {
        self.out.push(open);
        for (i, item) in items.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.value(item);
        }
        self.out.push_str(close);
    }

    fn tensor(&mut self, t: &TensorMeta) {
        put!(self, "{}{}", t.ty.dtype, sizes(&t.ty.shape));
        if t.stride != crate::graph::contiguous_strides(&t.ty.shape) {
            put!(self, " strided{}", sizes(&t.stride));
        }
        if t.offset.as_int() != Some(0) {
            put!(self, " + {}", size(&t.offset));
        }
        if self.device != Some(&*t.device) {
            put!(self, " on {}", device_text(&t.device));
        }
        if !self.full {
            return;
        }
        match t.storage {
            same if self.expected.next() == same => {}
            Some(s) => put!(self, " @{s}"),
            None => self.out.push_str(" @none"),
        }
        self.expected.learn(t.storage);
    }

    fn returns(&mut self) {
        self.out.push_str("return ");
        let tuple = self.graph.container == fx::Container::Tuple;
        self.out.push_str(if tuple { "(" } else { "" });
        for (i, output) in self.graph.outputs.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            let target = match &output.target {
                Some(None) if !self.full => &None,
                other => other,
            };
            if output.kind != fx::OutputKind::UserOutput || target.is_some() {
                self.out.push_str(output.kind.name());
                if let Some(target) = target {
                    put!(self, " {}", json(target));
                }
                self.out.push_str(": ");
            }
            self.arg(&output.value);
        }
        self.out.push_str(if tuple { ")\n" } else { "\n" });
    }

    fn tail(&mut self) {
        let graph = self.graph;
        self.out.push('\n');
        put!(self, "producer {}\n", json(&graph.header.producer));
        put!(self, "source {}\n", json(&graph.header.source));
        for note in &graph.header.notes {
            put!(self, "note {}\n", json(note));
        }
        for warning in &graph.header.warnings {
            put!(self, "warning {}\n", json(warning));
        }
        for (key, tree) in graph.exprs.trees() {
            put!(self, "expr {} {}\n", json(key), json(tree));
        }
        for (target, info) in graph.ops() {
            put!(self, "op {} {}\n", json(target), json(info));
        }
        for (key, body) in &graph.graphs {
            put!(self, "subgraph {} {}\n", json(key), json(body));
        }
        for (key, constant) in &graph.constants {
            put!(self, "constant {} {}\n", json(key), json(constant));
        }
    }
}

/// The word for a functionalized call that is written as the call of its operator.
fn sugar(node: &Node) -> Option<&'static str> {
    let f = node.functionalized.as_ref()?;
    if !matches!(node.args.as_slice(), [Arg::Op(op)] if **op == *f.op) || node.kind != Kind::Hop {
        return None;
    }
    match (&*node.target, f.version) {
        ("higher_order.auto_functionalized", 1) => Some("functional"),
        ("higher_order.auto_functionalized_v2", 2) => Some("functional_v2"),
        _ => None,
    }
}

fn label(role: &ResultRole) -> Option<String> {
    match role {
        ResultRole::MutatedArg(name) => Some(name.clone()),
        ResultRole::MutatedBase(k) => Some(format!("base{k}")),
        ResultRole::None | ResultRole::Return(_) => None,
    }
}

/// Whether the labels say all: what has none is a return value, or nothing.
fn labels_tell(results: &[ResultRole], value: &Value) -> bool {
    let Value::Tuple(items) = value else { return false };
    let tells = |(i, (role, item)): (usize, (&ResultRole, &Value))| match role {
        ResultRole::None => *item == Value::None,
        ResultRole::Return(k) => *k as usize == i && *item != Value::None,
        _ => true,
    };
    results.len() == items.len() && results.iter().zip(items).enumerate().all(tells)
}

fn name(text: &str) -> String {
    if plain_name(text) { text.to_owned() } else { json(text) }
}

fn device_text(device: &str) -> String {
    if plain_device(device) { device.to_owned() } else { format!("device({})", json(device)) }
}

/// The fully qualified name of an input: anything that ends at a space, or quoted.
fn fqn_text(fqn: &str) -> String {
    let plain = |c: char| c.is_ascii_graphic() && c != '"';
    let word = matches!(fqn, "mutated" | "target" | "persistent" | "source" | "binds");
    match !fqn.is_empty() && !fqn.starts_with("//") && !word && fqn.chars().all(plain) {
        true => fqn.to_owned(),
        false => json(fqn),
    }
}

/// A module path, which runs to the end of the line.
fn comment(module: &str) -> String {
    let plain = !module.starts_with('"')
        && module.trim() == module
        && !module.is_empty()
        && !module.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    if plain { module.to_owned() } else { json(module) }
}
