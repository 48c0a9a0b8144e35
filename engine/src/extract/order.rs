//! Strongly connected classes, and an order in which children mostly come before their users.

use super::draft::Draft;

/// Result of Tarjan's algorithm on the class graph of all live nodes.
pub(super) struct Order {
    /// Live classes, each after the classes of other components that it uses.
    pub sequence: Vec<u32>,
    /// Position in `sequence`; `u32::MAX` for dead classes.
    pub position: Vec<u32>,
    /// Component number of each class.
    pub component: Vec<u32>,
    /// Number of classes in each component.
    pub component_size: Vec<u32>,
}

impl Order {
    /// Whether the class can take part in a cycle.
    pub fn cyclic(&self, class: u32) -> bool {
        self.component_size[self.component[class as usize] as usize] > 1
    }
}

struct Walk<'a> {
    draft: &'a Draft,
    index: Vec<u32>,
    low: Vec<u32>,
    open: Vec<u32>,
    next: u32,
    order: Order,
}

/// Positions come from depth-first search, so classes of one layer stay close together.
pub(super) fn order(draft: &Draft) -> Order {
    let classes = draft.classes();
    let mut walk = Walk {
        draft,
        index: vec![u32::MAX; classes],
        low: vec![0; classes],
        open: Vec::new(),
        next: 0,
        order: Order {
            sequence: Vec::new(),
            position: vec![u32::MAX; classes],
            component: vec![u32::MAX; classes],
            component_size: Vec::new(),
        },
    };
    for class in 0..classes as u32 {
        if draft.root[class as usize] && walk.index[class as usize] == u32::MAX {
            walk.from(class);
        }
    }
    let mut order = walk.order;
    sort_cycles(draft, &mut order);
    order
}

/// Inside each cyclic component, classes in an order in which they can be derived: then every
/// class that all derivations of a class contain stands before it.
fn sort_cycles(draft: &Draft, order: &mut Order) {
    if order.component_size.len() == order.sequence.len() {
        return;
    }
    let rank = draft.build_ranks();
    let component = &order.component;
    order.sequence.sort_unstable_by_key(|&c| (component[c as usize], rank[c as usize]));
    for (at, &class) in order.sequence.iter().enumerate() {
        order.position[class as usize] = at as u32;
    }
}

impl Walk<'_> {
    fn enter(&mut self, class: u32) {
        self.index[class as usize] = self.next;
        self.low[class as usize] = self.next;
        self.next += 1;
        self.open.push(class);
    }

    fn from(&mut self, start: u32) {
        self.enter(start);
        // Frame: class, which of its nodes, which kid of that node.
        let mut stack = vec![(start, 0usize, 0usize)];
        while let Some(frame) = stack.last_mut() {
            let (class, node_at, kid_at) = *frame;
            let draft = self.draft;
            let Some(&node) = draft.nodes[class as usize].get(node_at) else {
                stack.pop();
                self.leave(class);
                if let Some(&(parent, ..)) = stack.last() {
                    self.lower(parent, self.low[class as usize]);
                }
                continue;
            };
            match draft.kids[node as usize].get(kid_at) {
                None => *frame = (class, node_at + 1, 0),
                Some(&kid) => {
                    frame.2 += 1;
                    if self.index[kid as usize] == u32::MAX {
                        self.enter(kid);
                        stack.push((kid, 0, 0));
                    } else if self.order.component[kid as usize] == u32::MAX {
                        self.lower(class, self.index[kid as usize]);
                    }
                }
            }
        }
    }

    fn lower(&mut self, class: u32, to: u32) {
        let low = &mut self.low[class as usize];
        *low = (*low).min(to);
    }

    fn leave(&mut self, class: u32) {
        self.order.position[class as usize] = self.order.sequence.len() as u32;
        self.order.sequence.push(class);
        if self.low[class as usize] != self.index[class as usize] {
            return;
        }
        let number = self.order.component_size.len() as u32;
        let mut size = 0;
        while let Some(member) = self.open.pop() {
            self.order.component[member as usize] = number;
            size += 1;
            if member == class {
                break;
            }
        }
        self.order.component_size.push(size);
    }
}
