//! Reports of test frameworks: the tests, their durations, and which of them failed.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{codes, load_file, names, path, plain, refused, text, values};
use assay_data::import::{ImportOptions, load};
use assay_data::{Outcome, Samples};

/// Returns each test with its time in milliseconds, followed by `F` if it failed.
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
    assert_eq!(codes(&samples)[0], "BENCHMARKS_MISSING");
    // The same tests have the same names in both of vitest's reports, except for the arrow between
    // groups.
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
            "x.txt:2: a time of -1 s as `wall`; a time cannot be negative",
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

/// Reads a report as one of a suite.
fn told(text: &str) -> assay_data::test_results::TestResults {
    assay_data::import::read_tests(text.as_bytes().to_vec(), "report").unwrap()
}

/// Returns names and outcomes: passed, failed and skipped as `.`, `F`, `s`.
fn outcomes(text: &str) -> String {
    use assay_data::test_results::TestStatus;
    let one = |test: &assay_data::test_results::TestResult| {
        let sign = match test.status {
            TestStatus::Passed => '.',
            TestStatus::Failed => 'F',
            TestStatus::Skipped => 's',
        };
        format!("{}{sign}", test.name)
    };
    told(text).tests.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn tests_without_times_are_tests() {
    let tap =
        "1..3\nok 1 - a\nnot ok 2 b c\n  Error: one is two\n      at x.js:1\nok 3 # SKIP no\n";
    assert_eq!(outcomes(tap), "a. b cF 3s");
    let results = told(tap);
    assert_eq!(results.tests[1].message.as_deref(), Some("Error: one is two"));
    assert!(results.faults.is_empty() && results.tests.iter().all(|test| test.seconds.is_none()));
    let xml = "<testsuite failures=\"1\"><testcase name=\"a\"/><testcase name=\"b\"><failure message=\"no\"/></testcase></testsuite>";
    assert_eq!(outcomes(xml), "a. bF");
}

#[test]
fn a_status_means_failure_in_any_case_and_the_message_may_be_text() {
    let xml = "<testsuite><testcase name=\"a\" status=\"FAILED\"/><testcase name=\"b\" result=\"Timeout\"/>\
        <testcase name=\"c\" status=\"Passed\"/><testcase name=\"d\" status=\"fail\" result=\"skipped\"/>\
        <testcase name=\"e\"><failure type=\"x\">one &lt; two</failure></testcase>\
        <testcase name=\"f\"><failure message=\"short\">long</failure></testcase></testsuite>";
    assert_eq!(outcomes(xml), "aF bF c. dF eF fF");
    let results = told(xml);
    let messages: Vec<_> = results.tests.iter().map(|test| test.message.as_deref()).collect();
    assert_eq!(messages[4..], [Some("one < two"), Some("short")]);
    assert_eq!(results.tool.as_deref(), Some("JUnit XML"));
}

#[test]
fn a_file_of_jest_or_vitest_that_can_not_be_loaded_is_a_failed_test() {
    let file = |status: &str| {
        format!(
            r#"{{"numTotalTests":1,"testResults":[{{"name":"/p/a.test.js","status":"passed","message":"","assertionResults":[{{"fullName":"a","status":"passed","duration":1}}]}},
            {{"name":"/p/c.test.js",{status}"message":"load","assertionResults":[]}}]}}"#
        )
    };
    let text = file("\"status\":\"failed\",");
    assert_eq!(outcomes(&text), "a.test.js: a. c.test.jsF");
    let results = told(&text);
    assert_eq!(results.tests[1].message.as_deref(), Some("load"));
    assert!(results.unfinished.is_empty());
    assert_eq!(told(&file("")).unfinished, ["c.test.js"]);
}

#[test]
fn a_class_is_left_out_only_where_the_name_begins_with_the_whole_of_it() {
    let of = |class: &str, name: &str| {
        outcomes(&format!(
            "<testsuite name=\"s\"><testcase classname=\"{class}\" name=\"{name}\"/></testsuite>"
        ))
    };
    assert_eq!(of("test_s", "test_suite"), "test_s: test_suite.");
    assert_eq!(of("test_su", "test_suite"), "test_su: test_suite.");
    assert_eq!(of("a", "adds"), "a: adds.");
    assert_eq!(of("é", "éa"), "é: éa.");
    assert_eq!(of("List adds", "List adds one"), "List adds one.");
    assert_eq!(of("pkg.List", "pkg.List.adds"), "pkg.List.adds.");
    assert_eq!(of("pkg::", "pkg::adds"), "pkg::adds.");
    assert_eq!(of("adds", "adds"), "adds.");
    assert_eq!(of("adds", "adds()"), "adds().");
}

