use super::all;
use crate::abi::What;
use crate::check::{Codes, Problem, Steps, compare_row, laid_out};
use crate::host::HostKernel;
use crate::instances::{Instance, library};
use crate::ir::{Op, Reduce, Space};
use crate::kernel::Kernel;
use crate::plan::Tuning;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::Library;
use fusec_engine::interp::Kind;

/// Runs a kernel on the CPU; one buffer a result, filled with what no kernel writes.
fn run(kernel: &Kernel, problem: &Problem, grid: u32) -> Vec<Vec<u8>> {
    let host = HostKernel::build(&kernel.source, kernel.threads() as usize).unwrap();
    let inputs: Vec<Aligned> = problem.inputs.iter().map(|t| Aligned::of(&t.to_bytes())).collect();
    let rows = problem.rows as u64;
    let places: Vec<_> = kernel.ir.outputs.iter().map(|o| kernel.placement(o, rows)).collect();
    let mut outputs: Vec<Aligned> =
        places.iter().map(|p| Aligned::of(&vec![0xa5; p.bytes as usize])).collect();
    let args = kernel.source.args.iter().map(|arg| match arg.what {
        What::Input(i) => inputs[i].address(),
        What::InputStride(i) => kernel.input_cols(i) as u64 * kernel.ir.inputs[i].dtype.bytes(),
        What::Output(o) => outputs[o].address(),
        What::OutputStride(o) => places[o].stride,
        What::OutputGroupStride(o) => places[o].group_stride,
        What::Rows => rows,
    });
    let args: Vec<u64> = args.collect();
    assert!(kernel.fits(&args), "{}: misaligned", kernel.ir.fusion);
    // SAFETY: buffers have the sizes that the kernel's placement names.
    unsafe { host.run(grid, &args) }.unwrap();
    outputs.iter_mut().map(|o| o.bytes().to_vec()).collect()
}

/// Bytes at an address that is a multiple of 16.
struct Aligned(Vec<u128>, usize);

impl Aligned {
    fn of(bytes: &[u8]) -> Aligned {
        let words = bytes.chunks(16).map(|c| {
            let mut word = [0u8; 16];
            word[..c.len()].copy_from_slice(c);
            u128::from_le_bytes(word)
        });
        Aligned(words.collect(), bytes.len())
    }

    fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    fn bytes(&self) -> Vec<u8> {
        let all = self.0.iter().flat_map(|w| w.to_le_bytes());
        all.take(self.1).collect()
    }
}

fn sums_rows(kernel: &Kernel) -> bool {
    kernel.ir.nodes.iter().any(|n| n.op == Op::Reduce(Reduce::Sum) && n.space == Space::Row)
}

/// Compares every result; the steps of each.
fn check(
    library: &Library,
    i: &Instance,
    tuning: Tuning,
    rows: usize,
    kind: Kind,
    grid: u32,
) -> Vec<Steps> {
    let (_, sources) = crate::instances::library();
    let kernel = Kernel::new(library, &sources, i.fusion, &i.bound, tuning).unwrap();
    let problem = Problem::random(&kernel, rows, kind, 7);
    let want = problem.expected(library, i).unwrap();
    let got = run(&kernel, &problem, kernel.grid(rows as u64, grid));
    let mut all = Vec::new();
    for (o, output) in kernel.ir.outputs.iter().enumerate() {
        let bytes = laid_out(&kernel, output, &want[o], rows);
        assert_eq!(bytes.len(), got[o].len(), "{}: size of `{}`", i.label(), output.name);
        let (a, b) =
            (Codes::new(&kernel, output, &got[o], rows), Codes::new(&kernel, output, &bytes, rows));
        let steps = (0..rows).map(|r| compare_row(&a, r, &b, r)).fold(Steps::default(), Steps::and);
        if !sums_rows(&kernel) {
            assert_eq!(
                (steps.one, steps.more),
                (0, 0),
                "{}: `{}` {steps:?}",
                i.label(),
                output.name
            );
        }
        all.push(steps);
    }
    all
}

#[test]
fn agrees_with_the_interpreter() {
    let (library, _) = library();
    for i in all(&library, Dtype::Bf16, Dtype::Bf16, 512) {
        check(&library, &i, Tuning::default(), 5, Kind::Ordinary, u32::MAX);
    }
}
