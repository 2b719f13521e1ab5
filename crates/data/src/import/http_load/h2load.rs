//! The output of h2load. A file may contain several reports; each is one observation.
//!
//! h2load prints no quantiles. They can be computed from its log of individual requests
//! (`--log-file`). Its time to first byte is measured per connection, from the start of connecting.

use super::super::{Context, Head, ImportError, Part};
use super::{BREAKS_OFF, Report, Reports, finish, number, time};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::quoted_start;

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    let has = |start: &str| head.text.lines().any(|line| line.starts_with(start));
    has("finished in ") && has("time for request:")
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "h2load");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reports = Reports::default();
    let mut open: Option<Open> = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        let begins = text.starts_with("starting benchmark");
        if let Some(open) = open.as_ref().filter(|_| begins) {
            return Err(recorder.at(open.report.begins, BREAKS_OFF));
        }
        if begins || open.is_none() && text.starts_with("finished in ") {
            open = Some(Open { report: Report::beginning(line.number), ..Open::default() });
        }
        if let Some(current) = &mut open {
            let is_last =
                current.line(text).map_err(|problem| recorder.at(line.number, problem))?;
            if is_last && let Some(done) = open.take() {
                reports.push(done.finish());
            }
        }
    }
    if let Some(open) = &open {
        return Err(recorder.at(open.report.begins, BREAKS_OFF));
    }
    recorder.finding(closed_loop("h2load", ""));
    finish(recorder, context.label, &reports, &[])
}

/// An incomplete report.
#[derive(Default)]
struct Open {
    report: Report,
    clients: f64,
    rate: f64,
    done: f64,
    well: f64,
    total: f64,
}

impl Open {
    /// Reads one line; returns true for the last line of a report.
    fn line(&mut self, text: &str) -> Result<bool, String> {
        if let Some((_, rest)) = text.split_once("spawning thread #") {
            let clients = rest.split_once(": ").and_then(|(_, rest)| rest.split(' ').next());
            self.clients += number(clients.unwrap_or_default())?;
            return Ok(false);
        }
        let Some((name, rest)) = text.split_once(": ").or_else(|| text.split_once(" in ")) else {
            return Ok(false);
        };
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        match name.trim_end() {
            "Application protocol" => self.report.option("protocol", rest.trim()),
            // `finished in 9.66ms, 10350.90 req/s, 9.83MB/s`
            "finished" => self.rate = number(words.get(1).copied().unwrap_or_default())?,
            "requests" => self.requests(rest)?,
            "status codes" => {
                for (count, status) in pairs(rest)? {
                    if !status.starts_with(['2', '3']) {
                        self.report.failure(&format!("status {status}"), count);
                    }
                }
            }
            "time for request" => {
                let metrics = ["latency_min", "latency_max", "latency_mean", "latency_sd"];
                for (place, metric) in metrics.into_iter().enumerate() {
                    let value = time(words.get(place).copied().unwrap_or_default())?;
                    self.report.time(metric, value);
                }
            }
            "time for connect" => self.mean("connect", &words)?,
            "time to 1st byte" => self.mean("connection_first_byte", &words)?,
            "req/s" => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    /// Parses `100 total, 100 started, 100 done, 70 succeeded, 30 failed, 0 errored, 0 timeout`.
    fn requests(&mut self, rest: &str) -> Result<(), String> {
        for (count, what) in pairs(rest)? {
            match what {
                "total" => self.total = count,
                "done" => self.done = count,
                "succeeded" => self.well = count,
                // Includes timeouts.
                "errored" => self.report.failure("errored", count),
                _ => {}
            }
        }
        Ok(())
    }

    fn mean(&mut self, metric: &'static str, words: &[&str]) -> Result<(), String> {
        self.report.time(metric, time(words.get(2).copied().unwrap_or_default())?);
        Ok(())
    }

    fn finish(self) -> Report {
        let mut report = self.report;
        if self.clients > 0.0 {
            report.option("connections", &self.clients.to_string());
        }
        if self.done == 0.0 {
            report.without_times();
        }
        report.requests(self.total, self.well);
        report.rate(self.rate, self.done, self.well);
        report
    }
}

/// Parses `70 2xx, 0 3xx` into pairs of a number and its word.
fn pairs(text: &str) -> Result<Vec<(f64, &str)>, String> {
    let wrong = |text: &str| format!("`{}` is not a number of requests", quoted_start(text));
    text.split(',')
        .map(|each| {
            let (count, word) = each.trim().split_once(' ').ok_or_else(|| wrong(each))?;
            Ok((number(count)?, word))
        })
        .collect()
}
