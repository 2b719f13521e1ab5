//! Results of tools that print one figure per benchmark. The figure of a single run is a summary;
//! if a file has several runs, each figure is an observation.
//!
//! A shell loop that appends to a file therefore provides the observations that a verdict needs.
//! This module does not depend on any format.

use super::recorder::Recorder;
use super::{ImportError, Part};
use crate::samples::{Metric, Outcome, Summary};
use std::collections::HashMap;

/// The figure of one run.
struct Run {
    benchmark: usize,
    metric: usize,
    value: f64,
    summary: Summary,
}

/// Gathers figures.
pub(super) struct Runs<'a> {
    pub recorder: Recorder<'a>,
    runs: Vec<Run>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(recorder: Recorder<'a>) -> Self {
        Self { recorder, runs: Vec::new() }
    }

    /// Adds the figure of one run of a benchmark, and the summary of that run. The subject and the
    /// metric of the summary are filled in.
    ///
    /// # Errors
    /// Returns an error if the metric had a different unit before, or if there are too many
    /// metrics.
    pub(super) fn add(
        &mut self,
        name: &str,
        metric: &Metric,
        value: f64,
        summary: Summary,
    ) -> Result<(), String> {
        let index = self.recorder.metric(metric)?;
        let benchmark = self.recorder.benchmark(name, None, &[]);
        let summary = Summary { subject: benchmark, metric: metric.name.clone(), ..summary };
        self.runs.push(Run { benchmark, metric: index, value, summary });
        Ok(())
    }

    /// Returns the samples. `holds` describes the contents of a file that has none.
    ///
    /// # Errors
    /// Returns an error if there is no figure.
    pub(super) fn finish(mut self, holds: &'static str) -> Result<Part, ImportError> {
        let mut times: HashMap<(usize, usize), usize> = HashMap::new();
        for run in &self.runs {
            *times.entry((run.benchmark, run.metric)).or_default() += 1;
        }
        for run in std::mem::take(&mut self.runs) {
            if times[&(run.benchmark, run.metric)] == 1 {
                self.recorder.summary(run.summary);
                continue;
            }
            let values = [(run.metric, run.value)];
            let taken = self.recorder.observe(run.benchmark, &[], Outcome::Ok, &values);
            taken.map_err(|problem| self.recorder.whole_file(problem))?;
        }
        self.recorder.finish(holds)
    }
}
