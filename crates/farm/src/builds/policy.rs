//! Every number of a farm that is a judgment call: limits on retries, and on the amount of data
//! examined.

/// Number of times that a job is queued again because a machine was at fault or its node
/// disappeared.
pub const RETRIES: i64 = 3;
/// Delay before the first retry of a job that failed because of its machine, in ms; doubled for
/// each further retry.
pub const DELAY: i64 = 30_000;
/// Number of times that the same two versions are benchmarked on a target if the comparison is
/// inconclusive.
pub const ROUNDS: i64 = 4;
/// Number of leases ended, and of jobs queued again, in one transaction.
pub const SWEPT: i64 = 100;
/// Number of versions that are queued again, newest first, if the recipe has changed.
pub const AGAIN: i64 = 20;
/// Maximum length of a name, in bytes.
pub const LONGEST_NAME: usize = 200;
/// Maximum number of targets in one request for a lease.
pub const MOST_TARGETS: usize = 64;
/// Maximum number of facts of a target.
pub const MOST_FACTS: usize = 256;
/// Maximum length of the name or value of a fact, in bytes.
pub const LONGEST_FACT: usize = 1_024;
/// Default number of rows on a page of a list.
pub const PAGE: i64 = 50;
/// Maximum number of rows on a page.
pub const LARGEST_PAGE: i64 = 500;
/// Maximum number of rows examined for one page of builds of a state: if few of them match, a page
/// has fewer rows, and states where to continue.
pub const LOOKED_AT: i64 = 5_000;
/// Number of latest builds shown on pages.
pub const LATEST: i64 = 20;
