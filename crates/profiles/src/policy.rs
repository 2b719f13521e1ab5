//! The thresholds of judgement about profiles: from when on a sampler has not delivered, samples are too few, functions too small.
//!
//! Those about times are in `policy` of the analysis, which this crate does not know. They decide what is *said*, and which functions
//! are asked about; a verdict about a function has the confidence and the threshold that the user chose.

/// A sampler that delivered less than this share of the rate that was asked for is reported: a tenth is more than timers are off by.
pub const DELIVERED: f64 = 0.9;
/// With fewer samples a share of one half is not even known to ± 10 percentage points (normal approximation, 95 %).
pub const FEW_SAMPLES: u64 = 100;
/// With fewer samples of a test a share of one half of it is not even known to ± 20 percentage points.
pub const FEW_SAMPLES_OF_TEST: u64 = 25;
/// Of tests with less than this share of all samples nobody expects more.
pub const SMALLEST_TEST: f64 = 0.01;
/// A test without any sample that took so many periods of a sampler of time as it passes was not seen: by chance alone that is one in e²⁰.
pub const UNSEEN_PERIODS: f64 = 20.0;
/// A larger share of missed samples is reported: shares are shown to about a percentage point.
pub const MISSED: f64 = 0.02;
/// From this share of missed samples on it is a warning: the order of the largest functions may change.
pub const MISSED_MANY: f64 = 0.1;
/// A thread whose samples come to more than so many times the processor time that it had or queued for has waited: a sampler that looks at
/// a moment is off by less.
pub const WAITED: f64 = 2.0;
/// Not counting so many periods of the sampler: a thread that moves once may well be hit.
pub const PERIODS: f64 = 2.0;
/// With less than this share of the sampled time borne out by the kernel it is reported.
pub const COUNTED: f64 = 0.9;
/// A larger share of samples in code without a name is reported: what is left no longer says where the time went.
pub const NAMELESS: f64 = 0.2;
/// Functions with less than this share of all that was sampled, both programs together, are not asked about: every question takes a part
/// of the error. The choice knows nothing of the difference.
pub const SMALLEST_FUNCTION: f64 = 0.01;
/// Share of the processor time below which samples may have missed what a program mostly does.
pub const SEEN: f64 = 0.5;
