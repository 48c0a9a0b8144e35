//! Left sides compiled for matching: a small DAG of pattern nodes, rooted at one op.

use super::context::{Context, TypeId};
use super::node::Operator;
use fusec_dsl::dim::Dim;
use fusec_dsl::library::{Attr, Body, BodyKind, Ref};
use std::collections::BTreeMap;

/// Index of a node in a [`Pattern`].
pub type PatId = usize;

/// What one pattern node accepts.
#[derive(Clone, Debug)]
pub enum PatNode {
    /// Anything, bound to a parameter; the same class everywhere it occurs.
    Param(usize),
    /// An attribute with one of these (interned) values.
    Const(Vec<TypeId>),
    /// An attribute whose value follows from the bindings; compared after the structural match.
    Value(ValueExpr),
    /// An operator over sub-patterns.
    Op {
        /// The operator.
        op: Operator,
        /// Sub-patterns, one an operand.
        kids: Vec<PatId>,
        /// Whether the first two operands may be swapped.
        commutative: bool,
    },
    /// Either of several.
    Alt(Vec<PatId>),
    /// Anything, bound to nothing.
    Any,
}

/// An attribute given by an expression over names of the signature.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueExpr {
    /// A constant.
    Const(Attr),
    /// A dimension.
    Dim(Dim),
    /// The dtype of a generic.
    Generic(String),
    /// A list.
    List(Vec<ValueExpr>),
}

/// Where a result of a rule is, given a match.
#[derive(Clone, Debug)]
pub enum ResultAt {
    /// The class that this pattern node matched.
    Node(PatId),
    /// A result of the call that this pattern node matched; absent if the graph does not use it.
    Proj(PatId, usize),
}

/// A compiled left side.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Nodes; operands of a node may come before or after it.
    pub nodes: Vec<PatNode>,
    /// The node to start at: always an operator.
    pub root: PatId,
    /// Name and place of each node in the source body, for explanations.
    pub body_refs: Vec<Ref>,
    /// Where each declared result is.
    pub results: Vec<ResultAt>,
    /// Pattern node of each parameter; `None` if it does not occur.
    pub params: Vec<Option<PatId>>,
}

impl Pattern {
    /// Compiles the pattern of a body.
    ///
    /// # Errors
    /// A sentence for the rule's author: no op to start at, or results that no single one reaches.
    pub fn compile(body: &Body, n_params: usize, context: &mut Context) -> Result<Pattern, String> {
        let anchor = anchor(body)?;
        let mut c =
            Compiler { body, context, nodes: Vec::new(), refs: Vec::new(), done: BTreeMap::new() };
        let root = c.node(anchor)?;
        if !matches!(c.nodes[root], PatNode::Op { .. } | PatNode::Alt(_)) {
            return Err("the left side is not an operation".into());
        }
        let mut results = Vec::new();
        for r in &body.results {
            results.push(c.result(*r)?);
        }
        let params = (0..n_params)
            .map(|p| c.nodes.iter().position(|n| matches!(n, PatNode::Param(q) if *q == p)))
            .collect();
        Ok(Pattern { nodes: c.nodes, root, body_refs: c.refs, results, params })
    }

