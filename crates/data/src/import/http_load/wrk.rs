//! The output of wrk and wrk2, with or without `--latency`. A file may contain several reports;
//! each is one observation.
//!
//! wrk2 keeps a schedule and measures latencies from the planned time. Those of `-U`, which are
//! measured from sending, become `service_…`. wrk does not keep a schedule, and adds synthetic
//! latencies to the measured ones. The text does not say which of the two wrote it; wrk2 is
//! recognized by its calibration and its histogram.

use super::super::{Context, Head, ImportError, Part};
use super::{BREAKS_OFF, Report, Reports, finish, number, time};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::quoted_start;

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(is_heading)
        && head.text.lines().any(|line| line.trim().starts_with("Thread Stats"))
}

/// Recognizes `Running 2s test @ http://…`.
fn is_heading(line: &str) -> bool {
    line.starts_with("Running ") && line.contains(" test @ ")
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut recorder = Recorder::new(context, "wrk");
    let mut reader = Reader::default();
    while let Some(line) = lines.next()? {
        let read = reader.line(line.text.trim(), line.number);
        read.map_err(|(line, problem)| recorder.at(line, problem))?;
    }
    if let Some(open) = &reader.open {
        return Err(recorder.at(open.report.begins, BREAKS_OFF));
    }
    if reader.has_schedule {
        recorder.tool("wrk2");
    }
    if reader.lacks_schedule {
        let also = "; it adds latencies that it did not measure, to make up for that, and doesn't say how many";
        recorder.finding(closed_loop("wrk", also));
    }
    finish(recorder, context.label, &reader.reports, &[])
}

#[derive(Default)]
struct Reader {
    reports: Reports,
    open: Option<Open>,
    /// True if wrk2 wrote any of the reports.
    has_schedule: bool,
    lacks_schedule: bool,
}

/// An incomplete report.
#[derive(Default)]
struct Open {
    report: Report,
    is_wrk2: bool,
    /// The quantity to which the following quantiles belong, or `None` outside of a list of
    /// quantiles.
    quantiles_of: Option<&'static str>,
    mean: Option<[f64; 3]>,
    complete: f64,
    failed: f64,
    unsent: f64,
    rate: f64,
    has_requests: bool,
}

impl Reader {
    fn line(&mut self, text: &str, number: u64) -> Result<(), (u64, String)> {
        if is_heading(text) {
            if let Some(open) = &self.open {
                return Err((open.report.begins, BREAKS_OFF.to_owned()));
            }
            let mut report = Report::beginning(number);
            report.option("url", text.split_once(" test @ ").map_or("", |(_, url)| url));
            self.open = Some(Open { report, ..Open::default() });
            return Ok(());
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.line(text).map_err(|problem| (number, problem))? {
            self.end();
        }
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.has_schedule |= open.is_wrk2;
        self.lacks_schedule |= !open.is_wrk2;
        self.reports.push(open.finish());
    }
}

impl Open {
    /// Reads one line; returns true for the last line of a report.
    fn line(&mut self, text: &str) -> Result<bool, String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words[..] {
            [threads, "threads", "and", connections, "connections"] => {
                self.report.option("threads", threads);
                self.report.option("connections", connections);
            }
            ["Thread", "calibration:", ..] => self.is_wrk2 = true,
            ["Latency", "Distribution", ..] => {
                let is_raw = text.contains("Uncorrected");
                self.is_wrk2 |= text.contains("HdrHistogram");
                self.quantiles_of = Some(if is_raw { "service" } else { "latency" });
            }
            ["Latency", mean, sd, max, _] => self.mean = Some([time(mean)?, time(sd)?, time(max)?]),
            [percent, value] if percent.ends_with('%') => {
                if let Some(of) = self.quantiles_of {
                    self.report.quantile_of(of, number(percent)?, time(value)?);
                }
            }
            ["Detailed", "Percentile", ..] => self.quantiles_of = None,
            [requests, "requests", "in", ..] => {
                self.complete = number(requests)?;
                self.has_requests = true;
            }
            ["Socket", "errors:", ..] => self.socket_errors(&words)?,
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                let count = number(count)?;
                self.report.failure("status not 2xx or 3xx", count);
                self.failed += count;
            }
            ["Requests/sec:", rate] => self.rate = number(rate)?,
            ["Transfer/sec:", rate] => {
                if !self.has_requests {
                    return Err("the report lacks its number of requests".to_owned());
                }
                self.report.received(bytes(rate)?);
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Parses `Socket errors: connect 0, read 3, write 0, timeout 5`. The completed requests
    /// include those whose response arrived after the timeout.
    fn socket_errors(&mut self, words: &[&str]) -> Result<(), String> {
        for pair in words[2..].chunks_exact(2) {
            let count = number(pair[1])?;
            self.report.failure(pair[0], count);
            if pair[0] == "timeout" {
                self.failed += count;
            } else {
                self.unsent += count;
            }
        }
        Ok(())
    }

    fn finish(self) -> Report {
        let mut report = self.report;
        let well = self.complete - self.failed;
        let [mean, sd, max] = self.mean.unwrap_or([f64::NAN; 3]);
        report.time("latency_mean", mean);
        report.time("latency_sd", sd);
        report.time("latency_max", max);
        if self.complete == 0.0 {
            report.without_times();
        }
        report.rate(self.rate, self.complete, well);
        report.requests(self.complete + self.unsent, well);
        report
    }
}

/// Parses `38.17MB` into bytes, where a kB is 1024 bytes.
fn bytes(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "B" => 0,
        "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        _ => return Err(format!("`{}` is not a number of bytes", quoted_start(text))),
    };
    Ok(number(digits)? * 1024f64.powi(power))
}
