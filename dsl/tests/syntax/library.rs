//! The shipped files, and the examples of the language's description.

use fusec_dsl::ast::{Expr, ExprKind, Item};
use fusec_dsl::parse::parse_text;
use fusec_dsl::source::FileId;

#[test]
fn every_shipped_file_parses() {
    let mut items = 0;
    for (name, text) in crate::shipped() {
        let (file, errors) = parse_text(&text, FileId(0));
        assert_eq!(errors, [], "{name}");
        items += file.items.len();
    }
    assert!(items > 100, "{items} items");
}

const EXAMPLES: &str = r#"
pass fuse_act_quant
where
    target.sm >= 80,

fusion silu_and_mul_quant<T: bf16 | f16, Q: quantizer>(x: T[n, 2*d], q: Q) -> Q.results
where
    d % q.block == 0,
{
    y = silu_and_mul(x)
    q(y)
}
kernel rowwise

test "static fp8" {
    graph (x: bf16[s0, 28672], s: f32[1]) {
        y = silu_and_mul(x)
        return quant_fp8_static(y, s)
    }
    fires silu_and_mul_quant[quant_fp8_static] once
}

op kv_write<T: float, C>(cache: state C[..], k: T[n, h, e], v: T[n, h, e], slots: i64[m]) -> state C[..] { .. }

op attention<T: float>(q: T[n, h, e], k: T[n, g, e], v: T[n, g, e], cache: state, layer: opaque, ..) -> T[n, h, e] opaque

bind rms_norm(x, weight, eps)
    torch "vllm_ir.rms_norm.default"(x, weight, eps, variance_size = none)
    torch "aten.rms_norm.default"(x, [d], weight, eps)

family quantizer<T: float>(x: T[n, d]) {
    quant_fp8_static(scale: f32[1])                         block = 1
    quant_fp8_token(scale_ub: f32[1]? = none)               block = 1
    quant_fp8_group(group: int, layout: scale_layout, ue8m0: bool)   block = group
}

rewrite silu_from_sigmoid<T: float>(x: T[s..]) { x * sigmoid(x) => silu(x) }

rewrite norm_past_gather<T: float, W: float>(x: T[n, d], w: W[d], eps: f64, g: group) {
    rms_norm(all_gather(x, 0, g), w, eps) <=> all_gather(rms_norm(x, w, eps), 0, g)
}

rewrite approx(1 ulp) norm_weight_after_cast(x: _) { f(x, y?, _) | g(x) => h(x) }

fusion allreduce_add_rms_norm<T: bf16 | f16>(
    x: T[n, d], residual: T[n, d], weight: T[d], eps: f64, g: group,
) -> (y, h)
where
    d % 8 == 0,
    g.size in {2, 4, 8},
    bytes(x) <= target.one_shot_limit(g.size),
    contiguous(x) && stride(x, -2) > 0 || !aligned(x, 16),
{
    (y, h) = add_rms_norm(all_reduce(x, g), residual, weight, eps)
}
kernel allreduce
    tune protocol in {one_shot, two_shot}, threads in {256, 512, 1024}

fusion external(x: T[n, d] strided(d + pad)) -> (Q.results, y: T[n, d]) { f(x) }
kernel extern torch "ns.op.overload"(x, out y, z = x out h, _)
means { f(x) }
cost { bytes = 2*n*d }
"#;

#[test]
fn every_construct_of_the_language_parses() {
    let (file, errors) = parse_text(EXAMPLES, FileId(0));
    assert_eq!(errors, []);
    let formatted = fusec_dsl::format::format(EXAMPLES).expect("formats");
    let (again, _) = parse_text(&formatted, FileId(0));
    assert_eq!(crate::bare(&file), crate::bare(&again));
    insta::assert_snapshot!("examples_formatted", formatted);
}

/// An expression with all its parentheses.
fn grouped(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Unary { op, of } => format!("({}{})", op.as_str(), grouped(of)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({} {} {})", grouped(left), op.as_str(), grouped(right))
        }
        ExprKind::Alt(all) => {
            format!("({})", all.iter().map(grouped).collect::<Vec<_>>().join(" | "))
        }
        ExprKind::Field { of, name } => format!("({}.{})", grouped(of), name.text),
        ExprKind::Call { callee, args } => {
            let args: Vec<String> = args.iter().map(|a| grouped(&a.value)).collect();
            format!("{}({})", grouped(callee), args.join(", "))
        }
        ExprKind::Optional(of) => format!("({}?)", grouped(of)),
        ExprKind::Name(text) | ExprKind::Int { text, .. } | ExprKind::Float { text, .. } => {
            text.clone()
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_group_as_in_rust() {
    let cases = [
        "a - b - c * d / e % f",
        "a || b && c == d + -e",
        "!a && -b * c",
        "a in b || c <= d",
        "(a - b) - (c - d)",
        "a | b + c | d",
        "a || b",
        "target.limit(g.size)? - 1",
        "a + // comment\n b",
    ];
    let mut out = String::new();
    for case in cases {
        let (file, errors) = parse_text(&format!("op f(x: _) -> _ {{ f({case}) }}"), FileId(0));
        assert_eq!(errors, [], "{case}");
        let [Item::Op(op)] = &file.items[..] else { panic!("one op") };
        let body = op.body.as_ref().expect("a body");
        out.push_str(&grouped(&body.stmts[0].value));
        out.push('\n');
    }
    insta::assert_snapshot!(out, @r"
    f(((a - b) - (((c * d) / e) % f)))
    f((a || (b && (c == (d + (-e))))))
    f(((!a) && ((-b) * c)))
    f(((a in b) || (c <= d)))
    f(((a - b) - (c - d)))
    f((a | (b + c) | d))
    f((a || b))
    f((((target.limit)((g.size))?) - 1))
    f((a + b))
    ");
}

/// Spans cover what they name and nothing after it, comments and blanks included.
#[test]
fn spans_are_tight() {
    let text = "/// Doc.\nop f<T: half>(x: T[n, 2*d] , y: int = 1) -> T[n] // c\nwhere\n    n > 1 , // c\n{ // c\n    a = g( x ) // c\n    a\n} // c\n";
    let (file, errors) = parse_text(text, FileId(0));
    assert_eq!(errors, []);
    let [Item::Op(op)] = &file.items[..] else { panic!("one op") };
    let body = op.body.as_ref().expect("a body");
    let at = |s: fusec_dsl::source::Span| &text[s.start as usize..s.end as usize];
    let spans = [
        op.doc.as_ref().expect("a doc").span,
        op.name.span,
        op.sig.generics[0].span,
        op.sig.params_span,
        op.sig.params[0].span,
        op.sig.params[0].ty.span,
        op.sig.params[1].span,
        op.sig.results_span.expect("results"),
        op.sig.guards[0].span,
        body.stmts[0].span,
        body.stmts[0].value.span,
        body.stmts[1].span,
    ];
    insta::assert_snapshot!(spans.map(at).join("\n"), @r"
    /// Doc.
    f
    T: half
    (x: T[n, 2*d] , y: int = 1)
    x: T[n, 2*d]
    T[n, 2*d]
    y: int = 1
    T[n]
    n > 1
    a = g( x )
    g( x )
    a
    ");
    assert!(at(body.span).starts_with('{') && at(body.span).ends_with('}'));
    assert!(at(op.span).starts_with("op") && at(op.span).ends_with('}'));
}
