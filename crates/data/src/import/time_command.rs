//! The output of `time`: GNU's `time -v`, the shell's `time`, and `time -p`. Each report is an
//! observation; a loop can append several to one file.
//!
//! GNU's output names the command, which becomes the name of the subject; the shells' output does
//! not, so the subject is named after the file. Output of the command itself before or between the
//! reports is skipped.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::ungrouped;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Outcome};
use crate::unit::Unit;

const COMMAND: &str = "Command being timed: ";
/// Precedes the report, and possibly follows an unterminated line of the command.
const SIGNAL: &str = "Command terminated by signal ";
/// The three times in the output of bash and `-p`, and our names for them.
const SHELL: [(&str, &str); 3] = [("real", "wall"), ("user", "user"), ("sys", "system")];
const ELAPSED: &str = "Elapsed (wall clock) time (h:mm:ss or m:ss): ";
/// Other values read from GNU's report: the heading, the metric, and the number of base units in
/// one of its units.
const GNU: [(&str, &str, f64); 7] = [
    ("User time (seconds): ", "user", 1.0),
    ("System time (seconds): ", "system", 1.0),
    ("Maximum resident set size (kbytes): ", "max_rss", 1024.0),
    ("Major (requiring I/O) page faults: ", "major_faults", 1.0),
    ("Minor (reclaiming a frame) page faults: ", "minor_faults", 1.0),
    ("Voluntary context switches: ", "voluntary_switches", 1.0),
    ("Involuntary context switches: ", "involuntary_switches", 1.0),
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    if head.text.lines().any(|line| line.trim_start().starts_with(COMMAND)) {
        return true;
    }
    let mut reports = head.text.lines().skip_while(|line| shell(line).is_none_or(|(n, _)| n != 0));
    [0, 1, 2].iter().all(|&place| {
        reports.next().and_then(shell).is_some_and(|(name, time)| name == place && time.is_some())
    })
}

/// Parses `real 0m0.204s` or `real 0.21` into the index of the time in [`SHELL`] and the seconds,
/// which are `None` if they cannot be parsed.
fn shell(line: &str) -> Option<(usize, Option<f64>)> {
    let (name, time) = line.trim_end().split_once(['\t', ' '])?;
    let place = SHELL.iter().position(|(known, _)| *known == name)?;
    let seconds = match time.split_once('m') {
        Some((minutes, rest)) => rest
            .strip_suffix('s')
            .and_then(ungrouped)
            .and_then(|seconds| Some(ungrouped(minutes)? * 60.0 + seconds)),
        None => ungrouped(time.trim()),
    };
    Some((place, seconds.filter(|seconds| seconds.is_finite())))
}

/// An incomplete report.
#[derive(Default)]
struct Report {
    begins: u64,
    command: Option<String>,
    outcome: Outcome,
    values: Vec<(usize, f64)>,
    /// Number of the shell's three times read so far.
    times: usize,
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    label: &'a str,
    open: Option<Report>,
    /// The signal that ended the command of the next report.
    signal: Option<i32>,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "time");
    let mut reader = Reader { recorder, label: context.label, open: None, signal: None };
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        let read = reader.line(line.text, line.number, line.ended);
        read.map_err(|problem| reader.recorder.at(line.number, problem))?;
    }
    if let Some(open) = &reader.open {
        let problem = "the file breaks off within the report that begins here";
        return Err(reader.recorder.at(open.begins, problem));
    }
    reader.recorder.finish("what `time` prints, without a report")
}

impl Reader<'_> {
    fn line(&mut self, line: &str, number: u64, ended: bool) -> Result<(), String> {
        let text = line.trim();
        if let Some(command) = text.strip_prefix(COMMAND) {
            self.begin(number)?;
            let command = command.trim_matches('"').to_owned();
            let outcome = self.signal.take().map_or(Outcome::Ok, Outcome::Signal);
            let command = Some(command);
            self.open = Some(Report { begins: number, command, outcome, ..Report::default() });
            return Ok(());
        }
        if let Some((_, signal)) = text.rsplit_once(SIGNAL) {
            self.signal = signal.parse().ok();
        }
        let is_gnu = self.open.as_ref().is_some_and(|open| open.command.is_some());
        if is_gnu {
            return self.gnu(text, ended);
        }
        let Some((place, seconds)) = shell(line) else { return Ok(()) };
        if place == 0 {
            // A program may itself print such a word; no time follows it then.
            if seconds.is_none() {
                return Ok(());
            }
            self.begin(number)?;
            self.open = Some(Report { begins: number, ..Report::default() });
        }
        let Some(open) = &self.open else { return Ok(()) };
        let seen = open.times;
        let (Some(seconds), true) = (seconds, seen == place) else {
            let seen = quoted_start(text);
            return Err(format!("`{seen}` is not what follows in a report of `time`"));
        };
        self.take(SHELL[place].1, Unit::Second, seconds)?;
        if let Some(open) = &mut self.open {
            open.times += 1;
        }
        if place == 2 { self.end() } else { Ok(()) }
    }

    /// Reads a line of GNU's report; the last line has the exit status.
    fn gnu(&mut self, text: &str, ended: bool) -> Result<(), String> {
        let wrong = |text: &str| format!("`{}` contains no number", quoted_start(text));
        if let Some(time) = text.strip_prefix(ELAPSED) {
            let seconds = clock(time).ok_or_else(|| wrong(text))?;
            return self.take("wall", Unit::Second, seconds);
        }
        if let Some(status) = text.strip_prefix("Exit status: ") {
            let status = status.parse::<i32>().ok().filter(|_| ended);
            let status = status.ok_or_else(|| wrong(text))?;
            if let Some(open) = &mut self.open
                && status != 0
            {
                open.outcome = Outcome::Exit(status);
            }
            return self.end();
        }
        let found = GNU.iter().find_map(|(heading, metric, factor)| {
            Some((*metric, *factor, text.strip_prefix(heading)?))
        });
        let Some((metric, factor, value)) = found else { return Ok(()) };
        let value = ungrouped(value).filter(|value| value.is_finite());
        let value = value.ok_or_else(|| wrong(text))?;
        let unit = match metric {
            "user" | "system" => Unit::Second,
            "max_rss" => Unit::Byte,
            _ => Unit::One,
        };
        self.take(metric, unit, value * factor)
    }

    fn begin(&self, number: u64) -> Result<(), String> {
        match &self.open {
            Some(open) => Err(format!(
                "a report begins here (line {number}) before that of line {} is at its end",
                open.begins
            )),
            None => Ok(()),
        }
    }

    fn take(&mut self, metric: &str, unit: Unit, value: f64) -> Result<(), String> {
        // The elapsed time decides, wherever it is in the report.
        if metric != "wall" {
            self.recorder.metric(&Metric::wall())?;
        }
        let metric = self.recorder.metric(&Metric::lower(metric, unit))?;
        if let Some(open) = &mut self.open {
            open.values.push((metric, value));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(report) = self.open.take() else { return Ok(()) };
        let name = report.command.as_deref().unwrap_or(self.label);
        let subject = self.recorder.benchmark(name, None, &[]);
        self.recorder.subject_mut(subject).command.clone_from(&report.command);
        self.recorder.observe(subject, &[], report.outcome, &report.values)
    }
}

/// Parses `0:00.34` or `1:02:03` into seconds.
fn clock(text: &str) -> Option<f64> {
    let parts = text.split(':').map(ungrouped);
    let seconds =
        parts.collect::<Option<Vec<f64>>>()?.iter().fold(0.0, |sum, part| sum * 60.0 + part);
    (seconds.is_finite() && text.contains(':')).then_some(seconds)
}
