//! Bucket elimination: exact solution of a part whose decisions depend on each other narrowly.
//!
//! One variable a class (value = a node, or "off"), one pairwise table a pair of classes where a
//! node of one uses the other, which also forbids 2-cycles; longer cycles get a table when a
//! solution contains them. Variables are eliminated in order of the size of the table they
//! leave. Costs are whole numbers, so equal layers leave equal tables, and a step done once is
//! looked up afterwards ([`Memo`]): a deep model costs little more than its distinct layers.

use super::clock::Clock;
use super::component::Part;
use super::draft::NONE;
use super::tables::{Memo, Step, TableId};
use std::collections::BTreeSet;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooWide {
    /// A table would exceed the cap.
    Table,
    /// The tables together would take too long.
    Work,
    /// Too many cycles had to be cut.
    Cycles,
}

/// A table over some variables, ascending.
#[derive(Debug, Clone)]
struct Factor {
    scope: Vec<u32>,
    table: TableId,
}

/// Bounds of one elimination.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caps {
    pub entries: usize,
    pub work: u64,
}

/// Table entries that cost as much as one elementary step of search.
pub(super) const ENTRIES_A_STEP: u64 = 16;

/// Rounds of cutting cycles.
const CYCLE_ROUNDS: usize = 40;

/// An optimal selection of the part, cycles included.
pub(super) fn solve(
    part: &Part,
    memo: &mut Memo,
    caps: Caps,
    clock: &mut Clock,
) -> Result<Vec<u32>, TooWide> {
    let mut cycles: Vec<Vec<u32>> = Vec::new();
    let mut left = caps.work;
    for _ in 0..CYCLE_ROUNDS {
        let (choice, spent) = solve_once(part, memo, &cycles, Caps { work: left, ..caps }, clock)?;
        left = left.saturating_sub(spent);
        let choice = part.trim(&choice);
        match part.find_cycle(&choice) {
            None => return Ok(choice),
            Some(cycle) => cycles.push(cycle),
        }
    }
    Err(TooWide::Cycles)
}

fn domain(part: &Part, class: u32) -> u32 {
    part.class(class).len() as u32 + u32::from(!part.root[class as usize])
}

fn solve_once(
    part: &Part,
    memo: &mut Memo,
    cycles: &[Vec<u32>],
    caps: Caps,
    clock: &mut Clock,
) -> Result<(Vec<u32>, u64), TooWide> {
    let domains: Vec<u32> = (0..part.classes() as u32).map(|c| domain(part, c)).collect();
    let plan = plan(part, &domains, cycles, caps)?;
    let mut buckets = initial(part, memo, &domains, cycles, &plan.rank);
    let mut steps: Vec<(Vec<u32>, Step)> = Vec::with_capacity(plan.order.len());
    for (at, &var) in plan.order.iter().enumerate() {
        let factors = std::mem::take(&mut buckets[at]);
        let mut scope: Vec<u32> = factors.iter().flat_map(|f| &f.scope).copied().collect();
        scope.sort_unstable();
        scope.dedup();
        scope.retain(|&v| v != var);
        let before = memo.work;
        let step = apply(memo, var, &scope, &factors, &domains);
        if !clock.spend(((memo.work - before) / ENTRIES_A_STEP) as usize + 1) {
            return Err(TooWide::Work);
        }
        if let Some(next) = scope.iter().map(|&v| plan.rank[v as usize]).min() {
            buckets[next as usize].push(Factor { scope: scope.clone(), table: step.message });
        }
        steps.push((scope, step));
    }
    let mut value = vec![0u32; part.classes()];
    for (&var, (scope, step)) in plan.order.iter().zip(&steps).rev() {
        let at = scope
            .iter()
            .fold(0usize, |at, &v| at * domains[v as usize] as usize + value[v as usize] as usize);
        value[var as usize] = u32::from(step.best[at]);
    }
    let choice = (0..part.classes() as u32)
        .map(|c| {
            let nodes = part.class(c);
            let node = nodes.start + value[c as usize];
            if node < nodes.end { node } else { NONE }
        })
        .collect();
    Ok((choice, plan.work))
}

/// One elimination through the memo: positions instead of variables make it reusable.
fn apply(memo: &mut Memo, var: u32, scope: &[u32], factors: &[Factor], domains: &[u32]) -> Step {
    let dims: Vec<u32> = scope.iter().map(|&v| domains[v as usize]).collect();
    let own = domains[var as usize];
    let operands: Vec<(TableId, Vec<u32>)> = factors
        .iter()
        .map(|f| {
            let positions = f
                .scope
                .iter()
                .map(|v| scope.binary_search(v).map_or(scope.len() as u32, |at| at as u32));
            (f.table, positions.collect())
        })
        .collect();
    memo.eliminate(own, &dims, operands)
}

