//! Reports failed requests of a load test: how many, of which subject, and since when all failed.

use crate::analysis::Analysis;
use crate::failing;
use crate::number;
use crate::policy;
use crate::slices::Answers;
use assay_data::code;
use assay_data::{Finding, Severity};

/// Returns a finding for every subject of a load test that has failed requests. O(subjects).
pub(crate) fn requests_failed(analysis: &Analysis) -> Vec<Finding> {
    if analysis.search.is_some() {
        // Failing requests are expected in a search for the rate at which they begin.
        return Vec::new();
    }
    let of = |own: &Answers| {
        let (answered, failed) = (own.count("answered"), own.count("failed"));
        let share = failed as f64 / (answered + failed).max(1) as f64;
        let name = &analysis.subjects[own.subject].name;
        let mut message = format!(
            "{failed} of {} requests of {name} failed, {}",
            answered + failed,
            number::percent(share)
        );
        let since = failing::stopped(own);
        if let Some(since) = since {
            message += &format!("; from slice {since} of {} on all failed", own.by_slice.len());
        }
        let many = share >= policy::FAILING_SHARE || since.is_some();
        let severity = if many { Severity::Warning } else { Severity::Note };
        (failed > 0).then(|| {
            Finding::new(code::REQUESTS_FAILED, message)
                .at(severity)
                .about(name)
                .with("requests", (answered + failed) as f64)
                .with("failed", failed as f64)
        })
    };
    analysis.answers.iter().filter_map(of).collect()
}
