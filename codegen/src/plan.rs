//! When a kernel computes what, and how its threads share a row.
//!
//! A *phase* ends where a reduction over the row must be complete; a *stage* of a phase ends where a
//! reduction over a group must be. An element's value that a later step needs stays in registers, at
//! its own type; what can be had again for one instruction does not.

use crate::error::{Error, Result};
use crate::ir::{Id, InputRole, KernelIr, Op, Sink, Space};
use crate::near;
use fusec_dsl::dtype::Dtype;
use std::collections::BTreeSet;

/// How threads share rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Geometry {
    /// Elements a thread reads at once.
    pub vec: usize,
    /// Threads a row.
    pub threads_per_row: usize,
    /// Rows a block.
    pub rows_per_block: usize,
    /// Vectors a thread holds.
    pub items: usize,
    /// Parts a row is cut into, each for a block of its own.
    pub chunks: usize,
    /// Whether every vector is aligned to its size.
    pub aligned: bool,
}

/// What may be asked of a geometry; `None` leaves the choice open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tuning {
    /// Elements a thread reads at once.
    pub vec: Option<usize>,
    /// Threads a row.
    pub threads_per_row: Option<usize>,
    /// For operands that are not aligned.
    pub unaligned: bool,
}

/// Where a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Reductions over the row that come before.
    pub phase: usize,
    /// Reductions over groups that come before, in the phase.
    pub stage: usize,
}

/// The schedule of a kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How threads share rows.
    pub geometry: Geometry,
    /// Earliest step of each value.
    pub step: Vec<Step>,
    /// For each step in order, the element values to compute there.
    pub bodies: Vec<(Step, Vec<Id>)>,
    /// Element values that stay in registers from the step that computes them.
    pub kept: BTreeSet<Id>,
    /// Number of phases.
    pub phases: usize,
    /// Blocks that a multiprocessor should hold at once: the compiler limits registers accordingly.
    pub resident: usize,
}

impl Plan {
    /// Schedules a kernel.
    pub fn new(ir: &KernelIr, tuning: Tuning) -> Result<Plan> {
        let step = steps(ir);
        let phases = 1 + step.iter().map(|s| s.phase).max().unwrap_or(0);
        // A last phase that only finishes numbers of a row has nothing to do for elements.
        let phases = phases.min(1 + last_element_phase(ir, &step));
        let mut demand = Demand { ir, at: vec![None; ir.nodes.len()], kept: BTreeSet::new() };
        let mut bodies = Vec::new();
        for now in all_steps(ir, &step) {
            bodies.push((now, demand.roots(&step, now)));
        }
        let kept = demand.kept;
        let geometry = geometry(ir, phases, tuning)?;
        let resident = resident(ir, &kept, &geometry);
        Ok(Plan { geometry, step, bodies, kept, phases, resident })
    }

    /// Whether any result depends on the whole row.
    pub fn reduces_rows(ir: &KernelIr) -> bool {
        ir.nodes.iter().any(|n| matches!(n.op, Op::Reduce(_)) && n.space == Space::Row)
    }
}

fn steps(ir: &KernelIr) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::with_capacity(ir.nodes.len());
    for node in &ir.nodes {
        let mut step = Step { phase: 0, stage: 0 };
        for &arg in &node.args {
            let mut s = out[arg];
            match (ir.nodes[arg].op, ir.nodes[arg].space) {
                (Op::Reduce(_), Space::Row) => s = Step { phase: s.phase + 1, stage: 0 },
                (Op::Reduce(_), _) => s.stage += 1,
                _ => {}
            }
            step = step.max(s);
        }
        out.push(step);
    }
    out
}

fn last_element_phase(ir: &KernelIr, step: &[Step]) -> usize {
    let of_elements = |id: &Id| ir.nodes[*id].space >= Space::Group(0);
    let reduced = ir.nodes.iter().filter(|n| matches!(n.op, Op::Reduce(_))).map(|n| n.args[0]);
    let ids = ir.outputs.iter().map(|o| o.value).chain(reduced).filter(of_elements);
    ids.map(|id| step[id].phase).max().unwrap_or(0)
}

/// Steps at which something of an element or a group is due.
fn all_steps(ir: &KernelIr, step: &[Step]) -> Vec<Step> {
    let last = last_element_phase(ir, step);
    let ids = (0..ir.nodes.len()).filter(|id| ir.nodes[*id].space >= Space::Group(0));
    let mut all: BTreeSet<Step> = ids.map(|id| step[id]).collect();
    all.extend((0..=last).map(|phase| Step { phase, stage: 0 }));
    all.into_iter().filter(|s| s.phase <= last).collect()
}

/// Puts element values into the first step that needs them.
struct Demand<'a> {
    ir: &'a KernelIr,
    at: Vec<Option<Step>>,
    kept: BTreeSet<Id>,
}

impl Demand<'_> {
    fn roots(&mut self, step: &[Step], now: Step) -> Vec<Id> {
        let mut list = Vec::new();
        let ir = self.ir;
        for output in &ir.outputs {
            if output.sink == Sink::Rows && step[output.value] == now {
                self.need(output.value, now, &mut list);
            }
        }
        for (id, node) in ir.nodes.iter().enumerate() {
            if matches!(node.op, Op::Reduce(_)) && step[id] == now {
                self.need(node.args[0], now, &mut list);
            }
        }
        list
    }

    fn need(&mut self, id: Id, now: Step, list: &mut Vec<Id>) {
        let node = &self.ir.nodes[id];
        if node.space != Space::Element || list.contains(&id) {
            return;
        }
        let again = matches!(node.op, Op::Load { .. }) || is_cheap(self.ir, id);
        match self.at[id] {
            Some(then) if then < now && !again => {
                self.kept.insert(id);
                return;
            }
            None => self.at[id] = Some(now),
            Some(_) => {}
        }
        for arg in near::operands(self.ir, id) {
            self.need(arg, now, list);
        }
        list.push(id);
    }
}

