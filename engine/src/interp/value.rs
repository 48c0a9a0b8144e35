//! What an expression can be at run time, and what can go wrong.

use super::tensor::Tensor;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Attr;
use fusec_dsl::types::Type;
use std::fmt;

/// Why an expression has no value, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    message: String,
}

/// A value or the reason there is none.
pub type EvalResult<T> = Result<T, EvalError>;

impl EvalError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> EvalError {
        EvalError { message: message.into() }
    }

    /// The same error, seen from further out.
    pub fn within(self, place: &str) -> EvalError {
        EvalError { message: format!("in `{place}`: {}", self.message) }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

/// A run-time value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<E = f64> {
    /// A tensor.
    Tensor(Tensor<E>),
    /// An attribute, constant by now.
    Attr(Attr),
    /// A list, as `concat` takes.
    List(Vec<Value<E>>),
    /// Several results.
    Tuple(Vec<Value<E>>),
}

impl<E> From<Tensor<E>> for Value<E> {
    fn from(t: Tensor<E>) -> Value<E> {
        Value::Tensor(t)
    }
}

impl<E> From<Attr> for Value<E> {
    fn from(a: Attr) -> Value<E> {
        Value::Attr(a)
    }
}

impl<E: Copy> Value<E> {
    /// Its type, with constant dimensions.
    pub fn ty(&self) -> Type {
        match self {
            Value::Tensor(t) => Type::Tensor(t.ty()),
            Value::Attr(a) => Type::Attr(a.clone()),
            Value::List(l) => Type::List(l.iter().map(Value::ty).collect()),
            Value::Tuple(l) => Type::Tuple(l.iter().map(Value::ty).collect()),
        }
    }

    fn expected(&self, what: &str) -> EvalError {
        EvalError::new(format!("expected {what}, found {}", self.ty()))
    }

    /// As a tensor.
    pub fn tensor(&self) -> EvalResult<&Tensor<E>> {
        match self {
            Value::Tensor(t) => Ok(t),
            _ => Err(self.expected("a tensor")),
        }
    }

    /// As a number, if it is an attribute that is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Attr(a) => a.as_f64(),
            _ => None,
        }
    }

    /// Whether it is `none`.
    pub fn is_none(&self) -> bool {
        matches!(self, Value::Attr(Attr::None))
    }

    /// As an integer.
    pub fn int(&self) -> EvalResult<i64> {
        match self {
            Value::Attr(Attr::Int(d)) => {
                d.as_int().ok_or_else(|| self.expected("a constant integer"))
            }
            _ => Err(self.expected("an integer")),
        }
    }

    /// As an integer that is at least 1.
    pub fn count(&self) -> EvalResult<usize> {
        match self.int()? {
            n if n >= 1 => Ok(n as usize),
            n => Err(EvalError::new(format!("expected at least 1, found {n}"))),
        }
    }

    /// As a boolean.
    pub fn bool(&self) -> EvalResult<bool> {
        match self {
            Value::Attr(Attr::Bool(b)) => Ok(*b),
            _ => Err(self.expected("a bool")),
        }
    }

    /// As an element type.
    pub fn dtype(&self) -> EvalResult<Dtype> {
        match self {
            Value::Attr(Attr::Dtype(d)) => Ok(*d),
            _ => Err(self.expected("an element type")),
        }
    }

    /// As a list of integers.
    pub fn ints(&self) -> EvalResult<Vec<i64>> {
        match self {
            Value::List(l) => l.iter().map(Value::int).collect(),
            Value::Attr(Attr::List(l)) => {
                l.iter().map(|a| Value::<E>::Attr(a.clone()).int()).collect()
            }
            _ => Err(self.expected("a list of integers")),
        }
    }

    /// As a list of tensors.
    pub fn tensors(&self) -> EvalResult<Vec<&Tensor<E>>> {
        match self {
            Value::List(l) | Value::Tuple(l) => l.iter().map(Value::tensor).collect(),
            _ => Err(self.expected("a list of tensors")),
        }
    }
}
