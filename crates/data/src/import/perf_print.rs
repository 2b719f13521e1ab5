//! The human-readable output of `perf stat`: ` Performance counter stats for 'COMMAND' (5 runs):`,
//! the counters, and the elapsed seconds.
//!
//! As in the machine-readable output, processors, cores, sockets and threads (`-A`, `--per-core`,
//! …) are subjects, and intervals (`-I`) are observations. Any other report belongs to the command
//! that it names. It is one observation without `-r`, and a summary with it. `--table` lists the
//! individual elapsed times, which then replace their mean. Numbers may have thousands separators.

use super::perf_stat::{Row, Runs};
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::Marks;
use crate::read_error::quoted_start;

const HEADING: &str = "Performance counter stats for ";
/// End of the line above the counters of `-I`, which have no other heading.
const OF_INTERVALS: &str = "counts unit events";
/// Maximum length of a command in a heading, in bytes.
const MAX_COMMAND: usize = 64 * 1024;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| line.trim_start().starts_with(HEADING) || is_above_intervals(line))
}

fn is_above_intervals(line: &str) -> bool {
    line.starts_with('#') && line.trim_end().ends_with(OF_INTERVALS)
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reader = Reader {
        runs: Runs::new(context),
        marks: context.marks,
        heading: None,
        repeats: None,
        in_report: false,
        has_intervals: false,
        begun: 0,
        table: Vec::new(),
    };
    while let Some(line) = lines.next()? {
        let read = reader.line(line.text, line.number, line.ended);
        read.map_err(|problem| reader.runs.recorder.at(line.number, problem))?;
    }
    if reader.in_report || reader.heading.is_some() {
        let problem = "the report that begins here breaks off before the seconds elapsed";
        return Err(reader.runs.recorder.at(reader.begun, problem));
    }
    reader.end().map_err(|problem| reader.runs.recorder.whole_file(problem))?;
    reader.runs.finish()
}

struct Reader<'a> {
    runs: Runs<'a>,
    marks: &'a Marks,
    /// The part read so far of a heading whose command contains line feeds.
    heading: Option<String>,
    /// Number of runs in the current report.
    repeats: Option<u64>,
    /// True if counters may follow.
    in_report: bool,
    /// True if every counter is preceded by the end of its interval.
    has_intervals: bool,
    begun: u64,
    /// Individual elapsed times, in seconds.
    table: Vec<f64>,
}

