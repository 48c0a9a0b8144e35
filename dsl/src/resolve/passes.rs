//! Pass headers.

use super::guards;
use super::ops::doc;
use super::scope::{Scope, World};
use crate::diagnostic::Diagnostic;
use crate::library::Pass;

/// Resolves every pass header.
pub(super) fn resolve(world: &World<'_>, errors: &mut Vec<Diagnostic>) -> Vec<Pass> {
    let mut out = Vec::new();
    for (pass, file_doc) in &world.index.passes {
        let mut scope = Scope::empty(world);
        let Some(guards) = guards::guards(&mut scope, &pass.guards, errors) else { continue };
        out.push(Pass {
            name: pass.name.text.clone(),
            doc: doc(pass.doc.as_ref().or(*file_doc)),
            span: pass.name.span,
            guards,
        });
    }
    out
}
