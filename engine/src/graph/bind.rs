//! Arguments by parameter: positional, keyword, default, and through `auto_functionalized`.

use super::{Arg, Graph, Node, NodeIndex, OpSchema, Value};
use crate::fx::{self, FxError, ResultRole};
use std::borrow::Cow;

/// One parameter of an operator and what a call passes for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound<'g> {
    /// The parameter.
    pub param: &'g fx::ArgInfo,
    /// What is passed; `None` only when the call is not complete.
    pub value: Option<Cow<'g, Arg>>,
    /// Where the value comes from.
    pub source: Source,
    /// Of a mutated argument of `auto_functionalized_v2`: which part of `value` the operator sees.
    pub view: View<'g>,
}

impl<'g> Bound<'g> {
    /// Name of the parameter.
    pub fn name(&self) -> &'g str {
        &self.param.name
    }

    /// What is passed.
    pub fn arg(&self) -> Option<&Arg> {
        self.value.as_deref()
    }

    /// The node that is passed, if it is one.
    pub fn node(&self) -> Option<NodeIndex> {
        self.arg()?.as_node()
    }
}

/// Where an argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The call gives it.
    Given,
    /// The operator's default.
    Default,
    /// Nothing gives it.
    Missing,
    /// An entry of `_all_bases` (several for a list of tensors).
    Base(usize),
}

/// Which part of its base a mutated argument is.
#[derive(Clone, Debug, PartialEq)]
pub enum View<'g> {
    /// All of it.
    Whole,
    /// A slice of one axis.
    Slice {
        /// Axis.
        dim: &'g Arg,
        /// First index.
        start: &'g Arg,
        /// Index after the last.
        end: &'g Arg,
    },
    /// Any strided view.
    Strided {
        /// Sizes.
        size: &'g Arg,
        /// Strides.
        stride: &'g Arg,
        /// Offset into the storage.
        offset: &'g Arg,
    },
    /// A list, each with its own view: see the node's keyword arguments.
    List,
}

impl Graph {
    /// The operator that a node runs: its target, or what `auto_functionalized*` wraps.
    pub fn callee(&self, node: NodeIndex) -> Option<&str> {
        let n = &self[node];
        match (&n.functionalized, n.kind) {
            (Some(f), _) => Some(&f.op),
            (None, fx::Kind::Op) => Some(&n.target),
            _ => None,
        }
    }

