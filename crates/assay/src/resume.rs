//! Checks for `--resume FILE` whether the current experiment is the one in the file, and reports
//! the differences if it is not.
//!
//! A resumed experiment must remain one experiment, with the same commands, byte-identical programs
//! and the same machine. Otherwise old and new observations would be combined in a block design
//! that never took place.

use crate::args::KeepInHistoryArgs;
use crate::args::{KeepArgs, ShowArgs};
use crate::record::Record;
use crate::run_error::RunError;
use crate::{present, store};
use anyhow::bail;
use assay_analysis::checks::resumed_different;
use assay_analysis::engine::Session;
use assay_data::code;
use assay_data::{Environment, Finding, Samples, Source, StopReason, Subject, assay_file};
use assay_report::console::outputs::OutputFile;
use clap::Parser;
use std::path::{Path, PathBuf};

/// Options for the run to resume.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording")]
pub(crate) struct ResumeArgs {
    /// Resume a recorded run: add more blocks of the same experiment to its file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "no_save"])]
    pub resume: Option<PathBuf>,

    /// Resume even if the commands, their files or the machine have changed
    #[arg(long, requires = "resume")]
    pub force: bool,
}

/// Options that every verb that measures and records has.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub keep: KeepArgs,

    #[command(flatten)]
    pub history: KeepInHistoryArgs,

    #[command(flatten)]
    pub earlier: ResumeArgs,

    #[command(flatten)]
    pub show: ShowArgs,

    /// Ids of the arguments that were on the command line.
    #[arg(skip)]
    pub given: Vec<String>,
}

impl RecordArgs {
    /// Checks before measuring that all files can be written, including those of the verb's `own`
    /// options.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub fn check(&self, own: &[OutputFile<'_>]) -> anyhow::Result<()> {
        let resumed: Vec<PathBuf> = self.earlier.resume.iter().cloned().collect();
        present::check_exports(&self.show, &resumed, self.keep.save.as_deref(), own)?;
        self.history.check()?;
        if let Some(path) = &self.keep.save
            && let Some(ending) = path.extension()
            && OF_EXPORTS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        {
            bail!(
                "--save {0}: the record is an .assay file: name it {1}; the result in the format of this extension is written by --export {0}",
                path.display(),
                path.with_extension("assay").display()
            );
        }
        self.keep.save.as_ref().map_or(Ok(()), |path| store::check_named("--save", path))
    }

    /// Returns the arguments for resuming a run that was started with `first`. The current
    /// arguments determine what is shown.
    pub fn after(&self, first: &Self) -> Self {
        Self { keep: self.keep.after(&first.keep), ..self.clone() }
    }

    /// Returns true if the user named the file of the record. Failing to write it is then an error.
    pub fn names_a_file(&self) -> bool {
        self.keep.save.is_some() || self.earlier.resume.is_some()
    }
}

/// Endings of files that `--export` writes.
const OF_EXPORTS: [&str; 3] = ["json", "csv", "md"];

/// Ids of the arguments that may be given again when a run is resumed. The file determines all
/// others.
const ANEW: [&str; 15] = [
    "resume", "time", "fail_if", "json", "export", "report", "plots", "quiet", "color", "force",
    "yes", "keep", "store", "machine", "why",
];

/// Rejects arguments that may not be given again when a run is resumed. `given` contains their ids.
pub(crate) fn check_given(given: &[String], path: &Path) -> anyhow::Result<()> {
    if let Some(given) = given.iter().find(|id| !ANEW.contains(&id.as_str())) {
        bail!(
            "--resume {}: --{} can't be given when a run is resumed, which continues as it was started; leave it out, or start a new run",
            path.display(),
            given.replace('_', "-")
        );
    }
    Ok(())
}

/// Rejects an anonymous record whose command line lacks something needed to measure again, such as
/// the value of a variable or a secret. In the message, `done` says what cannot be done with the
/// record, such as `resumed`, and `instead` is the alternative.
pub(crate) fn check_complete(
    recorded: &Samples,
    path: &Path,
    done: &str,
    instead: &str,
) -> anyhow::Result<()> {
    let missing = recorded.left_out();
    if missing.is_empty() {
        return Ok(());
    }
    bail!(
        "{} is anonymous, and its command line lacks the contents of {}, so it can't be {done} as it is\nhint: {instead}",
        path.display(),
        missing.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    )
}

