//! The extraction problem and its answer, as flat arrays without any e-graph type.

use std::fmt;
use std::time::Duration;

/// Number of a class, in the order in which classes were counted by [`ProblemBuilder::new`].
pub type ClassId = u32;
/// Number of a node, in the order of the calls of [`ProblemBuilder::node`].
pub type NodeId = u32;

/// Classes, their nodes with a cost and child classes each, and the classes that must be built.
///
/// The cost of a selection is the sum of the costs of its *distinct* chosen nodes: a class that
/// several nodes use is paid once. A kernel with several results is one class (the tuple) used by
/// zero-cost projection nodes, so it too is paid once.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub(crate) class_nodes: Csr,
    pub(crate) class_of: Vec<ClassId>,
    pub(crate) cost: Vec<f64>,
    pub(crate) kids: Csr,
    pub(crate) roots: Vec<ClassId>,
}

/// Compressed rows: row `i` is `items[start[i]..start[i + 1]]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Csr {
    pub start: Vec<u32>,
    pub items: Vec<u32>,
}

impl Csr {
    /// Rows from `(row, item)` pairs, keeping the given order inside each row.
    pub fn from_pairs(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            start[row as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        let mut at = start.clone();
        let mut items = vec![0; start[rows] as usize];
        for (row, item) in pairs {
            items[at[row as usize] as usize] = item;
            at[row as usize] += 1;
        }
        Self { start, items }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The items of one row.
    pub fn row(&self, i: u32) -> &[u32] {
        &self.items[self.start[i as usize] as usize..self.start[i as usize + 1] as usize]
    }
}

/// Why a problem cannot be posed or solved.
#[derive(Debug, Clone, PartialEq)]
pub enum ExtractError {
    /// A cost is negative, infinite or not a number.
    BadCost {
        /// The node that has it.
        node: NodeId,
        /// The offending value.
        cost: f64,
    },
    /// A node names a class that does not exist.
    UnknownChild {
        /// The node with the bad child.
        node: NodeId,
        /// The class it names.
        child: ClassId,
    },
    /// A node or a root names a class that does not exist.
    UnknownClass {
        /// The class it names.
        class: ClassId,
    },
    /// There is no root, so nothing is asked for.
    NoRoot,
    /// Every way to build this root needs the root itself, or a class without nodes.
    Underivable {
        /// The root that cannot be built.
        root: ClassId,
    },
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadCost { node, cost } => {
                write!(f, "node {node} costs {cost}; a cost must be finite and not negative")
            }
            Self::UnknownChild { node, child } => {
                write!(f, "node {node} uses class {child}, which does not exist")
            }
            Self::UnknownClass { class } => write!(f, "class {class} does not exist"),
            Self::NoRoot => write!(f, "no root: name at least one class to build"),
            Self::Underivable { root } => write!(
                f,
                "root class {root} has no finite, acyclic derivation: every node of it needs a \
                 class without nodes, or the root itself"
            ),
        }
    }
}

impl std::error::Error for ExtractError {}

/// Collects nodes in any order and checks them once.
#[derive(Debug, Clone, Default)]
pub struct ProblemBuilder {
    classes: u32,
    class_of: Vec<ClassId>,
    cost: Vec<f64>,
    kid_start: Vec<u32>,
    kids: Vec<ClassId>,
    roots: Vec<ClassId>,
}

impl ProblemBuilder {
    /// A problem with this many classes and no nodes yet.
    pub fn new(classes: u32) -> Self {
        Self { classes, kid_start: vec![0], ..Self::default() }
    }

    /// Adds one more class.
    pub fn class(&mut self) -> ClassId {
        self.classes += 1;
        self.classes - 1
    }

    /// Adds a node to a class. Earlier nodes of a class win ties.
    pub fn node(&mut self, class: ClassId, cost: f64, kids: &[ClassId]) -> NodeId {
        self.class_of.push(class);
        self.cost.push(cost);
        self.kids.extend_from_slice(kids);
        self.kid_start.push(self.kids.len() as u32);
        (self.cost.len() - 1) as u32
    }

    /// Demands a class.
    pub fn root(&mut self, class: ClassId) {
        self.roots.push(class);
    }

