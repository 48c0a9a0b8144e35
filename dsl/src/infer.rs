//! Result types of calls: declared types fitted to actual ones, binding names on the way.

use crate::dim::Dim;
use crate::dtype::Dtype;
use crate::library::{
    Attr, DtypeExpr, Library, Meaning, OpId, Param, Scalar, Signature, TensorExpr, TypeExpr,
};
use crate::prims;
use crate::types::{TensorType, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the names of a signature stand for at one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// Dimension names.
    pub dims: BTreeMap<Arc<str>, Dim>,
    /// Named leading dimensions (`b..`).
    pub leading: BTreeMap<String, Vec<Dim>>,
    /// Dtype generics.
    pub dtypes: BTreeMap<String, Dtype>,
}

/// Why two types do not fit, for a person.
pub type Mismatch = String;

/// What kind of thing does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A value of another kind: a tensor where a number is wanted, a wrong attribute.
    Kind,
    /// Element types.
    Dtype,
    /// Ranks or sizes.
    Shape,
    /// A division that may leave a remainder.
    Division,
}

/// Why the operands of a call do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of thing does not fit.
    pub kind: FaultKind,
    /// Which operand, if it is one alone.
    pub operand: Option<usize>,
    /// For a person.
    pub text: String,
}

impl Fault {
    fn new(kind: FaultKind, text: impl Into<String>) -> Fault {
        Fault { kind, operand: None, text: text.into() }
    }

