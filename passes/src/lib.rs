//! The standard library of fusion passes, embedded as `(path, text)`.

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        /// Every `.fuse` file of the library, sorted by path.
        pub const FILES: &[(&str, &str)] =
            &[$((concat!("passes/", $path), include_str!(concat!("../", $path)))),*];
    };
}

files! {
    "fuse_act_quant.fuse",
    "fuse_allreduce_rms.fuse",
    "fuse_norm_quant.fuse",
    "ops/activation.fuse",
    "ops/aten.fuse",
    "ops/comm.fuse",
    "ops/norm.fuse",
    "ops/primitives.fuse",
    "ops/quant.fuse",
    "ops/rope.fuse",
    "tests.fuse",
}
