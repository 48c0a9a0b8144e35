//! Small specifications on the command line and in settings: ranges and group sizes.

use fusec_dsl::dim::Interval;
use std::str::FromStr;

/// `s72=1..2048`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeSpec {
    /// The symbol.
    pub symbol: String,
    /// Its bounds, both included.
    pub bounds: Interval,
}

/// `tp:0=2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSpec {
    /// The process group, as the graph names it.
    pub group: String,
    /// Its number of ranks.
    pub size: i64,
}

impl FromStr for RangeSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<RangeSpec, String> {
        let Some((symbol, bounds)) = text.split_once('=') else {
            return Err("expected SYMBOL=LO..HI, as in s72=1..2048".into());
        };
        let symbol = symbol.trim().to_string();
        let plain = symbol.chars().all(|c| c.is_alphanumeric() || c == '_');
        if symbol.is_empty() || !plain {
            return Err(format!("`{symbol}` is not the name of a symbol, such as s72"));
        }
        Ok(RangeSpec { symbol, bounds: bounds_of(bounds)? })
    }
}

/// Bounds such as `1..2048`, `1..` (no upper bound) or `16` (exactly that).
pub fn bounds_of(text: &str) -> Result<Interval, String> {
    let text = text.trim();
    let (lo, hi) = match text.split_once("..") {
        None => (size(text)?, Some(size(text)?)),
        Some((lo, "")) => (size(lo)?, None),
        Some((lo, hi)) => (size(lo)?, Some(size(hi)?)),
    };
    match hi {
        Some(hi) if hi < lo => {
            Err(format!("the range {lo}..{hi} is empty: its lower bound comes first"))
        }
        _ => Ok(Interval { lo: Some(lo), hi }),
    }
}

fn size(text: &str) -> Result<i64, String> {
    let text = text.trim();
    match text.replace('_', "").parse::<i64>() {
        Ok(v) if v >= 0 => Ok(v),
        Ok(v) => Err(format!("a size is never negative: {v}")),
        Err(_) => Err(format!("`{text}` is not a size; expected LO..HI, as in 1..2048")),
    }
}

impl FromStr for GroupSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<GroupSpec, String> {
        let Some((group, ranks)) = text.rsplit_once('=') else {
            return Err("expected GROUP=RANKS, as in tp:0=2".into());
        };
        let (group, ranks) = (group.trim().to_string(), ranks.trim());
        match ranks.parse::<i64>() {
            _ if group.is_empty() => Err("the group has no name; expected tp:0=2".into()),
            Ok(size) if size >= 1 => Ok(GroupSpec { group, size }),
            _ => Err(format!("`{ranks}` is not a number of ranks (1 or more)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> String {
        match text.parse::<RangeSpec>() {
            Ok(r) => format!("{} {:?} {:?}", r.symbol, r.bounds.lo, r.bounds.hi),
            Err(e) => e,
        }
    }

    fn group(text: &str) -> String {
        match text.parse::<GroupSpec>() {
            Ok(g) => format!("{} {}", g.group, g.size),
            Err(e) => e,
        }
    }

    #[test]
    fn ranges() {
        let all = ["s72=1..2048", "s0=1..", "n = 4_096", "s72", "=1..2", "s72=9..1", "s72=a..b"];
        let got: Vec<String> = all.iter().map(|t| format!("{t:12} {}", range(t))).collect();
        insta::assert_snapshot!(got.join("\n"), @r##"
            s72=1..2048  s72 Some(1) Some(2048)
            s0=1..       s0 Some(1) None
            n = 4_096    n Some(4096) Some(4096)
            s72          expected SYMBOL=LO..HI, as in s72=1..2048
            =1..2        `` is not the name of a symbol, such as s72
            s72=9..1     the range 9..1 is empty: its lower bound comes first
            s72=a..b     `a` is not a size; expected LO..HI, as in 1..2048
        "##);
        insta::assert_snapshot!(range("s72=-1..4"), @r##"a size is never negative: -1"##);
    }

    #[test]
    fn groups() {
        let all = ["tp:0=2", "tp:0", "=2", "tp:0=0", "tp:0=two", "a=b=8"];
        let got: Vec<String> = all.iter().map(|t| format!("{t:12} {}", group(t))).collect();
        insta::assert_snapshot!(got.join("\n"), @r##"
            tp:0=2       tp:0 2
            tp:0         expected GROUP=RANKS, as in tp:0=2
            =2           the group has no name; expected tp:0=2
            tp:0=0       `0` is not a number of ranks (1 or more)
            tp:0=two     `two` is not a number of ranks (1 or more)
            a=b=8        a=b 8
        "##);
    }
}
