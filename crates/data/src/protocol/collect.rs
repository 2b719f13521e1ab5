//! Combines the lines of one run into metrics, by name, with unit, direction and values, and into
//! regions measured from start to stop.

use super::line::{About, Gives, read};
use super::{MAX_LINE, MAX_METRICS, MAX_NAME, MAX_PROBLEMS, Problem, Report, ReportedMetric};
use crate::declared_unit::DeclaredUnit;
use crate::excerpt::excerpt;
use crate::reading::Take;
use crate::{Better, Metric, Unit};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;

/// A metric or region whose lines are still being read.
struct Entry {
    name: String,
    /// Number of the line on which the metric or region first appears.
    line: usize,
    region: bool,
    unit: Option<DeclaredUnit>,
    better: Option<Better>,
    take: Option<Take>,
    /// The values in the declared unit, which a later line may state. For regions, in nanoseconds.
    values: Vec<f64>,
}

/// A region that was started and not yet stopped.
struct Open {
    line: usize,
    at: u64,
    /// True if the region was started again before it was stopped, so that it is unknown to which
    /// start the next stop belongs.
    twice: bool,
}

/// Combines the lines of one run into a report.
#[derive(Default)]
pub(super) struct Collector {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    open: HashMap<(usize, u64), Open>,
    problems: Vec<Problem>,
    more_problems: usize,
}

impl Collector {
    /// Processes one line. `ended` is false if the line has no line feed.
    pub(super) fn line(&mut self, number: usize, line: &[u8], ended: bool) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let taken = if line.len() > MAX_LINE {
            Err("the line is longer than 1 MiB; give long lists in several lines".to_owned())
        } else {
            self.take(number, line)
        };
        if let Err(what) = taken {
            let hint = if ended {
                ""
            } else {
                " (the last line, which lacks its line feed: was the program ended?)"
            };
            self.problem(number, format!("{what}{hint}"));
        }
    }

    fn take(&mut self, number: usize, line: &[u8]) -> Result<(), String> {
        let (name, about, gives) = read(line)?;
        let region = !matches!(gives, Gives::Values(_) | Gives::Value(_));
        let index = self.entry(number, &name, region)?;
        self.entries[index].learn(&about)?;
        match gives {
            Gives::Value(value) => self.entries[index].values.push(value),
            Gives::Values(values) => self.entries[index].values.extend(values),
            Gives::Duration(ns) => self.entries[index].values.push(ns),
            Gives::Start(at, thread) => match self.open.entry((index, thread)) {
                Place::Vacant(place) => {
                    place.insert(Open { line: number, at, twice: false });
                }
                Place::Occupied(mut place) => {
                    let open = place.get_mut();
                    open.twice = true;
                    return Err(format!(
                        "`{}` is started again before it is stopped (line {}), so neither start counts; give \
                         threads and processes their own `thread`",
                        excerpt(&name),
                        open.line
                    ));
                }
            },
            Gives::Stop(at, thread) => {
                let Some(open) = self.open.remove(&(index, thread)) else {
                    return Err(format!("`{}` is stopped but was not started", excerpt(&name)));
                };
                if open.twice {
                    return Ok(());
                }
                let Some(ns) = at.checked_sub(open.at) else {
                    return Err(format!(
                        "`{}` stops before it starts (line {}); read the clock CLOCK_MONOTONIC, which never goes back",
                        excerpt(&name),
                        open.line
                    ));
                };
                self.entries[index].values.push(ns as f64);
            }
        }
        Ok(())
    }

    /// Returns the index of the entry with this name, creating it if necessary.
    fn entry(&mut self, number: usize, name: &str, region: bool) -> Result<usize, String> {
        if let Some(&index) = self.by_name.get(name) {
            let known = &self.entries[index];
            if known.region != region {
                let kinds = if region { ["region", "metric"] } else { ["metric", "region"] };
                return Err(format!(
                    "`{}` is a {} here and a {} in line {}; give them two names",
                    excerpt(name),
                    kinds[0],
                    kinds[1],
                    known.line
                ));
            }
            return Ok(index);
        }
        let length = name.chars().take(MAX_NAME + 1).count();
        if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
            return Err(format!(
                "`{}` is not a name; a name has 1 to {MAX_NAME} characters, none of them control characters",
                excerpt(name)
            ));
        }
        if self.entries.len() == MAX_METRICS {
            return Err(format!(
                "`{}` is one more than the {MAX_METRICS} metrics and regions that a run may have",
                excerpt(name)
            ));
        }
        let ns = region.then_some(DeclaredUnit { unit: Unit::Second, factor: 1e-9 });
        self.entries.push(Entry {
            name: name.to_owned(),
            line: number,
            region,
            unit: ns,
            better: None,
            take: None,
            values: Vec::new(),
        });
        self.by_name.insert(name.to_owned(), self.entries.len() - 1);
        Ok(self.entries.len() - 1)
    }

    pub(super) fn problem(&mut self, line: usize, what: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line, what });
        } else {
            self.more_problems += 1;
        }
    }

    pub(super) fn finish(mut self) -> Report {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(_, open)| open.line);
        for ((index, _), open) in open {
            let name = excerpt(&self.entries[index].name);
            self.problem(open.line, format!("`{name}` is started but never stopped"));
        }
        let mut given = Vec::new();
        for entry in std::mem::take(&mut self.entries) {
            let (line, name) = (entry.line, excerpt(&entry.name));
            let Some((entry, lost)) = entry.reported() else { continue };
            if lost > 0 {
                let what = format!(
                    "{lost} values of `{name}` are not finite in its base unit; they are left out"
                );
                self.problem(line, what);
            }
            if !entry.values.is_empty() {
                given.push(entry);
            }
        }
        Report { given, problems: self.problems, more_problems: self.more_problems }
    }
}

