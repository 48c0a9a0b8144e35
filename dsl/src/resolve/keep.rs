//! What stays in the end: broken ops and everything that uses them are left out.

use crate::library::{Body, BodyKind, Kernel, Library, Meaning, OpId};

/// The library without the ops marked as broken.
pub(super) fn good(mut lib: Library, mut broken: Vec<bool>) -> Library {
    spread(&lib, &mut broken);
    let ok = |b: &Body| calls(b).all(|op| !broken[op.0 as usize]);
    lib.rewrites.retain(|r| ok(&r.lhs) && ok(&r.rhs));
    lib.fusions.retain(|f| ok(&f.body) && means(&f.kernel).is_none_or(ok));
    lib.binds.retain(|b| !broken[b.op.0 as usize]);
    lib.tests.retain(|t| ok(&t.graph));
    let mut new = vec![OpId(0); broken.len()];
    let mut next = 0;
    for (i, id) in new.iter_mut().enumerate() {
        *id = OpId(next);
        next += u32::from(!broken[i]);
    }
    let mut keep = broken.iter().map(|b| !b);
    lib.ops.retain(|_| keep.next().unwrap_or(false));
    renumber(&mut lib, &new);
    sort(&mut lib);
    lib
}

/// An op that uses a broken one is broken.
fn spread(lib: &Library, broken: &mut [bool]) {
    loop {
        let mut changed = false;
        for (i, op) in lib.ops.iter().enumerate() {
            if let Meaning::Body(body) = &op.meaning
                && !broken[i]
                && calls(body).any(|c| broken[c.0 as usize])
            {
                broken[i] = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

fn means(kernel: &Kernel) -> Option<&Body> {
    match kernel {
        Kernel::Extern { means, .. } => means.as_ref(),
        _ => None,
    }
}

fn calls(body: &Body) -> impl Iterator<Item = OpId> {
    body.nodes.iter().filter_map(|n| match n.kind {
        BodyKind::Call { op, .. } => Some(op),
        _ => None,
    })
}

fn renumber(lib: &mut Library, new: &[OpId]) {
    let body = |b: &mut Body| {
        for n in &mut b.nodes {
            if let BodyKind::Call { op, .. } = &mut n.kind {
                *op = new[op.0 as usize];
            }
        }
    };
    for op in &mut lib.ops {
        if let Meaning::Body(b) = &mut op.meaning {
            body(b);
        }
    }
    for r in &mut lib.rewrites {
        body(&mut r.lhs);
        body(&mut r.rhs);
    }
    for f in &mut lib.fusions {
        body(&mut f.body);
        if let Kernel::Extern { means: Some(b), .. } = &mut f.kernel {
            body(b);
        }
    }
    lib.tests.iter_mut().for_each(|t| body(&mut t.graph));
    lib.binds.iter_mut().for_each(|b| b.op = new[b.op.0 as usize]);
}

fn sort(lib: &mut Library) {
    lib.rewrites.sort_by(|a, b| a.name.cmp(&b.name));
    lib.fusions.sort_by_key(|f| f.instance());
    lib.passes.sort_by(|a, b| a.name.cmp(&b.name));
    lib.binds.sort_by(|a, b| a.target.cmp(&b.target));
}
