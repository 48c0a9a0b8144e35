//! Types of calls: a call a line, its type after it.

use super::*;
use crate::library::{Generic, Op, ResultDecl};
use proptest::prelude::*;

fn tensor(dtype: DtypeExpr, leading: Option<&str>, dims: &[Dim]) -> TypeExpr {
    let leading = leading.map(str::to_string);
    TypeExpr::Tensor(TensorExpr { dtype, leading, dims: dims.to_vec() })
}

fn actual(dtype: Dtype, shape: &[Dim]) -> Type {
    Type::Tensor(TensorType { dtype, shape: shape.to_vec() })
}

#[test]
fn binds_dtypes_leading_and_linear_dims() {
    let twice = Dim::sym("d").mul(&Dim::int(2));
    let declared = tensor(DtypeExpr::Generic("T".into()), Some("b"), &[twice]);
    let mut b = Bindings::default();
    b.unify(&declared, &actual(Dtype::Bf16, &[Dim::sym("s72"), Dim::int(28672)])).unwrap();
    assert_eq!(b.dims["d"], Dim::int(14336));
    assert_eq!(b.leading["b"], [Dim::sym("s72")]);
    let result = tensor(DtypeExpr::Generic("T".into()), Some("b"), &[Dim::sym("d")]);
    assert_eq!(b.apply(&result).unwrap().to_string(), "bf16[s72, 14336]");
    let odd = actual(Dtype::Bf16, &[Dim::sym("s72"), Dim::int(7)]);
    assert!(Bindings::default().unify(&declared, &odd).is_err());
}

#[test]
fn a_name_of_the_signature_is_not_the_graphs_symbol_of_that_name() {
    let declared = tensor(DtypeExpr::Any, None, &[Dim::sym("d"), Dim::sym("n")]);
    let mut b = Bindings::default();
    b.unify(&declared, &actual(Dtype::F32, &[Dim::sym("n"), Dim::int(4)])).unwrap();
    assert_eq!((&b.dims["d"], &b.dims["n"]), (&Dim::sym("n"), &Dim::int(4)));
}

/// `bf16[n, 4096]`, `[1, n]`, `1.5`, `3`, `n`, `true`, `none`, `f32`, `{f32[2]; f32[3]}`.
fn parse(text: &str) -> Type {
    let text = text.trim();
    let dim = |t: &str| t.trim().parse().map_or_else(|_| Dim::sym(t.trim()), Dim::int);
    let dims =
        |t: &str| -> Vec<Dim> { t.split(',').filter(|t| !t.trim().is_empty()).map(dim).collect() };
    if let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
        return Type::List(inner.split(';').map(parse).collect());
    }
    if let Some((dtype, rest)) = text.split_once('[') {
        let shape = dims(rest.trim_end_matches(']'));
        return match Dtype::from_short(dtype) {
            Some(dtype) => Type::Tensor(TensorType { dtype, shape }),
            None => Type::Attr(Attr::List(shape.into_iter().map(Attr::Int).collect())),
        };
    }
    Type::Attr(match text {
        "none" => Attr::None,
        "true" | "false" => Attr::Bool(text == "true"),
        "max" => Attr::int(i64::MAX),
        _ if Dtype::from_short(text).is_some() => Attr::Dtype(Dtype::from_short(text).unwrap()),
        _ if text.contains('.') => Attr::float(text.parse().unwrap()),
        _ => Attr::Int(dim(text)),
    })
}

#[test]
fn primitives() {
    let calls = include_str!("primitives.txt");
    let mut out = String::new();
    for line in calls.lines().filter(|l| !l.is_empty()) {
        let (name, args) = line.split_once(' ').unwrap_or((line, ""));
        let args: Vec<Type> = args.split('|').filter(|a| !a.is_empty()).map(parse).collect();
        let result = match prims::call(name, &args) {
            Some(Ok(t)) => t.to_string(),
            Some(Err(f)) => format!("{:?}: {}", f.kind, f.text),
            None => "no rule".into(),
        };
        out.push_str(&format!("{line} => {result}\n"));
    }
    insta::assert_snapshot!(out);
}