#[test]
fn a_time_that_makes_no_sense_is_unknown_and_its_test_is_counted() {
    for time in ["-0.001", "NaN", "inf", "1.5s", "00:01"] {
        let xml = format!(
            "<testsuite><testcase name=\"a\" time=\"{time}\"/><testcase name=\"b\" time=\"1\"><failure/></testcase></testsuite>"
        );
        assert_eq!(
            (outcomes(&xml).as_str(), told(&xml).tests[0].seconds),
            ("a. bF", None),
            "{time}"
        );
        let tap = format!("1..1\nnot ok 1 a\n  ---\n  duration_ms: {time}\n  ...\n");
        assert_eq!((outcomes(&tap).as_str(), told(&tap).tests[0].seconds), ("aF", None), "{time}");
    }
    let quoted = told("1..1\nok 1 a\n  ---\n  duration_ms: '12.5'\n  ...\n");
    assert_eq!(quoted.tests[0].seconds, Some(0.0125));
}

#[test]
fn directives_of_tap_are_whole_words_where_a_test_failed() {
    let tap = "1..6\nnot ok 1 a # TODOS\nnot ok 2 b # skipper\nok 3 c # skipped: no\nnot ok 4 d # TODO: x\nnot ok 5 e # SKIP x\nnot ok 6 f \\# TODO\n";
    assert_eq!(outcomes(tap), "aF bF cs d. es f # TODOF");
    // prove is stricter than other harnesses.
    assert_eq!(outcomes("t/a.t .. \n1..1\nnot ok 1 a # SKIP x\nnot ok\n"), "aF");
    let none = told("1..0 # SKIP no database\n");
    assert!(none.tests.is_empty() && none.faults.is_empty());
}

#[test]
fn subtests_of_tap_may_follow_between_braces() {
    // Output of vitest 4.
    let tap = "TAP version 13\n1..2\nnot ok 1 - a.js # time=85.63ms {\n    1..2\n    not ok 1 - g # time=50ms {\n        1..2\n        \
        ok 1 - x # time=3ms\n        not ok 2 - y # time=4ms\n            ---\n            error:\n                \
        name: \"AssertionError\"\n                message: \"expected 1 to be 2\"\n            ...\n    }\n    ok 2 - z # time=9ms\n}\n\
        not ok 2 - b.js {\n    1..1\n    ok 1 - w\n}\n";
    assert_eq!(outcomes(tap), "a.js: g: x. a.js: g: yF a.js: z. b.js: w. b.jsF");
    let results = told(tap);
    assert_eq!(results.tests[1].message.as_deref(), Some("expected 1 to be 2"));
    assert_eq!((results.tests[0].seconds, results.faults.len()), (Some(0.003), 0));
    assert_eq!(outcomes("1..2\nok 1 parses {\nok 2 parses }\n"), "parses. parses }.");
}

#[test]
fn what_bats_and_busted_say_in_comments_is_the_message() {
    let tap = "1..3\nok 1 a in 28ms\nnot ok 2 b in 3sec\n# (in test file g.bats, line 2)\n#   `false' failed\nok 3 c in 5ms # skip x\n";
    assert_eq!(outcomes(tap), "a. bF cs");
    let results = told(tap);
    assert_eq!(results.tests[1].message.as_deref(), Some("(in test file g.bats, line 2)"));
    assert_eq!((results.tests[0].seconds, results.tests[1].seconds), (Some(0.028), Some(3.0)));
    // Not all names end in a time, and counts do not describe a failure.
    let other = "1..2\nok 1 starts\nnot ok 2 answers in 100ms\n# tests 2\n";
    assert_eq!(outcomes(other), "starts. answers in 100msF");
    assert_eq!(
        (told(other).tests[1].message.as_deref(), told(other).tests[1].seconds),
        (None, None)
    );
}

