//! `fusec extract`: solve an extraction problem in the JSON form of egraph-serialize.

use crate::Status;
use crate::args::ExtractArgs;
use crate::inputs;
use crate::ui::Ui;
use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use fusec_engine::extract::Limits;
use fusec_engine::extract::serialized::Serialized;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::time::Duration;

/// Prints the answer as one line of JSON.
pub fn run(args: &ExtractArgs, ui: &Ui) -> Result<Status> {
    let shown = inputs::display(&args.file);
    let bytes = read(&args.file).with_context(|| format!("cannot read {shown}"))?;
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

/// Largest e-graph that is read, unpacked.
const MAX_BYTES: u64 = 512 << 20;

/// Plain or gzipped bytes.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut file = BufReader::new(File::open(path)?);
    let mut magic = [0; 2];
    let n = file.read(&mut magic)?;
    let whole = magic[..n].chain(file);
    let mut bytes = Vec::new();
    match magic == [0x1f, 0x8b] {
        true => GzDecoder::new(whole).take(MAX_BYTES + 1).read_to_end(&mut bytes)?,
        false => whole.take(MAX_BYTES + 1).read_to_end(&mut bytes)?,
    };
    if bytes.len() as u64 > MAX_BYTES {
        bail!("it is larger than {} MiB unpacked", MAX_BYTES >> 20);
    }
    Ok(bytes)
}
