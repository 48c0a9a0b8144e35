//! A document to a [`Graph`]: names resolved, sizes normalized, everything checked.

use super::check::{check_inputs, check_node, check_symbols};
use super::{
    Arg, Exprs, Graph, Header, Node, NodeIndex, OpSchema, Output, Rare, TensorMeta, Time, Value,
};
use crate::fx::{self, F64, FxError};
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::types::TensorType;
use indexmap::IndexMap;
use petgraph::stable_graph::StableDiGraph;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl Graph {
    /// Imports a document. Errors name the node.
    pub fn from_fx(doc: &fx::Document) -> Result<Graph, FxError> {
        check_symbols(doc)?;
        let exprs = Exprs::new(doc.exprs.clone());
        let mut import = Importer::new(&exprs, doc.nodes.len());
        let ops = import.ops(doc)?;
        import.define(&doc.nodes)?;
        let mut dag = StableDiGraph::with_capacity(doc.nodes.len(), 2 * doc.nodes.len());
        for (i, node) in doc.nodes.iter().enumerate() {
            dag.add_node(import.node(node, doc, i)?);
        }
        let mut sorted = true;
        for index in dag.node_indices().collect::<Vec<_>>() {
            for used in dag[index].operands() {
                sorted &= used < index;
                dag.add_edge(used, index, ());
            }
        }
        let inputs: Vec<_> =
            dag.node_indices().filter(|n| dag[*n].kind == fx::Kind::Input).collect();
        check_inputs(doc, inputs.len())?;
        let outputs = import.outputs(doc)?;
        let names = std::mem::take(&mut import.names);
        let mut graph = Graph {
            header: header(doc),
            symbols: doc.symbols.clone(),
            exprs,
            container: doc.output_container,
            outputs,
            graphs: doc.graphs.clone(),
            constants: doc.constants.clone(),
            ops,
            dag,
            names,
            inputs,
            fresh: FxHashMap::default(),
            inserted: 0,
            edited: false,
            file_order: None,
        };
        if !sorted {
            return graph.in_order(doc);
        }
        graph.check_calls()?;
        graph.keep_spellings(doc);
        Ok(graph)
    }

    /// The graph of a file that is not in topological order (some of vLLM's passes leave that
    /// behind): numbered in an order that is, exported in the file's.
    fn in_order(&self, doc: &fx::Document) -> Result<Graph, FxError> {
        let order = self.sort(Vec::new()).map_err(|e| {
            let place = e.cycle.first().map(|n| format!("node `{n}`")).unwrap_or_default();
            FxError::new(e.to_string()).at(place)
        })?;
        let nodes = order.iter().map(|n| doc.nodes[n.index()].clone()).collect();
        let mut graph = Graph::from_fx(&fx::Document { nodes, ..doc.clone() })?;
        let mut file_order = vec![NodeIndex::new(0); order.len()];
        for (new, old) in order.into_iter().enumerate() {
            file_order[old.index()] = NodeIndex::new(new);
        }
        graph.file_order = Some(file_order);
        Ok(graph)
    }

    /// Keeps the file's own text of nodes whose expressions could be written in more than one way.
    fn keep_spellings(&mut self, doc: &fx::Document) {
        if !self.exprs.ambiguous {
            return;
        }
        let mut exprs = self.exprs.clone();
        for node in &doc.nodes {
            let Some(index) = self.by_name(&node.name) else { continue };
            if self.export_node(index, &mut exprs) != *node {
                let rare = self.dag[index].rare.get_or_insert_default();
                rare.spelling = Some(Box::new(node.clone()));
            }
        }
    }
}

fn time(i: usize) -> Time {
    Time(u32::try_from(i).unwrap_or(u32::MAX), 0)
}

fn header(doc: &fx::Document) -> Header {
    Header {
        name: doc.name.clone(),
        capture: doc.capture.clone(),
        producer: doc.producer.clone(),
        source: doc.source.clone(),
        notes: doc.notes.clone(),
        warnings: doc.warnings.clone(),
    }
}

/// Resolves names and converts values.
pub(super) struct Importer<'a> {
    exprs: &'a Exprs,
    pub(super) names: FxHashMap<Arc<str>, NodeIndex>,
    texts: FxHashSet<Arc<str>>,
    ints: FxHashMap<i64, Dim>,
}

