//! Which benchmarks and metrics one wants to see, and which parameter makes the columns: the languages of `--filter`, `--row` and `--col`.
//!
//! A [`Filter`] is terms joined by `AND` (or nothing), `OR`, `-` for not, and parentheses. A term is `key:value`, where the value is a word
//! (`*` stands for anything), a text in quotes, a regular expression between slashes, or several of them as `(a OR b)`; or a word or
//! expression alone, which is looked for in the full name. The idea of one language for all keys is benchstat's (golang.org/x/perf,
//! `benchproc/syntax`); so are the names of the keys. A [`Key`] alone names what makes rows or columns.
//!
//! It looks at names, parameters, sides and metrics only, never at values: whoever picks benchmarks by their results fools himself.

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

/// What one may ask of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// `.name`: the name without parameters.
    Name,
    /// `.fullname`: the name as the tool prints it.
    FullName,
    /// `.side` or `.file`: the file or build that it was measured in.
    Side,
    /// `.metric`: the name of a metric.
    Metric,
    /// `.unit`: the base unit of a metric.
    Unit,
    /// `n` or `/n`: a parameter.
    Parameter(String),
}

impl Key {
    /// What one of the subjects, and for two keys a metric, has there; `None` for a parameter that it does not have.
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

/// What a value must look like.
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
    /// Whether the values of a metric of a benchmark are wanted.
    pub fn accepts(&self, samples: &Samples, subject: &Subject, metric: &Metric) -> bool {
        self.expression.accepts(samples, subject, metric)
    }

    /// The parameters that it asks for.
    fn parameters(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.expression.parameters(&mut found);
        found
    }

    /// Leaves of the samples what is wanted.
    ///
    /// # Errors
    /// When it asks for a parameter that no benchmark has, or nothing is left, or nothing that has a value.
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
        // A column of a table may have a name and no value.
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

/// Why a filter can't be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// It asks for a parameter that no benchmark has.
    #[error("--filter: no benchmark has a parameter `{}`; {}", excerpt(.name), visible(.known))]
    NoSuchParameter {
        /// What it asks for.
        name: String,
        /// The parameters that there are.
        known: String,
    },
    /// Nothing is as it asks.
    #[error(
        "--filter: nothing is left by `{}`; there are {}, with metrics {}",
        visible(.filter), visible(.subjects), visible(.metrics)
    )]
    NothingLeft {
        /// The filter.
        filter: String,
        /// Some of the benchmarks that there were.
        subjects: String,
        /// Their metrics.
        metrics: String,
    },
    /// What is as it asks was never measured.
    #[error(
        "--filter: what is left by `{}` has no values: {}; widen the filter",
        visible(.filter), visible(.subjects)
    )]
    NoValues {
        /// The filter.
        filter: String,
        /// Some of the benchmarks that are left.
        subjects: String,
    },
}

/// The parameters that benchmarks have, as messages list them.
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

/// Some names of benchmarks, as messages list them.
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
