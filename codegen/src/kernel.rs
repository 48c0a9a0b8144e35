//! A kernel from fusion to files: source, cubin, manifest.

use crate::abi::What;
use crate::cuda::nvrtc;
use crate::emit::{self, Source};
use crate::error::{Error, Result};
use crate::ir::{InputRole, KernelIr, Output, Sink, Space};
use crate::lower::{self, Bound};
use crate::manifest::Manifest;
use crate::plan::{Geometry, Plan, Tuning};
use fusec_dsl::library::{Fusion, Library};
use fusec_dsl::source::SourceMap;
use std::path::Path;

/// A kernel's program, schedule and source. Needs no CUDA.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What it computes.
    pub ir: KernelIr,
    /// When, and by which threads.
    pub plan: Plan,
    /// The CUDA source.
    pub source: Source,
}

/// Where a result lies for some number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Size of its buffer.
    pub bytes: u64,
    /// Bytes from row to row.
    pub stride: u64,
    /// Bytes from group to group.
    pub group_stride: u64,
}

impl Kernel {
    /// Generates the kernel of a fusion.
    pub fn new(
        lib: &Library,
        sources: &SourceMap,
        fusion: &Fusion,
        bound: &Bound,
        tuning: Tuning,
    ) -> Result<Kernel> {
        Kernel::of(lower::lower(lib, fusion, bound)?, sources, tuning)
    }

    /// Generates the kernel of a program.
    pub fn of(ir: KernelIr, sources: &SourceMap, tuning: Tuning) -> Result<Kernel> {
        let plan = Plan::new(&ir, tuning)?;
        let source = emit::emit(&ir, &plan, sources);
        Ok(Kernel { ir, plan, source })
    }

    /// How its threads share rows.
    pub fn geometry(&self) -> &Geometry {
        &self.plan.geometry
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        (self.geometry().threads_per_row * self.geometry().rows_per_block) as u32
    }

    /// Blocks for `rows` rows, at most `limit`: with fewer, each takes several rows.
    pub fn grid(&self, rows: u64, limit: u32) -> u32 {
        let g = self.geometry();
        let padded = if self.pads_rows() { rows.next_multiple_of(128) } else { rows };
        let blocks = padded.div_ceil(g.rows_per_block as u64) * g.chunks as u64;
        blocks.clamp(1, u64::from(limit.max(1))) as u32
    }

    /// Whether it also fills tiles of 128 rows past the end.
    pub fn pads_rows(&self) -> bool {
        self.ir.outputs.iter().any(|o| o.sink == Sink::Swizzled128x4)
    }

    /// Shared memory of a block, all of it static.
    pub fn shared_bytes(&self) -> usize {
        let g = self.geometry();
        let warps = if g.threads_per_row <= 32 { 1 } else { g.threads_per_row / 32 };
        let reductions = self
            .ir
            .nodes
            .iter()
            .filter(|n| n.space == Space::Row && matches!(n.op, crate::ir::Op::Reduce(_)));
        2 * 4 * reductions.count() * warps * g.rows_per_block
    }

    /// Elements of a row of an operand.
    pub fn input_cols(&self, i: usize) -> usize {
        match self.ir.inputs[i].role {
            InputRole::Rows(cols) => cols,
            InputRole::Column => self.ir.cols,
            InputRole::Scalar => 1,
        }
    }

    /// Where a result lies when nothing else is asked for.
    pub fn placement(&self, output: &Output, rows: u64) -> Placement {
        let node = self.ir.node(output.value);
        let size = node.dtype.bytes();
        let groups = match node.space {
            Space::Group(g) => (self.ir.cols / g) as u64,
            _ => 1,
        };
        match output.sink {
            Sink::Rows => {
                let stride = (self.ir.cols * crate::plan::bits(node.dtype) / 8) as u64;
                Placement { bytes: rows * stride, stride, group_stride: 0 }
            }
            Sink::PerRow => Placement { bytes: rows * size, stride: size, group_stride: 0 },
            Sink::Groups(layout) => {
                let (row, group) = layout.strides(rows, groups, size);
                let elements = layout.elements(rows, groups, size);
                Placement { bytes: elements * size, stride: row * size, group_stride: group * size }
            }
            Sink::Swizzled128x4 => {
                let bytes = rows.next_multiple_of(128) * groups.next_multiple_of(4);
                Placement { bytes, stride: 0, group_stride: 0 }
            }
        }
    }

    /// Whether these arguments are aligned as the kernel needs them.
    pub fn fits(&self, args: &[u64]) -> bool {
        let list = &self.source.args;
        list.iter().zip(args).enumerate().all(|(i, (arg, value))| {
            let stride = match list.get(i + 1).map(|a| a.what) {
                Some(What::InputStride(_) | What::OutputStride(_)) if arg.align > 1 => args[i + 1],
                _ => 0,
            };
            match arg.what {
                What::Input(_) | What::Output(_) => {
                    value % arg.align as u64 == 0 && stride % arg.align as u64 == 0
                }
                _ => true,
            }
        })
    }

    /// Compiles it, or takes it from the cache.
    pub fn cubin(&self, arch: &str) -> Result<Vec<u8>> {
        nvrtc::cubin(&self.source.text, &self.source.file, arch)
    }

    /// Writes `NAME.cu`, `NAME.ARCH.cubin` and `NAME.json`.
    pub fn write(&self, dir: &Path, arch: &str) -> Result<Manifest> {
        let cubin = self.cubin(arch)?;
        let manifest = Manifest::of(self, arch);
        let json = serde_json::to_string_pretty(&manifest)
            .map_err(|e| Error::new(format!("the manifest does not serialize: {e}")))?;
        let entry = &self.source.entry;
        let io = |e: std::io::Error| Error::new(format!("{}: {e}", dir.display()));
        std::fs::create_dir_all(dir).map_err(io)?;
        std::fs::write(dir.join(&self.source.file), &self.source.text).map_err(io)?;
        std::fs::write(dir.join(format!("{entry}.{arch}.cubin")), cubin).map_err(io)?;
        std::fs::write(dir.join(format!("{entry}.json")), json + "\n").map_err(io)?;
        Ok(manifest)
    }
}
