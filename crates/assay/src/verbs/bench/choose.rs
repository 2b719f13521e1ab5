//! Determines the sides and the selection of benchmarks from the arguments.

use crate::bench::{BenchmarkSelection, Side, all_differ, named, numbered};
use anyhow::{Context, bail};
use assay_data::select::Filter;
use assay_measure::Command;
use regex::Regex;
use std::ffi::OsString;

/// Options that select benchmarks.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Selecting benchmarks")]
pub(super) struct ChooseArgs {
    /// Measure only benchmarks that match this query: Copy, /^BM_/, 'Copy OR Move', -Slow
    /// (docs/reference/filter.md)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    filter: Option<Filter>,

    /// Skip benchmarks that match this query
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    exclude: Option<Filter>,

    /// Compare two sets of benchmarks within one program; this regular expression selects the
    /// reference
    #[arg(long, value_name = "REGEX", requires = "new_filter")]
    old_filter: Option<Regex>,

    /// Regular expression that selects the set to compare with that of --old-filter
    ///
    /// Two benchmarks form a pair if their names are equal once the matching parts are removed.
    #[arg(long, value_name = "REGEX", requires = "old_filter")]
    new_filter: Option<Regex>,

    /// List the benchmarks of every side, without measuring
    #[arg(long)]
    pub list: bool,

    /// Run every benchmark once to check that it works, without measuring
    #[arg(long, conflicts_with = "list")]
    pub smoke: bool,
}

impl ChooseArgs {
    /// Returns the selection of benchmarks to run on these sides.
    pub fn wanted(&self, sides: &SideArgs) -> BenchmarkSelection {
        BenchmarkSelection {
            filter: self.filter.clone(),
            exclude: self.exclude.clone(),
            harness: sides.harness.clone(),
            control: sides.control,
            pin: !sides.no_pin,
        }
    }
}

/// Options that describe the sides.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Sides")]
pub(super) struct SideArgs {
    /// Name of a side; repeat for each side, in order
    #[arg(long, short = 'n', value_name = "NAME")]
    name: Vec<String>,

    /// Set an environment variable for all sides, or for the N-th only
    #[arg(long, value_name = "[N:]NAME=VALUE")]
    env: Vec<String>,

    /// Set an environment variable for the first side
    ///
    /// With --new-env, one program is compared in two environments.
    #[arg(long, value_name = "NAME=VALUE")]
    old_env: Vec<String>,

    /// Set an environment variable for the second side
    #[arg(long, value_name = "NAME=VALUE")]
    new_env: Vec<String>,

    /// Harness of the programs, if it is not detected
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,

    /// Measure even if two sides are identical, to see this machine's false positives
    #[arg(long)]
    pub aa: bool,

    /// Measure the reference twice in every block, as two sides; any difference between them is
    /// noise, and differences of that size mean nothing
    #[arg(long)]
    pub control: bool,

    /// Let the system choose the CPU of every run
    ///
    /// By default, a benchmark that uses a single CPU runs on the same one on all sides.
    #[arg(long)]
    pub no_pin: bool,
}

impl SideArgs {
    /// Returns the sides, each with its command. The programs have not been inspected yet. `given`
    /// contains the names of the commands if something other than their text distinguishes them.
    pub fn sides(
        &self,
        mut commands: Vec<Command>,
        given: &[String],
        passed: &[OsString],
        choose: &ChooseArgs,
    ) -> anyhow::Result<Vec<Side>> {
        commands.iter_mut().for_each(|command| command.argv.extend(passed.iter().cloned()));
        let mut patterns: Vec<Option<Regex>> = vec![None; commands.len()];
        let two_environments = !self.old_env.is_empty() || !self.new_env.is_empty();
        if let (Some(old), Some(new)) = (&choose.old_filter, &choose.new_filter) {
            if commands.len() > 2 {
                bail!(
                    "--old-filter and --new-filter compare two sides, but there are {}",
                    commands.len()
                );
            }
            commands.resize(2, commands[0].clone());
            patterns = vec![Some(old.clone()), Some(new.clone())];
        } else if commands.len() == 1 && (two_environments || self.aa) {
            commands.push(commands[0].clone());
            patterns.push(None);
        }
        if two_environments && commands.len() != 2 {
            bail!("--old-env and --new-env compare two sides; for more, use --env N:NAME=VALUE");
        }
        self.set_variables(&mut commands)?;
        if self.name.len() > commands.len() {
            bail!(
                "{} names for {} sides: give --name once per side",
                self.name.len(),
                commands.len()
            );
        }
        let mut names = self.names_of(&commands, given, &patterns);
        names.iter_mut().zip(&self.name).for_each(|(name, given)| name.clone_from(given));
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                bail!("two sides are called `{name}`; give each its own --name");
            }
        }
        let sides = commands.into_iter().zip(names).zip(patterns);
        let side = |((command, name), versus)| Side {
            name,
            command,
            versus,
            libraries: Vec::new(),
            builds: Vec::new(),
        };
        Ok(sides.map(side).collect())
    }

    /// Returns the default names of the sides, derived from their differences.
    fn names_of(
        &self,
        commands: &[Command],
        given: &[String],
        patterns: &[Option<Regex>],
    ) -> Vec<String> {
        if let [Some(old), Some(new)] = patterns
            && old.as_str() != new.as_str()
        {
            return vec![old.to_string(), new.to_string()];
        }
        if given.len() == commands.len() {
            return match all_differ(given) {
                true => given.to_vec(),
                false => numbered(given.iter().cloned()),
            };
        }
        let same = commands.windows(2).all(|two| two[0].argv == two[1].argv);
        if same && commands.len() == 2 && commands[0].env != commands[1].env {
            let own = |index: usize| {
                let other = &commands[1 - index].env;
                let own = commands[index].env.iter().filter(|variable| !other.contains(variable));
                let told: Vec<String> =
                    own.map(|(name, value)| format!("{name}={value}")).collect();
                if told.is_empty() { "as it is".to_owned() } else { told.join(" ") }
            };
            return vec![own(0), own(1)];
        }
        if let [one] = given {
            return numbered(commands.iter().map(|_| one.clone()));
        }
        named(commands)
    }

    fn set_variables(&self, commands: &mut [Command]) -> anyhow::Result<()> {
        let count = commands.len();
        for text in &self.env {
            let numbered = text.split_once(':').and_then(|(number, rest)| {
                number.parse::<usize>().ok().map(|number| (number, rest))
            });
            let (which, variable) = match numbered {
                Some((number, rest)) if (1..=count).contains(&number) => (Some(number - 1), rest),
                Some((number, _)) => bail!("--env {text}: there is no side {number}, only {count}"),
                None => (None, text.as_str()),
            };
            let variable = parsed("--env", variable)?;
            for (index, command) in commands.iter_mut().enumerate() {
                if which.is_none_or(|which| which == index) {
                    command.env.push(variable.clone());
                }
            }
        }
        for (index, option, texts) in
            [(0, "--old-env", &self.old_env), (1, "--new-env", &self.new_env)]
        {
            for text in texts {
                commands[index].env.push(parsed(option, text)?);
            }
        }
        Ok(())
    }
}

fn parsed(option: &str, text: &str) -> anyhow::Result<(String, String)> {
    let (name, value) =
        text.split_once('=').with_context(|| format!("{option} {text}: write it as NAME=VALUE"))?;
    if name.is_empty() {
        bail!("{option} {text}: the variable has no name");
    }
    Ok((name.to_owned(), value.to_owned()))
}
