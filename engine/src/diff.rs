//! What a plan did to a graph, as a diff to be read in a review.
//!
//! ```text
//! tiny on h200, s72 = 1..2048
//! silu_and_mul_quant[quant_fp8_static]  2 matched, 2 chosen
//!
//!   silu_and_mul_quant[quant_fp8_static]  layers.0.mlp
//!     %mm_3: bf16[s72, 28672] = aten.mm.default(%rms_norm_1, %gate_up_w)
//! -   %silu: bf16[s72, 14336] = ..
//! +   %silu_and_mul_quant: f8e4m3fn[s72, 14336] = fusec.silu_and_mul_quant.quant_fp8_static(%mm_3, %scale)
//!     %mm_4: bf16[s72, 4096] = ..
//!   same change x1
//!
//! nodes 116 -> 114, launches 38 -> 36, bytes in the changed places 245504*s72 -> 130816*s72
//! ```
//!
//! Lines are those of [`text::line`](crate::text::line), under the graph's own names. Context is
//! what a fusion reads and what reads it, at most two lines each. No times and no hashes.

use crate::graph::{Effect, Graph, NodeIndex, Value};
use crate::report::{FusionReport, RangeReport, Report};
use crate::rewrite::{Placed, Rewritten};
use crate::text;
use fusec_dsl::dim::Dim;
use fusec_dsl::library::Library;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of context on each side.
const CONTEXT: usize = 2;

/// The diff of one range's plan. `report` is about the same plan.
pub fn diff(
    before: &Graph,
    after: &Rewritten,
    lib: &Library,
    report: &Report,
    range: usize,
) -> String {
    let d = Differ::new(before, after);
    let changes: Vec<Change> = after.placed.iter().map(|p| d.change(p, lib)).collect();
    let mut out = head(report, range);
    let mut bytes = (Dim::int(0), Dim::int(0));
    for c in &changes {
        bytes = (bytes.0.add(&c.bytes.0), bytes.1.add(&c.bytes.1));
    }
    distinct(&changes).iter().for_each(|(c, repeats)| c.print(*repeats, &mut out));
    d.print_dropped(&mut out);
    let launches = report.ranges.get(range).map(|r| &r.cost);
    let launches = launches.map_or((0, 0), |c| (c.launches_before, c.launches_after));
    put(&mut out, format_args!("\nnodes {} -> {}", before.len(), after.graph.len()));
    put(&mut out, format_args!(", launches {} -> {}", launches.0, launches.1));
    put(&mut out, format_args!(", bytes in the changed places {} -> {}\n", bytes.0, bytes.1));
    out
}

/// Writing to a String cannot fail.
fn put(out: &mut String, args: std::fmt::Arguments<'_>) {
    out.write_fmt(args).unwrap_or(());
}

/// The graph, the range, and a line a fusion.
fn head(report: &Report, range: usize) -> String {
    let mut out = format!("{} on {}", report.graph, report.target);
    if let Some((r, symbol)) = report.ranges.get(range).and_then(|r| Some((r, r.symbol.as_ref()?)))
    {
        put(&mut out, format_args!(", {symbol}{}", bounds(r)));
    }
    out.push('\n');
    let fusions: Vec<&FusionReport> = report.fusions.iter().filter(|f| f.range == range).collect();
    if fusions.is_empty() {
        out.push_str("nothing matched\n");
    }
    for f in fusions {
        put(&mut out, format_args!("{}  {} matched, {} chosen", f.name, f.matched, f.chosen));
        for r in &f.refused {
            let times = if r.count == 1 { String::new() } else { format!(" x{}", r.count) };
            put(&mut out, format_args!("; refused{times} by `{}`: {}", r.guard, r.seen));
        }
        out.push('\n');
    }
    out
}

fn bounds(r: &RangeReport) -> String {
    match r.hi {
        Some(hi) if hi == r.lo => format!(" = {hi}"),
        Some(hi) => format!(" = {}..{hi}", r.lo),
        None => format!(" >= {}", r.lo),
    }
}

