//! Thresholds from which data are called coarse, drifting, dependent, disturbed, skewed or too few.
//!
//! They determine which findings are reported, and which intervals are widened or withheld. The
//! confidence and the threshold of a verdict come from the user's [`Plan`](assay_data::Plan). All
//! checks, terminal output and pages use these constants, so they agree. Each is justified by a
//! simulation (`analysis/tests`, `coverage`), a source, or the convention it follows. Constants of
//! an algorithm (number of resamples, of bins) and of layout are kept where they are used.

// Steps of the clock

/// Values come in steps if at most this share of them is distinct; the smallest gap is then the
/// clock's step. Practically all continuous values are distinct, so ties of a fifth of the values
/// can't be chance.
pub const STEPPED_BELOW: f64 = 0.8;
/// A comparison is coarse if the clock's step exceeds this share of the threshold, because the
/// rounding, up to a step on either side, is then a quarter of the threshold or more.
pub const COARSE_OF_THRESHOLD: f64 = 0.25;
/// Without a comparison, and thus without a threshold, a clock's step is coarse beyond this share
/// of the median: a quarter of the default threshold of 1 %.
pub const COARSE_OF_MEDIAN: f64 = 0.0025;
/// A step beyond this share of the spread dominates the observed spread.
pub const COARSE_OF_SPREAD: f64 = 0.5;
/// Minimum share of the median for a reported step; finer steps are rounding by the program that
/// wrote the file.
pub const SMALLEST_STEP: f64 = 1e-6;
/// Time in seconds in which no processor completes an instruction. Work that takes no longer must
/// have been optimized away.
pub const NO_TIME: f64 = 5e-11;

/// If two neighboring steps contain a larger share of the readings, the spread is too small for
/// rounding errors to cancel. For normal readings the share is 85 % at a standard deviation of 0.7
/// steps, where the mean is off by 0.00002 of a step at most, and 95 % at 0.5 (0.002 of a step).
pub const WITHIN_TWO_STEPS: f64 = 0.85;

// Dependence of successive values

/// Effective share of the values below which dependence is reported and widens the intervals.
pub const DEPENDENT_BELOW: f64 = 0.9;
/// Effective share of the values below which dependence is reported regardless of the correlation
/// of neighbors.
pub const SURELY_DEPENDENT_BELOW: f64 = 0.5;
/// The lag-1 correlation of independent values exceeds this number divided by √n in 5 of 100 series
/// (normal approximation, one-sided).
pub const DEPENDENCE_Z: f64 = 1.645;
/// Significance level at which a single series is called autocorrelated.
pub const DEPENDENCE_LEVEL: f64 = 0.05;
/// With fewer values, the estimated autocorrelation time is mere chance and widens no interval.
pub const DEPENDENCE_FROM: usize = 10;
/// With fewer values (or differences of blocks), dependence can't be tested, as the report states.
/// With 20 values, a test at the 1 % level misses one in eight series with a lag-1 autocorrelation
/// of 0.9; with 24 one in seventeen, with 50 none of several thousand.
pub const TESTED_FROM: usize = 24;
/// Dependence is noticed if the correlation of neighbors is this many standard errors above its
/// average under independence. The interval in blocks is then widened, the run does not stop, and
/// the dependence is reported. This happens by chance in 4 of 100 series. Of series of differences
/// with autocorrelation 0.9, 3 in 100 give an unnoticed false result at 24 blocks, none at 50
/// (`tests/it/simulation/dependence.rs`).
pub const NOTICED_Z: f64 = 1.7;
/// Above this many standard errors (see [`NOTICED_Z`]), dependence is considered certain (by chance
/// in 3 of 1,000 series). With fewer than [`FEWEST_EFFECTIVE`] effective values, there is then no
/// verdict.
pub const REFUSED_Z: f64 = 2.6;
/// With fewer effective values than this and certain dependence ([`REFUSED_Z`]), there is no
/// verdict.
pub const FEWEST_EFFECTIVE: f64 = 10.0;
/// If two sides have fewer than [`TESTED_FROM`] values, rank tests are overconfident if the
/// interquartile ranges differ by more than this factor. In simulations, 15 values and 5 values
/// with five times the spread were called different in 7 to 8 % of pairs, and in 5 % after
/// including Welch's interval.
pub const UNLIKE_SPREADS: f64 = 1.25;
/// With fewer values on a side, the side's spread is unknown.
pub const SPREAD_FROM: usize = 6;

