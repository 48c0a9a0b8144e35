//! Which storage an op is expected to yield, so that only the unexpected is written.

use crate::fx::Kind;
use crate::graph::{Graph, NodeIndex, TensorMeta, Value};
use fusec_dsl::dtype::Dtype;
use rustc_hash::FxHashSet;

/// Walks nodes in order and foretells the storage number of each tensor: a view has its operand's,
/// a projection that of its part, everything else the next free number.
#[derive(Default)]
pub(super) struct Expected {
    free: u32,
    /// What the tensors of the current node share, or their own storages in order, last first.
    shared: Option<Option<u32>>,
    parts: Vec<Option<u32>>,
    /// Nodes so far. A file out of order may name others, of which nothing is known yet.
    seen: FxHashSet<NodeIndex>,
}

impl Expected {
    /// Begins a node.
    pub(super) fn enter(&mut self, graph: &Graph, index: NodeIndex) {
        self.shared = None;
        self.parts.clear();
        let node = &graph[index];
        self.seen.insert(index);
        if let Some((of, i)) = graph.projection(index) {
            if !self.seen.contains(&of) {
                return;
            }
            if let Some(part) = graph[of].value.items().and_then(|items| items.get(i)) {
                part.each_tensor_storage(&mut |s| self.parts.push(s));
                self.parts.reverse();
            }
            return;
        }
        let view = node.kind == Kind::Op && graph.op_info(&node.target).is_some_and(|i| i.view);
        let Some(base) = node.operands().first().copied().filter(|b| view && self.seen.contains(b))
        else {
            return;
        };
        // `to` is a view only when it has nothing to do.
        let converts =
            node.target.starts_with("aten.to.") && dtype(&node.value) != dtype(&graph[base].value);
        self.shared = if converts { None } else { storage(&graph[base].value) };
    }

    /// The expected storage of the node's next tensor.
    pub(super) fn next(&mut self) -> Option<u32> {
        match (self.shared, self.parts.pop()) {
            (Some(shared), _) => shared,
            (None, Some(part)) => part,
            (None, None) => Some(self.free),
        }
    }

    /// Learns which storage that tensor really has.
    pub(super) fn learn(&mut self, real: Option<u32>) {
        self.free = self.free.max(real.map_or(0, |s| s.saturating_add(1)));
    }
}

fn dtype(value: &Value) -> Option<Dtype> {
    value.tensor().map(|t| t.ty.dtype)
}

fn storage(value: &Value) -> Option<Option<u32>> {
    match value {
        Value::Tensor(TensorMeta { storage, .. }) => Some(*storage),
        _ => None,
    }
}

/// Gives every tensor that is not written with a storage the expected one. `written` says of each
/// node's tensors, in order, whether it is.
pub(super) fn fill(graph: &mut Graph, written: &[Vec<bool>]) {
    let mut expected = Expected::default();
    for (index, written) in graph.print_order().into_iter().zip(written) {
        expected.enter(graph, index);
        let mut value = graph[index].value.clone();
        let mut tensors = written.iter();
        value.each_tensor_mut(&mut |storage| {
            let foretold = expected.next();
            if tensors.next() == Some(&false) {
                *storage = foretold;
            }
            expected.learn(*storage);
        });
        graph.fill_value(index, value);
    }
}
