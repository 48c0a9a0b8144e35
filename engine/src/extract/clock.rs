//! Counts elementary steps and looks at the time now and then.

use super::problem::Limits;
use std::time::Instant;

/// Steps between two looks at the time.
const LOOK: u64 = 1 << 16;

/// What is left of the limits. Once it has run out it stays so.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// Steps spent so far.
    pub spent: u64,
    limit: u64,
    deadline: Option<Instant>,
    next_look: u64,
    out: bool,
}

impl Clock {
    /// Starts now.
    pub fn new(limits: &Limits) -> Self {
        Self {
            spent: 0,
            limit: limits.work,
            deadline: limits.time.and_then(|t| Instant::now().checked_add(t)),
            next_look: LOOK,
            out: false,
        }
    }

    /// Counts steps; false once the limits are reached.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.spent += steps as u64;
        if self.spent >= self.next_look {
            self.next_look = self.spent + LOOK;
            self.out |= self.deadline.is_some_and(|d| Instant::now() >= d);
        }
        self.out |= self.spent >= self.limit;
        !self.out
    }

    /// Whether the limits are reached.
    pub fn is_out(&self) -> bool {
        self.out
    }

    /// Steps left.
    pub fn left(&self) -> u64 {
        if self.out { 0 } else { self.limit.saturating_sub(self.spent) }
    }

    /// A clock that runs out when this one does, or after so many steps more.
    pub fn slice(&self, steps: u64) -> Self {
        Self { limit: self.limit.min(self.spent.saturating_add(steps)), ..self.clone() }
    }

    /// This clock, or one with so many steps more if it has run out.
    pub fn grace(&self, steps: usize) -> Self {
        if !self.out {
            return self.clone();
        }
        let limit = self.spent.saturating_add(steps as u64);
        Self { limit, deadline: None, out: false, ..self.clone() }
    }

    /// Takes over what a slice has spent. That the slice ran out does not end this clock.
    pub fn charge(&mut self, slice: &Self) {
        self.spent = slice.spent;
        self.next_look = slice.next_look;
        self.out |= self.spent >= self.limit;
        self.out |= slice.out && self.deadline.is_some_and(|d| Instant::now() >= d);
    }
}