// Conditions for a run to stop by itself, apart from a clear answer: it must have `TESTED_FROM`
// blocks and have lasted these seconds.

/// Minimum duration of a run in seconds. A shorter run of fast commands cannot show drift or the
/// effect of other processes.
pub const SOONEST_SECONDS: f64 = 2.0;
/// If a block lasts longer than this many seconds, [`FEWEST_SLOW_BLOCKS`] are enough.
pub const SLOW_BLOCK_SECONDS: f64 = 0.5;
/// Minimum number of slow blocks after which a run may stop by itself.
pub const FEWEST_SLOW_BLOCKS: u32 = 10;

/// Share of the allowed error that is spent on the planned looks of a run that stops by itself. The
/// rest allows looks after every block at the plan's look level; the total stays below the allowed
/// error: 3.8 % of runs of up to 126 blocks (`tests/it/simulation/mod.rs`).
pub const LOOKED_SHARE: f64 = 0.8;

/// Measuring a single command stops if, after doubling the runs, the interval of its median is
/// still wider than this share of its earlier width; for independent values, the share would be
/// 0.71.
pub const DIMINISHED: f64 = 0.85;
/// With fewer blocks at the earlier look, the widths vary too much to be compared.
pub const DIMINISHING_FROM: u32 = 50;
/// Minimum time in seconds of the earlier look. On a busy machine a disturbance lasts for seconds:
/// in 6 of 13 recorded stretches that would have ended after 4 to 9 s, the interval was then at
/// least twice as wide as after 10 s.
pub const DIMINISHING_SECONDS: f64 = 10.0;
/// A ratio of medians that differs from the estimate by more than this share of the estimated
/// difference (of logarithms) is reported along with the estimate.
pub const MEDIANS_APART: f64 = 1.0 / 3.0;
/// The size of a difference is reported if the half width of its interval is at most this share of
/// the estimate. Runs that stop because of a direction exaggerate the size. With this limit, the
/// median reported size is 0.94 to 1.08 times the truth, over true differences of 1 to 50 % and
/// five kinds of noise. The only exception is one cell where only 2 % of the runs report a size
/// (1.37; `docs/concepts/deciding.md`, section 4; `tests/it/simulation/size.rs`).
pub const SIZE_KNOWN: f64 = 0.5;

/// With fewer builds on a side, the variation between builds is unknown, and there is no verdict.
pub const FEWEST_BUILDS: usize = 3;
/// A comparison over builds continues until the noise of its blocks contributes at most this share
/// of the squared error: without that noise the interval would be 13 % narrower.
pub const NOISE_SHARE: f64 = 0.25;
/// A comparison over builds also ends once the error due to block noise is at most this share of
/// the threshold.
pub const NOISE_OF_THRESHOLD: f64 = 0.125;

// Negative controls

/// With fewer negative controls, other rows are not judged against them: the range would be wider
/// than any difference worth finding, and a single odd control could not be recognized
/// (`analysis/tests/controls.rs`).
pub const FEWEST_CONTROLS: usize = 10;
/// Controls farther from the median than this many robust standard deviations are clipped. In
/// simulated suites with 23 controls, in which placement moves benchmarks by 0.5 % and a tenth of
/// them five times as far, an unchanged benchmark is called different in 6 % of suites, and a
/// change of 3 % is found in 92 %; with clipping at 4 in 7 % and 95 %, and without clipping in 6 %
/// and 87 %.
pub const CONTROLS_REACH: f64 = 6.0;

// Drift, changes, rhythms

