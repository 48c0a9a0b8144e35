//! Running the command as a user does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compares text with `tests/snapshots/NAME.snap`.
#[track_caller]
pub fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path(root().join("tests/snapshots"));
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// What a command did.
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    fn of(output: Output) -> Run {
        Run {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// A terminal's view for a snapshot.
    pub fn shown(&self) -> String {
        let part = |name: &str, text: &str| match text.is_empty() {
            true => String::new(),
            false => format!("--- {name}\n{}\n", scrubbed(text).trim_end()),
        };
        let (out, err) = (part("stdout", &self.stdout), part("stderr", &self.stderr));
        format!("exit {}\n{out}{err}", self.status)
    }
}

/// Runs `fusec` in a folder.
pub fn fusec(folder: &Path, args: &[&str]) -> Run {
    let mut command = command(env!("CARGO_BIN_EXE_fusec"), folder);
    Run::of(command.args(args).stdin(Stdio::null()).output().unwrap())
}

/// Runs a line in `sh`, where `fusec` is the command under test.
pub fn shell(folder: &Path, line: &str) -> Run {
    let exe = PathBuf::from(env!("CARGO_BIN_EXE_fusec"));
    let mut paths = vec![exe.parent().unwrap().to_path_buf()];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = command("sh", folder);
    command.env("PATH", std::env::join_paths(paths).unwrap()).arg("-c").arg(line);
    Run::of(command.stdin(Stdio::null()).output().unwrap())
}

fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("COLUMNS", "100");
    for variable in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "FUSEC_FORMAT"] {
        command.env_remove(variable);
    }
    command
}

/// Text without what differs from run to run: times, as in `0.012 s` and `import 0.004`.
pub fn scrubbed(text: &str) -> String {
    text.split_inclusive('\n').map(scrubbed_line).collect()
}

fn scrubbed_line(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_time = |i: usize| {
        let word = words[i].trim_matches([',', '(', '\n']);
        let seconds =
            words.get(i + 1).is_some_and(|w| w.trim_matches([',', ')', '\n', ':']) == "s");
        let stage = i > 0 && ["import", "saturate", "extract"].contains(&words[i - 1]);
        word.parse::<f64>().is_ok() && (seconds || stage)
    };
    let clean = |i: usize| match is_time(i) {
        true => words[i].replace(|c: char| c.is_ascii_digit(), "0"),
        false => words[i].to_string(),
    };
    (0..words.len()).map(clean).collect::<Vec<_>>().join(" ")
}
