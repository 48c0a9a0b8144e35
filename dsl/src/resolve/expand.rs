//! Families: one instance of an item for every combination of members.

use super::body::Member;
use super::scope::Scope;
use super::signature::Names;
use crate::ast::{self, ResultDecl as AstResult, TyKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Param, ResultDecl, Signature};
use std::collections::{BTreeMap, BTreeSet};

/// One instance of a signature.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Parameters, results and guards, family parameters replaced by the members' own.
    pub sig: Signature,
    /// Names in scope of the body.
    pub names: Names,
    /// Family parameters by name.
    pub members: BTreeMap<String, Member>,
    /// Names of the members of plain families, in order.
    pub plain: Vec<String>,
    /// Names of the members of variant families, in order.
    pub variants: Vec<String>,
    /// How each declared result is found in the body.
    pub wanted: Vec<super::body::Wanted>,
}

type Choice<'a> = BTreeMap<&'a str, (&'a ast::Family, &'a ast::Member)>;

/// Every instance of a signature.
pub fn instances<'a>(scope: &mut Scope<'a>, sig: &'a ast::Signature) -> Vec<Instance> {
    let mut choices: Vec<Choice<'a>> = vec![BTreeMap::new()];
    for g in &sig.generics {
        let [bound] = g.class.as_slice() else { continue };
        let Some(family) = scope.families.get(bound.as_str()).copied() else { continue };
        let mut next = Vec::new();
        for choice in &choices {
            for member in &family.members {
                let mut with = choice.clone();
                with.insert(g.name.as_str(), (family, member));
                next.push(with);
            }
        }
        choices = next;
    }
    choices.into_iter().filter_map(|choice| instance(scope, sig, &choice)).collect()
}

fn instance<'a>(
    scope: &mut Scope<'a>,
    sig: &'a ast::Signature,
    choice: &Choice<'a>,
) -> Option<Instance> {
    let generics = scope.generics(&sig.generics);
    let generic_names: BTreeSet<String> = generics.iter().map(|g| g.name.clone()).collect();
    let mut out = Signature { generics, ..Signature::default() };
    let mut members = BTreeMap::new();
    let own: BTreeSet<&str> = sig.params.iter().map(|p| p.name.as_str()).collect();
    for p in &sig.params {
        let var = match &p.ty.kind {
            TyKind::Word(w) => choice.get(w.as_str()),
            _ => None,
        };
        match var {
            Some((_, member)) => {
                let m = extra_params(scope, p, member, &own, &mut out.params)?;
                members.insert(p.name.text.clone(), m);
            }
            None => out.params.push(scope.param(p, &generic_names)?),
        }
    }
    let names = Names::of(&out);
    out.guards = scope.guards(&sig.guards, &names, &members)?;
    let wanted = results(scope, sig, choice, &members, &generic_names, &mut out)?;
    let of_kind = |variant: bool| {
        let named = sig.generics.iter().filter_map(|g| choice.get(g.name.as_str()));
        named
            .filter(|(f, _)| f.variant == variant)
            .map(|(_, m)| m.name.text.clone())
            .collect::<Vec<_>>()
    };
    let (plain, variants) = (of_kind(false), of_kind(true));
    Some(Instance { sig: out, names, members, plain, variants, wanted })
}

/// The member's own parameters, in place of the family parameter.
fn extra_params(
    scope: &mut Scope<'_>,
    family_param: &ast::Param,
    member: &ast::Member,
    own: &BTreeSet<&str>,
    params: &mut Vec<Param>,
) -> Option<Member> {
    let op = scope.op_or_report(member.name.as_str(), member.name.span)?;
    let declared = scope.library.op(op).sig.clone();
    let mut extra = Vec::new();
    for p in &member.params {
        if !declared.params.iter().any(|q| q.name == p.name.text) {
            let message = format!("`{}` has no parameter `{}`", member.name.text, p.name.text);
            scope.report(Diagnostic::new(Code::WrongArguments, p.name.span, message));
            return None;
        }
        let mut resolved = scope.param(p, &BTreeSet::new())?;
        let taken =
            |n: &str, params: &[Param]| own.contains(n) || params.iter().any(|q| q.name == n);
        if taken(&resolved.name, params) {
            resolved.name = format!("{}_{}", family_param.name.text, resolved.name);
        }
        extra.push((p.name.text.clone(), params.len()));
        params.push(resolved);
    }
    let fields = member.fields.iter().map(|f| (f.name.text.clone(), f.value.clone())).collect();
    Some(Member { op, extra, fields })
}

fn results(
    scope: &mut Scope<'_>,
    sig: &ast::Signature,
    choice: &Choice<'_>,
    members: &BTreeMap<String, Member>,
    generics: &BTreeSet<String>,
    out: &mut Signature,
) -> Option<Vec<super::body::Wanted>> {
    use super::body::Wanted;
    let mut wanted = Vec::new();
    for r in &sig.results {
        let AstResult::Family { var, span } = r else {
            let resolved = scope.results(std::slice::from_ref(r), generics)?;
            for r in &resolved {
                wanted.push(match r.name.is_empty() {
                    true => Wanted::Last,
                    false => Wanted::Named(r.name.clone()),
                });
            }
            out.results.extend(resolved);
            continue;
        };
        // `Q.results`: of the parameter of that family type.
        let param = sig.params.iter().find(|p| match &p.ty.kind {
            TyKind::Word(w) => w == var.as_str() && choice.contains_key(w.as_str()),
            _ => false,
        });
        let Some(member) = param.and_then(|p| members.get(p.name.as_str())) else {
            let message = format!("`{}` is not a family of this item", var.text);
            scope.report(Diagnostic::new(Code::UnknownName, *span, message));
            return None;
        };
        let declared = &scope.library.op(member.op).sig.results;
        wanted.push(Wanted::Parts(declared.len()));
        let lone = param.map(|p| p.name.text.clone()).unwrap_or_default();
        let name = |r: &ResultDecl| if r.name.is_empty() { lone.clone() } else { r.name.clone() };
        out.results.extend(declared.iter().map(|r| ResultDecl { name: name(r), ty: None }));
    }
    if sig.results.is_empty() {
        wanted.push(Wanted::Last);
        out.results.push(ResultDecl { name: String::new(), ty: None });
    }
    Some(wanted)
}
