//! Reductions that keep the optimum, repeated until none applies.
//!
//! Each removes nodes that some optimal selection does without, or takes out classes whose node
//! is decided. Merging classes only because they look alike is *not* among them: two different
//! ops over the same inputs look alike. `tests` fuzz every step against brute force.

use super::clock::Clock;
use super::draft::{Draft, Kids, NONE};
use super::must::Must;
use super::order::{Order, order};
use super::problem::Csr;
use super::units::add;

/// Longest list of nodes of a class that is compared pair by pair.
const PAIRWISE: usize = 400;

/// Most partners that are tried for a twin class.
const PARTNERS: usize = 16;

/// Most rounds; the rest would gain little.
const ROUNDS: usize = 12;

/// Reduces to a fixpoint, or as far as the limits allow. Each pass leaves a valid draft.
pub(super) fn presolve(draft: &mut Draft, clock: &mut Clock) {
    draft.sweep();
    take_out_decided(draft);
    inline_single(draft);
    draft.sweep();
    for _ in 0..ROUNDS {
        if round(draft, clock) != Some(true) {
            return;
        }
    }
}

/// One pass of each reduction; whether something changed, or `None` once the limits are reached.
fn round(draft: &mut Draft, clock: &mut Clock) -> Option<bool> {
    let mut more = |draft: &Draft| clock.spend(draft.cost.len() / 4).then_some(());
    more(draft)?;
    let order = order(draft);
    let users = draft.users();
    let must = Must::new(draft, &order, &users);
    more(draft)?;
    let mut changed = drop_certain_cycles(draft, &must);
    changed |= force_needed(draft, &order, &must);
    changed |= drop_implied_kids(draft, &order, &must);
    changed |= drop_dominated(draft, &must);
    changed |= drop_twins(draft);
    changed |= draft.sweep();
    more(draft)?;
    changed |= take_out_decided(draft);
    changed |= inline_single(draft);
    if changed {
        draft.sweep();
    }
    Some(changed)
}

/// A node of which some kid always needs the node's own class can only close a cycle.
fn drop_certain_cycles(draft: &mut Draft, must: &Must) -> bool {
    draft.drop_where(|draft, n| {
        let class = draft.class_of[n as usize];
        draft.kids[n as usize].iter().any(|&k| must.contains(k, class))
    })
}

/// What every derivation of a root contains is active in every selection: a root itself.
fn force_needed(draft: &mut Draft, order: &Order, must: &Must) -> bool {
    let mut changed = false;
    let mut needed = vec![0u64; order.sequence.len() / 64 + 1];
    for (at, &class) in order.sequence.iter().enumerate().rev() {
        let root = &mut draft.root[class as usize];
        if needed[at / 64] >> (at % 64) & 1 == 1 {
            changed |= !std::mem::replace(root, true);
        }
        if *root {
            must.add_to(class, &mut needed);
        }
    }
    changed
}

/// A kid that another kid always needs, or that is active anyway outside of any cycle, says
/// nothing new.
fn drop_implied_kids(draft: &mut Draft, order: &Order, must: &Must) -> bool {
    let mut changed = false;
    for node in 0..draft.cost.len() {
        if !draft.alive[node] {
            continue;
        }
        let kids = &draft.kids[node];
        let implied = |k: u32| {
            (draft.root[k as usize] && !order.cyclic(k))
                || kids.iter().any(|&other| other != k && must.contains(other, k))
        };
        let kept: Kids = kids.iter().copied().filter(|&k| !implied(k)).collect();
        if kept.len() < kids.len() {
            draft.kids[node] = kept;
            changed = true;
        }
    }
    changed
}

/// Node `a` goes if `b` of the same class costs no more and needs only what `a` needs anyway.
fn drop_dominated(draft: &mut Draft, must: &Must) -> bool {
    let mut changed = false;
    for class in 0..draft.classes() {
        let mut nodes = draft.nodes[class].to_vec();
        if nodes.len() < 2 || nodes.len() > PAIRWISE {
            continue;
        }
        // Later nodes go first, so that among equals the earliest stays.
        nodes.reverse();
        for &a in &nodes {
            let rivals = &draft.nodes[class];
            if rivals.iter().any(|&b| b != a && dominates(draft, must, b, a)) {
                draft.drop_node(a);
                changed = true;
            }
        }
    }
    changed
}

fn dominates(draft: &Draft, must: &Must, b: u32, a: u32) -> bool {
    let needed = &draft.kids[a as usize];
    draft.cost[b as usize] <= draft.cost[a as usize]
        && draft.kids[b as usize].iter().all(|&k| {
            needed.binary_search(&k).is_ok() || needed.iter().any(|&n| must.contains(n, k))
        })
}

/// A class as its sorted list of (cost, kids).
fn signature(draft: &Draft, class: u32) -> Vec<(u64, &Kids)> {
    let nodes = draft.nodes[class as usize].iter();
    let mut list: Vec<_> =
        nodes.map(|&n| (draft.cost[n as usize], &draft.kids[n as usize])).collect();
    list.sort_unstable();
    list
}

