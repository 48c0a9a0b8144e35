//! What an element is: the operations in which the float and the field meaning differ.

use fusec_dsl::dtype::Dtype;
use std::fmt;

/// Functions of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Sqrt,
    Rsqrt,
    Exp,
    Exp2,
    Log,
    Log2,
    Tanh,
    Erf,
    Sigmoid,
    Ceil,
    Floor,
    Round,
}

/// Functions of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Unary {
    /// The primitive's function, by its name in the language.
    pub fn named(name: &str) -> Option<Unary> {
        use Unary::*;
        Some(match name {
            "neg" => Neg,
            "abs" => Abs,
            "sqrt" => Sqrt,
            "rsqrt" => Rsqrt,
            "exp" => Exp,
            "exp2" => Exp2,
            "log" => Log,
            "log2" => Log2,
            "tanh" => Tanh,
            "erf" => Erf,
            "sigmoid" => Sigmoid,
            "ceil" => Ceil,
            "floor" => Floor,
            "round" => Round,
            _ => return None,
        })
    }

    /// Whether integers map to integers.
    pub fn keeps_integers(self) -> bool {
        matches!(self, Unary::Neg | Unary::Abs | Unary::Ceil | Unary::Floor | Unary::Round)
    }
}

impl Binary {
    /// The primitive's function, by its name in the language.
    pub fn named(name: &str) -> Option<Binary> {
        use Binary::*;
        Some(match name {
            "add" => Add,
            "sub" => Sub,
            "mul" => Mul,
            "div" => Div,
            "min" => Min,
            "max" => Max,
            _ => return None,
        })
    }
}

impl Compare {
    /// The primitive's relation, by its name in the language.
    pub fn named(name: &str) -> Option<Compare> {
        use Compare::*;
        Some(match name {
            "eq" => Eq,
            "ne" => Ne,
            "lt" => Lt,
            "le" => Le,
            "gt" => Gt,
            "ge" => Ge,
            _ => return None,
        })
    }

    /// What it says of two ordered values.
    pub fn of<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }
}

/// A meaning of elements. `dtype` is the element type in which an operation happens: its
/// operands are values of it, or numbers from [`Domain::number`], and its result is rounded to it.
pub trait Domain {
    /// An element.
    type Elem: Copy + PartialEq + fmt::Debug;

    /// A number operand next to a tensor of this type: not rounded to the type first.
    fn number(&self, dtype: Dtype, v: f64) -> Self::Elem;
    /// A function of one element.
    fn unary(&self, dtype: Dtype, op: Unary, x: Self::Elem) -> Self::Elem;
    /// A function of two elements.
    fn binary(&self, dtype: Dtype, op: Binary, a: Self::Elem, b: Self::Elem) -> Self::Elem;
    /// A comparison.
    fn compare(&self, op: Compare, a: Self::Elem, b: Self::Elem) -> bool;
    /// Whether an element of `b8` is true.
    fn is_true(&self, x: Self::Elem) -> bool;
    /// Conversion between element types.
    fn cast(&self, from: Dtype, to: Dtype, x: Self::Elem) -> Self::Elem;
    /// The exact sum, divided by `divisor`, rounded once.
    fn sum(
        &self,
        dtype: Dtype,
        terms: &mut dyn Iterator<Item = Self::Elem>,
        divisor: usize,
    ) -> Self::Elem;
    /// The exact sum of products, rounded once.
    fn dot(
        &self,
        dtype: Dtype,
        pairs: &mut dyn Iterator<Item = (Self::Elem, Self::Elem)>,
    ) -> Self::Elem;
    /// The bytes of `parts`, together one or several elements of another type.
    fn bitcast(&self, from: Dtype, to: Dtype, parts: &[Self::Elem], out: &mut Vec<Self::Elem>);
    /// Two values as one byte of e2m1.
    fn pack_e2m1(&self, first: Self::Elem, second: Self::Elem) -> Self::Elem;
    /// A word that tells elements apart, for functions nobody looks into.
    fn digest(&self, x: Self::Elem) -> u64;
    /// Some element of a type, chosen by a random word.
    fn arbitrary(&self, dtype: Dtype, word: u64) -> Self::Elem;
}
