//! Determines from a command line of `assay bench` or `assay run` how a run was measured, so that
//! two revisions can be measured in the same way.

use crate::VERBS;
use anyhow::{Context, bail};
use assay_data::path::without_dots;
use assay_measure::Command;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command as Verb};
use regex::escape;
use std::path::{Path, PathBuf};

/// Options of `assay bench` that affect how programs are run and what is counted.
const OF_BENCH: [&str; 8] = [
    "harness",
    "env",
    "directory",
    "run_time",
    "timeout",
    "alloc",
    "count_instructions",
    "counters",
];
/// Options of `assay run` that apply to all commands.
const OF_RUN: [&str; 10] = [
    "shell",
    "setup",
    "cleanup",
    "timeout",
    "ignore_failure",
    "metric",
    "samples",
    "counters",
    "alloc",
    "count_instructions",
];
/// Options of `assay run` whose values may be restricted to one command, as `N:VALUE`.
const NUMBERED: [&str; 6] = ["env", "input", "output", "pin", "nice", "jobs"];
/// Options of `assay run` that are given once for all commands, or once for each command.
const EACH: [&str; 2] = ["prepare", "conclude"];
/// Options of `assay run` that multiply the commands or builds, so that the run cannot be repeated
/// for two revisions.
const SCANS: [&str; 3] = ["parameter", "list", "builds"];

/// How a run was measured.
pub(super) enum Measured {
    /// Benchmarks of a program.
    Bench {
        /// Path of the program, relative to the root of the working tree.
        program: String,
        /// The shell line that builds a revision, if one was given.
        build: Option<String>,
        /// Options for running the program and for counting, as they are typed.
        options: Vec<String>,
        /// Arguments passed to the program.
        passed: Vec<String>,
    },
    /// Commands.
    Run {
        /// The commands, each with the options that apply to it.
        commands: Vec<Ran>,
    },
}

/// A command measured by `assay run`.
pub(super) struct Ran {
    pub name: Option<String>,
    pub text: String,
    pub options: Vec<String>,
    /// Working directory of the command, relative to the root of the working tree.
    pub cwd: Option<String>,
    pub shell: Option<String>,
}

/// The parsed arguments of `assay bench` or `assay run`.
struct Typed {
    verb: Verb,
    found: ArgMatches,
}

impl Typed {
    /// Parses the words after `assay`.
    ///
    /// # Errors
    ///
    /// Returns an error if the words are not a command line of `assay bench` or `assay run`.
    fn of(words: &[String]) -> anyhow::Result<Self> {
        let name = words.first().map(String::as_str).unwrap_or_default();
        let verb = VERBS.iter().find(|verb| ["run", "bench"].contains(&name) && verb.name == name);
        let Some(verb) = verb else {
            bail!("expected `run` or `bench` with arguments, not `{name}`");
        };
        let verb = (verb.augment)(Verb::new(verb.name));
        let found = verb.clone().try_get_matches_from(words).map_err(|error| {
            let told = error.to_string();
            let first = told.lines().next().unwrap_or_default().trim_start_matches("error: ");
            anyhow::anyhow!("{first}")
        })?;
        Ok(Self { verb, found })
    }

    /// Returns the values given for an option on the command line, which are empty for a flag;
    /// `None` if the option was not given.
    fn values(&self, id: &str) -> Option<Vec<String>> {
        if self.found.value_source(id) != Some(ValueSource::CommandLine) {
            return None;
        }
        let raw = self.found.try_get_raw(id).ok()??;
        let takes = self.verb.get_arguments().find(|argument| argument.get_id() == id);
        let takes = takes.is_some_and(|argument| argument.get_action().takes_values());
        let values = raw.map(|value| value.to_string_lossy().into_owned());
        Some(if takes { values.collect() } else { Vec::new() })
    }

    fn one(&self, id: &str) -> Option<String> {
        self.values(id)?.into_iter().next()
    }

    /// Returns an option and its values as they are typed.
    fn spelled(&self, id: &str, values: &[String]) -> Vec<String> {
        let argument = self.verb.get_arguments().find(|argument| argument.get_id() == id);
        let Some(long) = argument.and_then(|argument| argument.get_long()) else {
            return Vec::new();
        };
        match values {
            [] => vec![format!("--{long}")],
            values => values.iter().map(|value| format!("--{long}={value}")).collect(),
        }
    }

    fn carried(&self, ids: &[&str]) -> Vec<String> {
        let given = |id: &&str| Some(self.spelled(id, &self.values(id)?));
        ids.iter().filter_map(given).flatten().collect()
    }
}

