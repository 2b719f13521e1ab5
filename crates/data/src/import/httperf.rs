//! The output of httperf. Each report is one observation with all its numbers. Reports appended to
//! one file are distinguished by their commands.
//!
//! httperf prints zeros for quantities that it did not measure, such as a reply rate without
//! samples (tests below 5 s), or the times of replies that never arrived. These are treated as
//! missing values. Its times and CPU usage are those of the client, and exclude failed connections.
//! A report without its last line of errors is incomplete. The command is the line that httperf
//! prints first, with its options expanded.

use super::http_load::{self, BaseUnit};
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::read_error::quoted_start;

/// One number of the report: the start of its line, the word before it, and its metric.
struct Field {
    line: &'static str,
    word: &'static str,
    metric: &'static str,
    unit: &'static str,
}

const fn field(
    line: &'static str,
    word: &'static str,
    metric: &'static str,
    unit: &'static str,
) -> Field {
    Field { line, word, metric, unit }
}

const CONNECTION_TIME: &str = "Connection time [ms]:";
const REPLY_RATE: &str = "Reply rate [replies/s]:";
const REPLY_SIZE: &str = "Reply size [B]:";
const LAST: &str = "Errors: fd-unavail";

/// All numbers; those by which servers are compared come first.
const FIELDS: [Field; 48] = [
    field("Request rate:", "rate:", "request_rate", "/s"),
    field(REPLY_RATE, "avg", "reply_rate", "/s"),
    field("Reply time [ms]:", "response", "first_byte", "ms"),
    field("Reply time [ms]:", "transfer", "transfer", "ms"),
    field(CONNECTION_TIME, "avg", "connection_time", "ms"),
    field(CONNECTION_TIME, "min", "connection_time_min", "ms"),
    field(CONNECTION_TIME, "max", "connection_time_max", "ms"),
    field(CONNECTION_TIME, "median", "connection_time_median", "ms"),
    field(CONNECTION_TIME, "stddev", "connection_time_stddev", "ms"),
    field(CONNECTION_TIME, "connect", "connect", "ms"),
    field("Connection rate:", "rate:", "connection_rate", "/s"),
    field("Connection rate:", "<=", "concurrent_connections", "1"),
    field("Connection length", "[replies/conn]:", "replies_per_connection", "1"),
    field(REPLY_RATE, "min", "reply_rate_min", "/s"),
    field(REPLY_RATE, "max", "reply_rate_max", "/s"),
    field(REPLY_RATE, "stddev", "reply_rate_stddev", "/s"),
    field("Errors: total", "total", "errors", "1"),
    field("Errors: total", "client-timo", "errors_client_timo", "1"),
    field("Errors: total", "socket-timo", "errors_socket_timo", "1"),
    field("Errors: total", "connrefused", "errors_connrefused", "1"),
    field("Errors: total", "connreset", "errors_connreset", "1"),
    field(LAST, "fd-unavail", "errors_fd_unavail", "1"),
    field(LAST, "addrunavail", "errors_addrunavail", "1"),
    field(LAST, "ftab-full", "errors_ftab_full", "1"),
    field(LAST, "other", "errors_other", "1"),
    field("Total:", "connections", "connections", "1"),
    field("Total:", "requests", "requests_sent", "1"),
    field("Total:", "replies", "replies", "1"),
    field("Total:", "test-duration", "test_duration", "s"),
    field("Reply status:", "1xx", "status_1xx", "1"),
    field("Reply status:", "2xx", "status_2xx", "1"),
    field("Reply status:", "3xx", "status_3xx", "1"),
    field("Reply status:", "4xx", "status_4xx", "1"),
    field("Reply status:", "5xx", "status_5xx", "1"),
    field("Request size [B]:", "[B]:", "request_size", "B"),
    field(REPLY_SIZE, "total", "reply_size", "B"),
    field(REPLY_SIZE, "header", "reply_size_header", "B"),
    field(REPLY_SIZE, "content", "reply_size_content", "B"),
    field(REPLY_SIZE, "footer", "reply_size_footer", "B"),
    field("Net I/O:", "I/O:", "net_io", "KiB"),
    field("CPU time [s]:", "user", "client_user", "s"),
    field("CPU time [s]:", "system", "client_system", "s"),
    field("CPU time [s]:", "total", "client_cpu_share", "%"),
    field("Maximum connect burst length:", "length:", "connect_burst", "1"),
    field("Session rate", "avg", "session_rate", "/s"),
    field("Session:", "avg", "connections_per_session", "1"),
    field("Session lifetime [s]:", "[s]:", "session_lifetime", "s"),
    field("Session failtime [s]:", "[s]:", "session_failtime", "s"),
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |start: &str| head.text.lines().any(|line| line.starts_with(start));
    has("Maximum connect burst length:")
        || has("Total: connections ")
        || head.text.lines().any(is_command)
}

