//! What an optimization may assume and spend.

use crate::egraph::saturate::Limits;
use crate::target::Target;
use fusec_dsl::dim::Interval;
use fusec_dsl::guard::Facts;
use fusec_dsl::library::Attr;
use std::collections::{BTreeMap, BTreeSet};

/// Settings of one optimization.
#[derive(Clone, Debug)]
pub struct Config {
    /// The device.
    pub target: Target,
    /// Bounds on symbols; narrower than the graph's own where both are given.
    pub ranges: BTreeMap<String, Interval>,
    /// Ranks of each process group.
    pub groups: BTreeMap<String, i64>,
    /// The only passes that may run; empty is all of them.
    pub enable: BTreeSet<String>,
    /// Passes switched off by name.
    pub disable: BTreeSet<String>,
    /// Rules that differ by at most this many units in the last place may be used.
    pub approx_ulp: f64,
    /// Whether equal layers are solved once.
    pub fold: bool,
    /// Limits of saturation.
    pub limits: Limits,
    /// Limits of extraction.
    pub extract: crate::extract::Limits,
}

impl Config {
    /// Defaults for a device.
    pub fn new(target: Target) -> Config {
        Config {
            target,
            ranges: BTreeMap::new(),
            groups: BTreeMap::new(),
            enable: BTreeSet::new(),
            disable: BTreeSet::new(),
            approx_ulp: 0.0,
            fold: true,
            limits: Limits::default(),
            extract: crate::extract::Limits::default(),
        }
    }
}

/// A configuration over one choice of ranges, as guards ask for it.
pub struct RangeFacts<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Bounds on every symbol in this range.
    pub ranges: &'a BTreeMap<String, Interval>,
}

impl Facts for RangeFacts<'_> {
    fn range(&self, symbol: &str) -> Interval {
        self.ranges.get(symbol).copied().unwrap_or(Interval::ALL)
    }

    fn global(&self, space: &str, name: &str, args: &[i64]) -> Option<Attr> {
        match space {
            "target" => self.config.target.global(name, args),
            _ => None,
        }
    }

    fn group_size(&self, group: &str) -> Option<i64> {
        self.config.groups.get(group).copied()
    }

    fn contiguous(&self, _param: usize) -> Option<bool> {
        None
    }
}