fn any_type() -> impl Strategy<Value = Type> {
    let number = prop_oneof![
        Just(0i64),
        Just(1),
        Just(-1),
        Just(3),
        Just(i64::MAX),
        Just(i64::MIN),
        -9..9i64,
    ];
    let dim = prop_oneof![
        number.clone().prop_map(Dim::int),
        prop::sample::select(&["n", "d"][..]).prop_map(Dim::sym),
    ];
    let dims = prop::collection::vec(dim.clone(), 0..4);
    let tensor = (prop::sample::select(Dtype::ALL), dims.clone())
        .prop_map(|(dtype, shape)| Type::Tensor(TensorType { dtype, shape }));
    let ints = dims.prop_map(|d| Type::Attr(Attr::List(d.into_iter().map(Attr::Int).collect())));
    prop_oneof![
        4 => tensor.clone(),
        2 => dim.clone().prop_map(|d| Type::Attr(Attr::Int(d))),
        1 => dim.prop_map(Type::Int),
        1 => ints,
        1 => prop::collection::vec(tensor, 0..3).prop_map(Type::List),
        1 => prop_oneof![
            Just(Type::Unknown),
            Just(Type::Attr(Attr::None)),
            Just(Type::Attr(Attr::Bool(true))),
            Just(Type::Attr(Attr::float(1.5))),
            prop::sample::select(Dtype::ALL).prop_map(|d| Type::Attr(Attr::Dtype(d))),
        ],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_operands_panic(
        name in prop::sample::select(PRIMITIVES),
        args in prop::collection::vec(any_type(), 0..6),
    ) {
        if let Some(Ok(t)) = prims::call(name, &args) {
            prop_assert!(!t.to_string().is_empty());
        }
    }
}

const PRIMITIVES: &[&str] = &[
    "add",
    "div",
    "eq",
    "select",
    "neg",
    "exp",
    "cast",
    "bitcast",
    "sum",
    "mean",
    "amax",
    "reshape",
    "expand",
    "permute",
    "slice",
    "split",
    "concat",
    "repeat",
    "pack_e2m1",
    "swizzle_128x4",
    "matmul",
];

fn param(name: &str, ty: TypeExpr, optional: bool) -> Param {
    Param { name: name.into(), ty, default: None, optional, span: Default::default() }
}

/// `f<T: half>(..) -> T[..]` with these parameters.
fn declared(params: Vec<Param>, results: Vec<TypeExpr>) -> Library {
    let half = crate::dtype::DtypeSet::class("half").unwrap();
    let sig = Signature {
        generics: vec![Generic { name: "T".into(), class: half }],
        params,
        results: results
            .into_iter()
            .map(|ty| ResultDecl { name: String::new(), ty: Some(ty) })
            .collect(),
        guards: Vec::new(),
    };
    let op = Op {
        name: "f".into(),
        doc: String::new(),
        span: Default::default(),
        sig,
        meaning: Meaning::Opaque,
        collective: false,
        commutative: false,
    };
    Library { ops: vec![op], ..Library::default() }
}

fn outcome(lib: &Library, args: &[&str]) -> String {
    let args: Vec<Type> = args.iter().map(|a| parse(a)).collect();
    match call(lib, OpId(0), &args) {
        Ok(t) => t.to_string(),
        Err(why) => why,
    }
}

#[test]
fn declared_ops() {
    let t = || DtypeExpr::Generic("T".into());
    let (d, group) = (Dim::sym("d"), Dim::sym("group"));
    let lib = declared(
        vec![
            // `2*d` comes before `d` is known, and `d*group` before `group`.
            param("x", tensor(t(), Some("b"), &[d.mul(&group)]), false),
            param("w", tensor(DtypeExpr::Any, None, &[d.clone()]), false),
            param("s", tensor(DtypeExpr::Is(Dtype::F32), Some(""), &[]), true),
            param("group", TypeExpr::Scalar(Scalar::Int), false),
        ],
        vec![tensor(t(), Some("b"), &[d.clone()]), tensor(t(), None, &[d.add(&group)])],
    );
    let cases: &[&[&str]] = &[
        &["bf16[n, 4096]", "f32[32]", "f32[1]", "128"],
        &["bf16[4096]", "f32[32]", "f32[]", "128"],
        &["bf16[n, m, 4096]", "f32[32]", "none", "128"],
        &["f32[n, 4096]", "f32[32]", "none", "128"],
        &["bf16[n, 4096]", "f32[33]", "none", "128"],
        &["bf16[n, 4097]", "f32[32]", "none", "128"],
        &["bf16[n, 4096]", "f32[32]", "bf16[1]", "128"],
        &["bf16[n, 4096]", "none", "none", "128"],
        &["bf16[n, 4096]", "f32[32]", "none", "1.5"],
        &["bf16[]", "f32[32]", "none", "128"],
        &["bf16[n, 4096]", "f32[32]", "none"],
    ];
    let mut out = String::new();
    for args in cases {
        out.push_str(&format!("f({}) => {}\n", args.join(", "), outcome(&lib, args)));
    }
    insta::assert_snapshot!(out);
}