/// Returns the codes and messages of the findings.
fn found(text: &str) -> Vec<String> {
    let samples = plain(text).unwrap();
    samples.findings.iter().map(|f| format!("{}: {}", f.code, f.message)).collect()
}

#[test]
fn failures_outside_of_tests_are_reported() {
    let rspec = r#"{"version":"3.12.0","messages":["\nAn error occurred in an `after(:context)` hook.\nRuntimeError\n"],
        "examples":[{"full_description":"a","status":"passed","file_path":"./a_spec.rb","run_time":0.1}],
        "summary":{"errors_outside_of_examples_count":1}}"#;
    let error = "1 error outside of examples: An error occurred in an `after(:context)` hook.";
    assert_eq!(told(rspec).faults, [error]);
    assert_eq!(found(rspec), [format!("BENCHMARK_FAILED: {error}")]);
    assert!(found(&rspec.replace("count\":1", "count\":0")).is_empty());

    // A hook of a file failed after its tests.
    let jest = r#"{"numTotalTests":1,"testResults":[{"name":"/p/a.test.js","status":"failed","message":"",
        "assertionResults":[{"fullName":"a","status":"passed","duration":1}]}]}"#;
    assert_eq!(outcomes(jest), "a.test.jsF a.test.js: a.");
    let failed = "BENCHMARK_FAILED: failed, and have no time in the report: `a.test.js`";
    assert_eq!(found(jest), [failed]);
    assert!(found(&jest.replace("failed", "passed")).is_empty());

    let pytest = r#"{"created":1,"exitcode":2,"summary":{},
        "collectors":[{"nodeid":"","outcome":"passed"},{"nodeid":"test_b.py","outcome":"failed"}],
        "tests":[{"nodeid":"test_a.py::a","outcome":"passed","call":{"duration":1}}]}"#;
    let broken = ["BENCHMARK_FAILED: not everything ran to completion: `test_b.py`"];
    assert_eq!(
        (told(pytest).unfinished, found(pytest)),
        (vec!["test_b.py".to_owned()], broken.map(String::from).into())
    );
    let log = r#"{"pytest_version": "9.2.0", "$report_type": "SessionStart"}
        {"nodeid": "test_a.py", "outcome": "passed", "$report_type": "CollectReport"}
        {"nodeid": "test_b.py", "outcome": "failed", "$report_type": "CollectReport"}
        {"nodeid": "test_a.py::a", "outcome": "passed", "when": "teardown", "duration": 1, "$report_type": "TestReport"}"#;
    assert_eq!(found(log), broken);

    // A package of Go that exits, and one that can't be built.
    let go = r#"{"Action":"run","Package":"a","Test":"T"}
{"Action":"pass","Package":"a","Test":"T","Elapsed":1}
{"Action":"pass","Package":"a","Elapsed":1}
{"Action":"fail","Package":"b","Elapsed":0}
{"Action":"fail","Package":"c","Elapsed":0,"FailedBuild":"c [c.test]"}"#;
    let two = "BENCHMARK_FAILED: not everything ran to completion: `b`, `c`";
    assert_eq!((found(go), told(go).unfinished), (vec![two.to_owned()], vec!["b".to_owned()]));
    let failed =
        go.replace("\"pass\",\"Package\":\"a\",\"Elapsed", "\"fail\",\"Package\":\"a\",\"Elapsed");
    assert_eq!(found(&failed), [two.replace("`b`", "`a`, `b`")]);
}

#[test]
fn benchmarks_of_go_that_pass_have_no_end_of_their_own() {
    let event = |action: &str, test: &str, more: &str| {
        format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"{more}}}\n")
    };
    let result = |test: &str| event("output", test, ",\"Output\":\"    10\\t  5.0 ns/op\\n\"");
    let end = |action: &str| format!("{{\"Action\":\"{action}\",\"Package\":\"p\"}}\n");
    let run = [
        event("run", "BenchmarkS", ""),
        result("BenchmarkS"),
        event("run", "BenchmarkT", ""),
        event("run", "BenchmarkT/x", ""),
        result("BenchmarkT/x"),
        event("run", "BenchmarkT/off", ""),
        event("skip", "BenchmarkT/off", ""),
        // Without time per operation.
        event("run", "BenchmarkU", ""),
        event("output", "BenchmarkU", ",\"Output\":\"    10\\t  5.0 B/s\\n\""),
    ]
    .concat();
    let passed = "p: BenchmarkS. p: BenchmarkT/x. p: BenchmarkT/offs p: BenchmarkU.";
    let all = run.clone() + &end("pass");
    assert_eq!((outcomes(&all).as_str(), told(&all).unfinished), (passed, vec![]));
    // The package crashed within the last one.
    let all = run.clone() + &end("fail");
    assert_eq!(told(&all).unfinished, ["p", "p: BenchmarkU"]);
    let all = run + &event("fail", "BenchmarkU", "") + &end("fail");
    assert_eq!(
        (told(&all).tests[3].status, told(&all).unfinished),
        (assay_data::test_results::TestStatus::Failed, vec![])
    );
}

