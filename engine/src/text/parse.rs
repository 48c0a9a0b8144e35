//! Text to a graph.

use super::cursor::Cursor;
use super::values::{Values, device_name};
use super::{TextError, invent, storage, usual_kind};
use crate::fx::{self, Container, Document, Functionalized, OutMeta, Output, ResultRole, Value};
use crate::graph::{Exprs, Graph};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

type Result<T> = std::result::Result<T, TextError>;

/// Reads what [`super::print`] or [`super::brief`] wrote.
pub fn parse(text: &str) -> Result<Graph> {
    let mut parser = Parser::new();
    // Expressions come last in the text and first in meaning.
    for (c, word) in statements(text) {
        parser.expression(c, word)?;
    }
    parser.values.exprs = Exprs::new(std::mem::take(&mut parser.doc.exprs));
    for (c, word) in statements(text) {
        parser.statement(c, word)?;
    }
    parser.finish()
}

/// Lines that say something, with their first word.
fn statements(text: &str) -> impl Iterator<Item = (Cursor<'_>, &str)> {
    let says = |l: &&str| !l.trim().is_empty() && !l.trim_start().starts_with("//");
    text.split('\n').enumerate().filter(move |(_, l)| says(l)).map(|(i, l)| {
        let c = Cursor::new(l, i + 1);
        let word = c.peek_word();
        (c, word)
    })
}

struct Parser {
    doc: Document,
    values: Values,
    /// Whether storages of each node's tensors are written.
    written: Vec<Vec<bool>>,
    /// Line of each node.
    lines: FxHashMap<String, usize>,
    /// Whether it is more than a brief text: it says where the graph comes from.
    full: bool,
    named: bool,
    returned: bool,
}

impl Parser {
    fn new() -> Parser {
        let null = serde_json::Value::Object(serde_json::Map::new());
        let doc = Document {
            schema: fx::SCHEMA.into(),
            schema_version: fx::SCHEMA_VERSION.into(),
            name: String::new(),
            capture: String::new(),
            producer: null.clone(),
            source: null,
            notes: Vec::new(),
            symbols: Vec::new(),
            exprs: IndexMap::new(),
            inputs: Vec::new(),
            nodes: Vec::new(),
            output_container: Container::Tuple,
            outputs: Vec::new(),
            ops: IndexMap::new(),
            graphs: IndexMap::new(),
            constants: IndexMap::new(),
            warnings: Vec::new(),
        };
        let values = Values { exprs: Exprs::default(), device: None, written: Vec::new() };
        let lines = FxHashMap::default();
        Parser {
            doc,
            values,
            written: Vec::new(),
            lines,
            full: false,
            named: false,
            returned: false,
        }
    }

    fn finish(mut self) -> Result<Graph> {
        let whole = |what: &str| TextError { line: 0, column: 0, what: what.into() };
        if !self.named {
            return Err(whole("no `graph name: capture` line"));
        }
        if !self.returned {
            return Err(whole("no `return` line"));
        }
        if !self.full {
            invent::missing(&mut self.doc, &mut self.values.exprs);
        }
        self.doc.exprs = self.values.exprs.trees().clone();
        let mut graph = Graph::from_fx(&self.doc).map_err(|e| self.place(&e))?;
        if self.full {
            storage::fill(&mut graph, &self.written);
        }
        Ok(graph)
    }

    /// The line of the node that an import error names.
    fn place(&self, e: &fx::FxError) -> TextError {
        let node = e.place.as_deref().and_then(|p| p.strip_prefix("node `")?.split('`').next());
        let line = node.and_then(|n| self.lines.get(n)).copied().unwrap_or(0);
        TextError { line, column: 0, what: e.to_string() }
    }

    /// The first pass: expressions and constants of the header that others need.
    fn expression(&mut self, mut c: Cursor<'_>, word: &str) -> Result<()> {
        if word == "expr" {
            c.eat(word);
            let key: String = c.json()?;
            self.doc.exprs.insert(key, c.json()?);
            c.expect_end()?;
        }
        Ok(())
    }

    fn statement(&mut self, mut c: Cursor<'_>, word: &str) -> Result<()> {
        if c.eat("%") {
            return self.node(c);
        }
        c.eat(word);
        match word {
            "graph" => {
                self.doc.name = c.name()?;
                c.expect(":")?;
                self.doc.capture = c.name()?;
                self.named = true;
            }
            "device" => self.values.device = Some(device_name(&mut c)?),
            "symbol" => self.symbol(&mut c)?,
            "return" => self.returns(&mut c)?,
            "producer" => {
                self.doc.producer = c.json()?;
                self.full = true;
            }
            "source" => self.doc.source = c.json()?,
            "note" => self.doc.notes.push(c.json()?),
            "warning" => self.doc.warnings.push(c.json()?),
            "expr" => return Ok(()),
            "op" => insert(&mut c, &mut self.doc.ops)?,
            "subgraph" => insert(&mut c, &mut self.doc.graphs)?,
            "constant" => insert(&mut c, &mut self.doc.constants)?,
            _ => {
                return c.error("expected a node (`%name: type = ..`), `return`, or a header line");
            }
        }
        c.expect_end()
    }

