//! Reads divan's table (Rust): a tree of names, and for every benchmark the fastest, slowest,
//! median and mean time of its samples, followed by rates and allocations.
//!
//! A single run becomes a summary. If a file contains several runs, each median is an observation.
//! For rates, the fastest is the maximum. Their mean belongs to the mean time and is not the mean
//! of the rates, so it is left out. For allocations, the columns show the allocations of the
//! fastest, slowest and median *sample*, so only the mean is read. Names are joined by `::` as in
//! divan's own filters, beginning with the crate. The tree does not distinguish a module from a
//! function: a leaf that cannot be an identifier is taken for an argument, and any other leaf for a
//! name.

use super::recorder::{MAX_JOINED_NAME, Recorder};
use super::runs::Runs;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::finite;
use crate::read_error::quoted_start;
use crate::samples::{Better, Metric, Summary};
use crate::unit::{Unit, unit_of_symbol};

/// Maximum depth of a tree. Real trees are much shallower.
const MAX_DEPTH: usize = 64;

/// Possible headings of the columns.
const HEADINGS: [&str; 6] = ["fastest", "slowest", "median", "mean", "samples", "iters"];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| Table::of_heading(line).is_some())
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reader = Reader {
        runs: Runs::new(Recorder::new(context, "divan")),
        table: None,
        group: String::new(),
        current: None,
        torn: None,
    };
    while let Some(line) = lines.next()? {
        let read = reader.line(line.text, line.ended);
        read.map_err(|problem| reader.runs.recorder.at(line.number, problem))?;
    }
    if let Some(begun) = reader.torn {
        let problem =
            format!("`{}` has no numbers: the table breaks off", quoted_start(begun.trim()));
        return Err(reader.runs.recorder.whole_file(problem));
    }
    reader.runs.finish("divan's table without a result")
}

/// The table of one bench target.
struct Table {
    /// Name of the target, which is the first part of all names.
    target: String,
    /// Number of characters before the first column.
    width: usize,
    /// For each column, the index of its heading in [`HEADINGS`].
    columns: Vec<usize>,
    /// Names on the path from the root of the tree to the last row that has one.
    path: Vec<String>,
}

impl Table {
    /// Parses the heading `div   fastest  │ slowest  │ …`.
    fn of_heading(line: &str) -> Option<Self> {
        let start = line.find("fastest ")?;
        let (target, headings) = line.split_at(start);
        let columns: Option<Vec<usize>> = headings
            .split('│')
            .map(|word| HEADINGS.iter().position(|heading| *heading == word.trim()))
            .collect();
        let columns = columns.filter(|columns| columns.len() >= 3)?;
        let target = target.trim();
        let is_word = !target.is_empty() && !target.contains(char::is_whitespace);
        is_word.then(|| Self {
            target: target.to_owned(),
            width: line[..start].chars().count(),
            columns,
            path: Vec::new(),
        })
    }
}

/// The benchmark to which rows without a name, such as rates, belong.
struct Current {
    name: String,
    samples: Option<u64>,
}

struct Reader<'a> {
    runs: Runs<'a>,
    table: Option<Table>,
    /// The last heading above rows of allocations: `alloc`, `max alloc`, `grow`.
    group: String,
    current: Option<Current>,
    /// The beginning of a row whose numbers have not been printed yet, because the benchmark
    /// printed output of its own first.
    torn: Option<String>,
}

