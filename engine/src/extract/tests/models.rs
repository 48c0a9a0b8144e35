//! Decoder-shaped problems: proved, the same by either method, affine in the number of layers.

use super::decoder::{Model, decoder};
use crate::extract::{Limits, solve};
use std::fmt::Write;

fn optimum(layers: usize, tokens: f64, algebra: bool, limits: &Limits) -> f64 {
    let problem = decoder(Model { layers, tokens, algebra });
    let found = solve(&problem, limits).expect("a decoder can be built");
    assert!(found.optimal, "{layers} layers, {tokens} tokens: {:?}", found.stats);
    assert_eq!(problem.check(&found.choice), Ok(found.cost));
    found.cost
}

#[test]
fn tables_and_bounds_agree() {
    let without_tables = Limits { table_entries: 0, ..Limits::default() };
    for (layers, tokens, algebra) in [(3, 32.0, false), (3, 32.0, true), (2, 4096.0, true)] {
        let tables = optimum(layers, tokens, algebra, &Limits::default());
        let bounds = optimum(layers, tokens, algebra, &without_tables);
        assert!((tables - bounds).abs() < 1e-9 * tables, "{tables} {bounds}");
    }
}

#[test]
fn every_further_pair_of_layers_costs_the_same() {
    let mut text = String::new();
    for (tokens, algebra) in [(32.0, false), (32.0, true), (4096.0, false), (4096.0, true)] {
        let costs = [2, 4, 6, 12].map(|n| optimum(n, tokens, algebra, &Limits::default()));
        let pair = costs[2] - costs[1];
        assert!((costs[3] - costs[2] - 3.0 * pair).abs() < 1e-6, "{costs:?}");
        writeln!(text, "{tokens} tokens, algebra {algebra}: {pair:.4} us a pair").unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn work_grows_with_layers_not_faster() {
    let work = |layers| {
        let problem = decoder(Model { layers, tokens: 32.0, algebra: true });
        solve(&problem, &Limits::default()).expect("a decoder can be built").stats.work
    };
    let (few, many) = (work(10), work(40));
    assert!(many as f64 <= few as f64 * 4.0 * 1.3, "{few} steps at 10 layers, {many} at 40");
}