/// One fusion's part of the diff.
struct Change {
    title: String,
    /// Each with its mark.
    lines: Vec<(char, String)>,
    /// Moved before and after.
    bytes: (Dim, Dim),
}

impl Change {
    /// What it does, whatever the names and the place.
    fn shape(&self) -> String {
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        let mut out = String::new();
        for (mark, line) in self.lines.iter().filter(|(mark, _)| *mark != ' ') {
            out.push(*mark);
            let line = line.split("  // ").next().unwrap_or("");
            for (i, part) in line.split('%').enumerate() {
                let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
                let end = if i == 0 { 0 } else { part.find(|c| !inner(c)).unwrap_or(part.len()) };
                if i > 0 {
                    let next = names.len();
                    let number = *names.entry(&part[..end]).or_insert(next);
                    put(&mut out, format_args!("%{number}"));
                }
                out.push_str(&part[end..]);
            }
            out.push('\n');
        }
        out
    }

    fn print(&self, repeats: usize, out: &mut String) {
        put(out, format_args!("\n  {}\n", self.title));
        for (mark, line) in &self.lines {
            put(out, format_args!("{mark}   {line}\n"));
        }
        if repeats > 0 {
            put(out, format_args!("  same change x{repeats}\n"));
        }
    }
}

/// Each kind of change with the number of its repeats, in the order of first occurrence.
fn distinct(changes: &[Change]) -> Vec<(&Change, usize)> {
    let mut found: indexmap::IndexMap<String, (&Change, usize)> = indexmap::IndexMap::new();
    for c in changes {
        found.entry(c.shape()).and_modify(|(_, n)| *n += 1).or_insert((c, 0));
    }
    found.into_values().collect()
}

struct Differ<'a> {
    before: &'a Graph,
    after: &'a Graph,
    /// Place in the order of printing.
    place: (FxHashMap<NodeIndex, usize>, FxHashMap<NodeIndex, usize>),
    /// Which fusion took the place of a removed node.
    owner: FxHashMap<NodeIndex, NodeIndex>,
    /// The fusions and their parts.
    added: FxHashSet<NodeIndex>,
}

