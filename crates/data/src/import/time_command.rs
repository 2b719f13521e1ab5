//! The output of `time`: GNU's program with and without `-v`, the program of BSD and macOS, `time
//! -p`, and the `time` of bash, ksh, mksh, zsh, tcsh and fish. Each report is an observation, so a
//! loop can append several to one file.
//!
//! `time -v` and zsh print the command, after which the subject is named. For the others, it is
//! named after the file. Output of the command before or between the reports is skipped.

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
/// Precedes a report of GNU's program.
const STATUS: &str = "Command exited with non-zero status ";
/// The three times that shells and `-p` print: bash's heading, fish's heading, and our name.
const SHELL: [([&str; 2], &str); 3] = [
    (["real", "Executed in "], "wall"),
    (["user", "usr time "], "user"),
    (["sys", "sys time "], "system"),
];
/// The units of fish, in seconds.
const FISH: [(&str, f64); 6] = [
    ("hours", 3600.0),
    ("mins", 60.0),
    ("secs", 1.0),
    ("millis", 1e-3),
    ("micros", 1e-6),
    ("nanos", 1e-9),
];
const ELAPSED: &str = "Elapsed (wall clock) time (h:mm:ss or m:ss): ";
/// Other values of GNU's report: the heading, the metric, and the factor that converts the value to
/// the base unit.
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
    let is_report = |line: &str| line.starts_with(COMMAND) || OneLine::of(line).is_some();
    if head.text.lines().any(|line| is_report(line.trim())) {
        return true;
    }
    let mut reports = head.text.lines().skip_while(|line| shell(line).is_none_or(|(n, _)| n != 0));
    [0, 1, 2].iter().all(|&place| {
        reports.next().and_then(shell).is_some_and(|(name, time)| name == place && time.is_some())
    })
}

/// Parses `real 0m0.204s`, `real 0.21` or `Executed in 204.00 millis` into the index of the time in
/// [`SHELL`] and its value in seconds, which is `None` if it cannot be parsed.
fn shell(line: &str) -> Option<(usize, Option<f64>)> {
    SHELL.iter().enumerate().find_map(|(place, ([bash, fish], _))| {
        if let Some(rest) = line.trim_start().strip_prefix(fish) {
            // fish may print more columns, for itself and for the processes that it started.
            let mut words = rest.split_whitespace();
            let value = words.next().and_then(ungrouped).filter(|value| value.is_finite());
            let unit = words.next().and_then(|word| FISH.iter().find(|(name, _)| *name == word));
            return Some((place, value.zip(unit).map(|(value, (_, factor))| value * factor)));
        }
        let time = line.strip_prefix(bash)?.strip_prefix(['\t', ' '])?;
        Some((place, shell_time(time.trim())))
    })
}

/// Parses `0m0.204s`, `0m 0.204s` or `0.21` into seconds.
fn shell_time(text: &str) -> Option<f64> {
    let seconds = match text.split_once('m') {
        Some((minutes, rest)) => {
            ungrouped(minutes)? * 60.0 + ungrouped(rest.strip_suffix('s')?.trim_start())?
        }
        None => ungrouped(text.strip_suffix('s').unwrap_or(text))?,
    };
    seconds.is_finite().then_some(seconds)
}

/// A report in one line.
struct OneLine<'a> {
    command: Option<&'a str>,
    /// Elapsed time, user time and system time, in seconds.
    times: [f64; 3],
    /// Peak memory in bytes, if the report has it.
    memory: Option<f64>,
}

