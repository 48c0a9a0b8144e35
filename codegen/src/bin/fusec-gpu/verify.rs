//! Results against the interpreter's.
//!
//! The interpreter computes [`BASE`] random rows; a launch repeats them, so every row of every size has
//! a known result.

use crate::buffers::Buffer;
use crate::jobs::{Job, Set};
use crate::timing::Gpu;
use fusec_codegen::check::{Codes, Problem, Steps, compare_row, laid_out};
use fusec_codegen::cuda::launch::{self, Loaded, driver};
use fusec_codegen::error::{Error, Result};
use fusec_codegen::kernel::Kernel;
use fusec_dsl::library::Library;
use fusec_engine::interp::Kind;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Different rows: a prime, so that they fall on all positions of tiles and blocks.
pub const BASE: usize = 509;

/// Operands of the base rows, and what comes out.
#[derive(Clone, Default)]
pub struct Expected {
    /// Bytes of each operand.
    pub inputs: Vec<Vec<u8>>,
    /// Bytes of each result, laid out by `kernel`.
    pub outputs: Vec<Vec<u8>>,
    /// The kernel whose layout that is.
    pub kernel: Option<Kernel>,
}

/// Runs `work` for every index on all cores; results in order.
fn parallel<T: Send>(count: usize, work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<T>>> = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        return;
                    }
                    let result = work(i);
                    if let Ok(mut done) = done.lock() {
                        done.insert(i, result);
                    }
                }
            });
        }
    });
    let done = done.into_inner().map_err(|_| Error::new("a worker died"))?;
    done.into_values().collect()
}

/// Operands of every job, and results if wanted. Jobs of one source share them.
pub fn expect_all(library: &Library, jobs: &[Job], results: bool) -> Result<Vec<Expected>> {
    let mut first: BTreeMap<(&str, i64), usize> = BTreeMap::new();
    let owner: Vec<usize> = jobs
        .iter()
        .enumerate()
        .map(|(i, j)| *first.entry((&j.kernel.source.text, j.hidden)).or_insert(i))
        .collect();
    let all = parallel(jobs.len(), |i| match owner[i] == i {
        true => expect(library, &jobs[i], results),
        false => Ok(Expected::default()),
    })?;
    Ok(owner.iter().map(|o| all[*o].clone()).collect())
}

fn expect(library: &Library, job: &Job, results: bool) -> Result<Expected> {
    let problem = Problem::random(&job.kernel, BASE, Kind::Ordinary, 11);
    let inputs = problem.inputs.iter().map(|t| t.to_bytes()).collect();
    let mut outputs = Vec::new();
    if results {
        let tensors = problem.expected(library, &job.instance)?;
        for (output, tensor) in job.kernel.ir.outputs.iter().zip(&tensors) {
            outputs.push(laid_out(&job.kernel, output, tensor, BASE));
        }
    }
    Ok(Expected { inputs, outputs, kernel: Some(job.kernel.clone()) })
}

/// Compiles every job's kernel for the device.
pub fn compile_all(gpu: &Gpu, jobs: &[Job]) -> Result<Vec<Vec<u8>>> {
    let arch = launch::arch(&gpu.context)?;
    parallel(jobs.len(), |i| jobs[i].kernel.cubin(&arch))
}

/// Launches once and compares every row of every result.
#[allow(clippy::too_many_arguments)]
pub fn check(
    gpu: &Gpu,
    job: &Job,
    loaded: &Loaded,
    expected: &Expected,
    tokens: usize,
    arena: &Buffer,
    set: &Set,
    grid: u32,
) -> Result<Vec<Steps>> {
    let kernel = &job.kernel;
    let sizes: Vec<usize> = kernel
        .ir
        .outputs
        .iter()
        .map(|o| kernel.placement(o, tokens as u64).bytes as usize)
        .collect();
    for (at, size) in set.outputs.iter().zip(&sizes) {
        arena.poison(*at, *size)?;
    }
    gpu.context.synchronize().map_err(driver)?;
    // SAFETY: the set's buffers lie in the arena.
    unsafe { loaded.launch(&gpu.stream, grid, &set.args)? };
    gpu.context.synchronize().map_err(driver)?;
    let owner = expected.kernel.as_ref().ok_or_else(|| Error::new("nothing is expected"))?;
    let mut all = Vec::new();
    for (o, output) in kernel.ir.outputs.iter().enumerate() {
        let mut bytes = vec![0; sizes[o]];
        arena.read(set.outputs[o], &mut bytes)?;
        let got = Codes::new(kernel, output, &bytes, tokens);
        let want = Codes::new(owner, &owner.ir.outputs[o], &expected.outputs[o], BASE);
        let mut steps = compare(&got, &want, tokens);
        steps.more += got.dirty_padding(tokens);
        all.push(steps);
    }
    Ok(all)
}

fn compare(got: &Codes, want: &Codes, rows: usize) -> Steps {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(rows);
    let each = rows.div_ceil(threads);
    std::thread::scope(|s| {
        let part = |t: usize| {
            move || {
                let range = t * each..((t + 1) * each).min(rows);
                range
                    .map(|r| compare_row(got, r, want, r % BASE))
                    .fold(Steps::default(), Steps::and)
            }
        };
        let workers: Vec<_> = (0..threads).map(|t| s.spawn(part(t))).collect();
        workers.into_iter().filter_map(|w| w.join().ok()).fold(Steps::default(), Steps::and)
    })
}
