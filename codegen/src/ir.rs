//! The program of one kernel: what happens to a row.
//!
//! A kernel works on rows of `cols` elements. Every value lives in a [`Space`]: one for the whole
//! tensor, one a row, one a group of neighbours, or one an element. Arithmetic is in f32; a narrower
//! type is a rounding point ([`Op::Cast`]), or a 16-bit product or sum.

use fusec_dsl::dtype::Dtype;
use fusec_dsl::source::Span;

/// Index into [`KernelIr::nodes`].
pub type Id = usize;

/// One kernel's program.
#[derive(Clone, Debug)]
pub struct KernelIr {
    /// The fusion it computes, with its family members.
    pub fusion: String,
    /// Elements of a row.
    pub cols: usize,
    /// Operands, in the order of the fusion's parameters.
    pub inputs: Vec<Input>,
    /// Values, each after its operands.
    pub nodes: Vec<Node>,
    /// Results, in the order of the fusion's.
    pub outputs: Vec<Output>,
}

/// A tensor operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Parameter name.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// How it relates to the rows.
    pub role: InputRole,
}

/// How an operand relates to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRole {
    /// A row of this length for each row of the result.
    Rows(usize),
    /// One row that all rows use, such as a weight.
    Column,
    /// One number.
    Scalar,
}

/// What a value has one of; a value of an earlier space can stand wherever a later one is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// The whole tensor.
    Uniform,
    /// A row.
    Row,
    /// A run of this many neighbours.
    Group(usize),
    /// An element.
    Element,
}

/// One value.
#[derive(Clone, Debug)]
pub struct Node {
    /// How it comes about.
    pub op: Op,
    /// Operands.
    pub args: Vec<Id>,
    /// Element type; [`Dtype::B8`] for comparisons, [`Dtype::F4E2M1x2`] for e2m1 halves.
    pub dtype: Dtype,
    /// What it has one of.
    pub space: Space,
    /// Where it was written.
    pub span: Span,
    /// The name it was bound to.
    pub name: Option<String>,
}

/// How a value comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Element `first + i` of an operand's row, an element of a column, or the scalar.
    Load {
        /// Which operand.
        input: usize,
        /// Where in the operand's row the result's row begins.
        first: usize,
    },
    /// An f32 constant, by its bits.
    Const(u32),
    /// One operand.
    Unary(Unary),
    /// Two operands.
    Binary(Binary),
    /// `select(c, a, b)`.
    Select,
    /// Rounding to the node's type, or widening to f32.
    Cast,
    /// Over the row, or over groups of it.
    Reduce(Reduce),
}

/// Functions of one f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Sqrt,
    Rsqrt,
    Exp,
    Exp2,
    Log,
    Log2,
    Tanh,
    Erf,
    Sigmoid,
    Ceil,
    Floor,
    Round,
    /// `exp2(ceil(log2(x)))`.
    PowerAbove,
}

/// Functions of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduce {
    /// Sum.
    Sum,
    /// Largest; NaN if any is.
    Max,
}

impl Unary {
    /// By the primitive's name.
    pub fn named(name: &str) -> Option<Unary> {
        use Unary::*;
        Some(match name {
            "neg" => Neg,
            "abs" => Abs,
            "sqrt" => Sqrt,
            "rsqrt" => Rsqrt,
            "exp" => Exp,
            "exp2" => Exp2,
            "log" => Log,
            "log2" => Log2,
            "tanh" => Tanh,
            "erf" => Erf,
            "sigmoid" => Sigmoid,
            "ceil" => Ceil,
            "floor" => Floor,
            "round" => Round,
            _ => return None,
        })
    }

    /// The primitive's name.
    pub fn name(self) -> &'static str {
        use Unary::*;
        match self {
            Neg => "neg",
            Abs => "abs",
            Sqrt => "sqrt",
            Rsqrt => "rsqrt",
            Exp => "exp",
            Exp2 => "exp2",
            Log => "log",
            Log2 => "log2",
            Tanh => "tanh",
            Erf => "erf",
            Sigmoid => "sigmoid",
            Ceil => "ceil",
            Floor => "floor",
            Round => "round",
            PowerAbove => "power_above",
        }
    }
}

impl Binary {
    /// By the primitive's name.
    pub fn named(name: &str) -> Option<Binary> {
        use Binary::*;
        Some(match name {
            "add" => Add,
            "sub" => Sub,
            "mul" => Mul,
            "div" => Div,
            "min" => Min,
            "max" => Max,
            "eq" => Eq,
            "ne" => Ne,
            "lt" => Lt,
            "le" => Le,
            "gt" => Gt,
            "ge" => Ge,
            _ => return None,
        })
    }

    /// The operator in C++; `None` for `min` and `max`.
    pub fn symbol(self) -> Option<&'static str> {
        use Binary::*;
        Some(match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Min | Max => return None,
        })
    }

    /// Whether the result is a truth value.
    pub fn compares(self) -> bool {
        use Binary::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name in the fusion.
    pub name: String,
    /// The value.
    pub value: Id,
    /// How it lies in memory.
    pub sink: Sink,
}

/// How a result lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sink {
    /// A row of elements a row.
    Rows,
    /// One number a row.
    PerRow,
    /// One number a group.
    Groups(ScaleLayout),
    /// One byte a group, in tiles of 128 rows by 4, what is outside being 0.
    Swizzled128x4,
}

/// Where the scales of groups lie: the enum `scale_layout` of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScaleLayout {
    /// A row of scales a row.
    RowMajor,
    /// A column of scales a group.
    ColMajor,
    /// The same, columns padded to 16 bytes.
    TmaAligned,
}

impl ScaleLayout {
    /// By its name in the language.
    pub fn named(name: &str) -> Option<ScaleLayout> {
        Some(match name {
            "row_major" => ScaleLayout::RowMajor,
            "col_major" => ScaleLayout::ColMajor,
            "tma_aligned" => ScaleLayout::TmaAligned,
            _ => return None,
        })
    }

    /// Elements of the whole buffer, padding included.
    pub fn elements(self, rows: u64, groups: u64, bytes: u64) -> u64 {
        match self {
            ScaleLayout::RowMajor | ScaleLayout::ColMajor => rows * groups,
            ScaleLayout::TmaAligned => self.strides(rows, groups, bytes).1 * groups,
        }
    }

    /// Distances in elements between rows and between groups, for `rows` rows of `groups` groups of
    /// `bytes`-byte scales.
    pub fn strides(self, rows: u64, groups: u64, bytes: u64) -> (u64, u64) {
        let per_16 = (16 / bytes).max(1);
        match self {
            ScaleLayout::RowMajor => (groups, 1),
            ScaleLayout::ColMajor => (1, rows),
            ScaleLayout::TmaAligned => (1, rows.div_ceil(per_16) * per_16),
        }
    }
}

impl KernelIr {
    /// A value.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// Drops values that no result needs. Keeps the order.
    pub fn drop_dead(&mut self) {
        let mut live = vec![false; self.nodes.len()];
        for output in &self.outputs {
            live[output.value] = true;
        }
        for id in (0..self.nodes.len()).rev() {
            if live[id] {
                self.nodes[id].args.iter().for_each(|a| live[*a] = true);
            }
        }
        let mut new_id = vec![0; self.nodes.len()];
        let mut kept = Vec::new();
        for (id, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if live[id] {
                new_id[id] = kept.len();
                let args = node.args.iter().map(|a| new_id[*a]).collect();
                kept.push(Node { args, ..node });
            }
        }
        self.nodes = kept;
        self.outputs.iter_mut().for_each(|o| o.value = new_id[o.value]);
    }
}
