//! What a node does besides yielding values.

use super::{Arg, Graph, NodeIndex};
use crate::fx::Kind;

/// What a node does besides yielding values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may be dropped when unused, merged with its equal, and moved.
    Pure,
    /// Nothing, but each call is its own value (fresh memory, random numbers): it may be dropped
    /// when unused, never merged.
    Fresh,
    /// Writes to arguments in place.
    Mutates(Vec<Write>),
    /// Takes part in a collective: every rank must run it, in one order.
    Collective,
    /// Reads or writes hidden state, such as a paged cache: stays, in order with its like.
    State,
    /// Checks, prints, or something unknown: stays.
    Opaque,
}

impl Effect {
    /// Whether a node of this effect may go when nothing uses it.
    pub fn may_drop(&self) -> bool {
        matches!(self, Effect::Pure | Effect::Fresh)
    }
}

/// One in-place write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The written parameter.
    pub param: String,
    /// The written values.
    pub nodes: Vec<NodeIndex>,
}

/// Name spaces and names of collectives.
const COLLECTIVE: &[&str] = &[
    "_c10d_functional.",
    "_c10d_functional_autograd.",
    "c10d.",
    "c10d_functional.",
    "symm_mem.",
    "vllm.all_reduce.",
    "vllm.all_gather.",
    "vllm.reduce_scatter.",
    "vllm.all_to_all.",
    "vllm.broadcast.",
    "vllm.flashinfer_trtllm_fused_allreduce_norm.",
    "vllm.patched_fused_scaled_",
    "_C_custom_ar.",
];

/// Name spaces and names of ops that touch state which their schema does not show.
const STATE: &[&str] = &[
    "_C_cache_ops.",
    "vllm.unified_kv_cache_update.",
    "vllm.unified_mla_kv_cache_update.",
    "vllm.unified_attention",
    "vllm.unified_mla_attention",
    "vllm.maybe_save_kv_layer",
    "vllm.maybe_wait_for_kv_layer",
    "vllm.maybe_calc_kv_scales",
    "vllm.fused_rope_and_unified_kv",
    "vllm.mamba_",
    "vllm.linear_attention",
    "vllm.gdn_attention",
    "vllm.short_conv",
];

/// Tags that a synthesized operator may carry to say what its name does not.
pub(crate) const TAG_COLLECTIVE: &str = "fusec_collective";
/// See [`TAG_COLLECTIVE`].
pub(crate) const TAG_STATE: &str = "fusec_state";

impl Graph {
    /// What a node does besides yielding values. By the operator's schema, tags and name; what is
    /// wrapped in `auto_functionalized` writes nothing in place, but keeps hidden effects.
    pub fn effect(&self, node: NodeIndex) -> Effect {
        let n = &self[node];
        match n.kind {
            Kind::Input | Kind::Attr | Kind::Builtin => Effect::Pure,
            Kind::Function | Kind::Module | Kind::Method => Effect::Opaque,
            Kind::Hop => match &n.functionalized {
                Some(f) => self.hidden_effect(&f.op).unwrap_or(Effect::Pure),
                None => Effect::Opaque,
            },
            Kind::Op => self.op_effect(node),
        }
    }

    fn op_effect(&self, node: NodeIndex) -> Effect {
        let target = &*self[node].target;
        let writes = self.writes(node);
        if !writes.is_empty() {
            return Effect::Mutates(writes);
        }
        if let Some(hidden) = self.hidden_effect(target) {
            return hidden;
        }
        let Some(info) = self.op_info(target) else { return Effect::Opaque };
        // An op that returns nothing is there for what it does: assertions, prints.
        if info.mutable || info.returns.is_empty() {
            return Effect::Opaque;
        }
        let fresh = info.tags.iter().any(|t| t == "nondeterministic_seeded");
        if fresh || target.starts_with("aten.empty") || target.starts_with("aten.new_empty") {
            return Effect::Fresh;
        }
        Effect::Pure
    }

    /// The effect that an operator's name or tags tell and its schema does not.
    fn hidden_effect(&self, target: &str) -> Option<Effect> {
        let among = |names: &[&str]| names.iter().any(|n| target.starts_with(n));
        let tags = self.op_info(target).map_or(&[][..], |i| &i.tags);
        if among(COLLECTIVE) || tags.iter().any(|t| t == TAG_COLLECTIVE) {
            return Some(Effect::Collective);
        }
        let state = among(STATE) || tags.iter().any(|t| t == TAG_STATE);
        state.then_some(Effect::State)
    }

    /// The in-place writes of a call, by its schema.
    fn writes(&self, node: NodeIndex) -> Vec<Write> {
        if self[node].mutates.is_empty()
            && !self.op_info(&self[node].target).is_some_and(|i| i.mutable)
        {
            return Vec::new();
        }
        let Some(bound) = self.normalized_args(node) else { return Vec::new() };
        let write = |param: &str, arg: &Arg| {
            let mut nodes = Vec::new();
            arg.each_node(&mut |n| nodes.push(n));
            (!nodes.is_empty()).then(|| Write { param: param.to_owned(), nodes })
        };
        let written = bound.iter().filter(|b| b.param.is_written());
        written.filter_map(|b| write(b.name(), b.arg()?)).collect()
    }
}
