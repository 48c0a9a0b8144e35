//! Every kernel that the shipped norm and activation passes can ask for, for tests and benchmarks.

use crate::lower::Bound;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{Attr, Fusion, Library, Scalar, TypeExpr};
use fusec_dsl::resolve;
use fusec_dsl::source::SourceMap;

/// One kernel to build: a fusion and what its names stand for.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    /// The fusion.
    pub fusion: &'a Fusion,
    /// Types, sizes, attributes.
    pub bound: Bound,
}

impl Instance<'_> {
    /// `add_rms_norm_quant[add_rms_norm, quant_fp8_group] group=128 layout=row_major ue8m0=false`
    pub fn label(&self) -> String {
        let mut out = self.fusion.instance();
        for (name, value) in self.bound.attrs.iter().filter(|(n, _)| *n != "eps") {
            out.push_str(&format!(" {name}={value}"));
        }
        out
    }
}

/// The shipped library.
pub fn library() -> (Library, SourceMap) {
    let files: Vec<(String, String)> =
        fusec_passes::FILES.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect();
    let (library, sources, _) = resolve::load(&files);
    (library, sources)
}

/// Every instance of the fusions of `passes`, rows of `d` elements, with these types.
pub fn instances<'a>(
    library: &'a Library,
    passes: &[&str],
    dtypes: &[(&str, Dtype)],
    d: i64,
) -> Vec<Instance<'a>> {
    let mut out = Vec::new();
    for fusion in &library.fusions {
        if !fusion.pass.as_deref().is_some_and(|p| passes.contains(&p)) {
            continue;
        }
        let mut base = Bound::default();
        base.dims.insert("d".into(), d);
        base.attrs.insert("eps".into(), Attr::float(1e-6));
        for generic in &fusion.sig.generics {
            if let Some((_, dtype)) = dtypes.iter().find(|(n, _)| *n == generic.name) {
                base.dtypes.insert(generic.name.clone(), *dtype);
            }
        }
        // Gemma's weight has the input's type.
        if fusion.variants.iter().any(|v| v.starts_with("gemma"))
            && let Some(t) = base.dtypes.get("T").copied()
        {
            base.dtypes.insert("W".into(), t);
        }
        out.extend(attributes(fusion, base).into_iter().map(|bound| Instance { fusion, bound }));
    }
    out
}

/// Every combination of the attributes that a quantizer takes.
fn attributes(fusion: &Fusion, base: Bound) -> Vec<Bound> {
    let mut all = vec![base];
    for param in &fusion.sig.params {
        let choices: Vec<Attr> = match &param.ty {
            TypeExpr::Scalar(Scalar::Int) if param.name == "group" => {
                vec![Attr::int(64), Attr::int(128)]
            }
            TypeExpr::Scalar(Scalar::Bool) => vec![Attr::Bool(false), Attr::Bool(true)],
            TypeExpr::Scalar(Scalar::Enum(e)) if e == "scale_layout" => {
                ["row_major", "col_major", "tma_aligned"].map(|s| Attr::Str(s.into())).to_vec()
            }
            _ => continue,
        };
        let with = |b: &Bound, a: &Attr| {
            let mut b = b.clone();
            b.attrs.insert(param.name.clone(), a.clone());
            b
        };
        all = all
            .iter()
            .flat_map(|b| choices.iter().map(|a| with(b, a)).collect::<Vec<_>>())
            .collect();
    }
    all
}
