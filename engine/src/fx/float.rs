//! Float literals: compared by their bits, printed as Python prints them.

use std::fmt;

/// A double with equality, order and hash by bits, so that NaN equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct F64(u64);

impl F64 {
    /// Wraps a double.
    pub fn new(v: f64) -> F64 {
        F64(v.to_bits())
    }

    /// The double.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// Reads Python's `repr` of a float.
    pub fn parse(text: &str) -> Option<F64> {
        text.parse().ok().map(F64::new)
    }
}

impl fmt::Debug for F64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&python_float(self.get()))
    }
}

impl fmt::Display for F64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&python_float(self.get()))
    }
}

/// Python's `repr` of a float: `1e-05`, `0.0001`, `1e+16`, `2.0`, `inf`, `nan`.
pub fn python_float(v: f64) -> String {
    if v.is_nan() {
        return "nan".into();
    }
    if v.is_infinite() {
        return if v > 0.0 { "inf" } else { "-inf" }.into();
    }
    // Both languages print the shortest digits that read back; only the layout differs.
    let sci = format!("{v:e}");
    let (digits, exponent) = sci.split_once('e').unwrap_or((&sci, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if v != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let fixed = format!("{v}");
    if fixed.contains('.') { fixed } else { format!("{fixed}.0") }
}
