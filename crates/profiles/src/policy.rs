//! Thresholds for judging profiles: when a sampler has delivered too little, samples are too few,
//! or functions are too small.
//!
//! Thresholds for times are in `policy` of the analysis crate, which this crate does not depend on.
//! The thresholds here determine what is reported and which functions are compared; a verdict about
//! a function uses the confidence and the threshold chosen by the user.

/// A sampler that delivered less than this share of the requested rate is reported: the inaccuracy
/// of timers is less than a tenth.
pub const DELIVERED: f64 = 0.9;
/// With fewer samples, the error of a share of one half exceeds ± 10 percentage points (normal
/// approximation, 95 %).
pub const FEW_SAMPLES: u64 = 100;
/// With fewer samples of a test, the error of a share of one half exceeds ± 20 percentage points.
pub const FEW_SAMPLES_OF_TEST: u64 = 25;
/// Tests with less than this share of all samples are not expected to reach
/// [`FEW_SAMPLES_OF_TEST`].
pub const SMALLEST_TEST: f64 = 0.01;
/// A test without samples that took this many periods of a wall-clock sampler was not seen: the
/// probability of missing it by chance is e⁻²⁰.
pub const UNSEEN_PERIODS: f64 = 20.0;
/// A larger share of missed samples is reported: shares are shown to about one percentage point.
pub const MISSED: f64 = 0.02;
/// From this share of missed samples on, the finding is a warning: the order of the largest
/// functions may change.
pub const MISSED_MANY: f64 = 0.1;
/// A thread whose samples exceed its CPU time and its time spent runnable by more than this factor
/// was waiting: the error of sampling single moments is smaller.
pub const WAITED: f64 = 2.0;
/// Tolerance, in sampling periods, when sampled time is compared with the kernel's CPU time: even a
/// thread that is active only once may be sampled.
pub const PERIODS: f64 = 2.0;
/// A profile is reported if the kernel confirms less than this share of the sampled time.
pub const COUNTED: f64 = 0.9;
/// A larger share of samples in code without a name is reported: the rest no longer shows where the
/// time was spent.
pub const NAMELESS: f64 = 0.2;
/// Functions with less than this share of all samples of both programs are not compared: each
/// comparison uses up part of the error probability. The selection does not depend on the
/// difference.
pub const SMALLEST_FUNCTION: f64 = 0.01;
/// Maximum share of the CPU time that perf may have missed for it to be distributed in proportion
/// to the samples; a larger share gets a separate entry.
pub const UNSEEN: f64 = 0.1;
/// If samples account for less than this share of the CPU time, they may have missed most of the
/// program's work.
pub const SEEN: f64 = 0.5;
