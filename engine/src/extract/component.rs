//! Splits a reduced problem into parts that share no decision, as compact arrays.

use super::draft::{Draft, NONE};
use super::order::order;
use super::problem::Csr;
use super::units::add;

/// A self-contained part: classes and nodes renumbered from 0.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// First node of each class, and the number of nodes at the end.
    pub first: Vec<u32>,
    pub class_of: Vec<u32>,
    pub cost: Vec<u64>,
    pub kids: Csr,
    /// The nodes that use each class.
    pub users: Csr,
    pub root: Vec<bool>,
    /// Number of each node in the draft.
    pub node_in_draft: Vec<u32>,
    /// Number of each class in the draft.
    pub class_in_draft: Vec<u32>,
}

impl Part {
    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.cost.len()
    }

    /// The nodes of a class.
    pub fn class(&self, class: u32) -> std::ops::Range<u32> {
        self.first[class as usize]..self.first[class as usize + 1]
    }

    /// The classes that must be active, ascending.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.classes() as u32).filter(|&c| self.root[c as usize])
    }

    /// Takes the named classes of a draft, which must be closed under the kids of their nodes.
    pub fn of(draft: &Draft, classes: &[u32], local: &mut [u32]) -> Self {
        let mut part = Self {
            first: vec![0],
            class_of: Vec::new(),
            cost: Vec::new(),
            kids: Csr { start: vec![0], items: Vec::new() },
            users: Csr::default(),
            root: classes.iter().map(|&c| draft.root[c as usize]).collect(),
            node_in_draft: Vec::new(),
            class_in_draft: classes.to_vec(),
        };
        for (i, &class) in classes.iter().enumerate() {
            local[class as usize] = i as u32;
        }
        for (i, &class) in classes.iter().enumerate() {
            for &node in &draft.nodes[class as usize] {
                part.class_of.push(i as u32);
                part.cost.push(draft.cost[node as usize]);
                part.node_in_draft.push(node);
                let kids = draft.kids[node as usize].iter().map(|&k| local[k as usize]);
                let from = part.kids.items.len();
                part.kids.items.extend(kids);
                part.kids.items[from..].sort_unstable();
                part.kids.start.push(part.kids.items.len() as u32);
            }
            part.first.push(part.cost.len() as u32);
        }
        let nodes = 0..part.nodes() as u32;
        let kids = &part.kids;
        let pairs = nodes.flat_map(|n| kids.row(n).iter().map(move |&k| (k, n)));
        part.users = Csr::from_pairs(part.classes(), pairs);
        part
    }

    /// What the roots need of a selection: other entries become [`NONE`].
    pub fn trim(&self, choice: &[u32]) -> Vec<u32> {
        let mut kept = vec![NONE; self.classes()];
        let mut stack: Vec<u32> = self.roots().collect();
        while let Some(class) = stack.pop() {
            if kept[class as usize] == NONE {
                kept[class as usize] = choice[class as usize];
                stack.extend(self.kids.row(choice[class as usize]));
            }
        }
        kept
    }

    /// Cost of the distinct nodes of a trimmed selection.
    pub fn cost_of(&self, choice: &[u32]) -> u64 {
        let chosen = choice.iter().filter(|&&n| n != NONE);
        chosen.fold(0, |sum, &n| add(sum, self.cost[n as usize]))
    }

    /// The classes of some cycle of a trimmed selection, in order, if there is one.
    pub fn find_cycle(&self, choice: &[u32]) -> Option<Vec<u32>> {
        let mut state = vec![0u8; self.classes()];
        for root in self.roots() {
            if state[root as usize] != 0 {
                continue;
            }
            let mut stack = vec![(root, 0usize)];
            state[root as usize] = 1;
            while let Some(&mut (class, ref mut next)) = stack.last_mut() {
                let kids = self.kids.row(choice[class as usize]);
                let Some(&kid) = kids.get(*next) else {
                    state[class as usize] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                match state[kid as usize] {
                    0 => {
                        state[kid as usize] = 1;
                        stack.push((kid, 0));
                    }
                    1 => {
                        let at = stack.iter().position(|&(c, _)| c == kid).unwrap_or(0);
                        return Some(stack[at..].iter().map(|&(c, _)| c).collect());
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

/// The parts of a draft. Classes of one cycle stay together even where they are decided, so
/// that no cycle ever spans two parts.
pub(super) fn split(draft: &Draft) -> Vec<Part> {
    let order = order(draft);
    let mut leader: Vec<u32> = (0..draft.classes() as u32).collect();
    let mut first_of = vec![NONE; order.component_size.len()];
    for &class in &order.sequence {
        let first = &mut first_of[order.component[class as usize] as usize];
        if *first == NONE {
            *first = class;
        }
        union(&mut leader, *first, class);
        for &node in &draft.nodes[class as usize] {
            for &kid in &draft.kids[node as usize] {
                union(&mut leader, class, kid);
            }
        }
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); draft.classes()];
    for class in 0..draft.classes() as u32 {
        if !draft.nodes[class as usize].is_empty() {
            members[find(&mut leader, class) as usize].push(class);
        }
    }
    let mut local = vec![NONE; draft.classes()];
    let mut parts = Vec::new();
    for mut classes in members.into_iter().filter(|m| !m.is_empty()) {
        classes.sort_unstable_by_key(|&c| order.position[c as usize]);
        parts.push(Part::of(draft, &classes, &mut local));
    }
    parts
}

fn find(leader: &mut [u32], mut at: u32) -> u32 {
    while leader[at as usize] != at {
        leader[at as usize] = leader[leader[at as usize] as usize];
        at = leader[at as usize];
    }
    at
}

fn union(leader: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(leader, a), find(leader, b));
    leader[a.max(b) as usize] = a.min(b);
}
