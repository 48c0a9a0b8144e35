//! What a body yields: a value for every declared result, and no nodes besides.

use super::body::{Builder, Resolved, Val};
use super::scope::ResultFrom;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Body, BodyKind, Ref};
use crate::source::Span;

impl Builder<'_, '_, '_> {
    /// The value of each declared result.
    pub fn results(&mut self, last: Option<(Option<Val>, Span)>, end: Span) -> Option<Vec<Ref>> {
        let declared = self.scope.results.clone();
        if declared.is_empty() {
            let Some((value, span)) = last else {
                self.failed = true;
                self.errors.push(
                    Diagnostic::new(Code::MissingResult, end, "the body has no value")
                        .help("end it with an expression, or name the results after `->`"),
                );
                return None;
            };
            return self.parts(value?, span);
        }
        let mut out: Vec<Option<Ref>> = Vec::new();
        for (i, (from, _)) in declared.iter().enumerate() {
            let name = self.scope.sig.results[i].name.clone();
            let bound = *from == ResultFrom::Name && self.locals.contains_key(&name);
            out.push(match bound {
                true => match self.use_local(&name) {
                    Some(v) => Some(self.node_of(v, end)?),
                    None => return None,
                },
                false => None,
            });
        }
        let open: Vec<usize> = (0..out.len()).filter(|i| out[*i].is_none()).collect();
        let (value, span) = match last {
            Some((value, span)) => (value?, span),
            None if open.is_empty() => return out.into_iter().collect(),
            None => {
                self.missing(&open, end);
                return None;
            }
        };
        if open.is_empty() {
            self.unused_value(span, "every result is bound by name already");
            return None;
        }
        let parts = self.parts(value, span)?;
        if parts.len() != open.len() {
            self.wrong_count(&open, parts.len(), span);
            return None;
        }
        for (i, r) in open.iter().zip(parts) {
            out[*i] = Some(r);
        }
        out.into_iter().collect()
    }

    fn result_names(&self, which: &[usize]) -> String {
        let name = |i: &usize| match self.scope.sig.results[*i].name.as_str() {
            "" => "the result".to_string(),
            name => format!("`{name}`"),
        };
        which.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn missing(&mut self, open: &[usize], end: Span) {
        if self.failed {
            return;
        }
        self.failed = true;
        let names = self.result_names(open);
        let verb = if open.len() == 1 { "has" } else { "have" };
        let at = self.scope.results[open[0]].1;
        self.errors.push(
            Diagnostic::new(Code::MissingResult, end, format!("{names} {verb} no value"))
                .label("the body ends here")
                .because(at, "declared here")
                .help("bind it by its name, or end the body with an expression"),
        );
    }

    fn wrong_count(&mut self, open: &[usize], found: usize, span: Span) {
        self.failed = true;
        let names = self.result_names(open);
        let at = self.scope.results[open[0]].1;
        let plural = if found == 1 { "" } else { "s" };
        let more = if open.len() == 1 { "" } else { "s" };
        let message = format!("{found} value{plural} for {} result{more}", open.len());
        self.errors.push(
            Diagnostic::new(Code::MissingResult, span, message)
                .because(at, "declared here")
                .note(format!("without a value: {names}")),
        );
    }

    /// A value as results.
    pub fn parts(&mut self, value: Val, span: Span) -> Option<Vec<Ref>> {
        match value {
            Val::Tuple(refs) => Some(refs),
            Val::Multi(of, n) => Some(
                (0..n)
                    .map(|index| self.push(BodyKind::Proj { of, index }, span, Vec::new()))
                    .collect(),
            ),
            other => self.node_of(other, span).map(|r| vec![r]),
        }
    }
}

/// Operands of a node.
pub(super) fn operands(kind: &BodyKind) -> Vec<Ref> {
    match kind {
        BodyKind::Call { args, .. } => args.clone(),
        BodyKind::Proj { of, .. } => vec![*of],
        BodyKind::List(items) | BodyKind::Alt(items) => items.clone(),
        _ => Vec::new(),
    }
}

/// Drops nodes that no result needs.
pub(super) fn prune(body: Body, arg_spans: Vec<Vec<Span>>) -> Resolved {
    let mut live = vec![false; body.nodes.len()];
    body.results.iter().for_each(|r| live[*r] = true);
    for i in (0..body.nodes.len()).rev() {
        if live[i] {
            operands(&body.nodes[i].kind).into_iter().for_each(|r| live[r] = true);
        }
    }
    let mut at = vec![0; body.nodes.len()];
    let mut out = Resolved::default();
    for (i, (mut node, spans)) in body.nodes.into_iter().zip(arg_spans).enumerate() {
        if !live[i] {
            continue;
        }
        match &mut node.kind {
            BodyKind::Call { args, .. } => args.iter_mut().for_each(|r| *r = at[*r]),
            BodyKind::Proj { of, .. } => *of = at[*of],
            BodyKind::List(l) | BodyKind::Alt(l) => l.iter_mut().for_each(|r| *r = at[*r]),
            _ => {}
        }
        at[i] = out.body.nodes.len();
        out.body.nodes.push(node);
        out.arg_spans.push(spans);
    }
    out.body.results = body.results.iter().map(|r| at[*r]).collect();
    out
}