/// Of two classes with the same node list, the later goes if each of its users has a twin that
/// uses the earlier one instead (as commuted operands do).
///
/// Partners are looked for among the siblings of one user, not among all classes that look
/// alike: those may be every leaf of the graph.
fn drop_twins(draft: &mut Draft) -> bool {
    let users = draft.users();
    let mut changed = false;
    for later in 0..draft.classes() as u32 {
        if draft.nodes[later as usize].is_empty() || draft.root[later as usize] {
            continue;
        }
        let partner = partners(draft, &users, later)
            .into_iter()
            .find(|&earlier| replaceable(draft, &users, later, earlier));
        if partner.is_some() {
            for &user in users.row(later) {
                if draft.alive[user as usize] {
                    draft.drop_node(user);
                    changed = true;
                }
            }
        }
    }
    changed
}

/// Earlier classes that a sibling of the first live user of this class uses and it does not.
fn partners(draft: &Draft, users: &Csr, later: u32) -> Vec<u32> {
    let mut live = users.row(later).iter().filter(|&&u| draft.alive[u as usize]);
    let Some(&user) = live.next() else {
        return Vec::new();
    };
    let own = &draft.kids[user as usize];
    let mut found = Vec::new();
    for &sibling in &draft.nodes[draft.class_of[user as usize] as usize] {
        let kids = &draft.kids[sibling as usize];
        if sibling == user
            || draft.cost[sibling as usize] != draft.cost[user as usize]
            || kids.len() > own.len()
        {
            continue;
        }
        let alike = |&&k: &&u32| {
            k < later && draft.nodes[k as usize].len() == draft.nodes[later as usize].len()
        };
        found.extend(kids.iter().filter(alike).filter(|k| !own.contains(k)));
        if found.len() > PARTNERS {
            break;
        }
    }
    found
}

/// Whether every live user of `later` has a live twin with `earlier` in its place.
fn replaceable(draft: &Draft, users: &Csr, later: u32, earlier: u32) -> bool {
    if signature(draft, later) != signature(draft, earlier) {
        return false;
    }
    let mut live = users.row(later).iter().filter(|&&u| draft.alive[u as usize]);
    live.all(|&user| {
        let mut kids = draft.kids[user as usize].clone();
        kids.retain(|k| *k != later);
        if let Err(at) = kids.binary_search(&earlier) {
            kids.insert(at, earlier);
        }
        let siblings = &draft.nodes[draft.class_of[user as usize] as usize];
        siblings.iter().any(|&s| {
            s != user
                && draft.cost[s as usize] == draft.cost[user as usize]
                && draft.kids[s as usize] == kids
        })
    })
}

/// A root outside of any cycle with one node left: pay the node, demand its kids.
fn take_out_decided(draft: &mut Draft) -> bool {
    let order = order(draft);
    let mut gone = vec![false; draft.classes()];
    let mut any = false;
    for &class in order.sequence.iter().rev() {
        let nodes = &draft.nodes[class as usize];
        if !draft.root[class as usize] || order.cyclic(class) || nodes.len() != 1 {
            continue;
        }
        let node = nodes[0];
        draft.paid = add(draft.paid, draft.cost[node as usize]);
        draft.decided[class as usize] = draft.origin[node as usize];
        for kid in draft.kids[node as usize].clone() {
            draft.root[kid as usize] = true;
        }
        draft.root[class as usize] = false;
        draft.drop_node(node);
        gone[class as usize] = true;
        any = true;
    }
    if any {
        for kids in &mut draft.kids {
            kids.retain(|k| !gone[*k as usize]);
        }
    }
    any
}

/// A class with a single node that is free, or used by one node only, merges into its users.
fn inline_single(draft: &mut Draft) -> bool {
    let users = draft.users();
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); draft.classes()];
    for class in 0..draft.classes() as u32 {
        into[class as usize] = users.row(class).to_vec();
    }
    let mut changed = false;
    for class in 0..draft.classes() as u32 {
        let &[node] = draft.nodes[class as usize].as_slice() else {
            continue;
        };
        into[class as usize].retain(|&u| draft.alive[u as usize]);
        let free = draft.cost[node as usize] == 0;
        let narrow = draft.kids[node as usize].len() <= 1 || into[class as usize].len() == 1;
        if draft.root[class as usize] || !(narrow && free || into[class as usize].len() == 1) {
            continue;
        }
        for user in std::mem::take(&mut into[class as usize]) {
            merge(draft, &mut into, node, class, user);
        }
        draft.decided[class as usize] = draft.origin[node as usize];
        draft.drop_node(node);
        changed = true;
    }
    changed
}

/// Replaces `class` by its only node inside `user`; a user that would need itself goes.
fn merge(draft: &mut Draft, into: &mut [Vec<u32>], node: u32, class: u32, user: u32) {
    let own = draft.class_of[user as usize];
    let mut kids = draft.kids[user as usize].clone();
    kids.retain(|k| *k != class);
    for &kid in &draft.kids[node as usize] {
        if let Err(at) = kids.binary_search(&kid) {
            kids.insert(at, kid);
            into[kid as usize].push(user);
        }
    }
    if kids.binary_search(&own).is_ok() {
        draft.drop_node(user);
        return;
    }
    draft.cost[user as usize] = add(draft.cost[user as usize], draft.cost[node as usize]);
    draft.kids[user as usize] = kids;
}

/// The node of every class of the original problem that the reduced selection leaves open.
pub(super) fn is_decided(draft: &Draft, class: u32) -> Option<u32> {
    let node = draft.decided[class as usize];
    (node != NONE).then_some(node)
}
