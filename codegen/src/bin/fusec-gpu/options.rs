//! Command line.

/// What to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Row lengths of the result.
    pub hidden: Vec<i64>,
    /// Numbers of rows.
    pub tokens: Vec<usize>,
    /// Only instances whose label holds one of these.
    pub only: Vec<String>,
    /// Compare with the interpreter.
    pub verify: bool,
    /// Time.
    pub bench: bool,
    /// Try geometries instead.
    pub tune: bool,
    /// Types of activations and of weights.
    pub types: (String, String),
    /// Write sources, cubins and manifests for an architecture to a folder, and stop: needs no GPU.
    pub write: Option<(String, String)>,
    /// Where to write all rows as JSON lines.
    pub out: Option<String>,
}

const HELP: &str =
    "usage: fusec-gpu [--hidden 4096,8192] [--tokens 1,16,..] [--only TEXT]... [--types bf16,bf16]
                 [--no-verify] [--no-bench] [--tune] [--out FILE] [--write sm_90a,FOLDER]";

impl Options {
    /// Reads the arguments; a message for the user where they are wrong.
    pub fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut o = Options {
            hidden: vec![4096, 8192],
            tokens: vec![1, 16, 64, 256, 1024, 4096, 16384],
            only: Vec::new(),
            verify: true,
            bench: true,
            tune: false,
            types: ("bf16".into(), "bf16".into()),
            write: None,
            out: None,
        };
        let mut args = args;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value\n{HELP}"));
            match arg.as_str() {
                "--hidden" => o.hidden = numbers(&value()?)?,
                "--tokens" => o.tokens = numbers(&value()?)?,
                "--only" => o.only.push(value()?),
                "--types" => {
                    let v = value()?;
                    let (t, w) = v.split_once(',').ok_or("--types takes two, as bf16,f32")?;
                    o.types = (t.into(), w.into());
                }
                "--no-verify" => o.verify = false,
                "--no-bench" => o.bench = false,
                "--tune" => o.tune = true,
                "--write" => {
                    let v = value()?;
                    let (arch, dir) = v.split_once(',').ok_or("--write takes sm_90a,FOLDER")?;
                    o.write = Some((arch.into(), dir.into()));
                }
                "--out" => o.out = Some(value()?),
                "--help" | "-h" => return Err(HELP.into()),
                other => return Err(format!("unknown argument `{other}`\n{HELP}")),
            }
        }
        Ok(o)
    }

    /// Whether an instance is wanted.
    pub fn wants(&self, label: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| label.contains(o.as_str()))
    }
}

fn numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>, String> {
    list.split(',').map(|n| n.parse().map_err(|_| format!("`{n}` is not a number"))).collect()
}
