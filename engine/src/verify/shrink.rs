//! From a failing input to the smallest and plainest one that still fails.

use super::check::{self, Side};
use super::claim::Claim;
use super::draw::{Choice, Draw, Plan, build};
use crate::interp::{Kind, Value};
use crate::numerics::{self, same};
use fusec_dsl::library::Library;

/// Evaluations spent.
const BUDGET: usize = 1500;
/// Seeds tried for each smaller shape.
const SEEDS: u64 = 6;

struct Shrinker<'a> {
    lib: &'a Library,
    claim: &'a Claim<'a>,
    side: &'a Side<'a>,
    left: usize,
}

/// The smallest input found on which the side still fails.
pub(super) fn shrink(lib: &Library, claim: &Claim<'_>, side: &Side<'_>, draw: Draw) -> Draw {
    let mut s = Shrinker { lib, claim, side, left: BUDGET };
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
        check::in_floats(self.lib, self.side, draw).fails(self.claim.exactness)
    }

    /// A failing input with one size smaller, whatever its values.
    fn smaller_shape(&mut self, draw: &Draw) -> Option<Draw> {
        for choice in smaller(&draw.choice) {
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
            with(&|c| drop(c.leading.insert(name.clone(), sizes[1..].to_vec())));
        }
        for (i, n) in sizes.iter().enumerate().filter(|(_, n)| **n > 1) {
            for less in fewer(*n) {
                with(&|c| c.leading.entry(name.clone()).or_default()[i] = less);
            }
        }
    }
    for (name, n) in &choice.dims {
        for less in fewer(*n) {
            with(&|c| drop(c.dims.insert(name.clone(), less)));
        }
    }
    for (i, plan) in &choice.given {
        for less in smaller_plans(plan) {
            with(&|c| drop(c.given.insert(*i, less.clone())));
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
