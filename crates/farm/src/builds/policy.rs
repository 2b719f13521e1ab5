//! Policy constants of a farm: limits on retries, on sizes, and on the number of rows that a
//! request reads.

/// Maximum number of times that a job is queued again because its machine was at fault or its node
/// disappeared.
pub const RETRIES: i64 = 3;
/// Delay in ms before the first retry of a job that failed because of its machine. It doubles with
/// each further retry.
pub const DELAY: i64 = 30_000;
/// Maximum number of times that the same two versions are benchmarked on a target while the
/// comparison is inconclusive.
pub const ROUNDS: i64 = 4;
/// Maximum number of expired leases that one transaction ends.
pub const SWEPT: i64 = 100;
/// Maximum number of versions, newest first, that are queued again if a project's recipe or targets
/// change.
pub const AGAIN: i64 = 20;
/// Maximum length of a name, in bytes.
pub const LONGEST_NAME: usize = 200;
/// Maximum number of targets of a node, and of targets in a request for a lease.
pub const MOST_TARGETS: usize = 64;
/// Maximum number of facts of a target.
pub const MOST_FACTS: usize = 256;
/// Maximum length of the name or value of a fact, in bytes.
pub const LONGEST_FACT: usize = 1_024;
/// Default number of rows on a page of a list.
pub const PAGE: i64 = 50;
/// Maximum number of rows on a page.
pub const LARGEST_PAGE: i64 = 500;
/// Maximum number of rows examined for one page of a filtered list of builds. If few of them match,
/// the page has fewer rows and a cursor to continue from.
pub const LOOKED_AT: i64 = 5_000;
/// Number of latest builds that a page shows.
pub const LATEST: i64 = 20;