/// Recognizes `httperf --hog --client=0/1 …`, as httperf repeats it.
fn is_command(line: &str) -> bool {
    line.starts_with("httperf --") && line.contains(" --client=")
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reader =
        Reader { recorder: Recorder::new(context, "httperf"), reports: Vec::new(), open: None };
    while let Some(line) = lines.next()? {
        let read = reader.line(line.text.trim(), line.number, line.ended);
        read.map_err(|(line, problem)| reader.recorder.at(line, problem))?;
    }
    if let Some(open) = &reader.open {
        return Err(reader.recorder.at(open.begins, BREAKS_OFF));
    }
    reader.finish(context.label)
}

const BREAKS_OFF: &str = "the report that begins here breaks off before its errors";

/// One report.
#[derive(Default)]
struct Report {
    /// Line on which the report begins.
    begins: u64,
    command: String,
    /// Numbers, as pairs of an index into [`FIELDS`] and a value. A missing number has no pair.
    values: Vec<(usize, f64)>,
    /// Number of samples of the reply rate.
    samples: Option<f64>,
}

impl Report {
    /// Returns the options with their values, including the server and the requested load.
    fn options(&self) -> Vec<(&str, &str)> {
        let words = self.command.split_ascii_whitespace();
        let options = words.filter_map(|word| word.strip_prefix("--"));
        options.map(|option| option.split_once('=').unwrap_or((option, "yes"))).collect()
    }

    fn value(&self, metric: &str) -> f64 {
        let found = self.values.iter().find(|(field, _)| FIELDS[*field].metric == metric);
        found.map_or(f64::NAN, |&(_, value)| value)
    }

    /// Returns the number of requests that should have been sent, including those on failed
    /// connections.
    fn requested(&self) -> f64 {
        let options = self.options();
        let option =
            |name| options.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
        let product = |numbers: &[Option<&str>]| {
            let numbers = numbers.iter().map(|text| text.and_then(plain));
            numbers.product::<Option<f64>>()
        };
        let mut sessions = option("wsess").unwrap_or_default().split(',');
        let of_command = product(&[sessions.next(), sessions.next()])
            .or_else(|| product(&[option("num-conns"), option("num-calls")]));
        let seen = self.value("requests_sent").max(self.value("replies") + self.value("errors"));
        of_command.unwrap_or(seen).max(self.value("replies"))
    }

    /// Converts the report to the metric names common to all load generators.
    fn converted(self, has_sessions: bool) -> http_load::Report {
        let mut told = http_load::Report::beginning(self.begins);
        for (name, value) in self.options() {
            told.option(name, value);
        }
        let well = self.value("status_2xx") + self.value("status_3xx");
        told.set("rate_achieved", BaseUnit::PerSecond, well / self.value("test_duration"));
        told.requests(self.requested(), well);
        for &(index, value) in &self.values {
            let field = &FIELDS[index];
            let is_wanted = has_sessions || !field.line.starts_with("Session");
            if is_wanted && !self.is_unmeasured(field.metric, value) {
                told.set(field.metric, of(field.unit), in_base_unit(field.unit, value));
            }
            if field.metric.starts_with("errors_") {
                told.failure(field.word, value);
            }
        }
        told.command = (!self.command.is_empty()).then(|| self.command.as_str().into());
        told
    }

    /// Returns true for a zero that means "not measured".
    fn is_unmeasured(&self, metric: &str, value: f64) -> bool {
        let no_replies = self.value("replies") == 0.0;
        value == 0.0
            && match metric {
                "reply_rate" | "reply_rate_min" | "reply_rate_max" | "reply_rate_stddev" => {
                    self.samples == Some(0.0)
                }
                "request_size" => self.value("requests_sent") == 0.0,
                "session_failtime" => true,
                "connect" | "first_byte" | "transfer" => no_replies,
                _ => {
                    no_replies
                        && (metric.starts_with("connection_time")
                            || metric.starts_with("reply_size"))
                }
            }
    }
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    reports: Vec<Report>,
    /// A report whose last line has not been read yet.
    open: Option<Report>,
}

