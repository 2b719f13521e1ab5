//! Whatever prints TAP or JUnit XML, or writes such a file: nothing can be asked of it.

use super::{Framework, Orders, seed};
use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::Run;
use std::path::{Path, PathBuf};

fn asked(call: &Call, wanted: &Wanted) -> Result<Request, SuiteError> {
    let unable =
        |what: &str| SuiteError::Unable { framework: "this command", what: what.to_owned() };
    if seed(wanted).is_some() {
        return Err(unable("has no random order that assay knows how to ask for; --order given"));
    }
    if wanted.only.is_some() {
        return Err(unable("can't be held to some of its tests"));
    }
    Ok(Request::words(call.argv.clone()))
}

/// A command that prints its report.
#[derive(Debug)]
pub(super) struct Printed;

impl Framework for Printed {
    fn name(&self) -> &'static str {
        "tap"
    }

    fn knows(&self, _: &Call) -> bool {
        false
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn ask(&self, call: &Call, wanted: &Wanted, _: &Path) -> Result<Request, SuiteError> {
        asked(call, wanted)
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let read = reports::of_bytes(answer.output.to_vec(), "(standard output)");
        let results = read.map_err(|_| SuiteError::Unknown {
            said: answer.said().unwrap_or_else(|| "nothing".to_owned()),
            known: super::names().join(", "),
        })?;
        Ok(reports::run(results, "TAP", answer))
    }
}

/// A command that writes its report into a file of its own.
#[derive(Debug)]
pub(super) struct Written {
    pub file: PathBuf,
}

impl Framework for Written {
    fn name(&self) -> &'static str {
        "report"
    }

    fn knows(&self, _: &Call) -> bool {
        false
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn ask(&self, call: &Call, wanted: &Wanted, _: &Path) -> Result<Request, SuiteError> {
        asked(call, wanted)
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let path = answer.directory.join(&self.file);
        let changed = std::fs::metadata(&path).and_then(|file| file.modified()).ok();
        let changed = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let began = answer.began + answer.since_1970;
        if changed.is_none_or(|time| time.as_secs_f64() < began - 0.02) {
            return Err(SuiteError::NoReport { said: answer.said() });
        }
        Ok(reports::run(reports::of_file(&path, answer)?, "JUnit XML", answer))
    }
}
