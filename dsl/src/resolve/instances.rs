//! A rule with families becomes one instance a combination of members.

use super::guards;
use super::has_errors;
use super::scope::{Scope, World};
use super::sig::{self, Pick};
use super::verdicts::{self, Verdict};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::library::Guard;
use std::collections::BTreeSet;

/// Every combination of members, in order.
fn picks(vars: &[(&str, &str, usize)]) -> Vec<Pick> {
    let mut out = vec![Pick::new()];
    for (var, _, n) in vars {
        let longer = |p: &Pick| {
            (0..*n)
                .map(|i| {
                    let mut p = p.clone();
                    p.insert((*var).to_string(), i);
                    p
                })
                .collect::<Vec<_>>()
        };
        out = out.iter().flat_map(longer).collect();
    }
    out
}

/// Builds every instance of a rule. What is wrong with several is said once.
pub(super) fn instances<'w, T>(
    world: &'w World<'_>,
    sig: &ast::Signature,
    errors: &mut Vec<Diagnostic>,
    build: &dyn Fn(Scope<'w>, &mut Vec<Diagnostic>) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut out = Vec::new();
    let mut seen: Vec<Vec<Verdict>> = Vec::new();
    let mut own: Vec<Guard> = Vec::new();
    for pick in picks(&sig::family_vars(world, sig)) {
        let Some(mut scope) = sig::resolve(world, sig, &pick, &mut found) else { continue };
        let Some(list) = guards::guards(&mut scope, &sig.guards, &mut found) else { continue };
        scope.names.sig.guards = list;
        seen.push(verdicts::of(&scope));
        own.clone_from(&scope.sig.guards);
        out.extend(build(scope, &mut found));
    }
    verdicts::report(&seen, &own, &mut found);
    let broken = has_errors(&found);
    let mut places = BTreeSet::new();
    found.retain(|d| places.insert((d.code, d.span())));
    errors.append(&mut found);
    if broken { Vec::new() } else { out }
}

/// `[rms_norm, quant_nvfp4]`: members of variant families, then of plain ones.
pub(super) fn members(scope: &Scope<'_>, sig: &ast::Signature) -> (Vec<String>, Vec<String>) {
    let (mut variants, mut members) = (Vec::new(), Vec::new());
    for p in &sig.params {
        let Some(used) = scope.families.get(p.name.as_str()) else { continue };
        let variant = scope.world.families.get(used.family.as_str()).is_some_and(|f| f.ast.variant);
        match variant {
            true => variants.push(used.member.clone()),
            false => members.push(used.member.clone()),
        }
    }
    (variants, members)
}
