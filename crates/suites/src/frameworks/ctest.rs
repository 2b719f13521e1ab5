//! ctest, which runs each test as a program and reports in JUnit XML.

use super::{Framework, Orders, any_of, seed, too_old};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::Run;
use std::ffi::OsString;
use std::path::Path;

/// Maximum number of bytes of a passed test's output that the report contains; ctest's default is
/// 1024.
const OUTPUT: &str = "65536";

/// ctest.
#[derive(Debug)]
pub(super) struct Ctest;

impl Framework for Ctest {
    fn name(&self) -> &'static str {
        "ctest"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["ctest"])
    }

    fn orders(&self) -> Orders {
        Orders::No
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
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: "ctest",
                what: "draws its random order by itself, without a seed; use --order given"
                    .to_owned(),
            });
        }
        let report = room.join("report.xml").display().to_string();
        let mut options = vec!["--output-junit".to_owned(), report];
        options.extend(["--test-output-size-passed", OUTPUT].map(str::to_owned));
        if let Some(only) = &wanted.only {
            options.extend(["-R".to_owned(), any_of(only)]);
        }
        Ok(Request::words(call.with_options(&options)))
    }

    fn builds(&self, call: &Call, _: bool) -> Option<Request> {
        let mut words = call.argv.iter().skip_while(|word| *word != "--test-dir").skip(1);
        let joined = call.argv.iter().find_map(|word| word.to_str()?.strip_prefix("--test-dir="));
        let directory = joined.map(Into::into).or_else(|| words.next().cloned());
        let directory = directory.unwrap_or_else(|| ".".into());
        let script = "cmake \"$1\" && exec cmake --build \"$1\"";
        let mut argv: Vec<OsString> = ["sh", "-c", script, "sh"].map(OsString::from).to_vec();
        argv.push(directory);
        Some(Request::words(argv))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let results = reports::of_file(&answer.room.join("report.xml"), answer);
        let results =
            results.map_err(|error| too_old(error, answer, "ctest", ("--output-junit", "3.21")))?;
        Ok(reports::run(results, "ctest", answer))
    }
}