/// Minimum number of values to test for drift.
pub const DRIFT_FROM: usize = 20;
/// Minimum |z| of a reported drift, reached by chance in 1 of 2,000 series.
pub const DRIFT_Z: f64 = 3.5;
/// Minimum share of the standard deviation for a warning about a drift, if it also exceeds
/// [`DRIFT_OF_MEDIAN`]: with many values, even a negligible drift is significant.
pub const DRIFT_OF_SPREAD: f64 = 0.1;
/// Minimum share of the median for a warning about a drift, if it also exceeds [`DRIFT_OF_SPREAD`].
pub const DRIFT_OF_MEDIAN: f64 = 0.001;
/// False-positive rate of detecting a change of level in a single series.
pub const CHANGE_LEVEL: f64 = 0.01;
/// Adjacent parts of a series whose medians differ by a smaller share are merged.
pub const CHANGE_TOLERANCE: f64 = 0.01;
/// False-positive rate of detecting a change of level in the four-step check, which tests every
/// series but never fails because of it.
pub const UNSTEADY_LEVEL: f64 = 0.001;
/// False-positive rate of detecting a rhythm.
pub const PERIODIC_LEVEL: f64 = 0.001;
/// A rhythm matters if its ticks deviate by this share of the spread of the values, or by
/// [`TICK_OF_MEDIAN`].
pub const TICK_OF_SPREAD: f64 = 0.25;
/// A rhythm matters if its ticks deviate by this share of the median of the values, or by
/// [`TICK_OF_SPREAD`].
pub const TICK_OF_MEDIAN: f64 = 0.01;

// Shape

/// Minimum number of values to describe the shape; with fewer, modes, tails, skewness and kurtosis
/// can't be distinguished from chance.
pub const SHAPE_FROM: usize = 20;
/// The dip test's p-value below which unimodality is rejected (Hartigan & Hartigan, 1985).
pub const DIP_LEVEL: f64 = 0.02;
/// Two modes are separated by a valley whose density is at most this share of the lower mode's.
pub const VALLEY: f64 = 0.8;
/// Minimum share of the values in a mode.
pub const MODE_SHARE: f64 = 0.02;
/// Values with fewer steps over their range get no density, since smoothing would only hide the
/// individual values.
pub const DENSITY_STEPS: f64 = 8.0;
/// A distribution with smaller skewness looks symmetric.
pub const EVEN_SKEWNESS: f64 = 0.25;
/// An excess kurtosis that differs from that of a known distribution by no more than this is called
/// the same.
pub const SAME_KURTOSIS: f64 = 0.5;
/// Largest distance between the distribution functions (the share of the values on the wrong side)
/// above which a normal distribution is called wrong.
pub const NORMAL_DISTANCE: f64 = 0.05;
/// Skewness above which a normal distribution is called wrong.
pub const NORMAL_SKEWNESS: f64 = 1.0;
/// Excess kurtosis above which a normal distribution is called wrong.
pub const NORMAL_KURTOSIS: f64 = 3.0;
/// Significance level that must also be met to call a normal distribution wrong, and at which the
/// four-step check calls a distribution rejected.
pub const NORMAL_LEVEL: f64 = 0.01;
/// With fewer values, any distribution fits.
pub const DISTRIBUTIONS_FROM: usize = 8;
/// Minimum number of values for an interval of the median at 95 %: with five, the extremes cover
/// the median in only 93.75 % of samples.
pub const MEDIAN_FROM: usize = 6;
/// Minimum number of values on each side for differences of quantiles.
pub const QUANTILES_FROM: usize = 20;
/// With fewer values, no outliers are reported.
pub const OUTLIERS_FROM: usize = 10;
/// With fewer values there is no correlogram: every autocorrelation would be within its bounds.
pub const CORRELOGRAM_FROM: usize = 10;
/// An interval of the mean that ignores levels is called too narrow if it should be wider by this
/// factor.
pub const LEVELS_TOO_NARROW: f64 = 1.5;
/// A 95 % interval is called optimistic if its simulated coverage is lower than this, which is more
/// than the Monte Carlo error explains (2,000 experiments: ± 0.5 points).
pub const COVERAGE_LEAST: f64 = 0.94;

// Growth along a parameter

/// Minimum number of parameter values for a curve: two points always make a line.
pub const CURVE_POINTS: usize = 3;
/// Minimum number of blocks for an exponent.
pub const CURVE_BLOCKS: usize = 5;
/// Local exponents that differ by no more than this are called one power, even if the bend is
/// significant.
pub const CURVE_BEND: f64 = 0.1;
/// An exponent whose interval is within this of 0 means hardly any dependence.
pub const CURVE_FLAT: f64 = 0.05;

// The machine, and what disturbs runs