/// Checks that the words are a command line that can measure two revisions.
///
/// # Errors
///
/// Returns an error if they are not.
pub(super) fn check(words: &[String]) -> anyhow::Result<()> {
    Measured::of(words, None).map(drop).context("the words after --")
}

/// Returns the relative path of the program that `assay bench` measured, as typed. `None` if the
/// program was looked up in `PATH`.
pub(super) fn program(argv: &[String]) -> Option<String> {
    match Measured::of(argv.get(1..)?, None).ok()? {
        Measured::Bench { program, .. } => {
            let command = Command::parse(&program, false).ok()?;
            let path = command.argv.first()?.to_str()?.to_owned();
            (path.contains('/') && !path.starts_with('/')).then_some(path)
        }
        Measured::Run { .. } => None,
    }
}

impl Measured {
    /// Parses the words after `assay`. If the root of the repository is given as `top`, paths of
    /// programs are converted from relative to the current directory to relative to `top`.
    ///
    /// # Errors
    ///
    /// Returns an error if two revisions cannot be measured that way.
    pub fn of(words: &[String], top: Option<&Path>) -> anyhow::Result<Self> {
        let typed = Typed::of(words)?;
        match typed.verb.get_name() {
            "bench" => Self::bench(&typed, top),
            _ => Self::run(&typed),
        }
    }

    fn bench(typed: &Typed, top: Option<&Path>) -> anyhow::Result<Self> {
        let two = ["old_filter", "new_filter", "old_env", "new_env", "aa", "builds", "resume"];
        if let Some(id) = two.into_iter().find(|id| typed.values(id).is_some()) {
            bail!("--{} compares something other than revisions", id.replace('_', "-"));
        }
        if typed.values("rev").is_some() && typed.one("build").is_none() {
            bail!("its build line was found in the project, not given with --build");
        }
        let program = match (typed.one("program"), typed.values("programs").as_deref()) {
            (Some(program), _) => program,
            (None, Some([program])) => from_top(program, top)?,
            (None, _) => bail!("several programs were measured, and none is a revision"),
        };
        Ok(Self::Bench {
            program,
            build: typed.one("build"),
            options: typed.carried(&OF_BENCH),
            passed: typed.values("passed").unwrap_or_default(),
        })
    }

    fn run(typed: &Typed) -> anyhow::Result<Self> {
        if let Some(id) = SCANS.into_iter().find(|id| typed.values(id).is_some()) {
            bail!("--{id} measures more than one command");
        }
        let (texts, names) = (typed.values("commands"), typed.values("name").unwrap_or_default());
        let texts = texts.context("there is no command")?;
        let count = texts.len();
        let command = |(index, text): (usize, String)| {
            let mut options = typed.carried(&OF_RUN);
            let own = |id: &str| numbered(typed.values(id).unwrap_or_default(), index);
            for id in NUMBERED {
                if let own @ [_, ..] = own(id).as_slice() {
                    options.extend(typed.spelled(id, own));
                }
            }
            for id in EACH {
                let given = typed.values(id).unwrap_or_default();
                let line = if given.len() == count { given.get(index) } else { given.first() };
                let line = line.map(std::slice::from_ref).unwrap_or_default();
                if !line.is_empty() {
                    options.extend(typed.spelled(id, line));
                }
            }
            let (cwd, shell) = (own("cwd").pop(), typed.one("shell"));
            Ran { name: names.get(index).cloned(), text, options, cwd, shell }
        };
        Ok(Self::Run { commands: texts.into_iter().enumerate().map(command).collect() })
    }
}

impl Ran {
    /// Returns true if a benchmark of this name measured this command. `alone` is true if the run
    /// has only one command.
    pub fn is_called(&self, name: &str, alone: bool) -> bool {
        let text = || self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        alone || self.name.as_deref() == Some(name) || (self.name.is_none() && text() == name)
    }
}

/// Returns the values of the form `[N:]VALUE` that apply to the command at `index`, without their
/// prefix.
fn numbered(values: Vec<String>, index: usize) -> Vec<String> {
    let of = |value: String| match value.split_once(':') {
        Some((number, rest))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            (number.parse() == Ok(index + 1)).then(|| rest.to_owned())
        }
        _ => Some(value),
    };
    values.into_iter().filter_map(of).collect()
}

