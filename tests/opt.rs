//! `fusec opt` on a real graph: its reports, its output, its mistakes.

use crate::support::{fusec, root, shell, snapshot};
use std::fs;

const GRAPH: &str = "tests/fixtures/vllm_llama8b_tp2_fp8static_2l.json.gz";

fn opt(args: &str) -> crate::support::Run {
    shell(&root(), &format!("fusec opt {GRAPH} {args}"))
}

fn json(args: &str) -> serde_json::Value {
    let run = opt(&format!("{args} --report json"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_readmes_command_prints_what_was_fused() {
    snapshot("opt_text", &opt("--group tp:0=2").shown());
}

#[test]
fn a_size_that_nobody_gives_is_undecided_and_said() {
    snapshot("opt_no_group", &opt("--range s72=1..2048").shown());
}

#[test]
fn passes_are_switched_by_name() {
    let lines = ["--disable fuse_allreduce_rms", "--disable all --enable fuse_act_quant"];
    let names = |args: &str| {
        let report = json(&format!("--group tp:0=2 --range s72=1..64 {args}"));
        let fusions = report["fusions"].as_array().unwrap().clone();
        let chosen = fusions.iter().filter(|f| f["chosen"] != 0);
        chosen.map(|f| format!("{} {}", f["name"], f["chosen"])).collect::<Vec<_>>().join("\n")
    };
    let shown: Vec<String> = lines.iter().map(|l| format!("{l}\n{}", names(l))).collect();
    snapshot("opt_switches", &shown.join("\n\n"));
    let run = opt("--enable fuse_norm_qant");
    snapshot("opt_unknown_pass", &run.shown());
}

#[test]
fn the_json_report_is_the_documented_contract() {
    let report = json("--group tp:0=2 --range s72=1..2048");
    let page = fs::read_to_string(root().join("book/src/report.md")).unwrap();
    let mut keys = Vec::new();
    collect_keys(&report, &mut keys);
    for key in &keys {
        assert!(
            page.contains(&format!("`{key}`")) || page.contains(&format!("`{key}[]`")),
            "{key}"
        );
    }
    assert_eq!(report["schema_version"], fusec_engine::report::SCHEMA_VERSION);
    assert_eq!(report["ranges"][0]["lo"], 1);
    assert_eq!(report["ranges"][0]["hi"], 2048);
    assert_eq!(report["stopped"], "saturated");
    assert_eq!(report["extraction"]["optimal"], true);
    let cost = &report["cost"];
    assert!(cost["after_us"].as_f64() < cost["before_us"].as_f64());
}

/// Every key, each once.
fn collect_keys(value: &serde_json::Value, keys: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                if !keys.contains(key) {
                    keys.push(key.clone());
                }
                collect_keys(value, keys);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|v| collect_keys(v, keys)),
        _ => {}
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_whatever_the_order_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str, out: &str| {
        let out = folder.path().join(out);
        let line = format!("--group tp:0=2 --range s72=1..2048 {args} -o {}", out.display());
        assert_eq!(opt(&line).status, 0);
        fs::read(out).unwrap()
    };
    let forward = run("--passes passes/fuse_act_quant.fuse passes/fuse_norm_quant.fuse", "a.json");
    let backward = run("--passes passes/fuse_norm_quant.fuse passes/fuse_act_quant.fuse", "b.json");
    assert!(forward == backward);
    assert!(forward == run("", "c.json"));
    assert!(forward == run("--no-fold", "d.json"));
}

#[test]
fn the_fused_graph_is_a_graph_with_nothing_left_to_fuse() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("fused.json.gz");
    assert_eq!(opt(&format!("--group tp:0=2 --range s72=1..2048 -o {}", out.display())).status, 0);
    let again = shell(
        &root(),
        &format!("fusec opt {} --group tp:0=2 --range s72=1..2048 --report json", out.display()),
    );
    let report: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(report["fusions"].as_array().map(Vec::len), Some(0), "{}", report["fusions"]);
    assert_eq!(report["cost"]["launches_before"], report["cost"]["launches_after"]);
}

#[test]
fn only_getitem_takes_several_values_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("fused.json");
    assert_eq!(opt(&format!("--group tp:0=2 --range s72=1..2048 -o {}", out.display())).status, 0);
    let fused: serde_json::Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    let nodes = fused["nodes"].as_array().unwrap();
    let several = nodes.iter().filter(|n| n["out"].get("tuple").is_some());
    let several: Vec<&str> = several.filter_map(|n| n["name"].as_str()).collect();
    for node in nodes.iter().filter(|n| n["target"] != "operator.getitem") {
        let text = format!("{}{}", node["args"], node["kwargs"]);
        for name in &several {
            assert!(!text.contains(&format!("{{\"node\":\"{name}\"}}")), "{}", node["name"]);
        }
    }
}

