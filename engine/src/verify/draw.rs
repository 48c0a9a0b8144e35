//! One input of a claim: a choice of types and sizes, then values.

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
use fusec_dsl::library::{Attr, DtypeExpr, Param, TypeExpr};
use fusec_dsl::types::{TensorType, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

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
/// The input of a choice; why not, if a guard refuses it or it has no shape.
pub(super) fn build(
    claim: &Claim<'_>,
    choice: &Choice,
    kind: Kind,
    seed: u64,
    limit: usize,
) -> Result<Draw, String> {
    let bindings = bindings(claim, choice);
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

fn bindings(claim: &Claim<'_>, choice: &Choice) -> Bindings {
    let mut bindings = Bindings { dtypes: choice.dtypes.clone(), ..Bindings::default() };
    bindings.dims.extend(choice.dims.iter().map(|(k, v)| (k.clone(), Dim::int(*v))));
    let dims = |sizes: &Vec<i64>| sizes.iter().map(|n| Dim::int(*n)).collect();
    bindings.leading.extend(choice.leading.iter().map(|(k, v)| (k.clone(), dims(v))));
    for (i, p) in claim.sig.params.iter().enumerate() {
        if let Some(Plan::Attr(Attr::Int(d))) = choice.given.get(&i) {
            bindings.dims.insert(p.name.as_str().into(), d.clone());
        }
    }
    bindings
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
