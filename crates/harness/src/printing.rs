//! Driver for programs without a known harness that print results in a supported format, such as
//! nanobench's JSON, when they are run without options.
//!
//! These programs accept no options, so every run measures all of their benchmarks and takes as
//! long as the program specifies. Such programs can be recognized only by running them, which is
//! the last resort. Then only the output of a known benchmark tool is accepted, because columns of
//! numbers may mean anything. If the user chooses this harness by name, the output may be anything
//! that the importers read.

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, tail};
use crate::program::Program;
use crate::reading::{Reading, readings};
use crate::reply::Reply;
use assay_data::Samples;
use assay_data::import::{self, ImportOptions};
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "printing";

const HARNESS: &str = "a benchmark tool";

/// Name of a benchmark whose results have no name. It is constant, so that it is the same on all
/// sides.
const UNNAMED: &str = "output";

/// A program that prints results.
#[derive(Debug)]
struct Printing {
    /// Name of the tool whose format the program prints; `None` if the user chose this harness.
    tool: Option<String>,
}

/// Recognizes the harness by the output of a run without additional arguments.
pub(crate) fn recognise(reply: &Reply) -> Option<Box<dyn Driver>> {
    let samples = printed(reply).ok()?;
    let is_usable = reply.success && !readings(&samples).is_empty();
    let tool = samples.tool.filter(|_| is_usable)?;
    Some(Box::new(Printing { tool: Some(tool) }))
}

/// Creates the driver for a program whose harness was chosen by the user.
pub(crate) fn assumed(_program: &Program) -> Box<dyn Driver> {
    Box::new(Printing { tool: None })
}

impl Driver for Printing {
    fn name(&self) -> String {
        match &self.tool {
            Some(tool) => format!("{tool}, printed by the program"),
            None => "printed results".to_owned(),
        }
    }

    fn isolates(&self) -> bool {
        false
    }

    fn pins(&self) -> bool {
        false
    }

    fn list(&self, _scratch: &Path) -> Request {
        Request::default()
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        if reply.output.iter().all(u8::is_ascii_whitespace) {
            return Err(HarnessError::NoBenchmark { said: tail(&reply.errors, &reply.output) });
        }
        Ok(self.read(reply)?.into_iter().map(|reading| reading.benchmark).collect())
    }

    fn measure(&self, _benchmark: &str, _effort: Effort, _scratch: &Path) -> Request {
        Request::default()
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        if !reply.success {
            return Err(garbage("it ended with an error".to_owned(), reply));
        }
        Ok(readings(&printed(reply)?))
    }
}

fn printed(reply: &Reply) -> Result<Samples, HarnessError> {
    import::load_bytes(reply.bytes()?, UNNAMED, &ImportOptions::default())
        .map_err(|error| garbage(error.to_string(), reply))
}

fn garbage(why: String, reply: &Reply) -> HarnessError {
    HarnessError::Garbage { harness: HARNESS, why, said: tail(&reply.errors, &reply.output) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    fn reply(output: &str) -> Reply {
        Reply { output: output.as_bytes().to_vec(), success: true, ..Reply::default() }
    }

    const UNKNOWN: Printing = Printing { tool: None };

    const NANOBENCH: &str = r#"{"results": [
        {"title": "t", "name": "a", "unit": "op", "batch": 2, "clockResolution": 2e-08, "median(elapsed)": 4e-07,
         "measurements": [{"iterations": 10, "elapsed": 4e-07}, {"iterations": 30, "elapsed": 8e-07}]},
        {"title": "t", "name": "gone", "batch": 1, "measurements": []}]}"#;

    #[test]
    fn results_of_a_tool_are_recognised_and_read() {
        let driver = recognise(&reply(NANOBENCH)).unwrap();
        assert_eq!(driver.name(), "nanobench, printed by the program");
        assert!(!driver.isolates() && !driver.pins());
        assert_eq!(driver.listed(&reply(NANOBENCH)).unwrap(), ["a", "gone"]);
        let found = driver.read(&reply(NANOBENCH)).unwrap();
        assert_eq!(found[0].iterations, Some(40.0));
        // The expected value is the mean weighted by iterations, divided by the batch size.
        assert!((found[0].values[0].1 / 3.5e-7 - 1.0).abs() < 1e-12);
        assert!(found[1].error.is_some());
    }

    #[test]
    fn what_may_be_anything_is_taken_only_by_name() {
        for text in ["1.5\n2.5\n", "name,value\nx,1\n", "{\"a\": 1}", "hello\n", ""] {
            assert!(recognise(&reply(text)).is_none(), "{text:?}");
        }
        let found = UNKNOWN.read(&reply("1.5\n2.5\n")).unwrap();
        assert_eq!(found[0].benchmark, "output");
        assert_eq!(found[0].values[0].1, 2.0);
    }

    #[test]
    fn a_program_that_fails_prints_nothing_or_garbage_is_an_error() {
        let driver = UNKNOWN;
        let mut failed = reply(NANOBENCH);
        failed.success = false;
        failed.errors = b"no luck\n".to_vec();
        assert!(recognise(&failed).is_none());
        assert!(driver.read(&failed).unwrap_err().to_string().ends_with("`no luck`"));
        assert!(matches!(driver.listed(&reply("\n")), Err(HarnessError::NoBenchmark { .. })));
        for garbage in ["hello\n", &NANOBENCH[..NANOBENCH.len() / 2]] {
            let error = driver.listed(&reply(garbage));
            assert!(matches!(error, Err(HarnessError::Garbage { .. })), "{garbage}");
        }
    }
}
