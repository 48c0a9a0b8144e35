//! Parts too wide for tables: heuristics from above, bounds from below, reductions in between.

use super::ascent::{Ascent, ascend, least_with};
use super::clock::Clock;
use super::component::{Part, split};
use super::draft::{Draft, NONE};
use super::eliminate::{self, Caps};
use super::greedy::greedy;
use super::local;
use super::presolve::{is_decided, presolve};
use super::problem::Stats;
use super::tables::Memo;
use super::units::{INF, add};

/// A selection of a part and what is known about the least cost below the cutoff.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// Some valid selection, trimmed.
    pub choice: Vec<u32>,
    /// Its cost.
    pub cost: u64,
    /// No selection costs less than the smaller of this and the cutoff asked for.
    pub bound: u64,
}

/// What the search shares between parts.
pub(super) struct Shared<'a> {
    pub memo: &'a mut Memo,
    pub clock: &'a mut Clock,
    pub table_entries: usize,
    pub stats: &'a mut Stats,
}

/// Solves a part by tables if they fit, else by bounds; only selections below `cutoff` matter.
pub(super) fn solve_part(part: &Part, cutoff: u64, shared: &mut Shared) -> Answer {
    let work = shared.clock.left() / 8;
    let caps = Caps { entries: shared.table_entries, work };
    let before = shared.memo.work;
    let tables = eliminate::solve(part, shared.memo, caps);
    shared.clock.spend((shared.memo.work - before) as usize / 8);
    if let Ok(choice) = tables {
        shared.stats.by_tables += 1;
        let cost = part.cost_of(&choice);
        return Answer { choice, cost, bound: cost };
    }
    shared.memo.forget_large();
    search(part, cutoff, shared)
}

fn search(part: &Part, cutoff: u64, shared: &mut Shared) -> Answer {
    let mut best = first_selection(part, shared.clock);
    let mut ascent = ascend(part, &part.cost, 0, false);
    for seed in 1..8 {
        if ascent.bound >= cutoff.min(best.cost) || !shared.clock.spend(ascent.work) {
            break;
        }
        let other = ascend(part, &part.cost, seed, false);
        consider(part, &mut best, guided(part, &other, shared.clock));
        if other.bound > ascent.bound {
            ascent = other;
        }
    }
    best.bound = ascent.bound.max(best.bound);
    let cutoff = cutoff.min(best.cost);
    if best.bound >= cutoff {
        shared.stats.by_search += 1;
        return best;
    }
    if shared.clock.is_out() {
        shared.stats.open += 1;
        return best;
    }
    let Some(draft) = tightened(part, &ascent, cutoff) else {
        shared.stats.by_search += 1;
        best.bound = cutoff;
        return best;
    };
    if draft.size().1 * 20 > part.nodes() * 19 {
        shared.stats.open += 1;
        return best;
    }
    descend(part, &draft, best, cutoff, shared)
}

/// Solves what is left of a part after reductions and translates the answer.
fn descend(
    part: &Part,
    draft: &Draft,
    mut best: Answer,
    cutoff: u64,
    shared: &mut Shared,
) -> Answer {
    let parts = split(draft);
    let mut bound = draft.paid;
    let mut picked = vec![NONE; part.classes()];
    for sub in &parts {
        let answer = solve_part(sub, cutoff.saturating_sub(bound), shared);
        bound = add(bound, answer.bound.min(cutoff.saturating_sub(bound)));
        for (class, &node) in answer.choice.iter().enumerate() {
            if node != NONE {
                let node = sub.node_in_draft[node as usize];
                picked[sub.class_in_draft[class] as usize] = draft.origin[node as usize];
            }
        }
    }
    let choice: Vec<u32> = (0..part.classes() as u32)
        .map(|c| match picked[c as usize] {
            NONE => is_decided(draft, c).unwrap_or(NONE),
            node => node,
        })
        .collect();
    consider(part, &mut best, choice);
    best.bound = best.bound.max(bound.min(cutoff));
    best
}

/// The part without nodes that no selection below the cutoff contains, reduced again; `None` if
/// there is no such selection.
fn tightened(part: &Part, ascent: &Ascent, cutoff: u64) -> Option<Draft> {
    let least = least_with(part, &ascent.reduced);
    let slack = cutoff - ascent.bound;
    let mut draft = Draft::empty(part.classes());
    for node in 0..part.nodes() as u32 {
        if least[node as usize] < slack {
            let class = part.class_of[node as usize];
            draft.push(class, part.cost[node as usize], part.kids.row(node).into(), node);
        }
    }
    draft.root.clone_from(&part.root);
    presolve(&mut draft, 12);
    let dead = (0..draft.classes()).any(|c| draft.root[c] && draft.nodes[c].is_empty());
    (!dead && draft.paid < cutoff).then_some(draft)
}

/// Replaces the best selection if the candidate is complete and cheaper.
fn consider(part: &Part, best: &mut Answer, choice: Vec<u32>) {
    let Some(choice) = complete(part, &choice) else {
        return;
    };
    let cost = part.cost_of(&choice);
    if cost < best.cost {
        best.cost = cost;
        best.choice = choice;
    }
}

/// The trimmed selection, if it has a node for all that the roots need, and no cycle.
fn complete(part: &Part, choice: &[u32]) -> Option<Vec<u32>> {
    let mut kept = vec![NONE; part.classes()];
    let mut stack: Vec<u32> = part.roots().collect();
    while let Some(class) = stack.pop() {
        if kept[class as usize] == NONE {
            let node = choice[class as usize];
            if node == NONE {
                return None;
            }
            kept[class as usize] = node;
            stack.extend(part.kids.row(node));
        }
    }
    part.find_cycle(&kept).is_none().then_some(kept)
}

fn first_selection(part: &Part, clock: &mut Clock) -> Answer {
    let start = greedy(part, &part.cost, &mut clock.slice(50_000_000));
    let choice = local::improve(part, &start, clock);
    Answer { cost: part.cost_of(&choice), choice, bound: 0 }
}

/// A selection that prefers nodes used up by an ascent.
fn guided(part: &Part, ascent: &Ascent, clock: &mut Clock) -> Vec<u32> {
    let price: Vec<u64> = part
        .cost
        .iter()
        .zip(&ascent.reduced)
        .map(|(&cost, &reduced)| if reduced == 0 { cost } else { INF })
        .collect();
    let start = greedy(part, &price, &mut clock.slice(20_000_000));
    if complete(part, &start).is_none() {
        return start;
    }
    local::improve(part, &start, clock)
}
