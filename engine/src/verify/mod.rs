//! Checks that the two sides of a rule are equal, by evaluating both.
//!
//! Shapes are drawn from the signature and the guards, values from ordinary and hostile sets.
//! Each draw is evaluated in a prime field first, where casts are uninterpreted functions, so
//! agreement there is as good as a proof for those shapes; then in floats, bit for bit. What
//! differs is shrunk to the smallest shapes and plainest values and printed as a graph.

mod check;
mod choose;
mod claim;
mod draw;
mod print;
mod shrink;
mod types;

#[cfg(test)]
mod tests;

use check::{Agreement, Difference, Outcome, Side};
use choose::Drawer;
use claim::Claim;
use draw::Draw;
use fusec_dsl::library::{Exactness, Fusion, Kernel, Library, Rewrite};
use std::fmt;

/// What evaluating both sides says about a rule.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Equal, rounding point for rounding point.
    Exact(Proof),
    /// Within the declared bound on ordinary values.
    Approx {
        /// Largest difference, in code steps of the result's type.
        max_ulp: u64,
        /// Share of elements that differ on ordinary values.
        share: f64,
        /// Elements compared on ordinary values.
        samples: u64,
        /// Elements on hostile values (infinities, denormals, ..) where a NaN stands against a
        /// number.
        nan: u64,
    },
    /// Not equal, with an input that shows it.
    Wrong(Box<Counterexample>),
    /// Nothing could be said; why.
    Unproven(String),
}

/// How much stands behind [`Verdict::Exact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Both sides are the same text (a generated kernel), and it has values.
    Construction,
    /// Every draw agreed in the field with casts kept: equal as algebra over the drawn shapes,
    /// whatever the uninterpreted functions are. Floats agreed as well.
    Field,
    /// The field cannot see the equality (it needs order, saturation or special values); this
    /// many float elements agreed bit for bit.
    Sampled(u64),
}

/// An input on which the sides differ.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What differs, in one line.
    pub difference: String,
    /// Whether the sides are equal in real arithmetic, so that only rounding differs; `None` when
    /// that could not be evaluated.
    pub equal_in_reals: Option<bool>,
    /// The left side with its inputs, as a `.fuse` test, values in comments.
    pub graph: String,
    /// Number of elements of all input tensors.
    pub size: usize,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Exact(Proof::Construction) => f.write_str("exact by construction"),
            Verdict::Exact(Proof::Field) => f.write_str("exact"),
            Verdict::Exact(Proof::Sampled(n)) => write!(f, "exact on {n} sampled elements"),
            Verdict::Approx { max_ulp, share, samples, nan } => {
                let percent = share * 100.0;
                write!(f, "approx: at most {max_ulp} ulp, {percent:.2} % of {samples} elements")?;
                match nan {
                    0 => Ok(()),
                    n => write!(f, "; NaN against a number in {n} of the hostile ones"),
                }
            }
            Verdict::Wrong(c) => write!(f, "WRONG: {c}"),
            Verdict::Unproven(why) => write!(f, "unproven: {why}"),
        }
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let real = match self.equal_in_reals {
            Some(true) => " (equal as real numbers: rounding or special values differ)",
            Some(false) => " (not equal as real numbers either)",
            None => "",
        };
        write!(f, "{}{real}\n{}", self.difference, self.graph)
    }
}

/// Draws when both sides are the same text, and how many of them need a value.
const TRIVIAL_DRAWS: usize = 120;
const TRIVIAL_ENOUGH: usize = 6;
/// Draws when the field proves the rule.
const PROVED_DRAWS: usize = 48;
/// Draws otherwise: floats have to carry it alone.
const SAMPLED_DRAWS: usize = 240;

/// Checks a rewrite: both sides, and both ways where it says so.
pub fn verify_rewrite(lib: &Library, rule: &Rewrite, seed: u64) -> Verdict {
    match Claim::of_rewrite(lib, rule) {
        Ok(claim) => verify(lib, &claim, seed),
        Err(why) => Verdict::Unproven(why),
    }
}

/// Checks a fusion: its body against what the external op says it means. A fusion whose kernel is
/// generated from the body is exact if the body has a value at all.
pub fn verify_fusion(lib: &Library, fusion: &Fusion, seed: u64) -> Verdict {
    let means = match &fusion.kernel {
        Kernel::Extern { means, .. } => means.as_ref(),
        _ => None,
    };
    match Claim::of_fusion(lib, fusion, means) {
        Ok(claim) => verify(lib, &claim, seed),
        Err(why) => Verdict::Unproven(why),
    }
}

/// What the draws so far add up to.
#[derive(Default)]
struct Tally {
    evaluated: usize,
    field_disagrees: bool,
    reals_disagree: bool,
    max_ulp: u64,
    differing: u64,
    ordinary: u64,
    nan: u64,
    compared: u64,
    skipped: Option<String>,
    other_type: Option<String>,
}

