//! Test results as JUnit XML, which every build server reads. The times are medians over several
//! runs, and a test that failed in any run is reported as a failure.

use crate::markup::escaped_lines;
use assay_analysis::testing::Testing;
use std::fmt::Write as _;

/// Renders the report on the suite of one side. `said` has the reasons of failed tests, each with
/// the name of the test.
pub fn render(found: &Testing, framework: &str, said: &[(String, String)]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let failures = found.failing.iter().filter(|test| test.failed > 0).count();
    let head = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{:.6}\"",
        found.count(),
        found.whole.median
    );
    let name = escaped_lines(framework);
    let _infallible = writeln!(text, "<testsuites {head}>\n  <testsuite name=\"{name}\" {head}>");
    let timed = found.tests.iter().map(|test| (&test.name, Some(test.time.median)));
    for (own_name, seconds) in timed.chain(found.untimed.iter().map(|name| (name, None))) {
        let (class, own) = own_name
            .rsplit_once("::")
            .or(own_name.split_once(": "))
            .unwrap_or(("", own_name.as_str()));
        let time = seconds.map_or_else(String::new, |time| format!(" time=\"{time:.6}\""));
        let case = format!(
            "    <testcase classname=\"{}\" name=\"{}\"{time}",
            escaped_lines(class),
            escaped_lines(own)
        );
        let Some(failed) = found.failing.iter().find(|failing| failing.name == *own_name) else {
            let _infallible = writeln!(text, "{case}/>");
            continue;
        };
        let why = said.iter().find(|(name, _)| name == own_name);
        let why = why.map_or("", |(_, why)| why.as_str());
        let runs = match failed.runs {
            1 => String::new(),
            runs => format!(" ({} of {runs} runs)", failed.failed + failed.retried),
        };
        // Surefire and nextest use this name for a test that passed in the end.
        let kind = if failed.failed > 0 { "failure" } else { "flakyFailure" };
        let _infallible = writeln!(
            text,
            "{case}>\n      <{kind} message=\"{}\"/>\n    </testcase>",
            escaped_lines(&format!("{why}{runs}"))
        );
    }
    text += "  </testsuite>\n</testsuites>\n";
    text
}
