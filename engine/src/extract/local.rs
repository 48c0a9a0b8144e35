//! Local search on a selection: swap one class, or switch all users of one class together.
//!
//! The second move is what makes kernels with several results work: the projections of a tuple
//! pay off only if they move together. Moves are priced exactly by reference counts, and checked
//! for cycles with an order of the active classes that is kept up to date.

use super::clock::Clock;
use super::component::Part;
use super::draft::NONE;
use super::units::INF;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Passes over all moves.
const ROUNDS: usize = 30;

struct Local<'a> {
    part: &'a Part,
    /// A node for every class, also for inactive ones.
    choice: Vec<u32>,
    /// Active users, and one more for a root.
    refs: Vec<u32>,
    cost: u64,
    /// Position in an order with kids before users; the number of classes for inactive ones.
    position: Vec<u32>,
    /// Classes that the move under trial has made inactive at some point.
    freed: Vec<u32>,
    stamp: Vec<u32>,
    now: u32,
    work: usize,
}

/// Improves a selection until no move helps; returns it trimmed.
pub(super) fn improve(part: &Part, choice: &[u32], clock: &mut Clock) -> Vec<u32> {
    let mut local = Local::new(part, choice);
    for _ in 0..ROUNDS {
        let before = local.cost;
        local.refresh_inactive();
        for class in 0..part.classes() as u32 {
            local.swap_class(class);
            local.gather(class);
            if !clock.spend(std::mem::take(&mut local.work) + 1) {
                return part.trim(&local.choice);
            }
        }
        if local.cost == before {
            break;
        }
    }
    part.trim(&local.choice)
}

/// The selection with a node for inactive classes too, as [`improve`] would turn to them.
pub(super) fn completed(part: &Part, choice: &[u32]) -> Vec<u32> {
    let mut local = Local::new(part, choice);
    local.refresh_inactive();
    local.choice
}

impl<'a> Local<'a> {
    fn new(part: &'a Part, choice: &[u32]) -> Self {
        let mut local = Self {
            part,
            choice: choice.to_vec(),
            refs: vec![0; part.classes()],
            cost: 0,
            position: vec![0; part.classes()],
            freed: Vec::new(),
            stamp: vec![0; part.classes()],
            now: 0,
            work: 0,
        };
        for root in part.roots() {
            local.acquire(root);
        }
        local.renumber();
        local
    }

    fn acquire(&mut self, class: u32) {
        let mut stack = vec![class];
        while let Some(class) = stack.pop() {
            self.work += 1;
            self.refs[class as usize] += 1;
            if self.refs[class as usize] == 1 {
                let node = self.choice[class as usize];
                self.cost += self.part.cost[node as usize];
                stack.extend(self.part.kids.row(node));
            }
        }
    }

    fn release(&mut self, class: u32) {
        let mut stack = vec![class];
        while let Some(class) = stack.pop() {
            self.work += 1;
            self.refs[class as usize] -= 1;
            if self.refs[class as usize] == 0 {
                self.freed.push(class);
                let node = self.choice[class as usize];
                self.cost -= self.part.cost[node as usize];
                stack.extend(self.part.kids.row(node));
            }
        }
    }

    /// Gives an active class another node; its own inverse with the old node.
    fn set(&mut self, class: u32, node: u32) {
        let old = self.choice[class as usize];
        for &kid in self.part.kids.row(node) {
            self.acquire(kid);
        }
        self.cost += self.part.cost[node as usize];
        self.cost -= self.part.cost[old as usize];
        self.choice[class as usize] = node;
        for &kid in self.part.kids.row(old) {
            self.release(kid);
        }
    }

    /// Whether the class reaches itself. Classes that were active before the move and stand
    /// below every changed class cannot lead back.
    fn reaches_itself(&mut self, class: u32, floor: u32) -> bool {
        self.now += 1;
        let mut stack = vec![class];
        while let Some(at) = stack.pop() {
            for &kid in self.part.kids.row(self.choice[at as usize]) {
                self.work += 1;
                if kid == class {
                    return true;
                }
                if self.position[kid as usize] >= floor && self.stamp[kid as usize] != self.now {
                    self.stamp[kid as usize] = self.now;
                    stack.push(kid);
                }
            }
        }
        false
    }

    /// Applies several changes if together they are cheaper and close no cycle.
    fn try_moves(&mut self, moves: &[(u32, u32)]) -> bool {
        let before = self.cost;
        self.freed.clear();
        let old: Vec<(u32, u32)> =
            moves.iter().map(|&(class, _)| (class, self.choice[class as usize])).collect();
        let mut applied = 0;
        for &(class, node) in moves {
            // An earlier change of this move may have freed the class.
            if self.refs[class as usize] == 0 {
                break;
            }
            self.set(class, node);
            applied += 1;
        }
        if applied == moves.len() && self.cost < before && !self.closes_cycle(moves) {
            self.renumber_if_needed(moves);
            return true;
        }
        for &(class, node) in old[..applied].iter().rev() {
            self.set(class, node);
        }
        false
    }