impl Reader<'_> {
    fn line(&mut self, text: &str, ended: bool) -> Result<(), String> {
        if let Some(precision) = text.strip_prefix("Timer precision: ") {
            if let Some((value, Unit::Second)) = quantity(precision.trim()) {
                self.runs.recorder.fact("divan.timer_precision_seconds", value);
            }
            return Ok(());
        }
        if let Some(table) = Table::of_heading(text) {
            (self.table, self.current) = (Some(table), None);
            return Ok(());
        }
        if let Some(begun) = self.torn.take() {
            return match self.put_together(&begun, text) {
                Some(whole) => self.line(&whole, ended),
                // Output that the benchmark itself printed.
                None if !text.starts_with(['├', '╰']) => {
                    self.torn = Some(begun);
                    Ok(())
                }
                None => Err(format!("`{}` has no numbers", quoted_start(begun.trim()))),
            };
        }
        let Some(table) = &mut self.table else { return Ok(()) };
        let is_of_tree = text.starts_with(['├', '╰', '│'])
            || text.starts_with(' ') && (text.contains(['├', '╰', '│']) || !ended);
        if !is_of_tree || text.trim().is_empty() {
            // Output that cargo printed between two tables.
            return Ok(());
        }
        let split = text.char_indices().nth(table.width).map_or(text.len(), |(at, _)| at);
        let (tree, cells) = text.split_at(split);
        let cells: Vec<&str> = cells.split('│').map(str::trim).collect();
        let is_cut = cells.len() < table.columns.len() && !cells[0].starts_with('(');
        if is_cut && ended && cells.len() == 1 && tree.contains(['├', '╰']) {
            self.torn = Some(tree.to_owned());
            return Ok(());
        }
        if is_cut || !ended && cells.last().is_none_or(|cell| cell.is_empty()) {
            let how = if ended { "has" } else { "breaks off: it has" };
            return Err(format!(
                "this row {how} {} columns; expected {} as in the heading above",
                cells.len(),
                table.columns.len()
            ));
        }
        let branch = tree.find(['├', '╰']);
        match branch {
            Some(at) => {
                let depth = tree[..at].chars().count() / 3;
                let name = tree[at..].trim_start_matches(['├', '╰', '─', ' ']).trim_end();
                if depth > table.path.len() || depth > MAX_DEPTH {
                    return Err(format!(
                        "`{}` has nothing above it in the tree",
                        quoted_start(name)
                    ));
                }
                table.path.truncate(depth);
                table.path.push(name.to_owned());
                self.current = None;
                self.group.clear();
                if cells.iter().any(|cell| !cell.is_empty()) && !cells[0].starts_with('(') {
                    self.benchmark(&cells)?;
                }
                Ok(())
            }
            None if cells[0].ends_with(':') => {
                self.group = cells[0].trim_end_matches(':').to_owned();
                Ok(())
            }
            None => self.more(&cells),
        }
    }

    /// Returns the row that began in an earlier line, if this line completes it with numbers for
    /// all columns. The benchmark's own output may precede the first number.
    fn put_together(&self, begun: &str, text: &str) -> Option<String> {
        let table = self.table.as_ref()?;
        let (columns, width) = (table.columns.len(), table.width);
        let (first, others) = text.split_once('│')?;
        if others.split('│').count() + 1 != columns {
            return None;
        }
        let mut words: Vec<&str> = first.split_whitespace().rev().take(2).collect();
        words.reverse();
        let cell = words.join(" ");
        quantity(&cell)?;
        Some(format!("{begun:<width$}{cell} │{others}"))
    }

    /// Reads the row with the times of a benchmark.
    fn benchmark(&mut self, cells: &[&str]) -> Result<(), String> {
        let Some(table) = &self.table else { return Ok(()) };
        let length = table.target.len() + table.path.iter().map(String::len).sum::<usize>();
        if length > MAX_JOINED_NAME {
            return Err(format!("a name of {length} bytes, all of its parts taken together"));
        }
        let (name, label, parameters) = named(&table.target, &table.path);
        self.runs.recorder.benchmark(&name, Some(&label), &parameters);
        let cell = |heading: &str| {
            let column = table.columns.iter().position(|&c| HEADINGS[c] == heading)?;
            cells.get(column).copied()
        };
        let time = |heading: &str| match cell(heading) {
            None => Ok(None),
            Some(text) => match quantity(text) {
                Some((value, Unit::Second)) => Ok(Some(value)),
                _ => Err(format!(
                    "`{}` under `{heading}` is not a time; expected something like `92.32 ns`",
                    quoted_start(text)
                )),
            },
        };
        let samples = match cell("samples") {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                format!("`{}` under `samples` is not a whole number", quoted_start(text))
            })?),
        };
        let summary = Summary {
            count: samples,
            min: time("fastest")?,
            max: time("slowest")?,
            median: time("median")?,
            mean: time("mean")?,
            ..Summary::default()
        };
        self.current = Some(Current { name: name.clone(), samples });
        match summary.median.or(summary.mean) {
            Some(value) => self.runs.add(&name, &Metric::wall(), value, summary),
            None => Ok(()),
        }
    }

    /// Reads a row of rates or allocations, which belongs to the benchmark above it.
    fn more(&mut self, cells: &[&str]) -> Result<(), String> {
        let (Some(table), Some(current)) = (&self.table, &self.current) else { return Ok(()) };
        let value = |heading: &str| {
            let column = table.columns.iter().position(|&c| HEADINGS[c] == heading)?;
            quantity(cells.get(column)?)
        };
        let Some((_, kind)) = value("fastest") else {
            let seen = quoted_start(cells[0]);
            return Err(format!("`{seen}` is not a number with a unit that divan prints"));
        };
        let is_rate = matches!(&kind, Unit::Other(_) | Unit::PerSecond);
        let number = |heading| value(heading).map(|(value, _)| value);
        let empty = Summary { count: current.samples, ..Summary::default() };
        let (metric, summary) = if is_rate {
            let name = kind.symbol().to_owned();
            let name = if name == "1/s" { "cycles/s".to_owned() } else { name };
            let unit = if kind.symbol() == "B/s" { kind } else { Unit::PerSecond };
            let (min, max, median) = (number("slowest"), number("fastest"), number("median"));
            (
                Metric { better: Better::Higher, ..Metric::lower(&name, unit) },
                Summary { min, max, median, ..empty },
            )
        } else {
            let what = if kind == Unit::Byte { "bytes" } else { "count" };
            let group = if self.group.is_empty() { "alloc" } else { &self.group };
            let name = format!("{group} {what}");
            (Metric::lower(&name, kind), Summary { mean: number("mean"), ..empty })
        };
        match summary.median.or(summary.mean) {
            Some(value) => self.runs.add(&current.name, &metric, value, summary),
            None => Ok(()),
        }
    }
}

