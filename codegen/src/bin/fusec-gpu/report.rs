//! The table.

use crate::options::Options;
use fusec_codegen::check::Steps;
use fusec_codegen::error::{Error, Result};
use std::collections::BTreeMap;
use std::io::Write;

/// One kernel at one size.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub label: String,
    pub hidden: i64,
    pub tokens: usize,
    pub bytes: usize,
    pub us: f64,
    pub copy_us: f64,
    pub registers: i32,
    pub spilled: i32,
    /// One a result.
    pub steps: Vec<Steps>,
}

impl Row {
    fn json(&self) -> String {
        let steps: Vec<_> = self
            .steps
            .iter()
            .map(|s| serde_json::json!({"total": s.total, "one": s.one, "more": s.more, "worst": s.worst}))
            .collect();
        serde_json::json!({
            "fusion": self.label, "hidden": self.hidden, "tokens": self.tokens, "bytes": self.bytes,
            "us": round(self.us), "copy_us": round(self.copy_us), "registers": self.registers,
            "spilled": self.spilled, "steps": steps,
        })
        .to_string()
    }
}

fn round(v: f64) -> f64 {
    (v * 1000.0).round() / 1000.0
}

/// Writes all rows to a file, and a short table to standard output.
pub fn print(o: &Options, rows: &[Row]) -> Result<()> {
    if let Some(path) = &o.out {
        let io = |e: std::io::Error| Error::new(format!("{path}: {e}"));
        let mut file = std::fs::File::create(path).map_err(io)?;
        rows.iter().try_for_each(|r| writeln!(file, "{}", r.json())).map_err(io)?;
    }
    if o.verify {
        verdict(rows);
    }
    if o.bench {
        ratios(o, rows);
    }
    Ok(())
}

fn verdict(rows: &[Row]) {
    let all = rows.iter().flat_map(|r| &r.steps).fold(Steps::default(), |a, b| a.and(*b));
    println!("compared {} values: {} one step off, {} more", all.total, all.one, all.more);
    let mut by_fusion: BTreeMap<(&str, usize), Steps> = BTreeMap::new();
    for row in rows {
        for (i, s) in row.steps.iter().enumerate() {
            let key = (row.label.split(' ').next().unwrap_or(""), i);
            let sum = by_fusion.entry(key).or_default();
            *sum = sum.and(*s);
        }
    }
    for ((fusion, i), s) in by_fusion.iter().filter(|(_, s)| s.one + s.more > 0) {
        println!(
            "  {fusion} result {i}: {} one, {} more of {}, worst {}",
            s.one, s.more, s.total, s.worst
        );
    }
}

/// Time over a copy's, a line a kernel; columns are tokens.
fn ratios(o: &Options, rows: &[Row]) {
    let mut lines: BTreeMap<(&str, i64), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        lines.entry((&row.label, row.hidden)).or_default().push(row);
    }
    println!("us / copy us, at {:?} tokens; registers; spilled bytes", o.tokens);
    for ((label, hidden), rows) in lines {
        let cells: Vec<String> = rows.iter().map(|r| format!("{:.2}", r.us / r.copy_us)).collect();
        let us: Vec<String> = rows.iter().map(|r| format!("{:.1}", r.us)).collect();
        println!(
            "{hidden} {label}: {} | {} | r{} s{}",
            cells.join(" "),
            us.join(" "),
            rows[0].registers,
            rows[0].spilled
        );
    }
}