    /// A value of another kind.
    pub fn kind(text: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Kind, text)
    }

    /// Element types that do not fit.
    pub fn dtype(text: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Dtype, text)
    }

    /// Ranks or sizes that do not fit.
    pub fn shape(text: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Shape, text)
    }

    /// A division that may leave a remainder.
    pub fn division(text: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Division, text)
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Fault {
        Fault::shape(text)
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Fault {
        Fault::shape(text)
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> String {
        fault.text
    }
}

impl Bindings {
    /// Fits an actual type to a declared one, binding names on the way.
    ///
    /// # Errors
    /// They do not fit, or a dimension cannot be solved for yet ([`Bindings::unify_all`] retries).
    pub fn unify(&mut self, declared: &TypeExpr, actual: &Type) -> Result<(), Mismatch> {
        self.fit(declared, actual).map_err(|f| f.text)
    }

    /// [`Bindings::unify`] with the kind of what does not fit.
    ///
    /// # Errors
    /// As there.
    pub fn fit(&mut self, declared: &TypeExpr, actual: &Type) -> Result<(), Fault> {
        match (declared, actual) {
            (TypeExpr::Any, _) => Ok(()),
            (TypeExpr::Tensor(d) | TypeExpr::State(d), Type::Tensor(a)) => self.tensor(d, a),
            (TypeExpr::Tensors, Type::List(items))
                if items.iter().all(|t| t.tensor().is_some()) =>
            {
                Ok(())
            }
            (TypeExpr::Scalar(s), actual) if scalar_fits(s, actual) => Ok(()),
            _ => Err(Fault::kind(format!("expected {}, found {actual}", kind_of(declared)))),
        }
    }

    /// Fits every operand of a call; a dimension may be determined by a later operand.
    ///
    /// # Errors
    /// The first operand that does not fit, by name.
    pub fn unify_all(&mut self, params: &[Param], actual: &[Type]) -> Result<(), Mismatch> {
        self.fit_all(params, actual).map_err(|f| f.text)
    }

    fn fit_all(&mut self, params: &[Param], actual: &[Type]) -> Result<(), Fault> {
        for (p, a) in params.iter().zip(actual) {
            if let (TypeExpr::Scalar(Scalar::Int), Type::Attr(Attr::Int(d)) | Type::Int(d)) =
                (&p.ty, a)
            {
                self.dims.insert(p.name.as_str().into(), d.clone());
            }
        }
        let mut failed = None;
        for _ in 0..2 {
            failed = None;
            for (i, (p, a)) in params.iter().zip(actual).enumerate() {
                let absent = *a == Type::Attr(Attr::None) && (p.optional || p.default.is_some());
                if absent {
                    continue;
                }
                if let Err(why) = self.fit(&p.ty, a) {
                    let text = format!("`{}`: {}", p.name, why.text);
                    failed.get_or_insert(Fault { operand: Some(i), text, ..why });
                }
            }
            if failed.is_none() {
                break;
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn tensor(&mut self, declared: &TensorExpr, actual: &TensorType) -> Result<(), Fault> {
        self.dtype(&declared.dtype, actual.dtype)?;
        let extra = actual.shape.len().checked_sub(declared.dims.len());
        let fits = extra.is_some_and(|n| declared.leading.is_some() || n == 0);
        let Some(extra) = extra.filter(|_| fits) else {
            let (rank, n) = (actual.shape.len(), declared.dims.len());
            let least = if declared.leading.is_some() { "at least " } else { "" };
            return Err(Fault::shape(format!(
                "expected rank {least}{n}, {actual} has rank {rank}"
            )));
        };
        let (leading, dims) = actual.shape.split_at(extra);
        if let Some(name) = declared.leading.as_deref().filter(|n| !n.is_empty()) {
            let bound = self.leading.entry(name.to_string()).or_insert_with(|| leading.to_vec());
            if bound != leading {
                let before = show_dims(bound);
                return Err(Fault::shape(format!(
                    "`{name}..` is [{before}], {actual} has [{}]",
                    show_dims(leading)
                )));
            }
        }
        let mut failed = None;
        for (want, found) in declared.dims.iter().zip(dims) {
            if let Err(why) = self.dim(want, found) {
                failed.get_or_insert(Fault::shape(format!("{actual}: {why}")));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn dtype(&mut self, declared: &DtypeExpr, actual: Dtype) -> Result<(), Fault> {
        match declared {
            DtypeExpr::Any => Ok(()),
            DtypeExpr::Is(want) if *want == actual => Ok(()),
            DtypeExpr::Is(want) => Err(Fault::dtype(format!("expected {want}, found {actual}"))),
            DtypeExpr::Generic(name) => {
                let bound = *self.dtypes.entry(name.clone()).or_insert(actual);
                match bound == actual {
                    true => Ok(()),
                    false => Err(Fault::dtype(format!("`{name}` is {bound}, found {actual}"))),
                }
            }
        }
    }

    fn dim(&mut self, want: &Dim, found: &Dim) -> Result<(), Mismatch> {
        // Names of the signature and symbols of the graph may coincide: names go first.
        let free: Vec<Arc<str>> =
            want.symbols().into_iter().filter(|s| !self.dims.contains_key(s)).collect();
        match free.as_slice() {
            [] => {
                let known = self.dim_value(want);
                match known == *found {
                    true => Ok(()),
                    false => Err(format!("expected {known}, found {found}")),
                }
            }
            [name] => {
                let value = self
                    .solve(want, name, found)
                    .ok_or_else(|| format!("no whole `{name}` makes {want} equal to {found}"))?;
                self.dims.insert(name.clone(), value);
                Ok(())
            }
            _ => Err(format!("{want} has several unknowns")),
        }
    }

    /// Solves `want = found` for `name`, with the other names replaced by what they stand for.
    fn solve(&self, want: &Dim, name: &str, found: &Dim) -> Option<Dim> {
        const UNKNOWN: &str = "\u{1}unknown";
        let known = want.subst(&|s| match s == name {
            true => Some(Dim::sym(UNKNOWN)),
            false => self.dims.get(s).cloned(),
        });
        known.solve(found, &|s| s != UNKNOWN).map(|(_, value)| value)
    }

    /// A dimension expression with every bound name replaced.
    pub fn dim_value(&self, d: &Dim) -> Dim {
        d.subst(&|s| self.dims.get(s).cloned())
    }

    /// A declared type with every name replaced by what it stands for.
    ///
    /// # Errors
    /// A name that stands for nothing.
    pub fn apply(&self, declared: &TypeExpr) -> Result<Type, Mismatch> {
        let (TypeExpr::Tensor(t) | TypeExpr::State(t)) = declared else {
            return Ok(Type::Unknown);
        };
        let dtype = match &t.dtype {
            DtypeExpr::Is(d) => *d,
            DtypeExpr::Generic(g) => {
                *self.dtypes.get(g).ok_or_else(|| format!("`{g}` is not determined"))?
            }
            DtypeExpr::Any => return Ok(Type::Unknown),
        };
        let mut shape = match t.leading.as_deref() {
            None => Vec::new(),
            Some("") => return Ok(Type::Unknown),
            Some(name) => self
                .leading
                .get(name)
                .cloned()
                .ok_or_else(|| format!("`{name}..` is not determined"))?,
        };
        shape.extend(t.dims.iter().map(|d| self.dim_value(d)));
        Ok(Type::Tensor(TensorType { dtype, shape }))
    }
}

fn show_dims(dims: &[Dim]) -> String {
    dims.iter().map(Dim::to_string).collect::<Vec<_>>().join(", ")
}

/// What a declared type accepts, for messages.
fn kind_of(declared: &TypeExpr) -> String {
    match declared {
        TypeExpr::Tensor(_) => "a tensor".into(),
        TypeExpr::State(_) => "a state".into(),
        TypeExpr::Tensors => "a list of tensors".into(),
        TypeExpr::Any => "anything".into(),
        TypeExpr::Scalar(s) => match s {
            Scalar::Int => "an integer".into(),
            Scalar::Float => "a number".into(),
            Scalar::Bool => "a bool".into(),
            Scalar::Dtype => "a dtype".into(),
            Scalar::Ints => "a list of integers".into(),
            Scalar::Group => "a process group".into(),
            Scalar::Opaque => "an opaque value".into(),
            Scalar::Enum(name) => format!("a {name}"),
        },
    }
}

fn scalar_fits(declared: &Scalar, actual: &Type) -> bool {
    if matches!(declared, Scalar::Int) && matches!(actual, Type::Int(_)) {
        return true;
    }
    let Type::Attr(a) = actual else {
        return matches!(declared, Scalar::Opaque | Scalar::Ints)
            && !matches!(actual, Type::Tuple(_));
    };
    match declared {
        Scalar::Int => matches!(a, Attr::Int(_)),
        Scalar::Float => matches!(a, Attr::Float(_) | Attr::Int(_)),
        Scalar::Bool => matches!(a, Attr::Bool(_)),
        Scalar::Dtype => matches!(a, Attr::Dtype(_)),
        Scalar::Ints => matches!(a, Attr::List(_)),
        Scalar::Group => matches!(a, Attr::Group(_)),
        Scalar::Enum(_) => matches!(a, Attr::Str(_)),
        Scalar::Opaque => true,
    }
}

/// The result type of a call (a tuple if the op has several results).
///
/// # Errors
/// The operands do not fit the op's signature; the text names the operand.
pub fn call(lib: &Library, op: OpId, args: &[Type]) -> Result<Type, Mismatch> {
    check(lib, op, args).map_err(|why| format!("{}: {}", lib.op(op).name, why.text))
}

/// [`call`] with the kind of what does not fit.
///
/// # Errors
/// As there.
pub fn check(lib: &Library, op: OpId, args: &[Type]) -> Result<Type, Fault> {
    let decl = lib.op(op);
    let rule = match decl.meaning {
        Meaning::Primitive => prims::call(&decl.name, args),
        _ => None,
    };
    rule.unwrap_or_else(|| results(&decl.sig, args))
}

/// What the names of an op's signature stand for at a call.
///
/// # Errors
/// The operands do not fit.
pub fn bindings(sig: &Signature, args: &[Type]) -> Result<Bindings, Fault> {
    if args.len() != sig.params.len() {
        let text = format!("{} operands, {} expected", args.len(), sig.params.len());
        return Err(Fault::kind(text));
    }
    let mut b = Bindings::default();
    b.fit_all(&sig.params, args)?;
    for g in &sig.generics {
        if let Some(d) = b.dtypes.get(&g.name).filter(|d| !g.class.contains(**d)) {
            return Err(Fault::dtype(format!("`{}` may not be {d}", g.name)));
        }
    }
    Ok(b)
}

fn results(sig: &Signature, args: &[Type]) -> Result<Type, Fault> {
    let b = bindings(sig, args)?;
    let mut out: Vec<Type> = sig
        .results
        .iter()
        .map(|r| r.ty.as_ref().map_or(Ok(Type::Unknown), |t| b.apply(t)))
        .collect::<Result<_, _>>()?;
    Ok(if out.len() == 1 { out.remove(0) } else { Type::Tuple(out) })
}

#[cfg(test)]
mod tests;