#[test]
fn a_range_that_guards_cut_gets_a_file_each() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("fused.json");
    let run = opt(&format!("--group tp:0=2 --range s72=1.. -o {}", out.display()));
    let shown = run.stderr.replace(&*folder.path().to_string_lossy(), "OUT");
    snapshot("opt_ranges", &crate::support::scrubbed(&shown));
    let bounds = |name: &str| {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        let graph: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let symbols = graph["symbols"].as_array().unwrap();
        let s72 = symbols.iter().find(|s| s["name"] == "s72").unwrap();
        (s72["min"].as_i64(), s72["max"].as_i64())
    };
    assert_eq!(bounds("fused.json"), (Some(1), Some(8192)));
    assert_eq!(bounds("fused.1.json"), (Some(8193), None));
}

#[test]
fn explain_names_the_nearest_misses() {
    let lines = [
        format!("fusec explain allreduce_rms_norm_quant --graph {GRAPH} | tail -n 24"),
        format!("fusec explain 'silu_and_mul_quant[quant_nvfp4]' --graph {GRAPH} | tail -n 5"),
        format!(
            "fusec explain silu_mul_quant --graph {GRAPH} --disable fuse_act_quant | tail -n 5"
        ),
        format!("fusec explain written_quant_fp8_static --graph {GRAPH} | tail -n 5"),
        format!("fusec explain rms_norm --graph {GRAPH}"),
    ];
    let one = |line: &String| format!("$ {line}\n{}", shell(&root(), line).shown());
    snapshot("opt_explain", &lines.iter().map(one).collect::<Vec<_>>().join("\n"));
}

#[test]
fn html_and_dot_are_whole() {
    let html = opt("--group tp:0=2 --report html").stdout;
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(html.contains("allreduce_add_rms_norm_quant[quant_fp8_static]"));
    assert!(!html.contains("http"), "the page needs nothing else");
    let dot = opt("--group tp:0=2 --report dot").stdout;
    assert!(dot.starts_with("digraph") && dot.ends_with("}\n") && dot.contains("fillcolor"));
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let line = format!("(fusec opt {GRAPH} --report json; echo $? >&2) | head -c 10 >/dev/null");
    let run = shell(&root(), &line);
    assert!(run.stderr.ends_with("0\n"), "{}", run.stderr);
}

#[test]
fn files_that_are_no_graphs_get_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("empty.json", b"");
    write("list.json", b"[1, 2]");
    write("cut.json", b"{\"schema\": \"fxg\", \"schema_version\": \"1.0\", \"nodes\": [");
    write("other.json", b"{\"schema\": \"onnx\"}");
    write("future.json", b"{\"schema\": \"fxg\", \"schema_version\": \"2.0\"}");
    write("cut.json.gz", b"\x1f\x8b\x08\x00\x00");
    let names =
        ["empty.json", "list.json", "cut.json", "other.json", "future.json", "cut.json.gz", "no"];
    let one = |n: &&str| format!("$ fusec opt {n}\n{}", fusec(folder.path(), &["opt", n]).shown());
    snapshot("opt_bad_graphs", &names.iter().map(one).collect::<Vec<_>>().join("\n"));
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
    let shown: Vec<String> = bad
        .iter()
        .map(|a| format!("$ fusec {}\n{}", a.join(" "), fusec(&here, a).shown()))
        .collect();
    snapshot("cli_bad_arguments", &shown.join("\n"));
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
    snapshot("cli_settings", &shown.join("\n"));
    let isolated = fusec(&below, &["opt", "g.json", "--isolated"]).stderr;
    assert!(isolated.contains("g.json"), "{isolated}");
}

#[test]
fn a_rule_that_grows_for_ever_meets_the_limit_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let grows = "op count<T: float>(x: T[b..], k: int) -> T[b..] opaque\n\n\
                 rewrite starts<T: float>(gate: T[b.., d], up: T[b.., d]) {\n    \
                 silu_mul(gate, up) => count(silu_mul(gate, up), 0)\n}\n\n\
                 rewrite grows<T: float>(x: T[b..], k: int) {\n    \
                 count(x, k) => count(x, k + 1)\n}\n";
    fs::write(folder.path().join("grows.fuse"), grows).unwrap();
    fs::write(folder.path().join("fusec.toml"), "[limits]\nnodes = 400\nseconds = 60.0\n").unwrap();
    let graph = root().join("tests/fixtures/graphs/hf_llama3_8b_2l_export.json.gz");
    let graph = graph.to_str().unwrap();
    let args = ["opt", graph, "--passes", "grows.fuse", "--report", "json"];
    let run = fusec(folder.path(), &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["stopped"], "nodes", "{report:#}");
    assert!(report["egraph"]["iterations"].as_u64().unwrap() > 10);
    assert_eq!(report["spent"][0]["rule"], "grows");
    assert!(report["spent"][0]["nodes"].as_u64().unwrap() > 50);
    assert!(run.stdout.contains("limit was reached in `grows`"), "{}", run.stdout);
}
