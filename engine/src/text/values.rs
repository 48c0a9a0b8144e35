//! Arguments and result types, as text.

use super::cursor::Cursor;
use super::{DEVICES, FORMATS, LAYOUTS, TextError};
use crate::fx::{Opaque, OutMeta, Size, Tensor, Tree, Value};
use crate::graph::{Exprs, contiguous_strides};
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;

type Result<T> = std::result::Result<T, TextError>;

/// Reads values; knows the expressions and the main device.
pub(super) struct Values {
    pub(super) exprs: Exprs,
    pub(super) device: Option<String>,
    /// Of each tensor of the current node, in order: whether its storage is written.
    pub(super) written: Vec<bool>,
}

impl Values {
    /// The text of a node's reference, after `%`.
    fn arg_word(&mut self, c: &mut Cursor<'_>) -> Result<Value> {
        let word = c.peek_word();
        let device = DEVICES.contains(&word);
        let value = match word {
            "none" => Value::None,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "inf" | "nan" => Value::Float(word.to_owned()),
            _ if LAYOUTS.contains(&word) => Value::Layout(word.to_owned()),
            _ if FORMATS.contains(&word) => Value::MemoryFormat(word.to_owned()),
            _ if device => return Ok(Value::Device(device_name(c)?)),
            _ => match Dtype::from_short(word) {
                Some(d) => Value::Dtype(d.torch().to_owned()),
                None => return self.arg_call(c),
            },
        };
        c.eat(word);
        Ok(value)
    }

    fn arg_call(&mut self, c: &mut Cursor<'_>) -> Result<Value> {
        let word = c.peek_word();
        if word.is_empty() {
            return c.error("expected an argument");
        }
        if !matches!(
            word,
            "symfloat"
                | "symbool"
                | "dtype"
                | "device"
                | "layout"
                | "format"
                | "op"
                | "complex"
                | "slice"
                | "dict"
                | "opaque"
        ) {
            return c.error(format!("unknown word `{word}`"));
        }
        c.eat(word);
        c.expect("(")?;
        let value = match word {
            "symfloat" => Value::Symfloat(c.json()?),
            "symbool" => Value::Symbool(c.json()?),
            "dtype" => Value::Dtype(c.json()?),
            "device" => Value::Device(c.json()?),
            "layout" => Value::Layout(c.json()?),
            "format" => Value::MemoryFormat(c.json()?),
            "op" => Value::Op(c.json()?),
            "complex" => {
                let re = c.number().to_owned();
                c.expect(",")?;
                Value::Complex((re, c.number().to_owned()))
            }
            "slice" => {
                let start = c.nested(|c| self.arg(c))?;
                c.expect(",")?;
                let stop = c.nested(|c| self.arg(c))?;
                c.expect(",")?;
                Value::Slice(Box::new((start, stop, c.nested(|c| self.arg(c))?)))
            }
            "dict" => {
                return Ok(Value::Dict(c.items(")", |c| {
                    let key = self.arg(c)?;
                    c.expect(":")?;
                    Ok((key, self.arg(c)?))
                })?));
            }
            _ => Value::Opaque(opaque(c)?),
        };
        c.expect(")")?;
        Ok(value)
    }

    /// An argument.
    pub(super) fn arg(&mut self, c: &mut Cursor<'_>) -> Result<Value> {
        if c.eat("%") {
            return Ok(Value::Node(c.name()?));
        }
        if c.eat("...") {
            return Ok(Value::Ellipsis);
        }
        if c.eat("[") {
            return Ok(Value::List(c.items("]", |c| self.arg(c))?));
        }
        if c.eat("(") {
            return Ok(Value::Tuple(c.items(")", |c| self.arg(c))?));
        }
        if c.eat("{") {
            let tree = c.size()?;
            c.expect("}")?;
            return Ok(match self.dim(c, &tree)? {
                d if d.as_int().is_some() => Value::Int(d.as_int().unwrap_or_default()),
                d => Value::Sym(self.exprs.key(&d)),
            });
        }
        if c.peek("\"") {
            return Ok(Value::Str(c.json()?));
        }
        c.spaces();
        if c.rest().starts_with(|ch: char| ch.is_ascii_digit() || ch == '-') {
            let text = c.number();
            return match text.parse::<i64>() {
                Ok(v) => Ok(Value::Int(v)),
                Err(_) if text.contains(['.', 'e', 'n']) => Ok(Value::Float(text.to_owned())),
                Err(_) => c.error(format!("`{text}` is not a number")),
            };
        }
        self.arg_word(c)
    }

    fn dim(&mut self, c: &Cursor<'_>, tree: &Tree) -> Result<Dim> {
        if let Tree::Int(v) = tree {
            return Ok(Dim::int(*v));
        }
        match crate::graph::tree_to_dim(tree) {
            Some(d) => Ok(d),
            None => c.error("this size is too large to compute with"),
        }
    }

    fn size(&mut self, c: &mut Cursor<'_>) -> Result<Dim> {
        let tree = c.size()?;
        self.dim(c, &tree)
    }

