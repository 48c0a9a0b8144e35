//! The two sides of a rule, with alternatives and wildcards written out.

use super::check::Side;
use fusec_dsl::library::{
    Body, BodyKind, BodyNode, Exactness, Fusion, Library, Meaning, OpId, Param, Ref, Rewrite,
    Signature, TypeExpr,
};
use std::collections::BTreeMap;

/// More spellings than this in one rule is a mistake.
const MOST_SPELLINGS: usize = 256;

/// "Each of these left sides equals the right side."
pub(super) struct Claim<'a> {
    /// The rule's name.
    pub name: String,
    /// Its signature; wildcards are appended to the parameters.
    pub sig: Signature,
    /// Left sides, one a spelling.
    pub lefts: Vec<Body>,
    /// Right side.
    pub right: &'a Body,
    /// Whether the left side must have a value where the right side has one.
    pub both_ways: bool,
    /// Bound on the difference.
    pub exactness: Exactness,
    /// Whether both sides are the same text.
    pub trivial: bool,
    /// Whether ranks matter.
    pub collective: bool,
    /// For each parameter, whether it differs from rank to rank.
    pub sharded: Vec<bool>,
}

impl<'a> Claim<'a> {
    /// The claim of a rewrite.
    pub fn of_rewrite(lib: &Library, rule: &'a Rewrite) -> Result<Claim<'a>, String> {
        Claim::new(lib, &rule.name, &rule.sig, &rule.lhs, &rule.rhs).map(|c| Claim {
            both_ways: rule.both_ways,
            exactness: rule.exactness,
            ..c
        })
    }

    /// The claim that a fusion's kernel computes its body: what it means, or the body itself.
    pub fn of_fusion(
        lib: &Library,
        fusion: &'a Fusion,
        means: Option<&'a Body>,
    ) -> Result<Claim<'a>, String> {
        let right = means.unwrap_or(&fusion.body);
        let claim = Claim::new(lib, &fusion.instance(), &fusion.sig, &fusion.body, right)?;
        Ok(Claim { trivial: means.is_none(), ..claim })
    }

    fn new(
        lib: &Library,
        name: &str,
        sig: &Signature,
        left: &Body,
        right: &'a Body,
    ) -> Result<Claim<'a>, String> {
        let mut sig = sig.clone();
        let lefts = spellings(lib, left, &mut sig.params)?;
        let mut seen = Reach::default();
        lefts.iter().chain([right]).for_each(|b| seen.body(lib, b));
        let sharded = sharded(lib, &lefts, sig.params.len());
        Ok(Claim {
            name: name.to_string(),
            sig,
            lefts,
            right,
            both_ways: false,
            exactness: Exactness::Exact,
            trivial: false,
            collective: seen.collective,
            sharded,
        })
    }

    /// Every comparison the claim asks for.
    pub fn sides(&self) -> impl Iterator<Item = Side<'_>> {
        self.lefts.iter().map(|left| Side { left, right: self.right, both_ways: self.both_ways })
    }
}

/// The ops behind a body, all the way down.
#[derive(Default)]
struct Reach {
    seen: std::collections::BTreeSet<OpId>,
    collective: bool,
}

impl Reach {
    fn body(&mut self, lib: &Library, body: &Body) {
        for node in &body.nodes {
            if let BodyKind::Call { op, .. } = node.kind
                && self.seen.insert(op)
            {
                let op = lib.op(op);
                self.collective |= op.collective;
                if let Meaning::Body(inner) = &op.meaning {
                    self.body(lib, inner);
                }
            }
        }
    }
}

/// Parameters that reach a collective on the left differ from rank to rank; all others, such as
/// weights, are the same everywhere.
fn sharded(lib: &Library, lefts: &[Body], params: usize) -> Vec<bool> {
    let mut out = vec![false; params];
    for body in lefts {
        for node in &body.nodes {
            if let BodyKind::Call { op, args } = &node.kind {
                let mut inside = Reach::default();
                inside.body(lib, &Body { nodes: vec![node.clone()], results: vec![] });
                let collective = lib.op(*op).collective || inside.collective;
                if let (true, Some(first)) = (collective, args.first()) {
                    mark(body, *first, &mut out, &mut vec![false; body.nodes.len()]);
                }
            }
        }
    }
    out
}

