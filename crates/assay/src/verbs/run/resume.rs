//! `--resume FILE`: whether the experiment at hand is the one that the file began, and what differs if not.
//!
//! A resumed experiment must be one experiment: the same commands, the same programs to the byte, the same machine. Otherwise
//! what the file holds and what comes would be put into one block design that never took place.

use super::Args;
use crate::session::{Obstacle, Record, Session};
use anyhow::bail;
use assay_analysis::Experiment;
use assay_data::{
    Environment, Finding, Metric, Samples, Severity, StopReason, Subject, assay_file,
};
use clap::Parser;
use std::path::Path;

/// The arguments with which a recorded run was begun.
pub(super) fn begun(recorded: &Samples, path: &Path) -> anyhow::Result<Args> {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }
    let place = path.display();
    let words = recorded.argv.iter().skip(1);
    if words.clone().next().map(String::as_str) != Some("run") {
        bail!("{place} was not begun by `assay run`, so it can't be gone on with");
    }
    let line = Line::try_parse_from(words).map_err(|_| {
        anyhow::anyhow!("{place}: its command line can't be read any more; give the commands again behind --resume")
    })?;
    Ok(line.args)
}

/// Takes up a recorded run: checks that it is the same experiment, and brings this one to where that one stopped.
pub(super) fn go_on(
    args: &Args,
    before: Samples,
    session: &mut Session,
    experiment: &mut Experiment,
    primary: usize,
    began: jiff::Timestamp,
) -> Result<(Record, Option<StopReason>), Obstacle> {
    let path = args.keep.resume.clone().unwrap_or_default();
    let refused = |why: String| Obstacle::Reading(format!("--resume {}: {why}", path.display()));
    let now = &session.samples;
    let differences = differences(&before, &now.subjects, &now.metrics, &now.environment);
    if !differences.is_empty() && !args.keep.force {
        return Err(refused(format!(
            "that would not be the same experiment:\n  {}\nhint: measure anew, or go on all the same with --force",
            differences.join("\n  ")
        )));
    }
    let (mut samples, writer) = assay_file::resume(&path).map_err(|e| refused(e.to_string()))?;
    let mut record = Record { writer: Some(writer), path: path.clone(), failure: None };
    let done = experiment.replay(&samples, primary).map_err(|error| refused(error.to_string()))?;
    let started = samples.started.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let since_start =
        started.map_or(0.0, |started| began.duration_since(started).as_secs_f64().max(0.0));
    samples.findings.retain(|finding| finding.code != "INTERRUPTED");
    let mut finding = Finding::new(
        "RESUMED",
        Severity::Note,
        format!("gone on at {began} after {} observations", samples.len()),
    );
    if !differences.is_empty() {
        finding = Finding::new(
            "RESUMED_DIFFERENT",
            Severity::Serious,
            format!("what was gone on with was not the same: {}", differences.join("; ")),
        )
        .next("measure anew: the blocks before and after are not one experiment");
    }
    // A later version of what was found before replaces it; what is new is recorded when the run ends.
    samples.findings.extend(std::mem::take(&mut session.samples.findings));
    samples.findings.push(finding.clone());
    record.write(|writer| writer.finding(&finding));
    samples.plan.clone_from(&session.samples.plan);
    session.go_on_with(samples, since_start);
    Ok((record, done))
}

/// Facts by which a machine is known. What changes from day to day, such as the load, is not among them.
const MACHINE: [(&str, &str); 6] = [
    ("hostname", "host"),
    ("cpu_model", "CPU"),
    ("cpus_online", "CPUs online"),
    ("memory_total", "memory"),
    ("arch", "architecture"),
    ("kernel", "kernel"),
];

/// What differs between what the file began and what would be measured now, one sentence each; nothing if it is the same.
fn differences(
    recorded: &Samples,
    subjects: &[Subject],
    metrics: &[Metric],
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
    let names =
        |metrics: &[Metric]| -> Vec<String> { metrics.iter().map(|m| m.name.clone()).collect() };
    let (before, now) = (names(&recorded.metrics), names(metrics));
    // A program's own metrics may turn up later than the others.
    if !before.starts_with(&now) {
        found.push(format!(
            "the file has the metrics {}, now there are {}",
            before.join(", "),
            now.join(", ")
        ));
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
    differs("the name", before.name.clone(), now.name.clone());
    differs("the command", text(&before.command), text(&now.command));
    differs("the directory", text(&before.cwd), text(&now.cwd));
    differs("the shell", before.shell.to_string(), now.shell.to_string());
    differs("the variables", listed(&before.env), listed(&now.env));
    differs("the settings", listed(&before.control), listed(&now.control));
    let jobs = |jobs: Option<u32>| jobs.unwrap_or(1).to_string();
    differs("the runs at once", jobs(before.jobs), jobs(now.jobs));
    for (path, digest) in &before.files {
        match now.files.iter().find(|(p, _)| p == path) {
            Some((_, now)) if now != digest => {
                found.push(format!("the file {path} of '{name}' has changed"));
            }
            Some(_) => {}
            None => found.push(format!("the file {path} of '{name}' is no longer part of it")),
        }
    }
    found
}

fn listed(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        recorded.add(subject());
        recorded.environment.set("cpu_model", "A");
        recorded.environment.set("load_1m", 0.5);
        let (mut now, mut environment) = (subject(), recorded.environment.clone());
        environment.set("load_1m", 3.5);
        change(&mut now, &mut environment);
        differences(&recorded, &[now], &[Metric::wall()], &environment)
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
