//! Loading and launching kernels.
