//! Tests in `.fuse` files: a graph and what must be chosen in it.

use super::body::{Builder, Place};
use super::scope::World;
use super::sig::{self, Pick};
use super::typing;
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::library::{Expectation, Test, TypeExpr};
use std::collections::BTreeSet;

/// Resolves every test, in the order of the files.
pub(super) fn resolve(world: &World<'_>, errors: &mut Vec<Diagnostic>) -> Vec<Test> {
    world.index.tests.iter().filter_map(|t| test(world, t, errors)).collect()
}

fn test(world: &World<'_>, t: &ast::Test, errors: &mut Vec<Diagnostic>) -> Option<Test> {
    let sig = ast::Signature { params: t.inputs.clone(), ..ast::Signature::default() };
    let expect: Vec<_> = t.fires.iter().map(|f| expectation(world, f, errors)).collect();
    let mut scope = sig::resolve(world, &sig, &Pick::new(), errors)?;
    fixed_ranks(t, &scope.sig.params, errors)?;
    let body = Builder::new(&mut scope, Place::Graph, errors).graph(&t.body, &t.returns)?;
    let rigid = super::rigid::Rigid::default();
    let first = typing::cases(&scope, &rigid).next();
    if let Some(case) = &first
        && let Err((at, f)) = typing::nodes(&scope, &body, case)
    {
        errors.push(typing::fault(&scope, &body, case, at, &f));
        return None;
    }
    Some(Test {
        name: t.name.text.clone(),
        span: t.name.span,
        inputs: scope.names.sig.params,
        graph: body.body,
        expect: expect.into_iter().collect::<Option<_>>()?,
    })
}

/// A graph's inputs have one rank and one dtype.
fn fixed_ranks(
    t: &ast::Test,
    params: &[crate::library::Param],
    errors: &mut Vec<Diagnostic>,
) -> Option<()> {
    for (tree, p) in t.inputs.iter().zip(params) {
        if let TypeExpr::Tensor(ty) | TypeExpr::State(ty) = &p.ty
            && (ty.leading.is_some() || ty.dtype == crate::library::DtypeExpr::Any)
        {
            let message = format!("input `{}` of a graph needs one dtype and one rank", p.name);
            errors.push(
                Diagnostic::new(Code::TypeMismatch, tree.ty.span, message)
                    .help("write every size: `x: bf16[s0, 4096]`"),
            );
            return None;
        }
    }
    Some(())
}

fn expectation(
    world: &World<'_>,
    f: &ast::Fires,
    errors: &mut Vec<Diagnostic>,
) -> Option<Expectation> {
    let Some(name) = &f.fusion else {
        return Some(Expectation { fusion: None, times: f.times, span: f.span });
    };
    let members: Vec<&str> = f.members.iter().map(|m| m.as_str()).collect();
    let label = match members.is_empty() {
        true => name.text.clone(),
        false => format!("{}[{}]", name.text, members.join(", ")),
    };
    let all: BTreeSet<String> = world.lib.fusions.iter().map(|f| f.label()).collect();
    if all.contains(&label) {
        return Some(Expectation { fusion: Some(label), times: f.times, span: f.span });
    }
    // A fusion that is wrong is reported where it is.
    let declared: Vec<&str> = world.index.fusions.iter().map(|r| r.item.name.as_str()).collect();
    let left_out =
        declared.contains(&name.as_str()) && !world.lib.fusions.iter().any(|f| f.name == name.text);
    if left_out || world.index.broken.contains(name.as_str()) {
        return None;
    }
    let own: Vec<String> =
        world.lib.fusions.iter().filter(|f| f.name == name.text).map(|f| f.label()).collect();
    let message = format!("no fusion `{label}`");
    let d = Diagnostic::new(Code::UnknownName, f.span, message);
    errors.push(match own.is_empty() {
        true => d.did_you_mean(&name.text, name.span, declared),
        false => {
            let own: BTreeSet<String> = own.into_iter().collect();
            d.note(format!("it has {}", own.into_iter().collect::<Vec<_>>().join(", ")))
        }
    });
    None
}
