//! Invariants of everything that an importer returns for arbitrary input, shared by the targets of
//! importers.

use assay_data::assay_file::{read_from, write};
use assay_data::import::ImportError;
use assay_data::{ReadError, Samples};
use std::collections::HashSet;
use std::io::Cursor;

/// Name of a target's input in messages.
pub const NAME: &str = "fuzz";

/// Checks samples or an error against the importer's guarantees.
///
/// # Panics
/// If a guarantee is violated, which is what a fuzzer looks for.
pub fn check(read: Result<Samples, ImportError>, bytes: &[u8]) {
    match read {
        Ok(samples) => check_samples(&samples),
        Err(error) => check_error(&error, bytes),
    }
}

/// Values are finite or missing and belong to a subject, names are unique, and everything can be
/// written and read again.
fn check_samples(samples: &Samples) {
    let (subjects, metrics) = (samples.subjects.len(), samples.metrics.len());
    assert!(!samples.is_empty() || !samples.summaries.is_empty(), "nothing was read");
    let names: HashSet<_> = samples.subjects.iter().map(|subject| &subject.name).collect();
    assert_eq!(names.len(), subjects, "two subjects of one name");
    let names: HashSet<_> = samples.metrics.iter().map(|metric| &metric.name).collect();
    assert_eq!(names.len(), metrics, "two metrics of one name");
    for observation in samples.observations() {
        assert!(observation.subject < subjects);
        assert_eq!(observation.values.len(), metrics);
        assert!(observation.values.iter().all(|value| !value.is_infinite()));
    }
    for summary in &samples.summaries {
        assert!(summary.subject < subjects);
        assert!(names.contains(&summary.metric), "a summary of no metric");
        let numbers = [summary.mean, summary.sd, summary.standard_error, summary.median, summary.min, summary.max];
        assert!(numbers.into_iter().flatten().all(f64::is_finite), "a summary that is not finite");
    }
    let mut text = Vec::new();
    write(samples, &mut text).expect("memory takes everything");
    let again = read_from(Cursor::new(text), "again").expect("what was written can be read");
    assert_eq!(again.subjects, samples.subjects);
    assert_eq!(again.metrics, samples.metrics);
    assert_eq!(again.summaries, samples.summaries);
    assert_eq!(again.environment, samples.environment);
    assert_eq!(again.len(), samples.len());
}

/// A message is short, has no terminal control sequences, and any line it names exists.
fn check_error(error: &ImportError, bytes: &[u8]) {
    let said = error.to_string();
    // An error in a regular expression shows it with a marker below, and known formats are a list.
    let has_lines = matches!(error, ImportError::Pattern { .. } | ImportError::Unknown { .. });
    let is_obeyed = |c: char| c.is_control() && !(c == '\n' && has_lines);
    assert!(!said.contains(is_obeyed), "a control character in {said:?}");
    assert!(said.len() < 5000, "a message of {} bytes", said.len());
    // Compressed input has other lines than the given bytes.
    if let ImportError::Read(ReadError::Line { place, .. }) = error
        && !bytes.starts_with(b"\x1f\x8b")
    {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        assert!((1..=lines).contains(&place.line), "line {} of {lines}", place.line);
    }
}