impl<'a> Differ<'a> {
    fn new(before: &'a Graph, after: &'a Rewritten) -> Differ<'a> {
        let order = |g: &Graph| -> FxHashMap<NodeIndex, usize> {
            g.print_order().into_iter().enumerate().map(|(i, n)| (n, i)).collect()
        };
        let mut d = Differ {
            before,
            after: &after.graph,
            place: (order(before), order(&after.graph)),
            owner: FxHashMap::default(),
            added: FxHashSet::default(),
        };
        for p in &after.placed {
            d.added.insert(p.node);
            d.added.extend(d.after.projections(p.node).iter().map(|(_, n)| *n));
            for node in &p.covers {
                if d.is_removed(*node) {
                    d.owner.insert(*node, p.node);
                }
            }
        }
        d.spread();
        d
    }

    fn is_removed(&self, node: NodeIndex) -> bool {
        self.before.get(node).is_some() && self.after.get(node).is_none()
    }

    /// What was removed with a fusion though no pattern names it: buffers, calls behind `getitem`s.
    fn spread(&mut self) {
        let mut order = self.before.print_order();
        order.reverse();
        for node in order {
            if !self.is_removed(node) || self.owner.contains_key(&node) {
                continue;
            }
            let users = self.before.users(node);
            if let Some(owner) = users.iter().find_map(|u| self.owner.get(u)) {
                self.owner.insert(node, *owner);
            }
        }
    }

    fn change(&self, p: &Placed, lib: &Library) -> Change {
        let fusion = &lib.fusions[p.fusion];
        let module = self.after[p.node].module.as_deref().unwrap_or("");
        let mut gone: Vec<NodeIndex> =
            self.owner.iter().filter(|(_, of)| **of == p.node).map(|(n, _)| *n).collect();
        gone.sort_by_key(|n| self.place.0[n]);
        let mut new = vec![p.node];
        new.extend(self.after.projections(p.node).iter().map(|(_, n)| *n));
        let mut lines: Vec<(char, String)> = Vec::new();
        let mut add = |mark: char, g: &Graph, nodes: &[NodeIndex]| {
            lines.extend(nodes.iter().map(|n| (mark, text::line(g, *n))));
        };
        add(' ', self.after, &self.read_by(p.node));
        add('-', self.before, &gone);
        add('+', self.after, &new);
        add(' ', self.after, &self.readers(&new));
        let traffic = |g: &Graph, nodes: &[NodeIndex]| {
            nodes.iter().fold(Dim::int(0), |sum, n| sum.add(&traffic(g, *n)))
        };
        let bytes = (traffic(self.before, &gone), traffic(self.after, &[p.node]));
        Change { title: format!("{}  {module}", fusion.instance()).trim_end().into(), lines, bytes }
    }

    /// The last computed values that a fusion reads.
    fn read_by(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let is_call = |n: &NodeIndex| {
            !matches!(self.after[*n].kind, crate::fx::Kind::Input | crate::fx::Kind::Attr)
        };
        let mut read: Vec<NodeIndex> =
            self.after[node].operands().into_iter().filter(is_call).collect();
        read.sort_by_key(|n| self.place.1[n]);
        read.dedup();
        read.split_off(read.len().saturating_sub(CONTEXT))
    }

    /// The first nodes that use what a fusion yields.
    fn readers(&self, new: &[NodeIndex]) -> Vec<NodeIndex> {
        let mut users: Vec<NodeIndex> = new.iter().flat_map(|n| self.after.users(*n)).collect();
        users.retain(|n| !new.contains(n));
        users.sort_by_key(|n| self.place.1[n]);
        users.dedup();
        users.truncate(CONTEXT);
        users
    }

    /// What went without a fusion in its place.
    fn print_dropped(&self, out: &mut String) {
        let mut dropped: BTreeMap<&str, usize> = BTreeMap::new();
        for (node, n) in self.before.nodes() {
            if self.is_removed(node) && !self.owner.contains_key(&node) {
                *dropped.entry(self.before.callee(node).unwrap_or(&n.target)).or_insert(0) += 1;
            }
        }
        if !dropped.is_empty() {
            out.push('\n');
        }
        for (target, count) in dropped {
            put(out, format_args!("-   {target} x{count}, no longer needed\n"));
        }
    }
}

/// Bytes that a node reads and writes: none for a view, an allocation and a part of a tuple.
fn traffic(graph: &Graph, node: NodeIndex) -> Dim {
    let n = &graph[node];
    if graph.projection(node).is_some() || graph.effect(node) == Effect::Fresh {
        return Dim::int(0);
    }
    let mut operands = n.operands();
    operands.sort();
    operands.dedup();
    let mut storages = FxHashSet::default();
    operands.iter().for_each(|o| {
        graph[*o].value.each_storage(&mut |s| {
            storages.insert(s);
        });
    });
    let mut aliased = true;
    let mut any = false;
    n.value.each_storage(&mut |s| {
        any = true;
        aliased &= storages.contains(&s);
    });
    if any && aliased {
        return Dim::int(0);
    }
    let read = operands.iter().filter(|o| graph.effect(**o) != Effect::Fresh);
    let read = read.fold(Dim::int(0), |sum, o| sum.add(&bytes(&graph[*o].value, &|_| true)));
    let taken: FxHashSet<usize> = graph.projections(node).iter().map(|(i, _)| *i).collect();
    read.add(&bytes(&n.value, &|i| taken.contains(&i)))
}

/// Size of a value; of several, those that are wanted.
fn bytes(value: &Value, wanted: &dyn Fn(usize) -> bool) -> Dim {
    let sum = |sum: Dim, v: &Value| sum.add(&bytes(v, &|_| true));
    match value {
        Value::Tensor(t) => t.ty.bytes(),
        Value::Tuple(items) | Value::List(items) => {
            let items = items.iter().enumerate().filter(|(i, _)| wanted(*i));
            items.map(|(_, v)| v).fold(Dim::int(0), sum)
        }
        _ => Dim::int(0),
    }
}
