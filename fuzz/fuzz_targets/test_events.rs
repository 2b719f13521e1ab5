//! Reads arbitrary bytes as a hook's output for a process of a suite. The events read from a file
//! are available after each of its lines: a process that is killed loses only the line that it was
//! writing.
#![no_main]

use assay_suites::events::read_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(whole) = read_bytes(bytes, "whole") else { return };
    let whole = whole.unwrap_or_default();
    assert!(whole.tests.iter().filter_map(|test| test.seconds).all(|seconds| seconds.is_finite() && seconds >= 0.0));
    let Some(middle) = bytes[..bytes.len() / 2].iter().rposition(|byte| *byte == b'\n') else { return };
    let before = read_bytes(&bytes[..=middle], "before").expect("its lines were read").unwrap_or_default();
    assert!(before.tests.len() <= whole.tests.len());
    assert!(before.tests.iter().zip(&whole.tests).all(|(before, whole)| before.name == whole.name));
});
