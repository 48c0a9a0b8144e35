//! Rules ready to run: a compiled pattern with its typed outside, and the verdict on each match.
//!
//! A verdict depends only on the types of what was bound, so it is computed once per combination
//! of types. The layers of a model share it.

use super::context::{Context, TypeId};
use super::matcher::Slots;
use super::pattern::{PatNode, Pattern, ValueExpr};
use fusec_dsl::guard::{self, Facts, Truth};
use fusec_dsl::infer::Bindings;
use fusec_dsl::library::{Attr, Body, Rewrite, Scalar, Signature, TypeExpr};
use fusec_dsl::types::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// What a rule does when it matches.
#[derive(Clone, Debug)]
pub enum Action {
    /// The left side equals this body.
    Rewrite(Rc<Body>),
    /// The left side can be computed by this fusion.
    Fusion(usize),
}

/// A rule ready to run.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique name: a rewrite's, or a fusion's instance name.
    pub name: String,
    /// The pass it belongs to.
    pub pass: Option<String>,
    /// Its parameters and guards.
    pub sig: Rc<Signature>,
    /// Left side.
    pub pattern: Rc<Pattern>,
    /// What follows.
    pub action: Action,
    /// Guards that were neither true nor false, with what they were asked about.
    pub undecided: Vec<Undecided>,
    verdicts: FxHashMap<Key, Verdict>,
}

/// A guard that was neither true nor false.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// Index into the signature's guards.
    pub guard: usize,
    /// What the names stand for.
    pub bindings: Rc<Bindings>,
    /// Types of the parameters.
    pub params: Vec<Type>,
}

type Key = SmallVec<[Option<TypeId>; 12]>;

/// Whether a structural match is a real one.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Types fit and guards hold.
    Fires(Rc<Bindings>),
    /// The operands' types are not the declared ones.
    Mismatch(String),
    /// This guard is false, or not known to be true; with the values it saw.
    Refused {
        /// Index into the signature's guards.
        guard: usize,
        /// What it saw.
        reason: String,
        /// It is false for some sizes only, or a value is not known.
        undecided: bool,
    },
}

impl Rule {
    /// Both directions of a rewrite, or one.
    ///
    /// # Errors
    /// A side that cannot serve as a pattern.
    pub fn rewrites(rewrite: &Rewrite, context: &mut Context) -> Result<Vec<Rule>, String> {
        let mut sides = vec![(&rewrite.lhs, &rewrite.rhs, rewrite.name.clone())];
        if rewrite.both_ways {
            sides.push((&rewrite.rhs, &rewrite.lhs, format!("{} (reversed)", rewrite.name)));
        }
        sides
            .into_iter()
            .map(|(from, to, name)| {
                let pattern = Pattern::compile(from, rewrite.sig.params.len(), context)?;
                Ok(Rule {
                    name,
                    pass: rewrite.pass.clone(),
                    sig: Rc::new(rewrite.sig.clone()),
                    pattern: Rc::new(pattern),
                    action: Action::Rewrite(Rc::new(to.clone())),
                    undecided: Vec::new(),
                    verdicts: FxHashMap::default(),
                })
            })
            .collect()
    }

    /// The fusion with this index in the library.
    ///
    /// # Errors
    /// Its body cannot serve as a pattern.
    pub fn fusion(index: usize, context: &mut Context) -> Result<Rule, String> {
        let lib = context.lib.clone();
        let fusion = &lib.fusions[index];
        let pattern = Pattern::compile(&fusion.body, fusion.sig.params.len(), context)?;
        if let Some(p) = pattern.params.iter().position(Option::is_none) {
            return Err(format!("parameter `{}` does not occur", fusion.sig.params[p].name));
        }
        Ok(Rule {
            name: fusion.instance(),
            pass: fusion.pass.clone(),
            sig: Rc::new(fusion.sig.clone()),
            pattern: Rc::new(pattern),
            action: Action::Fusion(index),
            undecided: Vec::new(),
            verdicts: FxHashMap::default(),
        })
    }

    /// Decides a structural match by the types of what it bound.
    pub fn verdict(
        &mut self,
        slots: &Slots,
        class_type: &dyn Fn(egg::Id) -> TypeId,
        context: &Context,
        facts: &dyn Facts,
    ) -> Verdict {
        let key: Key = self
            .pattern
            .nodes
            .iter()
            .zip(slots)
            .map(|(n, s)| match n {
                PatNode::Param(_) | PatNode::Value(_) => s.map(class_type),
                _ => None,
            })
            .collect();
        if let Some(known) = self.verdicts.get(&key) {
            return known.clone();
        }
        let verdict = self.decide(&key, context, facts);
        self.verdicts.insert(key, verdict.clone());
        verdict
    }

