//! Golden screens: the whole screen for fixed numbers. Review them before accepting a change.

use crate::common;

use assay_analysis::Analysis;
use assay_data::{Finding, Severity, code};
use assay_report::benchmarks::DisplayOptions;
use assay_report::remarks::Remarks;
use assay_report::terminal::{Screen, render};
use insta::assert_snapshot;

fn at(analysis: &Analysis, width: usize) -> String {
    render(
        analysis,
        DisplayOptions::default(),
        &Screen { width, color: false, unicode: true, whole: false },
    )
}

#[test]
fn every_situation_reads_well_at_100_columns() {
    for (name, analysis) in common::all() {
        assert_snapshot!(name, at(&analysis, 100));
    }
}

#[test]
fn at_most_five_lines_follow_the_answer() {
    // The tables and plots of scans are results, and so are those of all tests and metrics.
    let is_long =
        |name: &str| ["scan", "every_test", "secondary"].iter().any(|long| name.contains(long));
    for (name, analysis) in common::all().into_iter().filter(|(name, _)| !is_long(name)) {
        // The rows of a longer table are results, and every warning about the result is shown.
        let warnings = analysis.findings.iter().filter(|own| own.severity == Severity::Warning);
        let rows = analysis.subjects.len().saturating_sub(2) + warnings.count();
        for width in [80, 100, 160] {
            let screen = at(&analysis, width);
            let after = screen.split_once("\n\n").map_or("", |(_, after)| after);
            let lines = after.lines().filter(|line| !line.is_empty()).count();
            assert!(lines <= 5 + rows, "{name}: {lines} lines at {width} columns\n{screen}");
        }
    }
}

#[test]
fn the_screen_fits_whatever_the_width() {
    for width in [120, 80, 50, 20] {
        assert_snapshot!(format!("faster_{width}"), at(&common::faster(), width));
        assert_snapshot!(format!("three_{width}"), at(&common::three(), width));
        assert_snapshot!(format!("alone_{width}"), at(&common::alone(), width));
        assert_snapshot!(format!("scan_of_two_{width}"), at(&common::scan_of_two(), width));
        assert_snapshot!(format!("scan_of_three_{width}"), at(&common::scan_of_three(), width));
        let own_values = common::scan_of_own_values();
        assert_snapshot!(format!("scan_of_own_values_{width}"), at(&own_values, width));
        assert_snapshot!(
            format!("secondary_of_three_{width}"),
            at(&common::secondary_of_three(), width)
        );
    }
}

#[test]
fn what_nobody_has_a_value_of_gets_no_column() {
    let analysis = common::only_counted();
    for width in [100, 50] {
        let text = at(&analysis, width);
        assert!(text.contains("allocations") && !text.contains("wall"), "{text}");
    }
}

#[test]
fn blocks_cancel_only_the_drift_that_all_sides_share() {
    let with = |drifts: [Option<f64>; 2]| {
        let mut analysis = common::faster();
        let primary = analysis.primary;
        for (subject, drift) in analysis.subjects.iter_mut().zip(drifts) {
            let own = subject.metrics[primary].as_mut().unwrap();
            own.drift = drift.map(|share| share * own.median);
        }
        let shown = DisplayOptions { remarks: Remarks::All, ..DisplayOptions::default() };
        let screen = Screen { width: 200, color: false, unicode: true, whole: false };
        render(&analysis, shown, &screen)
    };
    assert!(with([Some(0.03), Some(0.04)]).contains("drift +3.0 %, +4.0 % (the blocks cancel it)"));
    let not_alike = "(the blocks cancel only what all sides share)";
    for apart in [
        [Some(0.03), None],
        [None, Some(-0.03)],
        [Some(0.03), Some(-0.03)],
        [Some(0.01), Some(0.03)],
    ] {
        assert!(with(apart).contains(not_alike), "{}", with(apart));
    }
    assert!(with([Some(-0.03), Some(-0.04)]).contains("(the blocks cancel it)"));
}

#[test]
fn what_is_known_about_the_code_is_part_of_the_answer() {
    let mut analysis = common::faster();
    let told = "a call of `parse` must take this much longer to be found: 12 ns in `load`";
    analysis.findings.push(Finding::new(code::CODE_CHANGED, told.to_owned()));
    let screen = at(&analysis, 120);
    let (before, after) = screen.split_once(told).unwrap();
    assert!(!after.contains(told) && !before.ends_with("note: "), "{screen}");
    assert!(before.lines().count() <= 4, "{screen}");
    let markdown = assay_report::markdown::render(&analysis, DisplayOptions::default());
    assert_eq!(markdown.matches("must take this much longer").count(), 1, "{markdown}");
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let screen = Screen { width: 100, color: false, unicode: false, whole: false };
    for (name, analysis) in common::all() {
        let text = render(&analysis, DisplayOptions::default(), &screen);
        assert!(text.is_ascii(), "{name}: {text}");
    }
    assert_snapshot!(
        "absolute_threshold_ascii",
        render(&common::absolute_threshold(), DisplayOptions::default(), &screen)
    );
    assert_snapshot!(
        "four_times_ascii",
        render(&common::four_times(), DisplayOptions::default(), &screen)
    );
    assert_snapshot!(
        "scan_of_two_ascii",
        render(&common::scan_of_two(), DisplayOptions::default(), &screen)
    );
}

#[test]
fn colour_is_added_to_the_same_text() {
    let colour = |analysis: &Analysis| {
        render(
            analysis,
            DisplayOptions::default(),
            &Screen { width: 100, color: true, unicode: true, whole: false },
        )
    };
    for (name, analysis) in common::all() {
        let coloured = colour(&analysis);
        assert_eq!(without_escapes(&coloured), at(&analysis, 100), "{name}");
    }
    assert_snapshot!("scan_of_two_colour", colour(&common::scan_of_two()).replace('\u{1b}', "␛"));
    assert_snapshot!(
        "scan_of_rates_colour",
        colour(&common::scan_of_rates()).replace('\u{1b}', "␛")
    );
    assert_snapshot!("faster_colour", colour(&common::faster()).replace('\u{1b}', "␛"));
    assert_snapshot!("inconclusive_colour", colour(&common::inconclusive()).replace('\u{1b}', "␛"));
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain += &rest[..at];
        let end = rest[at..].find('m').map_or(rest.len(), |m| at + m + 1);
        rest = &rest[end..];
    }
    plain + rest
}

#[test]
fn a_missing_interval_has_its_reason() {
    let at = |analysis: &Analysis, width: usize| {
        let shown = DisplayOptions { remarks: Remarks::All, ..DisplayOptions::default() };
        let screen = Screen { width, color: false, unicode: true, whole: false };
        render(analysis, shown, &screen)
    };
    let text = at(&common::too_few(), 100);
    assert!(text.contains("\nno interval: too few values\n"), "{text}");
    let mut analysis = common::faster();
    assert!(!at(&analysis, 100).contains("no interval"));
    let primary = analysis.primary;
    let new = analysis.subjects[1].metrics[primary].as_mut().unwrap();
    (new.n, new.median_interval) = (3, None);
    for width in [100, 20] {
        let text = at(&analysis, width).split_whitespace().collect::<Vec<_>>().join(" ");
        let name = &analysis.subjects[1].name;
        assert!(text.contains(&format!("no interval for {name}: too few values")), "{text}");
    }
}
