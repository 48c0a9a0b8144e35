//! Large-neighbourhood search: free a few related classes, keep the rest of the selection, and
//! solve what that leaves exactly.

use super::ascent::mix;
use super::clock::Clock;
use super::component::Part;
use super::draft::{Draft, NONE};
use super::presolve::presolve;

/// Classes freed at first, and at most.
pub(super) const SIZES: (usize, usize) = (30, 300);

/// A class to start from: active, by a fixed scrambling of the round.
pub(super) fn seed_class(choice: &[u32], round: u64) -> Option<u32> {
    let active: Vec<u32> =
        (0..choice.len() as u32).filter(|&c| choice[c as usize] != NONE).collect();
    let at = mix(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)) as usize;
    active.get(at % active.len().max(1)).copied()
}

/// The part with `size` classes around `seed` free and every other class as in the full
/// selection `choice`, reduced.
pub(super) fn around(
    part: &Part,
    choice: &[u32],
    seed: u32,
    size: usize,
    round: u64,
    clock: &mut Clock,
) -> Draft {
    let free = ball(part, choice, seed, size, round);
    let mut draft = Draft::empty(part.classes());
    for class in 0..part.classes() as u32 {
        for node in part.class(class) {
            if free[class as usize] || choice[class as usize] == node {
                draft.push(class, part.cost[node as usize], part.kids.row(node).into(), node);
            }
        }
    }
    draft.root.clone_from(&part.root);
    presolve(&mut draft, clock);
    draft
}

/// Classes near the seed: breadth-first over uses in both directions, in a scrambled order.
fn ball(part: &Part, choice: &[u32], seed: u32, size: usize, round: u64) -> Vec<bool> {
    let mut free = vec![false; part.classes()];
    free[seed as usize] = true;
    let mut queue = std::collections::VecDeque::from([seed]);
    let mut count = 1;
    while let Some(class) = queue.pop_front() {
        let kids = part.class(class).flat_map(|n| part.kids.row(n)).copied();
        // Users only where they are chosen: a popular class has too many others.
        let users = part.users.row(class).iter().map(|&n| (n, part.class_of[n as usize]));
        let users = users.filter(|&(n, c)| choice[c as usize] == n).map(|(_, c)| c);
        let mut near: Vec<u32> = kids.chain(users).filter(|&c| !free[c as usize]).collect();
        near.sort_unstable_by_key(|&c| mix(round ^ u64::from(c)));
        for next in near {
            if count >= size {
                return free;
            }
            if !std::mem::replace(&mut free[next as usize], true) {
                count += 1;
                queue.push_back(next);
            }
        }
    }
    free
}
