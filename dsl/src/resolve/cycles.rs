//! Ops defined through each other.

use super::scope::World;
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{BodyKind, Meaning};
use crate::source::Span;

/// Reports each cycle once and marks its ops as broken.
pub(super) fn report(world: &mut World<'_>, trees: &[&ast::Op], errors: &mut Vec<Diagnostic>) {
    let calls: Vec<Vec<(usize, Span)>> = (0..trees.len()).map(|i| calls(world, i)).collect();
    let mut state = vec![State::New; trees.len()];
    for start in 0..trees.len() {
        let mut path: Vec<Step> = Vec::new();
        enter(start, Span::default(), &mut state, &mut path);
        while let Some(step) = path.last_mut() {
            let Some((next, span)) = calls[step.op].get(step.next).copied() else {
                state[step.op] = State::Done;
                path.pop();
                continue;
            };
            step.next += 1;
            match state[next] {
                State::New => enter(next, span, &mut state, &mut path),
                State::Open => {
                    let from = path.iter().position(|s| s.op == next).unwrap_or(0);
                    let cycle = &path[from..];
                    if cycle.iter().all(|s| !world.broken_ops[s.op]) {
                        errors.push(message(world, cycle, span));
                    }
                    cycle.iter().for_each(|s| world.broken_ops[s.op] = true);
                }
                State::Done => {}
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

struct Step {
    op: usize,
    /// The call that led here.
    span: Span,
    /// Which of its own calls is next.
    next: usize,
}

fn enter(op: usize, span: Span, state: &mut [State], path: &mut Vec<Step>) {
    if state[op] == State::New {
        state[op] = State::Open;
        path.push(Step { op, span, next: 0 });
    }
}

fn calls(world: &World<'_>, op: usize) -> Vec<(usize, Span)> {
    let Meaning::Body(body) = &world.lib.ops[op].meaning else { return Vec::new() };
    let of = |n: &crate::library::BodyNode| match &n.kind {
        BodyKind::Call { op, .. } => Some((op.0 as usize, n.span)),
        _ => None,
    };
    body.nodes.iter().filter_map(of).collect()
}

fn message(world: &World<'_>, cycle: &[Step], back: Span) -> Diagnostic {
    let name = |s: &Step| world.lib.ops[s.op].name.as_str();
    let mut names: Vec<&str> = cycle.iter().map(name).collect();
    names.push(name(&cycle[0]));
    let first = world.lib.ops[cycle[0].op].span;
    let text = format!("`{}` is defined through itself", name(&cycle[0]));
    let mut d = Diagnostic::new(Code::Cyclic, first, text);
    for s in &cycle[1..] {
        d = d.because(s.span, format!("calls `{}`", name(s)));
    }
    d.because(back, format!("calls `{}`", name(&cycle[0])))
        .note(format!("the cycle: {}", names.join(" -> ")))
        .help("a body is made of simpler ops, down to primitives")
}
