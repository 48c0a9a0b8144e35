//! Symbolic expressions: the file's trees to [`Dim`]s and back.

use crate::fx::{Operator, Tree};
use fusec_dsl::dim::{Atom, Dim};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Largest number of terms that a product of sums may grow to; beyond it stays opaque.
const MAX_TERMS: usize = 256;

/// Every symbolic expression of a graph: the file's key and tree, and its meaning.
///
/// A tree that a [`Dim`] cannot express (a float division, a condition) is a symbol named by its
/// key in backticks: two are equal when their keys are, and it is written back as it was read.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    trees: IndexMap<String, Tree>,
    dims: Vec<Dim>,
    by_dim: FxHashMap<Dim, usize>,
    /// Whether two keys have one meaning, or a key is a plain number.
    pub(super) ambiguous: bool,
}

impl Exprs {
    /// Takes over a file's table.
    pub fn new(trees: IndexMap<String, Tree>) -> Exprs {
        let mut out = Exprs::default();
        for (key, tree) in trees {
            out.push(key, tree);
        }
        out
    }

    /// Adds an expression, unless the key is taken.
    pub(crate) fn add(&mut self, key: String, tree: Tree) {
        if !self.trees.contains_key(&key) {
            self.push(key, tree);
        }
    }

    fn push(&mut self, key: String, tree: Tree) -> usize {
        let dim = to_dim(&tree).unwrap_or_else(|| Dim::sym(&format!("`{key}`")));
        let (index, _) = self.trees.insert_full(key, tree);
        self.ambiguous |= dim.as_int().is_some() || self.by_dim.contains_key(&dim);
        self.by_dim.entry(dim.clone()).or_insert(index);
        self.dims.push(dim);
        index
    }

    /// The expression of this key.
    pub fn dim(&self, key: &str) -> Option<&Dim> {
        self.trees.get_index_of(key).map(|i| &self.dims[i])
    }

    /// Keys and trees, in order.
    pub fn trees(&self) -> &IndexMap<String, Tree> {
        &self.trees
    }

    /// Keys and trees, given away.
    pub(super) fn into_trees(self) -> IndexMap<String, Tree> {
        self.trees
    }

    /// The key of an expression, which is added when it is new.
    pub fn key(&mut self, dim: &Dim) -> String {
        if let Some(i) = self.by_dim.get(dim) {
            return self.trees.get_index(*i).map(|(k, _)| k.clone()).unwrap_or_default();
        }
        let tree = self.tree(dim);
        let mut key = spell(&tree);
        while self.trees.contains_key(&key) {
            key.push(' ');
        }
        let index = self.trees.len();
        self.by_dim.insert(dim.clone(), index);
        self.dims.push(dim.clone());
        self.trees.insert(key.clone(), tree);
        key
    }

    fn tree(&self, dim: &Dim) -> Tree {
        let mut terms: Vec<Tree> = dim.terms().map(|(m, c)| self.term(m, c)).collect();
        // As people write them: the constant last.
        terms.reverse();
        match terms.len() {
            0 => Tree::Int(0),
            1 => terms.remove(0),
            _ => Tree::Call(Operator::Add, terms),
        }
    }

    fn term(&self, monomial: &[(Atom, u32)], coefficient: i128) -> Tree {
        let mut factors = Vec::new();
        if coefficient != 1 || monomial.is_empty() {
            let clamped = coefficient.clamp(i64::MIN.into(), i64::MAX.into());
            factors.push(Tree::Int(i64::try_from(clamped).unwrap_or(i64::MAX)));
        }
        for (atom, power) in monomial {
            let base = self.atom(atom);
            factors.push(match power {
                1 => base,
                p => Tree::Call(Operator::Pow, vec![base, Tree::Int(i64::from(*p))]),
            });
        }
        match factors.len() {
            1 => factors.remove(0),
            _ => Tree::Call(Operator::Mul, factors),
        }
    }

    fn atom(&self, atom: &Atom) -> Tree {
        let call = |op, a: &Dim, b: &Dim| Tree::Call(op, vec![self.tree(a), self.tree(b)]);
        match atom {
            Atom::Sym(s) => match s.strip_prefix('`').and_then(|s| s.strip_suffix('`')) {
                Some(key) => self.trees.get(key).cloned().unwrap_or(Tree::Opaque(key.to_owned())),
                None => Tree::Sym(s.to_string()),
            },
            Atom::FloorDiv(a, b) => call(Operator::FloorDiv, a, b),
            Atom::Mod(a, b) => call(Operator::Mod, a, b),
            Atom::Max(a, b) => call(Operator::Max, a, b),
            Atom::Min(a, b) => call(Operator::Min, a, b),
        }
    }
}

