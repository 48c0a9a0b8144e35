//! The typed tensor graph: one node an FX node, on petgraph.
//!
//! A [`Graph`] holds everything that its document holds, so [`Graph::from_fx`] then
//! [`Graph::to_fx`] is the identity. Sizes are [`Dim`]s in normal form, references are
//! [`NodeIndex`]es, element types are [`fusec_dsl::dtype::Dtype`]s. What this toolkit has no word
//! for (foreign element types, Python objects) is kept as it is written.
//!
//! Nodes have a place in time: that of the file, or, for an inserted node, that of the node it was
//! put after. [`Graph::toposort`] orders by data, then keeps reads and writes of one storage in
//! time order, then prefers time.

mod bind;
mod check;
mod edit;
mod effect;
mod export;
mod expr;
mod import;
mod order;
mod synth;
mod value;

pub use bind::{Bound, Source, View};
pub use effect::{Effect, Write};
pub use expr::Exprs;
pub(crate) use expr::to_dim as tree_to_dim;
pub(crate) use import::opcode;
pub use order::GraphError;
pub use petgraph::stable_graph::NodeIndex;
pub use value::{Arg, TensorMeta, Value, contiguous_strides};

use crate::fx;
use fusec_dsl::dim::{Dim, Interval};
use indexmap::IndexMap;
use petgraph::Direction;
use petgraph::stable_graph::StableDiGraph;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A tensor program.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Name, origin and remarks.
    pub header: Header,
    /// Free symbols with their ranges.
    pub symbols: Vec<fx::Symbol>,
    /// Symbolic expressions and their spelling in the file.
    pub exprs: Exprs,
    /// Whether the graph returns a tuple or one value.
    pub container: fx::Container,
    /// What it returns, in order.
    pub outputs: Vec<Output>,
    /// Bodies of higher-order ops, uninterpreted.
    pub graphs: IndexMap<String, fx::Subgraph>,
    /// Tensors held by the module.
    pub constants: IndexMap<String, fx::Constant>,
    ops: IndexMap<Arc<str>, OpSchema>,
    dag: StableDiGraph<Node, ()>,
    names: FxHashMap<Arc<str>, NodeIndex>,
    inputs: Vec<NodeIndex>,
    /// Next suffix to try for a fresh name, by hint.
    fresh: FxHashMap<String, usize>,
    /// Number of nodes inserted so far.
    inserted: u32,
    /// Whether it may differ from the file it came from.
    edited: bool,
    /// The order of the file, where it is not that of the indices.
    file_order: Option<Vec<NodeIndex>>,
}

/// Name, origin and remarks of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Name; also the file's stem.
    pub name: String,
    /// At which stage of the compiler it was captured.
    pub capture: String,
    /// Versions of torch and of the tool.
    pub producer: serde_json::Value,
    /// Library, model configuration, passes; free form.
    pub source: serde_json::Value,
    /// Known differences from a real run.
    pub notes: Vec<String>,
    /// Literals that the file could not hold.
    pub warnings: Vec<String>,
}

/// One returned value.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// What it is.
    pub kind: fx::OutputKind,
    /// The buffer or input that it updates.
    pub target: fx::Nullable<String>,
    /// The value.
    pub value: Arg,
}

/// The schema of an operator, with its defaults as arguments.
#[derive(Clone, Debug)]
pub struct OpSchema {
    /// As in the file.
    pub info: fx::OpInfo,
    /// One a parameter.
    defaults: Vec<Option<Arg>>,
}

/// When a node happens: its place in the file, then how many were inserted before it there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u32, u32);

/// One operation, input or attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name. For [`Graph::insert`], a wish.
    pub name: Arc<str>,
    /// What `target` is.
    pub kind: fx::Kind,
    /// What is called, as `aten.mul.Tensor`; of an input, its name.
    pub target: Arc<str>,
    /// Positional arguments.
    pub args: Vec<Arg>,
    /// Keyword arguments, in order.
    pub kwargs: Vec<(Arc<str>, Arg)>,
    /// What it yields.
    pub value: Value,
    /// Innermost `nn.Module` path.
    pub module: Option<Arc<str>>,
    /// Names of the arguments that it writes in place.
    pub mutates: Vec<String>,
    /// Of `auto_functionalized*`: the wrapped operator and what each result is.
    pub functionalized: Option<Box<fx::Functionalized>>,
    /// Parts that only a few nodes have.
    pub rare: Option<Box<Rare>>,
    time: Time,
}

/// Parts that only a few nodes have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rare {
    /// Of an input: its role (its `node` is not used).
    pub input: Option<fx::Input>,
    /// Of an attribute: what it gets.
    pub attr: Option<fx::AttrRef>,
    /// Unbacked symbol to key path in the output.
    pub unbacked_bindings: Vec<(String, String)>,
    /// The file's spelling of the node, when its expressions have more than one.
    pub(crate) spelling: Option<Box<fx::Node>>,
}

