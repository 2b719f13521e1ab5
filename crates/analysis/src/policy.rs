//! The thresholds of judgement: from when on something is called coarse, drifting, dependent, disturbed, skewed or too little.
//!
//! They decide what is *said*, and which widening or refusal applies; the confidence and the threshold of a verdict are the user's
//! ([`Plan`](assay_data::Plan)). Every check, screen and page takes them from here, so that nobody calls a value coarse that another
//! calls fine. Each has its reason: a simulation (`analysis/tests`, `coverage`), a source, or the convention that it follows.
//! Constants of an algorithm (how many resamples, how many bins) and the layout of screens stay where they are used.

// Steps of the clock

/// Values of which at most this share is distinct come in steps: the smallest gap is then the clock's, and no accident. Of continuous
/// values practically all are distinct; a fifth of ties is far from chance.
pub const STEPPED_BELOW: f64 = 0.8;
/// A step beyond this share of the threshold makes a comparison coarse: what it hides, up to a step on either side, is then a
/// quarter of the threshold or more.
pub const COARSE_OF_THRESHOLD: f64 = 0.25;
/// Where nothing is compared, and so no threshold is given, a clock's step beyond this share of the median is coarse: a quarter of the
/// default threshold of 1 %.
pub const COARSE_OF_MEDIAN: f64 = 0.0025;
/// Any step beyond this share of the spread is most of what is seen of it.
pub const COARSE_OF_SPREAD: f64 = 0.5;
/// A step is described from this share of the median on: finer ones are the rounding of whoever wrote the file.
pub const SMALLEST_STEP: f64 = 1e-6;
/// Less than any processor needs for one instruction, s: work that takes no longer was optimised away.
pub const NO_TIME: f64 = 5e-11;

/// If two neighbouring steps have a larger share of the readings, these do not spread enough for rounding errors to cancel. For normal readings the
/// share is 85 % at a standard deviation of 0.7 steps, where the mean is off by 0.00002 of a step at most, and 95 % at 0.5 (0.002 of a step).
pub const WITHIN_TWO_STEPS: f64 = 0.85;

// Dependence of successive values

/// Below this share of effective values dependence is said, and widens what rests on it.
pub const DEPENDENT_BELOW: f64 = 0.9;
/// Below this share it is said whatever the neighbours say.
pub const SURELY_DEPENDENT_BELOW: f64 = 0.5;
/// Independent neighbours correlate by more than this over √n in 5 of 100 series (normal approximation, one-sided).
pub const DEPENDENCE_Z: f64 = 1.645;
/// Where a series is described by itself, its values are called autocorrelated where chance alone would make it seem so once in so many
/// series.
pub const DEPENDENCE_LEVEL: f64 = 0.05;
/// Of fewer values the autocorrelation time is all chance, and widens nothing.
pub const DEPENDENCE_FROM: usize = 10;
/// Of fewer values (or differences of blocks) dependence can't be tested, and that is said: at 20 a test at 1 % still misses one series in
/// eight whose neighbours correlate by 0.9; at 24 one in seventeen, at 50 none in thousands.
pub const TESTED_FROM: usize = 24;
/// Where the correlation of neighbours lies so many standard errors above what chance gives on average, it is noticed: an interval in blocks
/// is widened, a run does not stop, and it is said. 4 in 100 by chance. Of differences that wander by 0.9, 3 in 100 are then both false
/// and not noticed at 24 blocks, none at 50 (`tests/it/simulation/dependence.rs`).
pub const NOTICED_Z: f64 = 1.7;
/// From here on it is certain (by chance in 3 of 1,000), and with fewer than [`FEWEST_EFFECTIVE`] effective values there is no verdict.
pub const REFUSED_Z: f64 = 2.6;
/// Fewer effective values than this, certainly dependent ([`REFUSED_Z`]), and there is no verdict.
pub const FEWEST_EFFECTIVE: f64 = 10.0;
/// Of two sides with fewer than [`TESTED_FROM`] values, interquartile ranges that differ by more than this factor make ranks too sure: 15
/// values against 5 that spread five times as wide were called different in 7 to 8 % of simulated pairs, with Welch's interval covered in 5.
pub const UNLIKE_SPREADS: f64 = 1.25;
/// With fewer values on a side nothing can be said of its spread.
pub const SPREAD_FROM: usize = 6;

