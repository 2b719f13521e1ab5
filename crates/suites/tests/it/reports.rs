//! Reading of recorded reports of frameworks that may not be installed. Installed frameworks are
//! covered by the tests of the binary.
#![allow(clippy::unwrap_used)]

use assay_suites::run::TestStatus;
use assay_suites::{Answer, Run, SuiteError, frameworks};
use std::fs;
use std::path::{Path, PathBuf};

fn report(name: &str) -> Vec<u8> {
    let directory =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/formats/test-reports");
    fs::read(directory.join(name)).unwrap()
}

/// Reads a run from this file of the project or the room and from standard output.
fn read(framework: &str, file: Option<(&str, Vec<u8>)>, output: &[u8]) -> Result<Run, SuiteError> {
    let room = tempfile::tempdir().unwrap();
    if let Some((name, bytes)) = file {
        let path: PathBuf = room.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let answer = Answer {
        room: room.path(),
        directory: room.path(),
        output,
        errors: b"",
        began: 0.0,
        ended: 10.0,
        since_1970: 0.0,
    };
    frameworks::by_name(framework).unwrap().read(&answer)
}

fn status(run: &Run, name: &str) -> TestStatus {
    run.tests.iter().find(|test| test.name.ends_with(name)).unwrap().status
}

#[test]
fn nextest_prints_its_events() {
    let run = read("nextest", None, &report("nextest.jsonl")).unwrap();
    assert_eq!(run.tests.len(), 6);
    assert_eq!(status(&run, "tests::fails"), TestStatus::Failed);
    assert_eq!(status(&run, "tests::ignored"), TestStatus::Skipped);
    let none = read("nextest", None, b"error: unrecognized value 'libtest-json'").unwrap_err();
    assert!(matches!(none, SuiteError::TooOld { needed: "0.9.59", .. }), "{none}");
}

#[test]
fn jest_and_vitest_write_one_document() {
    for framework in ["jest", "vitest"] {
        let run = read(framework, Some(("report.json", report("jest.json"))), b"").unwrap();
        let failed = run.tests.iter().find(|test| test.status == TestStatus::Failed).unwrap();
        assert!(failed.message.as_ref().unwrap().len() > 10 && failed.seconds.is_some());
        let none = read(framework, None, b"").unwrap_err();
        assert!(matches!(none, SuiteError::NoReport { .. }), "{none}");
        let cut = report("jest.json");
        let cut = read(framework, Some(("report.json", cut[..cut.len() / 2].to_vec())), b"");
        assert!(matches!(cut, Err(SuiteError::Garbage { .. })));
    }
}

#[test]
fn the_reports_of_maven_and_gradle_are_found_in_modules() {
    for (framework, place) in [
        ("maven", "target/surefire-reports/TEST-x.CartTest.xml"),
        ("maven", "modules/cart/target/failsafe-reports/TEST-x.CartIT.xml"),
        ("gradle", "cart/build/test-results/test/TEST-x.CartTest.xml"),
    ] {
        let run = read(framework, Some((place, report("surefire.xml"))), b"").unwrap();
        assert!(run.tests.iter().any(|test| test.status == TestStatus::Failed), "{place}");
        assert!(run.tests.iter().all(|test| test.group.is_some()), "{place}");
    }
    let elsewhere = read("maven", Some(("src/TEST-x.xml", report("surefire.xml"))), b"");
    assert!(matches!(elsewhere, Err(SuiteError::NoReport { .. })));
}

#[test]
fn programs_and_ctest_write_junit_xml() {
    for framework in ["ctest", "googletest"] {
        let run = read(framework, Some(("report.xml", report("ctest.xml"))), b"").unwrap();
        assert!(!run.tests.is_empty(), "{framework}");
    }
    let old = read("ctest", None, b"CMake Error: Unknown argument: --output-junit").unwrap_err();
    assert!(old.to_string().contains("ctest 3.21 or later is needed"), "{old}");
}
