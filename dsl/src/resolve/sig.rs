//! Signatures: dtype variables, parameters, results. Families become the parameters of a member.

use super::scope::{FamilyInfo, FamilyUse, MemberInfo, ResultFrom, Scope, World};
use crate::ast::{self, Name, TyKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::dtype::{Dtype, DtypeSet};
use crate::library::{Attr, DtypeExpr, Generic, Param, ResultDecl, Scalar, TensorExpr, TypeExpr};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Which member each family variable of an item stands for.
pub(super) type Pick = BTreeMap<String, usize>;

const SCALARS: &[(&str, Scalar)] = &[
    ("int", Scalar::Int),
    ("f64", Scalar::Float),
    ("bool", Scalar::Bool),
    ("dtype", Scalar::Dtype),
    ("ints", Scalar::Ints),
    ("group", Scalar::Group),
    ("opaque", Scalar::Opaque),
];

const CLASSES: &[&str] = &["any", "float", "fp8", "half", "int"];

/// The family variables of a signature, with the number of members each.
pub(super) fn family_vars<'a>(
    world: &World<'_>,
    sig: &'a ast::Signature,
) -> Vec<(&'a str, &'a str, usize)> {
    let mut out = Vec::new();
    for g in &sig.generics {
        if let [class] = g.class.as_slice()
            && let Some(f) = world.families.get(class.as_str())
        {
            out.push((g.name.as_str(), class.as_str(), f.members.len()));
        }
    }
    out
}

/// Resolves a signature, guards excepted.
pub(super) fn resolve<'a>(
    world: &'a World<'a>,
    sig: &ast::Signature,
    pick: &Pick,
    errors: &mut Vec<Diagnostic>,
) -> Option<Scope<'a>> {
    let before = errors.len();
    let scope = Scope::empty(world);
    let mut s = Signer { scope, errors, silent: false, failed: BTreeSet::new() };
    if let Some(at) = sig.rest {
        s.unsupported(at, "`..` after the last parameter", "name every parameter");
    }
    s.generics(sig, pick);
    s.params(sig, pick);
    s.results(sig);
    let (scope, silent) = (s.scope, s.silent);
    (errors.len() == before && !silent).then_some(scope)
}

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
            errors.push(super::index::duplicate("member", &m.name, first));
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

pub(super) struct Signer<'a, 'e> {
    pub scope: Scope<'a>,
    pub errors: &'e mut Vec<Diagnostic>,
    /// Something was wrong that is already reported elsewhere.
    pub silent: bool,
    /// Variables whose class is wrong: uses of them are no news.
    pub failed: BTreeSet<String>,
}

