use super::*;
use crate::fx;
use crate::fx::tests::{everything, fixture, fixtures};
use crate::graph::Graph;

#[test]
fn every_fixture_reads_back_from_its_text() {
    for (name, json) in fixtures() {
        let doc = fx::read(json.as_bytes()).unwrap();
        let graph = Graph::from_fx(&doc).unwrap();
        let text = print(&graph);
        let again = parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let out = again.to_fx().unwrap();
        let at = doc.nodes.iter().zip(&out.nodes).find(|(a, b)| a != b);
        assert!(out == doc, "{name}: {at:#?}");
        assert_eq!(fx::write(&out), json, "{name}");
        let short = brief(&graph);
        let again = parse(&short).unwrap_or_else(|e| panic!("{name}: brief: {e}"));
        similar(&name, &brief(&again), &short);
    }
}

fn similar(name: &str, a: &str, b: &str) {
    let at = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    assert!(a == b, "{name}: {at:#?}");
}

#[test]
fn brief_text_of_a_small_graph() {
    let json = fixture("real_vllm_llama3_1_8b_bf16_default_p03_before");
    insta::assert_snapshot!(brief(&Graph::read(json.as_bytes()).unwrap()));
}

#[test]
fn a_document_with_everything_reads_back_from_its_text() {
    let json = everything();
    let text = print(&Graph::read(json.as_bytes()).unwrap());
    insta::assert_snapshot!(text);
    // Two spellings of one size: the first is kept.
    let json = json.replace("[\"s0**2 + s0\",1]", "[\"s0*(s0 + 1)\",1]");
    let out = fx::write(&parse(&text).unwrap().to_fx().unwrap());
    similar("everything", &out, &json);
}

#[test]
fn errors_name_the_place() {
    let good = "graph g: test
device cuda:0
symbol s0 in 2..64
%x: bf16[s0, 8] = user_input x
%y: bf16[s0, 8] = aten.add.Tensor(%x, 1.0, alpha=2)  // layer
return (%y)
";
    assert!(parse(good).is_ok());
    let changes = [
        ("graph g: test\n", ""),
        ("return (%y)\n", ""),
        ("device cuda:0\n", ""),
        ("device cuda:0\n", "device gpu\n"),
        ("in 2..64", "in 2-64"),
        ("in 2..64", "in 64..2"),
        ("bf16[s0, 8] = user", "bf17[s0, 8] = user"),
        ("bf16[s0, 8] = user", "bf16[s1, 8] = user"),
        ("bf16[s0, 8] = user", "bf16[s0, 8 = user"),
        ("bf16[s0, 8] = user", "bf16[s0, 99999999999999999999] = user"),
        ("bf16[s0, 8] = user", "bf16[s0, -8] = user"),
        ("= user_input x", "user_input x"),
        ("(%x, 1.0, alpha=2)", "(%x, 1.0, alpha=2"),
        ("(%x, 1.0, alpha=2)", "(%x, alpha=2, 1.0)"),
        ("(%x, 1.0, alpha=2)", "(%x, alpha=2, alpha=3)"),
        ("(%x, 1.0, alpha=2)", "(%x, 1.2.3)"),
        ("(%x, 1.0, alpha=2)", "(%x, what)"),
        ("(%x, 1.0, alpha=2)", "(%z)"),
        ("(%x, 1.0, alpha=2)", "(%x, {s0*})"),
        ("(%x, 1.0, alpha=2)", "(%x, \"open)"),
        ("(%x, 1.0, alpha=2)", "(%x) twice"),
        ("%y: bf16", "%x: bf16"),
        ("return (%y)", "return (%q)"),
        ("return (%y)", "return %y %y"),
        ("return (%y)", "give (%y)"),
    ];
    let mut out = String::new();
    for (old, new) in changes {
        assert!(good.contains(old), "{old}");
        let error = parse(&good.replacen(old, new, 1)).err().map(|e| e.to_string());
        out += &format!("{:?}  =>  {:?}\n    {}\n", old, new, error.unwrap_or("no error".into()));
    }
    let deep = format!("(%x, {}1{})", "[".repeat(500), "]".repeat(500));
    out += &parse(&good.replace("(%x, 1.0, alpha=2)", &deep)).unwrap_err().to_string();
    insta::assert_snapshot!(out);
}
