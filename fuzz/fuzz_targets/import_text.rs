//! Imports data that does not start like JSON: the text of Go, divan, perf, benchmark-ips, load
//! generators, logfmt, tables, Catch2's XML, columns.
#![no_main]

use assay_data::import::{ImportOptions, load_bytes};
use assay_fuzz::{NAME, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        check(load_bytes(bytes.to_vec(), NAME, &ImportOptions::default()), bytes);
    }
});
