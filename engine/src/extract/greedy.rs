//! Greedy selection that counts shared classes once ("greedy DAG").

use super::clock::Clock;
use super::component::Part;
use super::draft::NONE;
use super::units::{INF, add};
use std::collections::VecDeque;

/// Scratch space to union sets of classes.
struct Union {
    stamp: Vec<u32>,
    now: u32,
}

/// A node per class such that following it never meets a cycle; [`NONE`] where the limits ended
/// the search or nothing derives the class. `price` may differ from the part's costs; nodes of
/// price [`INF`] are not used.
pub(super) fn greedy(part: &Part, price: &[u64], clock: &mut Clock) -> Vec<u32> {
    let mut greedy = Greedy {
        part,
        price,
        best: vec![INF; part.classes()],
        choice: vec![NONE; part.classes()],
        past: vec![Vec::new(); part.classes()],
        union: Union { stamp: vec![0; part.classes()], now: 0 },
    };
    greedy.run(clock);
    // Later improvements of a kid can close a cycle through an older set: settle by one order.
    greedy.consistent()
}

struct Greedy<'a> {
    part: &'a Part,
    price: &'a [u64],
    best: Vec<u64>,
    choice: Vec<u32>,
    /// Classes of the derivation that was found, and the price of its node each.
    past: Vec<Vec<(u32, u64)>>,
    union: Union,
}

impl Greedy<'_> {
    fn run(&mut self, clock: &mut Clock) {
        let part = self.part;
        let mut queue: VecDeque<u32> =
            (0..part.nodes() as u32).filter(|&n| part.kids.row(n).is_empty()).collect();
        let mut queued = vec![false; part.nodes()];
        while let Some(node) = queue.pop_front() {
            queued[node as usize] = false;
            let Some(work) = self.improve(node) else {
                continue;
            };
            if !clock.spend(work) {
                return;
            }
            for &user in part.users.row(part.class_of[node as usize]) {
                if !std::mem::replace(&mut queued[user as usize], true) {
                    queue.push_back(user);
                }
            }
        }
    }

    /// Tries a node for its class; the work done if it improves the class.
    fn improve(&mut self, node: u32) -> Option<usize> {
        let kids = self.part.kids.row(node);
        let class = self.part.class_of[node as usize];
        let bound = self.best[class as usize];
        if self.price[node as usize] >= INF || kids.iter().any(|&k| self.choice[k as usize] == NONE)
        {
            return None;
        }
        self.union.now += 1;
        let mut total = self.price[node as usize];
        let mut past = vec![(class, total)];
        for &kid in kids {
            for &(member, price) in &self.past[kid as usize] {
                if member == class {
                    return None;
                }
                let stamp = &mut self.union.stamp[member as usize];
                if *stamp != self.union.now {
                    *stamp = self.union.now;
                    total = add(total, price);
                    past.push((member, price));
                }
            }
            if total >= bound {
                return None;
            }
        }
        if total >= bound {
            return None;
        }
        let work = past.len() + 4;
        self.best[class as usize] = total;
        self.choice[class as usize] = node;
        self.past[class as usize] = past;
        Some(work)
    }

    /// Classes in the order in which the chosen nodes derive them; where that gets stuck, any
    /// node that is derivable by then.
    fn consistent(self) -> Vec<u32> {
        let part = self.part;
        let mut done = vec![NONE; part.classes()];
        let mut missing: Vec<u32> =
            (0..part.nodes() as u32).map(|n| part.kids.row(n).len() as u32).collect();
        let mut spare = VecDeque::new();
        let mut ready: Vec<u32> = Vec::new();
        let sort = |node: u32, ready: &mut Vec<u32>, spare: &mut VecDeque<u32>| {
            if self.choice[part.class_of[node as usize] as usize] == node {
                ready.push(node);
            } else if self.price[node as usize] < INF {
                spare.push_back(node);
            }
        };
        for node in 0..part.nodes() as u32 {
            if missing[node as usize] == 0 {
                sort(node, &mut ready, &mut spare);
            }
        }
        while let Some(node) = ready.pop().or_else(|| spare.pop_front()) {
            let class = part.class_of[node as usize];
            if done[class as usize] != NONE {
                continue;
            }
            done[class as usize] = node;
            for &user in part.users.row(class) {
                missing[user as usize] -= 1;
                if missing[user as usize] == 0 {
                    sort(user, &mut ready, &mut spare);
                }
            }
        }
        done
    }
}
