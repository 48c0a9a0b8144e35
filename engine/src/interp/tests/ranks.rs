//! Collectives over simulated ranks.

use super::*;
use crate::interp::collective::collective;
use Dtype::*;

fn run(name: &str, ranks: &[Value], rest: &[Value]) -> String {
    let args: Vec<Vec<&Value>> =
        ranks.iter().map(|x| [x].into_iter().chain(rest).collect()).collect();
    let lines = collective(&Floats, name, &args);
    match lines {
        Ok(all) => all.into_iter().map(|v| show(Ok(v)) + "\n").collect(),
        Err(e) => format!("error: {e}\n"),
    }
}

#[test]
fn collectives_over_ranks() {
    let group = Value::from(Attr::Group("tp:0".into()));
    let x = |a: f64, b: f64| tensor(Bf16, &[2, 1], &[a, b]);
    let three = [x(256.0, 1.0), x(1.0, 2.0), x(1.0, 3.0)];
    let text = [
        run("all_reduce", &three, &[group.clone()]),
        run("all_gather", &three[..2], &[int(1), group.clone()]),
        run("reduce_scatter", &three[..2], &[int(0), group.clone()]),
        run("reduce_scatter", &three, &[int(0), group.clone()]),
        run("all_reduce", &[x(1.0, 2.0), tensor(Bf16, &[1], &[1.0])], &[group.clone()]),
        run("broadcast", &three, &[group]),
    ];
    insta::assert_snapshot!(text.concat(), @"
    bf16[2, 1] 258 | 6
    bf16[2, 1] 258 | 6
    bf16[2, 1] 258 | 6
    bf16[2, 2] 256 1 | 1 2
    bf16[2, 2] 256 1 | 1 2
    bf16[1, 1] 256
    bf16[1, 1] 3
    error: bf16[2, 1] does not split into 3 equal parts
    error: ranks disagree: bf16[2, 1] and bf16[1]
    error: the interpreter knows no collective `broadcast`
    ");
}

#[test]
fn a_body_runs_on_every_rank() {
    let fusion = LIBRARY.fusions.iter().find(|f| f.instance() == "allreduce_rms_norm[rms_norm]");
    let fusion = fusion.expect("the fusion");
    let params = |scale: f64| {
        vec![
            tensor(Bf16, &[1, 2], &[3.0 * scale, 4.0 * scale]),
            tensor(Bf16, &[2], &[1.0, 1.0]),
            float(0.0),
            Attr::Group("tp:0".into()).into(),
        ]
    };
    let mut bindings = fusec_dsl::infer::Bindings::default();
    let types: Vec<_> = params(1.0).iter().map(Value::ty).collect();
    bindings.unify_all(&fusion.sig.params, &types).unwrap();
    let ranks = [params(1.0), params(2.0)];
    let out = Interp::new(&LIBRARY, Floats).body_ranks(&fusion.body, &ranks, &bindings).unwrap();
    let lines: Vec<_> = out.into_iter().flatten().map(|v| show(Ok(v))).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    bf16[1, 2] 0.84765625 1.1328125
    bf16[1, 2] 9 12
    bf16[1, 2] 0.84765625 1.1328125
    bf16[1, 2] 9 12
    ");
}