/// Load per CPU above which other work is reported as a disturbance.
pub const BUSY_PER_CPU: f64 = 0.5;
/// Load of the whole machine above which other work is named as a possible cause of dependence.
pub const BUSY_AS_CAUSE: f64 = 1.0;
/// A process that uses a smaller share of a CPU is ignored: a desktop's clock and panel use about
/// this much.
pub const BUSY_PROCESS: f64 = 0.02;
/// A process that uses a larger share of a CPU gets a warning instead of a note.
pub const VERY_BUSY_PROCESS: f64 = 0.2;
/// A spinning program that gets a smaller share of a CPU was not alone.
pub const FULL_SHARE: f64 = 0.95;
/// Share of all CPU time stolen by the hypervisor above which the machine gets a warning.
pub const STOLEN_OF_MACHINE: f64 = 0.005;
/// Stolen share of a run's wall time above which the run counts as disturbed. Larger than
/// [`STOLEN_OF_MACHINE`] because steal time comes in ticks.
pub const STOLEN_OF_RUN: f64 = 0.01;
/// A count of disturbances is usual up to this many interquartile ranges above the third quartile
/// (values beyond are "far out" in Tukey's terms).
pub const DISTURBED_FENCE: f64 = 3.0;
/// Minimum number of runs to determine the usual counts.
pub const USUAL_FROM: usize = 10;
/// Share of disturbed runs above which a finding is reported.
pub const DISTURBED_SHARE: f64 = 0.05;
/// Minimum number of disturbed runs for a finding, regardless of their share.
pub const DISTURBED_FROM: usize = 3;
/// False-positive rate of naming a source of variance, over all sources for a subject.
pub const CAUSE_LEVEL: f64 = 0.01;
/// Minimum number of runs to name a source of variance.
pub const CAUSE_FROM: usize = 20;
/// Minimum share of the variance for a source to be listed.
pub const CAUSE_SHARE: f64 = 0.1;

/// Quantiles at or above this one belong to the tail; if higher values are better, those at or
/// below 1 minus this.
pub const TAIL_FROM: f64 = 0.9;

// Too few

/// Minimum number of values for bootstrap, power and dependence to be meaningful.
pub const FEWEST_VALUES: usize = 4;
/// The four-step check ends if the values do not suffice even for this multiple of the threshold.
pub const TENFOLD: f64 = 10.0;
/// Minimum number of pilot blocks to estimate the spread.
pub const FEWEST_PILOT_BLOCKS: usize = 5;
/// Minimum number of pilot values to estimate the spread.
pub const FEWEST_PILOT_VALUES: usize = 3;
/// A pilot with fewer values estimates its own spread poorly.
pub const SMALL_PILOT: usize = 30;
/// Minimum number of blocks to compare spreads: estimating a quartile requires some runs beyond it.
pub const FEWEST_SPREAD_BLOCKS: usize = 20;
/// Minimum number of readings of the machine's counters: enough for a verdict on nearly
/// reproducible counts.
pub const FEWEST_READINGS: u32 = 12;

/// Minimum number of values to resample from.
pub const RESAMPLED_FROM: usize = 5;

// Plans

/// The usual significance level.
pub const USUAL_LEVEL: f64 = 0.05;
/// The usual power (Cohen, "Statistical power analysis for the behavioral sciences", 1988).
pub const USUAL_POWER: f64 = 0.8;
/// Significance at or above which a test is worthless: it rejects in every second experiment even
/// without any difference.
pub const WORTHLESS_LEVEL: f64 = 0.5;

// Calibration

/// Minimum number of runs for a calibration: ten comparisons of 50 + 50 runs that have no runs in
/// common.
pub const CALIBRATED_FROM: usize = 1000;
/// Power at which a difference is called detectable on a machine. Higher than a plan's default
/// because a machine is calibrated once for many runs.
pub const CALIBRATED_POWER: f64 = 0.9;
/// Confidence of the intervals of false-positive rates, and of the runs for which a detectable
/// difference is reported.
pub const CALIBRATED_CONFIDENCE: f64 = 0.95;

/// A false-positive rate beyond this is called bad. It is twice the fair rate of 5 %.
pub const UNFAIR_RATE: f64 = 0.1;

// Load tests

