//! Which shapes and attributes to try: at and around what guards mention.

use super::PROVED_DRAWS;
use super::claim::Claim;
use super::draw::{Choice, Draw, Plan, build};
use crate::interp::Kind;
use crate::interp::random::Rng;
use fusec_dsl::dim::Dim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{
    Attr, BindValue, Body, BodyKind, Library, Meaning, OpId, Param, Scalar, TensorExpr, TypeExpr,
};
use std::collections::{BTreeMap, BTreeSet};

/// Sizes tried whatever the rule says.
const SIZES: &[i64] = &[1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 48];
/// Leading sizes: few rows, so that rows can be long.
const ROWS: &[i64] = &[1, 1, 2, 3, 5];
/// Epsilons, scales, limits.
const NUMBERS: &[f64] = &[1e-6, 1e-5, 0.0, 1.0, -1.0, 0.5, 2.0, 448.0, -448.0, 0.1, -0.3, 1e4];
/// Sizes with room for many special values.
const LONG: &[i64] = &[64, 128, 257, 512];
/// Elements of all inputs of a draw, and of a rare large one.
const USUAL: usize = 1500;
const LARGE: usize = 10_000;

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
