//! Bodies and ops, on one rank or on several side by side.

use super::collective::collective;
use super::domain::{Binary, Compare, Domain, Unary};
use super::float::Floats;
use super::reduce::{self, Reduction};
use super::value::{EvalError, EvalResult, Value};
use super::{elementwise, opaque, pack, promote, views};
use fusec_dsl::dim::{Dim, Interval};
use fusec_dsl::guard::{self, Truth};
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{Attr, Body, BodyKind, Library, Meaning, Op, OpId, Ref};
use fusec_dsl::types::Type;
use std::borrow::Cow;

/// Ops inside ops inside ops: far beyond any real library.
const DEPTH: usize = 200;

/// Evaluates an op on one rank in floats.
pub fn eval_op(lib: &Library, op: OpId, args: &[Value]) -> EvalResult<Value> {
    Interp::new(lib, Floats).op(op, args)
}

/// Evaluates a body on one rank in floats: one value a result.
pub fn eval_body(
    lib: &Library,
    body: &Body,
    params: &[Value],
    bindings: &Bindings,
) -> EvalResult<Vec<Value>> {
    Interp::new(lib, Floats).body(body, params, bindings)
}

/// An evaluator: a library and what an element is.
pub struct Interp<'l, D> {
    lib: &'l Library,
    domain: D,
    opaque: bool,
}

/// One value a rank.
type Ranked<'v, E> = Vec<Cow<'v, Value<E>>>;

impl<'l, D: Domain> Interp<'l, D> {
    /// An evaluator over this domain.
    pub fn new(lib: &'l Library, domain: D) -> Interp<'l, D> {
        Interp { lib, domain, opaque: false }
    }

    /// The same, with opaque ops as uninterpreted functions of their operands instead of errors.
    pub fn with_opaque_functions(self) -> Interp<'l, D> {
        Interp { opaque: true, ..self }
    }

    /// An op on one rank.
    pub fn op(&self, op: OpId, args: &[Value<D::Elem>]) -> EvalResult<Value<D::Elem>> {
        let args = [args.iter().collect::<Vec<_>>()];
        first(self.call(op, &args, 0)?)
    }

    /// A body on one rank.
    pub fn body(
        &self,
        body: &Body,
        params: &[Value<D::Elem>],
        bindings: &Bindings,
    ) -> EvalResult<Vec<Value<D::Elem>>> {
        first(self.body_ranks(body, &[params.to_vec()], bindings)?)
    }

    /// A body on several ranks: `params[rank]` are the parameters there; results likewise.
    pub fn body_ranks(
        &self,
        body: &Body,
        params: &[Vec<Value<D::Elem>>],
        bindings: &Bindings,
    ) -> EvalResult<Vec<Vec<Value<D::Elem>>>> {
        let params: Vec<Vec<_>> = params.iter().map(|p| p.iter().collect()).collect();
        self.run(body, &params, bindings, 0)
    }

    fn run(
        &self,
        body: &Body,
        params: &[Vec<&Value<D::Elem>>],
        bindings: &Bindings,
        depth: usize,
    ) -> EvalResult<Vec<Vec<Value<D::Elem>>>> {
        let mut done: Vec<Ranked<'_, D::Elem>> = Vec::with_capacity(body.nodes.len());
        for node in &body.nodes {
            let value = self.node(&node.kind, &done, params, bindings, depth)?;
            done.push(value);
        }
        let on_rank = |rank: usize| body.results.iter().map(|r| at(&done, *r, rank)).collect();
        (0..params.len()).map(on_rank).collect()
    }

    fn node<'v>(
        &self,
        kind: &BodyKind,
        done: &[Ranked<'v, D::Elem>],
        params: &[Vec<&'v Value<D::Elem>>],
        bindings: &Bindings,
        depth: usize,
    ) -> EvalResult<Ranked<'v, D::Elem>> {
        let ranks = params.len();
        let everywhere = |a: Attr| vec![Cow::Owned(Value::Attr(a)); ranks];
        Ok(match kind {
            BodyKind::Param(i) => {
                let missing = || EvalError::new(format!("parameter {i} has no value"));
                let pick = |p: &Vec<&'v Value<D::Elem>>| p.get(*i).copied().map(Cow::Borrowed);
                params.iter().map(|p| pick(p).ok_or_else(missing)).collect::<EvalResult<_>>()?
            }
            BodyKind::Const(Attr::Int(d)) | BodyKind::Dim(d) => everywhere(constant(d, bindings)?),
            BodyKind::Const(a) => everywhere(a.clone()),
            BodyKind::Generic(name) => match bindings.dtypes.get(name) {
                Some(d) => everywhere(Attr::Dtype(*d)),
                None => return Err(EvalError::new(format!("nothing says what `{name}` is"))),
            },
            BodyKind::Call { op, args } => {
                let args = gather(done, args, ranks)?;
                self.call(*op, &args, depth)?.into_iter().map(Cow::Owned).collect()
            }
            BodyKind::Proj { of, index } => {
                let whole = gather(done, &[*of], ranks)?;
                whole.iter().map(|v| project(v[0], *index)).collect::<EvalResult<_>>()?
            }
            BodyKind::List(items) => {
                let rows = gather(done, items, ranks)?;
                let list = |r: Vec<&Value<D::Elem>>| r.into_iter().cloned().collect();
                rows.into_iter().map(|r| Cow::Owned(Value::List(list(r)))).collect()
            }
            BodyKind::Alt(_) => return Err(EvalError::new("`|` is a pattern, not a value")),
            BodyKind::Any => return Err(EvalError::new("`_` is a pattern, not a value")),
        })
    }

