//! Reads arbitrary bytes as a sample file. A file that can be read must survive writing and
//! rereading unchanged.
#![no_main]

use assay_data::assay_file::{TRUNCATED_FILE, read_from, write};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let Ok(samples) = read_from(Cursor::new(bytes.to_vec()), "fuzz") else { return };
    let mut text = Vec::new();
    write(&samples, &mut text).expect("memory takes everything");
    let again = read_from(Cursor::new(text), "again").expect("what was written can be read");
    let kept = again.findings.iter().filter(|finding| !finding.is(TRUNCATED_FILE)).count();
    let findings = samples.findings.iter().filter(|finding| !finding.is(TRUNCATED_FILE)).count();
    assert_eq!(kept, findings);
    assert_eq!(again.subjects, samples.subjects);
    assert_eq!(again.metrics, samples.metrics);
    assert_eq!(again.environment, samples.environment);
    assert_eq!(again.stop, samples.stop);
    // Debug output distinguishes 0 from -0, but not missing values from each other.
    let text = |samples: &assay_data::Samples| {
        samples.observations().map(|o| format!("{o:?}\n")).collect::<String>()
    };
    assert_eq!(text(&again), text(&samples));
});
