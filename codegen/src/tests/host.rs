use super::all;
use crate::abi::What;
use crate::check::{Codes, Problem, Steps, compare_row, laid_out};
use crate::host::HostKernel;
use crate::instances::{Instance, library};
use crate::ir::{Op, Reduce, Space};
use crate::kernel::Kernel;
use crate::plan::Tuning;
use fusec_dsl::dtype::Dtype;
use fusec_engine::interp::Kind;
use std::collections::BTreeSet;

/// How a kernel is run.
#[derive(Clone, Copy)]
struct Run {
    rows: usize,
    kind: Kind,
    /// Blocks at most.
    grid: u32,
    /// Bytes between the rows of operands.
    gap: usize,
    tuning: Tuning,
}

const PLAIN: Run = Run {
    rows: 5,
    kind: Kind::Ordinary,
    grid: u32::MAX,
    gap: 0,
    tuning: Tuning { vec: None, threads_per_row: None, unaligned: false },
};

/// Bytes after each result that must stay as they are.
const GUARD: usize = 1 << 12;

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
        self.0.iter().flat_map(|w| w.to_le_bytes()).take(self.1).collect()
    }
}

/// Rows of `width` bytes with a gap after each.
fn spread(bytes: &[u8], width: usize, gap: usize) -> Vec<u8> {
    let gap = vec![0x3c; gap];
    bytes
        .chunks(width)
        .flat_map(|row| row.iter().chain(&gap).copied().collect::<Vec<_>>())
        .collect()
}

/// Runs a kernel on the CPU; one buffer a result, filled before with what no kernel writes.
fn execute(kernel: &Kernel, problem: &Problem, run: Run) -> Vec<Vec<u8>> {
    let host = HostKernel::build(&kernel.source, kernel.threads() as usize).unwrap();
    let width = |i: usize| kernel.input_cols(i) * kernel.ir.inputs[i].dtype.bytes() as usize;
    let operands = problem.inputs.iter().enumerate();
    let inputs: Vec<Aligned> =
        operands.map(|(i, t)| Aligned::of(&spread(&t.to_bytes(), width(i), run.gap))).collect();
    let rows = problem.rows as u64;
    let places: Vec<_> = kernel.ir.outputs.iter().map(|o| kernel.placement(o, rows)).collect();
    let outputs: Vec<Aligned> =
        places.iter().map(|p| Aligned::of(&vec![0xa5; p.bytes as usize + GUARD])).collect();
    let args = kernel.source.args.iter().map(|arg| match arg.what {
        What::Input(i) => inputs[i].address(),
        What::InputStride(i) => (width(i) + run.gap) as u64,
        What::Output(o) => outputs[o].address(),
        What::OutputStride(o) => places[o].stride,
        What::OutputGroupStride(o) => places[o].group_stride,
        What::Rows => rows,
    });
    let args: Vec<u64> = args.collect();
    assert!(kernel.fits(&args), "{}: misaligned", kernel.ir.fusion);
    // SAFETY: buffers have the sizes that the kernel's placement names.
    unsafe { host.run(kernel.grid(rows, run.grid), &args) }.unwrap();
    let inside = |(o, p): (&Aligned, &crate::kernel::Placement)| {
        let mut bytes = o.bytes();
        let guard = bytes.split_off(p.bytes as usize);
        assert!(guard.iter().all(|b| *b == 0xa5), "{} writes past a result", kernel.ir.fusion);
        bytes
    };
    outputs.iter().zip(&places).map(inside).collect()
}

fn sums_rows(kernel: &Kernel) -> bool {
    kernel.ir.nodes.iter().any(|n| n.op == Op::Reduce(Reduce::Sum) && n.space == Space::Row)
}

