//! Interned cost tables and the memo of elimination steps.

use super::units::{INF, add};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Number of an interned table.
pub(super) type TableId = u32;

/// Larger tables are not looked up by content: they hardly ever repeat.
const INTERNED: usize = 1 << 16;

/// Entries kept before all are forgotten.
const FORGET: usize = 1 << 22;

/// What one elimination leaves.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Table over the remaining scope, its least entry subtracted.
    pub message: TableId,
    /// Best value of the eliminated variable for each entry of the message.
    pub best: Rc<[u16]>,
}

/// A step's inputs: size of the variable, sizes of the scope, tables with their positions.
type Key = (u32, Vec<u32>, Vec<(TableId, Vec<u32>)>);

/// Tables by number and by content, and every step done so far.
#[derive(Debug, Default)]
pub(super) struct Memo {
    tables: Vec<Rc<[u64]>>,
    by_content: FxHashMap<Rc<[u64]>, TableId>,
    steps: FxHashMap<Key, Step>,
    /// Entries of all tables and steps kept.
    entries: usize,
    /// Whether a table above [`INTERNED`] is kept.
    large: bool,
    /// Largest table so far.
    pub largest: usize,
    /// Entries computed, not looked up.
    pub work: u64,
}

impl Memo {
    /// The number of a table.
    pub fn intern(&mut self, content: Vec<u64>) -> TableId {
        if content.len() > INTERNED {
            self.large = true;
            self.tables.push(content.into());
            return self.tables.len() as u32 - 1;
        }
        if let Some(&id) = self.by_content.get(content.as_slice()) {
            return id;
        }
        self.entries += content.len();
        let content: Rc<[u64]> = content.into();
        let id = self.tables.len() as u32;
        self.tables.push(content.clone());
        self.by_content.insert(content, id);
        id
    }

    /// Minimises the sum of the operands over the variable at position `dims.len()`.
    pub fn eliminate(
        &mut self,
        own: u32,
        dims: &[u32],
        mut operands: Vec<(TableId, Vec<u32>)>,
    ) -> Step {
        operands.sort();
        let key = (own, dims.to_vec(), operands);
        if let Some(step) = self.steps.get(&key) {
            return step.clone();
        }
        let (mut message, best) = self.compute(own as usize, dims, &key.2);
        // The constant does not matter for the choice; without it equal layers look equal.
        let least = message.iter().copied().min().unwrap_or(0);
        if least < INF {
            for entry in message.iter_mut().filter(|e| **e < INF) {
                *entry -= least;
            }
        }
        self.largest = self.largest.max(message.len());
        self.work += message.len() as u64 * u64::from(own);
        let step = Step { message: self.intern(message), best: best.into() };
        if step.best.len() <= INTERNED {
            self.entries += step.best.len() + 32;
            self.steps.insert(key, step.clone());
        }
        step
    }

    /// Drops large tables, which no later part shares, and everything once there is much.
    pub fn tidy(&mut self) {
        let entries: usize = self.entries;
        if entries > FORGET {
            *self = Self { largest: self.largest, work: self.work, ..Self::default() };
        } else if self.large {
            self.large = false;
            for table in self.tables.iter_mut().filter(|t| t.len() > INTERNED) {
                *table = Rc::new([]);
            }
        }
    }

    fn compute(
        &self,
        own: usize,
        dims: &[u32],
        operands: &[(TableId, Vec<u32>)],
    ) -> (Vec<u64>, Vec<u16>) {
        let size: usize = dims.iter().map(|&d| d as usize).product();
        let mut cursors: Vec<Cursor> = operands
            .iter()
            .map(|(table, positions)| {
                Cursor::new(&self.tables[*table as usize], positions, own, dims)
            })
            .collect();
        let mut message = Vec::with_capacity(size);
        let mut best = Vec::with_capacity(size);
        let mut digits = vec![0u32; dims.len()];
        let mut sums = vec![0u64; own];
        for _ in 0..size {
            sums.fill(0);
            for cursor in &cursors {
                cursor.add_to(&mut sums);
            }
            let (value, least) = least_of(&sums);
            message.push(least);
            best.push(value);
            advance(&mut digits, dims, &mut cursors);
        }
        (message, best)
    }
}

/// First position of the least value.
fn least_of(sums: &[u64]) -> (u16, u64) {
    let mut best = (0, u64::MAX);
    for (i, &sum) in sums.iter().enumerate() {
        if sum < best.1 {
            best = (i as u16, sum);
        }
    }
    (best.0, best.1.min(INF))
}

/// Steps the odometer of the scope and every operand with it.
fn advance(digits: &mut [u32], dims: &[u32], cursors: &mut [Cursor]) {
    for d in (0..dims.len()).rev() {
        digits[d] += 1;
        if digits[d] < dims[d] {
            for cursor in cursors.iter_mut() {
                cursor.at += cursor.stride[d];
            }
            return;
        }
        digits[d] = 0;
        for cursor in cursors.iter_mut() {
            cursor.at -= cursor.stride[d] * (dims[d] as usize - 1);
        }
    }
}

/// One operand while the scope is walked.
struct Cursor<'a> {
    table: &'a [u64],
    at: usize,
    /// Stride of each scope position in this table; 0 where it does not depend on it.
    stride: Vec<usize>,
    own_stride: usize,
}

impl<'a> Cursor<'a> {
    fn new(table: &'a [u64], positions: &[u32], own: usize, dims: &[u32]) -> Self {
        let mut stride = vec![0; dims.len()];
        let mut own_stride = 0;
        let mut size = 1;
        for &p in positions.iter().rev() {
            if (p as usize) < dims.len() {
                stride[p as usize] = size;
                size *= dims[p as usize] as usize;
            } else {
                own_stride = size;
                size *= own;
            }
        }
        Self { table, at: 0, stride, own_stride }
    }

    fn add_to(&self, sums: &mut [u64]) {
        let mut at = self.at;
        for sum in sums {
            *sum = add(*sum, self.table[at]);
            at += self.own_stride;
        }
    }
}
