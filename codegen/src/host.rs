//! Runs a kernel on the CPU: the very source that NVRTC gets, with `hw_host.h` as its machine.

use crate::abi::{Arg, What};
use crate::cuda::cache;
use crate::emit::{self, Source};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel compiled for this machine.
pub struct HostKernel {
    run: libloading::Library,
}

const OPTIONS: &[&str] = &[
    "-x",
    "c++",
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
    "-w",
    "-DFUSEC_HOST",
];

impl HostKernel {
    /// Compiles a kernel for blocks of `threads` with the system's C++ compiler.
    pub fn build(source: &Source, threads: usize) -> Result<HostKernel> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let text = [emit::HOST_MACHINE, &source.text, &caller(source, threads)].concat();
        let key = cache::key(&["host", &compiler, &OPTIONS.join(" "), &text]);
        let dir = cache::folder().unwrap_or_else(std::env::temp_dir).join("host");
        let library = dir.join(format!("{key}.so"));
        if !library.exists() {
            compile(&compiler, &text, &dir, &library)?;
        }
        // SAFETY: our own code, without initializers.
        let run = unsafe { libloading::Library::new(&library) };
        Ok(HostKernel { run: run.map_err(|e| Error::new(format!("{}: {e}", library.display())))? })
    }

    /// Runs `grid` blocks. Kernels of one library must not run at the same time: the library is
    /// locked meanwhile.
    ///
    /// # Safety
    ///
    /// Every pointer among `args` must be valid for what the kernel reads and writes.
    pub unsafe fn run(&self, grid: u32, args: &[u64]) -> Result<()> {
        static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
        type Run = unsafe extern "C" fn(u32, *const u64);
        // SAFETY: the symbol has this type; the caller vouches for the arguments.
        unsafe {
            let run = self.run.get::<Run>(b"fusec_run");
            let run = run.map_err(|e| Error::new(format!("no entry point: {e}")))?;
            run(grid, args.as_ptr());
        }
        Ok(())
    }
}

/// C++ that calls the kernel with arguments from an array.
fn caller(source: &Source, threads: usize) -> String {
    let argument = |(i, arg): (usize, &Arg)| match arg.what {
        What::Input(_) | What::Output(_) => format!("(void*)a[{i}]"),
        _ => format!("(long long)a[{i}]"),
    };
    let list: Vec<String> = source.args.iter().enumerate().map(argument).collect();
    format!(
        "static void fusec_body(const void* p) {{\n    const auto* a = static_cast<const unsigned long long*>(p);\n    \
         {}({});\n}}\n\
         extern \"C\" void fusec_run(unsigned grid, const unsigned long long* a) {{\n    \
         fusec::hw::launch(grid, {threads}, fusec_body, a);\n}}\n",
        source.entry,
        list.join(", ")
    )
}

fn compile(compiler: &str, text: &str, dir: &Path, library: &Path) -> Result<()> {
    let io = |e: std::io::Error| Error::new(format!("{}: {e}", dir.display()));
    std::fs::create_dir_all(dir).map_err(io)?;
    let stem = format!("{}.{:?}", std::process::id(), std::thread::current().id());
    let stem: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    let (input, output): (PathBuf, PathBuf) =
        (dir.join(format!("{stem}.cpp")), dir.join(format!("{stem}.so")));
    std::fs::write(&input, text).map_err(io)?;
    let result = Command::new(compiler).args(OPTIONS).arg(&input).arg("-o").arg(&output).output();
    let _ = std::fs::remove_file(&input);
    let done = result.map_err(|e| {
        Error::new(format!(
            "the C++ compiler `{compiler}` does not run ({e}): install g++ or set CXX"
        ))
    })?;
    if !done.status.success() {
        let log = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(Error::new(format!("the generated C++ does not compile:\n{log}")));
    }
    std::fs::rename(&output, library).map_err(io)
}
