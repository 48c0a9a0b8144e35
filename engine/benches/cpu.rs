//! Process CPU time, which other jobs on the machine disturb less than the wall clock.

use std::time::Duration;

/// CPU time of this process so far; the wall clock where the system has no such counter.
#[cfg(target_os = "linux")]
pub fn cpu_time() -> Duration {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    const PROCESS_CPU: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `time` is a valid `struct timespec` of 64-bit Linux, which libc fills.
    unsafe { clock_gettime(PROCESS_CPU, &mut time) };
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

/// CPU time of this process so far; the wall clock where the system has no such counter.
#[cfg(not(target_os = "linux"))]
pub fn cpu_time() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
