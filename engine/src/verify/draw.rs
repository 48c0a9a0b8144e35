//! Inputs that fit a signature: shapes at and around what guards mention, then values.

use super::PROVED_DRAWS;
use super::claim::Claim;
use crate::interp::eval::Concrete;
use crate::interp::field::{Field, Fp};
use crate::interp::random::Rng;
use crate::interp::{Kind, Tensor, Value, random_tensor};
use crate::numerics;
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::guard::{self, Truth};
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{
    Attr, BindValue, Body, BodyKind, DtypeExpr, Library, Meaning, OpId, Param, Scalar, TensorExpr,
    TypeExpr,
};
use fusec_dsl::types::{TensorType, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sizes tried whatever the rule says.
const SIZES: &[i64] = &[1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 48];
/// Leading sizes: few rows, so that rows can be long.
const ROWS: &[i64] = &[1, 1, 2, 3, 5];
/// Epsilons, scales, limits.
const NUMBERS: &[f64] = &[1e-6, 1e-5, 0.0, 1.0, -1.0, 0.5, 2.0, 448.0, -448.0, 0.1, -0.3, 1e4];
/// Sizes with room for many special values.
const LONG: &[i64] = &[64, 128, 257, 512];
/// Values at which formulas break.
const SPECIAL: &[f64] = &[
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
];
/// Elements of all inputs of a draw, and of a rare large one.
const USUAL: usize = 1500;
const LARGE: usize = 10_000;

/// Everything that is chosen about an input except its values.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub dtypes: BTreeMap<String, Dtype>,
    pub dims: BTreeMap<Arc<str>, i64>,
    pub leading: BTreeMap<String, Vec<i64>>,
    /// Attributes, and operands of any type.
    pub given: BTreeMap<usize, Plan>,
    pub ranks: usize,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan {
    Tensor(Dtype, Vec<usize>),
    Attr(Attr),
    List(Vec<Plan>),
}

/// One input.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    pub choice: Choice,
    pub bindings: Bindings,
    pub plans: Vec<Plan>,
    pub seed: u64,
    pub kind: Kind,
    /// Values on each rank.
    pub values: Vec<Vec<Value>>,
    sharded: Vec<bool>,
}

impl Draw {
    /// The float values, rank by rank.
    pub fn floats(&self) -> &Vec<Vec<Value>> {
        &self.values
    }

    /// Members of the field, rank by rank.
    pub fn members(&self, field: &Field) -> Vec<Vec<Value<Fp>>> {
        let on = |rank| {
            let plans = self.plans.iter().enumerate();
            plans.map(|(i, p)| member(p, field, self.salt(i, rank))).collect()
        };
        (0..self.values.len()).map(on).collect()
    }

    /// Whether values are of the usual kind.
    pub fn is_ordinary(&self) -> bool {
        self.kind == Kind::Ordinary
    }

    /// Elements of all tensors of one rank.
    pub fn elements(&self) -> usize {
        self.plans.iter().map(Plan::elements).sum()
    }

    fn salt(&self, param: usize, rank: usize) -> u64 {
        salt(self.seed, param, if self.sharded[param] { rank } else { 0 })
    }
}

fn salt(seed: u64, param: usize, rank: usize) -> u64 {
    Rng::new(seed ^ (param as u64) << 32 ^ (rank as u64) << 48).next()
}

impl Plan {
    fn elements(&self) -> usize {
        match self {
            Plan::Tensor(_, shape) => shape.iter().product(),
            Plan::Attr(_) => 0,
            Plan::List(items) => items.iter().map(Plan::elements).sum(),
        }
    }

    /// Its type, with constant dimensions.
    pub fn ty(&self) -> Type {
        match self {
            Plan::Tensor(dtype, shape) => {
                let shape = shape.iter().map(|n| Dim::int(*n as i64)).collect();
                Type::Tensor(TensorType { dtype: *dtype, shape })
            }
            Plan::Attr(a) => Type::Attr(a.clone()),
            Plan::List(items) => Type::List(items.iter().map(Plan::ty).collect()),
        }
    }