impl Reader<'_> {
    fn line(&mut self, text: &str, number: u64, ended: bool) -> Result<(), String> {
        if let Some(mut heading) = self.heading.take() {
            heading.push(' ');
            heading += text.trim();
            return self.heading(heading);
        }
        let text = text.trim();
        if let Some(time) = text.strip_prefix("# started on ") {
            self.runs.started(time);
        } else if let Some(of) = text.strip_prefix(HEADING) {
            if self.in_report {
                return Err(
                    "another report begins before the elapsed seconds of the one above".to_owned()
                );
            }
            self.end()?;
            (self.begun, self.has_intervals) = (number, false);
            return self.heading(of.to_owned());
        } else if let Some((seconds, rest)) = text.split_once(" seconds ") {
            return self.seconds(seconds, rest, text);
        } else if is_above_intervals(text) {
            self.has_intervals = true;
        } else if (self.in_report || self.has_intervals)
            && !text.is_empty()
            && !text.starts_with('#')
        {
            return self.counter(text, ended);
        }
        Ok(())
    }

    fn heading(&mut self, text: String) -> Result<(), String> {
        let Some(whole) = text.strip_suffix(':') else {
            if text.len() > MAX_COMMAND {
                return Err("the command in this heading does not end".to_owned());
            }
            self.heading = Some(text);
            return Ok(());
        };
        let (of, runs) = match whole.rsplit_once(" (") {
            Some((of, runs)) if runs.ends_with(" runs)") => {
                (of, runs.trim_end_matches(" runs)").parse().ok())
            }
            _ => (whole, None),
        };
        let quoted = of.strip_prefix('\'').and_then(|of| of.strip_suffix('\''));
        self.runs.name(quoted.unwrap_or(of));
        (self.repeats, self.in_report) = (runs, true);
        Ok(())
    }

    /// Parses `0.58 msec task-clock # … ( +- 1.08% ) (83.3%)`, optionally preceded by the end of
    /// the interval (`-I`) and by the processor, core, socket or thread. Also parses a line of the
    /// table of `--table`.
    fn counter(&mut self, text: &str, ended: bool) -> Result<(), String> {
        if let Some((seconds, _)) =
            text.split_once(" (").filter(|(_, rest)| rest.starts_with(['+', '-']))
            && let Some(seconds) = self.marks.read(seconds.trim())
        {
            self.table.push(seconds);
            return Ok(());
        }
        let error_percent = text.split_once("( +-").and_then(|(_, rest)| self.percent(rest));
        let running = text
            .rsplit_once(" (")
            .and_then(|(_, rest)| self.percent(rest).filter(|_| rest.ends_with("%)")));
        let counted = text.split(['#']).next().unwrap_or_default();
        let counted = counted.split(" (").next().unwrap_or_default().replace("<not ", "<not_");
        let words: Vec<&str> = counted.split_whitespace().collect();
        let is_value = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '<');
        let (before, value, unit, event) = match words[..] {
            [ref before @ .., value, event] if is_value(value) => (before, value, "", event),
            [ref before @ .., value, unit, event] if is_value(value) => {
                (before, value, unit, event)
            }
            // A metric computed from several counters, under its own name.
            _ if text.contains('#') && !words.iter().any(|word| is_value(word)) => return Ok(()),
            _ => return Err(wrong(text, ended)),
        };
        let value = match value.starts_with('<') {
            true => value.replace("<not_", "<not "),
            false => self.marks.read(value).ok_or_else(|| wrong(text, ended))?.to_string(),
        };
        let (interval, place) = before.split_at(usize::from(self.has_intervals).min(before.len()));
        let place = match place {
            // The number of processors that are counted together.
            [place, count] if count.bytes().all(|b| b.is_ascii_digit()) => (*place).to_owned(),
            place => place.join(" "),
        };
        if !self.has_intervals && is_value(&place) {
            return Err(wrong(text, ended));
        }
        // The numbers that perf computes from the counters are not read, but show what points and
        // commas mean.
        if let Some((_, computed)) = text.split_once('#') {
            self.marks.see(computed.split_whitespace().next().unwrap_or_default());
        }
        let error_percent = error_percent.or(self.repeats.map(|_| 0.0));
        let row =
            Row { value: value.into(), unit, event, error_percent, running, ..Row::default() };
        let row = Row { interval: interval.first().copied(), place, ..row };
        self.runs.take(&row)
    }

    /// Parses `0.0032 +- 0.0001 seconds time elapsed` or `0.001 seconds user`.
    fn seconds(&mut self, seconds: &str, rest: &str, text: &str) -> Result<(), String> {
        // Stored under our own names, so that a counter of the same quantity that perf could not
        // count is not taken for an earlier value.
        let event = match rest.split_whitespace().next() {
            Some("time") => "wall",
            Some("user") => "user",
            Some("sys") => "system",
            _ => return Ok(()),
        };
        let (mean, error) = match seconds.split_once("+-") {
            Some((mean, error)) => (mean.trim(), self.marks.read(error.trim())),
            None => (seconds.trim(), None),
        };
        let value = self.marks.read(mean).ok_or_else(|| wrong(text, true))?;
        if event == "wall" {
            self.in_report = false;
        }
        if self.runs.has(event) {
            return Ok(());
        }
        let error_percent = error.map(|error| 100.0 * error / value).filter(|p| p.is_finite());
        let error_percent = error_percent.or(self.repeats.map(|_| 0.0));
        let mean = value.to_string().into();
        self.runs.take(&Row { value: mean, unit: "s", event, error_percent, ..Row::default() })
    }

    fn percent(&self, text: &str) -> Option<f64> {
        self.marks.read(text.split_once('%')?.0.trim())
    }

    /// Ends the current report.
    fn end(&mut self) -> Result<(), String> {
        if let Some(count) = self.repeats.take() {
            self.runs.count(count);
        }
        let table = std::mem::take(&mut self.table);
        if !table.is_empty() {
            self.runs.walls(&table)?;
        }
        self.runs.end()
    }
}

fn wrong(text: &str, ended: bool) -> String {
    let how = if ended { "is not a counter" } else { "breaks off" };
    format!("`{}` {how}; expected `value [unit] event` as perf prints it", quoted_start(text))
}
