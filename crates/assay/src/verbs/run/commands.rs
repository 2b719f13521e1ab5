//! The commands of `assay run` with their names, environment, directories, input, output and hooks,
//! as given by the arguments.
//!
//! All errors in them are found here, before anything is measured.

use super::control::{Apply, ControlArgs};
use crate::args::{any_words, seconds};
use crate::commands::{Prepared, Tolerated};
use crate::scan::{Scan, fill};
use anyhow::{Context, bail};
use assay_data::ParameterValue;
use assay_measure::{Command, Input, Output};
use std::path::{Path, PathBuf};

/// Maximum number of parallel copies of a command.
const MOST_JOBS: u32 = 1024;

/// Options for running the commands.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Running")]
pub(super) struct HowArgs {
    /// Name of a command; repeat for each, in order
    #[arg(long, short = 'n', value_name = "NAME")]
    pub name: Vec<String>,

    /// Run every command in this shell, such as sh [default: none]
    ///
    /// The shell's time is part of the measurement.
    #[arg(long, short = 'S', value_name = "SHELL")]
    pub shell: Option<String>,

    /// Run without a shell, which is the default; accepted because users of hyperfine type it
    #[arg(short = 'N', hide = true, conflicts_with = "shell")]
    pub no_shell: bool,

    /// Shell line to run once, before everything else
    #[arg(long, short = 's', value_name = "LINE", value_parser = any_words())]
    pub setup: Option<String>,

    /// Shell line to run before every run, not measured
    ///
    /// Give one for all commands, or one for each.
    #[arg(long, short, value_name = "LINE", value_parser = any_words())]
    pub prepare: Vec<String>,

    /// Shell line to run after every run, not measured
    ///
    /// Give one for all commands, or one for each.
    #[arg(long, short = 'C', value_name = "LINE", value_parser = any_words())]
    pub conclude: Vec<String>,

    /// Shell line to run once, after everything else, even if something failed
    #[arg(long, short = 'c', value_name = "LINE", value_parser = any_words())]
    pub cleanup: Option<String>,

    /// Kill a run that takes longer than this; it counts as having taken this time
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub timeout: Option<f64>,

    /// Keep measuring when a command fails
    ///
    /// Any exit status is accepted, or only those listed (=1,2).
    #[arg(long, short, value_name = "STATUS", num_args = 0..=1, require_equals = true, default_missing_value = "any", value_parser = tolerated)]
    pub ignore_failure: Option<Tolerated>,

    /// File for standard input, reopened for every run [default: empty]
    ///
    /// With N:, it applies only to the N-th command.
    #[arg(long, value_name = "[N:]FILE")]
    pub input: Vec<String>,

    /// Destination of standard output and error: null, inherit, pipe, or a file [default: null]
    #[arg(long, value_name = "[N:]WHERE")]
    pub output: Vec<String>,

    /// Also compare the contents of this file after each command, in addition to exit status and
    /// standard output; may be repeated
    ///
    /// A relative path is relative to the directory in which the command runs; with N:, it is the
    /// path for the N-th command only. Outputs are compared in the warm-up runs, so this does not
    /// affect the measured times (docs/guides/two-builds.md).
    #[arg(long, value_name = "[N:]FILE")]
    pub same: Vec<String>,

    /// Exit with status 4 if the outputs of the commands differ, and with status 3 if this is
    /// unknown
    #[arg(long)]
    pub require_same: bool,

    /// Set an environment variable for all commands, or for the N-th only
    #[arg(long, value_name = "[N:]NAME=VALUE")]
    pub env: Vec<String>,

    /// Working directory for all commands, or for the N-th only
    #[arg(long, value_name = "[N:]DIR")]
    pub cwd: Vec<String>,

    /// Start this many copies of a command in parallel; together they count as one run
    #[arg(long, value_name = "[N:]COUNT")]
    pub jobs: Vec<String>,

    /// Name or number of the command to compare the others (or only the N-th) with [default: the
    /// first]
    #[arg(long, value_name = "[N:]WHICH")]
    pub reference: Vec<String>,
}

