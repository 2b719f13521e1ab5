//! Reads what Catch2 prints for benchmarks (versions 2 and 3): the mean and standard deviation of
//! each. There are no samples.
//!
//! A benchmark is named as in the XML, after its test case, its sections, and itself. A long name
//! continues over several lines, to the left of the numbers. Its parts are joined with blanks.

use super::number::Conversion;
use super::recorder::{MAX_JOINED_NAME, Recorder};
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Summary};
use crate::unit::Unit;
use std::collections::HashMap;

/// Maximum number of lines of a test case and its sections.
const MAX_TITLES: usize = 1000;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let mut lines = head.text.lines().skip_while(|line| !is_heading(line));
    lines.next().is_some() && lines.next().is_some_and(|line| line.contains("low mean"))
}

fn is_heading(line: &str) -> bool {
    line.starts_with("benchmark name ") && line.contains(" samples ")
}

/// What the next line of the output is expected to be. The first value is the index of the
/// character at which the numbers begin.
enum TableState {
    /// Outside of tables.
    Outside,
    /// In the heading of a table.
    Heading(usize),
    /// A line of a benchmark's name. The last such line also has the number of samples.
    Name(usize),
    /// The line with the mean. The second value is the number of samples.
    Mean(usize, u64),
    /// The line with the standard deviation. The other values are the number of samples and the
    /// mean.
    Deviation(usize, u64, f64),
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    state: TableState,
    /// Lines since the last horizontal rule.
    lines: Vec<String>,
    /// The lines that name the test case and its sections.
    titles: Vec<String>,
    name: String,
    times: HashMap<String, usize>,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut reader = Reader {
        recorder: Recorder::new(context, "Catch2"),
        state: TableState::Outside,
        lines: Vec::new(),
        titles: Vec::new(),
        name: String::new(),
        times: HashMap::new(),
    };
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut last = 1;
    while let Some(line) = lines.next()? {
        last = line.number;
        let read = reader.line(line.text, line.ended);
        read.map_err(|problem| reader.recorder.at(last, problem))?;
    }
    if matches!(reader.state, TableState::Mean(..) | TableState::Deviation(..)) {
        return Err(reader.recorder.at(last, "the file breaks off within a benchmark"));
    }
    reader.recorder.finish("what Catch2 prints, without a result")
}

impl Reader<'_> {
    fn line(&mut self, line: &str, ended: bool) -> Result<(), String> {
        let text = line.trim();
        if let Some(rule) = rule(text) {
            return self.rule(rule);
        }
        if is_heading(line) {
            let width = line.find(" samples ").map_or(0, |at| line[..=at].chars().count());
            self.state = TableState::Heading(width);
            return Ok(());
        }
        match self.state {
            TableState::Outside => {
                if !text.is_empty() && self.lines.len() < MAX_TITLES {
                    self.lines.push(text.to_owned());
                }
                Ok(())
            }
            TableState::Heading(_) => Ok(()),
            _ if text.is_empty() => Ok(()),
            TableState::Name(width) => self.row(line, width),
            TableState::Mean(width, count) => {
                let mean = first_time(self.behind_name(line, width)?, ended)?;
                self.state = TableState::Deviation(width, count, mean);
                Ok(())
            }
            TableState::Deviation(width, count, mean) => {
                let sd = first_time(self.behind_name(line, width)?, ended)?;
                self.state = TableState::Name(width);
                self.add(count, mean, sd)
            }
        }
    }

    fn rule(&mut self, rule: char) -> Result<(), String> {
        match (&self.state, rule) {
            (TableState::Mean(..) | TableState::Deviation(..), _) => {
                return Err(format!(
                    "`{}` ends here without its numbers",
                    quoted_start(&self.name)
                ));
            }
            (TableState::Heading(width), '-') => self.state = TableState::Name(*width),
            (_, '-') => {
                self.state = TableState::Outside;
                if !self.lines.is_empty() {
                    self.titles.clone_from(&self.lines);
                }
            }
            (_, '.' | '~') => {}
            _ => self.state = TableState::Outside,
        }
        self.lines.clear();
        Ok(())
    }

    /// Reads a line of a benchmark's name. The last such line also has the number of samples, the
    /// number of iterations and an estimate.
    fn row(&mut self, line: &str, width: usize) -> Result<(), String> {
        let mut numbers = self.behind_name(line, width)?.split_ascii_whitespace();
        match numbers.next().map(str::parse::<u64>) {
            Some(Ok(count)) => self.state = TableState::Mean(width, count),
            // There is text in place of the numbers, which says why there are none.
            Some(Err(_)) => {
                let name = std::mem::take(&mut self.name);
                self.recorder.finding(benchmark_error(&name, "has no result"));
            }
            None => {}
        }
        Ok(())
    }

    /// Appends the part of the name at the start of a line to `self.name`, and returns the
    /// remaining text.
    fn behind_name<'l>(&mut self, line: &'l str, width: usize) -> Result<&'l str, String> {
        let split = line.char_indices().nth(width).map_or(line.len(), |(at, _)| at);
        let (name, numbers) = line.split_at(split);
        let name = name.trim();
        if !self.name.is_empty() && !name.is_empty() {
            self.name.push(' ');
        }
        self.name += name;
        if self.name.len() > MAX_JOINED_NAME {
            return Err(format!("a name of more than {MAX_JOINED_NAME} bytes"));
        }
        Ok(numbers)
    }

    fn add(&mut self, count: u64, mean: f64, sd: f64) -> Result<(), String> {
        let own = std::mem::take(&mut self.name);
        let parts = self.titles.iter().map(String::as_str).chain([own.as_str()]);
        let plain = parts.collect::<Vec<_>>().join(": ");
        if plain.len() > MAX_JOINED_NAME {
            return Err(format!(
                "a name of {} bytes, its test case and sections included",
                plain.len()
            ));
        }
        // A test case runs once for each of its sections, and repeats the benchmarks before them
        // each time.
        let times = self.times.entry(plain.clone()).or_default();
        *times += 1;
        let name = if *times > 1 { format!("{plain} #{times}") } else { plain };
        let subject = self.recorder.benchmark(&name, Some(&own), &[]);
        let metric = Metric::wall();
        self.recorder.metric(&metric)?;
        self.recorder.summary(Summary {
            subject,
            metric: metric.name,
            count: Some(count),
            mean: Some(mean),
            sd: Some(sd).filter(|_| count > 1),
            ..Summary::default()
        });
        Ok(())
    }
}

/// Returns the character that forms a horizontal rule, or `None` if the text is not one.
fn rule(text: &str) -> Option<char> {
    let first = text.chars().next().filter(|c| ['-', '=', '.', '~'].contains(c))?;
    (text.len() > 20 && text.chars().all(|c| c == first)).then_some(first)
}

/// Returns the first of three times with their units: `40.9703 ns    40.6585 ns    41.5102 ns`.
fn first_time(text: &str, ended: bool) -> Result<f64, String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let wrong = || {
        let seen = quoted_start(text.trim());
        format!("`{seen}` are not three times; expected such as `40.97 ns    40.66 ns    41.51 ns`")
    };
    let [value, unit, _, _, _, _] = words[..] else { return Err(wrong()) };
    let conversion = Conversion::from_symbol(Some(unit));
    let value = conversion.read_plain(value).filter(|value| *value >= 0.0);
    value.filter(|_| ended && conversion.unit == Unit::Second).ok_or_else(wrong)
}