/// Returns full name, base name and parameters of the benchmark at this position in the tree.
fn named(target: &str, path: &[String]) -> (String, String, Vec<(String, String)>) {
    let mut base: Vec<&str> =
        std::iter::once(target).chain(path.iter().map(String::as_str)).collect();
    let name = base.join("::");
    let mut parameters = Vec::new();
    if let Some(threads) = base.last().and_then(|last| last.strip_prefix("t=")) {
        parameters.push(("threads".to_owned(), threads.to_owned()));
        base.pop();
    }
    let is_identifier = |text: &str| {
        let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '<' | '>' | '#');
        text.chars().all(is_of_word) && !text.starts_with(|c: char| c.is_ascii_digit())
    };
    if let Some(argument) = base.last().filter(|last| base.len() > 2 && !is_identifier(last)) {
        parameters.insert(0, ("1".to_owned(), (*argument).to_owned()));
        base.pop();
    }
    (name, base.join("::"), parameters)
}

/// Parses `92.32 ns`, `2.045 KB`, `21.66 Mitem/s`, `199.3 MHz` or `6` into the number in base units
/// and the unit. `item/s` and similar units become [`Unit::Other`], and hertz becomes
/// [`Unit::PerSecond`].
fn quantity(text: &str) -> Option<(f64, Unit)> {
    let (number, symbol) = text.split_once(' ').unwrap_or((text, ""));
    let number = finite(number)?;
    if symbol.is_empty() {
        return Some((number, Unit::One));
    }
    if let Some(unit) = symbol.strip_suffix("/s") {
        if let Some((factor, Unit::Byte)) = byte_unit(unit) {
            return Some((number * factor, Unit::Other("B/s".to_owned())));
        }
        let (factor, of) = prefix(unit);
        return ["item", "char", "cycle"]
            .contains(&of)
            .then(|| (number * factor, Unit::Other(format!("{of}/s"))));
    }
    if let (factor, "Hz") = prefix(symbol) {
        return Some((number * factor, Unit::PerSecond));
    }
    let small = match symbol {
        "ps" => Some((1e-12, Unit::Second)),
        _ => unit_of_symbol(symbol).filter(|(_, unit)| *unit == Unit::Second),
    };
    // Small units are converted by dividing by a whole number, which rounds only once.
    let scaled = |(factor, unit): (f64, Unit)| {
        let value = if factor < 1.0 { number / (1.0 / factor).round() } else { number * factor };
        (value, unit)
    };
    small.or_else(|| byte_unit(symbol)).map(scaled)
}

fn byte_unit(symbol: &str) -> Option<(f64, Unit)> {
    let larger = match symbol {
        "TB" => 1e12,
        "PB" => 1e15,
        "PiB" => 1_125_899_906_842_624.0,
        _ => return unit_of_symbol(symbol).filter(|(_, unit)| *unit == Unit::Byte),
    };
    Some((larger, Unit::Byte))
}

/// Returns the factor of a decimal prefix, and the unit without the prefix.
fn prefix(unit: &str) -> (f64, &str) {
    const PREFIXES: [(char, f64); 6] =
        [('K', 1e3), ('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12), ('P', 1e15)];
    let found =
        PREFIXES.iter().find_map(|&(letter, factor)| Some((factor, unit.strip_prefix(letter)?)));
    found.unwrap_or((1.0, unit))
}
