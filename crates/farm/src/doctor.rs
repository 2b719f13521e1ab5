//! Checks of a machine that is to be a farm's server or one of its agents. They change nothing and
//! print nothing.

pub(crate) mod agents;
pub(crate) mod servers;

use std::fmt;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing needs to be done.
    Fine,
    /// The item works but could be better.
    Note,
    /// The item does not work.
    Lacks,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The subject.
    pub what: &'static str,
    /// The result.
    pub state: State,
    /// The findings in one line; if something is missing, also what to do.
    pub said: String,
}

impl Check {
    pub fn fine(what: &'static str, said: impl Into<String>) -> Self {
        Self { what, state: State::Fine, said: said.into() }
    }

    pub fn note(what: &'static str, said: impl Into<String>) -> Self {
        Self { what, state: State::Note, said: said.into() }
    }

    pub fn lacks(what: &'static str, said: impl Into<String>) -> Self {
        Self { what, state: State::Lacks, said: said.into() }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Fine => "ok",
            State::Note => "note",
            State::Lacks => "missing",
        };
        writeln!(f, "{state:<8} {:<16} {}", self.what, self.said)
    }
}

/// Formats a size in bytes for display.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
