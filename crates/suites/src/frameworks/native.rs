//! GoogleTest and Catch2 programs, detected by the names of their framework's functions. GoogleTest
//! writes JUnit XML. For Catch2 its own XML is used because its JUnit XML has no test times before
//! version 3.

use super::{Framework, Orders, seed, too_old};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::{Run, Test, TestStatus, Unfinished};
use assay_data::xml::{Tag, Xml, attribute, unescaped};
use std::fs;
use std::path::Path;

/// Largest seed that GoogleTest accepts.
const MOST_OF_GOOGLE: u64 = 99_999;

/// A GoogleTest program.
#[derive(Debug)]
pub(super) struct GoogleTest;

impl Framework for GoogleTest {
    fn name(&self) -> &'static str {
        "googletest"
    }

    fn knows(&self, call: &Call) -> bool {
        call.program_holds(&["N7testing8internal", "gtest_random_seed"])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn selects(&self) -> bool {
        true
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        let mut options = vec![format!("--gtest_output=xml:{}", room.join("report.xml").display())];
        if let Some(seed) = seed(wanted) {
            // GoogleTest would replace a seed of 0 with the time of day.
            let seed = seed % MOST_OF_GOOGLE + 1;
            options.extend(["--gtest_shuffle".to_owned(), format!("--gtest_random_seed={seed}")]);
        }
        if let Some(only) = &wanted.only {
            let names: Vec<String> = only.iter().map(|name| name.replacen(": ", ".", 1)).collect();
            options.push(format!("--gtest_filter={}", names.join(":")));
        }
        Ok(Request::words(call.with_last(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        match reports::of_file(&answer.room.join("report.xml"), answer) {
            Ok(results) => Ok(reports::run(results, "GoogleTest", answer)),
            // The report is written at the end. If the program crashed, its output shows how far it
            // got.
            Err(error) => printed(answer.output).ok_or(error),
        }
    }
}

/// Parses the output of a GoogleTest program, or returns `None` if the output mentions no tests.
/// GoogleTest flushes its output before each test, so the test that crashed the program is known.
fn printed(output: &[u8]) -> Option<Run> {
    let text = String::from_utf8_lossy(output);
    let mut run = Run { framework: "GoogleTest".to_owned(), ..Run::default() };
    let mut open: Option<(&str, String)> = None;
    let name = |own: &str| own.replacen('.', ": ", 1);
    for line in text.lines() {
        if let Some((_, own)) = line.split_once("[ RUN      ] ") {
            open = Some((own, String::new()));
            continue;
        }
        let Some((own, said)) = &mut open else { continue };
        let ends = [
            ("[       OK ] ", TestStatus::Passed),
            ("[  FAILED  ] ", TestStatus::Failed),
            ("[  SKIPPED ] ", TestStatus::Skipped),
        ];
        let ended = ends.into_iter().find_map(|(mark, status)| {
            let (before, rest) = line.split_once(mark)?;
            Some((before, rest.strip_prefix(*own)?, status))
        });
        let Some((before, rest, status)) = ended else {
            said.push_str(line);
            said.push('\n');
            continue;
        };
        said.push_str(before);
        let took = rest.rsplit_once('(').and_then(|(_, took)| took.strip_suffix(" ms)"));
        let seconds = took.and_then(|took| took.parse::<f64>().ok()).map(|took| took / 1e3);
        let message = Some(said.trim().to_owned()).filter(|_| status == TestStatus::Failed);
        run.tests.push(Test {
            name: name(own),
            seconds: seconds.filter(|_| status != TestStatus::Skipped),
            status,
            message: message.filter(|said| !said.is_empty()),
            ..Test::default()
        });
        open = None;
    }
    run.unfinished.extend(open.map(|(own, _)| unfinished(name(own))));
    (!run.tests.is_empty() || !run.unfinished.is_empty()).then_some(run)
}

fn unfinished(name: String) -> Unfinished {
    Unfinished { name, ..Unfinished::default() }
}

/// A Catch2 program.
#[derive(Debug)]
pub(super) struct Catch2;

/// Options of Catch2 programs that assay sets. Catch2 rejects options that are given twice, so the
/// user's values are removed.
const SET: [&str; 6] = ["-r", "--reporter", "-o", "--out", "-d", "--durations"];

impl Framework for Catch2 {
    fn name(&self) -> &'static str {
        "catch2"
    }

    fn knows(&self, call: &Call) -> bool {
        call.program_holds(&["N5Catch"])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        let report = room.join("report.xml").display().to_string();
        let mut options = ["--reporter", "xml", "--out", &report, "--durations", "yes"]
            .map(str::to_owned)
            .to_vec();
        if let Some(seed) = seed(wanted) {
            options.extend(["--order", "rand", "--rng-seed"].map(str::to_owned));
            options.push(seed.to_string());
        }
        Ok(Request::words(call.without(&SET).with_last(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let path = answer.room.join("report.xml");
        let text = fs::read_to_string(&path).unwrap_or_default();
        if text.is_empty() {
            let none = SuiteError::NoReport { said: answer.message() };
            return Err(too_old(none, answer, "Catch2", ("reporter", "2.0")));
        }
        let is_whole =
            ["</Catch>", "</Catch2TestRun>"].iter().any(|end| text.trim_end().ends_with(end));
        let (tests, open) = cases(&text);
        // If the report is incomplete, the test without a result ended the program.
        let unfinished = open.filter(|_| !is_whole).map(unfinished);
        if !is_whole && unfinished.is_none() {
            let (what, why) = (path.display().to_string(), "it breaks off".to_owned());
            return Err(SuiteError::Garbage { what, why });
        }
        Ok(Run {
            framework: "Catch2".to_owned(),
            tests,
            unfinished: unfinished.into_iter().collect(),
            ..Run::default()
        })
    }
}

/// Parses the tests in Catch2's XML. Returns those with a result, and the name of the test that has
/// none because it ended the program.
fn cases(text: &str) -> (Vec<Test>, Option<String>) {
    let mut xml = Xml::new(text.as_bytes(), "report.xml");
    let mut tests = Vec::new();
    let mut open: Option<Test> = None;
    let mut has_result = false;
    while let Ok(Some(tag)) = xml.next_tag() {
        match tag {
            Tag::Open { name: "TestCase", text } => {
                let named = |name| Test { name, ..Test::default() };
                (open, has_result) = (attribute(text, "name").map(named), false);
            }
            Tag::Open { name: "OverallResult", text } => {
                let Some(test) = &mut open else { continue };
                let Some(success) = attribute(text, "success") else { continue };
                let failed = success != "true";
                has_result = true;
                test.seconds =
                    attribute(text, "durationInSeconds").and_then(|own| own.parse().ok());
                test.status = if failed { TestStatus::Failed } else { TestStatus::Passed };
                test.message = test.message.take().filter(|_| failed);
            }
            Tag::Close { name: "Expanded", before } => {
                let Some(test) = &mut open else { continue };
                test.message.get_or_insert_with(|| unescaped(before.trim()).into_owned());
            }
            Tag::Close { name: "TestCase", .. } => tests.extend(open.take_if(|_| has_result)),
            _ => {}
        }
    }
    tests.extend(open.take_if(|_| has_result));
    (tests, open.map(|test| test.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn options_of_catch2_are_given_once() {
        let words = ["./t", "-r", "junit", "-d", "no", "[fast]"].map(OsString::from);
        let call = Call::new(&words, Path::new("/nonexistent"));
        let words = Catch2.ask(&call, &RunRequirements::default(), Path::new("/r")).unwrap().argv;
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            words.join(" "),
            "./t [fast] --reporter xml --out /r/report.xml --durations yes"
        );
    }

    #[test]
    fn a_program_that_crashed_has_printed_how_far_it_came() {
        // Output of GoogleTest 1.12.1.
        let text = "[==========] Running 4 tests from 2 test suites.\n\
            [ RUN      ] A.adds\nhello [       OK ] A.adds (20 ms)\n\
            [ RUN      ] P/A.takes/0\na.cc:7: Failure\nExpected: x\n[  FAILED  ] P/A.takes/0, where GetParam() = 3 (0 ms)\n\
            [ RUN      ] A.later\na.cc:9: Skipped\n\n[  SKIPPED ] A.later (0 ms)\n\
            [ RUN      ] A.crashes\n";
        let run = printed(text.as_bytes()).unwrap();
        let of = |test: &Test| (test.name.clone(), test.status, test.seconds, test.message.clone());
        let failed = Some("a.cc:7: Failure\nExpected: x".to_owned());
        let expected = [
            ("A: adds".to_owned(), TestStatus::Passed, Some(0.02), None),
            ("P/A: takes/0".to_owned(), TestStatus::Failed, Some(0.0), failed),
            ("A: later".to_owned(), TestStatus::Skipped, None, None),
        ];
        assert_eq!(run.tests.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(run.unfinished, [unfinished("A: crashes".to_owned())]);
        assert_eq!(printed(b"Segmentation fault\n"), None);
    }

    #[test]
    fn the_xml_of_catch_has_tests_with_times() {
        // Output of Catch2 2.13.10, shortened.
        let text = r#"<Catch name="a"><Group name="a">
            <TestCase name="adds &lt;int&gt;" filename="a.cpp" line="4">
              <OverallResult success="true" durationInSeconds="2.2e-05"/>
            </TestCase>
            <TestCase name="bad" filename="a.cpp" line="5">
              <Expression success="false"><Original>1+1==3</Original><Expanded>
                2 == 3
              </Expanded></Expression>
              <OverallResult success="false" durationInSeconds="0.020479"/>
            </TestCase>
            <OverallResults successes="1" failures="1" expectedFailures="0"/>
            <OverallResultsCases successes="1" failures="1" expectedFailures="0"/></Group></Catch>"#;
        let (found, open) = cases(text);
        assert_eq!(open, None);
        assert_eq!((found[0].name.as_str(), found[0].seconds), ("adds <int>", Some(2.2e-5)));
        assert_eq!(
            (found[1].status, found[1].message.as_deref()),
            (TestStatus::Failed, Some("2 == 3"))
        );
        assert_eq!(found.len(), 2);
        let (begun, _) = text.split_once("<OverallResult success=\"false\"").unwrap();
        let (found, open) = cases(begun);
        assert_eq!((found.len(), open.as_deref()), (1, Some("bad")), "it ended the program");
    }
}
