//! `fusec test`: the graphs in `.fuse` files and what must fire on them.

use crate::Status;
use crate::args::{Format, Global, GraphArgs, TestArgs};
use crate::config::{Config, Given};
use crate::loaded::Loaded;
use crate::ui::Ui;
use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use fusec_dsl::library::{Attr, Scalar, Test, TypeExpr};
use fusec_engine::lift::lift_test;
use fusec_engine::optimize::optimize;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

/// What came of one test.
struct Outcome {
    /// File and name.
    place: String,
    name: String,
    /// What is wrong; empty when nothing is.
    faults: Vec<String>,
    /// What fired, by name.
    fired: BTreeMap<String, usize>,
}

/// Runs the tests.
pub fn run(args: &TestArgs, global: &Global, ui: &Ui) -> Result<Status> {
    let started = Instant::now();
    let config = Config::load(global)?;
    let only = GraphArgs { target: args.target.clone(), ..GraphArgs::default() };
    let given = config.with(&only)?;
    let paths = [args.files.clone(), config.pass_paths()].concat();
    let loaded = Loaded::read(&paths)?;
    if loaded.say_errors(ui)? {
        return Ok(Status::Findings);
    }
    let asked = |t: &&Test| {
        let here = args.files.is_empty() || loaded.is_given(t.span.file, &args.files);
        here && args.filter.as_deref().is_none_or(|f| t.name.contains(f))
    };
    let working = ui.working("testing");
    let tests = loaded.library.tests.iter().filter(asked);
    let outcomes: Vec<Outcome> = tests.map(|t| one(t, &loaded, &given)).collect();
    drop(working);
    for outcome in &outcomes {
        print(outcome, ui)?;
    }
    let failed = outcomes.iter().filter(|o| !o.faults.is_empty()).count();
    let seconds = started.elapsed().as_secs_f64();
    let passed = outcomes.len() - failed;
    ui.say(format!("{passed} passed, {failed} failed in {seconds:.2} s"));
    Ok(if failed == 0 { Status::Clean } else { Status::Findings })
}

fn one(test: &Test, loaded: &Loaded, given: &Given) -> Outcome {
    let mut outcome = Outcome {
        place: loaded.path(test.span.file).to_string(),
        name: test.name.clone(),
        faults: Vec::new(),
        fired: BTreeMap::new(),
    };
    let mut config = given.engine(&loaded.library);
    config.groups.extend(group_sizes(test));
    match lift_test(&loaded.library, test) {
        Err(why) => outcome.faults.push(why),
        Ok(mut lifted) => {
            let done = optimize(&loaded.library, &mut lifted, &config);
            outcome.fired = fired(&done, loaded);
            outcome.faults = faults(test, &outcome.fired);
        }
    }
    outcome
}

/// Sizes of process groups, which a test gives as `g: group = 2`.
fn group_sizes(test: &Test) -> impl Iterator<Item = (String, i64)> {
    test.inputs.iter().filter_map(|input| match (&input.ty, &input.default) {
        (TypeExpr::Scalar(Scalar::Group), Some(Attr::Int(n))) => {
            Some((input.name.clone(), n.as_int()?))
        }
        _ => None,
    })
}

/// How often each fusion was chosen in the first range.
fn fired(done: &fusec_engine::optimize::Outcome, loaded: &Loaded) -> BTreeMap<String, usize> {
    let mut fired = BTreeMap::new();
    for plan in done.plans.iter().take(1) {
        for (_, shape) in &plan.segments {
            for site in plan.shapes[*shape].0.sites.iter().filter(|s| s.chosen) {
                let label = loaded.library.fusions[site.fusion].label();
                *fired.entry(label).or_insert(0) += 1;
            }
        }
    }
    fired
}

fn faults(test: &Test, fired: &BTreeMap<String, usize>) -> Vec<String> {
    let mut faults = Vec::new();
    for expect in &test.expect {
        let found = match &expect.fusion {
            Some(name) => fired.get(name).copied().unwrap_or(0),
            None => fired.values().sum(),
        };
        if found != expect.times {
            let what = expect.fusion.as_deref().unwrap_or("any fusion");
            faults.push(format!("expected {what} {}, found {}", times(expect.times), times(found)));
        }
    }
    faults
}

fn times(n: usize) -> String {
    match n {
        0 => "never".into(),
        1 => "once".into(),
        n => format!("{n} times"),
    }
}

fn print(outcome: &Outcome, ui: &Ui) -> Result<()> {
    let mut out = ui.out();
    let Outcome { place, name, faults, fired } = outcome;
    if ui.format == Format::Json {
        let line = serde_json::json!({
            "file": place, "test": name, "ok": faults.is_empty(), "faults": faults, "fired": fired,
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    let (good, bad): (Style, Style) =
        (AnsiColor::Green.on_default(), AnsiColor::Red.on_default().bold());
    if faults.is_empty() {
        writeln!(out, "{good}ok{good:#}      {place}: {name}")?;
        return Ok(());
    }
    writeln!(out, "{bad}FAILED{bad:#}  {place}: {name}")?;
    for fault in faults {
        writeln!(out, "        {fault}")?;
    }
    let list: Vec<String> = fired.iter().map(|(f, n)| format!("{f} {}", times(*n))).collect();
    let list = if list.is_empty() { "nothing".to_string() } else { list.join(", ") };
    writeln!(out, "        fired: {list}")?;
    Ok(())
}
