//! Random damage to a captured graph: an error or a graph, never a panic.

use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::LazyLock;

/// Does everything to a graph that does not need to know it.
fn exercise(json: &[u8]) {
    let Ok(doc) = fx::read(json) else { return };
    let Ok(mut graph) = Graph::from_fx(&doc) else { return };
    assert_eq!(graph.to_fx().as_ref(), Ok(&doc));
    for (i, _) in graph.nodes() {
        graph.effect(i);
        graph.normalized_args(i);
        graph.users(i);
    }
    let full = text::print(&graph);
    let again = text::parse(&full).unwrap_or_else(|e| panic!("{e}\n{full}"));
    if !graph.exprs.ambiguous {
        assert_eq!(again.to_fx().as_ref(), Ok(&doc));
    }
    let brief = text::brief(&graph);
    text::parse(&brief).unwrap_or_else(|e| panic!("{e}\n{brief}"));
    graph.remove_dead();
    if let Ok(doc) = graph.to_fx() {
        Graph::from_fx(&doc).unwrap();
    }
}

/// Every place in a JSON value, in order.
fn places(v: &Json, at: String, out: &mut Vec<String>) {
    match v {
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| places(v, format!("{at}/{i}"), out));
        }
        Json::Object(map) => {
            for (k, v) in map {
                let k = k.replace('~', "~0").replace('/', "~1");
                places(v, format!("{at}/{k}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

fn odd_values() -> Vec<Json> {
    vec![
        Json::Null,
        json!(true),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(0),
        json!(1.5),
        json!(""),
        json!("none"),
        json!("unknown"),
        json!("s72"),
        json!([]),
        json!({}),
        json!({"node": "view"}),
        json!({"int": i64::MIN}),
        json!({"list": []}),
        json!({"sym": "s72"}),
        json!({"str": "`\n\u{2028}\"// %"}),
        json!("weird \" // name\n"),
        json!({"floor_div": [{"int": i64::MIN}, {"int": -1}]}),
        json!({"mod": [{"sym": "s72"}, {"int": 0}]}),
        json!({"pow": [{"add": [{"sym": "s72"}, {"int": 7}]}, {"int": 8}]}),
        json!({"tensor": {"dtype": "uint16", "shape": ["s72"], "stride": [1], "storage_offset": "s72",
            "device": "odd", "storage": null}}),
    ]
}

/// Puts something else at one place, or takes the place away.
fn mutate(doc: &mut Json, place: usize, what: usize, from: usize) {
    let mut all = Vec::new();
    places(doc, String::new(), &mut all);
    let at = all[place % all.len()].clone();
    let odd = odd_values();
    let new = match what % 4 {
        0 | 1 => odd[from % odd.len()].clone(),
        _ => doc.pointer(&all[from % all.len()]).cloned().unwrap_or(Json::Null),
    };
    let (parent, key) = at.rsplit_once('/').unwrap_or(("", ""));
    match (what % 7, doc.pointer_mut(parent)) {
        (5, Some(Json::Object(map))) => {
            map.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        (5, Some(Json::Array(items))) => {
            let i = key.parse::<usize>().unwrap_or(0);
            if i < items.len() {
                items.remove(i);
            }
        }
        (6, Some(Json::Array(items))) if !items.is_empty() => {
            let i = key.parse::<usize>().unwrap_or(0) % items.len();
            let other = from % items.len();
            items.swap(i, other);
        }
        _ => {
            if let Some(slot) = doc.pointer_mut(&at) {
                *slot = new;
            }
        }
    }
}

fn seeds() -> &'static [String; 3] {
    static SEEDS: LazyLock<[String; 3]> = LazyLock::new(|| {
        [
            everything(),
            fixture("real_vllm_llama3_1_8b_bf16_default_p03_before"),
            fixture("real_vllm_llama3_1_8b_fp8static_fused_piecewise_p03_before"),
        ]
    });
    &SEEDS
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_json_never_panics(
        seed in 0usize..3,
        edits in prop::collection::vec((any::<usize>(), any::<usize>(), any::<usize>()), 1..4),
    ) {
        let mut doc: Json = serde_json::from_str(&seeds()[seed]).unwrap();
        for (place, what, from) in edits {
            mutate(&mut doc, place, what, from);
        }
        exercise(doc.to_string().as_bytes());
    }

    #[test]
    fn mutated_bytes_never_panic(
        seed in 0usize..3,
        edits in prop::collection::vec((any::<usize>(), any::<u8>(), 0usize..40), 1..4),
    ) {
        let mut bytes = seeds()[seed].clone().into_bytes();
        for (at, byte, cut) in edits {
            let at = at % bytes.len().max(1);
            if cut > 30 {
                bytes.truncate(at);
            } else if at < bytes.len() {
                bytes.splice(at..(at + cut).min(bytes.len()), [byte]);
            }
        }
        exercise(&bytes);
    }

    #[test]
    fn mutated_text_never_panics(
        seed in 0usize..3,
        edits in prop::collection::vec((any::<usize>(), "[ -~\\n]{0,4}|`|\\[\\[\\[|%x|@1|//", 0usize..12), 1..4),
    ) {
        let graph = Graph::read(seeds()[seed].as_bytes()).unwrap();
        let mut text = if seed == 0 { text::print(&graph) } else { text::brief(&graph) };
        for (at, new, cut) in edits {
            let chars: Vec<char> = text.chars().collect();
            let at = at % chars.len().max(1);
            let end = (at + cut).min(chars.len());
            text = chars[..at].iter().chain(new.chars().collect::<Vec<_>>().iter()).chain(&chars[end..]).collect();
        }
        if let Ok(graph) = text::parse(&text) {
            text::brief(&graph);
        }
    }
}