// When a run may stop by itself, beside the answer: after `TESTED_FROM` blocks and so many seconds

/// A run of fast commands that stops sooner has seen no drift and no neighbour come or go, s.
pub const SOONEST_SECONDS: f64 = 2.0;
/// Where a block lasts longer, s, [`FEWEST_SLOW_BLOCKS`] are enough to have seen time pass.
pub const SLOW_BLOCK_SECONDS: f64 = 0.5;
/// The fewest slow blocks after which a run may stop by itself.
pub const FEWEST_SLOW_BLOCKS: u32 = 10;

/// The looks of a run that stops by itself share so much of the error that is allowed. With the rest one may look after every block at the
/// level of the plan, and both together stay below the error that is allowed: 3.8 % of runs of up to 126 blocks (`tests/it/simulation/main.rs`).
pub const LOOKED_SHARE: f64 = 0.8;

/// One command alone is measured no longer once twice as many runs made the interval of its median no narrower than this share of what it
/// was: of independent values it would be 0.71.
pub const DIMINISHED: f64 = 0.85;
/// With fewer blocks at the earlier look the widths themselves waver too much to be compared.
pub const DIMINISHING_FROM: u32 = 50;
/// Nor is a look held against that came sooner, s: on a busy machine a disturbance lasts for seconds, and in 6 of the 13
/// recorded stretches that would have been given up after 4 to 9 s the interval was at least twice as wide as after 10 s.
pub const DIMINISHING_SECONDS: f64 = 10.0;
/// A direction's size is reported as a number where the half width of its interval is at most this share of the estimate. Runs that stop on a
/// direction exaggerate it: over true differences of 1 to 50 % and five kinds of noise the median of what is reported is then 0.91 to 1.12 times
/// the truth (`docs/concepts/deciding.md`, section 4; `tests/it/simulation/size.rs`).
pub const SIZE_KNOWN: f64 = 0.5;

/// Fewer builds than this on a side say nothing certain about how builds differ, and there is no verdict.
pub const FEWEST_BUILDS: usize = 3;
/// A comparison over builds goes on until the noise of its blocks makes no more than this share of its squared error: without it the
/// interval would be 13 % narrower.
pub const NOISE_SHARE: f64 = 0.25;
/// Or until the error that this noise makes is no more than this share of the threshold.
pub const NOISE_OF_THRESHOLD: f64 = 0.125;

// Drift, changes, rhythms

/// Fewest values for which a drift is looked for.
pub const DRIFT_FROM: usize = 20;
/// How far a drift's z must be from 0 to be said: 1 in 2,000 by chance.
pub const DRIFT_Z: f64 = 3.5;
/// A drift is worth a warning from this share of the standard deviation on, *and* from [`DRIFT_OF_MEDIAN`] on: of many values every
/// trifle is more than chance.
pub const DRIFT_OF_SPREAD: f64 = 0.1;
/// A drift is worth a warning from this share of the median on, and from [`DRIFT_OF_SPREAD`] on.
pub const DRIFT_OF_MEDIAN: f64 = 0.001;
/// The chance of seeing a change of level where there is none, in a series described by itself.
pub const CHANGE_LEVEL: f64 = 0.01;
/// Parts of a series whose medians differ by a smaller share are one part.
pub const CHANGE_TOLERANCE: f64 = 0.01;
/// The same chance in the four-step check, which refuses nothing for it and asks it of every series.
pub const UNSTEADY_LEVEL: f64 = 0.001;
/// The chance of seeing a rhythm in values that have none.
pub const PERIODIC_LEVEL: f64 = 0.001;
/// A rhythm matters where its ticks are off by this share of the spread of the values, or by [`TICK_OF_MEDIAN`].
pub const TICK_OF_SPREAD: f64 = 0.25;
/// A rhythm matters where its ticks are off by this share of the median of the values, or by [`TICK_OF_SPREAD`].
pub const TICK_OF_MEDIAN: f64 = 0.01;
/// Level at which an effect of the place within a block is said: one run in a thousand by chance.
pub const POSITION_LEVEL: f64 = 0.001;

