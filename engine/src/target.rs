//! Device profiles: the numbers that guards and the cost model ask for.
//!
//! A profile is a TOML file; those under `targets/` are embedded. Each number there carries its
//! source in a comment.

use crate::settings::{self, SettingsError};
use fusec_dsl::library::Attr;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One kind of GPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name, as on the command line.
    pub name: String,
    /// Compute capability as one number: 90 is 9.0.
    pub sm: i64,
    /// Streaming multiprocessors.
    pub sms: i64,
    /// Size of the level-2 cache.
    pub l2_bytes: i64,
    /// Size of device memory.
    pub memory_bytes: i64,
    /// Largest shared memory of one block.
    pub smem_bytes: i64,
    /// Time of an empty kernel in a stream, launched one by one.
    pub launch_us: f64,
    /// Time of an empty kernel as a node of a CUDA graph.
    pub graph_node_us: f64,
    /// Device memory.
    pub dram: Dram,
    /// Dense matrix throughput by operand type.
    pub tflops: Tflops,
    /// Collectives.
    pub comm: Comm,
}

/// Device memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Highest bandwidth that a copy reaches, bytes read plus written.
    pub gbps: f64,
    /// Measured `[bytes, us]` of a copy kernel in a graph, launch gap included; ascending bytes.
    #[serde(default)]
    pub copy_us: Vec<(f64, f64)>,
}

/// Dense matrix throughput, in 10^12 operations a second.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tflops {
    /// bf16 and f16.
    pub bf16: f64,
    /// f32 on the vector units.
    pub f32: f64,
    /// fp8; absent where the tensor cores have none.
    pub fp8: Option<f64>,
    /// fp4; absent where the tensor cores have none.
    pub fp4: Option<f64>,
}

/// Collectives over NVLink, within one node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comm {
    /// Bandwidth of one GPU, one direction.
    pub nvlink_gbps: f64,
    /// Time of the smallest library collective, by group size.
    pub latency_us: BTreeMap<String, f64>,
    /// Time of the smallest one-shot fused all-reduce, by group size.
    pub one_shot_us: BTreeMap<String, f64>,
    /// Largest all-reduce operand, in bytes, for which one shot beats two, by group size.
    pub one_shot_limit: BTreeMap<String, i64>,
    /// Largest all-reduce operand, in bytes, for which fusing pays at all, by group size.
    pub fusion_limit: BTreeMap<String, i64>,
}

const SHIPPED: &[(&str, &str)] = &[
    ("a100", include_str!("../targets/a100.toml")),
    ("b200", include_str!("../targets/b200.toml")),
    ("h200", include_str!("../targets/h200.toml")),
];

/// Numbers of a profile that guards may ask for as `target.NAME` or `target.NAME(group size)`.
pub const GUARD_NAMES: &[&str] =
    &["fusion_limit", "l2_bytes", "memory_bytes", "one_shot_limit", "sm", "smem_bytes", "sms"];

impl Target {
    /// Names of the shipped profiles.
    pub fn shipped() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// A shipped profile.
    pub fn named(name: &str) -> Result<Target, SettingsError> {
        let lower = name.to_lowercase();
        let Some((name, text)) = SHIPPED.iter().find(|(n, _)| *n == lower) else {
            return Err(unknown(name));
        };
        Target::parse(&format!("targets/{name}.toml"), text)
    }

    /// A profile from TOML text; `path` is for messages.
    pub fn parse(path: &str, text: &str) -> Result<Target, SettingsError> {
        let target: Target = settings::parse(path, text)?;
        match target.fault() {
            Some(message) => Err(SettingsError::whole(path, message)),
            None => Ok(target),
        }
    }

