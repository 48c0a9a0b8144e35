//! Parts too wide for tables: heuristics from above, bounds from below, reductions in between,
//! and branching where these meet no more.
//!
//! One step at a part: a few dual ascents give a bound, reduced costs and guided selections.
//! Nodes that no better selection can contain go, the reductions run again, and what is left
//! falls apart or fits tables. If nothing goes, one node of an active class is demanded in one
//! branch and forbidden in the other.

use super::ascent::{Ascent, ascend, least_with};
use super::clock::Clock;
use super::component::{Part, split};
use super::draft::{Draft, NONE};
use super::eliminate::{self, Caps};
use super::greedy::greedy;
use super::local;
use super::neighbourhood::{SIZES, around, seed_class};
use super::presolve::{is_decided, presolve};
use super::tables::Memo;
use super::units::{INF, add};

/// Ascents at the top of a part, and inside of branches.
const ASCENTS: (u64, u64) = (8, 3);
/// Nodes tried before one is branched on.
const CANDIDATES: usize = 12;
/// Table caps inside of branches, where many small problems must be quick.
const BRANCH_CAPS: Caps = Caps { entries: 1 << 14, work: 1 << 19 };
/// Neighbourhoods without gain before the search gives up on them.
const IDLE: usize = 32;
/// One part in so many of the limits goes to neighbourhoods.
const WANDER_SHARE: u64 = 10;
/// Deepest nesting of branches and reductions.
const DEPTH: usize = 100;

/// A selection of a part and what is known about the least cost below the cutoff.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// A valid selection, trimmed; or all [`NONE`] if none was found.
    pub choice: Vec<u32>,
    /// Its cost; [`INF`] for none.
    pub cost: u64,
    /// No selection costs less than the smaller of this and the cutoff asked for.
    pub bound: u64,
    /// Whether tables alone gave the answer.
    pub by_tables: bool,
}

/// What the search shares between parts.
pub(super) struct Shared<'a> {
    pub memo: &'a mut Memo,
    pub clock: &'a mut Clock,
    pub caps: Caps,
}

impl Answer {
    fn none(part: &Part, bound: u64) -> Self {
        Self { choice: vec![NONE; part.classes()], cost: INF, bound, by_tables: false }
    }

    /// Replaces the selection if the candidate is complete and cheaper.
    fn consider(&mut self, part: &Part, choice: &[u32]) {
        if let Some(choice) = complete(part, choice) {
            let cost = part.cost_of(&choice);
            if cost < self.cost {
                self.cost = cost;
                self.choice = choice;
            }
        }
    }
}

/// Solves a part by tables if they fit, else by bounds; only selections below `cutoff` matter.
pub(super) fn solve_part(part: &Part, cutoff: u64, shared: &mut Shared, depth: usize) -> Answer {
    if depth > 0 && shared.clock.is_out() {
        return Answer::none(part, 0);
    }
    let caps = if depth == 0 { shared.caps } else { BRANCH_CAPS };
    shared.clock.spend(part.nodes());
    let tables = eliminate::solve(part, shared.memo, caps, shared.clock);
    shared.memo.tidy();
    match tables {
        Ok(choice) => {
            let cost = part.cost_of(&choice);
            Answer { choice, cost, bound: cost, by_tables: true }
        }
        Err(_) => search(part, cutoff, shared, depth),
    }
}

fn search(part: &Part, cutoff: u64, shared: &mut Shared, depth: usize) -> Answer {
    let mut best = Answer::none(part, 0);
    if depth == 0 {
        let start = sliced_greedy(part, &part.cost, shared.clock);
        best.consider(part, &start);
        best.consider(part, &local::improve(part, &start, shared.clock));
    }
    let ascent = best_ascent(part, &mut best, cutoff, shared.clock, depth);
    best.bound = ascent.bound;
    if depth == 0 && best.bound < cutoff.min(best.cost) && best.cost < INF {
        wander(part, &mut best, cutoff, shared);
    }
    let cutoff = cutoff.min(best.cost);
    if best.bound >= cutoff || shared.clock.is_out() || depth >= DEPTH {
        return best;
    }
    let all = |_| true;
    let Some(draft) = tightened(part, &ascent, cutoff, all, None, shared.clock) else {
        best.bound = cutoff;
        return best;
    };
    if draft.size().1 * 20 <= part.nodes() * 19 {
        descend(part, &draft, &mut best, cutoff, shared, depth);
    } else {
        branch(part, &ascent, &mut best, cutoff, shared, depth);
    }
    best
}

