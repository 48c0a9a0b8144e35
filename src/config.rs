//! `fusec.toml`: what a project always passes on the command line.

use crate::args::{Global, GraphArgs};
use crate::spec::bounds_of;
use anyhow::{Context, Result, bail};
use fusec_dsl::diagnostic::closest;
use fusec_dsl::dim::Interval;
use fusec_dsl::library::Library;
use fusec_engine::settings;
use fusec_engine::target::Target;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File name that is looked for in the current folder and those above it.
pub const FILE_NAME: &str = "fusec.toml";

/// In `disable`: every pass that is not enabled.
const ALL: &str = "all";

/// Settings that were found, or the defaults.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Its keys.
    pub keys: Keys,
    /// The folder that its relative paths start from.
    pub folder: PathBuf,
}

/// The keys of `fusec.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keys {
    /// Device profile: a shipped name, or a path.
    pub target: Option<String>,
    /// `.fuse` files and folders, next to the standard library.
    pub passes: Vec<PathBuf>,
    /// The only passes to run; empty is all of them.
    pub enable: Vec<String>,
    /// Passes not to run; `all` is every one that is not enabled.
    pub disable: Vec<String>,
    /// Largest difference, in units of the last place, that an approximate rewrite may make.
    pub approx_ulp: f64,
    /// Bounds of symbolic sizes, as `s72 = "1..2048"`.
    pub ranges: BTreeMap<String, String>,
    /// Ranks of process groups, as `"tp:0" = 2`.
    pub groups: BTreeMap<String, i64>,
    /// What an optimization may spend.
    pub limits: Limits,
}

/// What an optimization may spend.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Nodes of the e-graph.
    pub nodes: Option<usize>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Memory of the e-graph.
    pub memory_mb: Option<usize>,
}

/// Settings and command line together: what is given besides the graph and the rules.
#[derive(Clone, Debug)]
pub struct Given {
    /// The device.
    pub target: Target,
    /// Bounds of symbolic sizes.
    pub ranges: BTreeMap<String, Interval>,
    /// Ranks of process groups.
    pub groups: BTreeMap<String, i64>,
    /// The only passes to run; empty is all of them.
    pub enable: Vec<String>,
    /// Passes not to run; `all` is every one that is not enabled.
    pub disable: Vec<String>,
    /// Bound for approximate rewrites.
    pub approx_ulp: f64,
    /// What the optimization may spend.
    pub limits: Limits,
}

impl Config {
    /// The settings that the command line asks for: a named file, the nearest one, or none.
    pub fn load(global: &Global) -> Result<Config> {
        match (&global.config, global.isolated) {
            (_, true) => Ok(Config::default()),
            (Some(path), _) => Config::read(path),
            (None, _) => match nearest(&std::env::current_dir().unwrap_or_default()) {
                Some(path) => Config::read(&path),
                None => Ok(Config::default()),
            },
        }
    }

    fn read(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings file {}", path.display()))?;
        let shown = crate::inputs::display(path);
        let keys: Keys = settings::parse(&shown, &text)?;
        keys.check(&shown)?;
        Ok(Config { keys, folder: path.parent().unwrap_or(Path::new("")).to_path_buf() })
    }

    /// Paths of its `.fuse` files, from where the user stands.
    pub fn pass_paths(&self) -> Vec<PathBuf> {
        self.keys.passes.iter().map(|p| self.folder.join(p)).collect()
    }

    /// Adds what the command line says, which wins.
    pub fn with(&self, args: &GraphArgs) -> Result<Given> {
        let mut ranges = BTreeMap::new();
        for (symbol, text) in &self.keys.ranges {
            ranges.insert(symbol.clone(), bounds_of(text).map_err(anyhow::Error::msg)?);
        }
        ranges.extend(args.range.iter().map(|r| (r.symbol.clone(), r.bounds)));
        let mut groups = self.keys.groups.clone();
        groups.extend(args.group.iter().map(|g| (g.group.clone(), g.size)));
        Ok(Given {
            target: self.target(args.target.as_deref())?,
            ranges,
            groups,
            enable: self.keys.enable.iter().chain(&args.enable).cloned().collect(),
            disable: self.keys.disable.iter().chain(&args.disable).cloned().collect(),
            approx_ulp: self.keys.approx_ulp,
            limits: self.keys.limits,
        })
    }