impl<'a> Importer<'a> {
    pub(super) fn new(exprs: &'a Exprs, nodes: usize) -> Importer<'a> {
        let mut names = FxHashMap::default();
        names.reserve(nodes);
        Importer { exprs, names, texts: FxHashSet::default(), ints: FxHashMap::default() }
    }

    fn name(&self, name: &str) -> Arc<str> {
        self.names.get_key_value(name).map_or_else(|| name.into(), |(name, _)| name.clone())
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.texts.insert(new.clone());
        new
    }

    /// Numbers the nodes. The graph numbers them the same way when they are added in order.
    fn define(&mut self, nodes: &[fx::Node]) -> Result<(), FxError> {
        for (i, node) in nodes.iter().enumerate() {
            if self.names.insert(node.name.as_str().into(), NodeIndex::new(i)).is_some() {
                return Err(FxError::at_node(&node.name, "a second node of this name"));
            }
        }
        Ok(())
    }

    fn ops(&mut self, doc: &fx::Document) -> Result<IndexMap<Arc<str>, OpSchema>, FxError> {
        let mut out = IndexMap::with_capacity(doc.ops.len());
        for (target, info) in &doc.ops {
            let at = |e: FxError| e.inside(format!("operator `{target}`"));
            out.insert(self.text(target), self.schema(info).map_err(at)?);
        }
        Ok(out)
    }

    /// An operator's schema with its defaults converted.
    pub(super) fn schema(&mut self, info: &fx::OpInfo) -> Result<OpSchema, FxError> {
        let defaults = info.args.iter().map(|a| {
            let default = a.default.as_ref().map(|d| self.arg(d)).transpose();
            default.map_err(|e| e.inside(format!("default of `{}`", a.name)))
        });
        Ok(OpSchema { defaults: defaults.collect::<Result<_, _>>()?, info: info.clone() })
    }

    fn outputs(&mut self, doc: &fx::Document) -> Result<Vec<Output>, FxError> {
        if doc.output_container == fx::Container::Single && doc.outputs.len() != 1 {
            let what = format!("{} outputs in a `single` container", doc.outputs.len());
            return Err(FxError::new(what).at("`outputs`"));
        }
        let convert = |(i, o): (usize, &fx::Output)| {
            let value = self.arg(&o.value).map_err(|e| e.inside(format!("`outputs[{i}]`")))?;
            Ok(Output { kind: o.kind, target: o.target.clone(), value })
        };
        doc.outputs.iter().enumerate().map(convert).collect()
    }

    fn node(&mut self, node: &fx::Node, doc: &fx::Document, i: usize) -> Result<Node, FxError> {
        check_node(node, doc, i)?;
        let place =
            |part: String| move |e: FxError| e.inside(part).inside(format!("node `{}`", node.name));
        let mut args = Vec::new();
        for (i, value) in node.args.iter().flatten().enumerate() {
            args.push(self.arg(value).map_err(place(format!("`args[{i}]`")))?);
        }
        let mut kwargs = Vec::with_capacity(node.kwargs.len());
        for (key, value) in &node.kwargs {
            let arg = self.arg(value).map_err(place(format!("`{key}`")))?;
            kwargs.push((self.text(key), arg));
        }
        Ok(Node {
            name: self.name(&node.name),
            kind: node.kind,
            target: self.text(&node.target),
            args,
            kwargs,
            value: self.value(&node.out).map_err(place("`out`".into()))?,
            module: node.module.as_deref().map(|m| self.text(m)),
            mutates: node.mutates.clone(),
            functionalized: node.functionalized.clone().map(Box::new),
            rare: rare(node, doc, i),
            time: time(i),
        })
    }

    /// Converts an argument.
    pub(super) fn arg(&mut self, value: &fx::Value) -> Result<Arg, FxError> {
        use fx::Value as V;
        Ok(match value {
            V::None => Arg::None,
            V::Ellipsis => Arg::Ellipsis,
            V::Node(name) => match self.names.get(name.as_str()) {
                Some(n) => Arg::Node(*n),
                None => return Err(FxError::new(format!("uses `{name}`, which no node defines"))),
            },
            V::Int(v) => Arg::Int(*v),
            V::Float(text) => Arg::Float(float(text)?),
            V::Bool(v) => Arg::Bool(*v),
            V::Str(s) => Arg::Str(self.text(s)),
            V::Sym(key) => Arg::Sym(self.expr(key)?),
            V::Symfloat(key) => Arg::SymFloat(self.key(key)?),
            V::Symbool(key) => Arg::SymBool(self.key(key)?),
            V::Dtype(name) => match dtype(name)? {
                Some(d) => Arg::Dtype(d),
                None => Arg::ForeignDtype(self.text(name)),
            },
            V::Device(s) => Arg::Device(self.text(s)),
            V::Layout(s) => Arg::Layout(self.text(s)),
            V::MemoryFormat(s) => Arg::MemoryFormat(self.text(s)),
            V::Op(s) => Arg::Op(self.text(s)),
            V::List(items) => Arg::List(self.args(items)?),
            V::Tuple(items) => Arg::Tuple(self.args(items)?),
            V::Dict(pairs) => {
                let pair = |(k, v): &(V, V)| Ok((self.arg(k)?, self.arg(v)?));
                Arg::Dict(pairs.iter().map(pair).collect::<Result<_, FxError>>()?)
            }
            V::Slice(s) => {
                Arg::Slice(Box::new([self.arg(&s.0)?, self.arg(&s.1)?, self.arg(&s.2)?]))
            }
            V::Complex((re, im)) => Arg::Complex(float(re)?, float(im)?),
            V::Opaque(o) => Arg::Opaque(Box::new(o.clone())),
        })
    }

    fn args(&mut self, values: &[fx::Value]) -> Result<Vec<Arg>, FxError> {
        values.iter().map(|v| self.arg(v)).collect()
    }

    fn expr(&self, key: &str) -> Result<Dim, FxError> {
        self.exprs
            .dim(key)
            .cloned()
            .ok_or_else(|| FxError::new(format!("expression `{key}` is not in `exprs`")))
    }

    fn key(&mut self, key: &str) -> Result<Arc<str>, FxError> {
        self.expr(key)?;
        Ok(self.text(key))
    }

    fn int(&mut self, v: i64) -> Dim {
        self.ints.entry(v).or_insert_with(|| Dim::int(v)).clone()
    }

    fn size(&mut self, size: &fx::Size) -> Result<Dim, FxError> {
        match size {
            fx::Size::Int(v) => Ok(self.int(*v)),
            fx::Size::Expr(key) => self.expr(key),
        }
    }

    /// Converts output metadata.
    pub(super) fn value(&mut self, out: &fx::OutMeta) -> Result<Value, FxError> {
        use fx::OutMeta as O;
        Ok(match out {
            O::None => Value::None,
            O::Unknown => Value::Unknown,
            O::Tensor(t) => self.tensor(t)?,
            O::Tuple(items) => Value::Tuple(self.values(items)?),
            O::List(items) => Value::List(self.values(items)?),
            O::Symint(key) => Value::Int(self.expr(key)?),
            O::Symfloat(key) => Value::SymFloat(self.key(key)?),
            O::Symbool(key) => Value::SymBool(self.key(key)?),
            O::Int(v) => Value::Int(self.int(*v)),
            O::Float(text) => Value::Float(float(text)?),
            O::Bool(v) => Value::Bool(*v),
            O::Opaque(o) => Value::Opaque(Box::new(o.clone())),
        })
    }

    fn values(&mut self, items: &[fx::OutMeta]) -> Result<Vec<Value>, FxError> {
        items.iter().map(|v| self.value(v)).collect()
    }

    fn tensor(&mut self, t: &fx::Tensor) -> Result<Value, FxError> {
        let dtype = dtype(&t.dtype)?;
        let shape = t.shape.iter().map(|s| self.size(s)).collect::<Result<Vec<_>, _>>()?;
        if let Some(negative) = shape.iter().find(|d| d.as_int().is_some_and(|v| v < 0)) {
            return Err(FxError::new(format!("a tensor with a negative size, {negative}")));
        }
        let (Some(dtype), Some(stride), None) = (dtype, &t.stride, &t.layout) else {
            return Ok(Value::Foreign(Box::new(t.clone())));
        };
        if stride.len() != shape.len() {
            let what = format!("a tensor with {} sizes and {} strides", shape.len(), stride.len());
            return Err(FxError::new(what));
        }
        Ok(Value::Tensor(TensorMeta {
            ty: TensorType { dtype, shape },
            stride: stride.iter().map(|s| self.size(s)).collect::<Result<_, _>>()?,
            offset: self.size(&t.storage_offset)?,
            device: self.text(&t.device),
            storage: t.storage,
        }))
    }
}

fn rare(node: &fx::Node, doc: &fx::Document, i: usize) -> Option<Box<Rare>> {
    let input = match node.op {
        fx::Opcode::Placeholder => doc.inputs.get(i).cloned(),
        _ => None,
    };
    let rare = Rare {
        input,
        attr: node.attr.clone(),
        unbacked_bindings: node.unbacked_bindings.clone(),
        spelling: None,
    };
    (rare != Rare::default()).then(|| Box::new(rare))
}

fn float(text: &str) -> Result<F64, FxError> {
    F64::parse(text).ok_or_else(|| FxError::new(format!("`{text}` is not a float")))
}

/// Element types that torch has and this toolkit does not compute with.
const FOREIGN_DTYPES: &[&str] = &[
    "complex32",
    "complex128",
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "qint8",
    "quint8",
    "qint32",
    "quint4x2",
    "quint2x4",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "bits16",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
];

/// The element type; `None` when it is one of torch's that has no word here.
fn dtype(name: &str) -> Result<Option<Dtype>, FxError> {
    match Dtype::from_torch(name) {
        Some(d) => Ok(Some(d)),
        None if FOREIGN_DTYPES.contains(&name) => Ok(None),
        None => Err(FxError::new(format!("unknown element type `{name}`"))),
    }
}

/// The FX opcode of a kind.
pub(crate) fn opcode(kind: fx::Kind) -> fx::Opcode {
    match kind {
        fx::Kind::Input => fx::Opcode::Placeholder,
        fx::Kind::Attr => fx::Opcode::GetAttr,
        fx::Kind::Module => fx::Opcode::CallModule,
        fx::Kind::Method => fx::Opcode::CallMethod,
        fx::Kind::Op | fx::Kind::Hop | fx::Kind::Builtin | fx::Kind::Function => {
            fx::Opcode::CallFunction
        }
    }
}
