//! GoogleTest and Catch2 programs, detected by the names of their framework's functions. GoogleTest
//! writes JUnit XML. For Catch2 its own XML is used because its JUnit XML has no test times before
//! version 3.

use super::{Framework, Orders, seed, too_old};
use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::{Run, Test, TestStatus, Unfinished};
use std::fs;
use std::path::Path;

/// Largest seed that GoogleTest accepts.
const MOST_OF_GOOGLE: u64 = 99_999;

/// A program of GoogleTest.
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

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
        let mut options = vec![format!("--gtest_output=xml:{}", room.join("report.xml").display())];
        if let Some(seed) = seed(wanted) {
            // 0 means the time of day.
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

/// Parses the output of a GoogleTest program; `None` if it mentions no tests. GoogleTest flushes
/// its output before each test, so the test that crashed the program is known.
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

/// A program of Catch2.
#[derive(Debug)]
pub(super) struct Catch2;

/// Options of Catch2 programs that assay sets. Given twice, they are refused, so those of the user
/// are left out.
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

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
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
            let none = SuiteError::NoReport { said: answer.said() };
            return Err(too_old(none, answer, "Catch2", ("reporter", "2.0")));
        }
        let is_whole =
            ["</Catch>", "</Catch2TestRun>"].iter().any(|end| text.trim_end().ends_with(end));
        // If the report is incomplete, a test has ended the program.
        let last = text.rsplit_once("<TestCase").filter(|_| !is_whole);
        let open = last.filter(|(_, part)| !part.contains("<OverallResult "));
        let unfinished =
            open.and_then(|(_, part)| attribute(part.split('>').next()?, "name")).map(unfinished);
        if !is_whole && unfinished.is_none() {
            let (what, why) = (path.display().to_string(), "it breaks off".to_owned());
            return Err(SuiteError::Garbage { what, why });
        }
        Ok(Run {
            framework: "Catch2".to_owned(),
            tests: cases(&text),
            unfinished: unfinished.into_iter().collect(),
            ..Run::default()
        })
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split_once(&format!(" {name}=\""))?.1;
    Some(unescaped(value.split_once('"')?.0))
}

/// Parses the tests of Catch2's XML. Each extends from its `<TestCase name=…>` to the next; its
/// result is the last `<OverallResult …/>`.
fn cases(text: &str) -> Vec<Test> {
    let case = |part: &str| {
        let name = attribute(part.split_once('>')?.0, "name")?;
        let result = part.rsplit_once("<OverallResult ")?.1;
        let result = format!(" {}", result.split_once('>')?.0);
        let failed = attribute(&result, "success")? != "true";
        let said =
            part.split_once("<Expanded>").and_then(|(_, rest)| rest.split_once("</Expanded>"));
        Some(Test {
            name,
            seconds: attribute(&result, "durationInSeconds").and_then(|own| own.parse().ok()),
            status: if failed { TestStatus::Failed } else { TestStatus::Passed },
            message: said.filter(|_| failed).map(|(said, _)| unescaped(said.trim())),
            ..Test::default()
        })
    };
    text.split("<TestCase").skip(1).filter_map(case).collect()
}

fn unescaped(text: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    named.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn options_of_catch2_are_given_once() {
        let words = ["./t", "-r", "junit", "-d", "no", "[fast]"].map(OsString::from);
        let call = Call::new(&words, Path::new("/nonexistent"));
        let words = Catch2.ask(&call, &Wanted::default(), Path::new("/r")).unwrap().argv;
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
        let found = cases(text);
        assert_eq!((found[0].name.as_str(), found[0].seconds), ("adds <int>", Some(2.2e-5)));
        assert_eq!(
            (found[1].status, found[1].message.as_deref()),
            (TestStatus::Failed, Some("2 == 3"))
        );
        assert_eq!(found.len(), 2);
    }
}
