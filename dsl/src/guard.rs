//! Three-valued evaluation of guards over symbolic sizes.

use crate::dim::{Dim, Interval};
use crate::infer::Bindings;
use crate::library::{Attr, BinOp, Guard, GuardExpr};
use crate::types::Type;

/// What a guard is at one place in a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// Holds for every value of every symbol.
    True,
    /// Never holds; why, with the values it saw.
    False(String),
    /// Holds for some sizes only, or a value is not known; why.
    Depends(String),
}

/// What a guard may ask about.
pub trait Facts {
    /// Bounds of a graph symbol (`s72`).
    fn range(&self, symbol: &str) -> Interval;
    /// A field of the device profile or the configuration: `("target", "sm", [])`,
    /// `("target", "one_shot_limit", [2])`. `None` when unknown.
    fn global(&self, space: &str, name: &str, args: &[i64]) -> Option<Attr>;
    /// Number of ranks of a process group, if known.
    fn group_size(&self, group: &str) -> Option<i64>;
    /// Whether an operand is laid out row after row without gaps, if known.
    fn contiguous(&self, param: usize) -> Option<bool>;
}

/// A value inside a guard.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(Dim),
    Float(f64),
    Bool(Option<bool>),
    Attr(Attr),
    Unknown(String),
}

struct Evaluator<'a> {
    bindings: &'a Bindings,
    params: &'a [Type],
    facts: &'a dyn Facts,
    /// Narrows one symbol, to look for the place where the truth changes.
    pinned: Option<(&'a str, Interval)>,
}

/// Evaluates one guard. `params` are the types of the item's operands, in order.
pub fn eval(g: &Guard, b: &Bindings, params: &[Type], facts: &dyn Facts) -> Truth {
    let e = Evaluator { bindings: b, params, facts, pinned: None };
    match e.truth(&g.expr) {
        Ok(true) => Truth::True,
        Ok(false) => Truth::False(e.explain(g)),
        Err(unknown) if unknown.is_empty() => Truth::Depends(e.explain(g)),
        Err(unknown) => Truth::Depends(format!("`{}`: {unknown}", g.text)),
    }
}

/// Values of `symbol` at which the guard's truth changes: each is the first of a new interval.
///
/// Only what changes once inside the symbol's range is found (a bound on a size); a guard that
/// alternates, such as `n % 4 == 0`, has no cuts.
pub fn cuts(g: &Guard, b: &Bindings, params: &[Type], facts: &dyn Facts, symbol: &str) -> Vec<i64> {
    let range = facts.range(symbol);
    let at = |lo: i64, hi: i64| {
        let pinned = Some((symbol, Interval { lo: Some(lo), hi: Some(hi) }));
        Evaluator { bindings: b, params, facts, pinned }.truth(&g.expr).ok()
    };
    let lo = range.lo.unwrap_or(0);
    let hi = range.hi.unwrap_or(1 << 40);
    if lo >= hi {
        return Vec::new();
    }
    let (Some(first), Some(last)) = (at(lo, lo), at(hi, hi)) else { return Vec::new() };
    if first == last {
        return Vec::new();
    }
    let (mut low, mut high) = (lo, hi);
    while high - low > 1 {
        let mid = low + (high - low) / 2;
        match at(mid, mid) {
            Some(t) if t == first => low = mid,
            Some(_) => high = mid,
            None => return Vec::new(),
        }
    }
    let monotone = at(lo, low) == Some(first) && at(high, hi) == Some(last);
    if monotone { vec![high] } else { Vec::new() }
}

/// `Ok` if decided; `Err` with what is unknown, or `Err("")` if it depends on a size.
type Decided = Result<bool, String>;

