//! Constants whose values are a matter of judgment.

use std::time::Duration;

/// Default time limit of a whole job.
pub(super) const TIMEOUT: Duration = Duration::from_secs(1800);
/// Default memory limit for all processes of a job together, bytes.
pub(super) const MEMORY: u64 = 2 << 30;
/// Default limit on the number of processes and threads of a job.
pub(super) const PROCESSES: u64 = 512;
/// Free space required on the disk of the agent's directory, bytes, before a job starts and while
/// it runs.
pub(super) const FREE: u64 = 256 << 20;
/// Interval between checks whether a running job must be ended.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// Time after a failed command during which the agent waits for a signal to exit.
pub(super) const MOMENT: Duration = Duration::from_millis(200);
/// Interval between counts of the bytes that a job wrote.
pub(super) const COUNT: Duration = Duration::from_secs(2);
/// Interval between sends of the log.
pub(super) const SEND: Duration = Duration::from_secs(1);
/// Maximum size of a piece of the log, bytes.
pub(super) const PIECE: usize = 256 << 10;
/// Bytes of a log reserved for the agent's own lines at its end.
pub(super) const LAST_LINES: u64 = 4096;
/// Maximum size of a download, bytes.
pub(super) const LARGEST_DOWNLOAD: u64 = 512 << 20;
/// Maximum size of an index's answer, bytes.
pub(super) const LARGEST_INDEX: u64 = 64 << 20;
/// Maximum size of an unpacked archive, bytes.
pub(super) const UNPACKED: u64 = 2 << 30;
/// Maximum number of files in an archive.
pub(super) const FILES: u64 = 200_000;
/// Time limit for querying a runtime's version.
pub(super) const QUESTION: Duration = Duration::from_secs(20);
/// Time limit for fetching.
pub(super) const FETCHING: Duration = Duration::from_secs(600);
/// Maximum number of failed tests whose names are submitted.
pub(super) const FAILURES: usize = 50;
/// Pause before the next request if the server does not answer.
pub(super) const AWAY: Duration = Duration::from_secs(2);
/// Maximum pause between requests while the server does not answer.
pub(super) const LONG_AWAY: Duration = Duration::from_secs(60);
/// Durations of A/A runs, tried in this order until one of them is long enough.
pub(super) const CALIBRATION: [Duration; 3] =
    [Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(480)];
/// Maximum share of comparisons in an A/A run that may find a difference. A node is not trusted if
/// even the lower confidence limit of this share is greater.
pub(super) const FALSE_ALARMS: f64 = 0.05;
/// A node gets no benchmarks if its smallest detectable effect has grown by this factor since the first
/// calibration.
pub(super) const DRIFT: f64 = 2.0;
/// The smallest effect that a node must be able to detect in a run of one minute before it gets
/// benchmarks, as a ratio above 1.
pub(super) const DETECTS: f64 = 1.10;
/// Maximum number of agents for single jobs that run on a machine at the same time.
pub(super) const AT_ONCE: u32 = 64;
/// Maximum number of new versions of a project that are added at a time; the latest are chosen.
pub(super) const DISCOVERED: usize = 50;
