//! The command line as a terminal sees it: output, talk and exit status.

use crate::support::{fusec, root, shell, snapshot};
use std::fs;

#[test]
fn help_is_short_and_an_unknown_command_gets_a_suggestion() {
    let here = root();
    snapshot("cli_help", &fusec(&here, &["-h"]).shown());
    snapshot("cli_unknown_command", &fusec(&here, &["chek"]).shown());
}

/// A folder with a file that is fine, one that is broken, and one that is not formatted.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("good.fuse", b"op twice(x: f32[n]) -> f32[n] {\n    x + x\n}\n");
    write("loose.fuse", b"op  thrice( x:f32[n] )->f32[n] {\n  x+x+x // three\n}\n");
    write("broken.fuse", b"op half(x: f32[n]) -> f32[n] {\n    x * (0.5\n}\n\nop q(x: f32[n]) -> f32[n] {\n    rsqurt(x)\n}\n");
    write("latin1.fuse", b"// caf\xe9\n");
    folder
}

fn shown(folder: &tempfile::TempDir, lines: &[&str]) -> String {
    let one = |line: &&str| format!("$ {line}\n{}", shell(folder.path(), line).shown());
    lines.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn check_in_every_form() {
    let folder = project();
    let lines = [
        "fusec check good.fuse",
        "fusec check broken.fuse",
        "fusec check broken.fuse --format concise",
        "fusec check broken.fuse --format json",
        "fusec check broken.fuse --format github",
        "FUSEC_FORMAT=concise fusec check latin1.fuse",
        "fusec check no_such.fuse",
    ];
    snapshot("cli_check", &shown(&folder, &lines));
}

#[test]
fn verify_shows_the_smallest_graph_on_which_two_sides_differ() {
    let folder = tempfile::tempdir().unwrap();
    let text = "rewrite same<T: float>(x: T[b.., d], y: T[b.., d]) {
    (x + y) * x => x * (y + x)
}

rewrite rounds_twice<T: half>(x: T[b.., d]) {
    x * sigmoid(x) => silu(x)
}

rewrite wrong<T: float>(x: T[b.., d]) {
    x - x * 0.5 => x * 0.25
}
";
    fs::write(folder.path().join("r.fuse"), text).unwrap();
    let lines =
        ["fusec check r.fuse", "fusec check r.fuse --verify", "fusec check r.fuse --seed 1"];
    snapshot("cli_verify", &shown(&folder, &lines));
}

#[test]
fn sarif_is_valid_json_of_its_version() {
    let run = shell(project().path(), "fusec check broken.fuse --format sarif");
    let log: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"][0]["tool"]["driver"]["name"], "fusec");
    assert!(log["runs"][0]["results"].as_array().is_some_and(|r| r.len() >= 2));
}

#[test]
fn fmt_checks_shows_and_writes() {
    let lines = [
        "fusec fmt good.fuse",
        "fusec fmt --check good.fuse loose.fuse",
        "fusec fmt --diff loose.fuse",
        "fusec fmt loose.fuse && cat loose.fuse",
        "fusec fmt loose.fuse --check",
        "echo 'op f(x:f32[n])->f32[n]{x}' | fusec fmt -",
        "fusec fmt - good.fuse",
        "echo 'op f(' | fusec fmt - --color never",
    ];
    snapshot("cli_fmt", &shown(&project(), &lines));
}

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    let folder = project();
    let escapes = |line: &str| shell(folder.path(), line).stdout.contains('\u{1b}');
    assert!(!escapes("fusec check broken.fuse"));
    assert!(escapes("fusec check broken.fuse --color always"));
    assert!(escapes("FORCE_COLOR=1 fusec check broken.fuse"));
    assert!(!escapes("FORCE_COLOR=1 NO_COLOR=1 fusec check broken.fuse"));
    assert!(!escapes("FORCE_COLOR=1 fusec check broken.fuse --color never"));
}

#[test]
fn the_library_itself_is_clean_formatted_and_passes_its_tests() {
    let lines = ["fusec check --verify", "fusec fmt --check passes", "fusec test"];
    for line in lines {
        let run = shell(&root(), line);
        assert_eq!(run.status, 0, "{line}\n{}", run.shown());
    }
}

#[test]
fn tests_fail_with_what_fired() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
test "wrong count" {
    graph (x: bf16[s0, 28672], s: f32[1]) {
        y = silu_and_mul(x)
        return quant_fp8_static(y, s)
    }
    fires silu_and_mul_quant[quant_fp8_static] 2 times
}

test "right count" {
    graph (x: bf16[s0, 28672], s: f32[1]) {
        y = silu_and_mul(x)
        return quant_fp8_static(y, s)
    }
    fires silu_and_mul_quant[quant_fp8_static] once
}
"#;
    fs::write(folder.path().join("t.fuse"), text).unwrap();
    let lines = [
        "fusec test t.fuse",
        "fusec test t.fuse --filter right",
        "fusec test t.fuse --format json",
        "fusec test t.fuse --filter right --target h20",
    ];
    snapshot("cli_test", &shown(&folder, &lines));
}

#[test]
fn explain_knows_errors_items_and_near_names() {
    let lines = [
        "fusec explain duplicate",
        "fusec explain silu_and_mul_quant",
        "fusec explain fuse_act_quant",
        "fusec explain quantiser",
    ];
    let folder = tempfile::tempdir().unwrap();
    snapshot("cli_explain", &shown(&folder, &lines));
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

#[test]
fn extract_prints_the_answer_and_says_if_it_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    let problem = r#"{
        "nodes": {
            "a": {"op": "small", "eclass": "x", "cost": 1.0, "children": ["s"]},
            "b": {"op": "large", "eclass": "x", "cost": 2.5, "children": []},
            "s": {"op": "shared", "eclass": "y", "cost": 1.0, "children": []}
        },
        "root_eclasses": ["x", "y"]
    }"#;
    fs::write(folder.path().join("good.json"), problem).unwrap();
    fs::write(folder.path().join("cut.json"), &problem[..40]).unwrap();
    fs::write(folder.path().join("negative.json"), problem.replace("2.5", "-2.5")).unwrap();
    let lines = [
        "gzip -k good.json",
        "fusec extract good.json.gz",
        "fusec extract good.json",
        "fusec extract cut.json",
        "fusec extract negative.json",
        "fusec extract good.json --seconds 0",
    ];
    snapshot("cli_extract", &shown(&folder, &lines));
}