/// The tree's exact meaning, when a [`Dim`] has a word for it.
pub(crate) fn to_dim(tree: &Tree) -> Option<Dim> {
    match tree {
        Tree::Sym(s) => Some(Dim::sym(s)),
        // Sums and products of larger constants could leave the range that a Dim computes in.
        Tree::Int(v) if v.unsigned_abs() < 1 << 62 => Some(Dim::int(*v)),
        Tree::Call(op, args) => call_to_dim(*op, args),
        _ => None,
    }
}

fn call_to_dim(op: Operator, args: &[Tree]) -> Option<Dim> {
    if op == Operator::Pow {
        return match args {
            [base, Tree::Int(p @ 0..=8)] => {
                let base = to_dim(base)?;
                (0..*p).try_fold(Dim::int(1), |d, _| mul(&d, &base))
            }
            _ => None,
        };
    }
    let args: Vec<Dim> = args.iter().map(to_dim).collect::<Option<_>>()?;
    let divisor = |d: &Dim| d.as_int() != Some(0);
    let fold = |f: &dyn Fn(&Dim, &Dim) -> Option<Dim>| {
        let (first, rest) = args.split_first()?;
        rest.iter().try_fold(first.clone(), |a, b| f(&a, b))
    };
    let small = match op {
        Operator::Add => fold(&|a, b| Some(a.add(b))),
        Operator::Mul => fold(&mul),
        Operator::Max => fold(&|a, b| Some(a.max_with(b))),
        Operator::Min => fold(&|a, b| Some(a.min_with(b))),
        Operator::FloorDiv => match args.as_slice() {
            [a, b] if divisor(b) => Some(a.floor_div(b)),
            _ => None,
        },
        Operator::Mod => match args.as_slice() {
            [a, b] if divisor(b) => Some(a.modulo(b)),
            _ => None,
        },
        Operator::ModularIndexing => match args.as_slice() {
            [a, b, c] if divisor(b) && divisor(c) => Some(a.floor_div(b).modulo(c)),
            _ => None,
        },
        Operator::Abs => match args.as_slice() {
            [a] => Some(a.max_with(&a.neg())),
            _ => None,
        },
        _ => None,
    }?;
    // A coefficient that no longer fits is where saturation could have begun.
    let fits = small.terms().all(|(_, c)| i64::try_from(c).is_ok());
    fits.then_some(small)
}

fn mul(a: &Dim, b: &Dim) -> Option<Dim> {
    (a.terms().count() * b.terms().count() <= MAX_TERMS).then(|| a.mul(b))
}

/// A tree in sympy's manner, `128*((s72 + 127)//128)`.
fn spell(tree: &Tree) -> String {
    let mut out = String::new();
    spell_into(&mut out, tree, 0);
    out
}

fn spell_into(out: &mut String, tree: &Tree, tight: u8) {
    // Writing to a String cannot fail.
    let _ = match tree {
        Tree::Sym(s) | Tree::Float(s) | Tree::Opaque(s) => write!(out, "{s}"),
        Tree::Int(v) => write!(out, "{v}"),
        Tree::Bool(v) => write!(out, "{v}"),
        Tree::Rational(p, q) => write!(out, "{p}/{q}"),
        Tree::Call(Operator::Add, args) => return infix(out, args, " + ", 0, tight),
        Tree::Call(Operator::Mul, args) => return infix(out, args, "*", 1, tight),
        Tree::Call(Operator::Pow, args) => return infix(out, args, "**", 2, tight),
        Tree::Call(Operator::FloorDiv, args) => {
            out.push('(');
            infix(out, args, "//", 2, 2);
            return out.push(')');
        }
        Tree::Call(op, args) => {
            let name = match op {
                Operator::Max => "Max",
                Operator::Min => "Min",
                Operator::Mod => "Mod",
                other => other.name(),
            };
            out.push_str(name);
            out.push('(');
            infix(out, args, ", ", 0, 0);
            return out.push(')');
        }
    };
}

fn infix(out: &mut String, args: &[Tree], sign: &str, level: u8, tight: u8) {
    let group = tight > level;
    if group {
        out.push('(');
    }
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(sign);
        }
        spell_into(out, arg, if sign == ", " { 0 } else { level + 1 });
    }
    if group {
        out.push(')');
    }
}
