//! What a caller of a cubin must know, as JSON.

use crate::abi::What;
use crate::emit::Source;
use crate::ir::{InputRole, ScaleLayout, Sink, Space};
use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const VERSION: u32 = 1;

/// A kernel's outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// The fusion, with its family members.
    pub fusion: String,
    /// Entry point of the cubin.
    pub entry: String,
    /// Architecture, as `sm_90a`.
    pub arch: String,
    /// Elements of a row of the computation.
    pub cols: usize,
    /// Threads of a block.
    pub block: u32,
    /// How many blocks.
    pub grid: Grid,
    /// Shared memory of a block in bytes; static, so a launch passes 0.
    pub shared_bytes: usize,
    /// Scratch memory in bytes.
    pub workspace_bytes: usize,
    /// What the entry point takes, 8 bytes each.
    pub args: Vec<ArgEntry>,
    /// Operands.
    pub inputs: Vec<TensorEntry>,
    /// Results.
    pub outputs: Vec<TensorEntry>,
}

/// `ceil(round_up(rows, pad_rows_to) / rows_per_block) * chunks` blocks; any smaller number is
/// correct too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Rows a block takes at once.
    pub rows_per_block: usize,
    /// Blocks a row.
    pub chunks: usize,
    /// 1, or 128 where scales lie in tiles.
    pub pad_rows_to: usize,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArgEntry {
    /// Name in the source.
    pub name: String,
    /// `input`, `output`, `stride`, `group_stride` (both in bytes) or `rows`.
    pub kind: String,
    /// For addresses, and the stride that follows: a multiple of this.
    pub align: usize,
}

/// One operand or result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorEntry {
    /// Name in the fusion.
    pub name: String,
    /// Element type in memory.
    pub dtype: String,
    /// `rows`, `column`, `scalar`, `per_row`, `groups` or `swizzle_128x4`.
    pub role: String,
    /// Elements of a row, in memory.
    pub cols: usize,
    /// For groups: `row_major`, `col_major` or `tma_aligned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
}

impl Manifest {
    /// Describes a kernel.
    pub fn of(kernel: &Kernel, arch: &str) -> Manifest {
        let g = kernel.geometry();
        let pad_rows_to = if kernel.pads_rows() { 128 } else { 1 };
        Manifest {
            version: VERSION,
            fusion: kernel.ir.fusion.clone(),
            entry: kernel.source.entry.clone(),
            arch: arch.into(),
            cols: kernel.ir.cols,
            block: kernel.threads(),
            grid: Grid { rows_per_block: g.rows_per_block, chunks: g.chunks, pad_rows_to },
            shared_bytes: kernel.shared_bytes(),
            workspace_bytes: 0,
            args: args(&kernel.source),
            inputs: inputs(kernel),
            outputs: outputs(kernel),
        }
    }
}

fn args(source: &Source) -> Vec<ArgEntry> {
    let entry = |a: &crate::abi::Arg| ArgEntry {
        name: a.name.clone(),
        kind: match a.what {
            What::Input(_) => "input",
            What::Output(_) => "output",
            What::InputStride(_) | What::OutputStride(_) => "stride",
            What::OutputGroupStride(_) => "group_stride",
            What::Rows => "rows",
        }
        .into(),
        align: a.align,
    };
    source.args.iter().map(entry).collect()
}

fn inputs(kernel: &Kernel) -> Vec<TensorEntry> {
    let role = |r: InputRole| match r {
        InputRole::Rows(_) => "rows",
        InputRole::Column => "column",
        InputRole::Scalar => "scalar",
    };
    let entry = |(i, input): (usize, &crate::ir::Input)| TensorEntry {
        name: input.name.clone(),
        dtype: input.dtype.short().into(),
        role: role(input.role).into(),
        cols: kernel.input_cols(i),
        layout: None,
    };
    kernel.ir.inputs.iter().enumerate().map(entry).collect()
}

fn outputs(kernel: &Kernel) -> Vec<TensorEntry> {
    let mut out = Vec::new();
    for output in &kernel.ir.outputs {
        let node = kernel.ir.node(output.value);
        let groups = match node.space {
            Space::Group(g) => kernel.ir.cols / g,
            _ => 1,
        };
        let packed = node.dtype == fusec_dsl::dtype::Dtype::F4E2M1x2;
        let (role, cols, layout) = match output.sink {
            Sink::Rows => ("rows", kernel.ir.cols / if packed { 2 } else { 1 }, None),
            Sink::PerRow => ("per_row", 1, None),
            Sink::Groups(l) => ("groups", groups, Some(layout_name(l))),
            Sink::Swizzled128x4 => ("swizzle_128x4", groups, None),
        };
        out.push(TensorEntry {
            name: output.name.clone(),
            dtype: if packed { "u8" } else { node.dtype.short() }.into(),
            role: role.into(),
            cols,
            layout: layout.map(str::to_string),
        });
    }
    out
}

fn layout_name(layout: ScaleLayout) -> &'static str {
    match layout {
        ScaleLayout::RowMajor => "row_major",
        ScaleLayout::ColMajor => "col_major",
        ScaleLayout::TmaAligned => "tma_aligned",
    }
}