    fn to_size(&mut self, dim: &Dim) -> Size {
        match dim.as_int() {
            Some(v) => Size::Int(v),
            None => Size::Expr(self.exprs.key(dim)),
        }
    }

    fn to_sizes(&mut self, dims: &[Dim]) -> Vec<Size> {
        dims.iter().map(|d| self.to_size(d)).collect()
    }

    /// What a node yields.
    pub(super) fn value(&mut self, c: &mut Cursor<'_>) -> Result<OutMeta> {
        if c.eat("(") {
            return Ok(OutMeta::Tuple(c.items(")", |c| self.value(c))?));
        }
        if c.eat("[") {
            return Ok(OutMeta::List(c.items("]", |c| self.value(c))?));
        }
        if c.eat("?") {
            return Ok(OutMeta::Unknown);
        }
        let word = c.peek_word();
        if let Some(dtype) = Dtype::from_short(word) {
            c.eat(word);
            return self.tensor(c, dtype);
        }
        match word {
            "none" => {
                c.eat(word);
                return Ok(OutMeta::None);
            }
            "foreign" => {
                c.eat(word);
                self.written.push(true);
                return Ok(OutMeta::Tensor(c.json()?));
            }
            "opaque" => {
                c.eat(word);
                let none = Opaque { r#type: String::new(), repr: String::new() };
                if !c.eat("(") {
                    return Ok(OutMeta::Opaque(none));
                }
                let value = OutMeta::Opaque(opaque(c)?);
                c.expect(")")?;
                return Ok(value);
            }
            _ => {}
        }
        self.scalar(c)
    }

    fn scalar(&mut self, c: &mut Cursor<'_>) -> Result<OutMeta> {
        let word = c.peek_word();
        if !matches!(word, "int" | "float" | "bool" | "symfloat" | "symbool") {
            return c.error("expected a type, such as `bf16[s0, 4096]`, `int(s0)` or `none`");
        }
        c.eat(word);
        c.expect("(")?;
        let value = match word {
            "int" => {
                let dim = self.size(c)?;
                match self.to_size(&dim) {
                    Size::Int(v) => OutMeta::Int(v),
                    Size::Expr(key) => OutMeta::Symint(key),
                }
            }
            "float" => OutMeta::Float(c.number().to_owned()),
            "bool" if c.eat("true") => OutMeta::Bool(true),
            "bool" if c.eat("false") => OutMeta::Bool(false),
            "symfloat" => OutMeta::Symfloat(c.json()?),
            "symbool" => OutMeta::Symbool(c.json()?),
            _ => return c.error("expected `true` or `false`"),
        };
        c.expect(")")?;
        Ok(value)
    }

    fn tensor(&mut self, c: &mut Cursor<'_>, dtype: Dtype) -> Result<OutMeta> {
        c.expect("[")?;
        let shape = c.items("]", |c| self.size(c))?;
        let stride = match c.eat_word("strided") {
            true => {
                c.expect("[")?;
                c.items("]", |c| self.size(c))?
            }
            false => contiguous_strides(&shape),
        };
        let offset = if c.eat("+") { self.size(c)? } else { Dim::int(0) };
        let device = match c.eat_word("on") {
            true => device_name(c)?,
            false => match &self.device {
                Some(d) => d.clone(),
                None => return c.error("no device: neither here nor in a `device` line"),
            },
        };
        let written = c.eat("@");
        let storage = match written {
            true if c.eat_word("none") => None,
            true => Some(c.int()?),
            false => None,
        };
        self.written.push(written);
        Ok(OutMeta::Tensor(Tensor {
            dtype: dtype.torch().to_owned(),
            shape: self.to_sizes(&shape),
            stride: Some(self.to_sizes(&stride)),
            storage_offset: self.to_size(&offset),
            device,
            layout: None,
            storage,
        }))
    }
}

fn opaque(c: &mut Cursor<'_>) -> Result<Opaque> {
    let r#type = c.json()?;
    c.expect(",")?;
    Ok(Opaque { r#type, repr: c.json()? })
}

/// `cpu`, `cuda:0`, or `device("any")`.
pub(super) fn device_name(c: &mut Cursor<'_>) -> Result<String> {
    let word = c.peek_word();
    if word == "device" {
        c.eat(word);
        c.expect("(")?;
        let name = c.json()?;
        c.expect(")")?;
        return Ok(name);
    }
    if !DEVICES.contains(&word) {
        return c.error("expected a device");
    }
    c.eat(word);
    let index = c.attempt(|c| {
        let rest = c.rest().strip_prefix(':')?;
        let digits = rest.len() - rest.trim_start_matches(|d: char| d.is_ascii_digit()).len();
        (digits > 0 && c.eat(":") && c.eat(&rest[..digits])).then(|| rest[..digits].to_owned())
    });
    Ok(match index {
        Some(i) => format!("{word}:{i}"),
        None => word.to_owned(),
    })
}
