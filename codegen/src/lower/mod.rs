//! A fusion's body, with every name bound, down to a [`KernelIr`].
//!
//! Ops are inlined until only primitives are left; `prim` says what each primitive becomes.

mod build;
mod prim;

use crate::error::{Error, Result};
use crate::ir::{InputRole, KernelIr, Output, ScaleLayout, Sink, Space};
use build::{Builder, Tensor, Value};
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{
    Attr, BinOp, Body, BodyKind, DtypeExpr, Fusion, GuardExpr, Library, Meaning, OpId, Param,
    Scalar, Signature, TensorExpr, TypeExpr,
};
use fusec_dsl::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the names of a fusion stand for in one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// Dtype generics.
    pub dtypes: BTreeMap<String, Dtype>,
    /// Dimensions of a row. The number of rows stays open. For `x: T[s..]`, `s` is a row's length.
    pub dims: BTreeMap<String, i64>,
    /// Attributes; the others take their defaults.
    pub attrs: BTreeMap<String, Attr>,
}

/// Names in the scope of one body.
struct Scope {
    params: Vec<Value>,
    dims: BTreeMap<Arc<str>, i64>,
    dtypes: BTreeMap<String, Dtype>,
}

/// The program of the kernel that computes `fusion`.
pub fn lower(lib: &Library, fusion: &Fusion, bound: &Bound) -> Result<KernelIr> {
    let mut lowering = Lowering { lib, build: Builder::default(), layouts: BTreeMap::new() };
    let scope = lowering.fusion_scope(fusion, bound)?;
    let results = lowering.body(&fusion.body, &scope, 0)?;
    let mut outputs = Vec::new();
    for (i, value) in results.into_iter().enumerate() {
        let name = fusion.sig.results.get(i).map(|r| r.name.clone()).filter(|n| !n.is_empty());
        outputs.push(lowering.output(name.unwrap_or_else(|| "y".into()), value, fusion.span)?);
    }
    lowering.build.finish(fusion, outputs)
}

struct Lowering<'a> {
    lib: &'a Library,
    build: Builder,
    /// Where an op said its scales lie.
    layouts: BTreeMap<usize, ScaleLayout>,
}

/// Deeper than any sensible definition, and shallow enough for the stack.
const DEEPEST: usize = 200;

