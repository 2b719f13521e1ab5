//! What `assay run` runs: the commands with their names, environment, directories, input, output and hooks, from the arguments.
//!
//! Everything that can be wrong with them is found here, before anything is measured.

use crate::args::seconds;
use crate::session::{Prepared, Tolerated};
use anyhow::Context;
use assay_measure::{Command, Input, Output};
use std::path::PathBuf;

/// How to run the commands.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Running")]
pub(super) struct HowArgs {
    /// Name of a command, in their order; give it once per command
    #[arg(long, short = 'N', value_name = "NAME")]
    pub name: Vec<String>,

    /// Run every command through a shell (/bin/sh, or the one given); its time is part of the measurement
    #[arg(long, short = 'S', value_name = "SHELL", num_args = 0..=1, require_equals = true, default_missing_value = "/bin/sh")]
    pub shell: Option<String>,

    /// Shell line to run once before everything
    #[arg(long, value_name = "LINE")]
    pub setup: Option<String>,

    /// Shell line to run before every run, not measured: once for all commands, or once per command
    #[arg(long, short, value_name = "LINE")]
    pub prepare: Vec<String>,

    /// Shell line to run after every run, not measured: once for all commands, or once per command
    #[arg(long, value_name = "LINE")]
    pub conclude: Vec<String>,

    /// Shell line to run once after everything, also after a failure
    #[arg(long, value_name = "LINE")]
    pub cleanup: Option<String>,

    /// End a run that takes longer; it counts as having taken so long
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub timeout: Option<f64>,

    /// Go on when a command fails: with any status, or only with those given (=1,2)
    #[arg(long, short, value_name = "STATUS", num_args = 0..=1, require_equals = true, default_missing_value = "any", value_parser = tolerated)]
    pub ignore_failure: Option<Tolerated>,

    /// What the commands read: a file, opened anew for every run ([N:]FILE, N a command's number) [default: nothing]
    #[arg(long, value_name = "[N:]FILE")]
    pub input: Vec<String>,

    /// Where their output goes: null, inherit, pipe, or a file ([N:]WHERE) [default: null]
    #[arg(long, value_name = "[N:]WHERE")]
    pub output: Vec<String>,

    /// A variable for all commands, or for the N-th ([N:]NAME=VALUE)
    #[arg(long, value_name = "[N:]NAME=VALUE")]
    pub env: Vec<String>,

    /// Working directory of all commands, or of the N-th ([N:]DIR)
    #[arg(long, value_name = "[N:]DIR")]
    pub cwd: Vec<String>,
}

fn tolerated(text: &str) -> Result<Tolerated, String> {
    if text == "any" {
        return Ok(Tolerated::Anything);
    }
    let status = |part: &str| match part.trim().parse() {
        Ok(status @ 0..=255) => Ok(status),
        _ => Err(format!("`{part}` is no exit status; they go from 0 to 255")),
    };
    text.split(',').map(status).collect::<Result<_, _>>().map(Tolerated::Statuses)
}

/// The commands as they will be run, with their names and hooks. All programs are looked up before any is run.
pub(super) fn prepared(texts: &[String], how: &HowArgs) -> anyhow::Result<Vec<Prepared>> {
    let count = texts.len();
    if how.name.len() > count {
        anyhow::bail!(
            "{} names for {count} commands: give --name once per command",
            how.name.len()
        );
    }
    let mut commands = Vec::new();
    for text in texts {
        let command = match &how.shell {
            Some(shell) => Command::by_shell(shell, text)?,
            None => Command::parse(text, false)?,
        };
        commands.push(command);
    }
    for command in &mut commands {
        command.output = Output::Null;
    }
    assign(&how.env, "--env", &mut commands, |command, value| {
        let (name, value) = value
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .with_context(|| format!("--env {value}: write it as NAME=VALUE"))?;
        command.env.push((name.to_owned(), value.to_owned()));
        Ok(())
    })?;
    assign(&how.cwd, "--cwd", &mut commands, |command, value| {
        command.cwd = Some(PathBuf::from(value));
        Ok(())
    })?;
    assign(&how.input, "--input", &mut commands, |command, value| {
        command.input = if value == "null" { Input::Null } else { Input::File(absolute(value)?) };
        Ok(())
    })?;
    assign(&how.output, "--output", &mut commands, |command, value| {
        command.output = match value {
            "null" => Output::Null,
            "inherit" => Output::Inherit,
            "pipe" => Output::Pipe,
            path => Output::File(absolute(path)?),
        };
        Ok(())
    })?;
    // All of them are looked up before any is run: a typing error should not cost a minute.
    for command in &commands {
        command.resolve()?;
    }
    let line_of = |lines: &[String], name: &str, index: usize| match lines.len() {
        0 => Ok(None),
        1 => Ok(Some(lines[0].clone())),
        n if n == count => Ok(Some(lines[index].clone())),
        n => Err(anyhow::anyhow!(
            "{n} times {name} for {count} commands: give it once for all, or once per command"
        )),
    };
    let names = names(texts, &commands, &how.name);
    commands
        .into_iter()
        .zip(names)
        .zip(texts)
        .enumerate()
        .map(|(index, ((command, name), text))| {
            Ok(Prepared {
                name,
                text: text.clone(),
                command,
                prepare: line_of(&how.prepare, "--prepare", index)?,
                conclude: line_of(&how.conclude, "--conclude", index)?,
            })
        })
        .collect()
}

