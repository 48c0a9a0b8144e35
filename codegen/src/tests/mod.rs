//! Kernels of the shipped library: every one lowers, compiles, and agrees with the interpreter.

mod lower;