impl Tally {
    fn add(&mut self, d: &Difference, ordinary: bool) {
        self.evaluated += 1;
        self.compared += d.elements;
        if ordinary {
            self.max_ulp = self.max_ulp.max(d.max_ulp);
            self.differing += d.differing;
            self.ordinary += d.elements;
        } else {
            self.nan += d.nan;
        }
    }

    fn field(&mut self, agreement: Option<Agreement>) {
        let agreement = agreement.unwrap_or_default();
        self.field_disagrees |= !agreement.kept;
        self.reals_disagree |= !agreement.dropped;
    }
}

fn verify(lib: &Library, claim: &Claim<'_>, seed: u64) -> Verdict {
    let mut tally = Tally::default();
    let mut drawer = Drawer::new(lib, claim, seed);
    let mut n = 0;
    while n < draws(claim, &tally, drawer.assignments()) {
        let Some(draw) = drawer.next(n) else { break };
        n += 1;
        if let Err(found) = one_draw(lib, claim, &draw, &mut tally) {
            return wrong(lib, claim, *found, &tally);
        }
    }
    conclude(claim, &tally, &drawer)
}

fn draws(claim: &Claim<'_>, tally: &Tally, assignments: usize) -> usize {
    let sampled = tally.field_disagrees || claim.exactness != Exactness::Exact;
    match (claim.trivial, sampled) {
        (true, _) if tally.evaluated >= TRIVIAL_ENOUGH => 0,
        (true, _) => TRIVIAL_DRAWS,
        (false, true) => SAMPLED_DRAWS.max(8 * assignments),
        (false, false) => PROVED_DRAWS.max(4 * assignments),
    }
}

/// Floats, then the field; the failing side and draw if they differ by more than is allowed.
fn one_draw<'a>(
    lib: &Library,
    claim: &'a Claim<'_>,
    draw: &Draw,
    tally: &mut Tally,
) -> Result<(), Box<(Side<'a>, Draw)>> {
    for side in claim.sides() {
        match check::in_floats(lib, &side, draw) {
            Outcome::Skip(why) => tally.skipped = Some(why),
            Outcome::OtherType(why) => tally.other_type = Some(why),
            Outcome::Broken(_) => return Err(Box::new((side, draw.clone()))),
            Outcome::Compared(d) => {
                tally.add(&d, draw.is_ordinary());
                tally.field(check::in_field(lib, &side, draw).ok());
                if d.exceeds(claim.exactness, draw.is_ordinary()) {
                    return Err(Box::new((side, draw.clone())));
                }
            }
        }
    }
    Ok(())
}

fn wrong(lib: &Library, claim: &Claim<'_>, found: (Side<'_>, Draw), tally: &Tally) -> Verdict {
    let (side, draw) = found;
    let equal_in_reals = equal_in_reals(lib, &side, &draw).map(|e| e && !tally.reals_disagree);
    let smallest = shrink::shrink(lib, claim, &side, draw);
    Verdict::Wrong(Box::new(Counterexample {
        difference: check::in_floats(lib, &side, &smallest).describe(),
        equal_in_reals,
        graph: print::graph(lib, claim, &side, &smallest),
        size: smallest.elements(),
    }))
}

/// Under several interpretations: a single small input may agree by chance.
fn equal_in_reals(lib: &Library, side: &Side<'_>, draw: &Draw) -> Option<bool> {
    let mut draw = draw.clone();
    let agree = (0..12).map(|_| {
        draw.seed = draw.seed.wrapping_add(1);
        check::in_field(lib, side, &draw).ok().map(|a| a.dropped)
    });
    agree.collect::<Option<Vec<bool>>>().map(|all| all.into_iter().all(|a| a))
}

fn conclude(claim: &Claim<'_>, tally: &Tally, drawer: &Drawer<'_>) -> Verdict {
    if let (0, Some(difference)) = (tally.evaluated, &tally.other_type) {
        let difference = difference.clone();
        let (graph, size) = (String::new(), 0);
        let c = Counterexample { difference, equal_in_reals: None, graph, size };
        return Verdict::Wrong(Box::new(c));
    }
    if tally.evaluated == 0 {
        let why = tally.skipped.clone().or_else(|| drawer.refused());
        let why = why.unwrap_or_else(|| "no shape could be drawn".into());
        return Verdict::Unproven(format!("no drawn input has a value: {why}"));
    }
    match claim.exactness {
        _ if claim.trivial => Verdict::Exact(Proof::Construction),
        Exactness::Exact if tally.field_disagrees => Verdict::Exact(Proof::Sampled(tally.compared)),
        Exactness::Exact => Verdict::Exact(Proof::Field),
        Exactness::Ulp(_) => Verdict::Approx {
            max_ulp: tally.max_ulp,
            share: tally.differing as f64 / tally.ordinary.max(1) as f64,
            samples: tally.ordinary,
            nan: tally.nan,
        },
    }
}
