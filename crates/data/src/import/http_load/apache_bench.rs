//! The output of ab (ApacheBench), and its table of percentiles (`-e`). A file may contain several
//! reports; each is one observation.
//!
//! The output has whole milliseconds, while the table has microseconds. Responses whose length
//! differs from that of the first one are not counted as failures, because pages vary.

use super::super::{Context, Head, ImportError, Part};
use super::{BREAKS_OFF, Report, Reports, finish, number};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;

const TABLE: &str = "Percentage served,Time in ms";
/// The percentiles that are read from the table, which has all whole ones.
const OF_TABLE: [u32; 7] = [0, 50, 75, 90, 95, 98, 99];

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    let has = |start: &str| head.text.lines().any(|line| line.starts_with(start));
    has("Concurrency Level:") && has("Complete requests:")
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "ab");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reports = Reports::default();
    let mut open: Option<Open> = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        let begins = text.starts_with("Server Software:");
        if begins && let Some(last) = open.take() {
            reports.push(last.end(&recorder)?);
        }
        if begins || open.is_none() && text.starts_with("Concurrency Level:") {
            open = Some(Open { report: Report::beginning(line.number), ..Open::default() });
        }
        if let Some(open) = &mut open {
            open.line(text).map_err(|problem| recorder.at(line.number, problem))?;
        }
    }
    if let Some(last) = open {
        reports.push(last.end(&recorder)?);
    }
    recorder.finding(closed_loop("ab", ""));
    finish(recorder, context.label, &reports, &[])
}

/// A report that may continue on the following lines.
#[derive(Default)]
struct Open {
    report: Report,
    host: String,
    port: String,
    complete: Option<f64>,
    /// Number of completed requests without a successful response.
    failed: f64,
    rate: Option<f64>,
    /// `None` before the list of percentiles, `Some(false)` within it, and `Some(true)` after its
    /// last line.
    percentiles: Option<bool>,
}

impl Open {
    fn line(&mut self, text: &str) -> Result<(), String> {
        if let Some((percent, rest)) = text.split_once('%')
            && self.percentiles.is_some()
        {
            let percent = number(percent)?;
            let value = rest.split_ascii_whitespace().next().unwrap_or_default();
            self.report.quantile(percent, number(value)? / 1e3);
            self.percentiles = Some(percent == 100.0);
            return Ok(());
        }
        if text.starts_with("Percentage of the requests served") {
            self.percentiles = Some(false);
            return Ok(());
        }
        if let Some(kinds) = text.strip_prefix("(Connect:") {
            return self.failures(kinds);
        }
        let Some((name, rest)) = text.split_once(':') else { return Ok(()) };
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let first = words.first().copied().unwrap_or_default();
        match name {
            "Server Hostname" => first.clone_into(&mut self.host),
            "Server Port" => first.clone_into(&mut self.port),
            "Document Path" => {
                self.report.option("url", &format!("{}:{}{first}", self.host, self.port));
            }
            "Concurrency Level" => self.report.option("connections", first),
            "Complete requests" => self.complete = Some(number(first)?),
            "Non-2xx responses" => {
                let count = number(first)?;
                self.report.failure("status not 2xx", count);
                self.failed += count;
            }
            "Requests per second" => self.rate = Some(number(first)?),
            // The other line of this name divides by the requests of all connections together.
            "Time per request" if !rest.contains("across") => {
                self.report.milliseconds("latency_mean", number(first)?);
            }
            "Transfer rate" => self.report.received(number(first)? * 1024.0),
            "Connect" if words.len() == 5 => {
                self.report.milliseconds("connect", number(words[1])?);
            }
            "Waiting" if words.len() == 5 => {
                self.report.milliseconds("first_byte", number(words[1])?);
            }
            "Total" if words.len() == 5 => {
                self.report.milliseconds("latency_min", number(first)?);
                self.report.milliseconds("latency_sd", number(words[2])?);
                self.report.quantile(50.0, number(words[3])? / 1e3);
                self.report.milliseconds("latency_max", number(words[4])?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Parses `(Connect: 0, Receive: 0, Length: 137, Exceptions: 0)`.
    fn failures(&mut self, kinds: &str) -> Result<(), String> {
        let kinds = format!("Connect:{}", kinds.trim_end_matches(')'));
        for kind in kinds.split(',') {
            let Some((name, count)) = kind.split_once(':') else { continue };
            let (name, count) = (name.trim().to_ascii_lowercase(), number(count)?);
            if name != "length" {
                self.failed += count;
                self.report.failure(&name, count);
            }
        }
        Ok(())
    }

    fn end(self, recorder: &Recorder<'_>) -> Result<Report, ImportError> {
        let mut report = self.report;
        let (Some(complete), Some(rate)) = (self.complete, self.rate) else {
            return Err(recorder.at(report.begins, BREAKS_OFF));
        };
        if self.percentiles == Some(false) {
            return Err(recorder.at(report.begins, BREAKS_OFF));
        }
        if complete == 0.0 {
            report.without_times();
        }
        report.requests(complete, complete - self.failed);
        report.rate(rate, complete, complete - self.failed);
        Ok(report)
    }
}

pub(in super::super) fn recognise_table(head: &Head<'_>) -> bool {
    head.first == TABLE
}

/// Reads the tables of `-e`.
pub(in super::super) fn read_table(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "ab");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reports = Reports::default();
    let mut open = Report::default();
    // The next expected percentile. A table has every whole percentile from 0 to 99.
    let mut next = 100u32;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if text == TABLE {
            if next < 100 {
                break;
            }
            next = 0;
            open = Report::beginning(line.number);
            continue;
        }
        let wrong = || {
            let problem = format!("expected percentile {next} and its time in ms: `50,0.318`");
            recorder.at(line.number, problem)
        };
        let row = text
            .split_once(',')
            .and_then(|(percent, value)| Some((percent.parse::<u32>().ok()?, plain(value)?)));
        let (percent, value) = row.filter(|(percent, _)| *percent == next).ok_or_else(wrong)?;
        next += 1;
        if OF_TABLE.contains(&percent) {
            open.quantile(f64::from(percent), value / 1e3);
        }
        if next == 100 {
            reports.push(std::mem::take(&mut open));
        }
    }
    if next < 100 {
        return Err(recorder.at(open.begins, BREAKS_OFF));
    }
    recorder.finding(closed_loop("ab", ""));
    finish(recorder, context.label, &reports, &[])
}