/// Returns the program for the value of `--shell`. As in hyperfine, `default` is the system's shell
/// and `none` means no shell.
fn shell_program(name: &str) -> Option<&str> {
    match name {
        "none" => None,
        "default" => Some("/bin/sh"),
        name => Some(name),
    }
}

fn tolerated(text: &str) -> Result<Tolerated, String> {
    if text == "any" {
        return Ok(Tolerated::Anything);
    }
    let status = |part: &str| match part.trim().parse() {
        Ok(status @ 0..=255) => Ok(status),
        _ => Err(format!("`{part}` is not an exit status, which is a number from 0 to 255")),
    };
    text.split(',').map(status).collect::<Result<_, _>>().map(Tolerated::Statuses)
}

/// Returns the commands as they will be run, with their names and hooks: one for each command and
/// combination of the scan. All programs are looked up before any of them runs, so that a typo is
/// reported immediately.
pub(super) fn prepared(
    texts: &[String],
    how: &HowArgs,
    control: &ControlArgs,
    scan: &Scan,
) -> anyhow::Result<Vec<Prepared>> {
    if how.name.len() > texts.len() {
        anyhow::bail!(
            "--name is given {} times, and there {}: give it once per command",
            how.name.len(),
            match texts.len() {
                1 => "is 1 command".to_owned(),
                count => format!("are {count} commands"),
            }
        );
    }
    scan.check_use(&mentions(texts, how, control), texts.len())?;
    let combinations = scan.combinations().context("more combinations than can be counted")?;
    let mut all = Vec::with_capacity(combinations * texts.len());
    for combination in 0..combinations {
        let parameters: Vec<_> =
            (0..texts.len()).map(|command| scan.parameters(combination, command)).collect();
        all.extend(of_one_combination(texts, how, control, scan, &parameters)?);
    }
    refer(&mut all, texts.len(), how, scan)?;
    Ok(all)
}

