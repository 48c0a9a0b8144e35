//! The command line as a terminal sees it: output, talk and exit status.

use crate::support::{fusec, root, shell};
use std::fs;

#[test]
fn help_is_short_and_an_unknown_command_gets_a_suggestion() {
    let here = root();
    insta::assert_snapshot!("help", fusec(&here, &["-h"]).shown());
    insta::assert_snapshot!("unknown_command", fusec(&here, &["chek"]).shown());
}

#[test]
fn bad_specifications_say_what_is_expected() {
    let here = root();
    let bad = [
        ["opt", "g.json", "--range", "s72=9..1"],
        ["opt", "g.json", "--range", "s72"],
        ["opt", "g.json", "--group", "tp:0=none"],
        ["opt", "g.json", "--report", "jsn"],
        ["opt", "g.json", "--target", "h20"],
        ["opt", "no_such_graph.json", "--target", "h200"],
        ["check", "no_such.fuse", "--color", "never"],
    ];
    let shown: Vec<String> =
        bad.iter().map(|a| format!("$ fusec {}\n{}", a.join(" "), fusec(&here, a).shown())).collect();
    insta::assert_snapshot!("bad_arguments", shown.join("\n"));
}

#[test]
fn settings_are_found_by_walking_up_and_their_mistakes_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let run = |settings: &str| {
        fs::write(folder.path().join("fusec.toml"), settings).unwrap();
        let run = fusec(&below, &["opt", "g.json"]);
        let path = folder.path().to_string_lossy().into_owned();
        run.shown().replace(&path, "PROJECT")
    };
    let bad = [
        "tagret = \"h200\"\n",
        "target = \"h100\"\n",
        "target = 200\n",
        "[ranges]\ns72 = \"1-2048\"\n",
        "[groups]\n\"tp:0\" = 0\n",
        "[limits]\nnode = 10\n",
        "approx_ulp = -1\n",
        "passes = [\n",
    ];
    let shown: Vec<String> = bad.iter().map(|s| format!("{s}{}", run(s))).collect();
    insta::assert_snapshot!("settings", shown.join("\n"));
    let isolated = fusec(&below, &["opt", "g.json", "--isolated"]).stderr;
    assert!(isolated.contains("g.json"), "{isolated}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let run = shell(&root(), "(fusec completions bash; echo $? >&2) | head -c 1 >/dev/null");
    assert_eq!(run.stderr.trim(), "0");
}

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = fusec(&root(), &["completions", shell]);
        assert!(run.status == 0 && run.stdout.contains("fusec"), "{shell}");
    }
}
