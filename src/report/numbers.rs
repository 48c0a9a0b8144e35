//! Numbers as people read them.

use fusec_engine::report::{CostReport, RangeReport};

/// `12.3 us`, `1.23 ms`.
pub fn micros(us: f64) -> String {
    match us + 0.0 {
        us if us < 10.0 => format!("{us:.2} us"),
        us if us < 1e4 => format!("{us:.1} us"),
        us if us < 1e7 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// `512 B`, `1.5 MiB`.
pub fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (n as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    match unit {
        0 => format!("{n} B"),
        _ => format!("{value:.1} {}", units[unit]),
    }
}

/// Change relative to before, as `-26 %`.
pub fn change(before: f64, after: f64) -> String {
    match before {
        b if b <= 0.0 => String::new(),
        b => match (after - b) / b * 100.0 {
            c if c.abs() < 0.05 => "same".into(),
            c => format!("{c:+.1} %"),
        },
    }
}

/// `s72 = 1..2048`, or nothing to say for fixed sizes.
pub fn range(r: &RangeReport) -> String {
    match (&r.symbol, r.hi) {
        (None, _) => "fixed sizes".into(),
        (Some(s), Some(hi)) if hi == r.lo => format!("{s} = {hi}"),
        (Some(s), Some(hi)) => format!("{s} = {}..{hi}", r.lo),
        (Some(s), None) => format!("{s} >= {}", r.lo),
    }
}

/// Rows `what, before, after, change` of a cost.
pub fn cost_rows(cost: &CostReport) -> [[String; 4]; 3] {
    let (lb, la) = (cost.launches_before, cost.launches_after);
    let (bb, ba) = (cost.bytes_before, cost.bytes_after);
    let (tb, ta) = (cost.before_us, cost.after_us);
    [
        ["launches".into(), lb.to_string(), la.to_string(), change(lb as f64, la as f64)],
        ["memory traffic".into(), bytes(bb), bytes(ba), change(bb as f64, ba as f64)],
        ["time".into(), micros(tb), micros(ta), change(tb, ta)],
    ]
}

/// `3 sites`, `1 site`.
pub fn count(n: usize, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}
