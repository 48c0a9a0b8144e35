//! Tries geometries and grid limits, to choose the defaults.

use crate::buffers::Buffer;
use crate::copy::Copies;
use crate::jobs::{self, Job};
use crate::options::Options;
use crate::timing::Gpu;
use crate::verify;
use fusec_codegen::cuda::launch::Loaded;
use fusec_codegen::error::Result;
use fusec_codegen::kernel::Kernel;
use fusec_codegen::plan::Tuning;
use fusec_dsl::library::Library;
use fusec_dsl::source::SourceMap;

const THREADS: &[usize] = &[64, 128, 256, 512, 1024];
const VECTORS: &[usize] = &[8, 16];
/// Blocks per multiprocessor slot; 0 is one block a row.
const WAVES: &[u32] = &[0, 1];

/// Times every geometry of every wanted kernel.
pub fn run(o: &Options, library: &Library, sources: &SourceMap, gpu: &Gpu) -> Result<()> {
    let jobs = jobs::jobs(o, library, sources)?;
    let mut variants = Vec::new();
    for job in &jobs {
        for &threads in THREADS {
            for &vec in VECTORS {
                let tuning =
                    Tuning { vec: Some(vec), threads_per_row: Some(threads), unaligned: false };
                if let Ok(kernel) =
                    Kernel::new(library, sources, job.instance.fusion, &job.instance.bound, tuning)
                {
                    variants.push(Job {
                        instance: job.instance.clone(),
                        kernel,
                        hidden: job.hidden,
                    });
                }
            }
        }
    }
    let expected = verify::expect_all(library, &variants, false)?;
    let cubins = verify::compile_all(gpu, &variants)?;
    let arena = Buffer::new(4 << 30)?;
    let mut copies = Copies::new(gpu)?;
    for (i, job) in variants.iter().enumerate() {
        let loaded = Loaded::from_cubin(&gpu.context, &job.kernel, &cubins[i])?;
        let resident = loaded.blocks_per_sm()?;
        let mut cells = Vec::new();
        for &tokens in &o.tokens {
            let sets = jobs::place(gpu, &job.kernel, &expected[i], tokens, &arena)?;
            let copy = copies.time(jobs::bytes(&job.kernel, tokens))?;
            for &wave in WAVES {
                let limit = if wave == 0 { u32::MAX } else { resident * gpu.sms * wave };
                let grid = job.kernel.grid(tokens as u64, limit);
                let us = jobs::time(gpu, &loaded, &sets, grid)?;
                cells.push(format!("{tokens}/{wave}:{us:.2}({:.2})", us / copy));
            }
        }
        let g = job.kernel.geometry();
        println!(
            "{} {} t{} v{} i{} c{} r{} b{resident}: {}",
            job.hidden,
            job.instance.label(),
            g.threads_per_row,
            g.vec,
            g.items,
            g.chunks,
            loaded.attribute(
                cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_NUM_REGS
            )?,
            cells.join(" ")
        );
    }
    Ok(())
}