    /// Calls an op on every rank.
    fn call(
        &self,
        op: OpId,
        args: &[Vec<&Value<D::Elem>>],
        depth: usize,
    ) -> EvalResult<Vec<Value<D::Elem>>> {
        let (id, op) = (op, self.lib.op(op));
        let result = match &op.meaning {
            _ if depth > DEPTH => Err(EvalError::new("ops call each other without end")),
            _ if op.collective => collective(&self.domain, &op.name, args),
            Meaning::Primitive => args.iter().map(|a| self.primitive(&op.name, a)).collect(),
            Meaning::Opaque if self.opaque => {
                args.iter().map(|a| opaque::call(self.lib, &self.domain, id, a)).collect()
            }
            Meaning::Opaque => Err(EvalError::new("it is opaque: it has no meaning to evaluate")),
            Meaning::Body(body) => self.composite(op, body, args, depth),
        };
        result.map_err(|e| e.within(&op.name))
    }

    fn composite(
        &self,
        op: &Op,
        body: &Body,
        args: &[Vec<&Value<D::Elem>>],
        depth: usize,
    ) -> EvalResult<Vec<Value<D::Elem>>> {
        let Some(here) = args.first() else { return Err(EvalError::new("no ranks")) };
        let bindings = bind(op, here, args.len())?;
        let mut out = Vec::with_capacity(args.len());
        for results in self.run(body, args, &bindings, depth + 1)? {
            for (value, declared) in results.iter().zip(&op.sig.results) {
                check_result(value, declared.ty.as_ref(), &bindings)?;
            }
            out.push(tuple(results));
        }
        Ok(out)
    }

    pub(super) fn primitive(
        &self,
        name: &str,
        args: &[&Value<D::Elem>],
    ) -> EvalResult<Value<D::Elem>> {
        let d = &self.domain;
        if let (Some(op), [a, b]) = (Binary::named(name), args) {
            return elementwise::binary(d, op, a, b);
        }
        if let (Some(op), [x]) = (Unary::named(name), args) {
            return elementwise::unary(d, op, x);
        }
        if let (Some(op), [a, b]) = (Compare::named(name), args) {
            return elementwise::compare(d, op, a, b);
        }
        if let Some(op) = Reduction::named(name) {
            return reduce::reduce(d, op, args);
        }
        match (name, args) {
            ("select", [cond, a, b]) => elementwise::select(d, cond, a, b),
            ("clamp", [x, lo, hi]) => elementwise::clamp(d, x, lo, hi),
            ("cast", [x, to]) => elementwise::cast(d, x, to.dtype()?),
            ("bitcast", [x, to]) => pack::bitcast(d, x.tensor()?, to.dtype()?),
            ("pack_e2m1", [x]) => pack::pack_e2m1(d, x.tensor()?),
            ("swizzle_128x4", [s]) => pack::swizzle_128x4(d, s.tensor()?),
            ("concat", [xs, axis]) => concat(d, xs, axis.int()?),
            ("matmul", [a, b]) => reduce::matmul(d, a, b),
            _ => view(name, args),
        }
    }
}

/// Parts of different types are brought to one first, as PyTorch does.
fn concat<D: Domain>(d: &D, xs: &Value<D::Elem>, axis: i64) -> EvalResult<Value<D::Elem>> {
    let xs = xs.tensors()?;
    if xs.iter().all(|t| t.dtype == xs[0].dtype) {
        return views::concat(&xs, axis);
    }
    let values: Vec<Value<D::Elem>> = xs.into_iter().cloned().map(Value::from).collect();
    let dtype = promote::promote(&values.iter().collect::<Vec<_>>())?;
    let parts = values.iter().map(|v| promote::operand(d, dtype, v));
    let parts = parts.collect::<EvalResult<Vec<_>>>()?;
    views::concat(&parts.iter().map(|t| t.as_ref()).collect::<Vec<_>>(), axis)
}

