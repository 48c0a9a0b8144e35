//! Edits and the order after them.

use super::*;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::types::TensorType;

fn tensor(d: Dtype, shape: &[i64]) -> Value {
    let shape = shape.iter().map(|v| Dim::int(*v)).collect();
    Value::Tensor(TensorMeta::contiguous(TensorType { dtype: d, shape }, "cuda:0"))
}

fn order(graph: &Graph) -> String {
    match graph.toposort() {
        Ok(order) => {
            let names: Vec<_> = order.iter().map(|n| graph[*n].name.to_string()).collect();
            names.join(" ")
        }
        Err(e) => e.to_string(),
    }
}

const NORM_QUANT: &str = "graph g: test
device cuda:0
%x: bf16[4, 8] = user_input x
%w: bf16[8] = parameter w
%s: f32[1] = parameter s
%side: bf16[4, 8] = aten.neg.default(%x)
%norm: bf16[4, 8] = my.norm.default(%x, %w, 1e-06)
%quant: (f8e4m3fn[4, 8], f32[1]) = my.quant.default(%norm, %s)
%getitem: f8e4m3fn[4, 8] = operator.getitem(%quant, 0)
%use: bf16[4, 8] = my.mm.default(%getitem, [%getitem, %side])
return (%use, %getitem)
";

#[test]
fn a_fused_op_takes_the_place_of_two() {
    let mut g = graph(NORM_QUANT);
    let id = |g: &Graph, n: &str| g.by_name(n).unwrap();
    let args = ["x", "w", "s"].map(|n| Arg::Node(id(&g, n)));
    let mut args = args.to_vec();
    args.push(Arg::float(1e-6));
    let value = Value::Tuple(vec![tensor(Dtype::F8E4M3, &[4, 8]), tensor(Dtype::F32, &[1])]);
    let at = id(&g, "quant");
    let fused = g.insert_at(Node::op("norm_quant", "fusec.norm_quant.default", args, value), at);
    let first = g.insert(Node::getitem(fused, 0, tensor(Dtype::F8E4M3, &[4, 8])));
    assert_eq!(g.replace_uses(id(&g, "getitem"), first), 3);
    assert_eq!(g.remove_dead(), 3);
    insta::assert_snapshot!(text::brief(&g));
    let info = g.op_info("fusec.norm_quant.default").unwrap();
    insta::assert_snapshot!(info.schema, @"fusec::norm_quant(Tensor arg0, Tensor arg1, Tensor arg2, float arg3) -> (Tensor, Tensor)");
    // The document of an edited graph is as good as any: it reads back as the same graph.
    let doc = g.to_fx().unwrap();
    let again = Graph::read(fx::write(&doc).as_bytes()).unwrap();
    assert_eq!(again.to_fx().unwrap(), doc);
}

#[test]
fn names_are_made_unique() {
    let mut g = graph(NORM_QUANT);
    let x = g.by_name("x").unwrap();
    let mut name = |hint: &str| {
        let n = g.insert(Node::op(hint, "aten.neg.default", vec![Arg::Node(x)], Value::Unknown));
        g[n].name.to_string()
    };
    let names = [name("norm"), name("norm"), name("new"), name("new"), name("")];
    insta::assert_snapshot!(names.join(" "), @"norm_1 norm_2 new new_1 value");
}

