//! The numbers that are a matter of judgement.

use std::time::Duration;

/// All of a job may take so long, if its recipe does not say.
pub(super) const TIMEOUT: Duration = Duration::from_secs(1800);
/// Its processes may use so much memory together, bytes.
pub(super) const MEMORY: u64 = 2 << 30;
/// So many processes and threads at a time.
pub(super) const PROCESSES: u64 = 512;
/// So much has to be left on the disk of the agent's directory, bytes: before a job is begun, and while it runs.
pub(super) const FREE: u64 = 256 << 20;
/// While a job runs, one looks so often whether it is to be ended.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// After a command failed, one waits so long whether the agent is to end, too.
pub(super) const MOMENT: Duration = Duration::from_millis(200);
/// How much it wrote is counted so often.
pub(super) const COUNT: Duration = Duration::from_secs(2);
/// So often its log is sent.
pub(super) const SEND: Duration = Duration::from_secs(1);
/// In pieces of at most so many bytes.
pub(super) const PIECE: usize = 256 << 10;
/// Bytes of a log that are kept for what the agent itself says at its end.
pub(super) const LAST_LINES: u64 = 4096;
/// What is fetched is at most so large, bytes.
pub(super) const LARGEST_DOWNLOAD: u64 = 512 << 20;
/// An index's answer is not larger.
pub(super) const LARGEST_INDEX: u64 = 64 << 20;
/// Unpacked, an archive has at most so many bytes,
pub(super) const UNPACKED: u64 = 2 << 30;
/// and so many files.
pub(super) const FILES: u64 = 200_000;
/// A question to a program that is looked for may take so long.
pub(super) const QUESTION: Duration = Duration::from_secs(20);
/// Fetching may take so long.
pub(super) const FETCHING: Duration = Duration::from_secs(600);
/// So many names of failed tests are handed in.
pub(super) const FAILURES: usize = 50;
/// When nobody answers, one asks again after so long,
pub(super) const AWAY: Duration = Duration::from_secs(2);
/// and, after many times, so long.
pub(super) const LONG_AWAY: Duration = Duration::from_secs(60);
/// An A/A run takes so long; where that was not enough, the next, once more.
pub(super) const CALIBRATION: [Duration; 3] =
    [Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(480)];
/// In an A/A run so many comparisons may be called different before a node is not believed: the share, whose interval has to begin above it.
pub(super) const FALSE_ALARMS: f64 = 0.05;
/// A node is drained when the smallest effect that it sees grew by so much since the first calibration.
pub(super) const DRIFT: f64 = 2.0;
/// The smallest effect that a node has to see in a run of a minute, as a ratio above 1, to vote.
pub(super) const DETECTS: f64 = 1.10;
/// So many agents for one job alone may be at work on a machine at a time.
pub(super) const AT_ONCE: u32 = 64;
/// So many new versions of a project are added at a time: the latest.
pub(super) const DISCOVERED: usize = 50;