/// A path that the user typed is meant from here, also when the command runs elsewhere.
fn absolute(path: &str) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.to_owned())
}

/// Applies values of the form `[N:]VALUE` to the N-th command, or to all.
fn assign(
    values: &[String],
    option: &str,
    commands: &mut [Command],
    apply: impl Fn(&mut Command, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for value in values {
        let numbered =
            value.split_once(':').and_then(|(n, rest)| Some((n.parse::<usize>().ok()?, rest)));
        match numbered {
            Some((n, rest)) => {
                let count = commands.len();
                let command = n.checked_sub(1).and_then(|index| commands.get_mut(index));
                let command = command.with_context(|| {
                    format!("{option} {value}: there are {count} commands, counted from 1")
                })?;
                apply(command, rest)?;
            }
            None => commands.iter_mut().try_for_each(|command| apply(command, value))?,
        }
    }
    Ok(())
}

/// What people will read: the names given, else the programs' names where they differ, else the whole commands.
fn names(texts: &[String], commands: &[Command], given: &[String]) -> Vec<String> {
    let program = |command: &Command| {
        let program = PathBuf::from(command.argv.first()?);
        Some(program.file_name()?.to_string_lossy().into_owned())
    };
    let programs: Vec<Option<String>> = commands.iter().map(program).collect();
    let distinct = programs
        .iter()
        .enumerate()
        .all(|(i, name)| name.is_some() && !programs[..i].contains(name));
    let alone = texts.len() == 1;
    let whole = |index: usize| texts[index].split_whitespace().collect::<Vec<_>>().join(" ");
    (0..texts.len())
        .map(|index| match (given.get(index), &programs[index]) {
            (Some(name), _) => name.clone(),
            (None, Some(program)) if distinct && !alone && !commands[index].shell => {
                program.clone()
            }
            _ => whole(index),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(texts: &[&str]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|&t| t.to_owned()).collect();
        let commands: Vec<_> =
            texts.iter().map(|t| Command::parse(t, false).expect("plain")).collect();
        names(&texts, &commands, &[])
    }

    #[test]
    fn commands_are_called_by_their_programs_where_these_differ() {
        assert_eq!(named(&["./sort-old data", "bin/sort-new data"]), ["sort-old", "sort-new"]);
        assert_eq!(named(&["sleep 0.1", "sleep  0.2"]), ["sleep 0.1", "sleep 0.2"]);
        assert_eq!(named(&["./build.sh all"]), ["./build.sh all"]);
    }

    #[test]
    fn an_exit_status_lies_between_0_and_255() {
        assert_eq!(tolerated("any"), Ok(Tolerated::Anything));
        assert_eq!(tolerated("1, 2"), Ok(Tolerated::Statuses(vec![1, 2])));
        assert!(tolerated("256").is_err() && tolerated("").is_err());
    }

    #[test]
    fn values_can_be_meant_for_one_command() {
        let mut commands = vec![
            Command::parse("a", false).expect("plain"),
            Command::parse("b", false).expect("plain"),
        ];
        let set = |command: &mut Command, value: &str| {
            command.cwd = Some(PathBuf::from(value));
            Ok(())
        };
        assign(&["/x".to_owned(), "2:/y".to_owned()], "--cwd", &mut commands, set)
            .expect("both are there");
        assert_eq!(commands[0].cwd, Some(PathBuf::from("/x")));
        assert_eq!(commands[1].cwd, Some(PathBuf::from("/y")));
        assert!(assign(&["3:/z".to_owned()], "--cwd", &mut commands, set).is_err());
    }
}
