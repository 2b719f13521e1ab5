//! Programs of GoogleTest and Catch2: they are known by the functions of their framework, and answer in JUnit XML.

use super::{Framework, Orders, seed, too_old};
use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::Run;
use std::path::Path;

/// GoogleTest takes seeds up to this one.
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
        let results = reports::of_file(&answer.room.join("report.xml"), answer)?;
        Ok(reports::run(results, "GoogleTest", answer))
    }
}

/// A program of Catch2.
#[derive(Debug)]
pub(super) struct Catch2;

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
        let mut options = ["--reporter", "junit", "--out", &report, "--durations", "yes"]
            .map(str::to_owned)
            .to_vec();
        if let Some(seed) = seed(wanted) {
            options.extend(["--order", "rand", "--rng-seed"].map(str::to_owned));
            options.push(seed.to_string());
        }
        Ok(Request::words(call.with_last(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let results = reports::of_file(&answer.room.join("report.xml"), answer);
        let results =
            results.map_err(|error| too_old(error, answer, "Catch2", ("reporter", "2.0")))?;
        Ok(reports::run(results, "Catch2", answer))
    }
}
