//! The incremental saturation against egg's own `Runner` with its simple scheduler: same rules,
//! same graphs, same e-graph.

use egg::{Id, Language as _, Runner, SearchMatches, SimpleScheduler, Subst, Symbol, Var};
use fusec_dsl::library::Library;
use fusec_dsl::resolve;
use fusec_engine::config::{Config, RangeFacts};
use fusec_engine::egraph::build::{EGraph, Typing};
use fusec_engine::egraph::matcher::{Slots, match_at};
use fusec_engine::egraph::node::ENode;
use fusec_engine::egraph::rules::{Rule, Verdict};
use fusec_engine::egraph::saturate::{self, RuleIndex, RuleStats, Run};
use fusec_engine::egraph::segment::{Reach, cut};
use fusec_engine::egraph::solve::ingest;
use fusec_engine::graph::Graph;
use fusec_engine::target::Target;
use fusec_engine::{lift, optimize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

thread_local! {
    /// egg wants its searchers to be `Send`; rules keep a cache that is not.
    static RULES: RefCell<Vec<Rule>> = const { RefCell::new(Vec::new()) };
}

/// Searcher and applier of the rule with this index.
#[derive(Clone, Copy)]
struct ByIndex(usize);

fn var(i: usize) -> Var {
    Var::from(Symbol::from(format!("?s{i}")))
}

fn bindings(
    egraph: &EGraph,
    rule: &mut Rule,
    slots: &Slots,
) -> Option<Rc<fusec_dsl::infer::Bindings>> {
    let config = Config::new(Target::named("h200").unwrap());
    let ranges = BTreeMap::new();
    let facts = RangeFacts { config: &config, ranges: &ranges };
    let class_type = |id: Id| egraph[id].data;
    match rule.verdict(slots, &class_type, &egraph.analysis.context, &facts) {
        Verdict::Fires(b) => Some(b),
        _ => None,
    }
}

impl egg::Searcher<ENode, Typing> for ByIndex {
    fn search_eclass_with_limit(
        &self,
        egraph: &EGraph,
        eclass: Id,
        _limit: usize,
    ) -> Option<SearchMatches<'_, ENode>> {
        let mut substs = Vec::new();
        RULES.with_borrow_mut(|rules| {
            let rule = &mut rules[self.0];
            let pattern = rule.pattern.clone();
            let roots = pattern.root_operators();
            for node in egraph[eclass].nodes.iter().filter(|n| roots.contains(&n.discriminant())) {
                match_at(egraph, &pattern, eclass, node, &mut |slots| {
                    if bindings(egraph, rule, slots).is_some() {
                        let mut subst = Subst::with_capacity(slots.len());
                        for (i, s) in slots.iter().enumerate() {
                            if let Some(id) = s {
                                subst.insert(var(i), *id);
                            }
                        }
                        substs.push(subst);
                    }
                });
            }
        });
        (!substs.is_empty()).then_some(SearchMatches { eclass, substs, ast: None })
    }

    fn vars(&self) -> Vec<Var> {
        Vec::new()
    }
}

impl egg::Applier<ENode, Typing> for ByIndex {
    fn apply_one(
        &self,
        egraph: &mut EGraph,
        eclass: Id,
        subst: &Subst,
        _ast: Option<&egg::PatternAst<ENode>>,
        _name: Symbol,
    ) -> Vec<Id> {
        let size = |e: &EGraph| (e.total_size(), e.number_of_classes());
        let before = size(egraph);
        RULES.with_borrow_mut(|rules| {
            let rule = &mut rules[self.0];
            let n = rule.pattern.nodes.len();
            let slots: Slots =
                (0..n).map(|i| subst.get(var(i)).map(|id| egraph.find(*id))).collect();
            if let Some(b) = bindings(egraph, rule, &slots) {
                let _ = saturate::apply(egraph, rule, &slots, &b);
            }
        });
        // egg counts what is returned as a change, and stops when there is none.
        if size(egraph) == before { Vec::new() } else { vec![eclass] }
    }
}

fn library() -> Arc<Library> {
    let files: Vec<(String, String)> =
        fusec_passes::FILES.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect();
    Arc::new(resolve::load(&files).0)
}

/// Sorted sizes of the classes: the same e-graph up to numbering has the same.
fn profile(egraph: &EGraph) -> (usize, usize, Vec<usize>) {
    let mut sizes: Vec<usize> = egraph.classes().map(|c| c.nodes.len()).collect();
    sizes.sort_unstable();
    (egraph.total_size(), egraph.number_of_classes(), sizes)
}

fn check(name: &str) {
    let path = format!("{}/../tests/fixtures/graphs/{name}", env!("CARGO_MANIFEST_DIR"));
    let graph = Graph::read(&std::fs::read(path).unwrap()).unwrap();
    let lib = library();
    let config = Config::new(Target::named("h200").unwrap());
    let mut lifted = lift::lift_graph(&lib, &graph);
    let passes = optimize::enabled_passes(&lib, &config);
    let mut rules = optimize::compile(&lib, &mut lifted.dag.context, &config, &passes);
    let reach = Reach::of(&rules.rewrites.iter().collect::<Vec<_>>());
    let ranges = BTreeMap::new();
    let facts = RangeFacts { config: &config, ranges: &ranges };
    let index = RuleIndex::new(&rules.rewrites);
    let segment = cut(&lifted.dag, &lifted.live, &reach, false).remove(0);

    let mut ours = ingest(&mut lifted.dag, &segment).egraph;
    let mut stats = vec![RuleStats::default(); rules.rewrites.len()];
    let run = Run::new(&facts, &config.limits);
    run.rewrite(&mut ours, &mut rules.rewrites, &index, &mut stats);
    let expected = profile(&ours);
    assert!(stats.iter().any(|s| s.fired > 0), "{name}: nothing was rewritten");
    lifted.dag.context = ours.analysis.context;

    let theirs = ingest(&mut lifted.dag, &segment).egraph;
    let names: Vec<String> = rules.rewrites.iter().map(|r| r.name.clone()).collect();
    RULES.set(rules.rewrites);
    let rewrites: Vec<egg::Rewrite<ENode, Typing>> = names
        .iter()
        .enumerate()
        .map(|(i, n)| egg::Rewrite::new(format!("{n}#{i}"), ByIndex(i), ByIndex(i)).unwrap())
        .collect();
    let empty = Typing::new(fusec_engine::egraph::context::Context::new(lib));
    let runner = Runner::<ENode, Typing, ()>::new(empty)
        .with_egraph(theirs)
        .with_scheduler(SimpleScheduler)
        .with_node_limit(1_000_000)
        .run(&rewrites);
    assert!(matches!(runner.stop_reason, Some(egg::StopReason::Saturated)), "{name}");
    assert_eq!(profile(&runner.egraph), expected, "{name}");
}

#[test]
fn written_out_norms_and_activations() {
    check("hf_llama3_8b_2l_export.json.gz");
}

#[test]
fn gemma() {
    check("hf_gemma3_12b_2l_export.json.gz");
}

#[test]
fn written_out_quantization() {
    check("vllm_llama8b_tp2_fp8static_native_2l.json.gz");
}