/// Compares every result with the interpreter's: bit for bit, or after a sum over the row within a step
/// of the code, and few of these.
fn check(i: &Instance, kernel: &Kernel, run: Run) {
    let (library, _) = library();
    let problem = Problem::random(kernel, run.rows, run.kind, 7);
    let want = problem.expected(&library, i).unwrap();
    let got = execute(kernel, &problem, run);
    for (o, output) in kernel.ir.outputs.iter().enumerate() {
        let place = format!("{}: `{}`", i.label(), output.name);
        let bytes = laid_out(kernel, output, &want[o], run.rows);
        assert_eq!(bytes.len(), got[o].len(), "{place}");
        let (a, b) = (
            Codes::new(kernel, output, &got[o], run.rows),
            Codes::new(kernel, output, &bytes, run.rows),
        );
        let each = (0..run.rows).map(|r| compare_row(&a, r, &b, r));
        let steps = each.fold(Steps::default(), Steps::and);
        let allowed = if sums_rows(kernel) { steps.total / 500 } else { 0 };
        assert!(steps.more == 0 && steps.one <= allowed, "{place}: {steps:?}");
        assert_eq!(a.dirty_padding(run.rows), 0, "{place}: padding is not zero");
    }
}

/// Checks instances that `wanted` picks by label, each different kernel once.
fn check_all(t: Dtype, w: Dtype, d: i64, run: Run, wanted: impl Fn(usize, &str) -> bool) {
    let (library, sources) = library();
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for i in all(&library, t, w, d) {
        let kernel = Kernel::new(&library, &sources, i.fusion, &i.bound, run.tuning).unwrap();
        if seen.insert(kernel.source.text.clone()) {
            count += 1;
            if wanted(count, &i.label()) {
                check(&i, &kernel, run);
            }
        }
    }
    assert!(count > 10, "{count} kernels");
}

#[test]
fn norms_agree_with_the_interpreter() {
    check_all(Dtype::Bf16, Dtype::Bf16, 512, PLAIN, |n, label| {
        n % 2 == 0 && label.contains("norm")
    });
}

#[test]
fn activations_agree_with_the_interpreter() {
    check_all(Dtype::Bf16, Dtype::Bf16, 512, PLAIN, |_, label| label.starts_with("silu"));
}

/// NaN, infinities, subnormals, zero rows; f16 with f32 weights; two blocks that take several rows.
#[test]
fn hostile_values_agree() {
    let run = Run { rows: 24, kind: Kind::Hostile, grid: 2, ..PLAIN };
    check_all(Dtype::F16, Dtype::F32, 128, run, |n, _| n % 5 == 0);
}

/// Rows that are no multiple of a vector, as an odd number of elements.
#[test]
fn ragged_rows_agree() {
    let run = Run { gap: 2, ..PLAIN };
    let plain = |label: &str| label.contains("static") || label.contains("token");
    let (library, sources) = library();
    for i in
        all(&library, Dtype::Bf16, Dtype::Bf16, 77).iter().filter(|i| plain(&i.label())).step_by(2)
    {
        let kernel = Kernel::new(&library, &sources, i.fusion, &i.bound, run.tuning).unwrap();
        assert!(!kernel.geometry().aligned);
        check(i, &kernel, run);
    }
}

/// Operands that are columns of something wider, aligned and not.
#[test]
fn strided_rows_agree() {
    let pick = |n: usize, _: &str| n % 11 == 0;
    check_all(Dtype::Bf16, Dtype::Bf16, 512, Run { gap: 64, ..PLAIN }, pick);
    let tuning = Tuning { unaligned: true, ..Tuning::default() };
    check_all(Dtype::Bf16, Dtype::Bf16, 512, Run { gap: 6, tuning, ..PLAIN }, pick);
}

/// Tiles of scales: more than one tile of rows, and what is outside is zero.
#[test]
fn tiles_of_scales_agree() {
    let run = Run { rows: 130, ..PLAIN };
    let tiled = |_: usize, label: &str| label == "silu_mul_quant[quant_nvfp4]";
    check_all(Dtype::Bf16, Dtype::Bf16, 640, run, tiled);
}

#[test]
fn misaligned_arguments_are_noticed() {
    let (library, sources) = library();
    let i = &all(&library, Dtype::Bf16, Dtype::Bf16, 512)[0];
    let kernel = Kernel::new(&library, &sources, i.fusion, &i.bound, Tuning::default()).unwrap();
    let mut args = vec![4096; kernel.source.args.len()];
    assert!(kernel.fits(&args));
    args[0] = 4098;
    assert!(!kernel.fits(&args), "an address");
    args[0] = 4096;
    args[1] = 1026;
    assert!(!kernel.fits(&args), "a stride");
}
