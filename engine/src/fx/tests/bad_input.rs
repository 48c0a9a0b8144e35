//! Every kind of bad input, with the one error that it gives.

use super::*;
use crate::graph::Graph;

const TINY: &str = r#"{"schema":"fxg","schema_version":"1.0","name":"tiny","capture":"inductor_post_grad",
"producer":{},"source":{},"notes":[],
"symbols":[{"name":"s0","kind":"backed","min":2,"max":64}],
"exprs":{"s0":{"sym":"s0"},"2*s0":{"mul":[{"int":2},{"sym":"s0"}]}},
"inputs":[{"node":"x","kind":"user_input","fqn":"x","mutated":false}],
"nodes":[
{"name":"x","op":"placeholder","kind":"input","target":"x","out":{"tensor":{"dtype":"bfloat16","shape":["s0",8],"stride":[8,1],"storage_offset":0,"device":"cuda:0","storage":0}}},
{"name":"y","op":"call_function","kind":"op","target":"aten.add.Tensor","args":[{"node":"x"},{"float":"1.0"}],"kwargs":{"alpha":{"int":1}},"out":{"tensor":{"dtype":"bfloat16","shape":["s0",8],"stride":[8,1],"storage_offset":0,"device":"cuda:0","storage":1}}},
{"name":"pair","op":"call_function","kind":"hop","target":"higher_order.auto_functionalized","args":[{"op":"my.f.default"}],"kwargs":{"out":{"node":"y"}},"out":{"tuple":["none","unknown"]},"functionalized":{"op":"my.f.default","version":1,"results":["none",{"mutated_arg":"out"}]}},
{"name":"z","op":"call_function","kind":"builtin","target":"operator.getitem","args":[{"node":"pair"},{"int":1}],"out":"unknown"}
],
"output_container":"tuple","outputs":[{"kind":"user_output","value":{"node":"z"}}],
"ops":{
"aten.add.Tensor":{"schema":"","args":[{"name":"self","type":"Tensor"},{"name":"other","type":"Tensor"},{"name":"alpha","type":"number","kwarg_only":true,"default":{"int":1}}],"returns":[{"type":"Tensor"}],"tags":[],"mutable":false,"view":false},
"my.f.default":{"schema":"","args":[{"name":"out","type":"Tensor","alias":["a"],"writes":true}],"returns":[],"tags":[],"mutable":true,"view":false}},
"graphs":{},"constants":{},"warnings":[]}"#;

/// The error of reading and importing.
fn error(bytes: &[u8]) -> String {
    match Graph::read(bytes) {
        Ok(_) => "no error".into(),
        Err(e) => e.to_string(),
    }
}

/// One line a change: what was put for what, and the error.
fn errors(changes: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (old, new) in changes {
        assert!(TINY.contains(old), "{old}");
        out += &format!("{old}  =>  {new}\n    {}\n", error(TINY.replacen(old, new, 1).as_bytes()));
    }
    out
}

#[test]
fn the_example_itself_is_good() {
    assert_eq!(error(TINY.as_bytes()), "no error");
}