// Shape

/// Fewer values have no shape: neither modes nor tails, skewness or kurtosis can be told from chance.
pub const SHAPE_FROM: usize = 20;
/// The dip test's p-value below which one mode is not believed (Hartigan & Hartigan, 1985).
pub const DIP_LEVEL: f64 = 0.02;
/// A valley between two modes is one where the density falls to this share of the lower hill.
pub const VALLEY: f64 = 0.8;
/// A mode holds at least this share of the values.
pub const MODE_SHARE: f64 = 0.02;
/// Values in fewer steps than these from end to end are single values, which smoothing would only hide: they have no density.
pub const DENSITY_STEPS: f64 = 8.0;
/// A distribution whose skewness is smaller looks the same from both sides.
pub const EVEN_SKEWNESS: f64 = 0.25;
/// An excess kurtosis this near that of a known distribution is called the same.
pub const SAME_KURTOSIS: f64 = 0.5;
/// A normal distribution is called wrong where it puts more than this share of the values on the wrong side …
pub const NORMAL_DISTANCE: f64 = 0.05;
/// … or where the skewness is larger …
pub const NORMAL_SKEWNESS: f64 = 1.0;
/// … or the excess kurtosis, …
pub const NORMAL_KURTOSIS: f64 = 3.0;
/// … and where besides chance alone would give such a fit once in so many samples; also the level at which the four-step check calls a
/// distribution rejected.
pub const NORMAL_LEVEL: f64 = 0.01;
/// Fewer values follow any distribution.
pub const DISTRIBUTIONS_FROM: usize = 8;
/// Fewest values for an interval of the median at 95 %: with five the extremes hold it in 93.75 % of samples.
pub const MEDIAN_FROM: usize = 6;
/// Fewest values on each side for differences of quantiles.
pub const QUANTILES_FROM: usize = 20;
/// Fewer values have no outliers.
pub const OUTLIERS_FROM: usize = 10;
/// Fewer values have no correlogram: every autocorrelation would be within its bounds.
pub const CORRELOGRAM_FROM: usize = 10;
/// An interval of the mean that ignores levels is called too narrow from this factor on.
pub const LEVELS_TOO_NARROW: f64 = 1.5;
/// An interval at 95 % that held the truth in a smaller share of simulated experiments is called optimistic: more than Monte-Carlo
/// error can make of it (2,000 experiments: ± 0.5 points).
pub const COVERAGE_LEAST: f64 = 0.94;

// Growth along a parameter

/// Fewest values of a parameter for a curve: two points make a line whatever is true.
pub const CURVE_POINTS: usize = 3;
/// Fewest blocks for an exponent.
pub const CURVE_BLOCKS: usize = 5;
/// Local exponents that differ by no more are called one power, even where the bend is real.
pub const CURVE_BEND: f64 = 0.1;
/// An exponent whose interval stays within this of 0 is hardly any dependence.
pub const CURVE_FLAT: f64 = 0.05;

// The machine, and what disturbs runs