    fn value(&self, kind: Kind, seed: u64) -> Value {
        match self {
            Plan::Tensor(dtype, shape) => random_tensor(*dtype, shape, kind, seed).into(),
            Plan::Attr(a) => a.clone().into(),
            Plan::List(items) => {
                let each = items.iter().enumerate();
                Value::List(each.map(|(i, p)| p.value(kind, salt(seed, i, 7))).collect())
            }
        }
    }
}

fn member(plan: &Plan, field: &Field, seed: u64) -> Value<Fp> {
    match plan {
        Plan::Tensor(dtype, shape) => {
            let mut rng = Rng::new(seed);
            let numel = shape.iter().product::<usize>();
            let data = (0..numel).map(|_| field.input(*dtype, rng.next())).collect();
            Tensor { dtype: *dtype, shape: shape.clone(), data }.into()
        }
        Plan::Attr(a) => a.clone().into(),
        Plan::List(items) => {
            let each = items.iter().enumerate();
            Value::List(each.map(|(i, p)| member(p, field, salt(seed, i, 7))).collect())
        }
    }
}

/// Draws inputs for a claim.
pub(super) struct Drawer<'a> {
    lib: &'a Library,
    claim: &'a Claim<'a>,
    seed: u64,
    /// Every assignment of the dtype generics.
    dtypes: Vec<BTreeMap<String, Dtype>>,
    /// Sizes worth trying.
    sizes: Vec<i64>,
    refused: Option<String>,
}