impl Lowering<'_> {
    fn fusion_scope(&mut self, fusion: &Fusion, bound: &Bound) -> Result<Scope> {
        let dims = bound.dims.iter().map(|(k, v)| (k.as_str().into(), *v)).collect();
        let mut scope = Scope { params: Vec::new(), dims, dtypes: bound.dtypes.clone() };
        for (i, param) in fusion.sig.params.iter().enumerate() {
            let value = match &param.ty {
                TypeExpr::Tensor(t) => {
                    let one = is_one_number(self.lib, &fusion.sig, &fusion.body, i);
                    self.input(param, t, one, &scope)?
                }
                _ => Value::Attr(attribute(param, bound)?),
            };
            bind_int(param, &value, &mut scope.dims);
            scope.params.push(value);
        }
        Ok(scope)
    }

    fn input(&mut self, param: &Param, t: &TensorExpr, one: bool, scope: &Scope) -> Result<Value> {
        let dtype = match &t.dtype {
            DtypeExpr::Is(d) => *d,
            DtypeExpr::Generic(g) => *scope.dtypes.get(g).ok_or_else(|| {
                Error::at(param.span, format!("the dtype {g} of `{}` is not given", param.name))
            })?,
            DtypeExpr::Any => {
                return Err(Error::at(param.span, format!("`{}` has no dtype", param.name)));
            }
        };
        let length = |d: &Dim| {
            d.eval(&|s| scope.dims.get(s).copied()).filter(|v| *v > 0).ok_or_else(|| {
                let message = format!("the row length {d} of `{}` is not a known size", param.name);
                Error::at(param.span, message)
            })
        };
        let role = match (t.leading.as_deref(), t.dims.as_slice()) {
            _ if one => InputRole::Scalar,
            (Some(s), []) => InputRole::Rows(length(&Dim::sym(s))? as usize),
            (None, [_]) => InputRole::Column,
            (_, [.., last]) => InputRole::Rows(length(last)? as usize),
            (None, []) => InputRole::Scalar,
        };
        let cols = match (role, t.dims.last()) {
            (InputRole::Column, Some(d)) => length(d)? as usize,
            (InputRole::Rows(cols), _) => cols,
            _ => 1,
        };
        Ok(Value::Tensor(self.build.input(&param.name, dtype, role, cols, param.span)))
    }

    /// The values of a body's results.
    fn body(&mut self, body: &Body, scope: &Scope, depth: usize) -> Result<Vec<Value>> {
        let mut values: Vec<Value> = Vec::with_capacity(body.nodes.len());
        for node in &body.nodes {
            let value = match &node.kind {
                BodyKind::Param(i) => scope.params[*i].clone(),
                BodyKind::Const(a) => Value::Attr(a.clone()),
                BodyKind::Dim(d) => Value::Attr(Attr::Int(self.subst(d, scope))),
                BodyKind::Generic(g) => match scope.dtypes.get(g) {
                    Some(d) => Value::Attr(Attr::Dtype(*d)),
                    None => {
                        return Err(Error::at(node.span, format!("the dtype {g} is not given")));
                    }
                },
                BodyKind::Call { op, args } => {
                    let args = args.iter().map(|a| values[*a].clone()).collect();
                    self.call(*op, args, node.span, depth)?
                }
                BodyKind::Proj { of, index } => match &values[*of] {
                    Value::Tuple(parts) if *index < parts.len() => parts[*index].clone(),
                    _ => return Err(Error::at(node.span, "this has no such result")),
                },
                BodyKind::List(items) => {
                    Value::Tuple(items.iter().map(|i| values[*i].clone()).collect())
                }
                BodyKind::Alt(_) | BodyKind::Any => {
                    return Err(Error::at(
                        node.span,
                        "`|` and `_` are patterns: no kernel computes them",
                    ));
                }
            };
            if let (Value::Tensor(t), Some(name)) = (&value, &node.name) {
                self.build.name(t.id, name);
            }
            values.push(value);
        }
        Ok(body.results.iter().map(|r| values[*r].clone()).collect())
    }

    fn subst(&self, d: &Dim, scope: &Scope) -> Dim {
        d.subst(&|s| scope.dims.get(s).map(|v| Dim::int(*v)))
    }

    fn call(&mut self, id: OpId, args: Vec<Value>, span: Span, depth: usize) -> Result<Value> {
        let lib = self.lib;
        let op = lib.op(id);
        match &op.meaning {
            _ if op.collective => {
                let message =
                    format!("no template computes `{}` yet: it needs other ranks", op.name);
                Err(Error::at(span, message))
            }
            Meaning::Primitive => prim::lower(&mut self.build, &op.name, &args, span),
            Meaning::Opaque => {
                Err(Error::at(span, format!("`{}` is opaque: no kernel can compute it", op.name)))
            }
            Meaning::Body(_) if depth == DEEPEST => {
                Err(Error::at(span, format!("`{}` is defined too deeply", op.name)))
            }
            Meaning::Body(body) => {
                let scope = self.op_scope(&op.sig, args, span)?;
                let results = self.body(body, &scope, depth + 1)?;
                self.note_layout(&op.sig, &scope, &results);
                match <[Value; 1]>::try_from(results) {
                    Ok([one]) => Ok(one),
                    Err(many) => Ok(Value::Tuple(many)),
                }
            }
        }
    }

    /// Binds an op's generics and dimensions to what it is called with.
    fn op_scope(&self, sig: &Signature, args: Vec<Value>, span: Span) -> Result<Scope> {
        let mut scope =
            Scope { params: Vec::new(), dims: BTreeMap::new(), dtypes: BTreeMap::new() };
        for (param, value) in sig.params.iter().zip(&args) {
            bind_int(param, value, &mut scope.dims);
            let (TypeExpr::Tensor(t), Value::Tensor(actual)) = (&param.ty, value) else { continue };
            if let DtypeExpr::Generic(g) = &t.dtype {
                let dtype = self.build.dtype(actual.id);
                let bound = *scope.dtypes.entry(g.clone()).or_insert(dtype);
                if bound != dtype {
                    let message = format!("`{}` is {dtype}, but {g} is {bound}", param.name);
                    return Err(Error::at(span, message));
                }
            }
            self.bind_cols(t, actual, &mut scope, span)?;
        }
        scope.params = args;
        Ok(scope)
    }

    fn bind_cols(
        &self,
        t: &TensorExpr,
        actual: &Tensor,
        scope: &mut Scope,
        span: Span,
    ) -> Result<()> {
        let Some(last) = t.dims.last() else { return Ok(()) };
        let cols = Dim::int(actual.cols as i64);
        let known = last.subst(&|s| scope.dims.get(s).map(|v| Dim::int(*v)));
        if known == cols {
            return Ok(());
        }
        match known.solve(&cols, &|_| false) {
            Some((name, value)) => {
                if let Some(v) = value.as_int() {
                    scope.dims.insert(name, v);
                }
                Ok(())
            }
            None => Err(Error::at(span, format!("a row of {cols} elements is not one of {last}"))),
        }
    }

    /// A `scale_layout` operand says how the op's results of groups lie in memory.
    fn note_layout(&mut self, sig: &Signature, scope: &Scope, results: &[Value]) {
        let layout = sig.params.iter().zip(&scope.params).find_map(|(p, v)| match (&p.ty, v) {
            (TypeExpr::Scalar(Scalar::Enum(e)), Value::Attr(Attr::Str(s)))
                if e == "scale_layout" =>
            {
                ScaleLayout::named(s)
            }
            _ => None,
        });
        let Some(layout) = layout else { return };
        for value in results {
            if let Value::Tensor(t) = value {
                self.layouts.insert(t.id, layout);
            }
        }
    }

    fn output(&self, name: String, value: Value, span: Span) -> Result<Output> {
        let refuse = |what: &str| Err(Error::at(span, format!("the result `{name}` {what}")));
        match value {
            Value::Swizzled(id) => Ok(Output { name, value: id, sink: Sink::Swizzled128x4 }),
            Value::Tensor(t) => {
                let sink = match self.build.space(t.id) {
                    Space::Element => Sink::Rows,
                    Space::Row if t.cols == 1 => Sink::PerRow,
                    Space::Group(_) if t.cols == self.build.cols(t.id) => Sink::Groups(
                        self.layouts.get(&t.id).copied().unwrap_or(ScaleLayout::RowMajor),
                    ),
                    _ => {
                        return refuse(
                            "is the same for several elements: a kernel does not write it",
                        );
                    }
                };
                Ok(Output { name, value: t.id, sink })
            }
            _ => refuse("is not a tensor"),
        }
    }
}