/// Lag in seconds beyond which a load generator is late: about the time that a busy kernel needs to
/// wake a thread.
pub const LATE_SECONDS: f64 = 1e-3;
/// Share of a latency above which lateness makes the latency unreliable as a measure of the server.
pub const LATE_SHARE: f64 = 0.2;
/// CPU share at which a generator is saturated; the kernel's bookkeeping takes the rest.
pub const GENERATOR_BUSY: f64 = 0.97;
/// Probability below which chance is ruled out as the reason why sequential requests missed a goal.
pub const OUT_OF_REACH: f64 = 1e-4;
/// Minimum number of failed requests in a slice without answers for the server to count as stopped.
pub const FEWEST_FAILED: u64 = 10;
/// Share of all requests that a server must refuse, break off or answer incorrectly for this to
/// count as an absence, if the share of the other server is smaller by at least the factor
/// [`SPARED`]. Servers that fail equally often rarely differ that much by chance (`failing.rs`: at
/// most 5 % at each of 16 rates and lengths, by the sign test).
pub const BROKEN_SHARE: f64 = 0.05;
/// A server whose share of failed requests is smaller by this factor counts as spared.
pub const SPARED: f64 = 10.0;
/// Time in seconds without an answer after which an idle server is away.
pub const ABSENT_SECONDS: f64 = 1.0;
/// Maximum lateness in seconds of a generator that counts as running while a server did not answer:
/// a stalled machine would also have delayed the generator.
pub const ON_TIME_SECONDS: f64 = 0.1;
/// Difference between the shares of failed requests that matters if the threshold is not relative.
pub const FAILING_SHARE: f64 = 0.01;
/// A rate is sustained if at least this share of it is delivered; otherwise a queue grows during
/// the whole slice.
pub const DELIVERED: f64 = 0.95;

// Normal ranges over many runs

/// Minimum number of runs between two changes of a history, and for determining the normal level.
/// With five, the spread is known to within a factor of two.
pub const FEWEST_RUNS: usize = 5;
/// False-positive rate of detecting a change of level in a history. A series is tested once,
/// regardless of its number of runs; across many series, [`EVENTS_ERROR`] applies as well.
pub const LEVEL_CHANGED: f64 = 0.02;
/// False-positive rate of reporting that a series begins or ends on another level for fewer than
/// [`FEWEST_RUNS`] runs. This is not a change but a note that asks for more runs.
pub const SHORT_LEVEL: f64 = 0.05;
/// Maximum expected share of false events among those reported for a project.
pub const EVENTS_ERROR: f64 = 0.05;
/// False-positive rate when testing a series for creep.
pub const CREEP_LEVEL: f64 = 0.01;
/// Minimum relative change from the first third to the last for a series to creep: twice the
/// minimum of a change, since small steps add up.
pub const CREEP_TOLERANCE: f64 = 2.0 * CHANGE_TOLERANCE;
/// Minimum number of runs to test for creep: with fewer, the median of a third would be
/// meaningless.
pub const CREEP_FROM: usize = 30;
/// Tests that got slower more than this many days ago are not reported.
pub const SLOWER_DAYS: f64 = 30.0;
/// Minimum ratio for reporting a slower test; smaller ones are not worth investigating.
pub const SLOWER_FROM: f64 = 1.1;
/// Confidence of the intervals reported for slower tests.
pub const SLOWER_CONFIDENCE: f64 = 0.95;
/// False-positive rate of detecting a change of level among the runs that a gate takes for normal.
/// Smaller than [`LEVEL_CHANGED`] because a gate tests all benchmarks after every run, and a
/// spurious level has few runs: at 2 %, 5.2 % of runs with heavy tails raised alarms; at 1 %,
/// 4.8 %, the same as without any such test.
pub const GATE_CHANGED: f64 = 0.01;
/// Minimum number of runs on a new level, which is also enough to detect a change.
pub const GATE_RUNS: usize = 10;
/// Share of the error allotted to a run that stands out alone, and to a single better run. For
/// better runs, the remaining error is allotted to the last three runs together.
pub const GATE_ALONE: f64 = 0.3;
/// Level of the look at the last three runs together, as a multiple of the allowed error. With the
/// additional condition [`GATE_CONFIRMED`], 0.5 to 2.5 % of good runs raise alarms, and lasting
/// steps of three standard deviations between runs are found within three runs in more than 95 %
/// (`history/gate/tests.rs`).
pub const GATE_TOGETHER: f64 = 1.4;
/// An alarm requires that the mean of the last runs without the worst exceeds the normal level by
/// this many standard deviations between runs, and the new run by half as many. With this
/// condition, 4 in 100 good runs after a bad one raise alarms; without it, 26.
pub const GATE_CONFIRMED: f64 = 1.35;
/// The step, in standard deviations, that meets the condition of [`GATE_CONFIRMED`] in 80 % of
/// cases: the mean of the lower two of three is 0.42 below the mean of all, with a standard
/// deviation of 0.75.
pub const GATE_CONFIRMED_POWER: f64 = GATE_CONFIRMED + 0.42 + 0.84 * 0.75;
/// Runs farther from the median than this many robust standard deviations are clipped, which
/// affects practically no normal run.
pub const GATE_REACH: f64 = 4.0;
/// Like [`GATE_REACH`], but for the last runs evaluated together, so that a single outlier does not
/// cause an alarm.
pub const GATE_REACH_OF_LAST: f64 = 2.5;
/// Maximum degrees of freedom of the t distribution with which a single run is compared. With five,
/// a run is rarely called worse even if one run in twenty has three times the standard deviation of
/// the others (`bench/normal.py`).
pub const GATE_DF_ALONE: f64 = 5.0;
/// Power at which a worsening is called detectable.
pub const GATE_POWER: f64 = 0.8;

