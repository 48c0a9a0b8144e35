//! Sizes as unknowns that keep what the guards say: with `d % 16 == 0`, `d` is `16 * (d/16)`.
//!
//! Divisions by what a guard names are then exact in the normal form, with no prover.

use crate::dim::Dim;
use crate::library::{Attr, BinOp, GuardExpr, Signature};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What each size of a signature is replaced by.
#[derive(Clone, Debug, Default)]
pub(super) struct Rigid {
    multiples: BTreeMap<Arc<str>, Multiple>,
}

#[derive(Clone, Debug)]
struct Multiple {
    modulus: Dim,
    quotient: Arc<str>,
}

impl Rigid {
    /// Reads the guards of a signature.
    pub fn new(sig: &Signature) -> Rigid {
        let mut moduli: BTreeMap<Arc<str>, Vec<Dim>> = BTreeMap::new();
        for g in &sig.guards {
            collect(&g.expr, &mut moduli);
        }
        let mut multiples = BTreeMap::new();
        for (name, list) in &moduli {
            let modulus = common(list);
            let quotient = format!("({name}/{modulus})").into();
            multiples.insert(name.clone(), Multiple { modulus, quotient });
        }
        Rigid { multiples }
    }

    /// A size with every name replaced.
    pub fn apply(&self, d: &Dim) -> Dim {
        d.subst(&|s| {
            let m = self.multiples.get(s)?;
            Some(m.modulus.mul(&Dim::sym(&m.quotient)))
        })
    }

    /// A size in the signature's own names again.
    pub fn back(&self, d: &Dim) -> Dim {
        let mut out = d.clone();
        for (name, m) in &self.multiples {
            let whole = out.linear_in(&m.quotient).and_then(|(slope, rest)| {
                Some(slope.exact_div(&m.modulus)?.mul(&Dim::sym(name)).add(&rest))
            });
            out = whole.unwrap_or_else(|| {
                let quotient = Dim::sym(name).floor_div(&m.modulus);
                out.subst(&|s| (s == &*m.quotient).then(|| quotient.clone()))
            });
        }
        out
    }
}

/// `name % modulus == 0` in a conjunction.
fn collect(e: &GuardExpr, out: &mut BTreeMap<Arc<str>, Vec<Dim>>) {
    match e {
        GuardExpr::Bin(BinOp::And, a, b) => {
            collect(a, out);
            collect(b, out);
        }
        GuardExpr::Bin(BinOp::Eq, a, b) => {
            let GuardExpr::Const(Attr::Int(zero)) = &**b else { return };
            let GuardExpr::Bin(BinOp::Mod, of, by) = &**a else { return };
            let GuardExpr::Dim(of) = &**of else { return };
            let by = match &**by {
                GuardExpr::Dim(by) | GuardExpr::Const(Attr::Int(by)) => by,
                _ => return,
            };
            let named = of.as_sym().filter(|_| zero.as_int() == Some(0));
            let positive = by.as_int().is_none_or(|v| v > 0) && by.size() == 1;
            if let Some(name) =
                named.filter(|n| positive && by.symbols().iter().all(|s| &**s != *n))
            {
                out.entry(name.into()).or_default().push(by.clone());
            }
        }
        _ => {}
    }
}

/// A multiple of all: the least common one of constants, times each different symbolic one.
fn common(moduli: &[Dim]) -> Dim {
    let mut constant: i64 = 1;
    let mut symbolic: Vec<&Dim> = Vec::new();
    for m in moduli {
        match m.as_int() {
            Some(v) => constant = (constant / gcd(constant, v)).checked_mul(v).unwrap_or(constant),
            None if !symbolic.contains(&m) => symbolic.push(m),
            None => {}
        }
    }
    symbolic.into_iter().fold(Dim::int(constant), |p, m| p.mul(m))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
