//! Files: what is read, what is refused and how.

use crate::extract::Limits;
use crate::extract::serialized::Serialized;

fn answer(json: &str) -> String {
    let graph = match Serialized::parse(json.as_bytes()) {
        Ok(graph) => graph,
        Err(error) => return error.to_string(),
    };
    match graph.solve(&Limits::default()) {
        Err(error) => error.to_string(),
        Ok(found) => {
            let nodes: Vec<String> = graph
                .chosen(&found)
                .map(|(class, node, op)| format!("{class}:{node}={op}"))
                .collect();
            format!("{} of {} {}", found.cost, nodes.join(" "), found.optimal)
        }
    }
}

#[test]
fn a_shared_tuple_is_paid_once() {
    let json = r#"{"nodes": {
        "both": {"op": "add_norm", "cost": 3, "eclass": "T", "children": []},
        "sum": {"op": "add", "cost": 2, "eclass": "S", "children": []},
        "p0": {"op": "proj", "cost": 0, "eclass": "S", "children": ["both"]},
        "norm": {"op": "norm", "cost": 2, "eclass": "N", "children": ["sum"]},
        "p1": {"op": "proj", "cost": 0, "eclass": "N", "children": ["both"]},
        "top": {"op": "pair", "eclass": "R", "children": ["sum", "norm"]}},
        "root_eclasses": ["R"]}"#;
    insta::assert_snapshot!(answer(json), @"4 of T:both=add_norm S:p0=proj N:p1=proj R:top=pair true");
}

#[test]
fn bad_files_get_one_clear_error() {
    let node = |rest: &str| format!(r#"{{"nodes": {{"a": {{"op": "f", "eclass": "A", {rest}}}}}"#);
    let cases = [
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        node(r#""cost": 1"#) + "}",
        node(r#""children": ["b"]"#) + r#", "root_eclasses": ["A"]}"#,
        node(r#""children": ["a"]"#) + r#", "root_eclasses": ["A"]}"#,
        node(r#""cost": -1"#) + r#", "root_eclasses": ["A"]}"#,
        node(r#""cost": 1e999"#) + r#", "root_eclasses": ["A"]}"#,
        node(r#""cost": 1"#) + r#", "root_eclasses": ["B"]}"#,
    ];
    let answers: Vec<String> = cases.iter().map(|c| answer(c)).collect();
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn answers_as_json_in_the_names_of_the_file() {
    let json = r#"{"nodes": {
        "a0": {"op": "f", "cost": 5, "eclass": "A", "children": []},
        "a1": {"op": "g", "cost": 1, "eclass": "A", "children": ["b0"]},
        "b0": {"op": "x", "cost": 2, "eclass": "B", "children": []}},
        "root_eclasses": ["A"]}"#;
    let graph = Serialized::parse(json.as_bytes()).expect("a valid file");
    let found = graph.solve(&Limits::default()).expect("A can be built");
    insta::assert_snapshot!(
        graph.to_json(&found).expect("plain values"),
        @r#"{"cost":3.0,"lower_bound":3.0,"optimal":true,"choices":{"A":"a1","B":"b0"}}"#
    );
}
