//! Recognizes reports of assay itself (`--json`, `--export FILE.json`). They contain results
//! without the individual values, so there is nothing to compare. The error message names the file
//! that has these values.

use super::{Head, unknown};
use crate::input::Input;
use serde::Deserialize;

/// First keys of every report.
const FIRST_KEYS: [&str; 2] = ["schema", "verb"];

/// Commands that can save their measurements.
const MEASURING: [&str; 5] = ["run", "bench", "load", "tests", "repeat"];

/// The keys of a report that locate its values.
#[derive(Deserialize)]
struct Report {
    verb: String,
    #[serde(default)]
    file: Option<String>,
}

/// Returns true if the text begins like a report.
pub(super) fn is_report(head: &Head<'_>) -> bool {
    let mut rest = head.text.trim_start();
    // All keys are parsed only if the first one is that of a report.
    let is_near = ["{", "\"schema\"", ":"].iter().all(|&next| {
        let found = rest.strip_prefix(next).map(str::trim_start);
        rest = found.unwrap_or(rest);
        found.is_some()
    });
    is_near && unknown::first_keys(head).starts_with(&FIRST_KEYS.map(str::to_owned))
}

/// Returns the reason why a report cannot be compared, with advice.
pub(super) fn problem(input: Input) -> String {
    let report: Option<Report> = serde_json::from_reader(input.into_reader()).ok();
    let verb = report.as_ref().map_or_else(String::new, |report| format!(" of `{}`", report.verb));
    let measures = report.as_ref().is_some_and(|r| MEASURING.contains(&r.verb.as_str()));
    let what = format!("this is a report{verb}, which has results but not the single values; ");
    what + &match report.and_then(|report| report.file) {
        Some(file) => format!("they are in {file}: name that file instead"),
        None if measures => {
            "measure again with `--save FILE.assay`, and name that file instead".to_owned()
        }
        None => "name the files that it was made from instead".to_owned(),
    }
}