/// Returns the arguments with which this verb started a recorded run. `done` is as in
/// [`check_complete`].
pub(crate) fn begun<A: clap::Args>(
    recorded: &Samples,
    path: &Path,
    verb: &str,
    done: &str,
) -> anyhow::Result<A> {
    #[derive(Parser)]
    struct Line<A: clap::Args> {
        #[command(flatten)]
        args: A,
    }
    let place = path.display();
    let words = recorded.argv.iter().skip(1);
    if words.clone().next().map(String::as_str) != Some(verb) {
        bail!("{place} was not recorded by `assay {verb}`, so it can't be {done}");
    }
    let line = Line::try_parse_from(words).map_err(|_| {
        anyhow::anyhow!("{place}: its command line can no longer be parsed, so it can't be {done}; give its commands to `assay {verb}`, after --resume to continue it")
    })?;
    Ok(line.args)
}

/// A recorded run that may be resumed.
pub(crate) struct Resumption {
    path: PathBuf,
    /// Differences from the recorded experiment that the user chose to ignore.
    differences: Vec<String>,
}

/// Checks, before anything is run, that the experiment about to be measured (`now`) is the recorded
/// one. `other_options` is true if the options differ.
pub(crate) fn check(
    earlier: &ResumeArgs,
    recorded: &Samples,
    now: &Samples,
    other_options: bool,
) -> anyhow::Result<Resumption> {
    let path = earlier.resume.clone().unwrap_or_default();
    // Rows that are discovered by runs are unknown before the first run.
    let mut declared = Samples::new(Vec::new());
    let own = recorded.subjects.iter().filter(|subject| subject.row < now.rows.len());
    declared.subjects = own.cloned().collect();
    declared.environment = recorded.environment.clone();
    let mut differences = differences(&declared, &now.subjects, &now.environment);
    if other_options {
        differences.push(format!("the options: it was begun with `{}`", recorded.argv.join(" ")));
    }
    if !differences.is_empty() && !earlier.force {
        bail!(
            "--resume {}: that would not be the same experiment:\n  {}\nhint: start a new run, or continue anyway with --force",
            path.display(),
            differences.join("\n  ")
        );
    }
    Ok(Resumption { path, differences })
}

/// Resumes a recorded run: opens its file, and restores the session to the point where the run
/// stopped. Returns a stop reason if nothing is left to measure.
pub(crate) fn go_on<S: Source>(
    resumption: Resumption,
    session: &mut Session<'_, S, Record>,
    began: jiff::Timestamp,
) -> Result<Option<StopReason>, RunError> {
    let Resumption { path, differences } = resumption;
    let refused = |why: String| RunError::Reading(format!("--resume {}: {why}", path.display()));
    let (samples, writer) = assay_file::resume(&path).map_err(|e| refused(e.to_string()))?;
    let started = samples.started.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let since_start =
        started.map_or(0.0, |started| began.duration_since(started).as_secs_f64().max(0.0));
    session.samples.findings.push(resumed(&samples, &differences, began));
    session.recorder =
        Some(Record { writer: Some(writer), path: path.clone(), failure: None, earlier: None });
    session.resume(samples, since_start).map_err(|error| {
        // Without a recorder, the file is left unchanged.
        session.recorder = None;
        refused(error.to_string())
    })
}

fn resumed(samples: &Samples, differences: &[String], began: jiff::Timestamp) -> Finding {
    if differences.is_empty() {
        let message = format!("resumed at {began} after {} observations", samples.len());
        return Finding::new(code::RESUMED, message);
    }
    resumed_different(differences)
}

/// Facts that identify a machine, with their names in messages. Facts that change from day to day,
/// such as the load, are not included.
const MACHINE: [(&str, &str); 7] = [
    ("hostname", "host"),
    ("cpu_model", "CPU"),
    ("cpus_online", "CPUs online"),
    ("memory_total", "memory"),
    ("arch", "architecture"),
    ("kernel", "kernel"),
    ("runner", "runner"),
];

