//! Uses the first line as a `--metric`, and the rest as a program's output. The result must be
//! finite, or a single-line error without terminal control sequences.
#![no_main]

use assay_data::reading::{MetricSpec, Take};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len());
    let (Ok(text), output) = (std::str::from_utf8(&bytes[..end]), &bytes[end..]) else { return };
    let Ok(spec) = MetricSpec::parse(text) else { return };
    assert!(!spec.metric.name.is_empty());
    assert!(!(spec.wants_stdout() && spec.wants_stderr()));
    match spec.read(output, output) {
        Ok(reading) => {
            assert!(reading.value.is_finite());
            assert!(reading.all.len() != 1 && reading.all.iter().all(|value| value.is_finite()));
            assert!(spec.take != Take::One || reading.all.is_empty());
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
});
