//! Extraction of decoder-shaped problems: CPU time, least of several runs, and growth.
//!
//! `cargo bench -p fusec-engine --bench extract`

mod cpu;
mod decoder;

use cpu::cpu_time;
use decoder::{Model, decoder};
use fusec_engine::extract::{Limits, Problem, Solution, solve};
use std::time::Duration;

/// Runs of each case.
const RUNS: usize = 7;

fn least_time(problem: &Problem) -> (Duration, Solution) {
    let mut best: Option<(Duration, Solution)> = None;
    for _ in 0..RUNS {
        let start = cpu_time();
        let found = solve(problem, &Limits::default()).expect("a decoder can be built");
        let took = cpu_time() - start;
        if best.as_ref().is_none_or(|b| took < b.0) {
            best = Some((took, found));
        }
    }
    best.expect("at least one run")
}

fn main() {
    println!(
        "{:>6} {:>6} {:>8} {:>7} {:>7} {:>15} {:>6} {:>9} {:>9} {:>9}",
        "rules",
        "tokens",
        "layers",
        "classes",
        "nodes",
        "reduced",
        "proved",
        "cost us",
        "ms",
        "us/layer"
    );
    for algebra in [false, true] {
        for tokens in [32.0, 4096.0] {
            for layers in [1, 8, 32, 80, 126] {
                row(Model { layers, tokens, algebra });
            }
        }
    }
}

fn row(model: Model) {
    let problem = decoder(model);
    let (took, found) = least_time(&problem);
    let micros = took.as_secs_f64() * 1e6;
    println!(
        "{:>6} {:>6} {:>8} {:>7} {:>7} {:>15} {:>6} {:>9.1} {:>9.3} {:>9.1}",
        if model.algebra { "all" } else { "fuse" },
        model.tokens,
        model.layers,
        problem.classes(),
        problem.nodes(),
        format!("{}/{}", found.stats.reduced.0, found.stats.reduced.1),
        found.optimal,
        found.cost,
        micros / 1e3,
        micros / model.layers as f64,
    );
}
