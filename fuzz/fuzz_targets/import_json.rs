//! Imports data that starts like JSON: Google Benchmark, pyperf, pytest-benchmark, JMH, nanobench,
//! hyperfine, benchmark-ips, criterion, perf, `go test -json`, and unknown JSON.
#![no_main]

use assay_data::import::{ImportOptions, load_bytes};
use assay_fuzz::{NAME, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        check(load_bytes(bytes.to_vec(), NAME, &ImportOptions::default()), bytes);
    }
});
