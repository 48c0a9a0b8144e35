//! Arguments and values of nodes.

use super::NodeIndex;
use crate::fx::{self, F64};
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::types::{TensorType, Type};
use std::sync::Arc;

/// An argument of a node, or an output of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// The value of a node.
    Node(NodeIndex),
    /// Python `None`.
    None,
    /// Python `...`.
    Ellipsis,
    /// An integer.
    Int(i64),
    /// A float.
    Float(F64),
    /// A boolean.
    Bool(bool),
    /// A string.
    Str(Arc<str>),
    /// A symbolic integer.
    Sym(Dim),
    /// A symbolic float: a key of the graph's expressions.
    SymFloat(Arc<str>),
    /// A symbolic boolean: a key of the graph's expressions.
    SymBool(Arc<str>),
    /// An element type.
    Dtype(Dtype),
    /// An element type that this toolkit has no word for, by torch's name.
    ForeignDtype(Arc<str>),
    /// A device.
    Device(Arc<str>),
    /// A layout.
    Layout(Arc<str>),
    /// A memory format.
    MemoryFormat(Arc<str>),
    /// An operator passed as data.
    Op(Arc<str>),
    /// A list.
    List(Vec<Arg>),
    /// A tuple.
    Tuple(Vec<Arg>),
    /// A dictionary, in order.
    Dict(Vec<(Arg, Arg)>),
    /// A slice: start, stop, step.
    Slice(Box<[Arg; 3]>),
    /// A complex number.
    Complex(F64, F64),
    /// A Python object.
    Opaque(Box<fx::Opaque>),
}

impl Arg {
    /// A float.
    pub fn float(v: f64) -> Arg {
        Arg::Float(F64::new(v))
    }

    /// The node, if it is one.
    pub fn as_node(&self) -> Option<NodeIndex> {
        match self {
            Arg::Node(n) => Some(*n),
            _ => None,
        }
    }

    /// The integer, symbolic or not.
    pub fn as_dim(&self) -> Option<Dim> {
        match self {
            Arg::Int(v) => Some(Dim::int(*v)),
            Arg::Sym(d) => Some(d.clone()),
            _ => None,
        }
    }

    /// The elements of a list or tuple.
    pub fn items(&self) -> Option<&[Arg]> {
        match self {
            Arg::List(items) | Arg::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Calls `f` for every node in it, in order.
    pub fn each_node(&self, f: &mut impl FnMut(NodeIndex)) {
        match self {
            Arg::Node(n) => f(*n),
            Arg::List(items) | Arg::Tuple(items) => items.iter().for_each(|a| a.each_node(f)),
            Arg::Slice(items) => items.iter().for_each(|a| a.each_node(f)),
            Arg::Dict(pairs) => pairs.iter().for_each(|(k, v)| {
                k.each_node(f);
                v.each_node(f);
            }),
            _ => {}
        }
    }

    /// Whether the node occurs in it.
    pub fn mentions(&self, node: NodeIndex) -> bool {
        let mut found = false;
        self.each_node(&mut |n| found |= n == node);
        found
    }

    /// Puts `new` where `old` stands.
    pub(super) fn replace(&mut self, old: NodeIndex, new: NodeIndex) {
        match self {
            Arg::Node(n) if *n == old => *n = new,
            Arg::List(items) | Arg::Tuple(items) => {
                items.iter_mut().for_each(|a| a.replace(old, new));
            }
            Arg::Slice(items) => items.iter_mut().for_each(|a| a.replace(old, new)),
            Arg::Dict(pairs) => pairs.iter_mut().for_each(|(k, v)| {
                k.replace(old, new);
                v.replace(old, new);
            }),
            _ => {}
        }
    }
}

/// What a node yields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A tensor.
    Tensor(TensorMeta),
    /// A tensor of an element type or layout that this toolkit has no word for.
    Foreign(Box<fx::Tensor>),
    /// Several values.
    Tuple(Vec<Value>),
    /// A list of values.
    List(Vec<Value>),
    /// An integer, symbolic or not.
    Int(Dim),
    /// A float.
    Float(F64),
    /// A boolean.
    Bool(bool),
    /// A symbolic float: a key of the graph's expressions.
    SymFloat(Arc<str>),
    /// A symbolic boolean: a key of the graph's expressions.
    SymBool(Arc<str>),
    /// Python `None`.
    None,
    /// Nothing is known.
    Unknown,
    /// A Python object.
    Opaque(Box<fx::Opaque>),
}

/// A strided tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMeta {
    /// Element type and shape.
    pub ty: TensorType,
    /// Strides in elements.
    pub stride: Vec<Dim>,
    /// Offset into the storage, in elements.
    pub offset: Dim,
    /// Device.
    pub device: Arc<str>,
    /// Number of the storage; equal numbers may alias, `None` is not known.
    pub storage: Option<u32>,
}

