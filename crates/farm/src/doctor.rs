//! What is looked at on a machine that is to be a farm's server or one of its agents. Nothing is changed, and nothing printed.

pub(crate) mod agents;
pub(crate) mod servers;

use std::fmt;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is as it should be.
    Fine,
    /// It works, and could be better.
    Note,
    /// It does not work.
    Lacks,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// What.
    pub what: &'static str,
    /// How it is.
    pub state: State,
    /// What was seen, in one line; where something is missing, what to do as well.
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

/// Bytes as people read them.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
