//! Encodes the enums of the model as numbers for the store. The number of a value is its index in
//! the list of values of its enum, so new values are only appended to these lists. This module also
//! reads and writes the JSON in the store's columns.

use crate::builds::error::{FarmError, Stop};
use crate::builds::model::{Fault, Kind, Progress, State};
use crate::builds::shown::States;
use assay_history::db::{DbError, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

const FAULTS: [Fault; 5] =
    [Fault::Disk, Fault::Network, Fault::Toolchain, Fault::Memory, Fault::Sandbox];
const KINDS: [Kind; 2] = [Kind::Test, Kind::Bench];

// Numbers for the progress of a job. 0 (queued) and 4 (waiting to be queued again) occur only in
// the SQL statements.
/// Progress of a leased job.
pub(crate) const LEASED: i64 = 1;
/// Progress of a job that has ended with a build.
pub(crate) const DONE: i64 = 2;
/// Progress of a cancelled job.
pub(crate) const CANCELLED: i64 = 3;

pub(crate) fn of_state(state: State) -> i64 {
    state as i64
}

pub(crate) fn state(code: i64) -> State {
    at(&State::ALL, code).unwrap_or(State::Errored)
}

pub(crate) fn of_fault(fault: Fault) -> i64 {
    fault as i64
}

pub(crate) fn fault(code: i64) -> Option<Fault> {
    at(&FAULTS, code)
}

pub(crate) fn of_kind(kind: Kind) -> i64 {
    kind as i64
}

pub(crate) fn kind(code: i64) -> Kind {
    at(&KINDS, code).unwrap_or(Kind::Test)
}

pub(crate) fn progress(code: i64) -> Progress {
    match code {
        LEASED => Progress::Leased,
        DONE => Progress::Done,
        CANCELLED => Progress::Cancelled,
        _ => Progress::Queued,
    }
}

fn at<T: Copy>(all: &[T], code: i64) -> Option<T> {
    all.get(usize::try_from(code).ok()?).copied()
}

/// Reads the counts per state from a row, starting at column `from`.
pub(crate) fn states(row: &Row<'_>, from: usize) -> Result<States, DbError> {
    let mut states = States::new();
    for (place, state) in State::ALL.into_iter().enumerate() {
        let count: i64 = row.get(from + place)?;
        if count > 0 {
            states.insert(state, count.unsigned_abs());
        }
    }
    Ok(states)
}

/// Serializes `thing` as JSON.
pub(crate) fn json<T: Serialize>(thing: &T) -> Result<String, FarmError> {
    serde_json::to_string(thing).map_err(|error| FarmError::Bad(error.to_string()))
}

/// Parses JSON from the store, which an earlier version may have written.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Stop> {
    serde_json::from_str(text)
        .map_err(|error| FarmError::Conflict(format!("a row of the store: {error}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written() {
        for word in State::ALL {
            assert_eq!(state(of_state(word)), word);
        }
        for word in FAULTS {
            assert_eq!(fault(of_fault(word)), Some(word));
        }
        for word in KINDS {
            assert_eq!(kind(of_kind(word)), word);
        }
        assert_eq!(fault(99), None);
    }
}
