//! Time of a launch: a graph of many launches over rotating buffers, replayed between two events.

use cudarc::driver::{result, sys};
use fusec_codegen::cuda::launch::{self, CudaContext, CudaStream, driver};
use fusec_codegen::error::Result;
use std::sync::Arc;

/// More than any second-level cache holds: buffers rotate through this much.
const COLD_BYTES: usize = 180 << 20;
/// Buffer sets at most, and at least.
const SETS: (usize, usize) = (2, 200);

/// A device with a stream.
pub struct Gpu {
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    pub name: String,
    pub sms: u32,
}

impl Gpu {
    /// The first GPU.
    pub fn open() -> Result<Gpu> {
        let context = launch::device(0)?;
        let stream = context.new_stream().map_err(driver)?;
        let sms = context
            .attribute(sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(driver)?;
        let name = context.name().map_err(driver)?;
        Ok(Gpu { context, stream, name, sms: sms as u32 })
    }

    /// How many sets of buffers of this size keep the cache cold.
    pub fn sets(bytes: usize) -> usize {
        COLD_BYTES.div_ceil(bytes.max(1)).clamp(SETS.0, SETS.1)
    }

    /// Microseconds of one launch; `launch(i)` puts the i-th on the stream. The median of replays.
    pub fn time(&self, launches: usize, launch: &dyn Fn(usize) -> Result<()>) -> Result<f64> {
        let stream = self.stream.cu_stream();
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is ours; the graph and its instance are destroyed below.
        unsafe {
            result::stream::begin_capture(stream, mode).map_err(driver)?;
            let put: Result<()> = (0..launches).try_for_each(launch);
            let graph = result::stream::end_capture(stream).map_err(driver)?;
            put?;
            let flags =
                sys::CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
            let exec = result::graph::instantiate(graph, flags).map_err(driver)?;
            let times = self.replay(exec, launches);
            result::graph::exec_destroy(exec).map_err(driver)?;
            result::graph::destroy(graph).map_err(driver)?;
            times
        }
    }

    /// # Safety
    ///
    /// The graph is instantiated and its buffers are alive.
    unsafe fn replay(&self, exec: sys::CUgraphExec, launches: usize) -> Result<f64> {
        let stream = self.stream.cu_stream();
        let flags = sys::CUevent_flags_enum::CU_EVENT_DEFAULT;
        let start = result::event::create(flags).map_err(driver)?;
        let end = result::event::create(flags).map_err(driver)?;
        let once = || -> Result<f64> {
            // SAFETY: as of this function.
            unsafe {
                result::event::record(start, stream).map_err(driver)?;
                result::graph::launch(exec, stream).map_err(driver)?;
                result::event::record(end, stream).map_err(driver)?;
                result::event::synchronize(end).map_err(driver)?;
                let ms = result::event::elapsed(start, end).map_err(driver)?;
                Ok(f64::from(ms) * 1e3 / launches as f64)
            }
        };
        once()?;
        let first = once()?;
        let replays = ((3000.0 / (first * launches as f64)) as usize).clamp(5, 31);
        let mut times = (0..replays).map(|_| once()).collect::<Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        // SAFETY: created above, destroyed once.
        unsafe {
            result::event::destroy(start).map_err(driver)?;
            result::event::destroy(end).map_err(driver)?;
        }
        Ok(times[times.len() / 2])
    }
}
