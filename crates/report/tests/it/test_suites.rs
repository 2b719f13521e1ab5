//! The page of a test suite: its content, regardless of the names and the number of tests.

#![allow(clippy::unwrap_used, reason = "tests")]

use assay_analysis::{Options, analyse, testing};
use assay_data::code;
use assay_data::samples::{BEGAN, SPANS, WHOLE_SUITE, WORKER};
use assay_data::{Finding, Inner, Metric, Observation, Outcome, Row, Samples, Subject, Unit};
use assay_report::benchmarks::DisplayOptions;
use assay_report::html::{self, Data, Material};
use assay_report::json::Meta;

/// A name with everything that could break out of markup, of a script, or of an attribute.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>'\"&\u{2028}\u{202e}{{x}}";

/// Returns runs of a suite on these sides: tests by name and file, each of `seconds`, alternating
/// between two processes; the last test fails in every other run.
fn runs(sides: &[&str], tests: &[(String, String)], seconds: f64, count: u32) -> Samples {
    let names = ["wall", "boot", "hooks", "body", "unaccounted", BEGAN, WORKER, "setup"];
    let metric = |name: &&str| {
        let unit = if *name == WORKER { Unit::One } else { Unit::Second };
        Metric::lower(name, unit)
    };
    let mut samples = Samples::new(names.iter().map(metric).collect());
    for name in SPANS {
        samples.add_metric(Metric::lower(name, Unit::One));
    }
    samples.environment.set("test_framework", "pytest 8.3");
    let noun = Some("test".to_owned());
    samples.rows.push(Row { name: WHOLE_SUITE.to_owned(), noun: noun.clone(), ..Row::default() });
    for (name, file) in tests {
        let (name, group) = (name.clone(), vec![file.clone(), "Group".to_owned()]);
        samples.rows.push(Row { name, noun: noun.clone(), group, ..Row::default() });
    }
    let own = tests.len() + 1;
    for (index, side) in sides.iter().enumerate() {
        let side = samples.side_named(side);
        for row in 0..own {
            let name = format!("{index}: {}", samples.rows[row].name);
            samples.add(Subject { side, row, name, against: Some(row), ..Subject::default() });
        }
    }
    for block in 0..count {
        for side in 0..sides.len() {
            let mut add = |row: usize, outcome, known: &[(usize, f64)]| {
                let (subject, block) = (side * own + row, Some(block));
                let values = samples.values_of(known);
                samples.push(Observation {
                    subject,
                    block,
                    outcome,
                    values,
                    ..Observation::default()
                });
            };
            let body = seconds * tests.len() as f64 / 2.0;
            let whole = body + 3.0 + f64::from(block) * 0.01;
            let rest = whole - body - 1.5;
            add(0, Outcome::Ok, &[(0, whole), (1, 1.0), (2, 0.5), (3, body), (4, rest)]);
            for test in 0..tests.len() {
                let began = 1.5 + (test / 2) as f64 * seconds;
                let fails = test + 1 == tests.len() && block % 2 == 0;
                let outcome = if fails { Outcome::Exit(1) } else { Outcome::Ok };
                let worker = (test % 2) as f64;
                let own = [(0, seconds), (5, began), (6, worker), (7, seconds / 4.0)];
                add(test + 1, outcome, &own);
            }
            let lists = [vec![2.0], vec![0.0], vec![1.0], vec![1.5]];
            let subject = side * own;
            samples.inner.extend(SPANS.iter().zip(lists).map(|(name, values)| Inner {
                subject,
                block,
                metric: (*name).to_owned(),
                values,
            }));
        }
    }
    let failed = &tests[tests.len() - 1].0;
    let message = format!("`{failed}` failed: expected <b>1</b> & got 2");
    samples.findings.push(Finding::new(code::TEST_FAILED, message).about(failed));
    samples
}

fn page(samples: &Samples) -> String {
    let analysis = analyse(samples, &Options::default()).unwrap();
    let figures = assay_analysis::figures::figures(samples, &analysis);
    let tests = testing::of(samples, 0.95);
    let data = Data::of(samples, None);
    html::render(Material {
        analysis: &analysis,
        shown: DisplayOptions::default(),
        figures: &figures,
        rows: &[],
        data: &data,
        meta: &Meta::default(),
        command: &[],
        protocol: &[],
        summaries: &[],
        repeats: None,
        tests: &tests,
    })
    .unwrap()
}

