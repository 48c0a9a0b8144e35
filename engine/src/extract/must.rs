//! Which classes every derivation of a class contains ("must-sets").
//!
//! The greatest fixpoint of `must(c) = {c} + intersection over nodes of the union over kids`,
//! over bitsets. Positions come from [`order`](super::order); each class stores a window of
//! them that ends at its own position, so the cost stays linear on deep graphs. What falls out
//! of the window counts as "not known to be needed", which is always safe.

use super::draft::Draft;
use super::order::Order;
use super::problem::Csr;

/// Bits a word.
const BITS: usize = 64;

/// Must-sets of the live classes.
pub(super) struct Must<'a> {
    order: &'a Order,
    words: usize,
    bits: Vec<u64>,
    known: Vec<bool>,
}

impl<'a> Must<'a> {
    /// Computes the sets.
    pub fn new(draft: &Draft, order: &'a Order, users: &Csr) -> Self {
        let live = order.sequence.len();
        let words = ((1 << 18) / live.max(1)).max(16).min(live / BITS + 1);
        let mut must = Self { order, words, bits: vec![0; words * live], known: vec![false; live] };
        if !must.iterate(draft, users) {
            must.forget();
        }
        must
    }

    /// Whether every derivation of `of` contains `class`.
    pub fn contains(&self, of: u32, class: u32) -> bool {
        let (at, wanted) = (self.position(of), self.position(class));
        let base = self.base(at);
        let word = wanted / BITS;
        word >= base
            && word < base + self.words
            && self.bits[at * self.words + word - base] >> (wanted % BITS) & 1 == 1
    }

    /// Adds a must-set to a set of positions.
    pub fn add_to(&self, class: u32, set: &mut [u64]) {
        let at = self.position(class);
        let own = &self.bits[at * self.words..(at + 1) * self.words];
        for (word, bits) in set[self.base(at)..].iter_mut().zip(own) {
            *word |= bits;
        }
    }

    fn position(&self, class: u32) -> usize {
        self.order.position[class as usize] as usize
    }

    /// First word of the window of the class at this position.
    fn base(&self, at: usize) -> usize {
        (at / BITS + 1).saturating_sub(self.words)
    }

    /// Repeats until nothing changes; false if that takes too long.
    fn iterate(&mut self, draft: &Draft, users: &Csr) -> bool {
        let live = self.known.len();
        let mut dirty = vec![true; live];
        let mut scratch = vec![0; 2 * self.words];
        for _ in 0..64 {
            let mut changed = false;
            for at in 0..live {
                if !std::mem::take(&mut dirty[at]) {
                    continue;
                }
                let class = self.order.sequence[at];
                if self.recompute(draft, class, at, &mut scratch) {
                    changed = true;
                    for &user in users.row(class) {
                        let user = self.position(draft.class_of[user as usize]);
                        dirty[user] = true;
                    }
                }
            }
            if !changed {
                return self.known.iter().all(|&k| k);
            }
        }
        false
    }

    /// New value of one class; true if it differs from the old one.
    fn recompute(&mut self, draft: &Draft, class: u32, at: usize, scratch: &mut [u64]) -> bool {
        let base = self.base(at);
        let (fresh, union) = scratch.split_at_mut(self.words);
        let mut any = false;
        for &node in &draft.nodes[class as usize] {
            let kids = &draft.kids[node as usize];
            // An unknown kid still stands for "everything", which restricts nothing.
            if kids.iter().any(|&k| !self.known[self.position(k)]) {
                continue;
            }
            let target = if any { &mut *union } else { &mut *fresh };
            target.fill(0);
            for &kid in kids {
                self.overlay(self.position(kid), base, target);
            }
            if any {
                for (word, with) in fresh.iter_mut().zip(&*union) {
                    *word &= with;
                }
            }
            any = true;
        }
        if !any {
            return false;
        }
        let own = at / BITS - base;
        fresh[own] &= (1 << (at % BITS)) - 1;
        fresh[own] |= 1 << (at % BITS);
        fresh[own + 1..].fill(0);
        let old = &mut self.bits[at * self.words..(at + 1) * self.words];
        let changed = !self.known[at] || old != &*fresh;
        old.copy_from_slice(fresh);
        self.known[at] = true;
        changed
    }

    /// Adds the set of the class at a position to a window that starts at word `base`.
    fn overlay(&self, at: usize, base: usize, window: &mut [u64]) {
        let own = &self.bits[at * self.words..(at + 1) * self.words];
        let own_base = self.base(at);
        let (from, to) = if own_base < base { (base - own_base, 0) } else { (0, own_base - base) };
        if from < self.words && to < self.words {
            for (word, bits) in window[to..].iter_mut().zip(&own[from..]) {
                *word |= bits;
            }
        }
    }

    fn forget(&mut self) {
        self.bits.fill(0);
        for at in 0..self.known.len() {
            let slot = at * self.words + at / BITS - self.base(at);
            self.bits[slot] = 1 << (at % BITS);
        }
    }
}
