//! What a store of runs holds, as screens: the list of runs, one run. Nothing is read or computed here.

mod log;
mod show;

pub use log::{Log, log};
pub use show::{Shown, show};

use assay_analysis::history::Run;
use jiff::Timestamp;

/// A time for people: of the universal clock, since runs of several places stand in one list.
pub(crate) fn time(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// A time for programs, RFC 3339.
pub(crate) fn rfc3339(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

/// The revision of a run for people: `+` marks one with changes that are in no commit.
pub(crate) fn revision_of(run: &Run) -> String {
    let changed = if run.changed { "+" } else { "" };
    run.revision.as_ref().map_or_else(|| "-".to_owned(), |r| format!("{}{changed}", r.short()))
}
