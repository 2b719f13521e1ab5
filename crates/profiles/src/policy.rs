//! Thresholds for judging profiles. They define when a sampler has delivered too little, when
//! samples are too few, and when functions are too small.
//!
//! Thresholds for times are in `policy` of the analysis crate, which this crate does not depend on.
//! The thresholds here determine what is reported and which functions are compared. A verdict on a
//! function uses the confidence and the threshold chosen by the user.

/// Minimum share of the requested sampling rate that a sampler has to deliver. A lower share is
/// reported, since the inaccuracy of timers alone is less than a tenth.
pub const DELIVERED: f64 = 0.9;
/// Minimum number of samples of a profile. With fewer samples, the error of a share of one half
/// exceeds ± 10 percentage points (normal approximation, 95 %).
pub const FEW_SAMPLES: u64 = 100;
/// Minimum number of samples of a test. With fewer samples, the error of a share of one half
/// exceeds ± 20 percentage points.
pub const FEW_SAMPLES_OF_TEST: u64 = 25;
/// Tests with less than this share of all samples are not expected to reach
/// [`FEW_SAMPLES_OF_TEST`].
pub const SMALLEST_TEST: f64 = 0.01;
/// Duration, in periods of a wall-clock sampler, after which a test without samples is reported as
/// not seen. The probability of missing it by chance is e⁻²⁰.
pub const UNSEEN_PERIODS: f64 = 20.0;
/// Maximum share of missed samples that is not reported. Shares are shown to about one percentage
/// point.
pub const MISSED: f64 = 0.02;
/// Maximum share of missed samples for which the finding is only a note. A larger share may change
/// the order of the largest functions and gives a warning.
pub const MISSED_MANY: f64 = 0.1;
/// Factor by which a thread's sampled time must exceed its CPU time plus the time it was runnable
/// for the thread to count as waiting. Random sampling error is smaller than this factor.
pub const WAITED: f64 = 2.0;
/// Tolerance, in sampling periods, for comparing sampled time with the kernel's CPU time. Even a
/// thread that runs only once, briefly, may be sampled.
pub const PERIODS: f64 = 2.0;
/// Minimum share of the sampled time that the kernel's CPU time has to confirm. A lower share is
/// reported.
pub const COUNTED: f64 = 0.9;
/// Maximum share of samples in code without a name that is not reported. With a larger share, the
/// named functions no longer show where the time was spent.
pub const NAMELESS: f64 = 0.2;
/// Minimum share of all samples of both programs for a function to be compared. Smaller functions
/// are left out because every comparison uses up part of the allowed error probability. The
/// selection does not depend on the difference between the programs.
pub const SMALLEST_FUNCTION: f64 = 0.01;
/// Maximum share of the CPU time missed by perf that is distributed over the functions in
/// proportion to their samples. A larger share gets an entry of its own.
pub const UNSEEN: f64 = 0.1;
/// Minimum share of the CPU time that the samples have to account for. With less, they may have
/// missed most of the program's work.
pub const SEEN: f64 = 0.5;
