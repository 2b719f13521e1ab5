//! The contents of a store of runs for the terminal: the list of runs, a single run, a benchmark
//! over its revisions, and a run compared with normal runs. Nothing is read or computed here.

mod blessings;
mod events;
mod gate;
mod log;
mod show;
mod trend;

pub use blessings::blessings;
pub use events::{EVENTS, EventsReport, events};
pub(crate) use events::{
    moved as series_and_change, place as place_of_event, sentence as sentence_of_events, ways,
};
pub(crate) use gate::sentence as sentence_of_gate;
pub use gate::{GateReport, badge, gate, junit, markdown as gate_markdown, sarif};
pub use log::{Log, log};
pub use show::{ShownRun, show};
pub use trend::{TrendReport, trend};
pub(crate) use trend::{
    place as where_it_lies, sentence as sentence_of_trend, size as change_size,
};

use assay_analysis::history::Run;
use jiff::Timestamp;

/// Formats a time for people, in UTC, since one list may contain runs from several places.
pub(crate) fn time(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Formats the date of a time.
pub(crate) fn date(ms: i64) -> String {
    time(ms).split(' ').next().unwrap_or_default().to_owned()
}

/// Formats a time for programs, as RFC 3339.
pub(crate) fn rfc3339(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

/// Formats the revision of a run for people. A `+` marks uncommitted changes.
pub(crate) fn revision_of(run: &Run) -> String {
    let changed = if run.changed { "+" } else { "" };
    run.revision.as_ref().map_or_else(|| "-".to_owned(), |r| format!("{}{changed}", r.short()))
}
