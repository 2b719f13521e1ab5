//! Selects benchmarks and metrics, and the properties that form rows and columns, with the
//! languages of `--filter`, `--row` and `--col`.
//!
//! A [`Filter`] consists of terms joined by `AND` (or by juxtaposition), `OR`, `-` for negation,
//! and parentheses. A term is `key:value`, where the value is a word (`*` matches anything), a
//! quoted text, a regular expression between slashes, or several of these as `(a OR b)`. A word or
//! expression without a key is searched for in the full name. A [`Key`] alone names the property
//! that forms rows or columns. The idea of one language for all keys, and the names of the keys,
//! are from benchstat (golang.org/x/perf, `benchproc/syntax`).
//!
//! Only names, parameters, sides and metrics are examined, never values, because selecting
//! benchmarks by their results would bias the comparison.

mod keep;
mod parse;
mod project;
mod suggest;

pub use parse::SyntaxError;
pub(crate) use project::without_value;
pub use project::{ProjectError, project};
pub use suggest::common_rows;

use crate::excerpt::{excerpt, visible};
use crate::samples::{Metric, Samples, Subject};
use regex::Regex;
use std::fmt;
use std::str::FromStr;

/// A property by which benchmarks and metrics can be selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// `.name`: the name without parameters.
    Name,
    /// `.fullname`: the name as the tool prints it.
    FullName,
    /// `.side` or `.file`: the file or build in which the benchmark was measured.
    Side,
    /// `.metric`: the name of a metric.
    Metric,
    /// `.unit`: the base unit of a metric.
    Unit,
    /// `n` or `/n`: a parameter with this name.
    Parameter(String),
}

impl Key {
    /// Returns the value of this key for the subject, or for the metric if the key is `Metric` or
    /// `Unit`. `None` for a parameter that the subject does not have.
    fn value<'a>(
        &self,
        samples: &'a Samples,
        subject: &'a Subject,
        metric: &'a Metric,
    ) -> Option<&'a str> {
        match self {
            Self::Name => Some(samples.label_of(subject).unwrap_or(samples.full_name(subject))),
            Self::FullName => Some(samples.full_name(subject)),
            Self::Side => Some(&samples.side_of(subject).name),
            Self::Metric => Some(&metric.name),
            Self::Unit => Some(metric.unit.symbol()),
            Self::Parameter(name) => subject.parameter(name).map(|value| value.as_str()),
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            ".name" => Ok(Self::Name),
            ".fullname" => Ok(Self::FullName),
            ".side" | ".file" => Ok(Self::Side),
            ".metric" => Ok(Self::Metric),
            ".unit" => Ok(Self::Unit),
            _ if text.starts_with('.') => Err(format!(
                "there is no key `{}`; known are .name, .fullname, .file, .metric, .unit, and parameters by their names",
                excerpt(text)
            )),
            _ => match text.strip_prefix('/').unwrap_or(text) {
                "" => Err("a key is missing".to_owned()),
                name => Ok(Self::Parameter(name.to_owned())),
            },
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => ".name",
            Self::FullName => ".fullname",
            Self::Side => ".file",
            Self::Metric => ".metric",
            Self::Unit => ".unit",
            Self::Parameter(name) => name,
        })
    }
}

/// Benchmarks and metrics to keep.
#[derive(Clone, Debug)]
pub struct Filter {
    text: String,
    expression: Expression,
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[derive(Clone, Debug)]
enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    Term(Key, Vec<Pattern>),
}

/// Pattern that a value must match.
#[derive(Clone, Debug)]
enum Pattern {
    Exactly(String),
    Contains(String),
    Matches(Regex),
}

impl Pattern {
    fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Exactly(text) => value == text,
            Self::Contains(text) => value.contains(text.as_str()),
            Self::Matches(regex) => regex.is_match(value),
        }
    }
}

