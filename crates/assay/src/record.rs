//! The file that observations are recorded in as they are measured. When it can't be written any more, measuring goes on.

use crate::args::KeepArgs;
use crate::{present, store};
use assay_data::assay_file::{Header, Writer};
use assay_data::{
    Action, Environment, Finding, Inner, Metric, Observation, Row, Samples, Severity, StopReason,
    Subject,
};
use assay_experiment::Recorder;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Where observations are recorded as they are measured.
pub(crate) struct Record {
    /// The file; `None` once writing failed.
    pub writer: Option<Writer<File>>,
    /// Its path.
    pub path: PathBuf,
    /// Why writing failed.
    pub failure: Option<String>,
}

impl Record {
    /// Does something with the writer; after the first failure nothing more is written, and measuring goes on.
    fn write(&mut self, step: impl FnOnce(&mut Writer<File>) -> io::Result<()>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = step(writer) {
            self.failure = Some(error.to_string());
            self.writer = None;
        }
    }

    /// Opens the record, if there is to be one. The state directory may be out of reach: that is told, and measuring goes on.
    pub fn open(keep: &KeepArgs, began: &jiff::Timestamp, samples: &Samples) -> Option<Self> {
        if keep.no_save {
            return None;
        }
        let opened = match &keep.save {
            Some(path) => store::open_named("--save", path).map(|file| (path.clone(), file)),
            None => store::open_kept(began),
        };
        Some(Self::begin(opened, keep.save.as_ref(), samples))
    }

    /// Begins the record of these samples in a file that was opened, or could not be; `named`: the path that the user gave.
    fn begin(
        opened: anyhow::Result<(PathBuf, File)>,
        named: Option<&PathBuf>,
        samples: &Samples,
    ) -> Self {
        let failed = |path, failure| Self { writer: None, path, failure: Some(failure) };
        match opened {
            Ok((path, file)) => Self::start(path.clone(), file, samples)
                .unwrap_or_else(|error| failed(path, error.to_string())),
            Err(error) => failed(named.cloned().unwrap_or_default(), format!("{error:#}")),
        }
    }

    /// Begins the record of these samples in this file.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn start(path: PathBuf, file: File, samples: &Samples) -> io::Result<Self> {
        let header = Header { tool: Some(present::TOOL.to_owned()), ..Header::of(samples) };
        let writer = Writer::start(file, &header, samples)?;
        Ok(Self { writer: Some(writer), path, failure: None })
    }

    /// A finding that says that nothing could be saved, if so.
    pub fn not_saved(&self) -> Option<Finding> {
        let failure = self.failure.as_ref()?;
        let message =
            format!("the samples could not be saved to {}: {failure}", self.path.display());
        let finding = Finding::new("NOT_SAVED", Severity::Warning, message);
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

    fn finding(&mut self, finding: &Finding) {
        self.write(|writer| writer.finding(finding));
    }

    fn end(&mut self, late_facts: &Environment, reason: StopReason, blocks: u32) {
        self.write(|writer| writer.environment(late_facts));
        self.write(|writer| writer.stop(reason, blocks));
    }
}
