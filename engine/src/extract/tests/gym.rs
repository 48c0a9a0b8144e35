//! A sample of public problems: cost, bound and proof, in one snapshot.

use crate::extract::Limits;
use crate::extract::serialized::Serialized;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/gym")
}

/// `family/file.json` and the best cost known before, from the table beside the files.
fn best_known() -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(folder().join("best-known.csv")).expect("the table");
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut columns = line.split(',');
        Some((columns.next()?.to_owned(), columns.next_back()?.parse().ok()?))
    });
    rows.collect()
}

fn load(name: &str) -> Serialized {
    let bytes = std::fs::read(folder().join(format!("{name}.gz"))).expect(name);
    let mut json = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut json).expect(name);
    Serialized::parse(&json).expect(name)
}

#[test]
fn no_worse_than_the_best_known() {
    let mut table = String::new();
    let (mut proved, mut better) = (0, 0);
    let known = best_known();
    for (name, &best) in &known {
        let graph = load(name);
        let limits = Limits { work: 40_000_000, ..Limits::default() };
        let found = graph.solve(&limits).expect(name);
        let cost = graph.problem.check(&found.choice).expect(name);
        assert!(cost <= best * (1.0 + 1e-6), "{name}: {cost} is worse than {best}");
        assert!(found.lower_bound <= best * (1.0 + 1e-6), "{name}: the bound is above {best}");
        proved += usize::from(found.optimal);
        better += usize::from(cost < best * (1.0 - 1e-6));
        let label = if found.optimal { "optimal" } else { "open" };
        writeln!(table, "{name:<82} {cost:>14.6} {:>14.6} {label}", found.lower_bound).unwrap();
    }
    write!(table, "{proved} of {} proved, {better} better than known before", known.len()).unwrap();
    insta::assert_snapshot!(table);
}
