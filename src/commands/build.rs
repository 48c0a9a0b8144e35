//! `fusec build`: the CUDA source, image and manifest of one fusion.

use crate::Status;
use crate::args::{BuildArgs, Format, Global};
use crate::config::Config;
use crate::inputs;
use crate::loaded::Loaded;
use crate::ui::Ui;
use anyhow::{Context, Result, anyhow, bail};
use fusec_codegen::error::Error;
use fusec_codegen::kernel::Kernel;
use fusec_codegen::lower::Bound;
use fusec_codegen::manifest::Manifest;
use fusec_codegen::plan::Tuning;
use fusec_dsl::ast::Item;
use fusec_dsl::diagnostic::closest;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::{Attr, Fusion, Library, Scalar, TypeExpr};
use fusec_dsl::render::Region;
use std::io::Write;
use std::path::PathBuf;

/// Generates, compiles and writes.
pub fn run(args: &BuildArgs, global: &Global, ui: &Ui) -> Result<Status> {
    let config = Config::load(global)?;
    let target = config.target(args.target.as_deref())?;
    let loaded = Loaded::read(&[args.passes.passes.clone(), config.pass_paths()].concat())?;
    if loaded.say_errors(ui)? {
        return Ok(Status::Findings);
    }
    let fusion = find(&loaded.library, &args.fusion)?;
    let bound = bound(&loaded, fusion, args)?;
    let working = ui.working("compiling");
    let kernel = Kernel::new(&loaded.library, &loaded.sources, fusion, &bound, Tuning::default())
        .map_err(|e| placed(&loaded, e))?;
    let arch = arch(target.sm);
    let cubin = match args.no_compile {
        true => None,
        false => Some(kernel.cubin(&arch).map_err(|e| placed(&loaded, e))?),
    };
    drop(working);
    let manifest = serde_json::to_string_pretty(&Manifest::of(&kernel, &arch))? + "\n";
    let entry = &kernel.source.entry;
    let mut files = vec![
        (kernel.source.file.clone(), kernel.source.text.clone().into_bytes()),
        (format!("{entry}.json"), manifest.clone().into_bytes()),
    ];
    files.extend(cubin.map(|image| (format!("{entry}.{arch}.cubin"), image)));
    let written = write(&args.output, files)?;
    let mut out = ui.out();
    match ui.format {
        Format::Json => out.write_all(manifest.as_bytes())?,
        _ => written.iter().try_for_each(|path| writeln!(out, "{}", inputs::display(path)))?,
    }
    Ok(Status::Clean)
}

fn write(folder: &PathBuf, files: Vec<(String, Vec<u8>)>) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut written = Vec::new();
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

/// NVRTC's name of an architecture; from 9.0 on the one with that generation's own instructions.
fn arch(sm: i64) -> String {
    format!("sm_{sm}{}", if sm >= 90 { "a" } else { "" })
}

/// The one fusion that a name means.
fn find<'a>(library: &'a Library, name: &str) -> Result<&'a Fusion> {
    let called = |f: &&Fusion| f.instance() == name || f.label() == name || f.name == name;
    let found: Vec<&Fusion> = library.fusions.iter().filter(called).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let bases = library.fusions.iter().map(|f| f.name.clone());
            let names: Vec<String> =
                bases.chain(library.fusions.iter().map(Fusion::label)).collect();
            let near = closest(name, names.iter().map(String::as_str));
            let help = near.map(|n| format!("\nhelp: did you mean `{n}`?")).unwrap_or_default();
            Err(anyhow!("no fusion is called `{name}`{help}"))
        }
        several => {
            let exact = several.iter().find(|f| f.instance() == name);
            let names: Vec<String> = several.iter().map(|f| f.instance()).collect();
            exact.copied().ok_or_else(|| {
                anyhow!("`{name}` stands for several fusions; name one:\n  {}", names.join("\n  "))
            })
        }
    }
}