/// Returns the commands for one combination of values. `parameters` contains the values for each
/// command.
fn of_one_combination(
    texts: &[String],
    how: &HowArgs,
    control: &ControlArgs,
    scan: &Scan,
    parameters: &[Vec<(String, ParameterValue)>],
) -> anyhow::Result<Vec<Prepared>> {
    let mut commands = Vec::new();
    let templates = texts;
    let texts: Vec<String> = texts.iter().zip(parameters).map(|(t, p)| fill(t, p)).collect();
    for text in &texts {
        let mut command = match how.shell.as_deref().and_then(shell_program) {
            Some(shell) => Command::by_shell(shell, text)?,
            None => Command::parse(text, false)?,
        };
        command.output = Output::Null;
        commands.push(command);
    }
    let assign = |values: &[String], option: &str, commands: &mut [Command], apply: Apply<'_>| {
        assign(values, option, commands, parameters, apply)
    };
    assign(&how.env, "--env", &mut commands, &|command, value| {
        let (name, value) = value
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .with_context(|| format!("--env {value}: write it as NAME=VALUE"))?;
        command.env.push((name.to_owned(), value.to_owned()));
        Ok(())
    })?;
    assign(&how.cwd, "--cwd", &mut commands, &|command, value| {
        command.cwd = Some(PathBuf::from(value));
        Ok(())
    })?;
    assign(&how.input, "--input", &mut commands, &|command, value| {
        if Path::new(value).is_dir() {
            bail!(
                "--input {value}: that is a directory; --input takes the file that the command reads as its standard input, and a file or directory that it opens itself is an argument of the command"
            );
        }
        command.input = if value == "null" { Input::Null } else { Input::File(absolute(value)?) };
        Ok(())
    })?;
    assign(&how.output, "--output", &mut commands, &|command, value| {
        command.output = match value {
            "null" => Output::Null,
            "inherit" => Output::Inherit,
            "pipe" => Output::Pipe,
            path => Output::File(absolute(path)?),
        };
        Ok(())
    })?;
    let mut output_given = vec![false; texts.len()];
    each(&how.output, "--output", texts.len(), parameters, |index, _| {
        output_given[index] = true;
        Ok(())
    })?;
    let mut same = vec![Vec::new(); texts.len()];
    each(&how.same, "--same", texts.len(), parameters, |index, file| {
        let directory = commands[index].cwd.clone().unwrap_or_default();
        same[index].push(directory.join(file));
        Ok(())
    })?;
    anyhow::ensure!(
        same.iter().all(|own| own.len() == same[0].len()),
        "--same: name the same number of files for every command; with N:, a path is for the N-th only"
    );
    for (option, values, apply) in control.settings() {
        assign(values, option, &mut commands, apply)?;
    }
    let mut jobs = vec![1; texts.len()];
    each(&how.jobs, "--jobs", texts.len(), parameters, |index, value| {
        let count = value.parse().ok().filter(|count| (1..=MOST_JOBS).contains(count));
        jobs[index] = count.with_context(|| {
            format!("--jobs {value}: the number of parallel copies must be from 1 to {MOST_JOBS}")
        })?;
        Ok(())
    })?;
    for command in &commands {
        command.resolve()?;
    }
    let count = texts.len();
    let line_of = |lines: &[String], name: &str, index: usize| {
        let line = match lines.len() {
            0 => return Ok(None),
            1 => &lines[0],
            n if n == count => &lines[index],
            n => anyhow::bail!(
                "{n} times {name} for {count} commands: give it once for all, or once per command"
            ),
        };
        Ok(Some(fill(line, &parameters[index])))
    };
    let names = names(&texts, &commands, &how.name);
    let mut prepared = Vec::with_capacity(count);
    for (index, ((command, name), text)) in commands.into_iter().zip(names).zip(texts).enumerate() {
        // A name that is the whole command contains the parameter values; the label has
        // placeholders instead.
        let whole = name == in_one_line(&text);
        let label = match how.name.get(index) {
            Some(given) => given.clone(),
            None if whole => in_one_line(&templates[index]),
            None => name.clone(),
        };
        let full = with_parameters(&label, &parameters[index]);
        let given = index < how.name.len();
        prepared.push(Prepared {
            name: if given { full } else { at_once(full, jobs[index]) },
            side: (!scan.is_empty()).then_some(index),
            label: (!scan.is_empty()).then_some(label),
            typed: templates[index].clone(),
            text,
            command,
            output_given: output_given[index],
            same: std::mem::take(&mut same[index]),
            builds: Vec::new(),
            prepare: line_of(&how.prepare, "--prepare", index)?,
            conclude: line_of(&how.conclude, "--conclude", index)?,
            parameters: parameters[index].clone(),
            against: None,
            repeats: None,
            jobs: jobs[index],
        });
    }
    Ok(prepared)
}

/// Adds the reference a second time, as a control. The control is not compared like the other
/// commands, so that it neither shares the allowed error nor decides when to stop.
pub(super) fn add_control(commands: &mut Vec<Prepared>) {
    let is_reference = |index: &usize| commands[*index].against.unwrap_or(0) == *index;
    let Some(reference) = (0..commands.len()).find(is_reference) else { return };
    let own = commands[reference].clone();
    commands.push(Prepared {
        name: format!("{} (control)", own.name),
        against: Some(commands.len()),
        repeats: Some(reference),
        ..own
    });
}

/// Returns every text that may contain a parameter, with the index of its command; `None` for all
/// commands.
fn mentions<'a>(
    texts: &'a [String],
    how: &'a HowArgs,
    control: &'a ControlArgs,
) -> Vec<(Option<usize>, &'a str)> {
    let mut found: Vec<(Option<usize>, &str)> =
        texts.iter().enumerate().map(|(index, text)| (Some(index), text.as_str())).collect();
    let numbered = [&how.env, &how.cwd, &how.input, &how.output, &how.same, &how.jobs];
    let control = control.settings();
    let values = numbered.into_iter().map(Vec::as_slice);
    for text in values.chain(control.iter().map(|(_, values, _)| *values)).flatten() {
        let (number, rest) = numbered_value(text);
        found.push((number.and_then(|n| n.checked_sub(1)), rest));
    }
    for lines in [&how.prepare, &how.conclude] {
        for (index, line) in lines.iter().enumerate() {
            found.push(((lines.len() > 1).then_some(index), line));
        }
    }
    found
}

