//! Likely causes of correlated values, checked against the recording's description of the machine.
//!
//! `assay` records facts about its machines; other tools' files have free-form comments. These are
//! searched for a few words common in benchmark logs (governor, cpufreq, load average), and what
//! they say is quoted. A cause that the recording rules out is not named.

use crate::policy;
use assay_data::Environment;

/// A kind of cause of correlated values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// The CPU's frequency varied with the load.
    Frequency,
    /// Other work on the machine.
    Neighbours,
    /// The values drift because something warms up, leaks, or fills a cache.
    Drift,
}

/// A likely cause of dependence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind of cause.
    pub kind: CauseKind,
    /// A quote from the recording that supports the cause; `None` if the recording is inconclusive
    /// or if the cause was found in the values.
    pub evidence: Option<String>,
}

/// Maximum length of a quote, in characters; longer ones are cut.
const LONGEST_QUOTE: usize = 120;

/// Returns the likely causes, with those supported by the recording or the values first. `drifts`
/// is true if a series drifted.
pub fn causes(environment: &Environment, drifts: bool) -> Vec<Cause> {
    let lines = lines(environment);
    let mut found = Vec::new();
    match frequency(environment, &lines) {
        Frequency::Fixed => {}
        Frequency::Scaling(evidence) => {
            found.push(Cause { kind: CauseKind::Frequency, evidence: Some(evidence) });
        }
        Frequency::NotRecorded => found.push(Cause { kind: CauseKind::Frequency, evidence: None }),
    }
    found.push(Cause { kind: CauseKind::Neighbours, evidence: load(environment, &lines) });
    if drifts {
        found.push(Cause { kind: CauseKind::Drift, evidence: None });
    }
    // Drift is evident from the values themselves.
    found.sort_by_key(|cause| cause.evidence.is_none() && cause.kind != CauseKind::Drift);
    found
}

enum Frequency {
    Fixed,
    Scaling(String),
    NotRecorded,
}

fn frequency(environment: &Environment, lines: &[String]) -> Frequency {
    if let Some(governor) = environment.text("governor") {
        return match governor {
            "performance" => Frequency::Fixed,
            other => Frequency::Scaling(format!("governor: {other}")),
        };
    }
    let words = ["governor", "cpupower", "cpufreq", "frequency scaling", "p-state"];
    let speaks = |line: &&String| {
        let lower = line.to_lowercase();
        words.iter().any(|word| lower.contains(word)) && !lower.contains("available")
    };
    let speaking: Vec<&String> = lines.iter().filter(speaks).collect();
    let has = |line: &str, any: &[&str]| {
        let lower = line.to_lowercase();
        let mut pieces = lower.split(|c: char| !c.is_alphanumeric());
        pieces.any(|piece| any.contains(&piece))
    };
    let scaling =
        ["no", "not", "without", "ondemand", "powersave", "schedutil", "conservative", "disabled"];
    let left = |line: &&&String| has(line, &scaling);
    match (speaking.iter().find(left), speaking.iter().any(|line| has(line, &["performance"]))) {
        // Logs often contain both the setting for the run and its restoration, so one mention of
        // `performance` is enough.
        (_, true) => Frequency::Fixed,
        (Some(line), false) => Frequency::Scaling(quoted(line)),
        (None, false) => Frequency::NotRecorded,
    }
}

fn load(environment: &Environment, lines: &[String]) -> Option<String> {
    if let (Some(load), Some(cpus)) =
        (environment.number("load_1m"), environment.number("cpus_online"))
        && load > cpus.max(1.0) / 2.0
    {
        return Some(format!("load {load:.1} on {cpus} CPUs"));
    }
    let average = |line: &String| {
        let (_, rest) = line.split_once("load average")?;
        let number = rest.trim_start_matches(['s', ':', '=', ' ']);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        number[..end].parse::<f64>().ok()
    };
    let most = lines.iter().filter_map(average).fold(0.0, f64::max);
    (most > policy::BUSY_AS_CAUSE).then(|| format!("load average: {most}"))
}

/// Returns the comments of another tool's file, line by line.
fn lines(environment: &Environment) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in &environment.facts {
        let Some(key) = name.strip_prefix("file.") else { continue };
        if let Some(comments) = value.as_array() {
            lines.extend(comments.iter().filter_map(|line| line.as_str()).map(str::to_owned));
        } else if let Some(text) = value.as_str() {
            lines.push(format!("{key}: {text}"));
        }
    }
    lines
}

fn quoted(line: &str) -> String {
    if line.chars().count() <= LONGEST_QUOTE {
        return line.to_owned();
    }
    line.chars().take(LONGEST_QUOTE).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn commented(lines: &[&str]) -> Environment {
        Environment::from_facts([("file.comments".to_owned(), json!(lines))])
    }

    fn kinds(environment: &Environment) -> Vec<(CauseKind, bool)> {
        causes(environment, false).iter().map(|c| (c.kind, c.evidence.is_some())).collect()
    }

    #[test]
    fn a_log_that_could_not_set_the_frequency_is_quoted() {
        let lines = ["No cpupower(1) command found.", "up 32 days, load average: 4.09, 4.41"];
        let found = causes(&commented(&lines), false);
        assert_eq!(found[0].kind, CauseKind::Frequency);
        assert_eq!(found[0].evidence.as_deref(), Some("No cpupower(1) command found."));
        assert_eq!(found[1].evidence.as_deref(), Some("load average: 4.09"));
    }

    #[test]
    fn a_frequency_that_was_held_is_no_cause() {
        let lines = ["Change the CPU power management governor to 'performance':"];
        assert_eq!(kinds(&commented(&lines)), [(CauseKind::Neighbours, false)]);
        let held = Environment::from_facts([("governor".to_owned(), "performance".into())]);
        assert_eq!(kinds(&held), [(CauseKind::Neighbours, false)]);
        let left = Environment::from_facts([("governor".to_owned(), "powersave".into())]);
        assert_eq!(kinds(&left)[0], (CauseKind::Frequency, true));
    }

    #[test]
    fn a_recording_that_says_nothing_leaves_every_cause_open() {
        let both = [(CauseKind::Frequency, false), (CauseKind::Neighbours, false)];
        assert_eq!(kinds(&Environment::default()), both);
    }

    #[test]
    fn drift_in_the_values_comes_before_what_is_not_recorded() {
        assert_eq!(causes(&Environment::default(), true)[0].kind, CauseKind::Drift);
    }
}
