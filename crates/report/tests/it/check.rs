//! The answers of `assay check` when nothing was measured.

use assay_data::Threshold;
use assay_report::check::{CheckReport, Compared, Unmeasured, markdown, screen};
use assay_report::terminal::Screen;

#[test]
fn a_program_that_does_not_build_is_named_and_is_no_success() {
    let compared = Compared::default();
    let unmeasured = |is_failure| Unmeasured {
        program: "parser".to_owned(),
        why: "the build of the base ended with status 101".to_owned(),
        is_failure,
    };
    for is_failure in [true, false] {
        let unmeasured = [unmeasured(is_failure)];
        let report = CheckReport {
            compared: &compared,
            programs: &[],
            unmeasured: &unmeasured,
            nothing: "Not measured: nothing is reached.",
            threshold: &Threshold::default(),
            confidence: 0.95,
            budget: 300.0,
            changed_benchmarks: &[],
            is_shuffled: false,
        };
        let text = screen(&report, &Screen { width: 80, color: false, unicode: true, whole: true });
        assert_eq!(text.contains("parser: not measured: the build of the base"), is_failure);
        let comment = markdown(&report);
        assert_eq!(comment.contains("✅"), !is_failure, "{comment}");
        assert!(comment.contains("`parser`: not measured"), "{comment}");
    }
}