impl<'a> Drawer<'a> {
    /// Prepares the sizes that the rule and the ops behind it mention.
    pub fn new(lib: &'a Library, claim: &'a Claim<'a>, seed: u64) -> Drawer<'a> {
        let mut constants = BTreeSet::new();
        claim.sig.guards.iter().for_each(|g| numbers(&g.text, &mut constants));
        let mut seen = BTreeSet::new();
        for body in claim.lefts.iter().chain([claim.right]) {
            mentioned(lib, body, &mut seen, &mut constants);
        }
        let mut sizes: BTreeSet<i64> = SIZES.iter().copied().collect();
        for c in constants.into_iter().filter(|c| (2..=8192).contains(c)) {
            sizes.extend([c - 1, c, c + 1, 2 * c, 3 * c]);
        }
        let dtypes = assignments(claim);
        let sizes = sizes.into_iter().collect();
        Drawer { lib, claim, seed, dtypes, sizes, refused: None }
    }

    /// Number of assignments of the dtype generics.
    pub fn assignments(&self) -> usize {
        self.dtypes.len()
    }

    /// The guard that refused the last attempt.
    pub fn refused(&self) -> Option<String> {
        self.refused.clone()
    }

    /// The `n`-th input; `None` if no attempt met the guards.
    pub fn next(&mut self, n: usize) -> Option<Draw> {
        let mut rng = Rng::new(self.seed.wrapping_add((n as u64) << 20));
        let kind = if n % 2 == 0 { Kind::Ordinary } else { Kind::Hostile };
        let limit = if n % 16 == 5 { LARGE } else { USUAL };
        for _ in 0..400 {
            let choice = self.choose(n, &mut rng);
            match build(self.claim, &choice, kind, rng.next(), limit) {
                Ok(draw) => return Some(draw),
                Err(why) => self.refused = Some(why),
            }
        }
        None
    }

    fn choose(&self, n: usize, rng: &mut Rng) -> Choice {
        let mut choice = Choice {
            dtypes: self.dtypes[n / 2 % self.dtypes.len()].clone(),
            ranks: if self.claim.collective { rng.pick(&[2, 3, 4, 1]) } else { 1 },
            ..Choice::default()
        };
        let dtype = rng.pick(&[Dtype::F32, Dtype::Bf16, Dtype::F16, Dtype::F64]);
        let mut shape = vec![rng.pick(&[4, 8, 6])];
        (0..rng.below(3)).for_each(|_| shape.insert(0, rng.pick(ROWS) as usize));
        let any = Plan::Tensor(dtype, shape);
        for (i, p) in self.claim.sig.params.iter().enumerate() {
            if let Some(plan) = self.given(i, p, &any, rng) {
                choice.given.insert(i, plan);
            }
        }
        for p in &self.claim.sig.params {
            if let TypeExpr::Tensor(t) | TypeExpr::State(t) = &p.ty {
                self.sizes_of(t, n, &mut choice, rng);
            }
        }
        choice
    }

    /// Sizes for the names of a declared tensor type.
    fn sizes_of(&self, t: &TensorExpr, n: usize, choice: &mut Choice, rng: &mut Rng) {
        if let Some(name) = &t.leading
            && !choice.leading.contains_key(name)
        {
            let leading = self.leading_of(t, name, n, choice, rng);
            choice.leading.insert(name.clone(), leading);
        }
        let symbols: BTreeSet<_> = t.dims.iter().flat_map(Dim::symbols).collect();
        for name in symbols {
            let is_int = |(i, p): (usize, &Param)| {
                *p.name == *name && matches!(choice.given.get(&i), Some(Plan::Attr(Attr::Int(_))))
            };
            if choice.dims.contains_key(&name)
                || self.claim.sig.params.iter().enumerate().any(is_int)
            {
                continue;
            }
            let size = self.size(n, choice, rng);
            choice.dims.insert(name, size);
        }
    }

    /// Sizes for `b..`; those of a nameless `..` broadcast against the named ones.
    fn leading_of(
        &self,
        t: &TensorExpr,
        name: &str,
        n: usize,
        choice: &Choice,
        rng: &mut Rng,
    ) -> Vec<i64> {
        if name.is_empty() {
            let named = choice.leading.values().next().cloned().unwrap_or_default();
            let kept = named[rng.below(named.len() + 1)..].iter();
            return kept.map(|n| if rng.below(2) == 0 { 1 } else { *n }).collect();
        }
        let rank = if n == 0 { 0 } else { rng.below(3) };
        let mut sizes: Vec<i64> = (0..rank).map(|_| rng.pick(ROWS)).collect();
        if let (true, Some(last)) = (t.dims.is_empty(), sizes.last_mut()) {
            *last = self.size(n, choice, rng);
        }
        sizes
    }

    fn size(&self, n: usize, choice: &Choice, rng: &mut Rng) -> i64 {
        if n == 0 && rng.below(4) > 0 {
            return 1;
        }
        // Sizes that happen to be equal let operands broadcast that usually would not.
        let chosen: Vec<i64> = choice.dims.values().copied().collect();
        if !chosen.is_empty() && rng.below(5) == 0 {
            return rng.pick(&chosen);
        }
        if (n >= PROVED_DRAWS || n % 2 == 1) && rng.below(2) == 0 {
            return rng.pick(LONG);
        }
        let ints: Vec<i64> = choice.given.values().filter_map(positive).collect();
        match (rng.below(3), ints.is_empty()) {
            (0, false) => rng.pick(&ints) * rng.pick(&[1, 2, 3]),
            (1, _) => rng.pick(SIZES),
            _ => rng.pick(&self.sizes),
        }
    }

    /// A value for a parameter that is not a tensor of a declared type.
    fn given(&self, i: usize, p: &Param, any: &Plan, rng: &mut Rng) -> Option<Plan> {
        if p.optional && rng.below(4) == 0 {
            return Some(Plan::Attr(Attr::None));
        }
        if let Some(default) = p.default.as_ref().filter(|_| rng.below(2) == 0) {
            return Some(Plan::Attr(default.clone()));
        }
        Some(match &p.ty {
            TypeExpr::Tensor(_) | TypeExpr::State(_) => return None,
            TypeExpr::Tensors => Plan::List(vec![any.clone(); rng.pick(&[2, 3])]),
            TypeExpr::Any => variation(any, i == 0, rng),
            TypeExpr::Scalar(s) => Plan::Attr(self.attribute(s, rng)),
        })
    }

    fn attribute(&self, s: &Scalar, rng: &mut Rng) -> Attr {
        match s {
            Scalar::Int => Attr::int(match rng.below(2) {
                0 => rng.pick(&[1, 2, 4, 8, 16, 3]),
                _ => rng.pick(&self.sizes),
            }),
            Scalar::Float => Attr::float(rng.pick(NUMBERS)),
            Scalar::Bool => Attr::Bool(rng.below(2) == 0),
            Scalar::Dtype => Attr::Dtype(rng.pick(&[
                Dtype::Bf16,
                Dtype::F16,
                Dtype::F32,
                Dtype::F64,
                Dtype::F8E4M3,
            ])),
            Scalar::Ints => {
                let items = (0..1 + rng.below(3)).map(|_| Attr::int(rng.pick(&[0, 1, 2, -1, 4])));
                Attr::List(items.collect())
            }
            Scalar::Group => Attr::Group("g".into()),
            Scalar::Opaque => Attr::Opaque("o".into()),
            Scalar::Enum(name) => rng.pick_from(enum_values(self.lib, name)),
        }
    }
}

impl Rng {
    fn pick_from(&mut self, values: Vec<Attr>) -> Attr {
        match values.len() {
            0 => Attr::Str("any".into()),
            n => values[self.below(n)].clone(),
        }
    }
}

fn positive(plan: &Plan) -> Option<i64> {
    match plan {
        Plan::Attr(Attr::Int(d)) => d.as_int().filter(|v| *v > 0),
        _ => None,
    }
}

/// The same operand, one that broadcasts against it, or a number.
fn variation(any: &Plan, first: bool, rng: &mut Rng) -> Plan {
    let Plan::Tensor(dtype, shape) = any else { return any.clone() };
    match if first { 0 } else { rng.below(6) } {
        0..=2 => any.clone(),
        3 => Plan::Attr(Attr::float(rng.pick(NUMBERS))),
        4 => Plan::Tensor(*dtype, shape[shape.len().saturating_sub(1)..].to_vec()),
        _ => {
            let mut shape = shape.clone();
            let at = rng.below(shape.len().max(1));
            shape.iter_mut().skip(at).take(1).for_each(|n| *n = 1);
            Plan::Tensor(*dtype, shape)
        }
    }
}

/// The values of an enum that binds mention.
fn enum_values(lib: &Library, name: &str) -> Vec<Attr> {
    let mut out = BTreeSet::new();
    for bind in &lib.binds {
        for (p, v) in lib.op(bind.op).sig.params.iter().zip(&bind.op_args) {
            if let (TypeExpr::Scalar(Scalar::Enum(e)), BindValue::Const(a)) = (&p.ty, v)
                && e == name
            {
                out.insert(a.clone());
            }
        }
    }
    out.into_iter().collect()
}

/// Every combination of element types of the generics.
fn assignments(claim: &Claim<'_>) -> Vec<BTreeMap<String, Dtype>> {
    let mut all = vec![BTreeMap::new()];
    for g in &claim.sig.generics {
        let types: Vec<Dtype> = g.class.iter().filter(|d| *d != Dtype::C64).collect();
        let with = |m: &BTreeMap<String, Dtype>, d: &Dtype| {
            let mut m = m.clone();
            m.insert(g.name.clone(), *d);
            m
        };
        all = all.iter().flat_map(|m| types.iter().map(move |d| with(m, d))).collect();
    }
    if all.is_empty() { vec![BTreeMap::new()] } else { all }
}

/// Integers in a text.
fn numbers(text: &str, out: &mut BTreeSet<i64>) {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    out.extend(digits.filter_map(|d| d.parse::<i64>().ok()));
}

/// Integers in the guards and bodies of the ops behind a body.
fn mentioned(lib: &Library, body: &Body, seen: &mut BTreeSet<OpId>, out: &mut BTreeSet<i64>) {
    for node in &body.nodes {
        match &node.kind {
            BodyKind::Const(Attr::Int(d)) => out.extend(d.as_int()),
            BodyKind::Call { op, .. } if seen.insert(*op) => {
                let op = lib.op(*op);
                op.sig.guards.iter().for_each(|g| numbers(&g.text, out));
                if let Meaning::Body(inner) = &op.meaning {
                    mentioned(lib, inner, seen, out);
                }
            }
            _ => {}
        }
    }
}

/// The input of a choice; why not, if a guard refuses it or it has no shape.
pub(super) fn build(
    claim: &Claim<'_>,
    choice: &Choice,
    kind: Kind,
    seed: u64,
    limit: usize,
) -> Result<Draw, String> {
    let mut bindings = Bindings { dtypes: choice.dtypes.clone(), ..Bindings::default() };
    bindings.dims.extend(choice.dims.iter().map(|(k, v)| (k.clone(), Dim::int(*v))));
    let dims = |sizes: &Vec<i64>| sizes.iter().map(|n| Dim::int(*n)).collect();
    bindings.leading.extend(choice.leading.iter().map(|(k, v)| (k.clone(), dims(v))));
    for (i, p) in claim.sig.params.iter().enumerate() {
        if let Some(Plan::Attr(Attr::Int(d))) = choice.given.get(&i) {
            bindings.dims.insert(p.name.as_str().into(), d.clone());
        }
    }
    let planned = claim.sig.params.iter().enumerate().map(|(i, p)| match choice.given.get(&i) {
        Some(plan) => Ok(plan.clone()),
        None => plan_of(p, &bindings),
    });
    let plans: Vec<Plan> = planned.collect::<Result<_, _>>()?;
    if plans.iter().map(Plan::elements).sum::<usize>() > limit {
        return Err("too many elements".into());
    }
    let types: Vec<Type> = plans.iter().map(Plan::ty).collect();
    for g in &claim.sig.guards {
        if let Truth::False(why) =
            guard::eval(g, &bindings, &types, &Concrete { ranks: choice.ranks })
        {
            return Err(why);
        }
    }
    let mut draw = Draw {
        choice: choice.clone(),
        bindings,
        plans,
        seed,
        kind,
        values: Vec::new(),
        sharded: claim.sharded.clone(),
    };
    draw.sharded.resize(draw.plans.len(), false);
    draw.values = (0..choice.ranks.max(1)).map(|rank| values(&draw, rank)).collect();
    Ok(draw)
}

fn values(draw: &Draw, rank: usize) -> Vec<Value> {
    let each = draw.plans.iter().enumerate();
    each.map(|(i, plan)| {
        let seed = draw.salt(i, rank);
        // One hostile operand among ordinary ones shows more than all hostile at once.
        let kind = if seed % 3 == 0 { Kind::Ordinary } else { draw.kind };
        let mut value = plan.value(kind, seed);
        if let (Value::Tensor(t), Kind::Hostile) = (&mut value, kind) {
            poison(t, &mut Rng::new(seed));
        }
        value
    })
    .collect()
}

/// Special values here and there, everywhere, or (every third time) nowhere.
fn poison(t: &mut Tensor, rng: &mut Rng) {
    if !t.dtype.is_float() || t.dtype == Dtype::F4E2M1x2 {
        return;
    }
    let mode = rng.below(3);
    let everywhere = special(t.dtype, rng);
    for x in &mut t.data {
        match mode {
            0 if rng.below(3) == 0 => *x = special(t.dtype, rng),
            1 => *x = everywhere,
            _ => {}
        }
    }
}

/// One of the special values, or a denormal.
fn special(dtype: Dtype, rng: &mut Rng) -> f64 {
    let v = rng.pick(SPECIAL);
    match v {
        f64::MIN_POSITIVE => numerics::decode(dtype, 1 + rng.next() % 7),
        v if v.abs() == f64::MAX => {
            numerics::float::Format::of(dtype).map_or(v, |f| f.max().copysign(v))
        }
        v => numerics::round(dtype, v),
    }
}

fn plan_of(p: &Param, bindings: &Bindings) -> Result<Plan, String> {
    let (TypeExpr::Tensor(t) | TypeExpr::State(t)) = &p.ty else {
        return Err(format!("`{}` cannot be drawn", p.name));
    };
    let dtype = match &t.dtype {
        DtypeExpr::Is(d) => *d,
        DtypeExpr::Any => Dtype::F32,
        DtypeExpr::Generic(g) => {
            *bindings.dtypes.get(g).ok_or_else(|| format!("`{g}` is not a generic"))?
        }
    };
    let none = Vec::new();
    let leading = t.leading.as_ref().and_then(|l| bindings.leading.get(l)).unwrap_or(&none);
    let dims = t.dims.iter().map(|d| bindings.dim_value(d));
    let sizes = leading.iter().cloned().chain(dims).map(|d| match d.as_int() {
        Some(n) if n >= 1 => Ok(n as usize),
        _ => Err(format!("`{}` would have a size of {d}", p.name)),
    });
    Ok(Plan::Tensor(dtype, sizes.collect::<Result<_, _>>()?))
}
