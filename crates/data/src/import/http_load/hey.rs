//! The output of hey and oha, which both consist of a summary, a distribution, details and
//! statuses. A file may contain several reports; each is one observation.
//!
//! The number of requests per second that these tools print includes failed requests. Requests that
//! oha aborted at its deadline are not failures of the server.

use super::super::{Context, Head, ImportError, Part};
use super::{BREAKS_OFF, Report, Reports, finish, number, time};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;

const STATUSES: &str = "Status code distribution:";
/// oha's name for requests in progress at the end.
pub(super) const CUT_BY_OHA: &str = "aborted due to deadline";
/// Caveat about oha's latencies.
pub(super) const UNLESS_CORRECTED: &str =
    ", unless `--latency-correction` was given, which its report doesn't say";

pub(in super::super) fn recognise_hey(head: &Head<'_>) -> bool {
    has(head, "Latency distribution:") && has(head, "Response time histogram:")
}

pub(in super::super) fn recognise_oha(head: &Head<'_>) -> bool {
    has(head, "Response time distribution:") && has(head, "Response time histogram:")
}

fn has(head: &Head<'_>, heading: &str) -> bool {
    head.text.lines().any(|line| line.trim() == heading)
}

pub(in super::super) fn read_hey(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    read(input, context, "hey", "")
}

pub(in super::super) fn read_oha(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    read(input, context, "oha", UNLESS_CORRECTED)
}

fn read(
    input: Input,
    context: &Context<'_>,
    tool: &str,
    unless: &str,
) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, tool);
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reports = Reports::default();
    let mut open: Option<Open> = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text == "Summary:" {
            let next = Open { report: Report::beginning(line.number), ..Open::default() };
            if let Some(last) = open.replace(next) {
                reports.push(last.end(&recorder)?);
            }
        } else if let Some(open) = &mut open {
            open.line(text).map_err(|problem| recorder.at(line.number, problem))?;
        }
    }
    if let Some(last) = open {
        reports.push(last.end(&recorder)?);
    }
    recorder.finding(closed_loop(tool, unless));
    finish(recorder, context.label, &reports, &[])
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Section {
    #[default]
    Summary,
    Distribution,
    Details,
    Statuses,
    Errors,
    Other,
}

/// A report that may continue on the following lines.
#[derive(Default)]
struct Open {
    report: Report,
    section: Section,
    has_statuses: bool,
    rate: f64,
    well: f64,
    /// Number of requests with any response.
    answered: f64,
    /// Number of requests without a response.
    errors: f64,
    /// Number of requests that oha aborted at its deadline.
    cut: f64,
}

impl Open {
    fn line(&mut self, text: &str) -> Result<(), String> {
        if text.ends_with(':') && !text.starts_with('[') {
            self.section = match text {
                "Latency distribution:" | "Response time distribution:" => Section::Distribution,
                "Details (average, fastest, slowest):" => Section::Details,
                STATUSES => Section::Statuses,
                "Error distribution:" => Section::Errors,
                _ => Section::Other,
            };
            self.has_statuses |= self.section == Section::Statuses;
            return Ok(());
        }
        match self.section {
            Section::Summary => self.summary(text),
            Section::Distribution => {
                let Some((percent, value)) = text.split_once("% in ") else { return Ok(()) };
                self.report.quantile(number(percent)?, time(value)?);
                Ok(())
            }
            Section::Details => self.detail(text),
            Section::Statuses | Section::Errors => self.count(text),
            Section::Other => Ok(()),
        }
    }

    fn summary(&mut self, text: &str) -> Result<(), String> {
        let Some((name, value)) = text.split_once(':') else { return Ok(()) };
        let metric = match name {
            "Slowest" => "latency_max",
            "Fastest" => "latency_min",
            "Average" => "latency_mean",
            "Requests/sec" => {
                self.rate = number(value)?;
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.report.time(metric, time(value)?);
        Ok(())
    }

    /// Parses `resp wait: 0.0004 secs, 0.0000 secs, 0.0025 secs`.
    fn detail(&mut self, text: &str) -> Result<(), String> {
        let Some((name, values)) = text.split_once(':') else { return Ok(()) };
        let metric = match name {
            "DNS+dialup" => "connect",
            "resp wait" => "first_byte",
            "resp read" => "transfer",
            _ => return Ok(()),
        };
        self.report.time(metric, time(values.split(',').next().unwrap_or_default())?);
        Ok(())
    }

    /// Parses `[200] 300 responses` or `[20] connection refused`.
    fn count(&mut self, text: &str) -> Result<(), String> {
        let Some((inside, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']'))
        else {
            return Ok(());
        };
        if self.section == Section::Errors {
            let count = number(inside)?;
            if rest.trim() == CUT_BY_OHA {
                self.cut += count;
            } else {
                self.errors += count;
                self.report.failure(rest.trim(), count);
            }
            return Ok(());
        }
        let count = number(rest.split_ascii_whitespace().next().unwrap_or_default())?;
        self.answered += count;
        if inside.starts_with(['2', '3']) {
            self.well += count;
        } else {
            self.report.failure(&format!("status {inside}"), count);
        }
        Ok(())
    }

    fn end(self, recorder: &Recorder<'_>) -> Result<Report, ImportError> {
        let mut report = self.report;
        if !self.has_statuses {
            return Err(recorder.at(report.begins, BREAKS_OFF));
        }
        if self.answered == 0.0 {
            report.without_times();
        }
        report.requests(self.answered + self.errors, self.well);
        report.rate(self.rate, self.answered + self.errors + self.cut, self.well);
        Ok(report)
    }
}
