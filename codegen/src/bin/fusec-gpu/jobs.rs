//! All instances at all sizes.

use crate::buffers::Buffer;
use crate::copy::Copies;
use crate::options::Options;
use crate::report::Row;
use crate::timing::Gpu;
use crate::verify::{self, Expected};
use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
use fusec_codegen::abi::What;
use fusec_codegen::cuda::launch::Loaded;
use fusec_codegen::error::{Error, Result};
use fusec_codegen::instances::{Instance, instances};
use fusec_codegen::ir::InputRole;
use fusec_codegen::kernel::Kernel;
use fusec_codegen::plan::Tuning;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Library;
use fusec_dsl::source::SourceMap;

/// The largest run needs two sets of about a gigabyte.
const ARENA: usize = 4 << 30;

/// A kernel on the device with what it should compute.
pub struct Job<'a> {
    pub instance: Instance<'a>,
    pub kernel: Kernel,
    pub hidden: i64,
}

/// Operands and results of one launch.
pub struct Set {
    pub args: Vec<u64>,
    pub outputs: Vec<usize>,
}

/// Every wanted job.
pub fn jobs<'a>(o: &Options, library: &'a Library, sources: &SourceMap) -> Result<Vec<Job<'a>>> {
    let dtype = |name: &str| {
        Dtype::from_short(name).ok_or_else(|| Error::new(format!("no dtype `{name}`")))
    };
    let types = [("T", dtype(&o.types.0)?), ("W", dtype(&o.types.1)?)];
    let mut out = Vec::new();
    for &hidden in &o.hidden {
        for instance in instances(library, &["fuse_norm_quant", "fuse_act_quant"], &types, hidden) {
            if o.wants(&instance.label()) {
                let (fusion, bound) = (instance.fusion, &instance.bound);
                let kernel = Kernel::new(library, sources, fusion, bound, Tuning::default())?;
                out.push(Job { instance, kernel, hidden });
            }
        }
    }
    Ok(out)
}

/// Checks and times them all.
pub fn run(o: &Options, library: &Library, sources: &SourceMap, gpu: &Gpu) -> Result<Vec<Row>> {
    let jobs = jobs(o, library, sources)?;
    eprintln!("{} kernels", jobs.len());
    let expected = verify::expect_all(library, &jobs, o.verify)?;
    eprintln!("expected results are computed");
    let cubins = verify::compile_all(gpu, &jobs)?;
    eprintln!("kernels are compiled");
    let arena = Buffer::new(ARENA)?;
    let mut copies = Copies::new(gpu)?;
    let mut rows = Vec::new();
    for (i, job) in jobs.iter().enumerate() {
        let loaded = Loaded::from_cubin(&gpu.context, &job.kernel, &cubins[i])?;
        for &tokens in &o.tokens {
            rows.push(one(o, gpu, job, &loaded, &expected[i], tokens, &arena, &mut copies)?);
        }
        if i % 16 == 15 {
            eprintln!("{} of {}", i + 1, jobs.len());
        }
    }
    Ok(rows)
}

#[allow(clippy::too_many_arguments)]
fn one(
    o: &Options,
    gpu: &Gpu,
    job: &Job,
    loaded: &Loaded,
    expected: &Expected,
    tokens: usize,
    arena: &Buffer,
    copies: &mut Copies,
) -> Result<Row> {
    let bytes = bytes(&job.kernel, tokens);
    let sets = place(gpu, &job.kernel, expected, tokens, arena)?;
    let grid = job.kernel.grid(tokens as u64, u32::MAX);
    let mut row = Row {
        label: job.instance.label(),
        hidden: job.hidden,
        tokens,
        bytes,
        registers: loaded.attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        spilled: loaded.attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        ..Row::default()
    };
    if o.verify {
        row.steps = verify::check(gpu, job, loaded, expected, tokens, arena, &sets[0], grid)?;
    }
    if o.bench {
        row.us = time(gpu, loaded, &sets, grid)?;
        row.copy_us = copies.time(bytes)?;
    }
    Ok(row)
}

/// Microseconds of a launch over rotating sets.
pub fn time(gpu: &Gpu, loaded: &Loaded, sets: &[Set], grid: u32) -> Result<f64> {
    gpu.time(sets.len(), &|i| {
        // SAFETY: every set's buffers lie in the arena.
        unsafe { loaded.launch(&gpu.stream, grid, &sets[i % sets.len()].args) }
    })
}

/// The fewest bytes: each operand read once, each result written once.
pub fn bytes(kernel: &Kernel, tokens: usize) -> usize {
    let inputs = kernel.ir.inputs.iter().enumerate().map(|(i, input)| {
        let rows = if matches!(input.role, InputRole::Rows(_)) { tokens } else { 1 };
        rows * kernel.input_cols(i) * input.dtype.bytes() as usize
    });
    let outputs =
        kernel.ir.outputs.iter().map(|o| kernel.placement(o, tokens as u64).bytes as usize);
    inputs.sum::<usize>() + outputs.sum::<usize>()
}

/// Cuts the arena into sets, fills their operands, and writes down the arguments of each.
pub fn place(
    gpu: &Gpu,
    kernel: &Kernel,
    expected: &Expected,
    tokens: usize,
    arena: &Buffer,
) -> Result<Vec<Set>> {
    let size = |bytes: usize| bytes.next_multiple_of(256);
    let input_bytes: Vec<usize> =
        (0..kernel.ir.inputs.len()).map(|i| input_bytes(kernel, i, tokens)).collect();
    let places: Vec<_> =
        kernel.ir.outputs.iter().map(|o| kernel.placement(o, tokens as u64)).collect();
    let whole: usize = input_bytes.iter().map(|b| size(*b)).sum::<usize>()
        + places.iter().map(|p| size(p.bytes as usize)).sum::<usize>();
    let count = Gpu::sets(whole).min(arena.bytes / whole).max(1);
    gpu.stream.synchronize().map_err(fusec_codegen::cuda::launch::driver)?;
    let mut sets = Vec::with_capacity(count);
    for s in 0..count {
        let mut at = s * whole;
        let mut take = |bytes: usize| {
            at += size(bytes);
            at - size(bytes)
        };
        let inputs: Vec<usize> = input_bytes.iter().map(|b| take(*b)).collect();
        let outputs: Vec<usize> = places.iter().map(|p| take(p.bytes as usize)).collect();
        for (i, from) in inputs.iter().enumerate() {
            arena.fill(*from, &expected.inputs[i], input_bytes[i])?;
        }
        let args = kernel.source.args.iter().map(|a| match a.what {
            What::Input(i) => arena.address + inputs[i] as u64,
            What::InputStride(i) => (input_bytes[i] / tokens) as u64,
            What::Output(o) => arena.address + outputs[o] as u64,
            What::OutputStride(o) => places[o].stride,
            What::OutputGroupStride(o) => places[o].group_stride,
            What::Rows => tokens as u64,
        });
        sets.push(Set { args: args.collect(), outputs });
    }
    Ok(sets)
}

fn input_bytes(kernel: &Kernel, i: usize, tokens: usize) -> usize {
    let rows = if matches!(kernel.ir.inputs[i].role, InputRole::Rows(_)) { tokens } else { 1 };
    rows * kernel.input_cols(i) * kernel.ir.inputs[i].dtype.bytes() as usize
}
