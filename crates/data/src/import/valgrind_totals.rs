//! Totals of callgrind and cachegrind: their files (`callgrind.out.PID`, `cachegrind.out.PID`), and
//! what valgrind prints at the end.
//!
//! Only the totals of the whole program are read; `assay profile` shows functions. The totals are
//! counts of a simulation. Files appended to each other are separate observations. The subject is
//! named after the program's command line in the file.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::{Marks, finite};
use crate::read_error::quoted_start;
use crate::samples::{Metric, Outcome};
use crate::unit::Unit;

/// Maximum number of events in one file.
const MAX_EVENTS: usize = 100;

/// Counts in valgrind's output, and their names in its files.
const PRINTED: [(&str, &str); 5] = [
    ("I refs:", "Ir"),
    ("I1 misses:", "I1mr"),
    ("LLi misses:", "ILmr"),
    ("Branches:", "Bc"),
    ("Mispredicts:", "Bcm"),
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |start: &str| head.text.lines().any(|line| line.starts_with(start));
    let is_file =
        has("events: ") && (has("fl=") || has("fn=") || has("positions: ") || has("cmd: "));
    let is_of_tool = |rest: &str| rest.starts_with("Callgrind,") || rest.starts_with("Cachegrind,");
    let (mut lines, marks) = (head.text.lines(), Marks::default());
    is_file
        || lines
            .any(|line| message(line).is_some_and(is_of_tool) || printed(line, &marks).is_some())
}

/// Parses `==16122== I   refs:      926,995` into the event and its count, if it can be parsed.
fn printed(line: &str, marks: &Marks) -> Option<(&'static str, Option<f64>)> {
    let rest = message(line)?;
    let (words, count) = rest.split_once(':')?;
    let words = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ") + ":";
    let (_, event) = PRINTED.iter().find(|(printed, _)| *printed == words)?;
    let count = count.split_ascii_whitespace().next().unwrap_or_default();
    Some((event, marks.read(count).filter(|count| *count >= 0.0)))
}

/// Returns the text after `==16122==`.
fn message(line: &str) -> Option<&str> {
    let (pid, rest) = line.strip_prefix("==")?.split_once("==")?;
    pid.bytes().all(|b| b.is_ascii_digit()).then(|| rest.trim())
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    label: &'a str,
    command: Option<String>,
    events: Vec<String>,
    /// Counts of the current report, by metric.
    counts: Vec<(usize, f64)>,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "valgrind");
    let (events, counts) = (Vec::new(), Vec::new());
    let mut reader = Reader { recorder, label: context.label, command: None, events, counts };
    context.marks.fixed_by("valgrind");
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        let read = reader.line(line.text, line.ended);
        read.map_err(|problem| reader.recorder.at(line.number, problem))?;
    }
    let ended = reader.end();
    ended.map_err(|problem| reader.recorder.whole_file(problem))?;
    reader.recorder.finish("callgrind's or cachegrind's data without totals: it breaks off")
}

impl Reader<'_> {
    fn line(&mut self, line: &str, ended: bool) -> Result<(), String> {
        if let Some((event, count)) = printed(line, self.recorder.marks()) {
            let seen = quoted_start(line);
            let count = count.filter(|_| ended).ok_or(format!("`{seen}` contains no count"))?;
            // This event is printed first, so it belongs to the next report.
            if event == PRINTED[0].1 {
                self.flush()?;
            }
            return self.take(event, count);
        }
        if let Some(command) = message(line).and_then(|rest| rest.strip_prefix("Command: ")) {
            self.end()?;
            self.command = Some(command.trim().to_owned());
        } else if let Some(command) = line.strip_prefix("cmd:") {
            self.end()?;
            self.command = Some(command.trim().to_owned());
        } else if let Some(events) = line.strip_prefix("events:") {
            self.events = events.split_ascii_whitespace().map(str::to_owned).collect();
            if self.events.len() > MAX_EVENTS {
                return Err(format!("more than {MAX_EVENTS} events"));
            }
        } else if let Some(totals) =
            line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:"))
        {
            self.totals(totals, ended)?;
        }
        Ok(())
    }

    /// Reads the totals in a file. callgrind writes them both at the start and at the end, of which
    /// the latter are correct.
    fn totals(&mut self, totals: &str, ended: bool) -> Result<(), String> {
        let counts: Option<Vec<f64>> = totals.split_ascii_whitespace().map(finite).collect();
        // The line at the end omits trailing events whose count is 0.
        let counts = counts.filter(|c| ended && !c.is_empty() && c.len() <= self.events.len());
        let counts = counts.ok_or("expected a count for every event of the line `events:`")?;
        self.counts.clear();
        for (event, count) in self.events.clone().iter().zip(counts) {
            self.take(event, count)?;
        }
        Ok(())
    }

    fn take(&mut self, event: &str, count: f64) -> Result<(), String> {
        let metric =
            self.recorder.metric(&Metric { exact: true, ..Metric::lower(event, Unit::One) })?;
        self.counts.push((metric, count));
        Ok(())
    }

    /// Records the counts as an observation.
    fn flush(&mut self) -> Result<(), String> {
        if self.counts.is_empty() {
            return Ok(());
        }
        let name = self.command.as_deref().unwrap_or(self.label);
        let subject = self.recorder.benchmark(name, None, &[]);
        self.recorder.subject_mut(subject).command.clone_from(&self.command);
        let counts = std::mem::take(&mut self.counts);
        self.recorder.observe(subject, &[], Outcome::Ok, &counts)
    }

    fn end(&mut self) -> Result<(), String> {
        self.flush()?;
        self.command = None;
        Ok(())
    }
}