#[test]
fn equal_names_in_two_binaries_are_two_tests() {
    let event = |event: &str, name: &str| {
        format!("{{\"type\":\"test\",\"event\":\"{event}\",\"name\":\"{name}\",\"exec_time\":1}}\n")
    };
    let start = "{\"type\":\"suite\",\"event\":\"started\"}\n";
    let binary = |tests: &[&str], outcome: &str| {
        start.to_owned() + &tests.iter().map(|name| event(outcome, name)).collect::<String>()
    };
    let (one, other) = (binary(&["a", "works"], "ok"), binary(&["works", "b", "c"], "failed"));
    let both = one.clone() + &other;
    assert_eq!(outcomes(&both), "a. works. works #2F bF cF");
    let series = |text: &str| -> Vec<(String, usize)> {
        let samples = plain(text).unwrap();
        let count = |name: &&str| values(&samples, name, "wall").len();
        names(&samples).iter().map(|name| ((*name).to_owned(), count(name))).collect()
    };
    let counted = |names: &[&str], count| {
        names.iter().map(|name| ((*name).to_owned(), count)).collect::<Vec<_>>()
    };
    let all = ["a", "works", "works #2", "b", "c"];
    assert_eq!(series(&both), counted(&all, 1));
    // One binary may have all tests of another.
    let within = binary(&["a"], "ok") + &binary(&["a", "c"], "ok");
    assert_eq!(series(&within), counted(&["a", "a #2", "c"], 1));
    // The first binary died within a test.
    let died = start.to_owned() + &event("started", "a") + &binary(&["a"], "ok");
    assert_eq!(told(&died).unfinished, ["a"]);
    // Two runs of both.
    let again = binary(&["a", "works"], "ok") + &other + start;
    assert_eq!(series(&format!("{both}{start}{again}")), counted(&all, 2));
    // Tests of the same names in two packages, each followed by its documentation's tests.
    let packages =
        format!("{}{}{start}{start}", binary(&["works"], "ok"), binary(&["works"], "failed"));
    assert_eq!(series(&packages), counted(&["works", "works #2"], 1));
    let package = format!("{}{start}", binary(&["works"], "ok"));
    assert_eq!(series(&package.repeat(3)), counted(&["works"], 3));
    assert_eq!(outcomes(&package.repeat(2)), "works. works #2.");
}

#[test]
fn failed_attempts_of_pytest_are_retries_of_one_test() {
    let report = |when: &str, outcome: &str| {
        format!(
            "{{\"nodeid\":\"t.py::f\",\"when\":\"{when}\",\"outcome\":\"{outcome}\",\"duration\":1,\"$report_type\":\"TestReport\"}}\n"
        )
    };
    let attempt = |outcome: &str| {
        report("setup", "passed") + &report("call", outcome) + &report("teardown", "passed")
    };
    for (last, sign) in [("passed", "."), ("failed", "F")] {
        let log = "{\"pytest_version\": \"9.2.0\", \"$report_type\": \"SessionStart\"}\n"
            .to_owned()
            + &attempt("rerun").repeat(2)
            + &attempt(last);
        assert_eq!((outcomes(&log), told(&log).tests[0].retries), (format!("t.py::f{sign}"), 2));
    }
    let xml = |suite: &str| {
        let failed = "<testcase classname=\"t\" name=\"f\" time=\"5\"/>";
        format!(
            "<testsuites><testsuite name=\"{suite}\">{failed}<testcase classname=\"t\" name=\"f\" time=\"0.5\"/></testsuite></testsuites>"
        )
    };
    let tests = told(&xml("pytest")).tests;
    assert_eq!((tests.len(), tests[0].seconds, tests[0].retries), (1, Some(0.5), 1));
    assert_eq!(outcomes(&xml("other")), "t: f. t: f #2.");
}