/// The best of several ascents; each also guides a selection.
fn best_ascent(
    part: &Part,
    best: &mut Answer,
    cutoff: u64,
    clock: &mut Clock,
    depth: usize,
) -> Ascent {
    // The first bound is never refused, but when time is up it costs no more than a few passes.
    let mut grace = if depth == 0 { clock.grace(4 * part.nodes()) } else { clock.clone() };
    let mut top = ascend(part, &part.cost, 0, &mut grace);
    clock.charge(&grace);
    let count = if depth == 0 { ASCENTS.0 } else { ASCENTS.1 };
    for seed in 1..=count {
        if top.bound >= cutoff.min(best.cost) || clock.is_out() {
            break;
        }
        let other = ascend(part, &part.cost, seed, clock);
        if depth == 0 || seed == count {
            guided(part, &other, best, clock);
        }
        if other.bound > top.bound {
            top = other;
        }
    }
    top
}

/// A greedy selection for at most a part of what is left.
fn sliced_greedy(part: &Part, price: &[u64], clock: &mut Clock) -> Vec<u32> {
    let mut slice = clock.slice(clock.left() / 8);
    let choice = greedy(part, price, &mut slice);
    clock.charge(&slice);
    choice
}

/// Considers a selection of nodes used up by an ascent.
fn guided(part: &Part, ascent: &Ascent, best: &mut Answer, clock: &mut Clock) {
    let reduced = part.cost.iter().zip(&ascent.reduced);
    let price: Vec<u64> =
        reduced.map(|(&cost, &reduced)| if reduced == 0 { cost } else { INF }).collect();
    let start = sliced_greedy(part, &price, clock);
    if complete(part, &start).is_some() {
        best.consider(part, &local::improve(part, &start, clock));
    }
}

/// The part without nodes that no selection below the cutoff contains, reduced again; `None` if
/// there is no such selection. Only `allowed` nodes are kept, and `demanded` is a further root.
fn tightened(
    part: &Part,
    ascent: &Ascent,
    cutoff: u64,
    allowed: impl Fn(u32) -> bool,
    demanded: Option<u32>,
    clock: &mut Clock,
) -> Option<Draft> {
    let slack = cutoff.checked_sub(ascent.bound)?;
    let least = least_with(part, &ascent.reduced);
    let mut draft = Draft::empty(part.classes());
    for node in 0..part.nodes() as u32 {
        if least[node as usize] < slack && allowed(node) {
            let class = part.class_of[node as usize];
            draft.push(class, part.cost[node as usize], part.kids.row(node).into(), node);
        }
    }
    draft.root.clone_from(&part.root);
    if let Some(class) = demanded {
        draft.root[class as usize] = true;
    }
    presolve(&mut draft, clock);
    (!hopeless(&draft) && draft.paid < cutoff).then_some(draft)
}

