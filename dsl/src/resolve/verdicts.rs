//! Guards that no value, or every value, satisfies.

use super::rigid::Rigid;
use super::scope::Scope;
use super::typing::{self, Bounds, Case};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Interval;
use crate::guard::{self, Truth};
use crate::library::{Attr, BinOp, Guard, GuardExpr, Scalar, TypeExpr};
use crate::types::Type;
use std::collections::BTreeMap;

/// What is known of one guard without a graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Never(String),
    Always,
    Open,
}

/// A verdict on each guard of an item.
pub(super) fn of(scope: &Scope<'_>) -> Vec<Verdict> {
    let mut open = scope.clone();
    let guards = std::mem::take(&mut open.names.sig.guards);
    if guards.is_empty() {
        return Vec::new();
    }
    let rigid = Rigid::default();
    let unknown = |case: &Case| {
        let each = scope.sig.params.iter().zip(&case.params);
        each.map(|(p, t)| match &p.ty {
            TypeExpr::Scalar(Scalar::Int | Scalar::Bool | Scalar::Group) => t.clone(),
            TypeExpr::Scalar(_) => Type::Unknown,
            _ => t.clone(),
        })
        .collect::<Vec<Type>>()
    };
    let free = Bounds { least_leading: 1, ranges: BTreeMap::new() };
    let one = |i: usize| {
        let others = bounds(&guards, i);
        let all = |facts: &Bounds, holds: &dyn Fn(&Truth) -> bool| -> Option<Truth> {
            let mut first = None;
            for c in typing::cases(&open, &rigid) {
                let truth = guard::eval(&guards[i], &c.bindings, &unknown(&c), facts);
                if !holds(&truth) {
                    return None;
                }
                first.get_or_insert(truth);
            }
            first
        };
        match all(&others, &|t| matches!(t, Truth::False(_))) {
            Some(Truth::False(why)) => Verdict::Never(why),
            _ => match all(&free, &|t| *t == Truth::True) {
                Some(_) => Verdict::Always,
                None => Verdict::Open,
            },
        }
    };
    (0..guards.len()).map(one).collect()
}

/// Bounds on sizes from every guard but one: `d > 8`, `n <= 4096`.
fn bounds(guards: &[Guard], but: usize) -> Bounds {
    let mut ranges: BTreeMap<String, Interval> = BTreeMap::new();
    for (i, g) in guards.iter().enumerate() {
        let GuardExpr::Bin(op, a, b) = &g.expr else { continue };
        let (op, name, value) = match (&**a, &**b) {
            (GuardExpr::Dim(d), GuardExpr::Const(Attr::Int(v))) => (*op, d.as_sym(), v.as_int()),
            (GuardExpr::Const(Attr::Int(v)), GuardExpr::Dim(d)) => {
                (mirrored(*op), d.as_sym(), v.as_int())
            }
            _ => continue,
        };
        let (Some(name), Some(v)) = (name.filter(|_| i != but), value) else { continue };
        let range = ranges.entry(name.into()).or_insert(Interval { lo: Some(1), hi: None });
        let (lo, hi) = match op {
            BinOp::Eq => (Some(v), Some(v)),
            BinOp::Lt => (None, v.checked_sub(1)),
            BinOp::Le => (None, Some(v)),
            BinOp::Gt => (v.checked_add(1), None),
            BinOp::Ge => (Some(v), None),
            _ => continue,
        };
        range.lo = range.lo.max(lo);
        range.hi = match (range.hi, hi) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    Bounds { least_leading: 1, ranges }
}

fn mirrored(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        other => other,
    }
}

/// Reports a guard on which all instances of an item agree.
pub(super) fn report(instances: &[Vec<Verdict>], guards: &[Guard], errors: &mut Vec<Diagnostic>) {
    for (i, g) in guards.iter().enumerate().filter(|(_, g)| g.from.is_none()) {
        let mut all = instances.iter().filter_map(|v| v.get(i));
        let Some(first) = all.next() else { continue };
        match first {
            Verdict::Never(why) if all.all(|v| matches!(v, Verdict::Never(_))) => {
                let d = Diagnostic::new(Code::GuardNeverHolds, g.span, "this guard never holds")
                    .help("no value satisfies it and the others: change it, or remove the item");
                // The guard's own text says nothing new; values in it do.
                errors.push(if why.contains(": ") { d.note(why.clone()) } else { d });
                return;
            }
            Verdict::Always if all.all(|v| *v == Verdict::Always) => errors.push(
                Diagnostic::new(Code::GuardAlwaysHolds, g.span, "this guard always holds")
                    .help("remove it"),
            ),
            _ => {}
        }
    }
}
