//! Reports of test frameworks: which tests there are, how long they took, which failed.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{codes, load_file, names, path, plain, refused, text};
use assay_data::import::{ImportOptions, load};
use assay_data::{Outcome, Samples};

/// Each test with its time in milliseconds, `F` behind those that failed.
fn times(samples: &Samples) -> Vec<String> {
    let one = |o: assay_data::Observation| {
        let failed = if o.outcome == Outcome::Ok { "" } else { " F" };
        format!("{} {:.3}{failed}", samples.subjects[o.subject].name, o.values[0] * 1e3)
    };
    samples.observations().map(one).collect()
}

fn of(name: &str) -> Vec<String> {
    times(&load_file(&format!("test-reports/{name}")))
}

#[test]
fn every_report_comes_to_its_tests_their_times_and_which_failed() {
    let mut all = String::new();
    let mut files: Vec<_> = std::fs::read_dir(path("test-reports")).unwrap().flatten().collect();
    files.sort_by_key(|file| file.file_name());
    for file in files {
        let name = file.file_name().into_string().unwrap();
        let samples = load_file(&format!("test-reports/{name}"));
        let found: Vec<String> =
            samples.findings.iter().map(|f| format!("{}: {}", f.code, f.message)).collect();
        all += &format!("{name} ({})\n", samples.tool.as_deref().unwrap_or_default());
        times(&samples).iter().chain(&found).for_each(|line| all += &format!("  {line}\n"));
    }
    let kept = path("../it/text_formats/test_reports.txt");
    if std::env::var_os("ASSAY_WRITE_EXPECTED").is_some() {
        std::fs::write(&kept, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(kept).unwrap());
}

#[test]
fn reports_one_behind_the_other_are_runs_of_one_suite() {
    for name in [
        "pytest.xml",
        "node.tap",
        "rspec.json",
        "vitest.json",
        "pytest.json",
        "go.json",
        "libtest.jsonl",
        "reportlog.jsonl",
    ] {
        let once = text(&format!("test-reports/{name}"));
        let twice = plain(format!("{once}\n{once}")).unwrap();
        let alone = plain(&once).unwrap();
        assert_eq!(names(&twice), names(&alone), "{name}");
        assert_eq!(twice.len(), 2 * alone.len(), "{name}");
    }
}

#[test]
fn two_reports_are_two_sides_of_the_same_tests() {
    let both = [path("test-reports/vitest.xml"), path("test-reports/vitest.xml")];
    let samples = load(&both, &ImportOptions::default()).unwrap();
    assert_eq!((samples.sides.len(), samples.rows.len()), (2, 7));
    assert_eq!(codes(&samples)[0], "BENCHMARK_SKIPPED");
    // The same tests have the same names in both of vitest's reports, but for the arrow of groups.
    let (xml, json) = (of("vitest.xml"), of("vitest.json"));
    assert_eq!(xml.len(), json.len());
}

#[test]
fn what_is_damaged_is_refused_with_file_and_line() {
    let problems = [
        (
            "<testsuite name=\"a\">\n<testcase name=\"b\" time=\"soon\"/>\n</testsuite>",
            "x.txt:2: `time=\"soon\"`; expected seconds",
        ),
        (
            "<testsuite name=\"a\">\n<testcase name=\"b\" time=\"1\">",
            "x.txt:2: the file breaks off within `<testcase>`",
        ),
        (
            "<testsuite name=\"a\">\n<testcase time=\"1\"/></testsuite>",
            "x.txt:2: `<testcase>` without a name",
        ),
        (
            "<testsuite name=\"a\">\n<testcase name=\"b\" time=\"-1\"/></testsuite>",
            "x.txt:2: a time of -1 s as `wall`; a time is not negative",
        ),
        (
            "TAP version 13\nok 1 - a\n  ---\n  duration_ms: long\n  ...\n",
            "x.txt:4: `duration_ms: long`; expected milliseconds",
        ),
        ("{\"type\":\"suite\",\"event\":\"started\"}\n{\"type\":\"test\",\n", "x.txt:2:"),
    ];
    for (report, problem) in problems {
        let said = refused(report);
        assert!(said.starts_with(problem), "{said}");
    }
    assert!(
        refused("<testsuite name=\"a\"><testcase name=\"b\"/></testsuite>")
            .contains("tests without times")
    );
    assert!(refused("TAP version 13\n1..1\nok 1 - a\n").contains("results without times"));
}

#[test]
fn a_package_of_go_that_can_not_be_built_is_one_that_failed() {
    let bytes = text("test-reports/go.json").into_bytes();
    let results = assay_data::import::read_tests(bytes, "go.json").unwrap();
    let broken = results.tests.iter().find(|test| test.name == "example.com/shop/broken").unwrap();
    assert_eq!(broken.status, assay_data::test_results::TestStatus::Failed);
    assert!(broken.message.as_ref().unwrap().starts_with("broken/"), "{broken:?}");
    assert!(results.unfinished.is_empty(), "{:?}", results.unfinished);
}
