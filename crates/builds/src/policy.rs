//! Every number of a farm that is a judgement: how often something is tried again, and how much is looked at.

/// How often a job is queued again because a machine was at fault, or whoever had it was not heard of again.
pub const RETRIES: i64 = 3;
/// What a job waits for before it is queued again because a machine was at fault, in ms: so long the first time, twice as long each time after.
pub const DELAY: i64 = 30_000;
/// How often the same two versions are benchmarked on a target, where the comparison could not be decided.
pub const ROUNDS: i64 = 4;
/// Leases that are ended, and jobs that are queued again, in one transaction.
pub const SWEPT: i64 = 100;
/// Versions that are queued again, the newest first, where what is done with each has changed.
pub const AGAIN: i64 = 20;
/// Bytes of a name.
pub const LONGEST_NAME: usize = 200;
/// Targets that one question for a lease may name.
pub const MOST_TARGETS: usize = 64;
/// Facts of a target, and bytes of the name or value of one.
pub const MOST_FACTS: usize = 256;
/// Bytes of the name or value of a fact.
pub const LONGEST_FACT: usize = 1_024;
/// Rows of a page of a list, where nobody says how many.
pub const PAGE: i64 = 50;
/// Rows of one at most.
pub const LARGEST_PAGE: i64 = 500;
/// Rows that are looked at for one page of builds of a state: where few are of it, a page has fewer, and says where to go on.
pub const LOOKED_AT: i64 = 5_000;
/// Builds that pages show the last of.
pub const LATEST: i64 = 20;
