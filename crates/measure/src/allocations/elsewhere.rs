//! Counting what a program allocates: on Linux only, whose dynamic linker loads the counting library. Here is the answer that nothing can be
//! counted, by the same names.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::command::Command;

/// Why allocations cannot be counted.
#[derive(Clone, Copy, Debug, Error)]
#[error("allocations are counted on Linux only")]
pub struct CountingError;

/// One run to be counted: there is none.
#[derive(Debug)]
pub enum Counting {}

impl Counting {
    /// Begins nothing.
    ///
    /// # Errors
    ///
    /// [`CountingError`], always.
    pub fn start() -> Result<Self, CountingError> {
        Err(CountingError)
    }

    /// The variables of a command that is counted.
    ///
    /// # Errors
    ///
    /// None.
    pub fn environment(&self, _: &Command) -> Result<[(String, String); 2], CountingError> {
        match *self {}
    }

    /// What the processes of the run have counted.
    ///
    /// # Errors
    ///
    /// None.
    pub fn take(&self) -> Result<Vec<Record>, CountingError> {
        match *self {}
    }

    /// The programs that they have run.
    ///
    /// # Errors
    ///
    /// None.
    pub fn take_executed(&self) -> Result<BTreeSet<Executed>, CountingError> {
        match *self {}
    }
}

/// What one process has counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The file of its program.
    pub program: PathBuf,
    /// The counts.
    pub counts: Option<Counts>,
}

/// Calls that gave, resized or took back memory, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that gave a new block.
    pub allocations: u64,
    /// Calls that gave a block another size.
    pub reallocs: u64,
    /// Calls that gave a block back.
    pub frees: u64,
    /// Bytes as asked for, B.
    pub allocated_bytes: u64,
    /// The most usable bytes that were live at once, B.
    pub peak_bytes: Option<u64>,
}

/// A program that a counted process has run: there is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Executed {}

impl Executed {
    /// Why it was not counted.
    pub fn uncounted(&self) -> Option<Refusal> {
        match *self {}
    }
}

/// Why a program's allocations cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The program.
    pub program: PathBuf,
    /// The reason.
    pub why: Why,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.program.display(), self.why)
    }
}

/// A reason why allocations cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has a malloc of its own.
    OwnMalloc,
    /// It runs on another system than Linux.
    OtherSystem,
}

/// What is said of the program, behind its name.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OwnMalloc => "has a malloc of its own inside",
            Self::OtherSystem => "does not run on Linux",
        })
    }
}

/// What the counts of a program do not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The runtime or the allocator, as a name.
    pub runtime: &'static str,
    /// Where its memory comes from, in words.
    pub text: &'static str,
}

/// Why a program cannot be counted.
pub fn refusal(program: &Path) -> Option<Refusal> {
    Some(Refusal { program: program.to_owned(), why: Why::OtherSystem })
}

/// What its counts would not show: nothing is known of it.
pub fn notes(_program: &Path) -> Vec<Note> {
    Vec::new()
}
