//! Checks and times every norm and activation kernel on this machine's GPU.
//!
//! Prints a table: microseconds, bytes, the time of a copy of as many bytes, and the ratio. Results are
//! compared with the interpreter's for all rows. `fusec-gpu --help` lists the options.

mod buffers;
mod copy;
mod jobs;
mod options;
mod report;
mod timing;
mod tune;
mod verify;

use fusec_codegen::cuda::launch;
use fusec_codegen::error::Result;
use fusec_codegen::instances;
use options::Options;

fn main() {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(o) => o,
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    };
    if let Err(e) = run(&options) {
        eprintln!("error: {e}");
        std::process::exit(1);
    }
}

fn run(options: &Options) -> Result<()> {
    let (library, sources) = instances::library();
    if let Some((arch, dir)) = &options.write {
        for job in jobs::jobs(options, &library, &sources)? {
            let dir = std::path::Path::new(dir).join(job.hidden.to_string());
            job.kernel.write(&dir, arch)?;
        }
        return Ok(());
    }
    let gpu = timing::Gpu::open()?;
    eprintln!("{} {}, {} multiprocessors", gpu.name, launch::arch(&gpu.context)?, gpu.sms);
    if options.tune {
        return tune::run(options, &library, &sources, &gpu);
    }
    let rows = jobs::run(options, &library, &sources, &gpu)?;
    report::print(options, &rows)
}
