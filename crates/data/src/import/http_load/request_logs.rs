//! Logs of individual requests: hey's and oha's CSV, ab's table for gnuplot (`-g`), h2load's
//! `--log-file`. Each row is an observation.
//!
//! hey and oha leave out requests without a response; h2load lists them with the time until they
//! failed. A response that is neither a success nor a redirection counts as a failed request, and
//! its time is kept. ab sorts its rows by time, so any dependence between successive requests is
//! lost.

use super::super::{Context, Head, ImportError, Part};
use super::{BaseUnit, metric_of, tell_failures};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::read_error::quoted_start;
use crate::samples::Outcome;
use std::collections::BTreeMap;

/// A log format, with its time columns and the divisor that converts them to seconds.
struct Log {
    tool: &'static str,
    header: Option<&'static str>,
    separator: char,
    /// Indices of the time columns, latency first.
    times: &'static [(usize, &'static str)],
    divisor: f64,
    status: Option<usize>,
}

const LOGS: [Log; 4] = [
    Log {
        tool: "hey",
        header: Some(
            "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset",
        ),
        separator: ',',
        times: &[(0, "latency"), (1, "connect"), (4, "first_byte"), (5, "transfer")],
        divisor: 1.0,
        status: Some(6),
    },
    Log {
        tool: "oha",
        header: Some("request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"),
        separator: ',',
        times: &[(4, "latency"), (2, "connect"), (3, "first_byte")],
        divisor: 1.0,
        status: Some(6),
    },
    Log {
        tool: "ab",
        header: Some("starttime\tseconds\tctime\tdtime\tttime\twait"),
        separator: '\t',
        times: &[(4, "latency"), (2, "connect"), (5, "first_byte")],
        divisor: 1e3,
        status: None,
    },
    Log {
        tool: "h2load",
        header: None,
        separator: '\t',
        times: &[(2, "latency")],
        divisor: 1e6,
        status: Some(1),
    },
];

impl Log {
    /// Returns the format of a file with this first row.
    fn of(first: &str) -> Option<&'static Self> {
        LOGS.iter().find(|log| match log.header {
            Some(header) => first == header,
            None => is_of_h2load(first),
        })
    }
}

/// Recognizes a row of h2load: microseconds since 1970, a status or -1, and a duration in
/// microseconds.
fn is_of_h2load(row: &str) -> bool {
    let mut columns = row.split('\t');
    let mut number = || columns.next().and_then(|text| text.parse::<i64>().ok());
    let (start, status, time) = (number(), number(), number());
    start.is_some_and(|start| start > 1_000_000_000_000_000)
        && status.is_some_and(|status| status == -1 || (100..600).contains(&status))
        && time.is_some_and(|time| time >= 0)
        && columns.next().is_none()
}

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    Log::of(head.first).is_some()
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut log: Option<&Log> = None;
    let mut recorder = Recorder::without_tool(context);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut answered: Vec<f64> = Vec::new();
    // Number of failed requests, by status.
    let mut failed: BTreeMap<i64, f64> = BTreeMap::new();
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let log = match log {
            Some(log) => log,
            None => {
                let Some(found) = Log::of(text) else { break };
                recorder.tool(found.tool);
                columns.resize(found.times.len(), Vec::new());
                log = Some(found);
                found
            }
        };
        // Files that were appended to each other each have a header.
        if log.header == Some(text) {
            continue;
        }
        let row = log.row(text, line.ended).map_err(|problem| recorder.at(line.number, problem))?;
        answered.push(f64::from(u8::from(row.is_well())));
        if !row.is_well() {
            *failed.entry(row.status.unwrap_or(NO_ANSWER)).or_default() += 1.0;
        }
        for (column, value) in columns.iter_mut().zip(row.times) {
            column.push(value);
        }
    }
    let Some(log) = log else { return recorder.finish("a header") };
    let subject = recorder.benchmark(context.label, None, &[]);
    let mut taken = Vec::new();
    for ((_, name), column) in log.times.iter().zip(columns) {
        let metric = recorder.metric(&metric_of(name, BaseUnit::Seconds));
        taken.push((metric.map_err(|problem| recorder.whole_file(problem))?, column));
    }
    if log.status.is_some() {
        let metric = recorder.metric(&metric_of("answered", BaseUnit::Things));
        taken.push((metric.map_err(|problem| recorder.whole_file(problem))?, answered));
    }
    let taken = recorder.observe_all(subject, taken, |_| Outcome::Ok);
    taken.map_err(|problem| recorder.whole_file(problem))?;
    let kind = |(status, count): (i64, f64)| match status {
        NO_ANSWER => ("without an answer".to_owned(), count),
        status => (format!("status {status}"), count),
    };
    tell_failures(&mut recorder, &failed.into_iter().map(kind).collect::<Vec<_>>());
    recorder.finding(closed_loop(log.tool, ""));
    recorder.finish("a header")
}

/// One request.
struct Row {
    times: Vec<f64>,
    status: Option<i64>,
}

/// The status that h2load writes for a request without a response.
const NO_ANSWER: i64 = -1;

impl Row {
    fn is_well(&self) -> bool {
        self.status.is_none_or(|status| (200..400).contains(&status))
    }
}

impl Log {
    fn row(&self, text: &str, ended: bool) -> Result<Row, String> {
        let fields: Vec<&str> = text.split(self.separator).collect();
        let wrong = || {
            let how = if ended { "is not a row of" } else { "breaks off; it is not a row of" };
            format!("`{}` {how} the log of {}", quoted_start(text), self.tool)
        };
        let number = |place: usize| {
            let number = fields.get(place).and_then(|field| plain(field));
            number.filter(|number| number.is_finite()).ok_or_else(wrong)
        };
        let expected = self.header.map_or(3, |header| header.split(self.separator).count());
        if fields.len() != expected {
            return Err(wrong());
        }
        let times = self.times.iter().map(|&(place, _)| Ok(number(place)? / self.divisor));
        let times = times.collect::<Result<_, String>>()?;
        let status = self.status.map(number).transpose()?.map(|status| status as i64);
        Ok(Row { times, status })
    }
}
