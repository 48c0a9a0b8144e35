use crate::emit::{HOST_MACHINE, shared_headers};
use std::process::Command;

/// The shortcuts of the headers, compiled for this machine, against plain formulas.
#[test]
fn shortcuts_are_exact() {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("numbers.cpp"), dir.path().join("numbers"));
    let text = [HOST_MACHINE, &shared_headers(), include_str!("numbers.cpp")].concat();
    std::fs::write(&source, text).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let built = Command::new(compiler)
        .args(["-std=c++17", "-O2", "-ffp-contract=off", "-w", "-DFUSEC_HOST"])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(program).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}