impl TensorMeta {
    /// A fresh contiguous tensor.
    pub fn contiguous(ty: TensorType, device: &str) -> TensorMeta {
        let stride = contiguous_strides(&ty.shape);
        TensorMeta { ty, stride, offset: Dim::int(0), device: device.into(), storage: None }
    }

    /// Whether elements lie next to each other in row-major order. Strides of axes of size 1 do not
    /// matter.
    pub fn is_contiguous(&self) -> bool {
        let want = contiguous_strides(&self.ty.shape);
        self.stride.len() == want.len()
            && (self.stride.iter().zip(&want).zip(&self.ty.shape))
                .all(|((s, w), n)| s == w || n.as_int() == Some(1))
    }
}

/// Row-major strides of a shape.
pub fn contiguous_strides(shape: &[Dim]) -> Vec<Dim> {
    let mut out = vec![Dim::int(1); shape.len()];
    for i in (1..shape.len()).rev() {
        // torch gives an empty axis the stride of an axis of size 1.
        let n = if shape[i].as_int() == Some(0) { Dim::int(1) } else { shape[i].clone() };
        out[i - 1] = out[i].mul(&n);
    }
    out
}

impl Value {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&TensorMeta> {
        match self {
            Value::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The elements of a tuple or list.
    pub fn items(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(items) | Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Calls `f` for every tensor storage in it.
    pub fn each_storage(&self, f: &mut impl FnMut(u32)) {
        match self {
            Value::Tensor(TensorMeta { storage: Some(s), .. }) => f(*s),
            Value::Foreign(t) => t.storage.into_iter().for_each(f),
            Value::Tuple(items) | Value::List(items) => {
                items.iter().for_each(|v| v.each_storage(f));
            }
            _ => {}
        }
    }

    /// Its type in the terms of the `.fuse` language.
    pub fn to_type(&self) -> Type {
        use fusec_dsl::library::Attr;
        match self {
            Value::Tensor(t) => Type::Tensor(t.ty.clone()),
            Value::Tuple(items) => Type::Tuple(items.iter().map(Value::to_type).collect()),
            Value::List(items) => Type::List(items.iter().map(Value::to_type).collect()),
            Value::Int(d) => match d.as_int() {
                Some(v) => Type::Attr(Attr::int(v)),
                None => Type::Int(d.clone()),
            },
            Value::Float(v) => Type::Attr(Attr::float(v.get())),
            Value::Bool(v) => Type::Attr(Attr::Bool(*v)),
            Value::None => Type::Attr(Attr::None),
            _ => Type::Unknown,
        }
    }
}

impl Value {
    /// Calls `f` for every tensor in it, in order, with its storage.
    pub(crate) fn each_tensor_storage(&self, f: &mut impl FnMut(Option<u32>)) {
        match self {
            Value::Tensor(t) => f(t.storage),
            Value::Foreign(t) => f(t.storage),
            Value::Tuple(items) | Value::List(items) => {
                items.iter().for_each(|v| v.each_tensor_storage(f));
            }
            _ => {}
        }
    }

    /// Calls `f` for the storage of every tensor in it, in order.
    pub(crate) fn each_tensor_mut(&mut self, f: &mut impl FnMut(&mut Option<u32>)) {
        match self {
            Value::Tensor(t) => f(&mut t.storage),
            Value::Foreign(t) => f(&mut t.storage),
            Value::Tuple(items) | Value::List(items) => {
                items.iter_mut().for_each(|v| v.each_tensor_mut(f));
            }
            _ => {}
        }
    }
}
