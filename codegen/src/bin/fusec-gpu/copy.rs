//! The honest floor: a plain kernel that moves as many bytes, timed the same way.

use crate::buffers::Buffer;
use crate::timing::Gpu;
use cudarc::driver::result;
use fusec_codegen::cuda::{launch, launch::driver, nvrtc};
use fusec_codegen::error::Result;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};

const SOURCE: &str = r#"
template <int UNROLL> __device__ void copy(const uint4* from, uint4* to, long long count) {
    const long long first = (long long)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    uint4 v[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; i++) if (first + i * blockDim.x < count) v[i] = from[first + i * blockDim.x];
#pragma unroll
    for (int i = 0; i < UNROLL; i++) if (first + i * blockDim.x < count) to[first + i * blockDim.x] = v[i];
}
extern "C" __global__ void copy1(const uint4* from, uint4* to, long long count) { copy<1>(from, to, count); }
extern "C" __global__ void copy2(const uint4* from, uint4* to, long long count) { copy<2>(from, to, count); }
extern "C" __global__ void copy4(const uint4* from, uint4* to, long long count) { copy<4>(from, to, count); }
"#;

/// Times of copies, by bytes read and written.
pub struct Copies<'a> {
    gpu: &'a Gpu,
    functions: Vec<(u64, cudarc::driver::sys::CUfunction)>,
    known: BTreeMap<usize, f64>,
    memory: Buffer,
}

impl<'a> Copies<'a> {
    /// Compiles the copy kernels.
    pub fn new(gpu: &'a Gpu) -> Result<Copies<'a>> {
        let cubin = nvrtc::cubin(SOURCE, "copy.cu", &launch::arch(&gpu.context)?)?;
        let mut functions = Vec::new();
        // SAFETY: the image is whole; the module lives as long as the process.
        unsafe {
            let module = result::module::load_data(cubin.as_ptr().cast()).map_err(driver)?;
            for unroll in [1, 2, 4] {
                let name = CString::new(format!("copy{unroll}")).unwrap_or_default();
                functions
                    .push((unroll, result::module::get_function(module, name).map_err(driver)?));
            }
        }
        let memory = Buffer::new(3 << 30)?;
        let noise: Vec<u8> =
            (0..1u32 << 20).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
        memory.fill(0, &noise, memory.bytes)?;
        Ok(Copies { gpu, functions, known: BTreeMap::new(), memory })
    }

    /// Microseconds of the fastest copy kernel that reads and writes `bytes` in all.
    pub fn time(&mut self, bytes: usize) -> Result<f64> {
        let one_side = (bytes / 2).next_multiple_of(16).max(16);
        if let Some(t) = self.known.get(&one_side) {
            return Ok(*t);
        }
        let slot = one_side.next_multiple_of(256);
        let sets = Gpu::sets(2 * slot).min(self.memory.bytes / (2 * slot)).max(1);
        let mut best = f64::INFINITY;
        for (unroll, function) in &self.functions {
            let count = (one_side / 16) as u64;
            let grid = count.div_ceil(256 * unroll) as u32;
            let launch = |i: usize| {
                let at = self.memory.address + (i % sets * 2 * slot) as u64;
                let args = [at, at + slot as u64, count];
                let mut list: Vec<*mut c_void> =
                    args.iter().map(|a| std::ptr::from_ref(a).cast_mut().cast()).collect();
                let stream = self.gpu.stream.cu_stream();
                // SAFETY: both halves of a set lie inside the memory.
                unsafe {
                    result::launch_kernel(
                        *function,
                        (grid, 1, 1),
                        (256, 1, 1),
                        0,
                        stream,
                        &mut list,
                    )
                }
                .map_err(driver)
            };
            best = best.min(self.gpu.time(sets, &launch)?);
        }
        self.known.insert(one_side, best);
        Ok(best)
    }
}
