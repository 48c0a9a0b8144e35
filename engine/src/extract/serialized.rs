//! Reading e-graphs in the JSON format of the `egraph-serialize` crate.

use super::problem::{ClassId, ExtractError, NodeId, Problem, ProblemBuilder, Solution};
use indexmap::IndexMap;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A problem and the names of its classes and nodes.
#[derive(Debug, Clone)]
pub struct Serialized {
    /// The extraction problem.
    pub problem: Problem,
    /// Name of each class, in order of first mention.
    pub class_names: Vec<String>,
    /// Name of each node, in file order.
    pub node_names: Vec<String>,
    /// Operator of each node.
    pub node_ops: Vec<String>,
}

/// Why a file holds no problem.
#[derive(Debug)]
pub enum SerializedError {
    /// Not JSON, or JSON of another form.
    Json(serde_json::Error),
    /// A node lists a child node that is not in the file.
    DanglingChild {
        /// The node.
        node: String,
        /// The missing child.
        child: String,
    },
    /// No root is given.
    NoRoots,
    /// A root class has no nodes.
    EmptyRoot {
        /// The class.
        class: String,
    },
    /// A node's cost is negative or not finite.
    BadCost {
        /// The node.
        node: String,
        /// Its cost.
        cost: f64,
    },
    /// A root cannot be built.
    Underivable {
        /// The class.
        class: String,
    },
}

impl fmt::Display for SerializedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not an egraph-serialize file: {error}"),
            Self::DanglingChild { node, child } => {
                write!(f, "node `{node}` has the child `{child}`, which the file does not define")
            }
            Self::NoRoots => {
                write!(f, "`root_eclasses` is missing or empty: name at least one class to extract")
            }
            Self::EmptyRoot { class } => {
                write!(f, "the root class `{class}` has no node in this file")
            }
            Self::BadCost { node, cost } => {
                write!(f, "node `{node}` costs {cost}; a cost must be finite and not negative")
            }
            Self::Underivable { class } => {
                write!(f, "the root class `{class}` has no acyclic derivation")
            }
        }
    }
}

impl std::error::Error for SerializedError {}

#[derive(Deserialize)]
struct File {
    #[serde(deserialize_with = "in_file_order")]
    nodes: IndexMap<String, Node>,
    #[serde(default)]
    root_eclasses: Vec<String>,
}

#[derive(Deserialize)]
struct Node {
    op: String,
    #[serde(default)]
    children: Vec<String>,
    eclass: String,
    #[serde(default = "one")]
    cost: f64,
}

/// Nodes in the order of the file, which decides ties; a repeated name keeps its last value.
fn in_file_order<'de, D: Deserializer<'de>>(from: D) -> Result<IndexMap<String, Node>, D::Error> {
    struct InOrder;
    impl<'de> Visitor<'de> for InOrder {
        type Value = IndexMap<String, Node>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of nodes by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut nodes = IndexMap::new();
            while let Some((name, node)) = map.next_entry()? {
                nodes.insert(name, node);
            }
            Ok(nodes)
        }
    }
    from.deserialize_map(InOrder)
}

fn one() -> f64 {
    1.0
}

impl Serialized {
    /// Parses a file's bytes. Children are node names; each stands for its node's class.
    pub fn parse(json: &[u8]) -> Result<Self, SerializedError> {
        let file: File = serde_json::from_slice(json).map_err(SerializedError::Json)?;
        let mut classes: IndexMap<&str, ClassId> = IndexMap::new();
        for node in file.nodes.values() {
            let next = classes.len() as u32;
            classes.entry(&node.eclass).or_insert(next);
        }
        let mut builder = ProblemBuilder::new(classes.len() as u32);
        let mut kids = Vec::new();
        for (name, node) in &file.nodes {
            kids.clear();
            for child in &node.children {
                let target = file.nodes.get(child).ok_or_else(|| {
                    SerializedError::DanglingChild { node: name.clone(), child: child.clone() }
                })?;
                kids.push(classes[target.eclass.as_str()]);
            }
            builder.node(classes[node.eclass.as_str()], node.cost, &kids);
        }
        if file.root_eclasses.is_empty() {
            return Err(SerializedError::NoRoots);
        }
        for root in &file.root_eclasses {
            let class = classes.get(root.as_str());
            let class = class.ok_or_else(|| SerializedError::EmptyRoot { class: root.clone() })?;
            builder.root(*class);
        }
        let class_names: Vec<String> = classes.keys().map(|k| (*k).to_owned()).collect();
        let node_names: Vec<String> = file.nodes.keys().cloned().collect();
        let problem = builder.build().map_err(|e| name(e, &class_names, &node_names))?;
        let node_ops = file.nodes.into_values().map(|n| n.op).collect();
        Ok(Self { problem, class_names, node_names, node_ops })
    }

    /// Solves the problem; errors name classes as the file does.
    pub fn solve(&self, limits: &super::Limits) -> Result<Solution, SerializedError> {
        super::solve(&self.problem, limits)
            .map_err(|e| name(e, &self.class_names, &self.node_names))
    }

    /// The chosen nodes as `(class, node, op)`, in class order.
    pub fn chosen<'a>(
        &'a self,
        solution: &'a Solution,
    ) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let active = solution.choice.iter().enumerate();
        active.filter_map(|(class, &node)| {
            let node: NodeId = node?;
            Some((
                self.class_names[class].as_str(),
                self.node_names[node as usize].as_str(),
                self.node_ops[node as usize].as_str(),
            ))
        })
    }

    /// The answer as one line of JSON: cost, bound, proof, and the chosen node of each active
    /// class, by class name.
    pub fn to_json(&self, solution: &Solution) -> Result<String, SerializedError> {
        let answer = AnswerFile {
            cost: solution.cost,
            lower_bound: solution.lower_bound,
            optimal: solution.optimal,
            choices: self.chosen(solution).map(|(class, node, _)| (class, node)).collect(),
        };
        serde_json::to_string(&answer).map_err(SerializedError::Json)
    }
}

#[derive(Serialize)]
struct AnswerFile<'a> {
    cost: f64,
    lower_bound: f64,
    optimal: bool,
    choices: BTreeMap<&'a str, &'a str>,
}

/// The same error in the file's names.
fn name(error: ExtractError, classes: &[String], nodes: &[String]) -> SerializedError {
    match error {
        ExtractError::BadCost { node, cost } => {
            SerializedError::BadCost { node: nodes[node as usize].clone(), cost }
        }
        ExtractError::Underivable { root } => {
            SerializedError::Underivable { class: classes[root as usize].clone() }
        }
        ExtractError::UnknownChild { child: class, .. } | ExtractError::UnknownClass { class } => {
            SerializedError::EmptyRoot { class: class.to_string() }
        }
        ExtractError::NoRoot => SerializedError::NoRoots,
    }
}