impl Node {
    /// A call of an operator, to be inserted. `hint` is what its name will start with.
    pub fn op(hint: &str, target: &str, args: Vec<Arg>, value: Value) -> Node {
        Node {
            name: hint.into(),
            kind: fx::Kind::Op,
            target: target.into(),
            args,
            kwargs: Vec::new(),
            value,
            module: None,
            mutates: Vec::new(),
            functionalized: None,
            rare: None,
            time: Time::default(),
        }
    }

    /// One result of a node with several, to be inserted.
    pub fn getitem(of: NodeIndex, index: i64, value: Value) -> Node {
        let args = vec![Arg::Node(of), Arg::Int(index)];
        let node = Node::op("getitem", "operator.getitem", args, value);
        Node { kind: fx::Kind::Builtin, ..node }
    }

    /// Calls `f` for every node that it uses, in order, once a use.
    pub fn each_operand(&self, f: &mut impl FnMut(NodeIndex)) {
        for arg in self.args.iter().chain(self.kwargs.iter().map(|(_, a)| a)) {
            arg.each_node(f);
        }
    }

    /// The nodes that it uses, in order, one entry a use.
    pub fn operands(&self) -> Vec<NodeIndex> {
        let mut out = Vec::new();
        self.each_operand(&mut |n| out.push(n));
        out
    }

    /// A keyword argument.
    pub fn kwarg(&self, name: &str) -> Option<&Arg> {
        self.kwargs.iter().find(|(k, _)| &**k == name).map(|(_, a)| a)
    }

    /// What it is as an input.
    pub fn input(&self) -> Option<&fx::Input> {
        self.rare.as_ref()?.input.as_ref()
    }
}

impl std::ops::Index<NodeIndex> for Graph {
    type Output = Node;
    fn index(&self, node: NodeIndex) -> &Node {
        &self.dag[node]
    }
}

impl Graph {
    /// Reads plain or gzipped FX JSON into a graph.
    pub fn read(bytes: &[u8]) -> Result<Graph, fx::FxError> {
        Graph::from_fx(&fx::read(bytes)?)
    }

    /// The petgraph view; an edge goes from a value to each node that uses it, once a use.
    pub fn dag(&self) -> &StableDiGraph<Node, ()> {
        &self.dag
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.dag.node_count()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node, if it was not removed.
    pub fn get(&self, node: NodeIndex) -> Option<&Node> {
        self.dag.node_weight(node)
    }

    /// The node of this name.
    pub fn by_name(&self, name: &str) -> Option<NodeIndex> {
        self.names.get(name).copied()
    }

    /// Every node, by index: an order that can run, until the graph is edited. Then see
    /// [`Graph::toposort`].
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIndex, &Node)> {
        self.dag.node_indices().map(|i| (i, &self.dag[i]))
    }

    /// Placeholders in calling order.
    pub fn inputs(&self) -> &[NodeIndex] {
        &self.inputs
    }

    /// The nodes that use this one, in time order, each once.
    pub fn users(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let mut users: Vec<_> = self.dag.neighbors_directed(node, Direction::Outgoing).collect();
        users.sort_by_key(|u| (self.dag[*u].time, *u));
        users.dedup();
        users
    }

    /// Whether a node or an output uses it. Linear in the number of outputs.
    pub fn is_used(&self, node: NodeIndex) -> bool {
        self.dag.neighbors(node).next().is_some()
            || self.outputs.iter().any(|o| o.value.mentions(node))
    }

    /// Schema of an operator.
    pub fn op_info(&self, target: &str) -> Option<&fx::OpInfo> {
        self.ops.get(target).map(|o| &o.info)
    }

    /// Schemas of all operators, in the file's order.
    pub fn ops(&self) -> impl Iterator<Item = (&str, &fx::OpInfo)> {
        self.ops.iter().map(|(k, v)| (&**k, &v.info))
    }

    /// The declared range of a symbol.
    pub fn range(&self, symbol: &str) -> Interval {
        let found = self.symbols.iter().find(|s| s.name == symbol);
        found.map_or(Interval::ALL, |s| Interval { lo: s.min, hi: s.max })
    }

    /// Bounds of a dimension under the declared ranges.
    pub fn interval(&self, dim: &Dim) -> Interval {
        dim.interval(&|s| self.range(s))
    }

    /// `operator.getitem` on a node with a constant index: that node and the index.
    pub fn projection(&self, node: NodeIndex) -> Option<(NodeIndex, usize)> {
        let n = &self.dag[node];
        if n.kind != fx::Kind::Builtin || &*n.target != "operator.getitem" {
            return None;
        }
        match n.args.as_slice() {
            [Arg::Node(of), Arg::Int(i)] => Some((*of, usize::try_from(*i).ok()?)),
            _ => None,
        }
    }

    /// The `getitem` nodes of a node, with their index, in time order.
    pub fn projections(&self, node: NodeIndex) -> Vec<(usize, NodeIndex)> {
        let of = |u: &NodeIndex| self.projection(*u).filter(|(of, _)| *of == node);
        self.users(node).iter().filter_map(|u| of(u).map(|(_, i)| (i, *u))).collect()
    }
}

#[cfg(test)]
mod tests;