impl Reader<'_> {
    fn line(&mut self, text: &str, number: u64, ended: bool) -> Result<(), (u64, String)> {
        if is_command(text) || text.starts_with("Maximum connect burst length:") {
            let is_next = self.open.as_ref().is_some_and(|open| {
                is_command(text)
                    || open.values.iter().any(|(field, _)| FIELDS[*field].line == "Total:")
            });
            if let Some(open) = self.open.as_ref().filter(|_| is_next) {
                return Err((open.begins, BREAKS_OFF.to_owned()));
            }
            if self.open.is_none() {
                self.open = Some(Report { begins: number, ..Report::default() });
            }
        }
        // Sessions are reported after the errors.
        let report = match &mut self.open {
            Some(open) => open,
            None if text.starts_with("Session") => match self.reports.last_mut() {
                Some(last) => last,
                None => return Ok(()),
            },
            None if text.starts_with("Total: connections ") => {
                self.open.insert(Report { begins: number, ..Report::default() })
            }
            None => return Ok(()),
        };
        if is_command(text) {
            text.clone_into(&mut report.command);
            return Ok(());
        }
        let words: Vec<&str> = text
            .split_ascii_whitespace()
            .flat_map(|word| word.split('='))
            .map(|word| word.trim_matches(['(', ')', ',']))
            .collect();
        let mut is_found = false;
        for (index, field) in FIELDS.iter().enumerate() {
            if !text.starts_with(field.line) {
                continue;
            }
            let Some(shown) = after(&words, field.word) else { continue };
            let wrong = || {
                let shown = quoted_start(shown);
                (number, format!("`{shown}` after `{}` is not a number", field.word))
            };
            let value = plain(shown.trim_end_matches('%')).ok_or_else(wrong)?;
            if report.values.iter().any(|&(told, _)| told == index) {
                let again = format!("`{}` occurs twice in this report", quoted_start(text));
                return Err((number, again));
            }
            report.values.push((index, value));
            is_found = true;
        }
        if let Some(at) = words
            .iter()
            .position(|&word| word == "samples")
            .filter(|_| text.starts_with(REPLY_RATE))
        {
            report.samples = at.checked_sub(1).and_then(|before| words[before].parse().ok());
        }
        if text.starts_with(LAST) {
            if !ended && !words.contains(&"other") {
                return Err((report.begins, BREAKS_OFF.to_owned()));
            }
            if report.value("errors_other").is_nan() {
                let problem = "expected the number of each kind of error up to `other`";
                return Err((number, problem.to_owned()));
            }
            self.reports.extend(self.open.take());
        } else if !is_found
            && ["Total:", "Errors:", "Reply rate"].iter().any(|start| text.starts_with(start))
        {
            return Err((
                number,
                format!("`{}` has none of the numbers of httperf", quoted_start(text)),
            ));
        }
        Ok(())
    }

    fn finish(self, label: &str) -> Result<Part, ImportError> {
        let has_sessions = self.reports.iter().any(|report| !report.value("session_rate").is_nan());
        let mut told = http_load::Reports::default();
        self.reports.into_iter().for_each(|report| told.push(report.converted(has_sessions)));
        http_load::finish(self.recorder, label, &told, &["rate"])
    }
}

/// Returns the word after the first occurrence of `word`, or the text attached to it for `<=`.
fn after<'a>(words: &[&'a str], word: &str) -> Option<&'a str> {
    let at = words.iter().position(|&known| known == word);
    if word == "<=" {
        // The equals sign was split off.
        return words
            .iter()
            .position(|&known| known == "<")
            .and_then(|at| words.get(at + 1))
            .copied();
    }
    at.and_then(|at| words.get(at + 1)).copied()
}

/// Returns the base unit of a number with this unit.
fn of(unit: &str) -> BaseUnit {
    match unit {
        "ms" | "s" => BaseUnit::Seconds,
        "/s" => BaseUnit::PerSecond,
        "B" => BaseUnit::Bytes,
        "KiB" => BaseUnit::BytesPerSecond,
        _ => BaseUnit::Things,
    }
}

/// Converts a number to its base unit. Milliseconds and percentages are divided by a whole number,
/// which rounds only once.
fn in_base_unit(unit: &str, value: f64) -> f64 {
    match unit {
        "ms" => value / 1e3,
        "%" => value / 1e2,
        "KiB" => value * 1024.0,
        _ => value,
    }
}
