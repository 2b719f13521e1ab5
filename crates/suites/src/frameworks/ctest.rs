//! ctest: a test is a program, and the report is JUnit XML.

use super::{Framework, Orders, any_of, seed, too_old};
use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::Run;
use std::path::Path;

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

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: "ctest",
                what: "draws its random order by itself, without a seed; --order given".to_owned(),
            });
        }
        let report = room.join("report.xml").display().to_string();
        let mut options = vec!["--output-junit".to_owned(), report];
        if let Some(only) = &wanted.only {
            options.extend(["-R".to_owned(), any_of(only)]);
        }
        Ok(Request::words(call.with_options(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let results = reports::of_file(&answer.room.join("report.xml"), answer);
        let results =
            results.map_err(|error| too_old(error, answer, "ctest", ("--output-junit", "3.21")))?;
        Ok(reports::run(results, "ctest", answer))
    }
}
