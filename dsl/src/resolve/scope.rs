//! What the names inside one item mean: parameters, sizes, dtypes, families.

use super::index::Index;
use crate::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::dim::Dim;
use crate::library::{Library, OpId, Param, Scalar, Signature, TypeExpr};
use crate::source::{SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

/// Everything declared, with the signatures of ops and families resolved.
pub(super) struct World<'a> {
    pub map: &'a SourceMap,
    pub index: Index<'a>,
    /// Ops by id; `broken_ops` says which are left out in the end.
    pub lib: Library,
    pub broken_ops: Vec<bool>,
    pub families: BTreeMap<&'a str, FamilyInfo<'a>>,
}

/// A family with its signatures resolved.
pub(super) struct FamilyInfo<'a> {
    pub ast: &'a ast::Family,
    /// The parameters that every member takes first.
    pub sig: Signature,
    pub members: Vec<MemberInfo<'a>>,
}

/// One member of a family.
pub(super) struct MemberInfo<'a> {
    pub ast: &'a ast::Member,
    pub op: OpId,
    /// Parameters of the member alone, typed over the family's names.
    pub extras: Vec<Param>,
}

/// A family variable of an item, standing for one member.
#[derive(Clone)]
pub(super) struct FamilyUse {
    pub family: String,
    pub member: String,
    pub op: OpId,
    /// Number of parameters that every member takes.
    pub own: usize,
    /// Indices of the member's extra parameters among the item's.
    pub extras: Vec<usize>,
    /// What the extra parameters are called in the item.
    pub names: BTreeMap<String, String>,
}

/// A quotient of sizes that must leave no remainder.
#[derive(Clone)]
pub(super) struct Division {
    pub of: Dim,
    pub by: Dim,
    pub span: Span,
}

/// How a declared result gets its value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ResultFrom {
    /// From the binding of its name, or the last expression.
    Name,
    /// From the last expression.
    Last,
}

/// The names of one item.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub sig: Signature,
    /// One entry a declared result, with where it is declared.
    pub results: Vec<(ResultFrom, Span)>,
    /// Sizes: names in parameter types, and integer parameters.
    pub dims: BTreeSet<String>,
    /// Named leading sizes.
    pub leading: BTreeSet<String>,
    /// Family parameters by name.
    pub families: BTreeMap<String, FamilyUse>,
    /// Family variables (`Q`) with the parameter that has the type.
    pub family_vars: BTreeMap<String, String>,
    /// Family parameters that a body calls.
    pub called: BTreeSet<String>,
    /// Divisions in declared types and in bodies, to be proved exact.
    pub divisions: Vec<Division>,
}

/// The names of one item, with all that is declared.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub world: &'a World<'a>,
    pub names: Names,
}

impl Deref for Scope<'_> {
    type Target = Names;

    fn deref(&self) -> &Names {
        &self.names
    }
}

impl DerefMut for Scope<'_> {
    fn deref_mut(&mut self) -> &mut Names {
        &mut self.names
    }
}

/// Largest number of terms of a size expression.
const MAX_TERMS: usize = 64;

impl<'a> World<'a> {
    /// The source text of a span, on one line.
    pub fn text(&self, span: Span) -> String {
        let all = &self.map.get(span.file).text;
        let piece = all.get(span.start as usize..span.end as usize).unwrap_or("");
        let words: Vec<&str> = piece.split_whitespace().collect();
        words.join(" ")
    }

    /// The op of a name, unless it is unknown (reported) or broken (reported before).
    pub fn op(&self, name: &ast::Name, errors: &mut Vec<Diagnostic>) -> Option<OpId> {
        match self.lib.op_named(&name.text) {
            Some(id) => (!self.broken_ops[id.0 as usize]).then_some(id),
            None if self.index.broken.contains(name.as_str()) => None,
            None => {
                let names = self.lib.ops.iter().map(|o| o.name.as_str());
                errors.push(
                    Diagnostic::new(Code::UnknownOp, name.span, format!("no op `{}`", name.text))
                        .label("no loaded file declares it")
                        .did_you_mean(&name.text, name.span, names),
                );
                None
            }
        }
    }
}

