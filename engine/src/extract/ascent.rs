//! A lower bound by dual ascent, and which nodes no better selection can contain.
//!
//! Whatever is chosen, the roots must be derivable from it. So for every set of classes that
//! contains a root and in which no free node stands on classes outside of the set alone, one of
//! the nodes that do so (a *cut*) is chosen. Raising the price of a cut until one of its nodes
//! is used up, again and again, gives a bound and reduced costs. Acyclicity comes for free: a
//! cycle derives nothing.

use super::clock::Clock;
use super::component::Part;
use super::units::{INF, add};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The result of one ascent.
#[derive(Debug, Clone)]
pub(super) struct Ascent {
    /// No selection costs less.
    pub bound: u64,
    /// What each node would add to the bound at least, if it were chosen.
    pub reduced: Vec<u64>,
}

struct Raise<'a> {
    part: &'a Part,
    reduced: Vec<u64>,
    missing: Vec<u32>,
    built: Vec<bool>,
    /// Stamp of the set that a class is in.
    inside: Vec<u32>,
    stamp: u32,
    seed: u64,
    bound: u64,
    work: usize,
}

/// One ascent from the given reduced costs; `seed` varies arbitrary choices. Where the limits
/// end it, the bound is lower but true.
pub(super) fn ascend(part: &Part, start: &[u64], seed: u64, clock: &mut Clock) -> Ascent {
    let missing = (0..part.nodes() as u32).map(|n| part.kids.row(n).len() as u32).collect();
    let mut raise = Raise {
        part,
        reduced: start.to_vec(),
        missing,
        built: vec![false; part.classes()],
        inside: vec![0; part.classes()],
        stamp: 0,
        seed,
        bound: 0,
        work: part.nodes() / 4,
    };
    let free: Vec<u32> = (0..part.nodes() as u32)
        .filter(|&n| raise.reduced[n as usize] == 0 && raise.missing[n as usize] == 0)
        .collect();
    raise.build(free);
    for root in part.roots() {
        if !raise.target(root, clock) {
            break;
        }
    }
    clock.spend(raise.work);
    Ascent { bound: raise.bound, reduced: raise.reduced }
}

impl Raise<'_> {
    /// Marks what free nodes derive.
    fn build(&mut self, mut ready: Vec<u32>) {
        while let Some(node) = ready.pop() {
            let class = self.part.class_of[node as usize];
            if std::mem::replace(&mut self.built[class as usize], true) {
                continue;
            }
            for &user in self.part.users.row(class) {
                self.work += 1;
                self.missing[user as usize] -= 1;
                if self.missing[user as usize] == 0 && self.reduced[user as usize] == 0 {
                    ready.push(user);
                }
            }
        }
    }

    /// Raises cuts around one root until free nodes derive it; false if there is no use in going
    /// on.
    fn target(&mut self, root: u32, clock: &mut Clock) -> bool {
        while !self.built[root as usize] {
            if !clock.spend(std::mem::take(&mut self.work)) {
                return false;
            }
            self.stamp += 1;
            self.inside[root as usize] = self.stamp;
            let mut cut = Vec::new();
            let mut fresh = vec![root];
            loop {
                self.grow(&mut fresh, &mut cut);
                let part = self.part;
                let (inside, stamp) = (&self.inside, self.stamp);
                cut.retain(|&n| part.kids.row(n).iter().all(|&k| inside[k as usize] != stamp));
                self.work += cut.len();
                if cut.is_empty() || !self.raise(&mut cut, &mut fresh) {
                    break;
                }
            }
            if cut.is_empty() && !self.built[root as usize] {
                // Nothing can derive the root: every bound is true.
                self.bound = INF;
                return false;
            }
        }
        true
    }

    /// Extends the set by a missing kid for each free node, and collects the other nodes.
    fn grow(&mut self, fresh: &mut Vec<u32>, cut: &mut Vec<u32>) {
        while let Some(class) = fresh.pop() {
            for node in self.part.class(class) {
                self.work += 1;
                if self.reduced[node as usize] > 0 {
                    cut.push(node);
                } else {
                    self.cover(node, fresh);
                }
            }
        }
    }

    /// Puts one kid that is not built into the set, unless one is there.
    fn cover(&mut self, node: u32, fresh: &mut Vec<u32>) {
        let kids = self.part.kids.row(node);
        if kids.iter().any(|&k| self.inside[k as usize] == self.stamp) {
            return;
        }
        let open = kids.iter().filter(|&&k| !self.built[k as usize]);
        let chosen = match self.seed {
            0 => open.min_by_key(|&&k| self.part.class(k).len()),
            1 => open.max(),
            2 => open.min(),
            seed => open.min_by_key(|&&k| mix(seed ^ u64::from(k))),
        };
        if let Some(&kid) = chosen {
            self.inside[kid as usize] = self.stamp;
            fresh.push(kid);
        }
    }

    /// Raises the cut by its least reduced cost; false if the set must be grown anew.
    fn raise(&mut self, cut: &mut Vec<u32>, fresh: &mut Vec<u32>) -> bool {
        let least = cut.iter().map(|&n| self.reduced[n as usize]).min().unwrap_or(0);
        self.bound = add(self.bound, least);
        let mut ready = Vec::new();
        let mut used_up = Vec::new();
        for &node in cut.iter() {
            self.reduced[node as usize] -= least;
            if self.reduced[node as usize] == 0 {
                used_up.push(node);
                if self.missing[node as usize] == 0 {
                    ready.push(node);
                }
            }
        }
        if !ready.is_empty() {
            self.build(ready);
            return false;
        }
        cut.retain(|&n| self.reduced[n as usize] > 0);
        for node in used_up {
            self.cover(node, fresh);
        }
        true
    }
}