/// Load per CPU above which other work is said to disturb.
pub const BUSY_PER_CPU: f64 = 0.5;
/// Load on the whole machine from which on other work is named as a possible cause of dependence.
pub const BUSY_AS_CAUSE: f64 = 1.0;
/// A process that takes less of a CPU disturbs nobody: it is about what a desktop's clock and panel take.
pub const BUSY_PROCESS: f64 = 0.02;
/// A process that takes more of a CPU is warned of, not only noted.
pub const VERY_BUSY_PROCESS: f64 = 0.2;
/// Share of a CPU below which a spinning program was not alone.
pub const FULL_SHARE: f64 = 0.95;
/// Share of all CPU time given to others by the hypervisor that is worth a warning about the machine.
pub const STOLEN_OF_MACHINE: f64 = 0.005;
/// Stolen share of one run's wall time from which on that run is disturbed. Larger than [`STOLEN_OF_MACHINE`]: steal time comes in ticks.
pub const STOLEN_OF_RUN: f64 = 0.01;
/// Interquartile ranges above the third quartile up to which a count of disturbances is usual (Tukey's far out).
pub const DISTURBED_FENCE: f64 = 3.0;
/// Fewest runs that say what is usual.
pub const USUAL_FROM: usize = 10;
/// Share of disturbed runs beyond which it is a finding.
pub const DISTURBED_SHARE: f64 = 0.05;
/// Fewer disturbed runs than this are no news, whatever their share.
pub const DISTURBED_FROM: usize = 3;
/// Chance of naming a cause of the spread where there is none, for all causes of a subject.
pub const CAUSE_LEVEL: f64 = 0.01;
/// Fewest runs of which a cause of the spread is said.
pub const CAUSE_FROM: usize = 20;
/// A smaller share of the spread is not worth a line.
pub const CAUSE_SHARE: f64 = 0.1;

/// Quantiles from here on (for what is better when higher, from 1 minus this down) are the tail that hurts.
pub const TAIL_FROM: f64 = 0.9;

// Too few

/// The fewest values in all for which bootstrap, power and dependence mean anything.
pub const FEWEST_VALUES: usize = 4;
/// Too few values even for so many times the threshold end the four-step check.
pub const TENFOLD: f64 = 10.0;
/// Fewest blocks whose spread a plan can rest on.
pub const FEWEST_PILOT_BLOCKS: usize = 5;
/// Fewer values of a pilot say nothing about their spread.
pub const FEWEST_PILOT_VALUES: usize = 3;
/// A pilot of fewer values hardly knows its own spread.
pub const SMALL_PILOT: usize = 30;
/// Fewest blocks to compare spreads: a quartile needs some runs beyond it.
pub const FEWEST_SPREAD_BLOCKS: usize = 20;
/// How often the machine's counters are read at least: enough for a verdict on what repeats nearly.
pub const FEWEST_READINGS: u32 = 12;

/// With fewer values there is nothing to draw resamples from.
pub const RESAMPLED_FROM: usize = 5;

// Plans

/// The significance that one usually asks for.
pub const USUAL_LEVEL: f64 = 0.05;
/// The power that one usually asks for (Cohen, "Statistical power analysis for the behavioral sciences", 1988).
pub const USUAL_POWER: f64 = 0.8;
/// A test that rejects in every second experiment without any difference is worth nothing.
pub const WORTHLESS_LEVEL: f64 = 0.5;

// Calibration

/// Fewest runs of a series that a machine is calibrated with: ten comparisons of 50 + 50 that share no run.
pub const CALIBRATED_FROM: usize = 1000;
/// How often a difference must be found to be called detectable on a machine: more often than a plan asks for, since a machine is
/// calibrated once for many runs.
pub const CALIBRATED_POWER: f64 = 0.9;
/// Confidence of the intervals of rates of false positives, and of the runs whose detectable difference is reported.
pub const CALIBRATED_CONFIDENCE: f64 = 0.95;

/// Rates of false positives beyond this are called bad: twice what is fair at 5 %.
pub const UNFAIR_RATE: f64 = 0.1;

// Load tests