/// What the fusion's names stand for: as asked, and bf16 where the choice is free.
fn bound(loaded: &Loaded, fusion: &Fusion, args: &BuildArgs) -> Result<Bound> {
    let mut bound = Bound::default();
    for generic in &fusion.sig.generics {
        let class: Vec<Dtype> =
            Dtype::ALL.iter().copied().filter(|d| generic.class.contains(*d)).collect();
        let free =
            if class.contains(&Dtype::Bf16) { Some(Dtype::Bf16) } else { class.first().copied() };
        bound.dtypes.extend(free.map(|d| (generic.name.clone(), d)));
    }
    for text in &args.types {
        let (name, dtype) = pair(text, "VAR=DTYPE, as in T=bf16")?;
        let Some(generic) = fusion.sig.generics.iter().find(|g| g.name == name) else {
            bail!("`{}` has no type variable `{name}`", fusion.instance());
        };
        match Dtype::from_short(dtype) {
            Some(d) if generic.class.contains(d) => bound.dtypes.insert(name.into(), d),
            Some(d) => bail!("`{name}` cannot be {d} in `{}`", fusion.instance()),
            None => bail!("`{dtype}` is not an element type; they are called bf16, f16, f32, .."),
        };
    }
    for text in &args.values {
        let (name, value) = pair(text, "NAME=VALUE, as in d=4096")?;
        set(loaded, fusion, &mut bound, name, value)?;
    }
    Ok(bound)
}

fn pair<'a>(text: &'a str, form: &str) -> Result<(&'a str, &'a str)> {
    text.split_once('=').ok_or_else(|| anyhow!("`{text}`: expected {form}"))
}

/// Gives a dimension or an attribute its value.
fn set(loaded: &Loaded, fusion: &Fusion, bound: &mut Bound, name: &str, value: &str) -> Result<()> {
    let Some(param) = fusion.sig.params.iter().find(|p| p.name == name) else {
        let size = value.replace('_', "").parse::<i64>().ok().filter(|v| *v > 0);
        let size = size.ok_or_else(|| anyhow!("`{value}` is not a size for `{name}`"))?;
        bound.dims.insert(name.into(), size);
        return Ok(());
    };
    let attr = match &param.ty {
        TypeExpr::Scalar(Scalar::Int) => value.parse().ok().map(Attr::int),
        TypeExpr::Scalar(Scalar::Float) => value.parse().ok().map(Attr::float),
        TypeExpr::Scalar(Scalar::Bool) => value.parse().ok().map(Attr::Bool),
        TypeExpr::Scalar(Scalar::Dtype) => Dtype::from_short(value).map(Attr::Dtype),
        TypeExpr::Scalar(Scalar::Enum(of)) => Some(enum_value(loaded, of, value)?),
        _ => bail!("`{name}` is an operand, not an attribute"),
    };
    let attr = attr.ok_or_else(|| anyhow!("`{value}` is not a value for `{name}`"))?;
    bound.attrs.insert(name.into(), attr);
    Ok(())
}

/// A declared value of an enum.
fn enum_value(loaded: &Loaded, of: &str, value: &str) -> Result<Attr> {
    let enums = loaded.files.iter().flat_map(|(_, f)| &f.items).filter_map(|i| match i {
        Item::Enum(e) if e.name.text == of => Some(e),
        _ => None,
    });
    let known: Vec<&str> = enums.flat_map(|e| e.values.iter().map(|v| v.text.as_str())).collect();
    match known.contains(&value) {
        true => Ok(Attr::Str(value.into())),
        false => bail!("`{value}` is not a {of}; there are {}", known.join(", ")),
    }
}

/// An error with the place in a `.fuse` file that it is about.
fn placed(loaded: &Loaded, error: Error) -> anyhow::Error {
    match error.span {
        None => anyhow!("{}", error.message),
        Some(span) => {
            let at = Region::of(span, &loaded.sources);
            let path = loaded.path(span.file);
            let help = match error.message.ends_with("is not given") {
                true => "\nhelp: give it with --set NAME=VALUE",
                false => "",
            };
            anyhow!("{}\n--> {path}:{}:{}{help}", error.message, at.line, at.col)
        }
    }
}