/// A cheap scrambler (the finaliser of splitmix64).
pub(super) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// For each node the least reduced cost of a selection that contains it: what lies on the way
/// from a root, itself, and the dearest way down from one of its kids.
pub(super) fn least_with(part: &Part, reduced: &[u64]) -> Vec<u64> {
    let below = dearest_below(part, reduced);
    let above = cheapest_above(part, reduced);
    (0..part.nodes() as u32)
        .map(|n| {
            let kids = part.kids.row(n).iter().map(|&k| below[k as usize]);
            let down = kids.max().unwrap_or(0);
            let class = part.class_of[n as usize] as usize;
            add(add(above[class], down), reduced[n as usize])
        })
        .collect()
}

/// Least over the nodes of the node's cost plus the dearest kid: paid by any derivation.
fn dearest_below(part: &Part, reduced: &[u64]) -> Vec<u64> {
    let mut below = vec![INF; part.classes()];
    let mut missing: Vec<u32> =
        (0..part.nodes() as u32).map(|n| part.kids.row(n).len() as u32).collect();
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> = (0..part.nodes() as u32)
        .filter(|&n| missing[n as usize] == 0)
        .map(|n| Reverse((reduced[n as usize], part.class_of[n as usize])))
        .collect();
    while let Some(Reverse((value, class))) = heap.pop() {
        if below[class as usize] < INF {
            continue;
        }
        below[class as usize] = value;
        for &user in part.users.row(class) {
            missing[user as usize] -= 1;
            // Kids settle by ascending value, so the last one is the dearest.
            if missing[user as usize] == 0 {
                let value = add(value, reduced[user as usize]);
                heap.push(Reverse((value, part.class_of[user as usize])));
            }
        }
    }
    below
}

/// Least cost of the nodes on a way from a root to the class, exclusive of the class's node.
fn cheapest_above(part: &Part, reduced: &[u64]) -> Vec<u64> {
    let mut above = vec![INF; part.classes()];
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> = part.roots().map(|r| Reverse((0, r))).collect();
    while let Some(Reverse((value, class))) = heap.pop() {
        if above[class as usize] <= value {
            continue;
        }
        above[class as usize] = value;
        for node in part.class(class) {
            let through = add(value, reduced[node as usize]);
            for &kid in part.kids.row(node) {
                if through < above[kid as usize] {
                    heap.push(Reverse((through, kid)));
                }
            }
        }
    }
    above
}