/// Solves what is left of a part after reductions and takes over the translated answer.
fn descend(
    part: &Part,
    draft: &Draft,
    best: &mut Answer,
    cutoff: u64,
    shared: &mut Shared,
    depth: usize,
) {
    let mut bound = draft.paid;
    let mut picked = vec![NONE; part.classes()];
    for sub in &split(draft) {
        let room = cutoff.saturating_sub(bound);
        let answer = solve_part(sub, room, shared, depth + 1);
        bound = add(bound, answer.bound.min(room));
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
    best.consider(part, &choice);
    best.bound = best.bound.max(bound.min(cutoff));
}

/// Re-solves neighbourhoods of the best selection while that finds something, with a share of
/// what is left.
fn wander(part: &Part, best: &mut Answer, cutoff: u64, shared: &mut Shared) {
    let mut slice = shared.clock.slice(shared.clock.left() / WANDER_SHARE);
    let (mut size, mut idle, mut round) = (SIZES.0, 0, 0);
    let mut full = local::completed(part, &best.choice);
    while idle < IDLE && best.bound < cutoff.min(best.cost) && slice.spend(part.nodes()) {
        round += 1;
        let before = best.cost;
        let mut inner = Shared { memo: &mut *shared.memo, clock: &mut slice, caps: BRANCH_CAPS };
        resolve_around(part, best, &full, (size, round), &mut inner);
        if best.cost < before {
            full = local::completed(part, &best.choice);
            idle = 0;
        } else {
            idle += 1;
            size = if idle % 16 == 0 { SIZES.0 } else { (size + size / 8).min(SIZES.1) };
        }
    }
    shared.clock.charge(&slice);
}

/// Solves one neighbourhood of a selection, within a sixteenth of what is left.
fn resolve_around(
    part: &Part,
    best: &mut Answer,
    full: &[u32],
    (size, round): (usize, u64),
    shared: &mut Shared,
) {
    let Some(seed) = seed_class(&best.choice, round) else {
        return;
    };
    let draft = around(part, full, seed, size, round, shared.clock);
    if draft.paid >= best.cost || hopeless(&draft) {
        return;
    }
    let (below, bound) = (best.cost, best.bound);
    let mut short = shared.clock.slice(shared.clock.left() / 16);
    let mut inner = Shared { memo: &mut *shared.memo, clock: &mut short, caps: BRANCH_CAPS };
    descend(part, &draft, best, below, &mut inner, 1);
    shared.clock.charge(&short);
    // A neighbourhood says nothing about the rest.
    best.bound = bound;
    if best.cost < below {
        let full = local::completed(part, &best.choice);
        best.consider(part, &local::improve(part, &full, shared.clock));
    }
}

fn hopeless(draft: &Draft) -> bool {
    (0..draft.classes()).any(|c| draft.root[c] && draft.nodes[c].is_empty())
}

/// A node to branch on, and what both ascents say after demanding and forbidding it.
struct Fork {
    node: u32,
    with: Ascent,
    without: Ascent,
}

fn branch(
    part: &Part,
    ascent: &Ascent,
    best: &mut Answer,
    cutoff: u64,
    shared: &mut Shared,
    depth: usize,
) {
    let Some(fork) = choose_fork(part, ascent, best, cutoff, shared.clock) else {
        return;
    };
    let class = part.class_of[fork.node as usize];
    let first = fork.with.bound <= fork.without.bound;
    let mut bound = INF;
    for with in [first, !first] {
        let below = cutoff.min(best.cost);
        let ascent = if with { &fork.with } else { &fork.without };
        let rival = |n| if with { part.class_of[n as usize] == class } else { false };
        let allowed = |n: u32| if n == fork.node { with } else { !rival(n) };
        if !shared.clock.spend(part.nodes()) {
            bound = bound.min(ascent.bound);
            continue;
        }
        let demanded = with.then_some(class);
        let Some(draft) = tightened(part, ascent, below, allowed, demanded, shared.clock) else {
            bound = bound.min(below);
            continue;
        };
        let mut side = Answer::none(part, ascent.bound);
        descend(part, &draft, &mut side, below, shared, depth);
        best.consider(part, &side.choice);
        bound = bound.min(side.bound);
    }
    best.bound = best.bound.max(bound);
}

/// Tries nodes of active classes: the one whose weaker side gains most.
fn choose_fork(
    part: &Part,
    ascent: &Ascent,
    best: &Answer,
    cutoff: u64,
    clock: &mut Clock,
) -> Option<Fork> {
    let least = least_with(part, &ascent.reduced);
    let mut found: Option<(u64, u64, Fork)> = None;
    let roots = part.roots().filter(|&c| part.class(c).len() > 1);
    for class in roots.take(CANDIDATES) {
        let chosen = best.choice[class as usize];
        let node = part.class(class).min_by_key(|&n| (n != chosen, least[n as usize]))?;
        let fork = try_fork(part, ascent, node, clock);
        let sides = [fork.with.bound.min(cutoff), fork.without.bound.min(cutoff)];
        let score = (sides[0].min(sides[1]), sides[0].max(sides[1]));
        if found.as_ref().is_none_or(|f| score > (f.0, f.1)) {
            found = Some((score.0, score.1, fork));
        }
        if !clock.spend(1) {
            break;
        }
    }
    found.map(|f| f.2)
}

/// Continues an ascent with a node demanded, and with it forbidden.
fn try_fork(part: &Part, ascent: &Ascent, node: u32, clock: &mut Clock) -> Fork {
    let mut reduced = ascent.reduced.clone();
    reduced[node as usize] = INF;
    let without = extended(part, ascent, &reduced, clock);
    reduced.clone_from(&ascent.reduced);
    for sibling in part.class(part.class_of[node as usize]) {
        if sibling != node {
            reduced[sibling as usize] = INF;
        }
    }
    let with = extended(part, ascent, &reduced, clock);
    Fork { node, with, without }
}

fn extended(part: &Part, ascent: &Ascent, reduced: &[u64], clock: &mut Clock) -> Ascent {
    let mut more = ascend(part, reduced, 0, clock);
    more.bound = add(more.bound, ascent.bound);
    more
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
