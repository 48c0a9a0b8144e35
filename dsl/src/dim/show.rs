//! Sizes as text.

use super::{Atom, Dim, Monomial};
use std::fmt;

impl Dim {
    fn fmt_monomial(f: &mut fmt::Formatter<'_>, m: &Monomial, c: i128) -> fmt::Result {
        if m.is_empty() || c != 1 {
            write!(f, "{c}")?;
        }
        for (i, (atom, power)) in m.iter().enumerate() {
            if i > 0 || c != 1 {
                f.write_str("*")?;
            }
            write!(f, "{atom}")?;
            for _ in 1..*power {
                write!(f, "*{atom}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Sym(s) => f.write_str(s),
            Atom::FloorDiv(a, b) => write!(f, "(({a})//({b}))"),
            Atom::Mod(a, b) => write!(f, "(({a}) % ({b}))"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        // Highest terms first, the constant last, as people write them.
        for (i, (m, c)) in self.0.iter().rev().enumerate() {
            match (i, *c < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            Dim::fmt_monomial(f, m, c.abs())?;
        }
        Ok(())
    }
}
