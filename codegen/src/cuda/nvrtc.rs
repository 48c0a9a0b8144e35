//! CUDA source to cubin.

use super::{cache, find};
use crate::error::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};

/// How every kernel is compiled: exact division and roots, subnormals kept, nothing contracted.
pub const OPTIONS: &[&str] =
    &["--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"];

/// One complaint of the compiler, at the template or `.fuse` line it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    /// `fusec/rowwise.cuh`, `passes/ops/norm.fuse`, ..
    pub file: String,
    /// Line in it.
    pub line: usize,
    /// What the compiler says.
    pub message: String,
}

/// Compiles for `arch` (`sm_90a`), or takes the result from the cache.
pub fn cubin(source: &str, file: &str, arch: &str) -> Result<Vec<u8>> {
    find::open_nvrtc()?;
    let key = cache::key(&[&version()?, arch, &OPTIONS.join(" "), source]);
    if let Some(found) = cache::read(&key) {
        return Ok(found);
    }
    let cubin = compile(source, file, arch)?;
    cache::write(&key, &cubin);
    Ok(cubin)
}

/// The compiler's version, such as `13.0`.
pub fn version() -> Result<String> {
    find::open_nvrtc()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: two valid places to write to.
    unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result().map_err(failed)?;
    Ok(format!("{major}.{minor}"))
}

fn failed(e: result::NvrtcError) -> Error {
    Error::new(format!("NVRTC failed: {e:?}"))
}

fn compile(source: &str, file: &str, arch: &str) -> Result<Vec<u8>> {
    let text = CString::new(source).map_err(|_| Error::new("a kernel's source has a zero byte"))?;
    let name = CString::new(file).unwrap_or_default();
    let program = Program(result::create_program(&text, Some(&name)).map_err(failed)?);
    let mut options: Vec<String> = OPTIONS.iter().map(|o| o.to_string()).collect();
    options.push(format!("--gpu-architecture={arch}"));
    // SAFETY: the program is alive.
    match unsafe { result::compile_program(program.0, &options) } {
        Ok(()) => program.cubin(),
        Err(e) => Err(program.explain(e, arch)),
    }
}

struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made by create_program, destroyed once. A failure leaks: nothing to be done.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

impl Program {
    fn cubin(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the size comes from the library, and the buffer has that size.
        unsafe {
            sys::nvrtcGetCUBINSize(self.0, &mut size).result().map_err(failed)?;
            let mut image = vec![0u8; size];
            sys::nvrtcGetCUBIN(self.0, image.as_mut_ptr().cast()).result().map_err(failed)?;
            Ok(image)
        }
    }

    fn explain(&self, e: result::NvrtcError, arch: &str) -> Error {
        // SAFETY: the program is alive; the log ends in a zero byte.
        let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        let bytes: Vec<u8> = log.iter().map(|c| *c as u8).collect();
        let log = CStr::from_bytes_until_nul(&bytes).map(|c| c.to_string_lossy().into_owned());
        let log = log.unwrap_or_default();
        let complaints = complaints(&log);
        if complaints.is_empty() {
            return Error::new(format!("NVRTC did not compile for {arch}: {e:?} {}", log.trim()));
        }
        let lines: Vec<String> =
            complaints.iter().map(|c| format!("{}:{}: {}", c.file, c.line, c.message)).collect();
        Error::new(format!("the generated CUDA does not compile for {arch}:\n{}", lines.join("\n")))
    }
}

/// The errors in a compiler's log: `file(12): error: message`.
pub fn complaints(log: &str) -> Vec<Complaint> {
    log.lines()
        .filter_map(|line| {
            let (place, message) = line.split_once("): error")?;
            let (file, number) = place.rsplit_once('(')?;
            let message = message.trim_start_matches(|c: char| c != ':').trim_start_matches(':');
            Some(Complaint {
                file: file.to_string(),
                line: number.parse().ok()?,
                message: message.trim().to_string(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_have_places() {
        let log = "passes/ops/norm.fuse(9): error: identifier \"z\" is undefined\n  x\n\
            fusec/memory.cuh(12): error #20: expected a \";\"\n1 error detected";
        let all = complaints(log);
        let said: Vec<String> =
            all.iter().map(|c| format!("{}:{} {}", c.file, c.line, c.message)).collect();
        assert_eq!(
            said,
            [
                "passes/ops/norm.fuse:9 identifier \"z\" is undefined",
                "fusec/memory.cuh:12 expected a \";\""
            ]
        );
    }
}
