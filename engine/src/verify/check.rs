//! Evaluates both sides on one draw and compares.

use super::draw::Draw;
use super::types;
use crate::interp::domain::Domain;
use crate::interp::field::{Field, Rounding};
use crate::interp::float::Floats;
use crate::interp::{EvalError, Interp, Tensor, Value};
use crate::numerics::{same, ulp};
use fusec_dsl::library::{Body, Exactness, Library};

/// One left side against the right side.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub left: &'a Body,
    pub right: &'a Body,
    pub both_ways: bool,
}

/// Whether the field sees the sides as equal.
#[derive(Clone, Copy, Default)]
pub(super) struct Agreement {
    /// With casts as uninterpreted functions.
    pub kept: bool,
    /// With casts dropped.
    pub dropped: bool,
}

/// How far apart the sides are.
#[derive(Clone, Debug, Default)]
pub(super) struct Difference {
    pub elements: u64,
    pub differing: u64,
    pub max_ulp: u64,
    /// Elements where a NaN stands against a number.
    pub nan: u64,
    /// The largest difference, for a person.
    pub worst: Option<String>,
    /// Where it is.
    pub at: Vec<usize>,
}

impl Difference {
    /// Whether it is more than a rule may have.
    ///
    /// The bound of an approximate rule is for ordinary values: none in steps survives denormals,
    /// overflow and infinities in between.
    pub fn exceeds(&self, allowed: Exactness, ordinary: bool) -> bool {
        match allowed {
            Exactness::Exact => self.differing > 0,
            Exactness::Ulp(bound) => ordinary && self.max_ulp as f64 > bound,
        }
    }
}

/// What came of evaluating both sides in floats.
pub(super) enum Outcome {
    /// The rule does not apply to this input.
    Skip(String),
    /// Inference gives the sides different types, so that the engine would refuse the match.
    OtherType(String),
    /// One side has no value, or one of another type.
    Broken(String),
    /// Both have values of the same types.
    Compared(Difference),
}

impl Outcome {
    /// Whether it breaks a rule with this bound.
    pub fn fails(&self, allowed: Exactness, ordinary: bool) -> bool {
        match self {
            Outcome::Skip(_) | Outcome::OtherType(_) => false,
            Outcome::Broken(_) => true,
            Outcome::Compared(d) => d.exceeds(allowed, ordinary),
        }
    }

    /// In one line.
    pub fn describe(self) -> String {
        match self {
            Outcome::Skip(why) | Outcome::OtherType(why) | Outcome::Broken(why) => why,
            Outcome::Compared(d) => d.worst.unwrap_or_else(|| "equal".into()),
        }
    }
}

type Ranks<E> = Vec<Vec<Value<E>>>;

fn evaluate<D: Domain>(
    lib: &Library,
    domain: D,
    body: &Body,
    params: &Ranks<D::Elem>,
    draw: &Draw,
) -> Result<Ranks<D::Elem>, EvalError> {
    Interp::new(lib, domain).with_opaque_functions().body_ranks(body, params, &draw.bindings)
}

/// Both sides in floats.
pub(super) fn in_floats(lib: &Library, side: &Side<'_>, draw: &Draw) -> Outcome {
    if let Some(why) = types::differ(lib, side, draw) {
        return Outcome::OtherType(why);
    }
    let params = draw.floats();
    let left = evaluate(lib, Floats, side.left, params, draw);
    let right = evaluate(lib, Floats, side.right, params, draw);
    match (left, right) {
        (Ok(l), Ok(r)) => compare(&l, &r),
        (Err(l), Err(_)) => Outcome::Skip(l.to_string()),
        (Err(l), Ok(_)) if !side.both_ways => Outcome::Skip(l.to_string()),
        (Err(l), Ok(_)) => Outcome::Broken(format!("only the right side has a value: {l}")),
        (Ok(_), Err(r)) => Outcome::Broken(format!("only the left side has a value: {r}")),
    }
}

/// Both sides in the field, twice.
pub(super) fn in_field(
    lib: &Library,
    side: &Side<'_>,
    draw: &Draw,
) -> Result<Agreement, EvalError> {
    let agree = |rounding| {
        let field = Field { key: draw.seed, rounding };
        let params = draw.members(&field);
        let left = evaluate(lib, field, side.left, &params, draw)?;
        let right = evaluate(lib, field, side.right, &params, draw)?;
        Ok(left == right)
    };
    Ok(Agreement { kept: agree(Rounding::Kept)?, dropped: agree(Rounding::Dropped)? })
}

fn compare(left: &Ranks<f64>, right: &Ranks<f64>) -> Outcome {
    let mut total = Difference::default();
    for (rank, (l, r)) in left.iter().zip(right).enumerate() {
        if l.len() != r.len() {
            return Outcome::Broken(format!("{} results against {}", l.len(), r.len()));
        }
        for (i, (l, r)) in l.iter().zip(r).enumerate() {
            let place = match (left.len(), left[0].len()) {
                (1, 1) => String::new(),
                (1, _) => format!("result {i}, "),
                (_, 1) => format!("rank {rank}, "),
                _ => format!("rank {rank}, result {i}, "),
            };
            if let Err(why) = value(l, r, &place, &mut total) {
                return Outcome::Broken(why);
            }
        }
    }
    Outcome::Compared(total)
}

fn value(l: &Value, r: &Value, place: &str, total: &mut Difference) -> Result<(), String> {
    match (l, r) {
        (Value::Tensor(l), Value::Tensor(r)) if l.dtype == r.dtype && l.shape == r.shape => {
            elements(l, r, place, total);
            Ok(())
        }
        (Value::Tuple(ls), Value::Tuple(rs)) | (Value::List(ls), Value::List(rs))
            if ls.len() == rs.len() =>
        {
            ls.iter().zip(rs).try_for_each(|(l, r)| value(l, r, place, total))
        }
        (Value::Attr(l), Value::Attr(r)) if l == r => Ok(()),
        _ => Err(format!("{place}the left side is {}, the right side {}", l.ty(), r.ty())),
    }
}

fn elements(l: &Tensor, r: &Tensor, place: &str, total: &mut Difference) {
    total.elements += l.numel() as u64;
    for (i, (a, b)) in l.data.iter().zip(&r.data).enumerate() {
        if same(*a, *b) {
            continue;
        }
        let steps = ulp::distance(l.dtype, *a, *b);
        let worst = total.worst.is_none() || steps > total.max_ulp;
        total.differing += 1;
        total.max_ulp = total.max_ulp.max(steps);
        total.nan += u64::from(steps == u64::MAX);
        if worst {
            let at = index(i, &l.shape);
            total.at.clone_from(&at);
            let far = match steps {
                0 => "only the sign".to_string(),
                u64::MAX => "NaN on one side".to_string(),
                1 => "1 step".to_string(),
                n => format!("{n} steps"),
            };
            let d = l.dtype;
            total.worst =
                Some(format!("{place}element {at:?}: left {a:?}, right {b:?} ({d}, {far})"));
        }
    }
}

fn index(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut at: Vec<usize> = Vec::with_capacity(shape.len());
    for n in shape.iter().rev() {
        at.push(flat % n);
        flat /= n;
    }
    at.reverse();
    at
}