    /// The device profile: the command line's, else the settings', else the H200's.
    pub fn target(&self, asked: Option<&str>) -> Result<Target> {
        match (asked, self.keys.target.as_deref()) {
            (Some(name), _) => load_target(name, Path::new("")),
            (None, Some(name)) => load_target(name, &self.folder),
            (None, None) => Ok(Target::named("h200")?),
        }
    }
}

impl Given {
    /// As the engine takes it; `disable = all` becomes the names that are meant.
    pub fn engine(&self, library: &Library) -> fusec_engine::config::Config {
        let mut config = fusec_engine::config::Config::new(self.target.clone());
        config.ranges = self.ranges.clone();
        config.groups = self.groups.clone();
        config.enable = self.enable.iter().cloned().collect();
        config.disable = self.disable.iter().cloned().collect();
        if config.disable.remove(ALL) {
            let rest = library.passes.iter().map(|p| p.name.clone());
            config.disable.extend(rest.filter(|p| !self.enable.contains(p)));
        }
        config.approx_ulp = self.approx_ulp;
        if let Some(nodes) = self.limits.nodes {
            config.limits.nodes = nodes;
        }
        if let Some(seconds) = self.limits.seconds {
            config.limits.time = Duration::from_secs_f64(seconds);
        }
        if let Some(mb) = self.limits.memory_mb {
            config.limits.memory_bytes = mb << 20;
        }
        config
    }

    /// The first name among those enabled or disabled that no loaded file declares.
    pub fn unknown_pass(&self, library: &Library) -> Option<String> {
        let known: Vec<&str> = library.passes.iter().map(|p| p.name.as_str()).collect();
        let named = self.enable.iter().chain(self.disable.iter().filter(|p| *p != ALL));
        let unknown = named.into_iter().find(|p| !known.contains(&p.as_str()))?;
        let mut message = format!("no loaded file declares a pass `{unknown}`");
        match closest(unknown, known.iter().copied()) {
            Some(near) => message.push_str(&format!("\nhelp: did you mean `{near}`?")),
            None => message.push_str(&format!("\nhelp: declared are {}", known.join(", "))),
        }
        Some(message)
    }
}

impl Keys {
    fn check(&self, path: &str) -> Result<()> {
        for (symbol, text) in &self.ranges {
            if let Err(message) = bounds_of(text) {
                bail!("{message}\n--> {path}: [ranges] {symbol}");
            }
        }
        if let Some((group, size)) = self.groups.iter().find(|(_, size)| **size < 1) {
            bail!(
                "`{size}` is not a number of ranks (1 or more)\n--> {path}: [groups] \"{group}\""
            );
        }
        if self.limits.seconds.is_some_and(|s| !(s > 0.0 && s < 1e9)) {
            bail!("`seconds` is a time: above 0\n--> {path}: [limits]");
        }
        if !(self.approx_ulp >= 0.0 && self.approx_ulp.is_finite()) {
            bail!("`approx_ulp` is a bound: 0 or more\n--> {path}");
        }
        Ok(())
    }
}

/// The nearest settings file at or above a folder.
fn nearest(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|f| f.join(FILE_NAME)).find(|p| p.is_file())
}

/// A shipped profile by name, or one from a TOML file.
fn load_target(name: &str, folder: &Path) -> Result<Target> {
    let is_path = name.contains(['/', '\\']) || name.ends_with(".toml");
    if !is_path {
        return Ok(Target::named(name)?);
    }
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read the device profile {}", path.display()))?;
    Ok(Target::parse(&crate::inputs::display(&path), &text)?)
}