    /// Operators a match can start at.
    pub fn root_operators(&self) -> Vec<Operator> {
        fn collect(p: &Pattern, at: PatId, out: &mut Vec<Operator>) {
            match &p.nodes[at] {
                PatNode::Op { op, .. } => out.push(*op),
                PatNode::Alt(items) => items.iter().for_each(|i| collect(p, *i, out)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        collect(self, self.root, &mut out);
        out.sort();
        out.dedup();
        out
    }

    /// Longest path from the root.
    pub fn depth(&self) -> usize {
        fn depth(p: &Pattern, at: PatId) -> usize {
            match &p.nodes[at] {
                PatNode::Op { kids, .. } => {
                    1 + kids.iter().map(|k| depth(p, *k)).max().unwrap_or(0)
                }
                PatNode::Alt(items) => items.iter().map(|k| depth(p, *k)).max().unwrap_or(0),
                _ => 0,
            }
        }
        depth(self, self.root)
    }
}

/// Strips projections: the node whose match yields the result.
fn base(body: &Body, mut r: Ref) -> Ref {
    while let BodyKind::Proj { of, .. } = body.nodes[r].kind {
        r = of;
    }
    r
}

fn operands(kind: &BodyKind) -> Vec<Ref> {
    match kind {
        BodyKind::Call { args, .. } => args.clone(),
        BodyKind::Proj { of, .. } => vec![*of],
        BodyKind::List(items) | BodyKind::Alt(items) => items.clone(),
        _ => Vec::new(),
    }
}

fn reachable(body: &Body, from: Ref) -> Vec<bool> {
    let mut seen = vec![false; body.nodes.len()];
    let mut stack = vec![from];
    while let Some(r) = stack.pop() {
        if !std::mem::replace(&mut seen[r], true) {
            stack.extend(operands(&body.nodes[r].kind));
        }
    }
    seen
}

/// The result from which every other one is reached.
fn anchor(body: &Body) -> Result<Ref, String> {
    let bases: Vec<Ref> = body.results.iter().map(|r| base(body, *r)).collect();
    for b in &bases {
        let seen = reachable(body, *b);
        if bases.iter().all(|other| seen[*other]) {
            return Ok(*b);
        }
    }
    Err("its results have no single expression that contains them all".into())
}

struct Compiler<'a> {
    body: &'a Body,
    context: &'a mut Context,
    nodes: Vec<PatNode>,
    refs: Vec<Ref>,
    done: BTreeMap<Ref, PatId>,
}

impl Compiler<'_> {
    fn node(&mut self, r: Ref) -> Result<PatId, String> {
        if let Some(id) = self.done.get(&r) {
            return Ok(*id);
        }
        let node = self.compile(r)?;
        if let PatNode::Param(p) = node
            && let Some(id) =
                self.nodes.iter().position(|n| matches!(n, PatNode::Param(q) if *q == p))
        {
            self.done.insert(r, id);
            return Ok(id);
        }
        self.nodes.push(node);
        self.refs.push(r);
        let id = self.nodes.len() - 1;
        self.done.insert(r, id);
        Ok(id)
    }

    fn compile(&mut self, r: Ref) -> Result<PatNode, String> {
        Ok(match &self.body.nodes[r].kind {
            BodyKind::Param(i) => PatNode::Param(*i),
            BodyKind::Const(a) => PatNode::Const(self.constants(a)),
            BodyKind::Dim(_) | BodyKind::Generic(_) => PatNode::Value(self.value(r)?),
            BodyKind::Any => PatNode::Any,
            BodyKind::Alt(items) => {
                let items: Result<_, _> = items.clone().into_iter().map(|i| self.node(i)).collect();
                PatNode::Alt(items?)
            }
            BodyKind::Proj { of, index } => {
                let kid = self.node(*of)?;
                let op = Operator::proj(*index).ok_or("more results than are supported")?;
                PatNode::Op { op, kids: vec![kid], commutative: false }
            }
            BodyKind::List(items) => match self.value(r) {
                Ok(value) => PatNode::Value(value),
                Err(_) => {
                    let kids: Result<_, _> =
                        items.clone().into_iter().map(|i| self.node(i)).collect();
                    PatNode::Op { op: Operator::LIST, kids: kids?, commutative: false }
                }
            },
            BodyKind::Call { op, args } => {
                let kids: Result<_, _> = args.clone().into_iter().map(|a| self.node(a)).collect();
                let commutative = self.context.lib.op(*op).commutative && args.len() >= 2;
                PatNode::Op { op: Operator::op(*op), kids: kids?, commutative }
            }
        })
    }

    /// A number matches however it is spelled.
    fn constants(&mut self, a: &Attr) -> Vec<TypeId> {
        let mut values = vec![a.clone()];
        match a {
            Attr::Int(d) => values.extend(d.as_int().map(|v| Attr::float(v as f64))),
            Attr::Float(bits) => {
                let v = f64::from_bits(*bits);
                if v.fract() == 0.0
                    && v.abs() < 2f64.powi(53)
                    && !(v == 0.0 && v.is_sign_negative())
                {
                    values.push(Attr::int(v as i64));
                }
            }
            _ => {}
        }
        values.into_iter().map(|v| self.context.attr(v)).collect()
    }

    fn value(&self, r: Ref) -> Result<ValueExpr, String> {
        Ok(match &self.body.nodes[r].kind {
            BodyKind::Const(a) => ValueExpr::Const(a.clone()),
            BodyKind::Dim(d) => ValueExpr::Dim(d.clone()),
            BodyKind::Generic(g) => ValueExpr::Generic(g.clone()),
            BodyKind::List(items) => {
                ValueExpr::List(items.iter().map(|i| self.value(*i)).collect::<Result<_, _>>()?)
            }
            _ => return Err("not a constant".into()),
        })
    }

    fn result(&mut self, r: Ref) -> Result<ResultAt, String> {
        if let Some(id) = self.done.get(&r) {
            return Ok(ResultAt::Node(*id));
        }
        match self.body.nodes[r].kind {
            BodyKind::Proj { of, index } => match self.done.get(&of) {
                Some(id) => Ok(ResultAt::Proj(*id, index)),
                None => Err("a result lies outside the matched expression".into()),
            },
            _ => Err("a result lies outside the matched expression".into()),
        }
    }
}
