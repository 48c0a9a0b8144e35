//! A [`Graph`] to a document.

use super::import::{Importer, opcode};
use super::{Arg, Exprs, Graph, GraphError, Node, NodeIndex, Rare, TensorMeta, Value};
use crate::fx;
use fusec_dsl::dim::Dim;

impl Graph {
    /// The document of this graph: nodes in the order of [`Graph::toposort`].
    ///
    /// A graph that was imported and not edited gives the document it came from, in its order.
    pub fn to_fx(&self) -> Result<fx::Document, GraphError> {
        let order = match self.edited {
            true => self.toposort()?,
            false => self.file_order(),
        };
        let mut exprs = self.exprs.clone();
        let mut nodes: Vec<fx::Node> =
            order.iter().map(|n| self.export_node(*n, &mut exprs)).collect();
        self.restore_spellings(&order, &mut nodes);
        let value = |arg: &Arg, exprs: &mut Exprs| self.export_arg(arg, exprs);
        let outputs = self.outputs.iter().map(|o| fx::Output {
            kind: o.kind,
            target: o.target.clone(),
            value: value(&o.value, &mut exprs),
        });
        let outputs = outputs.collect();
        let header = self.header.clone();
        Ok(fx::Document {
            schema: fx::SCHEMA.into(),
            schema_version: fx::SCHEMA_VERSION.into(),
            name: header.name,
            capture: header.capture,
            producer: header.producer,
            source: header.source,
            notes: header.notes,
            symbols: self.symbols.clone(),
            inputs: self.export_inputs(),
            nodes,
            output_container: self.container,
            outputs,
            ops: self.ops.iter().map(|(k, v)| (k.to_string(), v.info.clone())).collect(),
            graphs: self.graphs.clone(),
            constants: self.constants.clone(),
            warnings: header.warnings,
            exprs: exprs.into_trees(),
        })
    }

    fn export_inputs(&self) -> Vec<fx::Input> {
        let one = |n: &NodeIndex| {
            let node = &self[*n];
            let input = node.input().cloned().unwrap_or_else(|| fx::Input {
                node: String::new(),
                kind: fx::InputKind::Unknown,
                fqn: None,
                persistent: None,
                source: None,
                mutated: false,
            });
            fx::Input { node: node.name.to_string(), ..input }
        };
        self.inputs.iter().map(one).collect()
    }

    pub(super) fn export_node(&self, index: NodeIndex, exprs: &mut Exprs) -> fx::Node {
        let node = &self[index];
        let none = Rare::default();
        let rare = node.rare.as_deref().unwrap_or(&none);
        let args = node.args.iter().map(|a| self.export_arg(a, exprs)).collect();
        let kwarg =
            |(k, v): &(std::sync::Arc<str>, Arg)| (k.to_string(), self.export_arg(v, exprs));
        fx::Node {
            name: node.name.to_string(),
            op: opcode(node.kind),
            kind: node.kind,
            target: node.target.to_string(),
            attr: rare.attr.clone(),
            args: (node.kind != fx::Kind::Input).then_some(args),
            kwargs: node.kwargs.iter().map(kwarg).collect(),
            out: export_value(&node.value, exprs),
            mutates: node.mutates.clone(),
            functionalized: node.functionalized.as_deref().cloned(),
            module: node.module.as_deref().map(str::to_owned),
            unbacked_bindings: rare.unbacked_bindings.clone(),
        }
    }

    /// Puts the file's own spelling back where the node still means what it says.
    fn restore_spellings(&self, order: &[NodeIndex], nodes: &mut [fx::Node]) {
        if !self.exprs.ambiguous {
            return;
        }
        let mut import = Importer::new(&self.exprs, 0);
        import.names = self.names.clone();
        for (index, out) in order.iter().zip(nodes) {
            let node = &self[*index];
            let spelling = node.rare.as_ref().and_then(|r| r.spelling.as_deref());
            if let Some(spelling) = spelling.filter(|s| means(&mut import, s, node)) {
                out.args.clone_from(&spelling.args);
                out.kwargs.clone_from(&spelling.kwargs);
                out.out = spelling.out.clone();
            }
        }
    }