fn view<E: Copy>(name: &str, args: &[&Value<E>]) -> EvalResult<Value<E>> {
    match (name, args) {
        ("reshape", [x, shape]) => views::reshape(x.tensor()?, &shape.ints()?),
        ("permute", [x, dims]) => views::permute(x.tensor()?, &dims.ints()?),
        ("slice", [x, axis, start, end, step]) => {
            let x = x.tensor()?;
            let bound = |v: &Value<E>, absent| if v.is_none() { Ok(absent) } else { v.int() };
            let (start, end) = (bound(start, 0)?, bound(end, i64::MAX)?);
            views::slice(x, axis.int()?, start, end, step.count()?)
        }
        ("split", [x, sizes, axis]) => views::split(x.tensor()?, &sizes.ints()?, axis.int()?),
        ("expand", [x, shape]) => views::expand(x.tensor()?, &shape.ints()?),
        ("repeat", [x, times]) => views::repeat(x.tensor()?, times.count()?),
        _ => Err(EvalError::new(format!("no such primitive with {} operands", args.len()))),
    }
}

fn first<T>(ranks: Vec<T>) -> EvalResult<T> {
    ranks.into_iter().next().ok_or_else(|| EvalError::new("no ranks"))
}

fn at<E: Copy>(done: &[Ranked<'_, E>], r: Ref, rank: usize) -> EvalResult<Value<E>> {
    let slot = done.get(r).and_then(|ranks| ranks.get(rank));
    slot.map(|v| v.as_ref().clone()).ok_or_else(|| EvalError::new(format!("no node {r}")))
}

/// The values of some nodes, rank by rank.
fn gather<'a, E: Copy>(
    done: &'a [Ranked<'_, E>],
    refs: &[Ref],
    ranks: usize,
) -> EvalResult<Vec<Vec<&'a Value<E>>>> {
    let one = |r: &Ref, rank: usize| {
        let slot = done.get(*r).and_then(|v| v.get(rank));
        slot.map(Cow::as_ref).ok_or_else(|| EvalError::new(format!("no node {r}")))
    };
    (0..ranks).map(|rank| refs.iter().map(|r| one(r, rank)).collect()).collect()
}

fn project<'v, E: Copy>(whole: &Value<E>, index: usize) -> EvalResult<Cow<'v, Value<E>>> {
    match whole {
        Value::Tuple(parts) | Value::List(parts) if index < parts.len() => {
            Ok(Cow::Owned(parts[index].clone()))
        }
        // An op with one result is not a tuple.
        one @ (Value::Tensor(_) | Value::Attr(_)) if index == 0 => Ok(Cow::Owned(one.clone())),
        _ => Err(EvalError::new(format!("no result {index} in {}", whole.ty()))),
    }
}

fn tuple<E>(mut results: Vec<Value<E>>) -> Value<E> {
    match results.len() {
        1 => results.remove(0),
        _ => Value::Tuple(results),
    }
}

fn constant(d: &Dim, bindings: &Bindings) -> EvalResult<Attr> {
    let known = d.subst(&|s| bindings.dims.get(s).cloned());
    match known.as_int() {
        Some(n) => Ok(Attr::int(n)),
        None => Err(EvalError::new(format!("nothing says what `{known}` is"))),
    }
}

/// What the names of an op's signature stand for here; its guards must not be false.
fn bind<E: Copy>(op: &Op, args: &[&Value<E>], ranks: usize) -> EvalResult<Bindings> {
    if args.len() != op.sig.params.len() {
        let (want, have) = (op.sig.params.len(), args.len());
        return Err(EvalError::new(format!("expected {want} operands, found {have}")));
    }
    let mut bindings = Bindings::default();
    let types: Vec<Type> = args.iter().map(|v| v.ty()).collect();
    bindings.unify_all(&op.sig.params, &types).map_err(EvalError::new)?;
    for g in &op.sig.generics {
        if let Some(d) = bindings.dtypes.get(&g.name).filter(|d| !g.class.contains(**d)) {
            return Err(EvalError::new(format!("`{}` may not be {d}", g.name)));
        }
    }
    for g in &op.sig.guards {
        if let Truth::False(why) = guard::eval(g, &bindings, &types, &Concrete { ranks }) {
            return Err(EvalError::new(format!("refused by {why}")));
        }
    }
    Ok(bindings)
}

fn check_result<E: Copy>(
    value: &Value<E>,
    declared: Option<&fusec_dsl::library::TypeExpr>,
    bindings: &Bindings,
) -> EvalResult<()> {
    let Some(declared) = declared else { return Ok(()) };
    let fits = bindings.clone().unify(declared, &value.ty());
    fits.map_err(|m| EvalError::new(format!("the result is not what is declared: {m}")))
}

/// What is known when every size is a number: nothing about the target.
pub(crate) struct Concrete {
    /// Ranks of every group.
    pub(crate) ranks: usize,
}

impl guard::Facts for Concrete {
    fn range(&self, _symbol: &str) -> Interval {
        Interval::ALL
    }

    fn global(&self, _space: &str, _name: &str, _args: &[i64]) -> Option<Attr> {
        None
    }

    fn group_size(&self, _group: &str) -> Option<i64> {
        Some(self.ranks as i64)
    }

    fn contiguous(&self, _param: usize) -> Option<bool> {
        Some(true)
    }
}