    fn fault(&self) -> Option<String> {
        let sizes = [
            ("sm", self.sm),
            ("sms", self.sms),
            ("l2_bytes", self.l2_bytes),
            ("memory_bytes", self.memory_bytes),
            ("smem_bytes", self.smem_bytes),
        ];
        let rates = [
            ("launch_us", self.launch_us),
            ("graph_node_us", self.graph_node_us),
            ("dram.gbps", self.dram.gbps),
            ("tflops.bf16", self.tflops.bf16),
            ("tflops.f32", self.tflops.f32),
            ("comm.nvlink_gbps", self.comm.nvlink_gbps),
        ];
        let ascending = self.dram.copy_us.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1);
        let size = sizes.iter().find(|(_, v)| *v <= 0).map(|(n, _)| *n);
        let rate = rates.iter().find(|(_, v)| !(*v > 0.0 && v.is_finite())).map(|(n, _)| *n);
        match size.or(rate) {
            Some(name) => Some(format!("`{name}` must be above zero")),
            None if !ascending => Some("`dram.copy_us` must ascend in bytes and time".into()),
            None => None,
        }
    }

    /// What `target.NAME` is in a guard; `None` when the profile does not say.
    ///
    /// A limit for a group size that the profile does not list is 0: nothing is known to pay there.
    pub fn global(&self, name: &str, args: &[i64]) -> Option<Attr> {
        let limit = |table: &BTreeMap<String, i64>| match args {
            [size] => Some(table.get(&size.to_string()).copied().unwrap_or(0)),
            _ => None,
        };
        let value = match (name, args) {
            ("sm", []) => self.sm,
            ("sms", []) => self.sms,
            ("l2_bytes", []) => self.l2_bytes,
            ("memory_bytes", []) => self.memory_bytes,
            ("smem_bytes", []) => self.smem_bytes,
            ("one_shot_limit", _) => limit(&self.comm.one_shot_limit)?,
            ("fusion_limit", _) => limit(&self.comm.fusion_limit)?,
            _ => return None,
        };
        Some(Attr::int(value))
    }

    /// Time of a kernel in a graph that moves this many bytes through memory and does nothing
    /// else: between measured points by interpolation, above them at full bandwidth.
    pub fn copy_us(&self, bytes: f64) -> f64 {
        let full = |bytes: f64| bytes / (self.dram.gbps * 1e3);
        let table = &self.dram.copy_us;
        let Some(&(last_bytes, last_us)) = table.last() else {
            return self.graph_node_us + full(bytes);
        };
        match table.iter().position(|(b, _)| *b >= bytes) {
            None => last_us + full(bytes - last_bytes),
            Some(0) => table[0].1,
            Some(i) => {
                let ((b0, t0), (b1, t1)) = (table[i - 1], table[i]);
                t0 + (t1 - t0) * (bytes - b0) / (b1 - b0)
            }
        }
    }

    /// Time of the smallest library collective over a group; the widest listed when it is not.
    pub fn collective_us(&self, ranks: i64) -> f64 {
        by_ranks(&self.comm.latency_us, ranks)
    }

    /// Time of the smallest one-shot fused all-reduce over a group.
    pub fn one_shot_us(&self, ranks: i64) -> f64 {
        by_ranks(&self.comm.one_shot_us, ranks)
    }
}

fn by_ranks(table: &BTreeMap<String, f64>, ranks: i64) -> f64 {
    let listed = table.get(&ranks.to_string()).copied();
    listed.unwrap_or_else(|| table.values().copied().fold(0.0, f64::max))
}

fn unknown(name: &str) -> SettingsError {
    let known: Vec<&str> = Target::shipped().collect();
    let mut error = SettingsError::whole("", format!("no device profile `{name}`"));
    error.help = Some(match settings::suggest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? A path to a TOML file works too"),
        None => format!("shipped: {}; a path to a TOML file works too", known.join(", ")),
    });
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_profile_loads_under_its_own_name() {
        for name in Target::shipped() {
            assert_eq!(Target::named(name).unwrap().name, name);
        }
    }

    #[test]
    fn a_copy_takes_what_was_measured_and_never_less_for_more() {
        let t = Target::named("h200").unwrap();
        assert_eq!(t.copy_us(2_097_152.0), 2.19);
        let times: Vec<f64> =
            (0..40).map(|i| t.copy_us(f64::from(1u32 << 10) * 1.5f64.powi(i))).collect();
        assert!(times.windows(2).all(|w| w[0] <= w[1]), "{times:?}");
    }

    #[test]
    fn guards_ask_by_name() {
        let t = Target::named("h200").unwrap();
        assert_eq!(t.global("sm", &[]), Some(Attr::int(90)));
        assert_eq!(t.global("one_shot_limit", &[2]), Some(Attr::int(32 << 20)));
        assert_eq!(t.global("one_shot_limit", &[3]), Some(Attr::int(0)));
        assert_eq!(t.global("sm", &[1]), None);
        assert_eq!(t.global("sn", &[]), None);
        for name in GUARD_NAMES {
            let found = t.global(name, &[]).or(t.global(name, &[2]));
            assert!(found.is_some(), "{name}");
        }
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_key_meant() {
        let text = include_str!("../targets/h200.toml").replace("l2_bytes", "l2_byte");
        let error = Target::parse("mine.toml", &text).unwrap_err();
        insta::assert_snapshot!(error, @r##"
            unknown key `l2_byte`
              --> mine.toml:10:1
               |
            10 | l2_byte = 62_914_560        # [m] cudaDevAttrL2CacheSize
               | ^
            help: did you mean `l2_bytes`?
        "##);
        insta::assert_snapshot!(Target::named("h20").unwrap_err(), @r##"
            no device profile `h20`
            help: did you mean `h200`? A path to a TOML file works too
        "##);
        let text = include_str!("../targets/h200.toml").replace("gbps = 4294.0", "gbps = \"fast\"");
        insta::assert_snapshot!(Target::parse("mine.toml", &text).unwrap_err(), @r##"
            invalid type: string "fast", expected f64
              --> mine.toml:18:8
               |
            18 | gbps = "fast"                # [m] device copy of 4 GiB, read plus written ([d] 4800 peak)
               |        ^
        "##);
        let text = include_str!("../targets/h200.toml").replace("sms = 132", "sms = 0");
        insta::assert_snapshot!(Target::parse("mine.toml", &text).unwrap_err(), @r##"
            `sms` must be above zero
            --> mine.toml
        "##);
    }
}