#[test]
fn browsers_and_suites_distinguish_tests_of_equal_names() {
    let suite = |name: &str, host: &str, status: &str| {
        format!(
            "<testsuite name=\"{name}\" hostname=\"{host}\"><testcase name=\"logs in\" classname=\"login.spec.ts\" time=\"1\">{status}</testcase></testsuite>"
        )
    };
    let report =
        |suites: &[String]| format!("<testsuites id=\"\">{}</testsuites>", suites.concat());
    let (chromium, firefox) =
        (suite("login.spec.ts", "chromium", ""), suite("login.spec.ts", "firefox", "<failure/>"));
    let name = "login.spec.ts: logs in";
    assert_eq!(
        outcomes(&report(&[chromium.clone(), firefox.clone()])),
        format!("{name} [chromium]. {name} [firefox]F")
    );
    assert_eq!(
        outcomes(&report(&[firefox.clone(), chromium])),
        format!("{name} [firefox]F {name} [chromium].")
    );
    // The host of a whole report is that of the machine.
    assert_eq!(outcomes(&report(&[firefox])), format!("{name}F"));
    let (one, other) = (suite("one", "vm", ""), suite("other", "vm", "<failure/>"));
    assert_eq!(outcomes(&report(&[one.clone(), other])), format!("{name} [one]. {name} [other]F"));
    assert_eq!(outcomes(&report(&[one.clone(), one])), format!("{name}. {name} #2."));
}

#[test]
fn an_escaped_number_sign_belongs_to_the_name_of_tests_and_groups() {
    let tap = "TAP version 13\n# Subtest: g \\# x\n    # Subtest: one\n    ok 1 - one\n    1..1\nok 1 - g \\# x\n1..1\n";
    assert_eq!(outcomes(tap), "g # x: one.");
}

#[test]
fn lines_between_the_events_may_be_json_or_have_no_end() {
    let lines = "{\"type\":\"test\",\"event\":\"started\",\"name\":\"a\"}\n{\n  \"x\": 1\n}\n{\"name\":5}\n\
        half a line{ \"type\": \"test\", \"event\": \"failed\", \"name\": \"a\" }\n";
    assert_eq!((outcomes(lines).as_str(), told(lines).unfinished.len()), ("aF", 0));
}

#[test]
fn tap_is_recognised_however_long_it_is_and_wherever_its_plan_is() {
    let line = |n: usize| format!("ok {n} a test with a name that is not short\n");
    let many: String = (1..=3000).map(line).collect();
    for text in [format!("{many}1..3000\n"), format!("1..3000\n{many}")] {
        let results = told(&text);
        assert_eq!((results.tests.len(), results.faults.len()), (3000, 0));
    }
    // Other output of the program may be long.
    let noise = "starting up\n".repeat(10_000);
    assert_eq!(told(&format!("{noise}1..1\nok 1 a\n")).tests.len(), 1);
}

#[test]
fn failed_tests_that_nodes_report_only_counts_are_a_fault() {
    let report = |cases: &str, counts: &str| {
        format!("<testsuites>\n<testsuite name=\"a\">{cases}</testsuite>\n{counts}</testsuites>\n")
    };
    let (good, bad) = (
        "<testcase name=\"b\" time=\"1\" classname=\"test\"/>",
        "<testcase name=\"c\" time=\"1\" classname=\"test\"><failure message=\"m\"/></testcase>",
    );
    for (cases, counts, fault) in [
        (good, "<!-- fail 1 -->", Some("counts 1 failed tests and names 0")),
        (good, "<!-- fail 0 --><!-- cancelled 2 -->", Some("counts 2 failed tests and names 0")),
        (bad, "<!-- fail 2 -->", Some("counts 2 failed tests and names 1")),
        (bad, "<!-- fail 1 -->", None),
        (good, "<!-- fail 0 -->\n<!-- fail -->", None),
        // A comment elsewhere is not node's summary.
        (&format!("{good}<!-- fail 3 -->"), "", None),
    ] {
        let faults = told(&report(cases, counts)).faults;
        match fault {
            Some(fault) => assert!(faults.len() == 1 && faults[0].contains(fault), "{faults:?}"),
            None => assert_eq!(faults, [] as [String; 0], "{cases}{counts}"),
        }
    }
}