/// Blocks that fit by the registers a thread needs: what it holds of the row, and as many again as
/// expressions take. Fewer would leave the memory idle, more would push values out to it.
fn resident(ir: &KernelIr, kept: &BTreeSet<Id>, g: &Geometry) -> usize {
    let words = |id: &Id| g.items * (g.vec * bits(ir.nodes[*id].dtype)).div_ceil(32);
    let is_load = |id: &Id| {
        matches!(ir.nodes[*id].op, Op::Load { .. }) && ir.nodes[*id].space == Space::Element
    };
    let loaded: usize = (0..ir.nodes.len()).filter(is_load).map(|id| words(&id)).sum();
    let columns: usize = (0..ir.nodes.len())
        .filter(is_load)
        .filter(|id| is_column(ir, *id))
        .map(|id| words(&id))
        .sum();
    let held = columns + kept.iter().map(words).max().unwrap_or(0);
    let registers = (loaded.max(held) + 32).clamp(64, 255).next_multiple_of(8);
    (65536 / registers / (g.threads_per_row * g.rows_per_block)).clamp(1, 16)
}

fn is_column(ir: &KernelIr, id: Id) -> bool {
    matches!(ir.nodes[id].op, Op::Load { input, .. } if ir.inputs[input].role == InputRole::Column)
}

/// Widening and comparing: cheaper again than kept.
fn is_cheap(ir: &KernelIr, id: Id) -> bool {
    let node = &ir.nodes[id];
    (node.op == Op::Cast && node.dtype == Dtype::F32) || node.dtype == Dtype::B8
}

/// Bits of one element as the kernel counts them.
pub fn bits(dtype: Dtype) -> usize {
    match dtype {
        Dtype::F4E2M1x2 => 4,
        other => other.bits() as usize,
    }
}

fn geometry(ir: &KernelIr, phases: usize, tuning: Tuning) -> Result<Geometry> {
    let group = ir.nodes.iter().filter_map(|n| match n.space {
        Space::Group(g) => Some(g),
        _ => None,
    });
    let groups: BTreeSet<usize> = group.collect();
    let vec = match tuning.vec {
        Some(v) => v,
        None => vector(ir, &groups),
    };
    if !vec.is_power_of_two() || !(2..=16).contains(&vec) {
        return Err(Error::new(format!("vectors of {vec} elements: use 2, 4, 8 or 16")));
    }
    for &g in &groups {
        if g % vec != 0 || !(g / vec).is_power_of_two() || g / vec > 32 {
            return Err(Error::new(format!(
                "groups of {g} elements do not fit vectors of {vec}: the row templates take powers of two up to {}",
                32 * vec
            )));
        }
    }
    let lanes = groups.iter().map(|g| g / vec).max().unwrap_or(1);
    let whole = Plan::reduces_rows(ir) || phases > 1;
    let (tpr, items, chunks) =
        share(ir.cols.div_ceil(vec), vec, lanes, whole, tuning.threads_per_row)?;
    let rows_per_block = if tpr >= 128 { 1 } else { 128 / tpr };
    let firsts = ir.nodes.iter().filter_map(|n| match n.op {
        Op::Load { first, .. } => Some(first),
        _ => None,
    });
    let divides = ir.cols.is_multiple_of(vec) && firsts.into_iter().all(|f| f % vec == 0);
    let aligned = divides && !tuning.unaligned;
    Ok(Geometry { vec, threads_per_row: tpr, rows_per_block, items, chunks, aligned })
}

/// 16 bytes of the widest row operand, but no more than a group.
fn vector(ir: &KernelIr, groups: &BTreeSet<usize>) -> usize {
    let rows = ir.inputs.iter().filter(|i| matches!(i.role, InputRole::Rows(_)));
    let widest = rows.map(|i| bits(i.dtype)).max().unwrap_or(16);
    let least = groups.iter().copied().min().unwrap_or(16);
    let power = 1 << least.trailing_zeros().min(4);
    // What is done once a group and lane is shared by more elements.
    let accesses = if groups.is_empty() { 1 } else { 2 };
    (accesses * 128 / widest).clamp(2, 16).min(power.max(2))
}

/// Threads a row, vectors a thread, and parts a row.
fn share(
    vectors: usize,
    vec: usize,
    lanes: usize,
    whole: bool,
    ask: Option<usize>,
) -> Result<(usize, usize, usize)> {
    let few = |n: usize| if n > 32 { n.next_multiple_of(32) } else { n.next_power_of_two() };
    // 32 elements a thread keep enough loads in flight, and few warps make cheap reductions.
    let each = match vectors * vec {
        4096.. => 32 / vec,
        1024.. => 2,
        _ => 1,
    };
    let tpr = match ask {
        Some(t) => t,
        None if whole => few(vectors.div_ceil(each)).min(1024),
        None => few(vectors).min(128),
    }
    .max(lanes);
    if tpr > 1024 || (tpr > 32 && tpr % 32 != 0) || (tpr <= 32 && !tpr.is_power_of_two()) {
        return Err(Error::new(format!(
            "{tpr} threads a row: use a power of two, or a multiple of 32 up to 1024"
        )));
    }
    let items = vectors.div_ceil(tpr);
    match whole {
        true if items > 16 => Err(Error::new(format!(
            "a row of {vectors} vectors does not stay in registers: at most {}",
            16 * 1024
        ))),
        true => Ok((tpr, items, 1)),
        false => {
            let each = items.min(16 / vec).max(1);
            Ok((tpr, each, items.div_ceil(each)))
        }
    }
}
