//! The whole line: reduce, split, solve each part, put the selections together.

use super::clock::Clock;
use super::component::split;
use super::derive;
use super::draft::{Draft, NONE};
use super::eliminate::{Caps, ENTRIES_A_STEP};
use super::presolve::{is_decided, presolve};
use super::problem::{ExtractError, Limits, NodeId, Problem, Solution, Stats};
use super::search::{Answer, Shared, solve_part};
use super::tables::Memo;
use super::units::{INF, Scale, add};

/// Finds the cheapest acyclic selection within the limits.
///
/// Fails only if a root cannot be built at all. Otherwise the selection is valid whatever the
/// limits were, `lower_bound` is true, and `optimal` tells whether both meet. Costs are compared
/// in units of 2^-50 of the total (exactly, if they are whole or short decimal numbers), so
/// "optimal" means within that.
pub fn solve(problem: &Problem, limits: &Limits) -> Result<Solution, ExtractError> {
    let mut clock = Clock::new(limits);
    let first = derive::cheapest_trees(problem)?;
    let fallback = derive::restrict(problem, &first.choice);
    let ceiling = total(problem, &fallback);
    let scale = Scale::choose(problem.cost.iter().copied().filter(|&c| c <= ceiling), ceiling);
    let mut draft = Draft::new(problem, scale, ceiling);
    presolve(&mut draft, &mut clock);
    let mut stats = Stats { reduced: draft.size(), ..Stats::default() };
    let mut picked = vec![NONE; problem.classes()];
    let mut bound = draft.paid;
    let mut memo = Memo::default();
    for part in split(&draft) {
        let work = clock.left().saturating_mul(ENTRIES_A_STEP);
        let caps = Caps { entries: limits.table_entries, work };
        let mut shared = Shared { memo: &mut memo, clock: &mut clock, caps };
        let answer = solve_part(&part, INF, &mut shared, 0);
        count(&mut stats, &answer);
        bound = add(bound, answer.bound);
        for (class, &node) in answer.choice.iter().enumerate() {
            if node != NONE {
                picked[part.class_in_draft[class] as usize] =
                    draft.origin[part.node_in_draft[node as usize] as usize];
            }
        }
    }
    stats.largest_table = memo.largest;
    stats.work = clock.spent;
    let full = expand(problem, &draft, &picked);
    let cheapest = problem.check(&full).ok().filter(|&cost| cost <= ceiling);
    debug_assert!(problem.check(&full).is_ok(), "{:?}", problem.check(&full));
    let (choice, cost) = cheapest.map_or((fallback, ceiling), |cost| (full, cost));
    let bound = scale.cost(bound).max(first.longest_path);
    let optimal = (stats.open == 0 && cost <= ceiling) || cost <= bound;
    let lower_bound = if optimal { cost } else { bound };
    Ok(Solution { choice, cost, lower_bound, optimal, stats })
}

fn count(stats: &mut Stats, answer: &Answer) {
    stats.components += 1;
    if answer.bound < answer.cost {
        stats.open += 1;
    } else if answer.by_tables {
        stats.by_tables += 1;
    } else {
        stats.by_search += 1;
    }
}

fn total(problem: &Problem, choice: &[Option<NodeId>]) -> f64 {
    choice.iter().flatten().map(|&n| problem.node_cost(n)).sum()
}

/// Follows the picked and decided nodes from the roots through the original problem.
fn expand(problem: &Problem, draft: &Draft, picked: &[u32]) -> Vec<Option<NodeId>> {
    let choice: Vec<Option<NodeId>> = (0..problem.classes() as u32)
        .map(|c| match picked[c as usize] {
            NONE => is_decided(draft, c),
            node => Some(node),
        })
        .collect();
    derive::restrict(problem, &choice)
}