#[test]
fn the_numbers_of_results_count_unless_node_wrote_them() {
    let report = "TAP version 13\nok 1 - a\nnot ok 2 - b\nnot ok 2 - c\n1..3\n# tests 3\n";
    assert!(told(report).faults[0].contains("out of sequence: number 2 instead of 3"));
    assert_eq!(told(&format!("{report}# suites 0\n")).faults, [] as [String; 0]);
    // The summary of one document says nothing about the next, nor about a document with results
    // missing.
    let after = format!("{report}# suites 0\nTAP version 13\nok 2 - a\n1..1\n");
    assert!(told(&after).faults[0].contains("number 2 instead of 1"));
    let missing = report.replace("1..3", "1..4") + "# suites 0\n";
    assert_eq!(told(&missing).faults.len(), 2);
}

#[test]
fn a_plan_that_is_not_kept_is_a_fault() {
    for (text, fault) in [
        ("1..3\nok 1 a\nok 2 b\n", "the plan has 3 tests, but there are results of 2"),
        ("1..1\nok 1 a\nok 2 b\n", "the plan has 1 test, but there are results of 2"),
        ("ok 1 a\nok 2 b\n", "there is no plan"),
        ("1..2\nok 1 a\nok 3 b\n", "results are out of sequence"),
        ("1..4\nok 1 a\nBail out! no database\n", "it gave up: `Bail out! no database`"),
        (
            "1..1\n# Subtest: a\n    1..3\n    ok 1 b\n    ok 2 c\nok 1 a\n",
            "the plan has 3 tests, but there are results of 2",
        ),
        ("1..2\nok 1 a\n1..1\nok 1 b\n", "the plan has 2 tests, but there are results of 1"),
    ] {
        let faults = told(text).faults;
        assert!(faults.len() == 1 && faults[0].starts_with(fault), "{text}: {faults:?}");
    }
    for text in [
        "1..2\nok 1 a\nok 2 b\n",
        "ok 1 a\nok 2 b\n1..2\n",
        // Several documents one after the other.
        "1..1\nok 1 a\n1..1\nok 1 a\n",
        "ok 1 a\n1..1\nok 1 a\n1..1\n",
        "TAP version 13\n1..1\nok 1 a\nTAP version 13\nok 1 b\n1..1\n",
        // prove -v adds its own result for each file.
        "t/a.t .. \n1..2\nok 1 - a\nok 2 - b\nok\nt/b.t ...... \nok 1 - c\n1..1\nok\nAll tests successful.\n",
        "1..1\n# Subtest: a\n    ok 1 b\n    ok 2 c\n    1..2\nok 1 a\n",
        // Nothing within a block is a result.
        "1..1\nnot ok 1 a\n  ---\n  stack: |-\n    ok 7 x\n    1..9\n  ...\n",
    ] {
        assert_eq!(told(text).faults, Vec::<String>::new(), "{text}");
    }
    assert_eq!(outcomes("1..1\nok 1 a\n1..1\nok 1 a\n"), "a. a #2.");
    assert_eq!(
        outcomes("t/a.t .. \n1..2\nok 1 - a\nok 2 - b\nok\nt/b.t .. \n1..1\nok 1 - c\nok\n"),
        "a. b. c."
    );
}

#[test]
fn what_ctest_could_not_start_has_failed_and_what_it_skipped_has_not() {
    let of = |name: &str, inner: &str| format!("<testcase name=\"{name}\" time=\"0\" {inner}");
    let not_run = |why: &str| format!("status=\"notrun\"><skipped message=\"{why}\"/></testcase>");
    let xml = format!(
        "<testsuite name=\"(empty)\" tests=\"7\" failures=\"0\" skipped=\"5\">{}{}{}{}{}{}{}</testsuite>",
        of("run", "status=\"run\"/>"),
        of("program", &not_run("Unable to find executable")),
        of("file", &not_run("Required Files Missing")),
        of("fixture", &not_run("Fixture dependency failed")),
        of("code", &not_run("SKIP_RETURN_CODE=77")),
        of("text", &not_run("SKIP_REGULAR_EXPRESSION_MATCHED")),
        of("disabled", "status=\"disabled\"><system-out>Disabled</system-out></testcase>"),
    );
    assert_eq!(outcomes(&xml), "run. programF fileF fixtureF codes texts disableds");
    assert_eq!(told(&xml).tests[1].message.as_deref(), Some("Unable to find executable"));
}