    fn closes_cycle(&mut self, moves: &[(u32, u32)]) -> bool {
        let positions = moves.iter().map(|&(c, _)| self.position[c as usize]);
        let floor = positions.min().unwrap_or(0);
        moves.iter().any(|&(class, _)| self.reaches_itself(class, floor))
    }

    /// Positions of active classes from 0, kids first; others get the number of classes.
    fn renumber(&mut self) {
        let unknown = self.part.classes() as u32;
        self.position.fill(unknown);
        let mut next = 0;
        for root in self.part.roots() {
            let mut stack = vec![(root, 0usize)];
            while let Some(&mut (class, ref mut at)) = stack.last_mut() {
                let done = self.position[class as usize] != unknown;
                let kid = self.part.kids.row(self.choice[class as usize]).get(*at);
                *at += 1;
                match kid {
                    Some(&kid) if !done => {
                        if self.position[kid as usize] == unknown {
                            stack.push((kid, 0));
                        }
                    }
                    _ => {
                        if !done {
                            self.position[class as usize] = next;
                            next += 1;
                        }
                        stack.pop();
                    }
                }
            }
        }
        self.work += next as usize;
    }

    fn renumber_if_needed(&mut self, moves: &[(u32, u32)]) {
        let unknown = self.part.classes() as u32;
        for &class in &self.freed {
            if self.refs[class as usize] == 0 {
                self.position[class as usize] = unknown;
            }
        }
        let fits = moves.iter().all(|&(class, node)| {
            let own = self.position[class as usize];
            self.part.kids.row(node).iter().all(|&k| self.position[k as usize] < own)
        });
        if !fits {
            self.renumber();
        }
    }

    /// Every node of an active class in turn.
    fn swap_class(&mut self, class: u32) {
        if self.refs[class as usize] == 0 {
            return;
        }
        for node in self.part.class(class) {
            if node != self.choice[class as usize] && self.usable(node) {
                self.try_moves(&[(class, node)]);
            }
        }
    }

    fn usable(&self, node: u32) -> bool {
        self.part.kids.row(node).iter().all(|&k| self.choice[k as usize] != NONE)
    }

    /// All active classes that could use this class do, or as many as have a free way to.
    fn gather(&mut self, class: u32) {
        if self.choice[class as usize] == NONE {
            return;
        }
        let mut moves: Vec<(u32, u32)> = Vec::new();
        for &user in self.part.users.row(class) {
            let of = self.part.class_of[user as usize];
            let current = self.choice[of as usize];
            let better = self.refs[of as usize] > 0
                && user != current
                && self.part.cost[user as usize] <= self.part.cost[current as usize]
                && self.usable(user);
            if better && moves.last().is_none_or(|&(c, _)| c != of) {
                moves.push((of, user));
            }
        }
        if moves.len() > 1 && moves.len() <= 64 {
            self.try_moves(&moves);
        }
    }

    /// Gives inactive classes the node that is cheapest as a tree when active classes are free.
    fn refresh_inactive(&mut self) {
        let part = self.part;
        let mut settled = vec![false; part.classes()];
        let mut sum = part.cost.clone();
        let mut missing: Vec<u32> =
            (0..part.nodes() as u32).map(|n| part.kids.row(n).len() as u32).collect();
        let mut heap: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::new();
        for class in 0..part.classes() as u32 {
            if self.refs[class as usize] > 0 {
                heap.push(Reverse((0, class, self.choice[class as usize])));
            }
        }
        for node in 0..part.nodes() as u32 {
            let of = part.class_of[node as usize];
            if missing[node as usize] == 0 && self.refs[of as usize] == 0 {
                heap.push(Reverse((sum[node as usize], of, node)));
            }
        }
        while let Some(Reverse((value, class, node))) = heap.pop() {
            if std::mem::replace(&mut settled[class as usize], true) {
                continue;
            }
            self.choice[class as usize] = node;
            for &user in part.users.row(class) {
                sum[user as usize] = (sum[user as usize] + value).min(INF);
                missing[user as usize] -= 1;
                let of = part.class_of[user as usize];
                if missing[user as usize] == 0 && self.refs[of as usize] == 0 {
                    heap.push(Reverse((sum[user as usize], of, user)));
                }
            }
        }
        self.work += part.nodes();
    }
}