impl<'a> OneLine<'a> {
    /// Parses a report. Returns `None` for any other line.
    fn of(line: &'a str) -> Option<Self> {
        Self::of_zsh(line).or_else(|| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Self::of_words(&words)
        })
    }

    /// Parses `sleep 0.1 0.00s user 0.00s system 1% cpu 0.102 total`.
    fn of_zsh(line: &'a str) -> Option<Self> {
        let (rest, wall) = line.strip_suffix(" total")?.rsplit_once("% cpu ")?;
        let (rest, system) = rest.rsplit_once(' ')?.0.strip_suffix("s system")?.rsplit_once(' ')?;
        let user = rest.strip_suffix("s user")?;
        let (command, user) = user.rsplit_once(' ').unwrap_or(("", user));
        let wall = clock(wall).or_else(|| shell_time(wall))?;
        let command = Some(command.trim()).filter(|command| !command.is_empty());
        let times = [wall, shell_time(user)?, shell_time(system)?];
        Some(Self { command, times, memory: None })
    }

    fn of_words(words: &[&str]) -> Option<Self> {
        let (times, memory) = match *words {
            // BSD, macOS: `0.10 real  0.00 user  0.00 sys`; mksh: `0m0.10s real … system`
            [wall, "real", user, "user", system, "sys" | "system"] => {
                ([shell_time(wall)?, shell_time(user)?, shell_time(system)?], None)
            }
            // tcsh: `0.000u 0.001s 0:00.10 0.0%	0+0k 0+0io 0pf+0w`
            [user, system, wall, share, ..] if share.ends_with('%') => {
                let (user, system) = (user.strip_suffix('u')?, system.strip_suffix('s')?);
                ([clock(wall)?, shell_time(user)?, shell_time(system)?], None)
            }
            // GNU: `0.00user 0.00system 0:00.10elapsed 0%CPU (0avgtext+0avgdata 2048maxresident)k`
            [user, system, wall, share, ref rest @ ..] if share.ends_with("%CPU") => {
                let (user, system) = (user.strip_suffix("user")?, system.strip_suffix("system")?);
                let wall = wall.strip_suffix("elapsed")?;
                let kilobytes = |word: &&str| ungrouped(word.strip_suffix("maxresident)k")?);
                let memory = rest.iter().find_map(kilobytes).map(|value| value * 1024.0);
                ([clock(wall)?, shell_time(user)?, shell_time(system)?], memory)
            }
            _ => return None,
        };
        Some(Self { command: None, times, memory: memory.filter(|bytes| bytes.is_finite()) })
    }
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
    /// How the command of the next report ended, if known.
    outcome: Option<Outcome>,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "time");
    let mut reader = Reader { recorder, label: context.label, open: None, outcome: None };
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
            self.open(number, Some(command));
            return Ok(());
        }
        if let Some((_, signal)) = text.rsplit_once(SIGNAL) {
            self.outcome = signal.parse().ok().map(Outcome::Signal);
        }
        if let Some((_, status)) = text.rsplit_once(STATUS) {
            self.outcome = status.parse().ok().map(Outcome::Exit);
        }
        let is_gnu = self.open.as_ref().is_some_and(|open| open.command.is_some());
        if is_gnu {
            return self.gnu(text, ended);
        }
        if let Some(report) = OneLine::of(text) {
            self.begin(number)?;
            self.open(number, report.command.map(str::to_owned));
            for ((_, metric), seconds) in SHELL.iter().zip(report.times) {
                self.take(metric, Unit::Second, seconds)?;
            }
            if let Some(bytes) = report.memory {
                self.take("max_rss", Unit::Byte, bytes)?;
            }
            return self.end();
        }
        let Some((place, seconds)) = shell(line) else { return Ok(()) };
        if place == 0 {
            // The line is output of the command if no time follows the word.
            if seconds.is_none() {
                return Ok(());
            }
            self.begin(number)?;
            self.open(number, None);
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

    /// Reads a line of GNU's report, the last of which is the exit status.
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

    fn open(&mut self, begins: u64, command: Option<String>) {
        let outcome = self.outcome.take().unwrap_or(Outcome::Ok);
        self.open = Some(Report { begins, command, outcome, ..Report::default() });
    }

    fn take(&mut self, metric: &str, unit: Unit, value: f64) -> Result<(), String> {
        // Added first because the elapsed time decides, wherever it is in the report.
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