    fn symbol(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        let name = c.name()?;
        c.expect("in")?;
        let min = if c.peek("..") { None } else { Some(c.int()?) };
        c.expect("..")?;
        c.spaces();
        let digit = c.rest().starts_with(|d: char| d.is_ascii_digit() || d == '-');
        let max = if digit { Some(c.int()?) } else { None };
        let unbacked = c.eat_word("unbacked");
        let bound_by = match c.eat_word("at") {
            true => Some(bound_by(c)?),
            false => None,
        };
        let hint = if c.eat_word("hint") { Some(c.int()?) } else { None };
        let source = if c.eat_word("source") { Some(c.json()?) } else { None };
        let kind = if unbacked { fx::SymbolKind::Unbacked } else { fx::SymbolKind::Backed };
        self.doc.symbols.push(fx::Symbol { name, kind, min, max, hint, bound_by, source });
        Ok(())
    }

    fn returns(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        self.returned = true;
        let tuple = c.eat("(");
        self.doc.output_container = if tuple { Container::Tuple } else { Container::Single };
        if !tuple {
            let output = self.output(c)?;
            self.doc.outputs = vec![output];
            return Ok(());
        }
        self.doc.outputs = c.items(")", |c| self.output(c))?;
        Ok(())
    }

    fn output(&mut self, c: &mut Cursor<'_>) -> Result<Output> {
        let mut output =
            Output { kind: fx::OutputKind::UserOutput, target: None, value: Value::None };
        let word = c.peek_word();
        if let Some(kind) = fx::OutputKind::named(word) {
            c.eat(word);
            output.kind = kind;
            if !c.peek(":") {
                output.target = Some(c.json()?);
            }
            c.expect(":")?;
        }
        output.value = self.values.arg(c)?;
        Ok(output)
    }

    fn node(&mut self, mut c: Cursor<'_>) -> Result<()> {
        self.values.written.clear();
        let name = c.name()?;
        if self.lines.insert(name.clone(), c.line()).is_some() {
            return c.error(format!("a second node `{name}`"));
        }
        c.expect(":")?;
        let (out, labels) = self.result(&mut c)?;
        self.written.push(std::mem::take(&mut self.values.written));
        c.expect("=")?;
        let mut node = blank(name, out);
        self.call(&mut c, &mut node, &labels)?;
        while c.eat_word("binds") {
            node.unbacked_bindings.push((c.json()?, c.json()?));
        }
        if c.eat("//") {
            c.spaces();
            let quoted = c.rest().starts_with('"');
            node.module = Some(if quoted { c.json()? } else { c.rest().trim_end().to_owned() });
        } else {
            c.expect_end()?;
        }
        self.doc.nodes.push(node);
        Ok(())
    }

    /// The type of a node, and the labels in it if it is a tuple.
    fn result(&mut self, c: &mut Cursor<'_>) -> Result<(OutMeta, Vec<Option<String>>)> {
        if !c.eat("(") {
            return Ok((self.values.value(c)?, Vec::new()));
        }
        let mut labels = Vec::new();
        let items = c.items(")", |c| {
            labels.push(c.attempt(|c| c.name().ok().filter(|_| c.eat(":"))));
            self.values.value(c)
        })?;
        Ok((OutMeta::Tuple(items), labels))
    }

    fn call(
        &mut self,
        c: &mut Cursor<'_>,
        node: &mut fx::Node,
        labels: &[Option<String>],
    ) -> Result<()> {
        let first = c.name()?;
        let is_call = c.peek("(");
        if let Some(kind) = fx::InputKind::named(&first).filter(|_| !is_call) {
            return self.input(c, node, kind);
        }
        match first.as_str() {
            "attr" if !is_call => return self.attr(c, node),
            "functional" | "functional_v2" if !is_call => {
                return self.functional(c, node, labels, first == "functional_v2");
            }
            _ => {}
        }
        match fx::Kind::named(&first).filter(|_| !is_call) {
            Some(kind) => {
                node.kind = kind;
                node.target = c.name()?;
            }
            None => {
                node.kind = usual_kind(&first);
                node.target = first;
            }
        }
        node.op = crate::graph::opcode(node.kind);
        self.args(c, node)?;
        self.mutates(c, node)?;
        if c.eat_word("functionalized") {
            node.functionalized = Some(c.json()?);
        }
        Ok(())
    }