/// Converts a program's path from relative to the current directory to relative to `top`, the root
/// of the repository.
fn from_top(text: &str, top: Option<&Path>) -> anyhow::Result<String> {
    let Some(top) = top else { return Ok(text.to_owned()) };
    let mut command = Command::parse(text, false)?;
    let path = PathBuf::from(&command.argv[0]);
    if path.components().count() > 1 {
        let here = std::env::current_dir()?;
        // The path is not canonicalized because build products may not exist.
        let whole = without_dots(&here.join(&path));
        let below = whole.strip_prefix(top).with_context(|| {
            format!(
                "{} is not in the working tree, so revisions have no copy of their own",
                path.display()
            )
        })?;
        command.argv[0] = Path::new(".").join(below).into_os_string();
    }
    let variables = command.env.iter().map(|(name, value)| format!("{name}={value}"));
    let words = command.argv.iter().map(|word| word.to_string_lossy().into_owned());
    Ok(shell_words::join(variables.chain(words)))
}

/// Returns a query that selects exactly the benchmarks with these names.
pub(crate) fn query(names: &[&str]) -> String {
    let value = |name: &&str| match name.contains(['"', '\\']) {
        true => format!("/^{}$/", escape(name).replace('/', "\\/")),
        false => format!("\"{name}\""),
    };
    let values: Vec<String> = names.iter().map(value).collect();
    format!(".fullname:({})", values.join(" OR "))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use assay_data::select::Filter;
    use assay_data::{Metric, Samples, Subject};

    fn words(line: &str) -> Vec<String> {
        shell_words::split(line).unwrap()
    }

    #[test]
    fn every_option_that_is_carried_over_exists() {
        for (verb, ids) in [
            ("bench", &OF_BENCH[..]),
            ("run", &OF_RUN),
            ("run", &NUMBERED),
            ("run", &EACH),
            ("run", &SCANS),
        ] {
            let typed = Typed::of(&words(&format!("{verb} x"))).unwrap();
            for id in ids {
                assert!(typed.verb.get_arguments().any(|own| own.get_id() == *id), "{verb} {id}");
            }
        }
    }

    #[test]
    fn what_was_measured_and_how_is_read_and_the_rest_is_not() {
        let line = "bench sub/bm --keep --filter Copy --env A=1 --time 9s --alloc -- --size 3";
        let read = Measured::of(&words(line), None).unwrap();
        let Measured::Bench { program, build, options, passed } = read else { unreachable!() };
        assert_eq!((program.as_str(), build), ("sub/bm", None));
        assert_eq!(options, ["--env=A=1", "--alloc"]);
        assert_eq!(passed, ["--size", "3"]);
        let line = "bench --rev a --rev b --build 'make x' --program bm";
        let read = Measured::of(&words(line), None).unwrap();
        assert!(matches!(read, Measured::Bench { build: Some(b), .. } if b == "make x"));
        let line = "run -n one -n two --env 2:A=1 --env B=2 --prepare p --prepare 'q r' './x 1' y";
        let Measured::Run { commands } = Measured::of(&words(line), None).unwrap() else {
            unreachable!()
        };
        assert_eq!(commands[0].options, ["--env=B=2", "--prepare=p"]);
        assert_eq!(commands[1].options, ["--env=A=1", "--env=B=2", "--prepare=q r"]);
        assert!(commands[0].is_called("one", false) && !commands[1].is_called("one", false));
        for no in [
            "bench a b",
            "load http://x",
            "bench a --old-env X=1 --new-env X=2",
            "run -P n=1,2 x",
            "",
        ] {
            assert!(Measured::of(&words(no), None).is_err(), "{no}");
        }
    }

    #[test]
    fn a_program_is_named_from_the_top() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(from_top("../x/./bm -a", here.parent()).unwrap(), "./x/bm -a");
        assert_eq!(from_top("bm -a", here.parent()).unwrap(), "bm -a", "a program in PATH");
        assert!(from_top("/usr/bin/x", Some(&here)).is_err());
    }

    #[test]
    fn a_query_finds_the_names_that_it_is_made_of_and_no_other() {
        let names = ["BM_A/8", "say \"x\" (OR)", "back\\slash/", "a OR b", "é)"];
        let filter: Filter = query(&names).parse().unwrap();
        let accepts = |name: &str| {
            let mut samples = Samples::default();
            let (side, row) = (samples.side_named(""), samples.row_named(name));
            filter.accepts(&samples, &Subject { side, row, ..Subject::default() }, &Metric::wall())
        };
        for name in names {
            assert!(accepts(name) && !accepts(&format!("{name}x")), "{name}");
        }
        assert!(!accepts("a"));
    }
}