impl<'a> Signer<'a, '_> {
    fn world(&self) -> &'a World<'a> {
        self.scope.world
    }

    fn unsupported(&mut self, span: Span, what: &str, help: &str) {
        let message = format!("{what} is not carried out by this version");
        self.errors.push(Diagnostic::new(Code::Unsupported, span, message).help(help));
    }

    fn generics(&mut self, sig: &ast::Signature, pick: &Pick) {
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for g in &sig.generics {
            if let Some(first) = seen.insert(g.name.as_str(), &g.name) {
                self.errors.push(super::index::duplicate("variable", &g.name, first));
                continue;
            }
            if pick.contains_key(&g.name.text) {
                self.scope.family_vars.insert(g.name.text.clone(), String::new());
                continue;
            }
            match self.class(&g.class) {
                Some(class) => {
                    self.scope.sig.generics.push(Generic { name: g.name.text.clone(), class });
                }
                None => drop(self.failed.insert(g.name.text.clone())),
            }
        }
    }

    /// The union of classes and dtypes.
    fn class(&mut self, names: &[Name]) -> Option<DtypeSet> {
        let mut all = DtypeSet::NONE;
        for name in names {
            match DtypeSet::class(&name.text) {
                Some(set) => all = all.union(set),
                None if self.known_broken(name.as_str()) => {
                    self.silent = true;
                    return None;
                }
                None => {
                    let families = self.world().index.families.keys().copied();
                    let dtypes = Dtype::ALL.iter().map(|d| d.short());
                    let known = CLASSES.iter().copied().chain(families).chain(dtypes);
                    let message = format!("no dtype, class or family `{}`", name.text);
                    self.errors.push(
                        Diagnostic::new(Code::UnknownType, name.span, message)
                            .did_you_mean(&name.text, name.span, known)
                            .note("classes of dtypes: any, float, half, fp8, int"),
                    );
                    return None;
                }
            }
        }
        Some(if names.is_empty() { DtypeSet::ANY } else { all })
    }

    /// Declared, but it did not parse or resolve: reported there.
    fn known_broken(&self, name: &str) -> bool {
        let index = &self.world().index;
        let declared = index.broken.contains(name) || index.families.contains_key(name);
        declared || self.failed.contains(name)
    }

    fn params(&mut self, sig: &ast::Signature, pick: &Pick) {
        for p in &sig.params {
            let var = match &p.ty.kind {
                TyKind::Word(w) if pick.contains_key(w) => w.clone(),
                _ => {
                    self.param(p);
                    continue;
                }
            };
            let class = sig.generics.iter().find(|g| g.name.text == var).map(|g| &g.class);
            if let Some([family]) = class.map(Vec::as_slice) {
                self.family_param(p, &var, family.as_str(), pick[&var], sig);
            }
        }
    }

    fn taken(&self, name: &str) -> bool {
        self.scope.param(name).is_some() || self.scope.families.contains_key(name)
    }

    /// Reports a second parameter of one name.
    fn is_new(&mut self, p: &ast::Param) -> bool {
        let taken = self.taken(&p.name.text);
        if taken {
            let first = self.scope.param(&p.name.text).map(|i| self.scope.sig.params[i].span);
            let message = format!("parameter `{}` is declared twice", p.name.text);
            let error = Diagnostic::new(Code::Duplicate, p.name.span, message).help("rename one");
            self.errors.push(match first {
                Some(first) => error.because(first, "the first"),
                None => error,
            });
        }
        !taken
    }

    pub fn param(&mut self, p: &ast::Param) {
        if !self.is_new(p) {
            return;
        }
        let Some(ty) = self.ty(&p.ty, true) else { return };
        if matches!(ty, TypeExpr::Scalar(Scalar::Int)) {
            self.scope.dims.insert(p.name.text.clone());
        }
        let default = match &p.default {
            None => None,
            Some(e) => match self.constant(e, &ty, p) {
                Some(a) => Some(a),
                None => return,
            },
        };
        self.scope.sig.params.push(Param {
            name: p.name.text.clone(),
            ty,
            default,
            optional: p.optional,
            span: p.span,
        });
    }

    /// A default value.
    fn constant(&mut self, e: &ast::Expr, ty: &TypeExpr, p: &ast::Param) -> Option<Attr> {
        let value = super::consts::constant(self.world(), e, Some(ty), self.errors)?;
        let fits = match (ty, &value) {
            (_, Attr::None) => true,
            (TypeExpr::Scalar(s), v) => super::consts::fits(s, v),
            _ => false,
        };
        if !fits {
            let message = format!("`{}` is no value of `{}`", value, p.name.text);
            self.errors.push(
                Diagnostic::new(Code::TypeMismatch, e.span, message)
                    .because(p.ty.span, "the parameter's type"),
            );
        }
        fits.then_some(value)
    }

    /// Puts the extra parameters of a member where the family parameter stands.
    fn family_param(
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

    fn ty(&mut self, ty: &ast::Ty, declare: bool) -> Option<TypeExpr> {
        match &ty.kind {
            TyKind::Any => Some(TypeExpr::Any),
            TyKind::Word(w) => self.word(w, ty.span),
            TyKind::Tensor(t) => self.tensor(t, declare).map(TypeExpr::Tensor),
            TyKind::State(Some(t)) => self.tensor(t, declare).map(TypeExpr::State),
            TyKind::State(None) => Some(TypeExpr::State(TensorExpr {
                dtype: DtypeExpr::Any,
                leading: Some(String::new()),
                dims: Vec::new(),
            })),
        }
    }

    fn word(&mut self, w: &str, span: Span) -> Option<TypeExpr> {
        if w == "tensors" {
            return Some(TypeExpr::Tensors);
        }
        if let Some((_, s)) = SCALARS.iter().find(|(name, _)| *name == w) {
            return Some(TypeExpr::Scalar(s.clone()));
        }
        if self.world().index.enums.contains_key(w) {
            return Some(TypeExpr::Scalar(Scalar::Enum(w.to_string())));
        }
        if self.known_broken(w) {
            self.silent = true;
            return None;
        }
        let is_dtype = self.scope.is_generic(w) || Dtype::from_short(w).is_some();
        let enums = self.world().index.enums.keys().copied();
        let scalars = SCALARS.iter().map(|(n, _)| *n).chain(["tensors", "state"]);
        let error = Diagnostic::new(Code::UnknownType, span, format!("no type `{w}`"));
        self.errors.push(match is_dtype {
            true => error
                .label("a tensor needs a shape")
                .help_edit("any shape", span, format!("{w}[..]"))
                .help(format!("`{w}[]` is a tensor without axes")),
            false => error.did_you_mean(w, span, scalars.chain(enums)),
        });
        None
    }

    fn tensor(&mut self, t: &ast::TensorTy, declare: bool) -> Option<TensorExpr> {
        let dtype = self.dtype(&t.dtype);
        let leading = match &t.leading {
            None => Some(None),
            Some(l) => self.leading(l, declare).map(Some),
        };
        let mut dims = Vec::new();
        let mut whole = true;
        for d in &t.dims {
            match self.scope.dim(d, declare, self.errors) {
                Some(d) => dims.push(d),
                None => whole = false,
            }
        }
        if t.strided.is_some() {
            self.unsupported(t.span, "`strided(..)`", "ask in a guard: `stride(x, -2)`");
            return None;
        }
        let (dtype, leading) = (dtype?, leading?);
        whole.then_some(TensorExpr { dtype, leading, dims })
    }

    fn leading(&mut self, l: &ast::Leading, declare: bool) -> Option<String> {
        let Some(name) = &l.name else { return Some(String::new()) };
        if declare {
            self.scope.leading.insert(name.text.clone());
        } else if !self.scope.leading.contains(&name.text) {
            let known = self.scope.leading.iter().map(String::as_str);
            self.errors.push(
                Diagnostic::new(
                    Code::UnknownName,
                    name.span,
                    format!("no parameter has the leading sizes `{}..`", name.text),
                )
                .label("the sizes of a result come from the parameters")
                .did_you_mean(&name.text, name.span, known),
            );
            return None;
        }
        Some(name.text.clone())
    }

    fn dtype(&mut self, name: &Name) -> Option<DtypeExpr> {
        let w = name.as_str();
        if w == "_" {
            return Some(DtypeExpr::Any);
        }
        if self.scope.is_generic(w) {
            return Some(DtypeExpr::Generic(w.to_string()));
        }
        if let Some(d) = Dtype::from_short(w) {
            return Some(DtypeExpr::Is(d));
        }
        if self.known_broken(w) {
            self.silent = true;
            return None;
        }
        let generics = self.scope.sig.generics.iter().map(|g| g.name.as_str());
        let known = generics.chain(Dtype::ALL.iter().map(|d| d.short()));
        let message = format!("no dtype or dtype variable `{w}`");
        let error = Diagnostic::new(Code::UnknownType, name.span, message)
            .did_you_mean(w, name.span, known);
        let class = DtypeSet::class(w).is_some();
        self.errors.push(match (class, Dtype::from_torch(w)) {
            (true, _) => error.help(format!("`{w}` is a class: declare a variable, `<T: {w}>`")),
            (_, Some(d)) => error.help_edit("the short name", name.span, d.short()),
            _ => error,
        });
        None
    }

    fn results(&mut self, sig: &ast::Signature) {
        for r in &sig.results {
            match r {
                ast::ResultDecl::Type(ty) => {
                    let Some(t) = self.ty(ty, false) else { continue };
                    self.result(String::new(), Some(t), ResultFrom::Last, ty.span);
                }
                ast::ResultDecl::Named { name, ty } => {
                    let t = match ty {
                        None => None,
                        Some(ty) => match self.ty(ty, false) {
                            Some(t) => Some(t),
                            None => continue,
                        },
                    };
                    self.named_result(name, t);
                }
                ast::ResultDecl::Family { var, span } => self.family_results(var, *span),
            }
        }
    }

    fn named_result(&mut self, name: &Name, ty: Option<TypeExpr>) {
        let at = self.scope.sig.results.iter().position(|r| r.name == name.text);
        if let Some(at) = at {
            let (from, first) = self.scope.results[at];
            if from == ResultFrom::Name {
                let message = format!("result `{}` is declared twice", name.text);
                self.errors.push(
                    Diagnostic::new(Code::Duplicate, name.span, message)
                        .because(first, "the first"),
                );
                return;
            }
            // A member's result has the name by chance.
            let param = self.scope.families.keys().next().cloned().unwrap_or_default();
            self.scope.sig.results[at].name = format!("{param}_{}", name.text);
        }
        self.result(name.text.clone(), ty, ResultFrom::Name, name.span);
    }

    fn result(&mut self, name: String, ty: Option<TypeExpr>, from: ResultFrom, span: Span) {
        self.scope.sig.results.push(ResultDecl { name, ty });
        self.scope.results.push((from, span));
    }

    /// `Q.results`
    fn family_results(&mut self, var: &Name, span: Span) {
        let param = self.scope.family_vars.get(&var.text).cloned().unwrap_or_default();
        let Some(used) = self.scope.families.get(&param).cloned() else {
            if self.silent || self.failed.contains(&var.text) {
                self.silent = true;
                return;
            }
            let known = self.scope.family_vars.keys().map(String::as_str);
            let message = format!("no parameter has a family variable `{}`", var.text);
            let error = Diagnostic::new(Code::UnknownType, var.span, message).did_you_mean(
                &var.text,
                var.span,
                known.filter(|k| *k != var.text),
            );
            self.errors.push(error);
            return;
        };
        let results = &self.world().lib.op(used.op).sig.results;
        for r in results {
            let name = if r.name.is_empty() { param.clone() } else { r.name.clone() };
            let taken = self.scope.sig.results.iter().any(|r| r.name == name);
            let name = if taken { format!("{param}_{name}") } else { name };
            self.result(name, None, ResultFrom::Last, span);
        }
    }
}