impl Entry {
    /// Applies the properties that a line states about the metric. A line that contradicts an
    /// earlier one has no effect.
    fn learn(&mut self, about: &About<'_>) -> Result<(), String> {
        if *about == About::default() {
            return Ok(());
        }
        let unit = about
            .unit
            .as_deref()
            .map(DeclaredUnit::parse)
            .transpose()
            .map_err(|e| e.to_string())?;
        let better = match about.better.as_deref() {
            None => None,
            Some("lower") => Some(Better::Lower),
            Some("higher") => Some(Better::Higher),
            Some(other) => {
                return Err(format!("`better` is `{}`; it is `lower` or `higher`", excerpt(other)));
            }
        };
        let take = match about.take.as_deref() {
            None => None,
            Some(word) => Some(Take::from_word(word).ok_or_else(|| {
                format!(
                    "`take` is `{}`; it is first, last, sum, mean, median, min, max or count",
                    excerpt(word)
                )
            })?),
        };
        if self.region && unit.is_some() {
            return Err("a region is in nanoseconds and has no `unit`".to_owned());
        }
        let name = &self.name;
        agree(name, "unit", &self.unit, &unit)?;
        agree(name, "better", &self.better, &better)?;
        agree(name, "take", &self.take, &take)?;
        self.unit = self.unit.take().or(unit);
        self.better = self.better.or(better);
        self.take = self.take.or(take);
        Ok(())
    }

    /// Returns the metric with its values in base units, and the number of values lost because they
    /// were not finite. `None` if there are no values.
    fn reported(mut self) -> Option<(ReportedMetric, usize)> {
        if self.values.is_empty() {
            return None;
        }
        let declared = self.unit.unwrap_or_else(DeclaredUnit::one);
        let before = self.values.len();
        self.values.iter_mut().for_each(|value| *value = declared.to_base(*value));
        self.values.retain(|value| value.is_finite());
        let lost = before - self.values.len();
        let usual = if self.region { Take::Sum } else { Take::Median };
        let take = self.take.unwrap_or(usual);
        let unit = if take == Take::Count { Unit::One } else { declared.unit };
        let metric = Metric::of_unit(&self.name, unit).directed(self.better);
        Some((ReportedMetric { metric, take, values: self.values }, lost))
    }
}

fn agree<T: PartialEq>(
    name: &str,
    what: &str,
    known: &Option<T>,
    new: &Option<T>,
) -> Result<(), String> {
    if known.is_some() && new.is_some() && known != new {
        return Err(format!(
            "`{}` has another `{what}` here than in an earlier line; the line is left out",
            excerpt(name)
        ));
    }
    Ok(())
}
