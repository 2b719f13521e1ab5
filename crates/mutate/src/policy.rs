//! Constants that are a matter of judgment.

use std::time::Duration;

/// Number of test runs before anything is changed. Tests that fail in some of these runs are flaky.
pub(crate) const BASELINES: usize = 3;
/// Factor by which tests may take longer with a change than without one, in addition to
/// [`PATIENCE_MORE`].
pub(crate) const PATIENCE: f64 = 4.0;
/// Additional time limit for tests with a change, since a busy machine can be slow for a while.
pub(crate) const PATIENCE_MORE: Duration = Duration::from_secs(8);
/// Additional time limit for tests in a process that has already loaded everything.
pub(crate) const FORKED_MORE: Duration = Duration::from_secs(3);
/// Additional CPU time in forks, after which a process is taken to be in an endless loop. CPU time
/// does not depend on how busy the machine is.
pub(crate) const COMPUTING_MORE: Duration = Duration::from_millis(250);
/// Like [`COMPUTING_MORE`], but for tests that are reloaded for each change, in seconds.
pub(crate) const DRIVEN_MORE: f64 = 1.0;
/// An endless loop is confirmed if the same tests without a change take at most this share of the
/// CPU time. The first tests in a process may have to load what later tests find already loaded.
pub(crate) const COMPUTING_SHARE: f64 = 0.25;
/// Minimum CPU time, in seconds, for a test program that was stopped early to count as being in an
/// endless loop. With less, it may have been waiting for something.
pub(crate) const COMPUTING_LEAST: f64 = 0.1;
/// Minimum share of a CPU time limit that a process must have used to count as stopped by the
/// limit. The system measures the time for the limit and the time that it reports in different
/// ways.
pub(crate) const NEARLY: f64 = 0.9;
/// Time limit of the whole suite without a change.
pub(crate) const LONGEST_SUITE: Duration = Duration::from_secs(3600);
/// Interval at which a run is checked for failed tests.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// Duration in seconds above which the tests of a test program are examined one by one, subject to
/// [`CHOOSING_SHARE`].
pub(crate) const SLOW_PROGRAM: f64 = 0.5;
/// Examining the tests of a program one by one may take at most this share of the time that all of
/// these tests would take for all changes that they reach.
pub(crate) const CHOOSING_SHARE: f64 = 0.25;
/// Maximum number of functions in which an error that must be detected is planted. They are tried
/// one after the other until a test detects the error.
pub(crate) const PROOFS: usize = 5;
/// Maximum size of a file written by a changed program, in MiB.
pub(crate) const LARGEST_FILE: u64 = 1024;
/// Maximum address space of a changed program, in MiB. Runtimes reserve much more than they use.
pub(crate) const MOST_MEMORY: u64 = 16 * 1024;
/// Share of the time that is used for trying mutants if coupling is also measured.
pub(crate) const SHARE_OF_MUTANTS: f64 = 0.6;
/// Share of a time budget that may be spent on repeating the tests without a change.
pub(crate) const SHARE_OF_BASELINE: f64 = 0.25;
/// Share of a time budget after which loading the tests once for all changes is given up, and no
/// further proofs are attempted.
pub(crate) const SHARE_OF_PROOF: f64 = 0.4;
/// Share of a time budget after which no more changes are tried. In the remaining time, compilers
/// compare survivors.
pub(crate) const SHARE_OF_TRYING: f64 = 0.95;
/// Time after the end of the budget at which all remaining processes are ended.
pub(crate) const BUDGET_MORE: Duration = Duration::from_secs(3);
/// Maximum number of changes in one build if there is a time budget.
pub(crate) const MOST_IN_A_HURRY: usize = 400;
/// Number of changes in the first build if there is a time budget. This build shows how long
/// compilers take on this machine. On a busy machine, a large build could use up all the time
/// before anything is tried.
pub(crate) const FIRST_IN_A_HURRY: usize = 50;
/// Share of the remaining time that the next build may take.
pub(crate) const SHARE_OF_A_BUILD: f64 = 0.4;
/// Share of the remaining time that may be spent on examining tests one by one if there is a time
/// budget.
pub(crate) const SHARE_OF_CHOOSING: f64 = 0.2;
/// Factor by which building in another copy may take longer than in the first one, since nothing is
/// compiled there yet. If the time budget is too short for that, only the first copy is used.
pub(crate) const TIMES_IN_ANOTHER_COPY: f64 = 3.0;
/// Time limit for compiling one file to compare it.
pub(crate) const LONGEST_QUESTION: Duration = Duration::from_secs(60);
/// Time limit for comparing all survivors of Go and Rust by their compiled code. Survivors that are
/// not compared by then remain undecided.
pub(crate) const LONGEST_ASKED: Duration = Duration::from_secs(120);
/// Maximum total size of the changed bodies in one build, in bytes. Compile time grows faster than
/// linearly with this size.
pub(crate) const LONGEST_BUILD: usize = 4 << 20;
/// Maximum number of changes in one build.
pub(crate) const MOST_IN_A_BUILD: usize = 20_000;
/// Maximum number of attempts at a build. Each attempt leaves out the changes that failed to
/// compile before.
pub(crate) const BUILDS: usize = 12;
