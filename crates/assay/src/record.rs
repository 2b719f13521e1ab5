//! The file in which observations are recorded while measuring. Measuring continues even if writing
//! the file fails.

use crate::args::KeepArgs;
use crate::store::RecordFile;
use crate::{output, present, store};
use anyhow::Context;
use assay_analysis::engine::Recorder;
use assay_data::assay_file::{Header, Writer};
use assay_data::code;
use assay_data::samples::{Buckets, Counts};
use assay_data::system_error::reason;
use assay_data::{
    Action, Environment, Finding, Inner, Metric, Observation, Row, Samples, StopReason, Subject,
};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Records observations while they are measured.
pub(crate) struct Record {
    /// Writer of the record; `None` after a write has failed.
    pub writer: Option<Writer<File>>,
    /// Path of the record.
    pub path: PathBuf,
    /// The reason why the record could not be written.
    pub failure: Option<String>,
    /// Path at which an earlier record is kept until this one is complete.
    pub earlier: Option<PathBuf>,
}

impl Record {
    /// Applies an operation to the writer. After the first failure nothing more is written, and
    /// measuring continues.
    fn write(&mut self, step: impl FnOnce(&mut Writer<File>) -> io::Result<()>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = step(writer) {
            self.failure = Some(reason(&error));
            self.writer = None;
        }
    }

    /// Opens the record unless the user opted out. If that fails, the failure is recorded for a
    /// finding, and measuring continues.
    pub fn open(keep: &KeepArgs, began: &jiff::Timestamp, samples: &Samples) -> Option<Self> {
        if keep.no_save {
            return None;
        }
        let begun = match &keep.save {
            Some(path) => Self::named("--save", path, samples),
            None => store::open_kept(began)
                .and_then(|(path, file)| Self::start(path, file, None, samples)),
        };
        let path = keep.save.clone().unwrap_or_default();
        let failed = |error: anyhow::Error| Self {
            writer: None,
            path,
            failure: Some(output::told(&error)),
            earlier: None,
        };
        Some(begun.unwrap_or_else(failed))
    }

    /// Starts a record of these samples in the file that the user named with `option`. If there is
    /// an earlier record, prints where it is kept.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn named(option: &str, path: &Path, samples: &Samples) -> anyhow::Result<Self> {
        let RecordFile { file, earlier } = store::open_named(option, path)?;
        if let Some(earlier) = &earlier {
            output::say(&format!(
                "{option}: {} holds an earlier record; it is kept as {} until this run ends",
                path.display(),
                earlier.display()
            ));
        }
        Self::start(path.to_owned(), file, earlier, samples)
    }

    fn start(
        path: PathBuf,
        file: File,
        earlier: Option<PathBuf>,
        samples: &Samples,
    ) -> anyhow::Result<Self> {
        let header = Header { tool: Some(present::TOOL.to_owned()), ..Header::of(samples) };
        let writer =
            Writer::start(file, &header, samples).with_context(|| path.display().to_string())?;
        Ok(Self { writer: Some(writer), path, failure: None, earlier })
    }

    /// Returns a finding if writing the record failed.
    pub fn not_saved(&self) -> Option<Finding> {
        let failure = self.failure.as_ref()?;
        let place = match self.path.as_os_str().is_empty() {
            true => String::new(),
            false => format!(" to {}", self.path.display()),
        };
        let message = format!("the samples could not be saved{place}: {failure}");
        let finding = Finding::new(code::NOT_SAVED, message);
        Some(finding.advise(Action::text("make room")).advise(Action::SaveElsewhere))
    }
}

impl Recorder for Record {
    fn metric(&mut self, metric: &Metric) {
        self.write(|writer| writer.metric(metric));
    }

    fn row(&mut self, row: &Row) {
        self.write(|writer| writer.row(row));
    }

    fn subject(&mut self, subject: &Subject) {
        self.write(|writer| writer.subject(subject));
    }

    fn observation(&mut self, observation: &Observation) {
        self.write(|writer| writer.observe(observation));
    }

    fn inner(&mut self, inner: &Inner) {
        self.write(|writer| writer.inner(inner));
    }

    fn histogram(&mut self, buckets: &Buckets) {
        self.write(|writer| writer.histogram(buckets));
    }

    fn counts(&mut self, counts: &Counts) {
        self.write(|writer| writer.counts(counts));
    }

    fn finding(&mut self, finding: &Finding) {
        self.write(|writer| writer.finding(finding));
    }

    fn end(&mut self, late_facts: &Environment, reason: StopReason, blocks: u32) {
        self.write(|writer| writer.environment(late_facts));
        self.write(|writer| writer.stop(reason, blocks));
        if let Some(earlier) = self.earlier.take().filter(|_| self.failure.is_none()) {
            // If the old record cannot be removed, it stays next to the new one.
            let _stays = std::fs::remove_file(earlier);
        }
    }
}