/// A generator that is later than this, s, is late: less is what a busy kernel takes to wake anybody.
pub const LATE_SECONDS: f64 = 1e-3;
/// Lateness beyond this share of a latency is too much of it for the latency to be the server's.
pub const LATE_SHARE: f64 = 0.2;
/// A generator that has this share of a processor has no more to give: the rest goes to the kernel's bookkeeping.
pub const GENERATOR_BUSY: f64 = 0.97;
/// Chance below which it is ruled out that requests made one at a time missed a goal by accident.
pub const OUT_OF_REACH: f64 = 1e-4;
/// Failed requests of a single slice without answers from which on its server has stopped.
pub const FEWEST_FAILED: u64 = 10;
/// Share of all requests from which on those count as an absence that the server refused, broke off or answered wrongly, while the other
/// server did so at most one [`SPARED`]th as often. At random, servers that fail alike do not differ as much
/// (`failing.rs`: at most 5 % at each of 16 rates and lengths, by the sign test).
pub const BROKEN_SHARE: f64 = 0.05;
/// A server of whose requests the share that failed is smaller by this factor was spared.
pub const SPARED: f64 = 10.0;
/// A server that has nothing else to do and answers no request for so long, s, is away.
pub const ABSENT_SECONDS: f64 = 1.0;
/// A generator that was never later than this, s, ran while a server answered nothing: no machine that stands still explains that.
pub const ON_TIME_SECONDS: f64 = 0.1;
/// Difference of the shares of failed requests that matters where the threshold is not a share.
pub const FAILING_SHARE: f64 = 0.01;
/// A rate is held where at least this share of it is delivered; less means that a queue grows for as long as the slice lasts.
pub const DELIVERED: f64 = 0.95;

// What is normal over many runs

/// Fewest runs between two changes of a history, and fewest that show what is normal: of five the spread is known to within a factor of two.
pub const FEWEST_RUNS: usize = 5;
/// The chance of seeing a change of level in a history where there is none. A series has one look at it, however many runs it has; of many
/// series at once [`EVENTS_ERROR`] holds, too.
pub const LEVEL_CHANGED: f64 = 0.02;
/// The chance of saying that a series begins or ends on another level, for fewer runs than [`FEWEST_RUNS`], where it doesn't: a note that asks for
/// runs, no change. So four runs are apart from seven others at the earliest.
pub const SHORT_LEVEL: f64 = 0.05;
/// Of the events that a project is said to have, at most this share is false on average.
pub const EVENTS_ERROR: f64 = 0.05;
/// The chance of seeing a series creep that doesn't.
pub const CREEP_LEVEL: f64 = 0.01;
/// From the first third to the last it creeps by at least this share: twice what makes a change, since it takes many of them.
pub const CREEP_TOLERANCE: f64 = 2.0 * CHANGE_TOLERANCE;
/// Fewer runs do not creep: a third of them would hardly have a median.
pub const CREEP_FROM: usize = 30;
/// Tests that got slower longer ago are no news, days;
pub const SLOWER_DAYS: f64 = 30.0;
/// nor is what is smaller than this ratio: nobody would look into it.
pub const SLOWER_FROM: f64 = 1.1;
/// Confidence of the intervals that are told of them.
pub const SLOWER_CONFIDENCE: f64 = 0.95;
/// The chance of seeing a change of level among the runs that a gate takes for normal: smaller than [`LEVEL_CHANGED`], because a gate looks at all
/// benchmarks after every run, and knows little of a level that is none: at 2 %, 5.2 % of runs with heavy tails were alarms, at 1 % as without any such look 4.8 %.
pub const GATE_CHANGED: f64 = 0.01;
/// Of a level that has only begun so many runs are asked for: then they are enough for a change, too.
pub const GATE_RUNS: usize = 10;
/// The share of the error for a run that stands out alone; also for a better run, where the rest of the error belongs to the last three runs
/// together.
pub const GATE_ALONE: f64 = 0.3;
/// The level of the look at the last three runs together, as a multiple of the error that is allowed: with what [`GATE_CONFIRMED`] asks for in
/// addition, 0.5 to 2.5 % of good runs are alarms, and lasting steps as large as three of the deviations between runs are found within three
/// runs in more than 95 % (`history/gate/tests.rs`).
pub const GATE_TOGETHER: f64 = 1.4;
/// An alarm requires the mean of the last runs without the worst of them to exceed normal by this many deviations between runs, and the new run
/// by half of it: after a bad run 4 in 100 good ones are then alarms, without it 26.
pub const GATE_CONFIRMED: f64 = 1.35;
/// The step, in deviations, that passes this condition in 80 % of cases: the mean of the lower two of three is 0.42 below the mean of all, and wavers by 0.75.
pub const GATE_CONFIRMED_POWER: f64 = GATE_CONFIRMED + 0.42 + 0.84 * 0.75;
/// Runs farther from the median than so many robust standard deviations are brought in to there: of normal ones practically none is.
pub const GATE_REACH: f64 = 4.0;
/// The same of the last runs, which are looked at together: one run that stands out does not make an alarm of them.
pub const GATE_REACH_OF_LAST: f64 = 2.5;
/// Degrees of freedom of the distribution that a single run is held against at most. With five, runs of which every twentieth has three times
/// the deviation of the others are rarely called worse (`bench/normal.py`).
pub const GATE_DF_ALONE: f64 = 5.0;
/// A worsening is called detectable where it is found with this power, as everywhere.
pub const GATE_POWER: f64 = 0.8;