    /// Drops what was decided, because sizes have other bounds now.
    pub fn forget(&mut self) {
        self.verdicts.clear();
        self.undecided.clear();
    }

    fn decide(&mut self, key: &Key, context: &Context, facts: &dyn Facts) -> Verdict {
        let params: Vec<Type> = self
            .pattern
            .params
            .iter()
            .map(|p| p.and_then(|p| key[p]).map_or(Type::Unknown, |t| context.ty(t).clone()))
            .collect();
        let mut b = Bindings::default();
        if let Err(why) = self.bind(&mut b, &params, key, context) {
            return Verdict::Mismatch(why);
        }
        for (i, g) in self.sig.guards.iter().enumerate() {
            match guard::eval(g, &b, &params, facts) {
                Truth::True => {}
                Truth::False(reason) => {
                    return Verdict::Refused { guard: i, reason, undecided: false };
                }
                Truth::Depends(reason) => {
                    let bindings = Rc::new(b);
                    self.undecided.push(Undecided { guard: i, bindings, params });
                    return Verdict::Refused { guard: i, reason, undecided: true };
                }
            }
        }
        Verdict::Fires(Rc::new(b))
    }

    /// Unifies declared with actual types. A dimension may be determined by a later parameter or by
    /// an attribute in the pattern, so there are two rounds; the second must succeed.
    fn bind(
        &self,
        b: &mut Bindings,
        params: &[Type],
        key: &Key,
        context: &Context,
    ) -> Result<(), String> {
        for (decl, actual) in self.sig.params.iter().zip(params) {
            if let (TypeExpr::Scalar(Scalar::Int), Type::Attr(Attr::Int(d))) = (&decl.ty, actual) {
                b.dims.insert(decl.name.as_str().into(), d.clone());
            }
        }
        let mut failed = None;
        for _ in 0..2 {
            failed = None;
            for (decl, actual) in self.sig.params.iter().zip(params) {
                if *actual == Type::Unknown || (decl.optional && *actual == Type::Attr(Attr::None))
                {
                    continue;
                }
                if let Err(why) = b.unify(&decl.ty, actual) {
                    failed.get_or_insert(format!("`{}`: {why}", decl.name));
                }
            }
            for (node, ty) in self.pattern.nodes.iter().zip(key) {
                if let (PatNode::Value(expr), Some(ty)) = (node, ty)
                    && let Some(actual) = context.ty(*ty).attr()
                    && let Err(why) = expr.unify(b, actual)
                {
                    failed.get_or_insert(why);
                }
            }
        }
        if let Some(why) = failed {
            return Err(why);
        }
        for g in &self.sig.generics {
            if let Some(d) = b.dtypes.get(&g.name).filter(|d| !g.class.contains(**d)) {
                return Err(format!("`{}` may not be {d}", g.name));
            }
        }
        Ok(())
    }
}

impl ValueExpr {
    /// Fits an actual attribute to the expression, solving for a dimension if one is unknown.
    fn unify(&self, b: &mut Bindings, actual: &Attr) -> Result<(), String> {
        let differs =
            |want: &dyn std::fmt::Display| Err(format!("expected {want}, found {actual}"));
        match (self, actual) {
            (ValueExpr::Const(want), _) if want == actual => Ok(()),
            (ValueExpr::Const(want), _) => differs(want),
            (ValueExpr::Dim(want), Attr::Int(found)) => {
                let known = want.subst(&|s| b.dims.get(s).cloned());
                if known == *found {
                    return Ok(());
                }
                let bound = |s: &str| b.dims.contains_key(s);
                match want.solve(found, &bound) {
                    Some((name, value)) if !b.dims.contains_key(&name) => {
                        let value = value.subst(&|s| b.dims.get(s).cloned());
                        b.dims.insert(name, value);
                        Ok(())
                    }
                    _ => differs(&known),
                }
            }
            (ValueExpr::Generic(g), Attr::Dtype(found)) => match b.dtypes.get(g) {
                Some(want) if want == found => Ok(()),
                Some(want) => differs(want),
                None => {
                    b.dtypes.insert(g.clone(), *found);
                    Ok(())
                }
            },
            (ValueExpr::List(items), Attr::List(found)) if items.len() == found.len() => {
                items.iter().zip(found.iter()).try_for_each(|(i, f)| i.unify(b, f))
            }
            _ => Err(format!("an attribute of another kind: {actual}")),
        }
    }
}
