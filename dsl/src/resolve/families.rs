//! Families: their own signatures, and a member's parameters in place of a family parameter.

use super::index::duplicate;
use super::scope::{FamilyInfo, FamilyUse, MemberInfo, World};
use super::sig::{Pick, Signer, resolve};
use crate::ast::{self, Name};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::library::{DtypeExpr, Param, Scalar, TypeExpr};
use std::collections::{BTreeMap, BTreeSet};

/// Resolves the outside of a family: its own parameters and each member's.
pub(super) fn family<'a>(
    world: &World<'_>,
    f: &'a ast::Family,
    errors: &mut Vec<Diagnostic>,
) -> Option<FamilyInfo<'a>> {
    let own = resolve(world, &f.sig, &Pick::new(), errors)?;
    let before = errors.len();
    let (mut members, mut silent) = (Vec::new(), false);
    let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
    for m in &f.members {
        if let Some(first) = seen.insert(m.name.as_str(), &m.name) {
            errors.push(duplicate("member", &m.name, first));
        }
        let Some(op) = world.op(&m.name, errors) else {
            silent = true;
            continue;
        };
        let failed = BTreeSet::new();
        let mut s = Signer { scope: own.clone(), errors, silent: false, failed };
        for p in &m.params {
            s.param(p);
        }
        silent |= s.silent;
        let extras = s.scope.sig.params.split_off(own.sig.params.len());
        let decl = world.lib.op(op);
        let given = own.sig.params.len() + extras.len();
        if given > decl.sig.params.len() {
            let n = decl.sig.params.len();
            errors.push(
                Diagnostic::new(
                    Code::WrongArguments,
                    m.span,
                    format!("`{}` takes {n} parameters, the family gives {given}", m.name.text),
                )
                .because(decl.span, "the op")
                .because(f.sig.params_span, "every member takes these first"),
            );
        }
        members.push(MemberInfo { ast: m, op, extras });
    }
    let good = errors.len() == before && !silent;
    good.then_some(FamilyInfo { ast: f, sig: own.names.sig, members })
}

impl Signer<'_, '_> {
    /// Puts the extra parameters of a member where the family parameter stands.
    pub fn family_param(
        &mut self,
        p: &ast::Param,
        var: &str,
        family: &str,
        member: usize,
        sig: &ast::Signature,
    ) {
        if !self.is_new(p) {
            return;
        }
        let Some(info) = self.world().families.get(family) else { return };
        let Some(m) = info.members.get(member) else { return };
        if let Some(first) = self.scope.family_vars.get(var).filter(|f| !f.is_empty()) {
            let message =
                format!("`{first}` and `{}` share the family variable `{var}`", p.name.text);
            self.errors.push(
                Diagnostic::new(Code::Duplicate, p.span, message)
                    .help("give each family parameter its own variable"),
            );
            return;
        }
        let mut used = FamilyUse {
            family: family.to_string(),
            member: m.ast.name.text.clone(),
            op: m.op,
            own: info.sig.params.len(),
            extras: Vec::new(),
            names: BTreeMap::new(),
        };
        let later: Vec<&str> = sig.params.iter().map(|p| p.name.as_str()).collect();
        for extra in &m.extras {
            let clash = self.taken(&extra.name) || later.contains(&extra.name.as_str());
            let name = match clash {
                true => format!("{}_{}", p.name.text, extra.name),
                false => extra.name.clone(),
            };
            used.names.insert(extra.name.clone(), name);
        }
        for extra in &m.extras {
            used.extras.push(self.scope.sig.params.len());
            let ty = self.renamed(&extra.ty, &p.name.text, &used.names, info);
            if matches!(ty, TypeExpr::Scalar(Scalar::Int)) {
                self.scope.dims.insert(used.names[&extra.name].clone());
            }
            let name = used.names[&extra.name].clone();
            self.scope.sig.params.push(Param { name, ty, ..extra.clone() });
        }
        self.scope.family_vars.insert(var.to_string(), p.name.text.clone());
        self.scope.families.insert(p.name.text.clone(), used);
    }

    /// A member's parameter type in the names of the item: names of the family's own parameters
    /// stay, others get a name that is free.
    fn renamed(
        &mut self,
        ty: &TypeExpr,
        param: &str,
        names: &BTreeMap<String, String>,
        info: &FamilyInfo<'_>,
    ) -> TypeExpr {
        let (TypeExpr::Tensor(t) | TypeExpr::State(t)) = ty else { return ty.clone() };
        let mut own_dims: Vec<String> = Vec::new();
        let mut own_leading: Vec<String> = Vec::new();
        for p in &info.sig.params {
            if let TypeExpr::Tensor(t) | TypeExpr::State(t) = &p.ty {
                own_leading.extend(t.leading.clone());
                own_dims.extend(t.dims.iter().flat_map(Dim::symbols).map(|s| s.to_string()));
            }
        }
        let mut out = t.clone();
        if let Some(l) = out.leading.as_mut().filter(|l| !l.is_empty()) {
            if !own_leading.contains(l) && self.scope.leading.contains(l) {
                *l = format!("{param}_{l}");
            }
            self.scope.leading.insert(l.clone());
        }
        let dims = &self.scope.dims;
        let rename = |s: &str| match names.get(s) {
            Some(n) => Some(Dim::sym(n)),
            None if !own_dims.iter().any(|o| o == s) && dims.contains(s) => {
                Some(Dim::sym(&format!("{param}_{s}")))
            }
            None => None,
        };
        out.dims = t.dims.iter().map(|d| d.subst(&rename)).collect();
        let new: Vec<_> = out.dims.iter().flat_map(Dim::symbols).collect();
        self.scope.dims.extend(new.iter().map(|s| s.to_string()));
        if let DtypeExpr::Generic(g) = &out.dtype
            && !self.scope.is_generic(g)
            && let Some(generic) = info.sig.generics.iter().find(|x| x.name == *g)
        {
            self.scope.sig.generics.push(generic.clone());
        }
        match ty {
            TypeExpr::State(_) => TypeExpr::State(out),
            _ => TypeExpr::Tensor(out),
        }
    }
}
