//! Whatever the operands are, evaluation gives a value or an error, never a panic.

use super::*;
use crate::interp::field::{Field, Rounding};
use crate::interp::random::Rng;
use crate::interp::{Kind, random_tensor};
use fusec_dsl::library::Meaning;
use proptest::prelude::*;

fn operand(rng: &mut Rng, depth: usize) -> Value {
    let huge = [i64::MAX, i64::MIN, 1 << 40, -1, 0, 1, 2, 3, 4, 16];
    match rng.below(12) {
        0 => int(rng.pick(&huge)),
        1 => float(rng.pick(&[0.0, f64::NAN, f64::INFINITY, 1e300, -1.0])),
        2 => flag(rng.below(2) == 0),
        3 => none(),
        4 => dtype(rng.pick(Dtype::ALL)),
        5 => ints(&(0..rng.below(4)).map(|_| rng.pick(&huge)).collect::<Vec<_>>()),
        6 if depth < 2 => Value::List((0..rng.below(3)).map(|_| operand(rng, depth + 1)).collect()),
        7 => Attr::Str("row_major".into()).into(),
        _ => {
            let shape: Vec<usize> =
                (0..rng.below(4)).map(|_| rng.pick(&[0, 1, 2, 4, 16])).collect();
            random_tensor(rng.pick(Dtype::ALL), &shape, Kind::Hostile, rng.next()).into()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_operands_panic(seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let mut values = 0;
        for op in &LIBRARY.ops {
            let count = if rng.below(8) == 0 { rng.below(6) } else { op.sig.params.len() };
            let args: Vec<Value> = (0..count).map(|_| operand(&mut rng, 0)).collect();
            values += usize::from(call(&op.name, &args).is_ok());
        }
        // Some of it must get through, or this tests nothing.
        prop_assert!(values > 0);
    }
}

/// The field meaning has its own code for every primitive.
#[test]
fn no_members_panic() {
    let field = Field { key: 3, rounding: Rounding::Kept };
    let mut evaluated = 0;
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        for op in LIBRARY.ops.iter().filter(|o| matches!(o.meaning, Meaning::Primitive)) {
            let args = (0..op.sig.params.len()).map(|_| members(&operand(&mut rng, 0), &field));
            let args: Vec<_> = args.collect();
            let id = LIBRARY.op_named(&op.name).expect("an op");
            evaluated += usize::from(Interp::new(&LIBRARY, field).op(id, &args).is_ok());
        }
    }
    assert!(evaluated > 500, "{evaluated}");
}

fn members(v: &Value, field: &Field) -> Value<crate::interp::field::Fp> {
    match v {
        Value::Tensor(t) => {
            let data = t.data.iter().map(|x| field.input(t.dtype, x.to_bits())).collect();
            Tensor { dtype: t.dtype, shape: t.shape.clone(), data }.into()
        }
        Value::Attr(a) => a.clone().into(),
        Value::List(l) => Value::List(l.iter().map(|v| members(v, field)).collect()),
        Value::Tuple(l) => Value::Tuple(l.iter().map(|v| members(v, field)).collect()),
    }
}