    pub(super) fn export_arg(&self, arg: &Arg, exprs: &mut Exprs) -> fx::Value {
        use fx::Value as V;
        match arg {
            Arg::Node(n) => V::Node(self[*n].name.to_string()),
            Arg::None => V::None,
            Arg::Ellipsis => V::Ellipsis,
            Arg::Int(v) => V::Int(*v),
            Arg::Float(v) => V::Float(v.to_string()),
            Arg::Bool(v) => V::Bool(*v),
            Arg::Str(s) => V::Str(s.to_string()),
            Arg::Sym(d) => match d.as_int() {
                Some(v) => V::Int(v),
                None => V::Sym(exprs.key(d)),
            },
            Arg::SymFloat(k) => V::Symfloat(k.to_string()),
            Arg::SymBool(k) => V::Symbool(k.to_string()),
            Arg::Dtype(d) => V::Dtype(d.torch().into()),
            Arg::ForeignDtype(s) => V::Dtype(s.to_string()),
            Arg::Device(s) => V::Device(s.to_string()),
            Arg::Layout(s) => V::Layout(s.to_string()),
            Arg::MemoryFormat(s) => V::MemoryFormat(s.to_string()),
            Arg::Op(s) => V::Op(s.to_string()),
            Arg::List(items) => V::List(items.iter().map(|a| self.export_arg(a, exprs)).collect()),
            Arg::Tuple(items) => {
                V::Tuple(items.iter().map(|a| self.export_arg(a, exprs)).collect())
            }
            Arg::Dict(pairs) => {
                let mut pair =
                    |(k, v): &(Arg, Arg)| (self.export_arg(k, exprs), self.export_arg(v, exprs));
                V::Dict(pairs.iter().map(&mut pair).collect())
            }
            Arg::Slice(s) => {
                let [a, b, c] = s.each_ref().map(|a| self.export_arg(a, exprs));
                V::Slice(Box::new((a, b, c)))
            }
            Arg::Complex(re, im) => V::Complex((re.to_string(), im.to_string())),
            Arg::Opaque(o) => V::Opaque((**o).clone()),
        }
    }
}

/// Whether the spelling, read again, is this node.
fn means(import: &mut Importer<'_>, spelling: &fx::Node, node: &Node) -> bool {
    let mut read = || {
        let args = spelling.args.iter().flatten().map(|a| import.arg(a)).collect::<Result<_, _>>();
        let kwargs: Result<Vec<_>, _> =
            spelling.kwargs.iter().map(|(k, v)| Ok((k.as_str().into(), import.arg(v)?))).collect();
        Ok::<(Vec<Arg>, _, Value), fx::FxError>((args?, kwargs?, import.value(&spelling.out)?))
    };
    read().is_ok_and(|(a, k, v)| a == node.args && k == node.kwargs && v == node.value)
}

fn size(dim: &Dim, exprs: &mut Exprs) -> fx::Size {
    match dim.as_int() {
        Some(v) => fx::Size::Int(v),
        None => fx::Size::Expr(exprs.key(dim)),
    }
}

fn sizes(dims: &[Dim], exprs: &mut Exprs) -> Vec<fx::Size> {
    dims.iter().map(|d| size(d, exprs)).collect()
}

pub(super) fn export_value(value: &Value, exprs: &mut Exprs) -> fx::OutMeta {
    use fx::OutMeta as O;
    match value {
        Value::Tensor(t) => O::Tensor(export_tensor(t, exprs)),
        Value::Foreign(t) => O::Tensor((**t).clone()),
        Value::Tuple(items) => O::Tuple(items.iter().map(|v| export_value(v, exprs)).collect()),
        Value::List(items) => O::List(items.iter().map(|v| export_value(v, exprs)).collect()),
        Value::Int(d) => match d.as_int() {
            Some(v) => O::Int(v),
            None => O::Symint(exprs.key(d)),
        },
        Value::Float(v) => O::Float(v.to_string()),
        Value::Bool(v) => O::Bool(*v),
        Value::SymFloat(k) => O::Symfloat(k.to_string()),
        Value::SymBool(k) => O::Symbool(k.to_string()),
        Value::None => O::None,
        Value::Unknown => O::Unknown,
        Value::Opaque(o) => O::Opaque((**o).clone()),
    }
}

fn export_tensor(t: &TensorMeta, exprs: &mut Exprs) -> fx::Tensor {
    fx::Tensor {
        dtype: t.ty.dtype.torch().into(),
        shape: sizes(&t.ty.shape, exprs),
        stride: Some(sizes(&t.stride, exprs)),
        storage_offset: size(&t.offset, exprs),
        device: t.device.to_string(),
        layout: None,
        storage: t.storage,
    }
}