fn named(count: usize) -> Vec<(String, String)> {
    (0..count).map(|i| (format!("Group::test_{i:05}"), format!("tests/f{}.py", i / 50))).collect()
}

#[test]
fn a_page_of_a_suite_has_its_parts_tests_and_failures() {
    let page = page(&runs(&["suite"], &named(6), 0.5, 8));
    for text in [
        // The sentence, the parts with their sum, a lane per process, the failures with their
        // frequency, and the table.
        "pytest 8.3: 6 tests in 4.535 s",
        "1 test failed in some runs",
        "class=\"p-boot\" style=\"flex:",
        "<th scope=\"row\"><i></i>whole</th>",
        "1: 3 tests",
        "2: 3 tests",
        "; this ended last",
        "<rect class=\"p-hooks\"",
        "<rect class=\"l\"",
        "<path class=\"c\"",
        "failed: expected &#60;b&#62;1&#60;/b&#62; &#38; got 2",
        "<td class=\"bad\">failed 4 of 8: 50.0 %",
        "Run 4 of 8",
        "\"whole\":\"all tests\"",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert_eq!(page.matches("<table class=\"numbers sortable\">").count(), 1);
    assert_eq!(page.matches("<tr><th>Group::test_").count(), 6);
    // The icicle shows the part of a test's name that its groups do not contain.
    assert!(page.contains("\"test_00003\"") && page.contains("\"tests/f0.py\""));
    let foreign = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!foreign.contains("http://") && !foreign.contains("https://"));
}

#[test]
fn several_sides_have_the_verdicts_and_the_parts_of_each() {
    let page = page(&runs(&["main", "new"], &named(4), 0.5, 8));
    assert_eq!(page.matches("Tests by moment").count(), 2);
    assert_eq!(page.matches("class=\"boxes\"").count(), 2);
    assert!(page.contains("<h2>main</h2>") && page.contains("<h2>new</h2>"));
    assert!(page.contains("table class=\"numbers verdicts\"") && page.contains("(whole suite)"));
}

#[test]
fn hostile_names_stay_text() {
    let tests =
        [(HOSTILE.to_owned(), HOSTILE.to_owned()), (format!("{HOSTILE}2"), HOSTILE.to_owned())];
    for sides in [&["suite"][..], &[HOSTILE, "new"]] {
        let page = page(&runs(sides, &tests, 1.0, 2));
        // Titles of plots of a comparison keep control characters, as on every page.
        let marks =
            if sides.len() == 1 { &["<img", "\u{202e}", "\u{2028}"][..] } else { &["<img"] };
        for what in marks {
            let around = page.find(what).map(|at| {
                let begin = (0..at.saturating_sub(200)).rev().find(|&i| page.is_char_boundary(i));
                page[begin.unwrap_or(0)..at].to_owned()
            });
            assert_eq!(around, None, "{what:?} stands behind this");
        }
        // Scripts end where they should: the two at the end, and the data of each icicle.
        assert_eq!(page.matches("</script>").count(), 2 + sides.len());
    }
}

#[test]
fn ten_thousand_tests_are_a_page_that_opens() {
    for seconds in [0.001, 0.1] {
        let page = page(&runs(&["suite"], &named(10_000), seconds, 1));
        assert!(page.len() < 5_000_000, "{} bytes", page.len());
        assert_eq!(page.matches("<tr><th>Group::test_").count(), 10_000);
        // Indistinguishable bars are merged and show their number.
        let (_, picture) = page.split_once("class=\"waterfall\"").unwrap();
        let (picture, _) = picture.split_once("</svg>").unwrap();
        let bars = picture.matches("<g><title>").count();
        assert!((100..3001).contains(&bars), "{bars} bars");
        let counted: usize = picture
            .split("<title>")
            .filter_map(|bar| bar.split_once(" tests: ")?.0.parse::<usize>().ok())
            .sum();
        assert!(counted > 9_000, "{counted}");
    }
}
