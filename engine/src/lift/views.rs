//! PyTorch's many names for the few views there are.

use crate::egraph::canon;
use crate::egraph::term::{TermDag, TermId, Terms};
use crate::graph::{Arg, Graph, NodeIndex, Value};
use fusec_dsl::library::Attr;

/// The view that a node is, over its first operand; `None` if it is something else.
pub fn lift(graph: &Graph, dag: &mut TermDag, node: NodeIndex, x: TermId) -> Option<TermId> {
    let prims = dag.context.prims.clone();
    match graph.callee(node)? {
        "aten.view.default"
        | "aten.reshape.default"
        | "aten._unsafe_view.default"
        | "aten.unsqueeze.default"
        | "aten.squeeze.dim"
        | "aten.squeeze.default"
        | "aten.flatten.using_ints"
        | "aten.unflatten.int" => {
            let shape = shape_of(graph, dag, node)?;
            canon::call(dag, prims.reshape?, &[x, shape]).ok()
        }
        "aten.expand.default" => {
            let shape = shape_of(graph, dag, node)?;
            canon::call(dag, prims.expand?, &[x, shape]).ok()
        }
        "aten.transpose.int" => {
            let rank = dag.ty(x).tensor()?.shape.len() as i64;
            let (a, b) = (axis(graph, node, "dim0", rank)?, axis(graph, node, "dim1", rank)?);
            let mut dims: Vec<i64> = (0..rank).collect();
            dims.swap(a as usize, b as usize);
            permute(dag, x, dims)
        }
        "aten.t.default" => match dag.ty(x).tensor()?.shape.len() {
            2 => permute(dag, x, vec![1, 0]),
            _ => None,
        },
        "aten.split.Tensor" | "aten.chunk.default" => split(graph, dag, node, x),
        "aten.alias.default" | "aten.detach.default" | "aten.lift_fresh_copy.default" => Some(x),
        "aten.dropout.default" => match graph.arg(node, "train")? {
            Arg::Bool(false) => Some(x),
            _ => None,
        },
        "aten.type_as.default"
        | "aten.to.dtype_layout"
        | "aten.to.device"
        | "aten.to.other"
        | "aten._to_copy.default" => cast(graph, dag, node, x),
        _ => None,
    }
}

fn shape_of(graph: &Graph, dag: &mut TermDag, node: NodeIndex) -> Option<TermId> {
    let shape = graph[node].value.tensor()?.ty.shape.clone();
    Some(dag.attr(Attr::List(shape.into_iter().map(Attr::Int).collect())))
}

fn axis(graph: &Graph, node: NodeIndex, name: &str, rank: i64) -> Option<i64> {
    let axis = graph.arg(node, name)?.as_dim()?.as_int()?;
    let axis = if axis < 0 { axis + rank } else { axis };
    (0..rank).contains(&axis).then_some(axis)
}

fn permute(dag: &mut TermDag, x: TermId, dims: Vec<i64>) -> Option<TermId> {
    let op = dag.context.prims.permute?;
    let dims = dag.attr(Attr::List(dims.into_iter().map(Attr::int).collect()));
    canon::call(dag, op, &[x, dims]).ok()
}

/// Sizes are those of the parts, so every way to ask for them is one split.
fn split(graph: &Graph, dag: &mut TermDag, node: NodeIndex, x: TermId) -> Option<TermId> {
    let op = dag.context.prims.split?;
    let rank = dag.ty(x).tensor()?.shape.len() as i64;
    let at = axis(graph, node, "dim", rank)?;
    let mut sizes = Vec::new();
    for part in graph[node].value.items()? {
        sizes.push(Attr::Int(part.tensor()?.ty.shape.get(at as usize)?.clone()));
    }
    let (sizes, at) = (dag.attr(Attr::List(sizes.into())), dag.attr(Attr::int(at)));
    canon::call(dag, op, &[x, sizes, at]).ok()
}

/// A conversion that changes nothing but the element type. (Copies that only reorder memory stay.)
fn cast(graph: &Graph, dag: &mut TermDag, node: NodeIndex, x: TermId) -> Option<TermId> {
    let op = dag.context.prims.cast?;
    let source = graph.normalized_args(node)?.first()?.node()?;
    let (from, to) = (graph[source].value.tensor()?, graph[node].value.tensor()?);
    let moved = from.ty.dtype == to.ty.dtype && from.stride != to.stride;
    if from.device != to.device || from.ty.shape != to.ty.shape || moved {
        return None;
    }
    let dtype = dag.attr(Attr::Dtype(to.ty.dtype));
    canon::call(dag, op, &[x, dtype]).ok()
}

/// An assertion about a tensor's element type and device that its type already proves.
pub fn is_proven_assertion(graph: &Graph, node: NodeIndex) -> bool {
    if graph.callee(node) != Some("aten._assert_tensor_metadata.default") {
        return false;
    }
    let Some(args) = graph.normalized_args(node) else { return false };
    let Some(meta) = args.first().and_then(|a| a.node()).and_then(|n| match &graph[n].value {
        Value::Tensor(t) => Some(t.clone()),
        _ => None,
    }) else {
        return false;
    };
    args.iter().skip(1).all(|a| match (a.name(), a.arg()) {
        (_, None | Some(Arg::None)) => true,
        ("dtype", Some(Arg::Dtype(d))) => *d == meta.ty.dtype,
        ("device", Some(Arg::Device(d))) => *d == meta.device,
        ("layout", Some(Arg::Layout(l))) => &**l == "strided",
        _ => false,
    })
}