/// `group: int` can be used in dimensions too.
fn bind_int(param: &Param, value: &Value, dims: &mut BTreeMap<Arc<str>, i64>) {
    if let Value::Attr(Attr::Int(d)) = value
        && let Some(v) = d.as_int()
    {
        dims.insert(param.name.as_str().into(), v);
    }
}

fn attribute(param: &Param, bound: &Bound) -> Result<Attr> {
    let given = bound.attrs.get(&param.name).or(param.default.as_ref()).cloned();
    match given {
        Some(a) => Ok(a),
        None if param.optional => Ok(Attr::None),
        // A group of ranks has no value inside a kernel.
        None if matches!(param.ty, TypeExpr::Scalar(Scalar::Group)) => {
            Ok(Attr::Group(param.name.as_str().into()))
        }
        None => Err(Error::at(param.span, format!("the attribute `{}` is not given", param.name))),
    }
}

/// `scale: f32[1]`, or `scale: f32[k..]` that a guard here or of an op it goes to holds to one element.
fn is_one_number(lib: &Library, sig: &Signature, body: &Body, at: usize) -> bool {
    let one = |d: &Dim| d.as_int() == Some(1);
    if let TypeExpr::Tensor(TensorExpr { leading: None, dims, .. }) = &sig.params[at].ty
        && dims.iter().all(one)
    {
        return true;
    }
    sig.guards.iter().any(|g| says_one(&g.expr, at))
        || body.nodes.iter().any(|node| {
            let BodyKind::Call { op, args } = &node.kind else { return false };
            let guards = &lib.op(*op).sig.guards;
            let passed =
                |arg: &usize| matches!(body.nodes[*arg].kind, BodyKind::Param(p) if p == at);
            let places = args.iter().enumerate().filter(|(_, arg)| passed(arg));
            places.into_iter().any(|(i, _)| guards.iter().any(|g| says_one(&g.expr, i)))
        })
}

/// `numel(x) == 1`.
fn says_one(guard: &GuardExpr, param: usize) -> bool {
    let one = |e: &GuardExpr| match e {
        GuardExpr::Const(a) => *a == Attr::int(1),
        GuardExpr::Dim(d) => d.as_int() == Some(1),
        _ => false,
    };
    let count = |e: &GuardExpr| matches!(e, GuardExpr::Call(f, args) if f == "numel" && args[..] == [GuardExpr::Param(param)]);
    match guard {
        GuardExpr::Bin(BinOp::Eq, a, b) => (count(a) && one(b)) || (one(a) && count(b)),
        _ => false,
    }
}