    /// Checks costs and references.
    pub fn build(self) -> Result<Problem, ExtractError> {
        let kids = Csr { start: self.kid_start, items: self.kids };
        for (n, &cost) in self.cost.iter().enumerate() {
            let node = n as u32;
            if !(cost.is_finite() && cost >= 0.0) {
                return Err(ExtractError::BadCost { node, cost });
            }
            if let Some(&child) = kids.row(node).iter().find(|&&k| k >= self.classes) {
                return Err(ExtractError::UnknownChild { node, child });
            }
        }
        let named = self.class_of.iter().chain(&self.roots);
        if let Some(&class) = named.clone().find(|&&c| c >= self.classes) {
            return Err(ExtractError::UnknownClass { class });
        }
        if self.roots.is_empty() {
            return Err(ExtractError::NoRoot);
        }
        let pairs = self.class_of.iter().enumerate().map(|(n, &c)| (c, n as u32));
        let class_nodes = Csr::from_pairs(self.classes as usize, pairs);
        let mut roots = self.roots;
        roots.sort_unstable();
        roots.dedup();
        Ok(Problem { class_nodes, class_of: self.class_of, cost: self.cost, kids, roots })
    }
}

impl Problem {
    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.class_nodes.len()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.cost.len()
    }

    /// The demanded classes, ascending.
    pub fn roots(&self) -> &[ClassId] {
        &self.roots
    }

    /// The nodes of a class, in the order in which they were added.
    pub fn class(&self, class: ClassId) -> &[NodeId] {
        self.class_nodes.row(class)
    }

    /// The child classes of a node, as given (repeats kept).
    pub fn children(&self, node: NodeId) -> &[ClassId] {
        self.kids.row(node)
    }

    /// The cost of a node.
    pub fn node_cost(&self, node: NodeId) -> f64 {
        self.cost[node as usize]
    }

    /// The cost of a selection, if it is complete from every root and has no cycle.
    pub fn check(&self, choice: &[Option<NodeId>]) -> Result<f64, String> {
        let mut state = vec![0u8; self.classes()];
        let mut cost = 0.0;
        for &root in &self.roots {
            self.check_from(root, choice, &mut state, &mut cost)?;
        }
        Ok(cost)
    }

    fn check_from(
        &self,
        root: ClassId,
        choice: &[Option<NodeId>],
        state: &mut [u8],
        cost: &mut f64,
    ) -> Result<(), String> {
        let mut stack = vec![(root, 0usize)];
        while let Some(&mut (class, ref mut next)) = stack.last_mut() {
            let node = choice[class as usize].ok_or(format!("class {class} has no node"))?;
            if *next == 0 {
                if state[class as usize] == 2 {
                    stack.pop();
                    continue;
                }
                if self.class_of[node as usize] != class {
                    return Err(format!("node {node} is not in class {class}"));
                }
                state[class as usize] = 1;
                *cost += self.cost[node as usize];
            }
            match self.children(node).get(*next) {
                Some(&kid) => {
                    *next += 1;
                    match state[kid as usize] {
                        0 => stack.push((kid, 0)),
                        1 => return Err(format!("class {kid} needs itself")),
                        _ => {}
                    }
                }
                None => {
                    state[class as usize] = 2;
                    stack.pop();
                }
            }
        }
        Ok(())
    }
}

/// How much may be spent. Every limit is tested inside the loops; none makes the call fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Largest table of a bucket elimination, in entries.
    pub table_entries: usize,
    /// Elementary steps of search, some ten million a second. The same number gives the same
    /// answer on every machine.
    pub work: u64,
    /// Wall-clock limit, tested besides `work`; an answer cut by it may differ between runs.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { table_entries: 4 << 20, work: 20_000_000, time: None }
    }
}

/// The best selection found, and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The chosen node of each active class; `None` for a class that is not needed.
    pub choice: Vec<Option<NodeId>>,
    /// Sum of the costs of the chosen nodes.
    pub cost: f64,
    /// No selection costs less than this.
    pub lower_bound: f64,
    /// Whether the cost is proved to be the least.
    pub optimal: bool,
    /// What the solver did.
    pub stats: Stats,
}

/// Sizes and counts of one run, all deterministic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Classes and nodes left after the reductions.
    pub reduced: (usize, usize),
    /// Independent sub-problems.
    pub components: usize,
    /// Sub-problems proved by bucket elimination.
    pub by_tables: usize,
    /// Sub-problems proved by bounds or branching.
    pub by_search: usize,
    /// Sub-problems left unproved.
    pub open: usize,
    /// Largest elimination table, in entries.
    pub largest_table: usize,
    /// Elementary steps spent.
    pub work: u64,
}
