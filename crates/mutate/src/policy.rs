//! The numbers that are a matter of judgement.

use std::time::Duration;

/// So often the tests run without a change, before anything is changed: what fails in some of them is flaky.
pub(crate) const BASELINES: usize = 3;
/// With a change the tests may take so many times as long as without,
pub(crate) const PATIENCE: f64 = 4.0;
/// and this longer: a machine that is busy is slow for a while.
pub(crate) const PATIENCE_MORE: Duration = Duration::from_secs(8);
/// Where nothing has to be loaded first, this much longer.
pub(crate) const FORKED_MORE: Duration = Duration::from_secs(3);
/// There a process that computes without an end is known by its processor's time, of which it has this much more: a machine that is busy takes none of it.
pub(crate) const COMPUTING_MORE: Duration = Duration::from_millis(250);
/// The same, s, for tests that are loaded anew with each change.
pub(crate) const DRIVEN_MORE: f64 = 1.0;
/// That is believed if the same tests without a change take no more than a share of it: the first of them may load what others had found there.
pub(crate) const COMPUTING_SHARE: f64 = 0.25;
/// A test program that was ended soon has computed so long at least, s, or it may have waited for something.
pub(crate) const COMPUTING_LEAST: f64 = 0.1;
/// What was ended at a limit of its processor's time has used this share of it at least: the system counts in other ways than it reports.
pub(crate) const NEARLY: f64 = 0.9;
/// Without a change, the whole suite may take so long.
pub(crate) const LONGEST_SUITE: Duration = Duration::from_secs(3600);
/// A run is looked at so often, for whether a test failed already.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// Tests of a program that take longer than this together, s, are looked at one by one,
pub(crate) const SLOW_PROGRAM: f64 = 0.5;
/// where that takes no more than this share of the time which all of them would take with each change that reaches them.
pub(crate) const CHOOSING_SHARE: f64 = 0.25;
/// In so many functions a certain killer is planted, one after the other, until one is noticed.
pub(crate) const PROOFS: usize = 5;
/// A changed program may write files of this size at most, MiB,
pub(crate) const LARGEST_FILE: u64 = 1024;
/// and have so much address space, MiB: runtimes reserve much more than they use.
pub(crate) const MOST_MEMORY: u64 = 16 * 1024;
/// Where more is asked than which changes are noticed, these have so much of the time.
pub(crate) const SHARE_OF_MUTANTS: f64 = 0.6;
/// Share of a budget of time within which the tests without a change are repeated.
pub(crate) const SHARE_OF_BASELINE: f64 = 0.25;
/// Share of a budget of time after which tests are not loaded once for all changes, and nothing more is proven.
pub(crate) const SHARE_OF_PROOF: f64 = 0.4;
/// Share of a budget of time for trying changes; compilers compare survivors in the rest.
pub(crate) const SHARE_OF_TRYING: f64 = 0.95;
/// Time after the end of the budget at which everything that runs is ended.
pub(crate) const BUDGET_MORE: Duration = Duration::from_secs(3);
/// Most changes in one build, where a budget of time is set,
pub(crate) const MOST_IN_A_HURRY: usize = 400;
/// and in the first one, which tells how long compilers take here: on a busy machine a large one would use up the time, and nothing were tried.
pub(crate) const FIRST_IN_A_HURRY: usize = 50;
/// Share of the time left that the next build may take.
pub(crate) const SHARE_OF_A_BUILD: f64 = 0.4;
/// A compiler may take so long over a file.
pub(crate) const LONGEST_QUESTION: Duration = Duration::from_secs(60);
/// And over all survivors of Go and Rust: of those that are left nothing is known.
pub(crate) const LONGEST_ASKED: Duration = Duration::from_secs(120);
/// So many bytes of changed bodies stand in one build: compilers take longer than in proportion.
pub(crate) const LONGEST_BUILD: usize = 4 << 20;
/// And so many changes.
pub(crate) const MOST_IN_A_BUILD: usize = 20_000;
/// So often a build is begun again without what could not be built in it.
pub(crate) const BUILDS: usize = 12;
