//! Signatures: dtype variables, parameters, results. Families become the parameters of a member.

use super::scope::{Scope, World};
use crate::ast::{self, Name, TyKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::dtype::{Dtype, DtypeSet};
use crate::library::{Attr, DtypeExpr, Generic, Param, Scalar, TensorExpr, TypeExpr};
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

pub(super) struct Signer<'a, 'e> {
    pub scope: Scope<'a>,
    pub errors: &'e mut Vec<Diagnostic>,
    /// Something was wrong that is already reported elsewhere.
    pub silent: bool,
    /// Variables whose class is wrong: uses of them are no news.
    pub failed: BTreeSet<String>,
}

impl<'a> Signer<'a, '_> {
    pub fn world(&self) -> &'a World<'a> {
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

    pub fn taken(&self, name: &str) -> bool {
        self.scope.param(name).is_some() || self.scope.families.contains_key(name)
    }

    /// Reports a second parameter of one name.
    pub fn is_new(&mut self, p: &ast::Param) -> bool {
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

    pub fn ty(&mut self, ty: &ast::Ty, declare: bool) -> Option<TypeExpr> {
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
}