    /// One entry a parameter of the operator, in the schema's order, defaults filled in. Goes
    /// through `auto_functionalized`: version 1 passes by keyword, version 2 names the bases of
    /// mutated arguments. `None` for what has no schema.
    pub fn normalized_args(&self, node: NodeIndex) -> Option<Vec<Bound<'_>>> {
        self.bind(node)?.ok()
    }

    /// What is passed for one parameter, defaults filled in.
    pub fn arg(&self, node: NodeIndex, param: &str) -> Option<Arg> {
        let bound = self.normalized_args(node)?.into_iter().find(|b| b.name() == param)?;
        bound.value.map(Cow::into_owned)
    }

    /// What each `getitem` of an `auto_functionalized*` node is.
    pub fn results(&self, node: NodeIndex) -> &[ResultRole] {
        self[node].functionalized.as_ref().map_or(&[], |f| &f.results)
    }

    /// Which `getitem` holds the `k`-th return value of the wrapped operator.
    pub fn return_index(&self, node: NodeIndex, k: u32) -> Option<usize> {
        self.results(node).iter().position(|r| *r == ResultRole::Return(k))
    }

    /// Which `getitem` holds the new contents of an argument. With version 2 that is the whole
    /// base of which the argument may be a part: see [`Bound::view`].
    pub fn mutated_index(&self, node: NodeIndex, param: &str) -> Option<usize> {
        let results = self.results(node);
        let by_name = |r: &ResultRole| matches!(r, ResultRole::MutatedArg(a) if a == param);
        results.iter().position(by_name).or_else(|| {
            let args = self.normalized_args(node)?;
            let Source::Base(k) = args.iter().find(|b| b.name() == param)?.source else {
                return None;
            };
            let base = ResultRole::MutatedBase(u32::try_from(k).ok()?);
            results.iter().position(|r| *r == base)
        })
    }

    fn bind(&self, node: NodeIndex) -> Option<Result<Vec<Bound<'_>>, String>> {
        let n = &self[node];
        let schema = self.ops.get(self.callee(node)?)?;
        Some(match &n.functionalized {
            None => bind_plain(n, schema),
            Some(f) if f.version == 2 => bind_v2(n, schema),
            Some(_) => bind_keywords(n, schema),
        })
    }

    /// Checks every call against its schema, every projection against its tuple.
    pub(super) fn check_calls(&self) -> Result<(), FxError> {
        for (index, node) in self.nodes() {
            self.check_call(index, node).map_err(|what| FxError::at_node(&node.name, what))?;
        }
        Ok(())
    }

    fn check_call(&self, index: NodeIndex, node: &Node) -> Result<(), String> {
        if let Some((of, i)) = self.projection(index)
            && let Some(items) = self[of].value.items()
            && i >= items.len()
        {
            let name = &self[of].name;
            return Err(format!("takes result {i} of `{name}`, which has {}", items.len()));
        }
        if let Some(op) = self.callee(index)
            && !self.ops.contains_key(op)
        {
            return Err(format!("operator `{op}` is not in `ops`"));
        }
        if let Some(f) = &node.functionalized {
            check_functionalized(node, f)?;
            self.check_roles(f)?;
        } else if node.kind == fx::Kind::Hop && is_functionalized(&node.target) {
            return Err("`functionalized` is missing".into());
        }
        let bound = match self.bind(index) {
            Some(bound) => bound?,
            None => return Ok(()),
        };
        match bound.iter().find(|b| b.value.is_none()) {
            Some(b) => Err(format!("argument `{}` is missing", b.name())),
            None => Ok(()),
        }
    }

    fn check_roles(&self, f: &fx::Functionalized) -> Result<(), String> {
        let Some(info) = self.op_info(&f.op) else { return Ok(()) };
        for role in &f.results {
            if let ResultRole::MutatedArg(arg) = role
                && !info.args.iter().any(|a| a.name == *arg)
            {
                return Err(format!("`results` names `{arg}`, which `{}` has not", f.op));
            }
        }
        Ok(())
    }
}

fn is_functionalized(target: &str) -> bool {
    target.starts_with("higher_order.auto_functionalized")
}

fn check_functionalized(node: &Node, f: &fx::Functionalized) -> Result<(), String> {
    let version = match &*node.target {
        "higher_order.auto_functionalized" => 1,
        "higher_order.auto_functionalized_v2" => 2,
        _ => return Err("only `auto_functionalized*` nodes are `functionalized`".into()),
    };
    if version != f.version {
        return Err(format!("version {} of `{}`", f.version, node.target));
    }
    if !matches!(node.args.as_slice(), [Arg::Op(op)] if **op == *f.op) {
        return Err(format!("the one positional argument must be `{}`", f.op));
    }
    match &node.value {
        Value::Tuple(items) if items.len() != f.results.len() => {
            Err(format!("{} results, but `out` has {}", f.results.len(), items.len()))
        }
        _ => Ok(()),
    }
}

/// The default, or nothing.
fn absent<'g>(schema: &'g OpSchema, i: usize) -> Bound<'g> {
    let value = schema.defaults.get(i).and_then(Option::as_ref).map(Cow::Borrowed);
    let source = if value.is_some() { Source::Default } else { Source::Missing };
    Bound { param: &schema.info.args[i], value, source, view: View::Whole }
}

fn given<'g>(param: &'g fx::ArgInfo, arg: &'g Arg) -> Bound<'g> {
    Bound { param, value: Some(Cow::Borrowed(arg)), source: Source::Given, view: View::Whole }
}

fn bind_plain<'g>(node: &'g Node, schema: &'g OpSchema) -> Result<Vec<Bound<'g>>, String> {
    let params = &schema.info.args;
    let positional = params.iter().take_while(|p| p.kwarg_only != Some(true)).count();
    if node.args.len() > positional {
        let (n, target) = (node.args.len(), &node.target);
        return Err(format!("{n} positional arguments, `{target}` takes {positional}"));
    }
    let mut out = Vec::with_capacity(params.len());
    for (i, param) in params.iter().enumerate() {
        out.push(match (node.args.get(i), node.kwarg(&param.name)) {
            (Some(_), Some(_)) => return Err(format!("argument `{}` given twice", param.name)),
            (Some(arg), None) | (None, Some(arg)) => given(param, arg),
            (None, None) => absent(schema, i),
        });
    }
    check_keywords(node, schema, |_| false)?;
    Ok(out)
}

