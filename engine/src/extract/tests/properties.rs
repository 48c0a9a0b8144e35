//! `exact == brute force`, true bounds under any limits, reductions keep the optimum.

use super::brute::{every, least, problems, with_odd_costs};
use crate::extract::ascent::{ascend, least_with};
use crate::extract::clock::Clock;
use crate::extract::component::{Part, split};
use crate::extract::draft::Draft;
use crate::extract::presolve::presolve;
use crate::extract::problem::Problem;
use crate::extract::units::Scale;
use crate::extract::{ExtractError, Limits, ProblemBuilder, solve};
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

/// Checks one run against the known optimum.
fn check(problem: &Problem, limits: &Limits, least: Option<f64>, must_prove: bool) {
    match (solve(problem, limits), least) {
        (Err(ExtractError::Underivable { .. }), None) => {}
        (Ok(found), Some(least)) => {
            let cost = problem.check(&found.choice).expect("a valid selection");
            assert!(close(cost, found.cost), "says {} is {cost}", found.cost);
            assert!(found.cost >= least - 1e-9, "{} beats brute force {least}", found.cost);
            assert!(found.lower_bound <= least + 1e-9, "bound {} > {least}", found.lower_bound);
            assert!(!found.optimal || close(found.cost, least), "{} is not {least}", found.cost);
            assert!(!must_prove || found.optimal, "not proved: {found:?}");
        }
        (found, least) => panic!("{found:?} but brute force says {least:?}"),
    }
}

/// Limits under which no table is allowed, so that bounds and search do all the work.
fn without_tables() -> Limits {
    Limits { table_entries: 0, ..Limits::default() }
}

fn cases() -> ProptestConfig {
    ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn exact_equals_brute_force(problem in problems(7)) {
        let best = least(&problem);
        check(&problem, &Limits::default(), best, true);
        check(&problem, &without_tables(), best, true);
    }

    #[test]
    fn odd_costs_too(problem in problems(6)) {
        let problem = with_odd_costs(&problem);
        let best = least(&problem);
        check(&problem, &Limits::default(), best, true);
        check(&problem, &without_tables(), best, true);
    }

    #[test]
    fn any_work_limit_gives_a_valid_answer_and_a_true_bound(
        problem in problems(7),
        work in 0u64..2000,
        table_entries in 0usize..64,
    ) {
        check(&problem, &Limits { work, table_entries, time: None }, least(&problem), false);
    }

    #[test]
    fn presolve_keeps_the_optimum(problem in problems(7)) {
        if let Some(best) = least(&problem) {
            let mut draft = Draft::new(&problem, Scale::Decimal { ten_power: 1.0, step: 1 }, 1e9);
            presolve(&mut draft, &mut Clock::new(&Limits::default()));
            let rest = as_problem(&draft).map_or(0.0, |p| least(&p).expect("still derivable"));
            prop_assert_eq!(rest + draft.paid as f64, best);
        }
    }

    #[test]
    fn dual_ascent_bounds_are_true(problem in problems(6), seed in 0u64..9) {
        if least(&problem).is_some() {
            let mut draft = Draft::new(&problem, Scale::Decimal { ten_power: 1.0, step: 1 }, 1e9);
            draft.sweep();
            for part in split(&draft) {
                let ascent = ascend(&part, &part.cost, seed, &mut Clock::new(&Limits::default()));
                let with = least_with(&part, &ascent.reduced);
                every(&part_as_problem(&part), &mut |choice, cost| {
                    assert!(ascent.bound as f64 <= cost);
                    for &node in choice.iter().flatten() {
                        assert!((ascent.bound + with[node as usize]) as f64 <= cost);
                    }
                });
            }
        }
    }
}

/// A draft as a problem of its own; `None` if nothing is left to decide.
fn as_problem(draft: &Draft) -> Option<Problem> {
    let mut builder = ProblemBuilder::new(draft.classes() as u32);
    for node in draft.live() {
        let cost = draft.cost[node as usize] as f64;
        builder.node(draft.class_of[node as usize], cost, &draft.kids[node as usize]);
    }
    for class in 0..draft.classes() as u32 {
        if draft.root[class as usize] {
            builder.root(class);
        }
    }
    builder.build().ok()
}

/// A part as a problem with the same numbers.
fn part_as_problem(part: &Part) -> Problem {
    let mut builder = ProblemBuilder::new(part.classes() as u32);
    for node in 0..part.nodes() as u32 {
        let class = part.class_of[node as usize];
        builder.node(class, part.cost[node as usize] as f64, part.kids.row(node));
    }
    for root in part.roots() {
        builder.root(root);
    }
    builder.build().expect("a part is well formed")
}