// Over the targets of a farm

/// Confidence of all that is said of a version's speed on its targets: in 5 of 100 versions anything of it is wrong.
pub const FARM_CONFIDENCE: f64 = 0.95;
/// The smallest share by which a difference on a target matters: that of all comparisons, where nobody says otherwise.
pub const FARM_THRESHOLD: f64 = 0.01;
/// The chance of saying that targets differ in what a version did to them, where they don't.
pub const FARM_DIFFER: f64 = 0.01;
/// So many other facts that tell the same targets apart are named.
pub const FARM_ALIKE: usize = 3;

// Searching commits

/// Blocks that compare the ends of a search at most: where runs differ by ten times the change, so many find it.
pub const BISECT_ENDS: u32 = 8_192;
/// Up to here the ends are looked at after every block, then at the planned looks alone: a look at thousands of blocks takes as long as a
/// short run.
pub const BISECT_LOOKED: u32 = 1_024;
/// Blocks in which a commit and its predecessor were both measured, before the change is called that commit's: fewer have no verdict anywhere.
pub const BISECT_PAIRS: usize = 10;
/// A commit that is built is measured again where it divides what is not known at least so well as the best one, which would be built: a build
/// takes longer than many runs.
pub const BISECT_BUILT: f64 = 0.6;
/// A commit with fewer runs is not called well known, however much builds differ.
pub const BISECT_WELL_KNOWN: usize = 5;
/// Commits on either side of those in question that are measured to learn what builds differ by.
pub const BISECT_NEIGHBOURS: usize = 8;
/// Where builds differ by themselves by so large a part of the change (standard deviation), an inconclusive search says that this is why.
pub const BISECT_LUCK: f64 = 0.25;

// Test suites

/// What the first test of a run takes longer than later ones is shown from here on, s: less matters to nobody who waits for a suite.
pub const FIRST_TEST_SECONDS: f64 = 0.001;

// Well tested, or tangled

/// Code of which the tests notice a smaller share of changes is untested: with fewer than that, every third mistake in it would stay unseen.
pub const TESTED: f64 = 0.66;
/// Where failures of a change are less local than this, code is tangled. How local they are is the share of the failing tests that are the code's own, over the number of
/// test files that fail, all of its own counted as one: 1 where one's own file fails alone; with one test of the whole program beside two of one's own it is 1/3; in an example made to be tangled 0.2.
pub const LOCAL: f64 = 0.3;
/// Where this share of rewrites, which mean the same, fail a test, the tests hold on to how the code is written.
pub const BRITTLE: f64 = 0.05;