/// The tables of nodes, kids and cycles, each in the bucket of its first eliminated variable.
fn initial(
    part: &Part,
    memo: &mut Memo,
    domains: &[u32],
    cycles: &[Vec<u32>],
    rank: &[u32],
) -> Vec<Vec<Factor>> {
    let mut buckets: Vec<Vec<Factor>> = vec![Vec::new(); part.classes()];
    let mut put = |scope: Vec<u32>, table: TableId| {
        let first = scope.iter().map(|&v| rank[v as usize]).min().unwrap_or(0);
        buckets[first as usize].push(Factor { scope, table });
    };
    for class in 0..part.classes() as u32 {
        let mut costs: Vec<u64> = part.class(class).map(|n| part.cost[n as usize]).collect();
        costs.resize(domains[class as usize] as usize, 0);
        put(vec![class], memo.intern(costs));
        for other in neighbours(part, class).into_iter().filter(|&o| o > class) {
            put(vec![class, other], memo.intern(pair(part, domains, class, other)));
        }
    }
    for cycle in cycles {
        let mut scope = cycle.clone();
        scope.sort_unstable();
        let table = forbid(part, domains, cycle, &scope);
        put(scope, memo.intern(table));
    }
    buckets
}

/// Classes used by nodes of a class, or using it.
fn neighbours(part: &Part, class: u32) -> BTreeSet<u32> {
    let kids = part.class(class).flat_map(|n| part.kids.row(n)).copied();
    let users = part.users.row(class).iter().map(|&n| part.class_of[n as usize]);
    kids.chain(users).collect()
}

/// 0 where two classes' values go together: what one uses is on in the other, and not both ways.
fn pair(part: &Part, domains: &[u32], a: u32, b: u32) -> Vec<u64> {
    let uses = |of: u32, other: u32| -> Vec<bool> {
        let mut uses: Vec<bool> =
            part.class(of).map(|n| part.kids.row(n).binary_search(&other).is_ok()).collect();
        uses.resize(domains[of as usize] as usize, false);
        uses
    };
    let (a_uses, b_uses) = (uses(a, b), uses(b, a));
    let (a_nodes, b_nodes) = (part.class(a).len(), part.class(b).len());
    let mut table = Vec::with_capacity(a_uses.len() * b_uses.len());
    for (i, &ab) in a_uses.iter().enumerate() {
        for (j, &ba) in b_uses.iter().enumerate() {
            let bad = (ab && (j >= b_nodes || ba)) || (ba && i >= a_nodes);
            table.push(if bad { super::units::INF } else { 0 });
        }
    }
    table
}

/// Forbids that every class of the cycle uses the next one.
fn forbid(part: &Part, domains: &[u32], cycle: &[u32], scope: &[u32]) -> Vec<u64> {
    let size: usize = scope.iter().map(|&v| domains[v as usize] as usize).product();
    let on_cycle = |class: u32, value: usize| {
        let nodes = part.class(class);
        let at = cycle.iter().position(|&c| c == class).unwrap_or(0);
        let next = cycle[(at + 1) % cycle.len()];
        value < nodes.len()
            && part.kids.row(nodes.start + value as u32).binary_search(&next).is_ok()
    };
    (0..size)
        .map(|entry| {
            let mut rest = entry;
            let closed = scope.iter().rev().all(|&v| {
                let dim = domains[v as usize] as usize;
                let value = rest % dim;
                rest /= dim;
                on_cycle(v, value)
            });
            if closed { super::units::INF } else { 0 }
        })
        .collect()
}

/// An elimination order and what it costs.
struct Plan {
    order: Vec<u32>,
    rank: Vec<u32>,
    work: u64,
}

/// Simulates elimination on the graph alone: smallest left-over table first, ties by number.
fn plan(part: &Part, domains: &[u32], cycles: &[Vec<u32>], caps: Caps) -> Result<Plan, TooWide> {
    let count = part.classes();
    let mut near: Vec<Vec<u32>> =
        (0..count as u32).map(|c| neighbours(part, c).into_iter().collect()).collect();
    for cycle in cycles {
        for &a in cycle {
            near[a as usize] = merged(&near[a as usize], cycle, a);
        }
    }
    let weigh =
        |near: &[u32]| -> f64 { near.iter().map(|&v| f64::from(domains[v as usize])).product() };
    let key = |near: &[u32], v: u32| (weigh(near).to_bits(), v);
    if domains.iter().any(|&d| d > u32::from(u16::MAX)) {
        return Err(TooWide::Table);
    }
    let mut queue: BTreeSet<(u64, u32)> =
        (0..count as u32).map(|v| key(&near[v as usize], v)).collect();
    let mut plan = Plan { order: Vec::with_capacity(count), rank: vec![0; count], work: 0 };
    while let Some((bits, var)) = queue.pop_first() {
        let entries = f64::from_bits(bits);
        let joint = entries * f64::from(domains[var as usize]);
        if entries > caps.entries as f64 || joint > 8.0 * caps.entries as f64 {
            return Err(TooWide::Table);
        }
        plan.work += entries as u64 * u64::from(domains[var as usize]);
        if plan.work > caps.work {
            return Err(TooWide::Work);
        }
        plan.rank[var as usize] = plan.order.len() as u32;
        plan.order.push(var);
        let clique = std::mem::take(&mut near[var as usize]);
        for &other in &clique {
            let at = other as usize;
            queue.remove(&key(&near[at], other));
            near[at] = merged(&near[at], &clique, other);
            if let Ok(gone) = near[at].binary_search(&var) {
                near[at].remove(gone);
            }
            queue.insert(key(&near[at], other));
        }
    }
    Ok(plan)
}

/// Union of an ascending list and another list, without one member.
fn merged(list: &[u32], with: &[u32], without: u32) -> Vec<u32> {
    let mut all: Vec<u32> = list.iter().chain(with).copied().filter(|&v| v != without).collect();
    all.sort_unstable();
    all.dedup();
    all
}