fn mark(body: &Body, at: Ref, out: &mut [bool], seen: &mut [bool]) {
    if std::mem::replace(&mut seen[at], true) {
        return;
    }
    match &body.nodes[at].kind {
        BodyKind::Param(i) => out[*i] = true,
        BodyKind::Call { args, .. } | BodyKind::List(args) => {
            args.iter().for_each(|a| mark(body, *a, out, seen));
        }
        BodyKind::Proj { of, .. } => mark(body, *of, out, seen),
        _ => {}
    }
}

/// The body once for each choice among its alternatives, wildcards turned into parameters.
fn spellings(lib: &Library, body: &Body, params: &mut Vec<Param>) -> Result<Vec<Body>, String> {
    let body = name_wildcards(lib, body, params)?;
    let alternatives: Vec<(Ref, usize)> = body
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(i, n)| match &n.kind {
            BodyKind::Alt(of) => Some((i, of.len())),
            _ => None,
        })
        .collect();
    let count = alternatives.iter().try_fold(1usize, |n, (_, k)| n.checked_mul(*k));
    let Some(count) = count.filter(|n| *n <= MOST_SPELLINGS) else {
        return Err(format!("more than {MOST_SPELLINGS} spellings"));
    };
    let spelled = (0..count).map(|mut index| {
        let mut choice = BTreeMap::new();
        for (at, k) in &alternatives {
            choice.insert(*at, index % k);
            index /= k;
        }
        Choose { body: &body, choice, done: BTreeMap::new(), nodes: Vec::new() }.run()
    });
    Ok(spelled.collect())
}

/// Copies the chosen part of a body.
struct Choose<'b> {
    body: &'b Body,
    choice: BTreeMap<Ref, usize>,
    done: BTreeMap<Ref, Ref>,
    nodes: Vec<BodyNode>,
}

impl Choose<'_> {
    fn run(mut self) -> Body {
        let results = self.body.results.iter().map(|r| self.copy(*r)).collect();
        Body { nodes: self.nodes, results }
    }

    fn copy(&mut self, at: Ref) -> Ref {
        if let Some(done) = self.done.get(&at) {
            return *done;
        }
        let node = &self.body.nodes[at];
        let kind = match &node.kind {
            BodyKind::Alt(of) => {
                let chosen = of[self.choice.get(&at).copied().unwrap_or(0)];
                let copied = self.copy(chosen);
                self.done.insert(at, copied);
                return copied;
            }
            BodyKind::Call { op, args } => {
                BodyKind::Call { op: *op, args: args.iter().map(|a| self.copy(*a)).collect() }
            }
            BodyKind::List(items) => BodyKind::List(items.iter().map(|a| self.copy(*a)).collect()),
            BodyKind::Proj { of, index } => BodyKind::Proj { of: self.copy(*of), index: *index },
            other => other.clone(),
        };
        self.nodes.push(BodyNode { kind, ..node.clone() });
        self.done.insert(at, self.nodes.len() - 1);
        self.nodes.len() - 1
    }
}

/// A wildcard for an attribute is any value of its type; one for a tensor has no type to draw.
fn name_wildcards(lib: &Library, body: &Body, params: &mut Vec<Param>) -> Result<Body, String> {
    let mut out = body.clone();
    for i in 0..out.nodes.len() {
        if !matches!(out.nodes[i].kind, BodyKind::Any) {
            continue;
        }
        let place = body.nodes.iter().find_map(|n| match &n.kind {
            BodyKind::Call { op, args } => {
                args.iter().position(|a| *a == i).map(|k| &lib.op(*op).sig.params[k])
            }
            _ => None,
        });
        match place {
            Some(p) if matches!(p.ty, TypeExpr::Scalar(_)) => {
                params.push(Param { name: format!("_{i}"), default: None, ..p.clone() });
                out.nodes[i].kind = BodyKind::Param(params.len() - 1);
            }
            _ => return Err("`_` stands for a tensor of unknown type".into()),
        }
    }
    Ok(out)
}
