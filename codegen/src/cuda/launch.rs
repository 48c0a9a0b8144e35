//! Loading and launching kernels.

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use cudarc::driver::{result, sys};
use std::ffi::{CString, c_void};
use std::sync::Arc;

pub use cudarc::driver::{CudaContext, CudaStream};

/// A kernel on a device.
pub struct Loaded {
    context: Arc<CudaContext>,
    module: sys::CUmodule,
    function: sys::CUfunction,
    threads: u32,
}

/// The first GPU, or why there is none.
pub fn device(ordinal: usize) -> Result<Arc<CudaContext>> {
    // SAFETY: only asks whether the library loads; cudarc panics if it is used without.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::new("no CUDA driver: libcuda.so is not on this machine"));
    }
    let context = CudaContext::new(ordinal).map_err(driver)?;
    // SAFETY: we order our streams ourselves; with tracking on, graph capture fails.
    unsafe { context.disable_event_tracking() };
    Ok(context)
}

/// `sm_90a` for compute capability 9.0: the target with the chip's own instructions.
pub fn arch(context: &CudaContext) -> Result<String> {
    let (major, minor) = context.compute_capability().map_err(driver)?;
    let suffix = if major >= 9 { "a" } else { "" };
    Ok(format!("sm_{major}{minor}{suffix}"))
}

/// A driver's error as ours.
pub fn driver(e: result::DriverError) -> Error {
    Error::new(format!("CUDA driver: {e}"))
}

impl Loaded {
    /// Compiles a kernel for the device and loads it.
    pub fn new(context: &Arc<CudaContext>, kernel: &Kernel) -> Result<Loaded> {
        let cubin = kernel.cubin(&arch(context)?)?;
        Loaded::from_cubin(context, kernel, &cubin)
    }

    /// Loads a compiled kernel.
    pub fn from_cubin(context: &Arc<CudaContext>, kernel: &Kernel, cubin: &[u8]) -> Result<Loaded> {
        context.bind_to_thread().map_err(driver)?;
        let name = CString::new(kernel.source.entry.as_str()).unwrap_or_default();
        // SAFETY: the image is a whole cubin; the function belongs to the module, kept beside it.
        unsafe {
            let module = result::module::load_data(cubin.as_ptr().cast()).map_err(driver)?;
            let function = result::module::get_function(module, name).map_err(driver)?;
            Ok(Loaded { context: context.clone(), module, function, threads: kernel.threads() })
        }
    }

    /// An attribute of the compiled function, such as its registers.
    pub fn attribute(&self, which: sys::CUfunction_attribute) -> Result<i32> {
        // SAFETY: the function is loaded.
        unsafe { result::function::get_function_attribute(self.function, which) }.map_err(driver)
    }

    /// Blocks of it that fit on one multiprocessor.
    pub fn blocks_per_sm(&self) -> Result<u32> {
        // SAFETY: the function is loaded.
        let blocks = unsafe {
            result::occupancy::max_active_block_per_multiprocessor(
                self.function,
                self.threads as i32,
                0,
            )
        };
        blocks.map(|b| b.max(1) as u32).map_err(driver)
    }

    /// Puts a launch on a stream.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, and their memory is valid until the launch has run.
    pub unsafe fn launch(&self, stream: &CudaStream, grid: u32, args: &[u64]) -> Result<()> {
        let mut pointers: Vec<*mut c_void> =
            args.iter().map(|a| std::ptr::from_ref(a).cast_mut().cast()).collect();
        let (grid, block) = ((grid, 1, 1), (self.threads, 1, 1));
        // SAFETY: the driver copies the arguments before it returns; the caller vouches for the rest.
        unsafe {
            result::launch_kernel(self.function, grid, block, 0, stream.cu_stream(), &mut pointers)
        }
        .map_err(driver)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: loaded by us, unloaded once.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}