#[test]
fn attempts_that_failed_before_one_that_passed_are_counted() {
    let xml = "<testsuite><testcase name=\"a\" time=\"1\"><flakyFailure message=\"at first\"/><flakyError/></testcase>\
        <testcase name=\"b\" time=\"1\"><failure message=\"no\"/><rerunFailure message=\"no\"/></testcase></testsuite>";
    let results = told(xml);
    assert_eq!(outcomes(xml), "a. bF");
    assert_eq!((results.tests[0].retries, results.tests[1].retries), (2, 1));
    assert_eq!(results.tests[0].message.as_deref(), Some("at first"));
}

#[test]
fn failures_that_belong_to_no_test_are_faults() {
    for (xml, fault) in [
        (
            "<testsuites failures=\"2\"><testsuite><testcase name=\"a\"/></testsuite></testsuites>",
            "the report counts 2 failures, but names no test that failed",
        ),
        (
            "<testsuite name=\"s\"><error message=\"no database\"/><testcase name=\"a\"/></testsuite>",
            "the suite `s` failed: no database",
        ),
    ] {
        assert_eq!(told(xml).faults, [fault]);
    }
}

#[test]
fn what_holds_tests_and_failed_by_itself_is_a_test_that_failed() {
    // The hook after its subtests failed, as node reports it.
    let tap = "1..1\n# Subtest: a\n    ok 1 - b\n      ---\n      duration_ms: 2\n      ...\n    1..1\nnot ok 1 - a\n  ---\n  duration_ms: 5\n  error: 'no end'\n  ...\n";
    assert_eq!(outcomes(tap), "a: b. aF");
    let results = told(tap);
    assert_eq!(
        (results.tests[1].seconds, results.tests[1].message.as_deref()),
        (None, Some("no end"))
    );
    // A test fails because a subtest at any depth failed, unless that subtest may fail.
    let inner = |result: &str| {
        format!(
            "1..1\n    # Subtest: b\n        {result}\n        1..1\n    not ok 1 - b\n    1..1\nnot ok 1 - a\n"
        )
    };
    assert_eq!(outcomes(&inner("not ok 1 - c")), "b: cF");
    assert_eq!(outcomes(&inner("not ok 1 - c # TODO later")), "b: c. bF");
    let event = |action: &str, test: &str| {
        format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"}}\n")
    };
    let go = |inner: &str| {
        [("run", "T"), ("run", "T/a"), (inner, "T/a"), ("fail", "T")]
            .map(|(a, t)| event(a, t))
            .concat()
    };
    assert_eq!(outcomes(&go("pass")), "p: T/a. p: TF");
    assert_eq!(outcomes(&go("fail")), "p: T/aF");
}

#[test]
fn what_runs_for_a_minute_has_not_failed_and_attempts_of_nextest_are_counted() {
    let event = |event: &str, name: &str| {
        format!("{{\"type\":\"test\",\"event\":\"{event}\",\"name\":\"{name}\"}}\n")
    };
    let slow = [event("started", "a"), event("timeout", "a"), event("ok", "a")].concat();
    assert_eq!(outcomes(&slow), "a.");
    let hung = [event("started", "a"), event("timeout", "a")].concat();
    assert_eq!((told(&hung).tests.len(), told(&hung).unfinished), (0, vec!["a".to_owned()]));
    let (name, other) = ("c::b$m::x", "c::b$y");
    let all = [
        event("started", name),
        event("ok", "c::b$m::x#3"),
        event("started", other),
        event("failed", "c::b$y#2"),
    ];
    let results = told(&all.concat());
    assert_eq!(outcomes(&all.concat()), "c::b$m::x. c::b$yF");
    assert_eq!((results.tests[0].retries, results.tests[1].retries), (2, 1));
    assert!(results.unfinished.is_empty());
}
