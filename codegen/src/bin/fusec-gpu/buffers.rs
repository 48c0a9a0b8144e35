//! Device memory.

use cudarc::driver::result;
use fusec_codegen::cuda::launch::driver;
use fusec_codegen::error::Result;

/// A block of device memory.
pub struct Buffer {
    pub address: u64,
    pub bytes: usize,
}

impl Buffer {
    /// Memory with unknown contents.
    pub fn new(bytes: usize) -> Result<Buffer> {
        // SAFETY: freed once, on drop.
        let address = unsafe { result::malloc_sync(bytes.max(16)) }.map_err(driver)?;
        Ok(Buffer { address, bytes })
    }

    /// Copies `pattern` over and over until `bytes` are full.
    pub fn fill(&self, from: usize, pattern: &[u8], bytes: usize) -> Result<()> {
        let first = pattern.len().min(bytes);
        let start = self.address + from as u64;
        // SAFETY: all ranges lie inside this buffer.
        unsafe {
            result::memcpy_htod_sync(start, &pattern[..first]).map_err(driver)?;
            // Doubling keeps whole patterns: what is copied is a multiple of the pattern.
            let mut done = first;
            while done < bytes {
                let next = done.min(bytes - done);
                result::memcpy_dtod_sync(start + done as u64, start, next).map_err(driver)?;
                done += next;
            }
        }
        Ok(())
    }

    /// Sets a part to what no kernel writes everywhere.
    pub fn poison(&self, from: usize, bytes: usize) -> Result<()> {
        // SAFETY: a part of this buffer.
        unsafe { result::memset_d8_sync(self.address + from as u64, 0xa5, bytes) }.map_err(driver)
    }

    /// Copies a part back.
    pub fn read(&self, from: usize, into: &mut [u8]) -> Result<()> {
        // SAFETY: the caller's slice is as long as the range, which lies inside.
        unsafe { result::memcpy_dtoh_sync(into, self.address + from as u64) }.map_err(driver)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated by us, freed once.
        let _ = unsafe { result::free_sync(self.address) };
    }
}
