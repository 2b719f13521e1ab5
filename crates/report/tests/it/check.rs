//! The answers of `assay check` when nothing was measured, and when a second build decides nothing.

use crate::common;
use assay_analysis::Verdict;
use assay_analysis::check::{CheckedProgram, Second, Standing};
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
        assert!(!comment.contains("measured for up to"), "{comment}");
    }
}

#[test]
fn the_comment_shows_the_base_so_that_it_can_be_copied() {
    let comment = |branch: &str| {
        let branch = branch.to_owned();
        markdown(&CheckReport {
            compared: &Compared {
                branch,
                base: "0123456789abcdef".to_owned(),
                ..Compared::default()
            },
            programs: &[],
            unmeasured: &[],
            nothing: "Nothing changed since HEAD~1. To compare with another commit: assay check --base HEAD~2",
            threshold: &Threshold::default(),
            confidence: 0.95,
            budget: 300.0,
            changed_benchmarks: &[],
            is_shuffled: false,
        })
    };
    for branch in ["HEAD~1", "origin/fix#12", "main@{1}~2", "a*b_c"] {
        let comment = comment(branch);
        assert!(comment.contains(&format!("diverged from `{branch}`;")), "{comment}");
        assert!(comment.contains("--base HEAD\\~2"), "{comment}");
        assert!(!comment.contains('\u{2060}'), "{comment}");
    }
}

/// Returns the comment about a program that was slower at first, with this verdict of a second build.
fn comment_after(verdict: Verdict) -> String {
    let mut program =
        CheckedProgram::new("p".to_owned(), common::four_times_slower(), Vec::new(), &[]);
    assert_eq!(program.alarms(), [0]);
    program.settle(0, Second::Measured { verdict, ratio: None });
    comment_on(program)
}

/// Returns the comment about one measured program.
fn comment_on(program: CheckedProgram) -> String {
    markdown(&CheckReport {
        compared: &Compared::default(),
        programs: &[program],
        unmeasured: &[],
        nothing: "",
        threshold: &Threshold::default(),
        confidence: 0.95,
        budget: 300.0,
        changed_benchmarks: &[],
        is_shuffled: false,
    })
}

#[test]
fn a_second_build_confirms_refutes_or_decides_nothing() {
    let undecided = comment_after(Verdict::Inconclusive);
    assert!(undecided.contains("The only benchmark may be slower: "), "{undecided}");
    assert!(
        undecided
            .contains("A second build neither confirms nor refutes it; more time (--budget) may."),
        "{undecided}"
    );
    assert!(!undecided.contains("No slowdown"), "{undecided}");
    assert!(undecided.contains("measured for up to 5 min"), "{undecided}");
    let refuted = comment_after(Verdict::Equivalent);
    assert!(refuted.contains("was slower at first, but not in a second build"), "{refuted}");
    assert!(comment_after(Verdict::Slower).contains("A second build confirms it."));
}

#[test]
fn an_alarm_stays_one_if_the_second_build_had_too_little_time() {
    let mut program =
        CheckedProgram::new("p".to_owned(), common::four_times_slower(), Vec::new(), &[]);
    let second = common::too_few();
    program.settle(0, Second::of(&second.comparisons[0]));
    assert_eq!(program.rows[0].standing, Standing::Slower);
    let comment = comment_on(program);
    assert!(comment.contains("there was too little time for it"), "{comment}");
}

#[test]
fn an_answer_without_any_known_benchmark_does_not_say_that_some_are_known() {
    let of = |analysis| comment_on(CheckedProgram::new("p".to_owned(), analysis, Vec::new(), &[]));
    let comment = of(common::inconclusive());
    assert!(comment.contains("was found in 1 benchmark, but none is known."), "{comment}");
    assert!(!comment.contains("Of these"), "{comment}");
    let comment = of(common::three());
    assert!(!comment.contains("none is known"), "{comment}");
}

#[test]
fn a_speedup_is_claimed_for_the_measured_build_only() {
    let program = CheckedProgram::new("p".to_owned(), common::faster(), Vec::new(), &[]);
    assert_eq!(program.alarms(), [] as [usize; 0]);
    let comment = comment_on(program);
    assert!(comment.contains("Of these, 1 is faster in this build."), "{comment}");
    assert!(comment.contains("faster, not confirmed"), "{comment}");
}
