//! The types that inference gives to both sides of a draw.

use super::check::Side;
use super::draw::{Draw, Plan};
use fusec_dsl::infer;
use fusec_dsl::library::{Attr, Body, BodyKind, Library};
use fusec_dsl::types::Type;

/// How the inferred types differ, if both sides have types.
pub(super) fn differ(lib: &Library, side: &Side<'_>, draw: &Draw) -> Option<String> {
    let (left, right) = (results(lib, side.left, draw)?, results(lib, side.right, draw)?);
    (left != right).then(|| {
        let text =
            |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        format!("the left side is {}, the right side {}", text(&left), text(&right))
    })
}

fn results(lib: &Library, body: &Body, draw: &Draw) -> Option<Vec<Type>> {
    let mut types: Vec<Type> = Vec::with_capacity(body.nodes.len());
    for node in &body.nodes {
        let of = |refs: &[usize]| refs.iter().map(|r| types[*r].clone()).collect::<Vec<_>>();
        types.push(match &node.kind {
            BodyKind::Param(i) => draw.plans.get(*i).map(Plan::ty)?,
            BodyKind::Const(Attr::Int(d)) | BodyKind::Dim(d) => {
                Type::Attr(Attr::Int(draw.bindings.dim_value(d)))
            }
            BodyKind::Const(a) => Type::Attr(a.clone()),
            BodyKind::Generic(g) => Type::Attr(Attr::Dtype(*draw.bindings.dtypes.get(g)?)),
            BodyKind::Call { op, args } => infer::call(lib, *op, &of(args)).ok()?,
            BodyKind::Proj { of, index } => match &types[*of] {
                Type::Tuple(parts) | Type::List(parts) => parts.get(*index)?.clone(),
                one if *index == 0 => one.clone(),
                _ => return None,
            },
            BodyKind::List(items) => Type::List(of(items)),
            BodyKind::Alt(_) | BodyKind::Any => return None,
        });
    }
    let known = body.results.iter().map(|r| types.get(*r).cloned());
    known.collect::<Option<Vec<_>>>().filter(|all| !all.contains(&Type::Unknown))
}
