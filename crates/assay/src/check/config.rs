//! `assay.toml`, in the root directory of the repository: facts that can't be detected
//! automatically, and settings for everybody who checks this project. Command-line options take
//! precedence.

use crate::args::{seconds, threshold};
use anyhow::{Context, bail};
use assay_data::Threshold;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use toml::{Table, Value};

/// Name of the settings file.
pub(crate) const FILE: &str = "assay.toml";
/// Maximum size of a settings file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Valid keys, in the order of the documentation.
const KEYS: [&str; 7] = ["build", "bench", "run", "base", "budget", "threshold", "metric"];

/// The settings of a project. Settings that are absent are detected or have default values.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// Shell line that builds a revision.
    pub build: Option<String>,
    /// Benchmark programs, as `assay bench` takes them.
    pub bench: Vec<String>,
    /// Commands to time as a whole, as `assay run` takes them.
    pub run: Vec<String>,
    /// The branch to compare with.
    pub base: Option<String>,
    /// Measuring time, in seconds.
    pub budget: Option<f64>,
    /// Smallest difference that matters, as written and as a value.
    pub threshold: Option<(String, Threshold)>,
    /// The metric that decides the result.
    pub metric: Option<String>,
}

impl Config {
    /// Reads the settings from the root directory of a working tree. Returns the defaults if there
    /// is no file.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read, is not TOML, or has an unknown key or an invalid value.
    pub fn read(top: &Path) -> anyhow::Result<Self> {
        let path = top.join(FILE);
        let text = match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Ok(about) if about.len() > MOST_BYTES => bail!("{FILE} is larger than 1 MiB"),
            _ => fs::read_to_string(&path).with_context(|| path.display().to_string())?,
        };
        Self::parse(&text)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let table: Table = toml::from_str(text)
            .map_err(|error| anyhow::anyhow!("{FILE}: {}", error.to_string().trim_end()))?;
        if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            bail!("{FILE}: unknown key `{unknown}`; known are {}", KEYS.join(", "));
        }
        let text = |key: &str| table.get(key).map(|value| of_text(key, value)).transpose();
        let config = Self {
            build: text("build")?,
            bench: table.get("bench").map_or(Ok(Vec::new()), |value| of_texts("bench", value))?,
            run: table.get("run").map_or(Ok(Vec::new()), |value| of_texts("run", value))?,
            base: text("base")?,
            budget: parsed("budget", text("budget")?, seconds)?,
            threshold: parsed("threshold", text("threshold")?, |text| {
                threshold(text).map(|value| (text.to_owned(), value))
            })?,
            metric: text("metric")?,
        };
        if config.build.is_some() && config.bench.is_empty() && config.run.is_empty() {
            bail!(
                "{FILE}: `build` needs `bench` or `run`, which name the programs that it builds, as in bench = \"build/bm\""
            );
        }
        Ok(config)
    }

    /// Returns true if the settings name what is to be measured, so that nothing has to be
    /// detected.
    pub fn names_programs(&self) -> bool {
        !self.bench.is_empty() || !self.run.is_empty()
    }
}

fn of_text(key: &str, value: &Value) -> anyhow::Result<String> {
    match value {
        Value::String(text) if text.trim().is_empty() => bail!("{FILE}: `{key}` is empty"),
        Value::String(text) => Ok(text.clone()),
        other => bail!("{FILE}: `{key}` must be a string in quotes, not {}", kind(other)),
    }
}

fn of_texts(key: &str, value: &Value) -> anyhow::Result<Vec<String>> {
    match value {
        Value::Array(all) if all.is_empty() => bail!("{FILE}: `{key}` is empty"),
        Value::Array(all) => all.iter().map(|one| of_text(key, one)).collect(),
        Value::String(_) => Ok(vec![of_text(key, value)?]),
        other => {
            bail!("{FILE}: `{key}` must be a string or a list of strings, not {}", kind(other))
        }
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Integer(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(value) => format!("`{value}`"),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(_) => "a text".to_owned(),
    }
}

fn parsed<T>(
    key: &str,
    text: Option<String>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> anyhow::Result<Option<T>> {
    let of = |text: String| {
        parse(&text).map_err(|why| anyhow::anyhow!("{FILE}: {key} = \"{text}\": {why}"))
    };
    text.map(of).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "build = 'make'\nbench = ['a', 'b --x']\nrun = 'c'\nbase = 'dev'\nbudget = '2min'\nthreshold = '3%'\nmetric = 'cpu'\n";
        let found = Config::parse(text).expect("it is right");
        assert_eq!(found.bench, ["a", "b --x"]);
        assert_eq!((found.run, found.budget), (vec!["c".to_owned()], Some(120.0)));
        assert_eq!(found.threshold, Some(("3%".to_owned(), Threshold::Relative(0.03))));
        assert_eq!(KEYS.iter().filter(|key| text.contains(**key)).count(), KEYS.len());
    }

    #[test]
    fn what_is_wrong_is_named_with_what_would_be_right() {
        for (text, said) in [
            ("builds = 'x'", "unknown key `builds`; known are build, bench, run"),
            ("budget = 300", "`budget` must be a string in quotes, not the number 300"),
            ("budget = 'long'", "budget = \"long\""),
            ("threshold = '3'", "Write `3%`"),
            ("bench = []", "`bench` is empty"),
            ("build = 'make'", "needs `bench` or `run`"),
            ("build = [", "line 1"),
        ] {
            let error = Config::parse(text).expect_err(text).to_string();
            assert!(error.contains(said) && error.starts_with(FILE), "{error}");
        }
    }
}