/// Sets the reference of each command, as given by `--reference`. In a scan, it is within the same
/// combination of values.
fn refer(all: &mut [Prepared], count: usize, how: &HowArgs, scan: &Scan) -> anyhow::Result<()> {
    if how.reference.is_empty() && (scan.is_empty() || count == 1) {
        return Ok(());
    }
    let mut reference = vec![0; count];
    let names: Vec<String> = all.iter().take(count).map(|p| p.name.clone()).collect();
    each(&how.reference, "--reference", count, &vec![Vec::new(); count], |index, value| {
        let by_name = || {
            (0..count).find(|&i| how.name.get(i).is_some_and(|n| n == value) || names[i] == value)
        };
        let by_number = || value.parse::<usize>().ok()?.checked_sub(1).filter(|&i| i < count);
        reference[index] = by_name().or_else(by_number).with_context(|| {
            format!("--reference {value}: there is no such command; give its name, or its number from 1 to {count}")
        })?;
        Ok(())
    })?;
    for (index, prepared) in all.iter_mut().enumerate() {
        let (combination, command) = (index / count, index % count);
        prepared.against = Some(combination * count + reference[command]);
    }
    Ok(())
}

/// Returns the name of a command in a scan: its label with the parameter values filled in, followed
/// by the values that the label does not contain.
fn with_parameters(label: &str, parameters: &[(String, ParameterValue)]) -> String {
    let mut filled = fill(label, parameters);
    for (parameter, value) in parameters {
        if !label.contains(&format!("{{{parameter}}}")) {
            filled = format!("{filled} {parameter}={value}");
        }
    }
    filled
}

/// Returns the name, followed by the number of parallel copies if there are several.
fn at_once(name: String, jobs: u32) -> String {
    if jobs > 1 { format!("{name} × {jobs}") } else { name }
}

/// Returns the text of a command for display: on one line, with single spaces.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a path absolute. Paths are relative to the user's current directory, even if the command
/// runs in another one.
fn absolute(path: &str) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.to_owned())
}

/// Applies each value of the form `[N:]VALUE` to the N-th command or to all commands, with
/// parameters filled in.
fn assign(
    values: &[String],
    option: &str,
    commands: &mut [Command],
    parameters: &[Vec<(String, ParameterValue)>],
    apply: Apply<'_>,
) -> anyhow::Result<()> {
    each(values, option, commands.len(), parameters, |index, value| {
        apply(&mut commands[index], value)
    })
}

/// Calls `apply` with the index of each command that a value of the form `[N:]VALUE` applies to,
/// and the value with parameters filled in.
fn each(
    values: &[String],
    option: &str,
    count: usize,
    parameters: &[Vec<(String, ParameterValue)>],
    mut apply: impl FnMut(usize, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for value in values {
        match numbered_value(value) {
            (Some(n), rest) => {
                let index = n.checked_sub(1).filter(|&index| index < count);
                let index = index.with_context(|| {
                    format!("{option} {value}: the commands are counted from 1 to {count}")
                })?;
                apply(index, &fill(rest, &parameters[index]))?;
            }
            (None, value) => {
                (0..count).try_for_each(|index| apply(index, &fill(value, &parameters[index])))?;
            }
        }
    }
    Ok(())
}

/// Splits `[N:]VALUE`.
fn numbered_value(text: &str) -> (Option<usize>, &str) {
    let apart = text.split_once(':').and_then(|(n, rest)| Some((n.parse().ok()?, rest)));
    apart.map_or((None, text), |(n, rest)| (Some(n), rest))
}

/// Returns the displayed names: the given names, otherwise the names of the programs if they all
/// differ, otherwise the whole commands.
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
    let whole = |index: usize| in_one_line(&texts[index]);
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
        let set: Apply<'_> = &|command, value| {
            command.cwd = Some(PathBuf::from(value));
            Ok(())
        };
        let none = vec![Vec::new(); 2];
        assign(&["/x".to_owned(), "2:/y".to_owned()], "--cwd", &mut commands, &none, set)
            .expect("both are there");
        assert_eq!(commands[0].cwd, Some(PathBuf::from("/x")));
        assert_eq!(commands[1].cwd, Some(PathBuf::from("/y")));
        assert!(assign(&["3:/z".to_owned()], "--cwd", &mut commands, &none, set).is_err());
    }
}