    fn input(
        &mut self,
        c: &mut Cursor<'_>,
        node: &mut fx::Node,
        kind: fx::InputKind,
    ) -> Result<()> {
        let clause = ["mutated", "target", "persistent", "source", "binds"];
        let more = !c.at_end() && !c.peek("//") && !clause.contains(&c.peek_word());
        let mut input = fx::Input {
            node: node.name.clone(),
            kind,
            fqn: if more { Some(c.chunk()?) } else { None },
            persistent: None,
            source: None,
            mutated: c.eat_word("mutated"),
        };
        node.target = if c.eat_word("target") { c.json()? } else { node.name.clone() };
        input.persistent = if c.eat_word("persistent") { Some(c.json()?) } else { None };
        input.source = if c.eat_word("source") { Some(c.json()?) } else { None };
        node.args = None;
        self.doc.inputs.push(input);
        Ok(())
    }

    fn attr(&mut self, c: &mut Cursor<'_>, node: &mut fx::Node) -> Result<()> {
        node.kind = fx::Kind::Attr;
        node.op = fx::Opcode::GetAttr;
        node.target = c.name()?;
        if c.eat_word("constant") {
            node.attr = Some(fx::AttrRef::Constant(node.target.clone()));
        } else if c.peek("{") {
            node.attr = Some(c.json()?);
        }
        if c.eat_word("with") { self.args(c, node) } else { Ok(()) }
    }

    /// A call of an operator through `auto_functionalized*`.
    fn functional(
        &mut self,
        c: &mut Cursor<'_>,
        node: &mut fx::Node,
        labels: &[Option<String>],
        v2: bool,
    ) -> Result<()> {
        let op = c.name()?;
        node.kind = fx::Kind::Hop;
        node.op = fx::Opcode::CallFunction;
        let version = if v2 { "_v2" } else { "" };
        node.target = format!("higher_order.auto_functionalized{version}");
        self.args(c, node)?;
        node.args = Some(vec![Value::Op(op.clone())]);
        self.mutates(c, node)?;
        let results = match c.eat_word("results") {
            true => c.json()?,
            false => roles(labels, &node.out, v2),
        };
        node.functionalized = Some(Functionalized { op, version: u8::from(v2) + 1, results });
        Ok(())
    }

    fn args(&mut self, c: &mut Cursor<'_>, node: &mut fx::Node) -> Result<()> {
        c.expect("(")?;
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        c.items(")", |c| {
            let key = c.attempt(|c| c.name().ok().filter(|_| c.eat("=")));
            let value = self.values.arg(c)?;
            match key {
                Some(key) if kwargs.iter().any(|(k, _)| *k == key) => {
                    return c.error(format!("`{key}` given twice"));
                }
                Some(key) => kwargs.push((key, value)),
                None if kwargs.is_empty() => args.push(value),
                None => return c.error("a positional argument after one with a name"),
            }
            Ok(())
        })?;
        node.args = Some(args);
        node.kwargs = kwargs;
        Ok(())
    }

    fn mutates(&mut self, c: &mut Cursor<'_>, node: &mut fx::Node) -> Result<()> {
        if c.eat_word("mutates") {
            node.mutates.push(c.name()?);
            while c.eat(",") {
                node.mutates.push(c.name()?);
            }
        }
        Ok(())
    }
}

fn blank(name: String, out: OutMeta) -> fx::Node {
    fx::Node {
        name,
        op: fx::Opcode::Placeholder,
        kind: fx::Kind::Input,
        target: String::new(),
        attr: None,
        args: Some(Vec::new()),
        kwargs: Vec::new(),
        out,
        mutates: Vec::new(),
        functionalized: None,
        module: None,
        unbacked_bindings: Vec::new(),
    }
}

fn insert<T: serde::de::DeserializeOwned>(
    c: &mut Cursor<'_>,
    table: &mut IndexMap<String, T>,
) -> Result<()> {
    let key: String = c.json()?;
    table.insert(key, c.json()?);
    Ok(())
}

fn bound_by(c: &mut Cursor<'_>) -> Result<fx::BoundBy> {
    c.expect("%")?;
    let input = c.name()?;
    let dim = match c.eat("[") {
        true => {
            let dim = c.int()?;
            c.expect("]")?;
            Some(dim)
        }
        false => None,
    };
    Ok(fx::BoundBy { input, dim })
}

/// What labels say about the results of a functionalized call.
fn roles(labels: &[Option<String>], out: &OutMeta, v2: bool) -> Vec<ResultRole> {
    let OutMeta::Tuple(items) = out else { return Vec::new() };
    let base = |label: &str| label.strip_prefix("base").and_then(|k| k.parse().ok());
    let one = |(i, item): (usize, &OutMeta)| match labels.get(i).and_then(Option::as_deref) {
        Some(label) => match base(label).filter(|_| v2) {
            Some(k) => ResultRole::MutatedBase(k),
            None => ResultRole::MutatedArg(label.to_owned()),
        },
        None if *item == OutMeta::None => ResultRole::None,
        None => ResultRole::Return(u32::try_from(i).unwrap_or(u32::MAX)),
    };
    items.iter().enumerate().map(one).collect()
}
