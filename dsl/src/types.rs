//! Types of values: what an operand or a result is at one place in a graph.

use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::library::Attr;
use std::fmt;

/// Element type and symbolic shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorType {
    /// Element type.
    pub dtype: Dtype,
    /// One entry an axis; empty for a scalar tensor.
    pub shape: Vec<Dim>,
}

/// The type of a value. A constant attribute's type is its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A tensor.
    Tensor(TensorType),
    /// A known attribute.
    Attr(Attr),
    /// Operands of `concat` and the like.
    List(Vec<Type>),
    /// Several results.
    Tuple(Vec<Type>),
    /// An integer known only at run time (a `SymInt` operand), by its expression.
    Int(Dim),
    /// Nothing is known.
    Unknown,
}

impl Type {
    /// The tensor type, if it is one.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The attribute value, if it is one.
    pub fn attr(&self) -> Option<&Attr> {
        match self {
            Type::Attr(a) => Some(a),
            _ => None,
        }
    }
}

impl TensorType {
    /// Number of elements.
    pub fn numel(&self) -> Dim {
        self.shape.iter().fold(Dim::int(1), |n, d| n.mul(d))
    }

    /// Size in bytes.
    pub fn bytes(&self) -> Dim {
        self.numel().mul(&Dim::int(self.dtype.bytes() as i64))
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        list(f, &self.shape)?;
        f.write_str("]")
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(t) => write!(f, "{t}"),
            Type::Attr(a) => write!(f, "{a}"),
            Type::Int(d) => write!(f, "{d}"),
            Type::Unknown => f.write_str("?"),
            Type::List(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            Type::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(")")
            }
        }
    }
}
