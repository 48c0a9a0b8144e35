//! Where NVRTC is: pip wheels, toolkits, system folders.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What to do when it is nowhere.
pub const HOW_TO_GET_NVRTC: &str = "run `pip install nvidia-cuda-nvrtc` (no GPU needed), or set FUSEC_CUDA_PATH to a \
     folder that holds libnvrtc.so";

/// The NVRTC library, looked for once.
pub fn nvrtc() -> Result<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| folders().iter().find_map(|dir| newest(dir, "libnvrtc.so")));
    found
        .as_deref()
        .ok_or_else(|| Error::new(format!("NVRTC is not installed: {HOW_TO_GET_NVRTC}")))
}

/// Folders to look in, best first.
fn folders() -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for name in ["FUSEC_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"] {
        roots.extend(std::env::var_os(name).map(PathBuf::from));
    }
    roots.extend(std::env::var_os("VIRTUAL_ENV").map(PathBuf::from));
    if let Ok(here) = std::env::current_dir() {
        roots.extend(here.ancestors().map(|a| a.join(".venv")).filter(|v| v.is_dir()));
    }
    roots.extend(versions(Path::new("/usr/local"), "cuda"));
    let mut out: Vec<PathBuf> = roots.iter().flat_map(|r| inside(r)).collect();
    if let Some(paths) = std::env::var_os("LD_LIBRARY_PATH") {
        out.extend(std::env::split_paths(&paths));
    }
    for dir in [
        "/usr/local/nvidia/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
    ] {
        out.push(dir.into());
    }
    out.extend(python_packages().iter().flat_map(|r| inside(r)));
    out
}

/// Folders under a toolkit, a virtual environment or a site-packages that can hold libraries.
fn inside(root: &Path) -> Vec<PathBuf> {
    let mut out = vec![root.to_path_buf(), root.join("lib"), root.join("lib64")];
    out.push(root.join("targets/x86_64-linux/lib"));
    let mut packages = vec![root.to_path_buf()];
    packages.extend(versions(&root.join("lib"), "python").iter().map(|p| p.join("site-packages")));
    for package in packages {
        for wheel in ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu12/lib"] {
            out.push(package.join(wheel));
        }
    }
    out
}

/// Entries of a folder that begin with a name, the last in order first.
fn versions(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter(|e| e.file_name().to_string_lossy().starts_with(prefix));
    let mut all: Vec<PathBuf> = named.map(|e| e.path()).collect();
    all.sort();
    all.reverse();
    all
}

/// `libnvrtc.so`, `libnvrtc.so.13` or `libnvrtc.so.13.0.88` in a folder: the newest.
fn newest(dir: &Path, name: &str) -> Option<PathBuf> {
    versions(dir, name).into_iter().find(|p| p.is_file())
}

/// Where the `python3` on the path keeps its packages.
fn python_packages() -> Vec<PathBuf> {
    let script = "import site, sysconfig; \
        print('\\n'.join([sysconfig.get_path('purelib'), site.getusersitepackages(), *site.getsitepackages()]))";
    let output = Command::new("python3").args(["-c", script]).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

/// Makes the found library the one that a bare `libnvrtc.so.13` means in this process, and its
/// builtins too: the loader knows an open library by its own name.
pub fn open_nvrtc() -> Result<()> {
    static OPEN: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    let path = nvrtc()?;
    let open = OPEN.get_or_init(|| {
        if let Some(builtins) = path.parent().and_then(|d| newest(d, "libnvrtc-builtins.so")) {
            load_for_ever(&builtins)?;
        }
        load_for_ever(path)
    });
    open.clone().map_err(|e| Error::new(format!("{} does not load: {e}", path.display())))
}

fn load_for_ever(path: &Path) -> std::result::Result<(), String> {
    // SAFETY: NVIDIA's libraries have no initializers that matter to us.
    let library = unsafe { libloading::Library::new(path) }.map_err(|e| e.to_string())?;
    std::mem::forget(library);
    Ok(())
}