// Over the targets of a farm

/// Joint confidence of all statements about a version's speed on its targets: for 5 of 100
/// versions, at least one statement is wrong.
pub const FARM_CONFIDENCE: f64 = 0.95;
/// Smallest relative difference that matters on a target: the default of all comparisons.
pub const FARM_THRESHOLD: f64 = 0.01;
/// False-positive rate of reporting that machines (for the farm, targets) differ in the size of an
/// effect.
pub const MACHINES_DIFFER: f64 = 0.01;
/// Maximum number of other facts that are named because they separate the targets in the same way.
pub const FARM_ALIKE: usize = 3;

// Searches of commits

/// Maximum number of blocks that compare the ends of a search. It is enough if runs differ by ten
/// times the change.
pub const BISECT_ENDS: u32 = 8_192;
/// Number of blocks up to which the ends are evaluated after every block. After that, only the
/// planned looks are evaluated, since evaluating thousands of blocks takes as long as a short run.
pub const BISECT_LOOKED: u32 = 1_024;
/// Minimum number of blocks with both a commit and its predecessor before a change is attributed to
/// the commit. Fewer blocks allow no verdict.
pub const BISECT_PAIRS: usize = 10;
/// A commit that is already built is preferred to the best candidate if it splits the remaining
/// ones at least this well, relative to the best split: a build takes longer than many runs.
pub const BISECT_BUILT: f64 = 0.6;
/// A commit with fewer runs is not called well known, regardless of how much builds differ.
pub const BISECT_WELL_KNOWN: usize = 5;
/// Number of commits on either side of the candidates that are measured to estimate the variation
/// between builds.
pub const BISECT_NEIGHBOURS: usize = 8;
/// If builds alone vary by at least this share of the change (standard deviation), an inconclusive
/// search names this as the reason.
pub const BISECT_LUCK: f64 = 0.25;

// Test suites

/// Minimum extra time in seconds of the first test of a run for it to be shown; less is not
/// noticeable.
pub const FIRST_TEST_SECONDS: f64 = 0.001;

// Well tested, or tangled

/// Code is untested if its tests detect a smaller share of changes, in which case about every third
/// mistake would go undetected.
pub const TESTED: f64 = 0.66;
/// Code is tangled if the failures caused by a change are less local than this. Locality is the
/// code's own share of the failing tests, divided by the number of failing test files, with all its
/// own files counted as one. It is 1 if only the code's own file fails, 1/3 for one test of the
/// whole program and two of the code's own, and 0.2 in an artificial tangled example.
pub const LOCAL: f64 = 0.3;
/// If at least this share of equivalent rewrites makes a test fail, the tests depend on how the
/// code is written.
pub const BRITTLE: f64 = 0.05;
