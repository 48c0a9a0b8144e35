//! Values, sizes, expression trees and output metadata, as the JSON spells them.

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An argument or an output: externally tagged, so nothing is guessed from its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Python `None`.
    None,
    /// Python `...`.
    Ellipsis,
    /// An earlier node, by name.
    Node(String),
    /// An integer.
    Int(i64),
    /// A float, as Python's `repr`.
    Float(String),
    /// A boolean.
    Bool(bool),
    /// A string.
    Str(String),
    /// A symbolic integer: a key of `exprs`.
    Sym(String),
    /// A symbolic float: a key of `exprs`.
    Symfloat(String),
    /// A symbolic boolean: a key of `exprs`.
    Symbool(String),
    /// An element type, by torch's name.
    Dtype(String),
    /// A device.
    Device(String),
    /// A layout.
    Layout(String),
    /// A memory format.
    MemoryFormat(String),
    /// An operator passed as data.
    Op(String),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A dictionary, in order.
    Dict(Vec<(Value, Value)>),
    /// A slice: start, stop, step.
    Slice(Box<(Value, Value, Value)>),
    /// A complex number: real and imaginary part, as Python's `repr`.
    Complex((String, String)),
    /// Something the file cannot hold.
    Opaque(Opaque),
}

/// A Python object of which only the type and the print are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opaque {
    /// Its class.
    pub r#type: String,
    /// Its `repr`, cut short.
    pub repr: String,
}

/// An entry of a shape or a stride: a number, or a key of `exprs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Static.
    Int(i64),
    /// Symbolic.
    Expr(String),
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Size::Int(v) => s.serialize_i64(*v),
            Size::Expr(k) => s.serialize_str(k),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Size, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size: an integer or the key of an expression")
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Size, E> {
                Ok(Size::Int(v))
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<Size, E> {
                i64::try_from(v)
                    .map(Size::Int)
                    .map_err(|_| E::custom(format!("size {v} too large")))
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Size, E> {
                Ok(Size::Expr(v.to_owned()))
            }
        }
        d.deserialize_any(SizeVisitor)
    }
}

/// What a node yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutMeta {
    /// Python `None`.
    None,
    /// FX recorded nothing.
    Unknown,
    /// A tensor.
    Tensor(Tensor),
    /// A tuple.
    Tuple(Vec<OutMeta>),
    /// A list.
    List(Vec<OutMeta>),
    /// A symbolic integer: a key of `exprs`.
    Symint(String),
    /// A symbolic float: a key of `exprs`.
    Symfloat(String),
    /// A symbolic boolean: a key of `exprs`.
    Symbool(String),
    /// An integer.
    Int(i64),
    /// A float, as Python's `repr`.
    Float(String),
    /// A boolean.
    Bool(bool),
    /// Something the file cannot hold.
    Opaque(Opaque),
}

/// A tensor's metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// Element type, by torch's name.
    pub dtype: String,
    /// Sizes.
    pub shape: Vec<Size>,
    /// Strides in elements; null when the layout is not strided.
    #[serde(deserialize_with = "nullable")]
    pub stride: Option<Vec<Size>>,
    /// Offset into the storage, in elements.
    pub storage_offset: Size,
    /// Device.
    pub device: String,
    /// Layout, when not strided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Number of the storage within the file; equal numbers may alias.
    #[serde(deserialize_with = "nullable")]
    pub storage: Option<u32>,
}

/// A field that must be there, but may be null.
pub(super) fn nullable<'de, D, T>(d: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(d)
}

/// A symbolic expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A symbol.
    Sym(String),
    /// An integer.
    Int(i64),
    /// A fraction.
    Rational(i64, i64),
    /// A float, as Python's `repr`.
    Float(String),
    /// A boolean.
    Bool(bool),
    /// sympy's `srepr` of what has no operator here.
    Opaque(String),
    /// An operator and its operands.
    Call(Operator, Vec<Tree>),
}

macro_rules! operators {
    ($($variant:ident $name:literal,)*) => {
        /// Operators of [`Tree`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operator { $(#[doc = concat!("`", $name, "`")] $variant,)* }

        impl Operator {
            /// Its tag in the JSON.
            pub fn name(self) -> &'static str {
                match self { $(Operator::$variant => $name,)* }
            }

            /// The operator with this tag.
            pub fn named(name: &str) -> Option<Operator> {
                match name { $($name => Some(Operator::$variant),)* _ => None }
            }
        }
    };
}

operators! {
    Add "add", Mul "mul", Pow "pow", FloorDiv "floor_div", TrueDiv "true_div", Mod "mod",
    ModularIndexing "modular_indexing", CeilToInt "ceil_to_int", FloorToInt "floor_to_int",
    TruncToInt "trunc_to_int", ToFloat "to_float", Ceil "ceil", Floor "floor", Max "max",
    Min "min", Abs "abs", Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge", And "and",
    Or "or", Not "not", Where "where",
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(1))?;
        match self {
            Tree::Sym(v) => map.serialize_entry("sym", v)?,
            Tree::Int(v) => map.serialize_entry("int", v)?,
            Tree::Rational(p, q) => map.serialize_entry("rational", &(p, q))?,
            Tree::Float(v) => map.serialize_entry("float", v)?,
            Tree::Bool(v) => map.serialize_entry("bool", v)?,
            Tree::Opaque(v) => map.serialize_entry("opaque", v)?,
            Tree::Call(op, args) => map.serialize_entry(op.name(), args)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Tree, D::Error> {
        struct TreeVisitor;
        impl<'de> Visitor<'de> for TreeVisitor {
            type Value = Tree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression: an object with one key, such as {\"sym\": \"s0\"}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let Some(tag) = map.next_key::<String>()? else {
                    return Err(A::Error::custom("an expression needs one key, found none"));
                };
                let tree = read_tree(&tag, &mut map)?;
                match map.next_key::<String>()? {
                    None => Ok(tree),
                    Some(k) => Err(A::Error::custom(format!("second key `{k}` in an expression"))),
                }
            }
        }
        d.deserialize_map(TreeVisitor)
    }
}

fn read_tree<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Tree, A::Error> {
    Ok(match tag {
        "sym" => Tree::Sym(map.next_value()?),
        "int" => Tree::Int(map.next_value()?),
        "rational" => {
            let (p, q) = map.next_value()?;
            Tree::Rational(p, q)
        }
        "float" => Tree::Float(map.next_value()?),
        "bool" => Tree::Bool(map.next_value()?),
        "opaque" => Tree::Opaque(map.next_value()?),
        other => match Operator::named(other) {
            Some(op) => Tree::Call(op, map.next_value()?),
            None => return Err(A::Error::custom(format!("unknown operator `{other}`"))),
        },
    })
}