impl FromStr for Filter {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Ok(Self { text: text.to_owned(), expression: parse::expression(text)? })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Filter {
    /// Returns true if the filter keeps the values of this metric of this benchmark.
    pub fn accepts(&self, samples: &Samples, subject: &Subject, metric: &Metric) -> bool {
        self.expression.accepts(samples, subject, metric)
    }

    /// Returns the parameters that the filter uses.
    fn parameters(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.expression.parameters(&mut found);
        found
    }

    /// Keeps only the selected benchmarks and metrics.
    ///
    /// # Errors
    ///
    /// Returns an error if the filter uses a parameter that no benchmark has, or if it selects
    /// nothing, or nothing with a value.
    pub fn apply(&self, samples: &mut Samples) -> Result<(), FilterError> {
        for name in self.parameters() {
            if samples.subjects.iter().all(|s| s.parameter(name).is_none()) {
                return Err(FilterError::NoSuchParameter {
                    name: name.to_owned(),
                    known: known_parameters(samples),
                });
            }
        }
        let (subjects, metrics) = (names_of(samples), metrics_of(samples));
        samples.keep(|samples, subject, metric| self.accepts(samples, subject, metric));
        if samples.subjects.is_empty() || samples.metrics.is_empty() {
            return Err(FilterError::NothingLeft { filter: self.text.clone(), subjects, metrics });
        }
        // A column of a table may have a name and no values.
        if samples.is_empty() && samples.summaries.is_empty() {
            let subjects = names_of(samples);
            return Err(FilterError::NoValues { filter: self.text.clone(), subjects });
        }
        Ok(())
    }
}

impl Expression {
    fn accepts(&self, samples: &Samples, subject: &Subject, metric: &Metric) -> bool {
        let accepts = |one: &Expression| one.accepts(samples, subject, metric);
        match self {
            Self::All(all) => all.iter().all(accepts),
            Self::Any(any) => any.iter().any(accepts),
            Self::Not(other) => !accepts(other),
            Self::Term(key, patterns) => key
                .value(samples, subject, metric)
                .is_some_and(|value| patterns.iter().any(|pattern| pattern.accepts(value))),
        }
    }

    fn parameters<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().for_each(|one| one.parameters(found)),
            Self::Not(other) => other.parameters(found),
            Self::Term(Key::Parameter(name), _) => found.push(name),
            Self::Term(..) => {}
        }
    }
}

/// Reasons why a filter cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The filter uses a parameter that no benchmark has.
    #[error("--filter: no benchmark has a parameter `{}`; {}", excerpt(.name), visible(.known))]
    NoSuchParameter {
        /// The parameter that the filter uses.
        name: String,
        /// Existing parameters, as listed in messages.
        known: String,
    },
    /// Nothing matches the filter.
    #[error(
        "--filter: nothing matches `{}`; there are: {}; metrics: {}",
        visible(.filter), visible(.subjects), visible(.metrics)
    )]
    NothingLeft {
        /// The filter as typed.
        filter: String,
        /// Some of the existing benchmarks.
        subjects: String,
        /// Names of the existing metrics.
        metrics: String,
    },
    /// Benchmarks match the filter, but none of them has a value.
    #[error(
        "--filter: what is left by `{}` has no values: {}; widen the filter",
        visible(.filter), visible(.subjects)
    )]
    NoValues {
        /// The filter as typed.
        filter: String,
        /// Names of some of the benchmarks that match.
        subjects: String,
    },
}

/// Returns the parameters of the benchmarks, as listed in messages.
fn known_parameters(samples: &Samples) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in samples.subjects.iter().flat_map(|s| &s.parameters) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        "they have none".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    }
}

/// Returns some names of benchmarks, as listed in messages.
fn names_of(samples: &Samples) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<&str> = Vec::new();
    for subject in &samples.subjects {
        let name = samples.full_name(subject);
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() > SHOWN {
            names.pop();
            return format!("{}, …", names.join(", "));
        }
    }
    names.join(", ")
}

fn metrics_of(samples: &Samples) -> String {
    samples.metrics.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