/// Returns the differences between the recorded experiment and the one about to be measured, in one
/// sentence each.
pub(crate) fn differences(
    recorded: &Samples,
    subjects: &[Subject],
    environment: &Environment,
) -> Vec<String> {
    let mut found = Vec::new();
    if recorded.subjects.len() != subjects.len() {
        found.push(format!(
            "the file has {} commands, now there are {}",
            recorded.subjects.len(),
            subjects.len()
        ));
    }
    for (before, now) in recorded.subjects.iter().zip(subjects) {
        found.extend(of_subject(before, now));
    }
    for (fact, name) in MACHINE {
        let (before, now) = (recorded.environment.facts.get(fact), environment.facts.get(fact));
        if let (Some(before), Some(now)) = (before, now)
            && before != now
        {
            found.push(format!("{name}: it was {before}, now it is {now}"));
        }
    }
    found
}

fn of_subject(before: &Subject, now: &Subject) -> Vec<String> {
    let mut found = Vec::new();
    let name = &before.name;
    let mut differs = |what: &str, before: String, now: String| {
        if before != now {
            found.push(format!("{what} of '{name}': it was `{before}`, now it is `{now}`"));
        }
    };
    let text = |command: &Option<String>| command.clone().unwrap_or_default();
    differs("the command", text(&before.command), text(&now.command));
    differs("the directory", text(&before.cwd), text(&now.cwd));
    differs("the shell", before.shell.to_string(), now.shell.to_string());
    differs("the variables", listed(&before.env), listed(&now.env));
    differs("the settings", listed(&before.control), listed(&now.control));
    let jobs = |jobs: Option<u32>| jobs.unwrap_or(1).to_string();
    differs("the runs at once", jobs(before.jobs), jobs(now.jobs));
    differs("the parameters", listed(&before.parameters), listed(&now.parameters));
    let against = |against: Option<usize>| against.map_or("-".to_owned(), |i| (i + 1).to_string());
    differs("the reference", against(before.against), against(now.against));
    for (path, digest) in &before.files {
        match now.files.iter().find(|(p, _)| same_file(p, path)) {
            Some((_, now)) if now != digest => {
                found.push(format!("the file {path} of '{name}' has changed"));
            }
            Some(_) => {}
            None => found.push(format!("the file {path} of '{name}' is no longer part of it")),
        }
    }
    found
}

/// Returns true if two paths name the same file. An anonymous run contains only file names.
fn same_file(one: &str, other: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    one == other || ((!one.contains('/') || !other.contains('/')) && name(one) == name(other))
}

fn listed(pairs: &[(String, impl std::fmt::Display)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Metric;

    fn subject() -> Subject {
        Subject {
            name: "sort".to_owned(),
            command: Some("sort data".to_owned()),
            files: vec![("/bin/sort".to_owned(), "sha256:1".to_owned())],
            ..Subject::default()
        }
    }

    fn said(change: impl FnOnce(&mut Subject, &mut Environment)) -> Vec<String> {
        let mut recorded = Samples::new(vec![Metric::wall()]);
        recorded.add_command(subject());
        recorded.environment.set("cpu_model", "A");
        recorded.environment.set("load_1m", 0.5);
        let (mut now, mut environment) = (subject(), recorded.environment.clone());
        environment.set("load_1m", 3.5);
        change(&mut now, &mut environment);
        differences(&recorded, &[now], &environment)
    }

    #[test]
    fn the_same_experiment_on_a_busier_day_is_the_same() {
        assert_eq!(said(|_, _| ()), Vec::<String>::new());
    }

    #[test]
    fn another_program_command_or_machine_is_told() {
        let one = |found: Vec<String>, what: &str| {
            assert!(found.len() == 1 && found[0].contains(what), "{found:?}");
        };
        one(said(|s, _| s.files[0].1 = "sha256:2".to_owned()), "/bin/sort of 'sort' has changed");
        one(said(|s, _| s.command = Some("sort -n data".to_owned())), "now it is `sort -n data`");
        one(said(|s, _| s.control = vec![("fifo".to_owned(), "10".to_owned())]), "settings");
        one(said(|_, e| e.set("cpu_model", "B")), "CPU: it was \"A\"");
    }
}
