//! From a failing input to the smallest and plainest one that still fails.

use super::check::{self, Outcome, Side};
use super::claim::Claim;
use super::draw::{Choice, Draw, Plan, build};
use crate::interp::{Kind, Tensor, Value};
use crate::numerics::{self, same};
use fusec_dsl::library::Library;

/// Evaluations spent.
const BUDGET: usize = 4000;
/// Seeds tried for each smaller shape.
const SEEDS: u64 = 24;

struct Shrinker<'a> {
    lib: &'a Library,
    claim: &'a Claim<'a>,
    side: &'a Side<'a>,
    left: usize,
    /// Where the last failing input differed.
    at: Vec<usize>,
}

/// The smallest input found on which the side still fails.
pub(super) fn shrink(lib: &Library, claim: &Claim<'_>, side: &Side<'_>, draw: Draw) -> Draw {
    let mut s = Shrinker { lib, claim, side, left: BUDGET, at: Vec::new() };
    s.fails(&draw);
    let mut best = draw;
    while let Some(smaller) = s.smaller_shape(&best) {
        best = smaller;
    }
    s.plainer_values(&mut best);
    best
}

impl Shrinker<'_> {
    fn fails(&mut self, draw: &Draw) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let outcome = check::in_floats(self.lib, self.side, draw);
        let fails = outcome.fails(self.claim.exactness, draw.is_ordinary());
        if let (true, Outcome::Compared(d)) = (fails, outcome) {
            self.at = d.at;
        }
        fails
    }

    /// A failing input with one size smaller: a part of the values, or others.
    fn smaller_shape(&mut self, draw: &Draw) -> Option<Draw> {
        for choice in smaller(&draw.choice) {
            if let Ok(mut next) = build(self.claim, &choice, draw.kind, draw.seed, usize::MAX)
                && part_of(&mut next, draw, &self.at)
                && self.fails(&next)
            {
                return Some(next);
            }
            for i in 0..SEEDS {
                let seed = draw.seed.wrapping_add(i);
                let kind = if i % 2 == 0 { draw.kind } else { Kind::Ordinary };
                let Ok(next) = build(self.claim, &choice, kind, seed, usize::MAX) else { break };
                if self.fails(&next) {
                    return Some(next);
                }
            }
        }
        None
    }

    /// Whole tensors to a constant, then single elements to the plainest value that still fails.
    fn plainer_values(&mut self, best: &mut Draw) {
        for rank in 0..best.values.len() {
            for param in 0..best.values[rank].len() {
                for v in [0.0, 1.0] {
                    self.try_all(best, rank, param, v);
                }
                let Value::Tensor(t) = &best.values[rank][param] else { continue };
                for at in 0..t.numel().min(64) {
                    self.try_one(best, rank, param, at);
                }
            }
        }
    }

    fn try_all(&mut self, best: &mut Draw, rank: usize, param: usize, v: f64) {
        let mut next = best.clone();
        if let Value::Tensor(t) = &mut next.values[rank][param] {
            let v = numerics::round(t.dtype, v);
            t.data.iter_mut().for_each(|x| *x = v);
            if self.fails(&next) {
                *best = next;
            }
        }
    }

    fn try_one(&mut self, best: &mut Draw, rank: usize, param: usize, at: usize) {
        let Value::Tensor(t) = &best.values[rank][param] else { return };
        let (dtype, now) = (t.dtype, t.data[at]);
        for v in plainer(now) {
            let v = numerics::round(dtype, v);
            if same(v, now) {
                return;
            }
            let mut next = best.clone();
            if let Value::Tensor(t) = &mut next.values[rank][param] {
                t.data[at] = v;
            }
            if self.fails(&next) {
                *best = next;
                return;
            }
        }
    }
}

/// Takes the values of a smaller input out of a larger one, around a place of the result.
fn part_of(small: &mut Draw, large: &Draw, at: &[usize]) -> bool {
    for (small, large) in small.values.iter_mut().zip(&large.values) {
        for (s, l) in small.iter_mut().zip(large) {
            match (s, l) {
                (Value::Tensor(s), Value::Tensor(l)) if s.dtype == l.dtype => {
                    match cut(l, &s.shape, at) {
                        Some(part) => *s = part,
                        None => return false,
                    }
                }
                (Value::Attr(_), Value::Attr(_)) => {}
                _ => return false,
            }
        }
    }
    true
}

/// The block of this shape around a place, which counts from the last axis; a shape of lower rank
/// is a slice of the first axes.
fn cut(large: &Tensor, shape: &[usize], at: &[usize]) -> Option<Tensor> {
    let rank = large.shape.len();
    let lead = rank.checked_sub(shape.len())?;
    let mut all = vec![0];
    for axis in 0..rank {
        let (_, n, stride) = large.around(axis);
        let want = if axis < lead { 1 } else { shape[axis - lead] };
        let place = (at.len() + axis).checked_sub(rank).map_or(0, |i| at[i]);
        let start = place.min(n.checked_sub(want)?);
        all = all.iter().flat_map(|b| (start..start + want).map(move |i| b + i * stride)).collect();
    }
    let data = all.into_iter().map(|i| large.data[i]).collect();
    Some(Tensor { dtype: large.dtype, shape: shape.to_vec(), data })
}

/// Simpler values than this one, the simplest first.
fn plainer(v: f64) -> Vec<f64> {
    let mut out = vec![0.0, 1.0];
    if v.is_finite() {
        out.extend([v.round(), (v * 16.0).round() / 16.0, (v * 256.0).round() / 256.0]);
        out.push(f64::from(half::bf16::from_f64(v)));
    }
    out.push(v);
    out
}

/// Choices with one thing smaller.
fn smaller(choice: &Choice) -> Vec<Choice> {
    let mut out = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Choice)| {
        let mut next = choice.clone();
        edit(&mut next);
        out.push(next);
    };
    if choice.ranks > 2 {
        with(&|c| c.ranks = 2);
    }
    for (name, sizes) in &choice.leading {
        if !sizes.is_empty() {
            with(&|c| {
                c.leading.insert(name.clone(), sizes[1..].to_vec());
            });
        }
        for (i, n) in sizes.iter().enumerate().filter(|(_, n)| **n > 1) {
            for less in fewer(*n) {
                with(&|c| c.leading.entry(name.clone()).or_default()[i] = less);
            }
        }
    }
    for (name, n) in &choice.dims {
        for less in fewer(*n) {
            with(&|c| {
                c.dims.insert(name.clone(), less);
            });
        }
    }
    for (i, plan) in &choice.given {
        for less in smaller_plans(plan) {
            with(&|c| {
                c.given.insert(*i, less.clone());
            });
        }
    }
    out
}

/// Smaller sizes, the smallest first.
fn fewer(n: i64) -> Vec<i64> {
    let mut out: Vec<i64> = [1, 2, 3, 4, 8, 16, 32, n / 2, n - 1].to_vec();
    out.retain(|m| (1..n).contains(m));
    out.sort_unstable();
    out.dedup();
    out
}

fn smaller_plans(plan: &Plan) -> Vec<Plan> {
    match plan {
        Plan::Tensor(dtype, shape) => {
            let mut out = Vec::new();
            if !shape.is_empty() {
                out.push(Plan::Tensor(*dtype, shape[1..].to_vec()));
            }
            for (i, n) in shape.iter().enumerate() {
                for less in fewer(*n as i64) {
                    let mut shape = shape.clone();
                    shape[i] = less as usize;
                    out.push(Plan::Tensor(*dtype, shape));
                }
            }
            out
        }
        _ => Vec::new(),
    }
}