impl<'a> Scope<'a> {
    /// No names at all.
    pub fn empty(world: &'a World<'a>) -> Scope<'a> {
        Scope { world, names: Names::default() }
    }

    /// The index of a parameter.
    pub fn param(&self, name: &str) -> Option<usize> {
        self.sig.params.iter().position(|p| p.name == name)
    }

    /// Whether a parameter is an integer, so that its name is a size.
    pub fn is_int(&self, param: usize) -> bool {
        matches!(self.sig.params[param].ty, TypeExpr::Scalar(Scalar::Int))
    }

    /// Whether a dtype variable has this name.
    pub fn is_generic(&self, name: &str) -> bool {
        self.sig.generics.iter().any(|g| g.name == name)
    }

    /// Every name a value or size may have here, for suggestions.
    pub fn known(&self) -> Vec<&str> {
        let params = self.sig.params.iter().map(|p| p.name.as_str());
        params
            .chain(self.families.keys().map(String::as_str))
            .chain(self.dims.iter().map(String::as_str))
            .collect()
    }

    /// A size expression over the item's names. With `declare`, unknown names become sizes.
    pub fn dim(&mut self, e: &Expr, declare: bool, errors: &mut Vec<Diagnostic>) -> Option<Dim> {
        let made = match &e.kind {
            ExprKind::Int { value, .. } => Some(Dim::int((*value)?)),
            ExprKind::Name(name) => self.dim_name(name, e.span, declare, errors),
            ExprKind::Field { of, name } => self.dim_field(of, name, errors),
            ExprKind::Unary { op: UnaryOp::Neg, of } => {
                self.dim(of, declare, errors).map(|d| d.neg())
            }
            ExprKind::Binary { op, left, right, .. } => {
                let a = self.dim(left, declare, errors);
                let b = self.dim(right, declare, errors);
                let (a, b) = (a?, b?);
                return self.combine(*op, &a, &b, e.span, errors);
            }
            ExprKind::Call { callee, args } => {
                let name = callee.as_name().unwrap_or("");
                let mut values = Vec::new();
                for a in args {
                    values.push(self.dim(&a.value, declare, errors)?);
                }
                match dim_function(name, &values) {
                    Some(d) => Some(d),
                    None => {
                        errors.push(
                            Diagnostic::new(
                                Code::UnknownName,
                                callee.span,
                                format!("no function of sizes `{}`", self.world.text(callee.span)),
                            )
                            .did_you_mean(name, callee.span, DIM_FUNCTIONS.iter().copied())
                            .note("sizes have `ceil_div`, `round_up`, `min` and `max`, of two"),
                        );
                        None
                    }
                }
            }
            _ => {
                errors.push(
                    Diagnostic::new(Code::TypeMismatch, e.span, "this is not a size")
                        .note("a size is an integer expression over names of sizes"),
                );
                None
            }
        };
        made.filter(|d| small(d, e.span, errors))
    }

    fn dim_name(
        &mut self,
        name: &str,
        span: Span,
        declare: bool,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<Dim> {
        if self.is_generic(name) || self.family_vars.contains_key(name) {
            let message = format!("`{name}` is a type, not a size");
            errors.push(Diagnostic::new(Code::TypeMismatch, span, message));
            return None;
        }
        if self.leading.contains(name) {
            let message = format!("`{name}..` stands for any number of sizes, not for one");
            errors.push(
                Diagnostic::new(Code::TypeMismatch, span, message)
                    .help("give that size a name of its own"),
            );
            return None;
        }
        if declare {
            self.dims.insert(name.to_string());
        } else if !self.dims.contains(name) {
            let error = self.unknown_name(name, span, "size");
            errors.push(error.label("sizes come from the types of the parameters"));
            return None;
        }
        Some(Dim::sym(name))
    }

    /// A complaint about a name that means nothing here.
    pub fn unknown_name(&self, name: &str, span: Span, kind: &str) -> Diagnostic {
        Diagnostic::new(Code::UnknownName, span, format!("no {kind} `{name}` here")).did_you_mean(
            name,
            span,
            self.known(),
        )
    }

    /// `q.block` as a size.
    fn dim_field(
        &mut self,
        of: &Expr,
        name: &ast::Name,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<Dim> {
        let field = self.family_field(of, name, errors)?;
        self.member_value(&field.0, &field.1, errors)
    }

    /// The expression behind `q.block`, with the use of the family it belongs to.
    pub fn family_field(
        &self,
        of: &Expr,
        name: &ast::Name,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<(FamilyUse, Expr)> {
        let var = of.as_name().unwrap_or("");
        let Some(used) = self.families.get(var) else {
            let text = self.world.text(of.span);
            errors.push(
                Diagnostic::new(
                    Code::UnknownField,
                    name.span,
                    format!("`{text}` has no field `{}`", name.text),
                )
                .note("family parameters have the fields of their members"),
            );
            return None;
        };
        let family = self.world.families.get(used.family.as_str())?;
        let member = family.members.iter().find(|m| m.ast.name.text == used.member)?;
        if let Some(f) = member.ast.fields.iter().find(|f| f.name.text == name.text) {
            return Some((used.clone(), f.value.clone()));
        }
        let known: BTreeSet<&str> = family
            .members
            .iter()
            .flat_map(|m| m.ast.fields.iter().map(|f| f.name.as_str()))
            .collect();
        let message = match known.contains(name.as_str()) {
            true => format!("member `{}` of `{}` has no `{}`", used.member, used.family, name.text),
            false => format!("family `{}` has no field `{}`", used.family, name.text),
        };
        let error = Diagnostic::new(Code::UnknownField, name.span, message)
            .because(member.ast.span, "the member")
            .did_you_mean(&name.text, name.span, known.into_iter().filter(|k| *k != name.text));
        errors.push(error);
        None
    }

    /// A member's field as a size, over what its parameters are called here.
    pub fn member_value(
        &mut self,
        used: &FamilyUse,
        value: &Expr,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<Dim> {
        let mut inner = Scope::empty(self.world);
        inner.dims = used.names.keys().cloned().collect();
        let d = inner.dim(value, false, errors)?;
        Some(d.subst(&|s| used.names.get(s).map(|n| Dim::sym(n))))
    }

    /// Arithmetic on sizes; a quotient is noted, to be proved exact.
    pub fn combine(
        &mut self,
        op: BinaryOp,
        a: &Dim,
        b: &Dim,
        span: Span,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<Dim> {
        if a.size().saturating_mul(b.size()) > MAX_TERMS * MAX_TERMS {
            small(a, span, errors);
            return None;
        }
        let made = match op {
            BinaryOp::Add => a.add(b),
            BinaryOp::Sub => a.sub(b),
            BinaryOp::Mul => a.mul(b),
            BinaryOp::Rem => a.modulo(b),
            BinaryOp::Div => match a.exact_div(b) {
                Some(q) if b.as_int() != Some(0) => q,
                _ => {
                    self.divisions.push(Division { of: a.clone(), by: b.clone(), span });
                    a.floor_div(b)
                }
            },
            _ => {
                let message = format!("`{}` of sizes is not a size", op.as_str());
                errors.push(Diagnostic::new(Code::TypeMismatch, span, message));
                return None;
            }
        };
        small(&made, span, errors).then_some(made)
    }
}

fn small(d: &Dim, span: Span, errors: &mut Vec<Diagnostic>) -> bool {
    let fits = d.size() <= MAX_TERMS;
    if !fits {
        let message = format!("a size of more than {MAX_TERMS} terms");
        errors.push(
            Diagnostic::new(Code::TooLarge, span, message).help("give a part of it its own name"),
        );
    }
    fits
}

/// Functions of sizes.
pub(super) const DIM_FUNCTIONS: &[&str] = &["ceil_div", "max", "min", "round_up"];

/// A function of sizes applied; `None` if there is none of this name and arity.
pub(super) fn dim_function(name: &str, args: &[Dim]) -> Option<Dim> {
    let [a, b] = args else { return None };
    Some(match name {
        "ceil_div" => a.ceil_div(b),
        "round_up" => a.round_up(b),
        "min" => a.min_with(b),
        "max" => a.max_with(b),
        _ => return None,
    })
}
