//! Reads arbitrary bytes as a log: the first line is the marker, the rest the log. Every line
//! counts once, when split into pieces of any size.
#![no_main]

use assay_suites::log::{Marker, read};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read};

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (pattern, log) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end..]);
    let Ok(marker) = Marker::new(&pattern) else { return };
    let whole = read(log, &marker).expect("memory can be read");
    // A few bytes at a time.
    let (first, rest) = log.split_at(log.len().min(3));
    let pieces = read(Cursor::new(first).chain(rest), &marker).expect("memory can be read");
    assert_eq!(whole, pieces);
    let of_tests: u64 = whole.tests.iter().map(|test| test.lines).sum();
    assert_eq!(of_tests + whole.beyond, whole.lines);
    assert_eq!(whole.levels.iter().sum::<u64>(), whole.lines);
    assert_eq!(whole.bytes, log.len() as u64);
});
