//! `fusec extract`: solve an extraction problem in the JSON form of egraph-serialize.

use crate::Status;
use crate::args::ExtractArgs;
use crate::inputs;
use crate::ui::Ui;
use anyhow::{Context, Result};
use fusec_engine::extract::Limits;
use fusec_engine::extract::serialized::Serialized;
use std::io::Write;
use std::time::Duration;

/// Prints the answer as one line of JSON.
pub fn run(args: &ExtractArgs, ui: &Ui) -> Result<Status> {
    let shown = inputs::display(&args.file);
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {shown}"))?;
    let problem = Serialized::parse(&bytes).with_context(|| format!("cannot use {shown}"))?;
    let time = args.seconds.map(Duration::from_secs_f64);
    let limits = Limits { time, ..Limits::default() };
    let working = ui.working("extracting");
    let solution = problem.solve(&limits).with_context(|| format!("cannot solve {shown}"))?;
    drop(working);
    writeln!(ui.out(), "{}", problem.to_json(&solution)?)?;
    let proof = if solution.optimal { "proven least" } else { "not proven" };
    ui.say(format!("cost {}, lower bound {}, {proof}", solution.cost, solution.lower_bound));
    Ok(Status::Clean)
}