impl Evaluator<'_> {
    fn truth(&self, e: &GuardExpr) -> Decided {
        match e {
            GuardExpr::Not(inner) => self.truth(inner).map(|t| !t),
            GuardExpr::Bin(BinOp::And, a, b) => match (self.truth(a), self.truth(b)) {
                (Ok(false), _) | (_, Ok(false)) => Ok(false),
                (Ok(true), other) | (other, Ok(true)) => other,
                (unknown, _) => unknown,
            },
            GuardExpr::Bin(BinOp::Or, a, b) => match (self.truth(a), self.truth(b)) {
                (Ok(true), _) | (_, Ok(true)) => Ok(true),
                (Ok(false), other) | (other, Ok(false)) => other,
                (unknown, _) => unknown,
            },
            GuardExpr::Bin(BinOp::In, a, set) => {
                let GuardExpr::Set(items) = &**set else {
                    return Err("the right side of `in` is not a set".into());
                };
                let mut open = None;
                for item in items {
                    match self.compare(BinOp::Eq, a, item) {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        Err(unknown) => open = Some(unknown),
                    }
                }
                open.map_or(Ok(false), Err)
            }
            GuardExpr::Bin(op, a, b) if is_comparison(*op) => self.compare(*op, a, b),
            other => match self.value(other) {
                Value::Bool(Some(b)) | Value::Attr(Attr::Bool(b)) => Ok(b),
                Value::Unknown(why) => Err(why),
                Value::Bool(None) => Err("not known here".into()),
                _ => Err("not a condition".into()),
            },
        }
    }

    fn compare(&self, op: BinOp, a: &GuardExpr, b: &GuardExpr) -> Decided {
        match (self.value(a), self.value(b)) {
            (Value::Unknown(why), _) | (_, Value::Unknown(why)) => Err(why),
            (Value::Int(a), Value::Int(b)) => self.compare_ints(op, &a.sub(&b)),
            (Value::Attr(a), Value::Attr(b)) => equality(op, a == b),
            (Value::Bool(Some(a)), Value::Bool(Some(b))) => equality(op, a == b),
            (Value::Attr(Attr::Bool(a)), Value::Bool(Some(b)))
            | (Value::Bool(Some(b)), Value::Attr(Attr::Bool(a))) => equality(op, a == b),
            (a, b) => match (self.number(&a), self.number(&b)) {
                (Some(a), Some(b)) => compare_floats(op, a, b),
                _ => Err("two things that cannot be compared".into()),
            },
        }
    }

    fn number(&self, v: &Value) -> Option<f64> {
        match v {
            Value::Float(f) => Some(*f),
            Value::Int(d) => d.as_int().map(|v| v as f64),
            Value::Attr(a) => a.as_f64(),
            _ => None,
        }
    }

    /// Compares a difference with zero.
    fn compare_ints(&self, op: BinOp, difference: &Dim) -> Decided {
        if difference.as_int() == Some(0) {
            return Ok(matches!(op, BinOp::Eq | BinOp::Le | BinOp::Ge));
        }
        let Interval { lo, hi } = difference.interval(&|s| self.range(s));
        let (below, above) = (hi.is_some_and(|h| h < 0), lo.is_some_and(|l| l > 0));
        let (at_most, at_least) = (hi.is_some_and(|h| h <= 0), lo.is_some_and(|l| l >= 0));
        let zero = lo == Some(0) && hi == Some(0);
        let depends = Err(String::new());
        match op {
            BinOp::Eq if zero => Ok(true),
            BinOp::Eq if below || above => Ok(false),
            BinOp::Ne if zero => Ok(false),
            BinOp::Ne if below || above => Ok(true),
            BinOp::Lt if below => Ok(true),
            BinOp::Lt if at_least => Ok(false),
            BinOp::Le if at_most => Ok(true),
            BinOp::Le if above => Ok(false),
            BinOp::Gt if above => Ok(true),
            BinOp::Gt if at_most => Ok(false),
            BinOp::Ge if at_least => Ok(true),
            BinOp::Ge if below => Ok(false),
            _ => depends,
        }
    }

    fn range(&self, symbol: &str) -> Interval {
        match self.pinned {
            Some((name, interval)) if name == symbol => interval,
            _ => self.facts.range(symbol),
        }
    }

    fn value(&self, e: &GuardExpr) -> Value {
        match e {
            GuardExpr::Const(Attr::Int(d)) => Value::Int(d.clone()),
            GuardExpr::Const(Attr::Float(bits)) => Value::Float(f64::from_bits(*bits)),
            GuardExpr::Const(Attr::Bool(b)) => Value::Bool(Some(*b)),
            GuardExpr::Const(a) => Value::Attr(a.clone()),
            GuardExpr::Dim(d) => self.dim(d),
            GuardExpr::Generic(g) => match self.bindings.dtypes.get(g) {
                Some(d) => Value::Attr(Attr::Dtype(*d)),
                None => Value::Unknown(format!("`{g}` is not determined")),
            },
            GuardExpr::Param(i) => self.param(*i),
            GuardExpr::Field(of, name) => self.field(of, name),
            GuardExpr::Global(name) => Value::Unknown(format!("`{name}` is not a value")),
            GuardExpr::Call(name, args) => self.call(name, args),
            GuardExpr::Bin(op, a, b) if !is_comparison(*op) => self.arithmetic(*op, a, b),
            GuardExpr::Bin(..) | GuardExpr::Not(_) => match self.truth(e) {
                Ok(t) => Value::Bool(Some(t)),
                Err(why) if why.is_empty() => Value::Bool(None),
                Err(why) => Value::Unknown(why),
            },
            GuardExpr::Set(_) => Value::Unknown("a set is not a value".into()),
        }
    }

    fn dim(&self, d: &Dim) -> Value {
        match d.symbols().into_iter().find(|s| !self.bindings.dims.contains_key(s)) {
            Some(free) => Value::Unknown(format!("`{free}` is not determined")),
            None => Value::Int(self.bindings.dim_value(d)),
        }
    }

    fn param(&self, i: usize) -> Value {
        match self.params.get(i) {
            Some(Type::Attr(Attr::Int(d)) | Type::Int(d)) => Value::Int(d.clone()),
            Some(Type::Attr(Attr::Float(bits))) => Value::Float(f64::from_bits(*bits)),
            Some(Type::Attr(Attr::Bool(b))) => Value::Bool(Some(*b)),
            Some(Type::Attr(a)) => Value::Attr(a.clone()),
            _ => Value::Unknown("an operand whose value is not known here".into()),
        }
    }

    fn field(&self, of: &GuardExpr, name: &str) -> Value {
        match of {
            GuardExpr::Global(space) => self.global(space, name, &[]),
            GuardExpr::Param(i) => match (self.params.get(*i), name) {
                (Some(Type::Attr(Attr::Group(g))), "size") => match self.facts.group_size(g) {
                    Some(n) => Value::Int(Dim::int(n)),
                    None => Value::Unknown(format!("the size of group `{g}` is not given")),
                },
                _ => Value::Unknown(format!("no field `{name}` here")),
            },
            _ => Value::Unknown(format!("no field `{name}` here")),
        }
    }

    fn global(&self, space: &str, name: &str, args: &[i64]) -> Value {
        match self.facts.global(space, name, args) {
            Some(Attr::Int(d)) => Value::Int(d),
            Some(Attr::Float(bits)) => Value::Float(f64::from_bits(bits)),
            Some(Attr::Bool(b)) => Value::Bool(Some(b)),
            Some(a) => Value::Attr(a),
            None => Value::Unknown(format!("`{space}.{name}` is not known")),
        }
    }

    fn call(&self, name: &str, args: &[GuardExpr]) -> Value {
        if let Some((space, field)) = name.split_once('.') {
            return self.global_call(space, field, args);
        }
        let operand = match args.first() {
            Some(GuardExpr::Param(i)) => Some(*i),
            _ => None,
        };
        let tensor = operand.and_then(|i| self.params.get(i)).and_then(Type::tensor);
        let ints = |i: usize| match args.get(i).map(|a| self.value(a)) {
            Some(Value::Int(d)) => Some(d),
            _ => None,
        };
        match (name, tensor) {
            ("bytes", Some(t)) => Value::Int(t.bytes()),
            ("numel", Some(t)) => Value::Int(t.numel()),
            ("contiguous", Some(_)) => Value::Bool(operand.and_then(|i| self.facts.contiguous(i))),
            ("aligned" | "stride", Some(_)) => {
                Value::Unknown(format!("`{name}` is not known here"))
            }
            ("max" | "min" | "ceil_div" | "round_up", _) => match (ints(0), ints(1)) {
                (Some(a), Some(b)) => Value::Int(match name {
                    "max" => a.max_with(&b),
                    "min" => a.min_with(&b),
                    "ceil_div" => a.ceil_div(&b),
                    _ => a.round_up(&b),
                }),
                _ => Value::Unknown(format!("an operand of `{name}` is not an integer")),
            },
            _ => Value::Unknown(format!("`{name}` of this is not known")),
        }
    }

    fn global_call(&self, space: &str, name: &str, args: &[GuardExpr]) -> Value {
        let mut known = Vec::new();
        for arg in args {
            match self.value(arg) {
                Value::Int(d) if d.as_int().is_some() => known.extend(d.as_int()),
                Value::Unknown(why) => return Value::Unknown(why),
                _ => return Value::Unknown(format!("an operand of `{space}.{name}` varies")),
            }
        }
        self.global(space, name, &known)
    }

    fn arithmetic(&self, op: BinOp, a: &GuardExpr, b: &GuardExpr) -> Value {
        match (self.value(a), self.value(b)) {
            (Value::Unknown(why), _) | (_, Value::Unknown(why)) => Value::Unknown(why),
            (Value::Int(a), Value::Int(b)) => match op {
                BinOp::Add => Value::Int(a.add(&b)),
                BinOp::Sub => Value::Int(a.sub(&b)),
                BinOp::Mul => Value::Int(a.mul(&b)),
                BinOp::Mod if b.as_int() != Some(0) => Value::Int(a.modulo(&b)),
                BinOp::Div => match a.exact_div(&b) {
                    Some(q) => Value::Int(q),
                    None => Value::Unknown(format!("{a} is not a multiple of {b}")),
                },
                _ => Value::Unknown("a division by zero".into()),
            },
            (a, b) => match (self.number(&a), self.number(&b)) {
                (Some(a), Some(b)) => Value::Float(match op {
                    BinOp::Add => a + b,
                    BinOp::Sub => a - b,
                    BinOp::Mul => a * b,
                    BinOp::Div => a / b,
                    _ => a.rem_euclid(b),
                }),
                _ => Value::Unknown("arithmetic on something that is not a number".into()),
            },
        }
    }

    /// The guard's text with the value of every name in it.
    fn explain(&self, g: &Guard) -> String {
        let mut seen: Vec<String> = Vec::new();
        self.names(&g.expr, &g.text, &mut seen);
        match seen.is_empty() {
            true => format!("`{}`", g.text),
            false => format!("`{}`: {}", g.text, seen.join(", ")),
        }
    }

    /// Notes the value of every name. `text` is the guard's, to quote from.
    fn names(&self, e: &GuardExpr, text: &str, out: &mut Vec<String>) {
        let mut note = |text: String| {
            if !out.contains(&text) {
                out.push(text);
            }
        };
        match e {
            GuardExpr::Dim(d) => {
                for s in d.symbols() {
                    let known = self.bindings.dims.get(&s);
                    if let Some(v) = known.filter(|v| v.as_sym() != Some(&*s)) {
                        note(format!("{s} = {v}"));
                    }
                }
            }
            GuardExpr::Generic(g) => {
                if let Some(d) = self.bindings.dtypes.get(g) {
                    note(format!("{g} = {d}"));
                }
            }
            GuardExpr::Field(_, name) => {
                if let Some(v) = self.shown(e) {
                    note(format!("{} = {v}", quoted(text, &format!(".{name}"))));
                }
            }
            GuardExpr::Call(name, args) => {
                if let Some(v) = self.shown(e) {
                    note(format!("{} = {v}", quoted(text, name)));
                }
                args.iter().for_each(|a| self.names(a, text, out));
            }
            GuardExpr::Param(_) => {
                if let Some(v) = self.shown(e) {
                    note(format!("found {v}"));
                }
            }
            GuardExpr::Bin(_, a, b) => {
                self.names(a, text, out);
                self.names(b, text, out);
            }
            GuardExpr::Not(a) => self.names(a, text, out),
            GuardExpr::Const(_) | GuardExpr::Global(_) | GuardExpr::Set(_) => {}
        }
    }

    fn shown(&self, e: &GuardExpr) -> Option<String> {
        match self.value(e) {
            Value::Int(d) => Some(d.to_string()),
            Value::Float(f) => Some(f.to_string()),
            Value::Bool(b) => b.map(|b| b.to_string()),
            Value::Attr(a) => Some(a.to_string()),
            Value::Unknown(_) => None,
        }
    }
}

/// The place in a guard's text where something is asked: `bytes(x)`, `g.size`.
fn quoted(text: &str, what: &str) -> String {
    let Some(at) = text.find(what) else { return what.trim_start_matches('.').to_string() };
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let start = text[..at]
        .rfind(|c: char| !is_word(c))
        .map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
    let after = &text[at + what.len()..];
    if !after.starts_with('(') {
        return text[start..at + what.len()].to_string();
    }
    let mut depth = 0;
    for (i, c) in after.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return text[start..at + what.len() + i + 1].to_string();
        }
    }
    text[start..].to_string()
}

fn is_comparison(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge | And | Or | In)
}

fn equality(op: BinOp, equal: bool) -> Decided {
    match op {
        BinOp::Eq => Ok(equal),
        BinOp::Ne => Ok(!equal),
        _ => Err("two things that have no order".into()),
    }
}

fn compare_floats(op: BinOp, a: f64, b: f64) -> Decided {
    Ok(match op {
        BinOp::Eq => a == b,
        BinOp::Ne => a != b,
        BinOp::Lt => a < b,
        BinOp::Le => a <= b,
        BinOp::Gt => a > b,
        _ => a >= b,
    })
}

#[cfg(test)]
mod tests;