#[test]
fn only_what_is_dead_and_pure_goes() {
    let mut g = graph(
        "graph g: test
device cuda:0
%x: bf16[4] = user_input x
%unused: bf16[4] = user_input unused
%a: bf16[4] = aten.neg.default(%x)
%b: bf16[4] = aten.exp.default(%a)
%reduced: bf16[4] = vllm.all_reduce.default(%a, \"tp:0\")
%kv: bf16[0] = vllm.unified_kv_cache_update.default(%x, %x, \"layer\")
%fill: bf16[4] = aten.fill_.Scalar(%x, 1) mutates self
%empty: bf16[4] = aten.empty.memory_format([4])
return (%x)
",
    );
    assert_eq!(g.remove_dead(), 2);
    insta::assert_snapshot!(order(&g), @"x unused a reduced kv fill");
    // An optimizer that has replaced a collective says so.
    let reduced = g.by_name("reduced").unwrap();
    assert!(g.remove(reduced).is_some());
    assert!(g.remove(g.by_name("x").unwrap()).is_none(), "an input stays");
    g.remove_dead();
    insta::assert_snapshot!(order(&g), @"x unused kv fill");
}

/// `b` is a view of `a`; `m` adds to it in place; `before` reads ahead of that, `after` behind.
const ALIAS: &str = "graph g: test
device cuda:0
%x: bf16[4] = user_input x
%a: bf16[4] @1 = aten.exp.default(%x)
%b: bf16[2, 2] @1 = aten.view.default(%a, [2, 2])
%before: bf16[4] @2 = aten.mul.Tensor(%a, 2)
%m: bf16[2, 2] @1 = aten.add_.Tensor(%b, 1) mutates self
%after: bf16[4] @3 = aten.mul.Tensor(%a, 3)
%late: bf16[4] @4 = aten.neg.default(%x)
return (%before, %after, %late)
";

#[test]
fn reads_stay_on_their_side_of_a_write() {
    let mut g = graph(ALIAS);
    insta::assert_snapshot!(order(&g), @"x a b before m after late");
    let (a, before, after) =
        (g.by_name("a").unwrap(), g.by_name("before").unwrap(), g.by_name("after").unwrap());
    // Another reader of the old contents, though its other operand comes late: the write waits.
    let late = g.by_name("late").unwrap();
    let args = vec![Arg::Node(a), Arg::Node(late)];
    let new = g.insert_at(Node::op("new", "aten.mul.Tensor", args, Value::Unknown), before);
    g.replace_uses(before, new);
    g.remove_dead();
    insta::assert_snapshot!(order(&g), @"x a b late new m after");
    // A reader of the old contents cannot use what comes of the new ones.
    let args = vec![Arg::Node(a), Arg::Node(after)];
    g.insert_at(Node::op("wrong", "aten.mul.Tensor", args, Value::Unknown), new);
    insta::assert_snapshot!(order(&g), @"the graph has a cycle: `wrong` -> `m` -> `after` -> `wrong`");
}

#[test]
fn hidden_state_stays_in_order() {
    let mut g = graph(
        "graph g: test
device cuda:0
%x: bf16[4] = user_input x
%slow: bf16[4] = aten.exp.default(%x)
%first: bf16[0] = vllm.unified_kv_cache_update.default(%x, %x, \"a\")
%second: bf16[0] = vllm.unified_kv_cache_update.default(%x, %x, \"b\")
return (%slow)
",
    );
    let (x, slow, first) = ("x", "slow", "first");
    let id = |g: &Graph, n: &str| g.by_name(n).unwrap();
    let late = g.insert_at(
        Node::op("late", "aten.neg.default", vec![Arg::Node(id(&g, slow))], Value::Unknown),
        id(&g, "second"),
    );
    let args = vec![Arg::Node(late), Arg::Node(id(&g, x)), Arg::Str("a".into())];
    g.set_args(id(&g, first), args, Vec::new());
    insta::assert_snapshot!(order(&g), @"x slow late first second");
}

#[test]
fn a_cycle_is_named() {
    let mut g = graph(NORM_QUANT);
    let (norm, getitem) = (g.by_name("norm").unwrap(), g.by_name("getitem").unwrap());
    g.set_args(norm, vec![Arg::Node(getitem)], Vec::new());
    insta::assert_snapshot!(order(&g), @"the graph has a cycle: `norm` -> `quant` -> `getitem` -> `norm`");
    assert!(g.to_fx().is_err());
    assert!(text::brief(&g).contains("%norm: bf16[4, 8] = my.norm.default(%getitem)"));
}