#[test]
fn not_a_document() {
    let truncated = |at: &str| TINY[..TINY.find(at).unwrap() + at.len()].to_owned();
    let deep = format!("{}{}", r#"{"list":["#.repeat(200), "]}".repeat(200));
    let deep_tree = format!("{}{{\"int\":1}}{}", r#"{"add":["#.repeat(200), "]}".repeat(200));
    let gz = {
        let doc = read(TINY.as_bytes()).unwrap();
        write_gzip(&doc)
    };
    let mut broken = gz.clone();
    broken[gz.len() / 2] ^= 0x55;
    let mut latin = TINY.as_bytes().to_vec();
    let at = TINY.find("tiny").unwrap();
    latin[at] = 0xe9;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("text", b"hello".to_vec()),
        ("list", b"[1, 2]".to_vec()),
        ("string", b"\"fxg\"".to_vec()),
        ("other JSON", b"{\"model\": \"x\"}".to_vec()),
        ("cut in a node", truncated("\"name\":\"y\",\"op\"").into_bytes()),
        ("cut before a name", truncated("\"storage\":1}}},\n{").into_bytes()),
        ("cut in the header", truncated("\"producer\":").into_bytes()),
        ("cut after the nodes", truncated("\"output_container\"").into_bytes()),
        ("more after the end", format!("{TINY} x").into_bytes()),
        ("not UTF-8", latin),
        ("deep value", TINY.replace(r#"{"float":"1.0"}"#, &deep).into_bytes()),
        (
            "deep expression",
            TINY.replace(r#"{"sym":"s0"},"2"#, &format!("{deep_tree},\"2")).into_bytes(),
        ),
        ("cut gzip", gz[..gz.len() - 20].to_vec()),
        ("broken gzip", broken),
        ("only the gzip magic", vec![0x1f, 0x8b]),
    ];
    let lines = cases.iter().map(|(name, bytes)| format!("{name}\n    {}\n", error(bytes)));
    insta::assert_snapshot!(lines.collect::<String>());
}

#[test]
fn too_large() {
    let options = ReadOptions { max_bytes: 1000 };
    let zeros = vec![b' '; 1 << 20];
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &zeros).unwrap();
    let bomb = gz.finish().unwrap();
    /// A stream that must not be read to its end.
    struct Endless(usize);
    impl std::io::Read for Endless {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.0 += buf.len();
            assert!(self.0 < 1 << 20, "read on after the limit");
            buf.fill(b' ');
            Ok(buf.len())
        }
    }
    let said = [
        read_with(&zeros, &options).unwrap_err(),
        read_with(&bomb, &options).unwrap_err(),
        read_from(Endless(0), None, &options).unwrap_err(),
        read_from(Endless(0), Some(1 << 30), &options).unwrap_err(),
    ];
    assert!(said.windows(2).all(|w| w[0] == w[1]));
    insta::assert_snapshot!(said[0], @"the graph is larger than the limit of 1000 bytes; raise the limit if this file really is one graph");
}

#[test]
fn other_schema() {
    insta::assert_snapshot!(errors(&[
        (r#""schema":"fxg""#, r#""schema":"onnx""#),
        (r#""schema":"fxg","#, ""),
        (r#""schema_version":"1.0""#, r#""schema_version":"2.0""#),
        (r#""schema_version":"1.0""#, r#""schema_version":"1.1""#),
        (r#""schema_version":"1.0""#, r#""schema_version":1"#),
        (r#""schema_version":"1.0","name":"tiny""#, r#""schema_version":"2.0","title":"tiny""#),
        (r#""notes":[],"#, r#""notes":[],"colour":1,"#),
        (r#""notes":[],"#, ""),
        (r#""capture":"#, r#""name":"again","capture":"#),
    ]));
}

#[test]
fn unknown_tags() {
    insta::assert_snapshot!(errors(&[
        (r#"{"float":"1.0"}"#, r#"{"quaternion":"1.0"}"#),
        (r#"{"float":"1.0"}"#, r#""nothing""#),
        (r#"{"float":"1.0"}"#, r#"{"float":1.0}"#),
        (r#"{"float":"1.0"}"#, r#"{"float":"one"}"#),
        (r#"{"float":"1.0"}"#, r#"{"int":9223372036854775808}"#),
        (r#"{"float":"1.0"}"#, r#"{"int":1,"bool":true}"#),
        (r#"{"float":"1.0"}"#, r#"{"dtype":"float7"}"#),
        (r#"{"float":"1.0"}"#, r#"{"sym":"3*s0"}"#),
        (r#"{"float":"1.0"}"#, r#"{"list":[{"int":1},{"dict":[[{"int":1}]]}]}"#),
        (r#"{"alpha":{"int":1}}"#, r#"{"alpha":{"int":1},"alpha":{"int":2}}"#),
        (r#""op":"call_function""#, r#""op":"call_procedure""#),
        (r#""kind":"op""#, r#""kind":"op_packet""#),
        (r#""kind":"op""#, r#""kind":"method""#),
        (r#""kind":"user_input""#, r#""kind":"user""#),
        (r#""fqn":"x","#, ""),
        (r#""out":"unknown""#, r#""out":"mystery""#),
        (r#""out":"unknown""#, r#""out":"unknown","colour":1"#),
        (r#""dtype":"bfloat16""#, r#""dtype":"bf16""#),
        (r#""shape":["s0",8]"#, r#""shape":["s1",8]"#),
        (r#""shape":["s0",8]"#, r#""shape":["s0",8.5]"#),
        (r#""shape":["s0",8]"#, r#""shape":["s0",-8]"#),
        (r#""shape":["s0",8]"#, r#""shape":["s0",8,8]"#),
        (r#""stride":[8,1],"#, ""),
        (r#"{"mul":[{"int":2},{"sym":"s0"}]}"#, r#"{"xor":[{"int":2},{"sym":"s0"}]}"#),
        (r#"{"mul":[{"int":2},{"sym":"s0"}]}"#, r#"{"sym":"s9"}"#),
        (r#""name":"s0","kind""#, r#""name":"s 0","kind""#),
        (r#""min":2,"max":64"#, r#""min":65,"max":64"#),
    ]));
}

#[test]
fn wrong_graphs() {
    insta::assert_snapshot!(errors(&[
        (r#""args":[{"node":"x"}"#, r#""args":[{"node":"z"}"#),
        (r#""args":[{"node":"x"}"#, r#""args":[{"node":"y"}"#),
        (r#""args":[{"node":"x"}"#, r#""args":[{"node":"w"}"#),
        (r#""value":{"node":"z"}"#, r#""value":{"node":"w"}"#),
        (r#""name":"y","op""#, r#""name":"x","op""#),
        (r#""inputs":[{"node":"x""#, r#""inputs":[{"node":"w""#),
        (
            r#""inputs":[{"node":"x","kind":"user_input","fqn":"x","mutated":false}]"#,
            r#""inputs":[]"#
        ),
        (
            r#""output_container":"tuple","outputs":[{"#,
            r#""output_container":"single","outputs":[{"kind":"user_output","value":"none"},{"#
        ),
        (r#""target":"aten.add.Tensor""#, r#""target":"aten.sub.Tensor""#),
        (r#"{"float":"1.0"}]"#, r#"{"float":"1.0"},{"int":1}]"#),
        (r#",{"float":"1.0"}]"#, "]"),
        (r#""kwargs":{"alpha""#, r#""kwargs":{"beta""#),
        (r#""kwargs":{"alpha""#, r#""kwargs":{"self""#),
        (r#"{"node":"pair"},{"int":1}"#, r#"{"node":"pair"},{"int":2}"#),
        (
            r#""functionalized":{"op":"my.f.default","version":1"#,
            r#""functionalized":{"op":"my.f.default","version":2"#
        ),
        (r#""functionalized":{"op":"my.f.default""#, r#""functionalized":{"op":"my.g.default""#),
        (
            r#","functionalized":{"op":"my.f.default","version":1,"results":["none",{"mutated_arg":"out"}]}"#,
            ""
        ),
        (r#""results":["none",{"mutated_arg":"out"}]"#, r#""results":["none"]"#),
        (
            r#""results":["none",{"mutated_arg":"out"}]"#,
            r#""results":["none",{"mutated_arg":"inp"}]"#
        ),
        (r#""kwargs":{"out":{"node":"y"}}"#, r#""kwargs":{}"#),
        (
            r#"{"name":"z","op":"call_function","kind":"builtin","target":"operator.getitem","args":[{"node":"pair"},{"int":1}]"#,
            r#"{"name":"z","op":"get_attr","kind":"attr","target":"w","attr":{"constant":"w"},"args":[]"#
        ),
    ]));
}
