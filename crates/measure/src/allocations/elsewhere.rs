//! Counterpart of allocation counting for systems other than Linux, where the counting library
//! can't be loaded: the same names, which report that nothing can be counted.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::command::Command;

/// Allocations can't be counted.
#[derive(Clone, Copy, Debug, Error)]
#[error("allocations can only be counted on Linux")]
pub struct CountingError;

/// A run to be counted; it has no values here.
#[derive(Debug)]
pub enum Counting {}

impl Counting {
    /// Always fails.
    ///
    /// # Errors
    ///
    /// [`CountingError`], always.
    pub fn start() -> Result<Self, CountingError> {
        Err(CountingError)
    }

    /// Returns the variables of a counted command.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn environment(&self, _: &Command) -> Result<[(String, String); 2], CountingError> {
        match *self {}
    }

    /// Returns the counts of the run's processes.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn take(&self) -> Result<Vec<Record>, CountingError> {
        match *self {}
    }

    /// Returns the programs that the counted processes have run.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn take_executed(&self) -> Result<BTreeSet<Executed>, CountingError> {
        match *self {}
    }
}

/// The counts of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Path of its program.
    pub program: PathBuf,
    /// The counts.
    pub counts: Option<Counts>,
}

/// Calls that allocate, resize or free memory, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that allocate a new block.
    pub allocations: u64,
    /// Calls that resize a block.
    pub reallocs: u64,
    /// Calls that free a block.
    pub frees: u64,
    /// Requested bytes.
    pub allocated_bytes: u64,
    /// Peak of live usable bytes.
    pub peak_bytes: Option<u64>,
}

/// A program run by a counted process. This type has no values on systems other than Linux.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Executed {}

impl Executed {
    /// Returns the reason why the program was not counted.
    pub fn uncounted(&self) -> Option<Refusal> {
        match *self {}
    }
}

/// A program whose allocations can't be counted, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Path of the program.
    pub program: PathBuf,
    /// Reason why its allocations can't be counted.
    pub why: RefusalReason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.program.display(), self.why)
    }
}

/// A reason why allocations can't be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The program has its own malloc.
    OwnMalloc,
    /// The operating system is not Linux.
    OtherSystem,
}

/// Writes the reason as a predicate, such as "contains its own malloc", to follow the program's
/// name.
impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OwnMalloc => "contains its own malloc",
            Self::OtherSystem => "does not run on Linux",
        })
    }
}

/// Memory that a program's counts do not include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the runtime or the allocator.
    pub runtime: &'static str,
    /// A description of where the program gets this memory, as a predicate for the user.
    pub text: &'static str,
}

/// Returns the reason why a program's allocations can't be counted. On systems other than Linux, no
/// program can be counted.
pub fn refusal(program: &Path) -> Option<Refusal> {
    Some(Refusal { program: program.to_owned(), why: RefusalReason::OtherSystem })
}

/// Returns notes on the allocations that the program's counts do not include. Always empty on
/// systems other than Linux.
pub fn notes(_program: &Path) -> Vec<Note> {
    Vec::new()
}