fn bind_keywords<'g>(node: &'g Node, schema: &'g OpSchema) -> Result<Vec<Bound<'g>>, String> {
    check_keywords(node, schema, |_| false)?;
    let one = |(i, param): (usize, &'g fx::ArgInfo)| match node.kwarg(&param.name) {
        Some(arg) => given(param, arg),
        None => absent(schema, i),
    };
    Ok(schema.info.args.iter().enumerate().map(one).collect())
}

fn check_keywords(
    node: &Node,
    schema: &OpSchema,
    also: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let known = |k: &str| schema.info.args.iter().any(|p| p.name == k) || also(k);
    match node.kwargs.iter().find(|(k, _)| !known(k)) {
        Some((k, _)) => Err(format!("the operator has no argument `{k}`")),
        None => Ok(()),
    }
}

fn bind_v2<'g>(node: &'g Node, schema: &'g OpSchema) -> Result<Vec<Bound<'g>>, String> {
    check_keywords(node, schema, |k| k.starts_with('_'))?;
    let bases = match node.kwarg("_all_bases") {
        Some(arg) => arg.items().ok_or("`_all_bases` is not a list")?,
        None => &[],
    };
    let one = |(i, param): (usize, &'g fx::ArgInfo)| {
        if let Some(arg) = node.kwarg(&param.name) {
            return Ok(given(param, arg));
        }
        if !param.is_written() {
            return Ok(absent(schema, i));
        }
        bind_base(node, param, bases)
    };
    schema.info.args.iter().enumerate().map(one).collect()
}

/// A mutated argument of version 2: `_x_base_index` and how `x` is cut out of that base, or
/// `_x_length` and the same for each `_x_0`, `_x_1`, ..
fn bind_base<'g>(
    node: &'g Node,
    param: &'g fx::ArgInfo,
    bases: &'g [Arg],
) -> Result<Bound<'g>, String> {
    let prefix = format!("_{}", param.name);
    let Some(length) = node.kwarg(&format!("{prefix}_length")) else {
        let (value, source) = base(node, &prefix, bases)?;
        let view = view(node, &prefix);
        return Ok(Bound { param, value: Some(Cow::Borrowed(value)), source, view });
    };
    let (mut items, mut first) = (Vec::new(), None);
    let length = match length {
        Arg::Int(n @ 0..=65536) => *n,
        _ => return Err(format!("`{prefix}_length` is not a length")),
    };
    for i in 0..length {
        let (value, source) = base(node, &format!("{prefix}_{i}"), bases)?;
        items.push(value.clone());
        first = first.or(Some(source));
    }
    let value = Some(Cow::Owned(Arg::List(items)));
    Ok(Bound { param, value, source: first.unwrap_or(Source::Given), view: View::List })
}

fn base<'g>(node: &'g Node, prefix: &str, bases: &'g [Arg]) -> Result<(&'g Arg, Source), String> {
    let key = format!("{prefix}_base_index");
    match node.kwarg(&key) {
        Some(Arg::None) => Ok((&Arg::None, Source::Given)),
        Some(Arg::Int(i)) => {
            let found =
                usize::try_from(*i).ok().and_then(|i| Some((bases.get(i)?, Source::Base(i))));
            found.ok_or_else(|| format!("`{key}` is {i}, but there are {} bases", bases.len()))
        }
        Some(_) => Err(format!("`{key}` is not an index")),
        None => Err(format!("`{key}` is missing")),
    }
}

fn view<'g>(node: &'g Node, prefix: &str) -> View<'g> {
    let part = |name: &str| node.kwarg(&format!("{prefix}_{name}"));
    if let (Some(dim), Some(start), Some(end)) =
        (part("slice_dim"), part("slice_start"), part("slice_end"))
    {
        return View::Slice { dim, start, end };
    }
    if let (Some(size), Some(stride), Some(offset)) =
        (part("size"), part("stride"), part("storage_offset"))
    {
        return View::Strided { size, stride, offset };
    }
    View::Whole
}
