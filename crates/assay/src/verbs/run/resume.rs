//! `--resume FILE`: whether the experiment at hand is the one that the file began, and what differs if not.
//!
//! A resumed experiment must be one experiment: the same commands, the same programs to the byte, the same machine. Otherwise
//! what the file holds and what comes would be put into one block design that never took place.

use assay_data::{Environment, Metric, Samples, Subject};

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
pub(super) fn differences(
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
