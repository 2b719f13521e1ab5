//! Values in lines of text, one per line, with or without a unit: common code of `--pattern` and
//! logfmt.
//!
//! The first value determines the unit of all values. A subject is identified by a name and named
//! parts. Lines without a value are counted instead of rejected, because logs contain other lines
//! as well.

use super::number::Conversion;
use super::recorder::Recorder;
use super::{Context, ImportError, Part};
use crate::finding::shared::lines_skipped;
use crate::samples::{Metric, Outcome};
use crate::unit::{Quantity, Unit, parse_quantity};

/// Gathers values line by line.
pub(super) struct LineValues<'a> {
    pub recorder: Recorder<'a>,
    context: &'a Context<'a>,
    /// Unit of numbers without one.
    given: Conversion,
    name: String,
    metric: Option<(usize, Unit)>,
    /// True if any value stated its unit.
    has_units: bool,
    taken: u64,
    skipped: u64,
    first_skipped: Option<(u64, String)>,
}

impl<'a> LineValues<'a> {
    /// Creates an empty gatherer. The metric is called `name` unless the user named it.
    pub(super) fn new(context: &'a Context<'a>, name: &str) -> Self {
        Self {
            recorder: Recorder::without_tool(context),
            context,
            given: Conversion::from_symbol(context.options.unit.as_deref()),
            name: context.options.metric.clone().unwrap_or_else(|| name.to_owned()),
            metric: None,
            has_units: false,
            taken: 0,
            skipped: 0,
            first_skipped: None,
        }
    }

    /// Counts a line without a value.
    pub(super) fn skip(&mut self, line: u64, text: &str) {
        self.skipped += 1;
        if self.first_skipped.is_none() {
            self.first_skipped = Some((line, crate::read_error::quoted_start(text)));
        }
    }

    /// Adds a value of the subject with the given name and named parts. If both are empty, the
    /// subject is named after the file.
    ///
    /// # Errors
    /// Returns an error if the text is not a number, or if its unit differs from that of the
    /// previous values.
    pub(super) fn take(
        &mut self,
        name: &str,
        parts: &[(&str, &str)],
        text: &str,
        unit: Option<&str>,
    ) -> Result<(), String> {
        let text = text.trim();
        let (value, unit) = self.read(text, unit)?;
        let metric = match &self.metric {
            Some((metric, known)) if *known == unit => *metric,
            Some((_, known)) => {
                return Err(format!(
                    "`{}` is in {} here but in {} before; a metric must have one unit",
                    self.name,
                    unit.symbol(),
                    known.symbol()
                ));
            }
            None => {
                let metric = Metric::of_unit(&self.name, unit.clone());
                let metric = self.context.options.directed(metric);
                let index = self.recorder.metric(&metric)?;
                self.metric = Some((index, unit));
                index
            }
        };
        let mut full = name.to_owned();
        for (part, value) in parts {
            let blank = if full.is_empty() { "" } else { " " };
            full += &format!("{blank}{part}={value}");
        }
        let (full, label) = match (full.is_empty(), name.is_empty()) {
            (true, _) => (self.context.label, None),
            (false, true) => (full.as_str(), None),
            (false, false) => (full.as_str(), Some(name).filter(|_| !parts.is_empty())),
        };
        let parameters: Vec<_> =
            parts.iter().map(|&(part, value)| (part.to_owned(), value.to_owned())).collect();
        let subject = self.recorder.benchmark(full, label, &parameters);
        self.taken += 1;
        self.recorder.observe(subject, &[], Outcome::Ok, &[(metric, value)])
    }

    fn read(&mut self, text: &str, unit: Option<&str>) -> Result<(f64, Unit), String> {
        let marks = self.context.marks;
        if let Some(unit) = unit.map(str::trim).filter(|unit| !unit.is_empty()) {
            self.has_units = true;
            let conversion = Conversion::from_symbol(Some(unit));
            return Ok((conversion.read(text, marks)?, conversion.unit));
        }
        let split = text.trim_end_matches(|c: char| c.is_alphabetic() || matches!(c, '/' | '%'));
        let symbol = text[split.len()..].trim();
        if marks.read(text).is_none()
            && let Some(number) = marks.read(split.trim_end())
            && let Ok(one) = parse_quantity(&format!("1{symbol}"))
        {
            self.has_units = true;
            return Ok(match one {
                // Converted from the symbol, because multiplying by the parsed amount would round
                // twice.
                Quantity::Amount(_, unit) => {
                    (Conversion::from_symbol(Some(symbol)).to_base(number), unit)
                }
                Quantity::Fraction(share) => (number * share, Unit::One),
                Quantity::Bare(_) => (number, Unit::One),
            });
        }
        Ok((self.given.read(text, marks)?, self.given.unit.clone()))
    }

    /// Returns the number of values.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the first line without a value, with its number.
    pub(super) fn first_skipped(&self) -> Option<&(u64, String)> {
        self.first_skipped.as_ref()
    }

    /// Returns the samples, with a finding about the skipped lines. `what` describes these lines,
    /// as in `without …`.
    pub(super) fn finish(mut self, what: &str) -> Result<Part, ImportError> {
        if let Some((line, text)) = self.first_skipped.take() {
            let all = self.skipped + self.taken;
            let seen = format!("{} of {all}, the first is line {line}: `{text}`", self.skipped);
            let finding = lines_skipped(what, &seen, self.skipped);
            self.recorder.finding(finding.with("taken", self.taken as f64));
        }
        let is_bare = !self.has_units;
        let part = self.recorder.finish("lines without values")?;
        Ok(Part { is_bare, ..part })
    }
}
