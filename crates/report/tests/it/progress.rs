//! Output while measuring.

use crate::common;

use assay_analysis::{Interval, Scale, verdict::Decision};
use assay_data::{Better, Environment, Unit};
use assay_report::progress::{Standing, Status, machine, span, status};

fn standing(name: &str, median: f64, log_ratio: Option<f64>) -> Standing {
    let difference = log_ratio.map(|estimate| {
        let interval = Interval { lower: estimate - 0.005, upper: estimate + 0.006 };
        Decision::read(Scale::Ratio, estimate, Some(interval), 0.01, 0.0, Better::Lower)
    });
    Standing { name: name.to_owned(), median: Some(median), interval: None, difference }
}

fn state(subjects: &[Standing]) -> Status<'_> {
    Status {
        subjects,
        unit: &Unit::Second,
        blocks: 42,
        planned_blocks: None,
        settled: true,
        clear_in_seconds: None,
        elapsed_seconds: 38.2,
        budget_seconds: Some(60.0),
    }
}

#[test]
fn the_machine_is_one_line() {
    let line = machine(&common::quiet_machine());
    assert_eq!(line, "machine: 2 cpus, virtual, load 0.1, timer 24 ns");
    assert_eq!(machine(&Environment::default()), "machine: nothing is known of it");
}

#[test]
fn a_span_of_time_is_shown_without_an_end_in_blocks() {
    assert_eq!(span("the copy, block", 42, 38.2, 60.0, 60), "the copy, block 42   0:38 of 1:00");
    assert_eq!(span("the copy, block", 42, 38.2, 60.0, 20), "0:38 of 1:00");
}

#[test]
fn the_status_leaves_out_what_does_not_fit() {
    let subjects =
        [standing("sort-old", 0.812, None), standing("sort-new", 0.791, Some(0.974f64.ln()))];
    let state = state(&subjects);
    assert_eq!(
        status(&state, 120, true),
        "block 42   sort-old 812 ms   sort-new 791 ms   ratio 0.974 [0.969 … 0.980]   clear; 0:38 of 1:00"
    );
    assert_eq!(
        status(&state, 70, true),
        "block 42   ratio 0.974 [0.969 … 0.980]   clear; 0:38 of 1:00"
    );
    assert_eq!(status(&state, 40, true), "block 42   clear; 0:38 of 1:00");
    assert_eq!(status(&state, 5, true), "block 42   0:38 of 1:00");
    assert!(status(&state, 120, false).is_ascii());
}

#[test]
fn one_subject_shows_its_median() {
    let mut only = standing("build", 0.812, None);
    only.interval = Some(Interval { lower: 0.806, upper: 0.82 });
    let subjects = [only];
    let state = Status {
        planned_blocks: Some(50),
        settled: false,
        budget_seconds: None,
        ..state(&subjects)
    };
    assert_eq!(
        status(&state, 100, true),
        "block 42 of 50   median 812.0 ms [806.0 … 820.0]   not clear yet; 0:38"
    );
}

#[test]
fn an_open_question_says_when_it_is_answered_at_this_rate() {
    let subjects = [standing("a", 0.8, None), standing("b", 0.79, Some(0.99f64.ln()))];
    let end = |clear_in_seconds: f64| {
        let open =
            Status { settled: false, clear_in_seconds: Some(clear_in_seconds), ..state(&subjects) };
        let line = status(&open, 50, true);
        line.rsplit("   ").next().map(str::to_owned)
    };
    assert_eq!(end(18.0).as_deref(), Some("clear in about 18 s; 0:38 of 1:00"));
    assert_eq!(end(100.0).as_deref(), Some("not clear within the time; 0:38 of 1:00"));
}

#[test]
fn before_the_first_block_there_is_only_time() {
    let subjects = ["a", "b"].map(|name| Standing {
        name: name.to_owned(),
        median: None,
        interval: None,
        difference: None,
    });
    let state = Status { blocks: 0, settled: false, elapsed_seconds: 0.0, ..state(&subjects) };
    assert_eq!(status(&state, 100, true), "block 0   not clear yet; 0:00 of 1:00");
}
