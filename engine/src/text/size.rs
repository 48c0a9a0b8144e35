//! Sizes as text, `128*((s72 + 127)//128)`.

use fusec_dsl::dim::{Atom, Dim};

/// A size.
pub(super) fn size(dim: &Dim) -> String {
    let terms: Vec<_> = dim.terms().collect();
    let mut out = String::new();
    // Highest terms first, the constant last, as people write them.
    for (i, (monomial, coefficient)) in terms.iter().rev().enumerate() {
        out.push_str(match (i, *coefficient < 0) {
            (0, true) => "-",
            (0, false) => "",
            (_, true) => " - ",
            (_, false) => " + ",
        });
        out.push_str(&term(monomial, coefficient.unsigned_abs()));
    }
    if out.is_empty() { "0".into() } else { out }
}

/// Sizes in brackets.
pub(super) fn sizes(dims: &[Dim]) -> String {
    let items: Vec<_> = dims.iter().map(size).collect();
    format!("[{}]", items.join(", "))
}

fn term(monomial: &[(Atom, u32)], coefficient: u128) -> String {
    let mut factors = Vec::new();
    if coefficient != 1 || monomial.is_empty() {
        factors.push(coefficient.to_string());
    }
    for (a, power) in monomial {
        factors.extend((0..*power).map(|_| atom(a)));
    }
    factors.join("*")
}

fn atom(atom: &Atom) -> String {
    match atom {
        Atom::Sym(s) => s.to_string(),
        Atom::FloorDiv(a, b) => format!("({}//{})", operand(a), operand(b)),
        Atom::Mod(a, b) => format!("({} % {})", operand(a), operand(b)),
        Atom::Max(a, b) => format!("max({}, {})", size(a), size(b)),
        Atom::Min(a, b) => format!("min({}, {})", size(a), size(b)),
    }
}

/// In parentheses, unless it is one number or one atom.
fn operand(dim: &Dim) -> String {
    let mut terms = dim.terms();
    let simple = match (terms.next(), terms.next()) {
        (None, _) => true,
        (Some(([], c)), None) => c >= 0,
        (Some(([(_, 1)], 1)), None) => true,
        _ => false,
    };
    if simple { size(dim) } else { format!("({})", size(dim)) }
}
