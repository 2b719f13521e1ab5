//! Reads arbitrary text as a recording for a load test: of a browser, request times or a server's
//! log, a table of values.
#![no_main]

use assay_load::{replay, session_of_har, values};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(found) = replay(text) {
        assert!(found.times.is_sorted() && found.times.iter().all(|time| *time >= 0.0));
        assert!(found.asked.is_empty() || found.asked.len() == found.times.len());
    }
    if let Ok((requests, _)) = session_of_har(text) {
        assert!(requests.iter().all(|request| request.think_seconds >= 0.0));
    }
    if let Ok((columns, rows)) = values(text.as_bytes()) {
        assert!(rows.iter().all(|row| row.len() == columns.len()));
    }
});
