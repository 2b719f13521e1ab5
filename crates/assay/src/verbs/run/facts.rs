//! The facts about the machine that a run collects. If nothing keeps or shows them, only the facts
//! needed for findings are collected.

use super::{Args, Earlier};
use crate::calibrated;
use assay_data::Environment;
use assay_measure::environment;
use std::io::{self, IsTerminal};

/// Facts needed for the findings that are shown in the terminal.
const FOR_FINDINGS: [&str; 10] = [
    "runner",
    "cpus_online",
    "governor",
    "turbo",
    "aslr",
    "load_1m",
    "cgroup_cpu_quota",
    "steal_share",
    "clock_source",
    "on_battery",
];

/// Returns true if this run is only shown in the terminal, and nothing keeps its facts.
pub(super) fn are_unseen(args: &Args, earlier: &Earlier) -> bool {
    let record = &args.record;
    let names_machine = !record.show.quiet && io::stderr().is_terminal();
    let compares = !matches!(earlier, Earlier::None) || args.why;
    let keeps = !record.keep.no_save || record.history.keep.is_some();
    !(keeps || compares || names_machine || record.show.writes_documents())
}

/// Returns the facts.
///
/// Note: the facts are read before measuring. The load average, the running processes and the
/// stolen time describe the machine without this run, and a setting may be changed during it.
/// Reading all facts takes as long as a run of /bin/true, so only a few are read for a run that
/// nothing keeps.
pub(super) fn of_run(args: &Args, unseen: bool) -> Environment {
    let is_read = !args.record.keep.no_save || args.record.show.writes_documents();
    let facts = match unseen {
        true if calibrated::are_kept() => environment::capture_only(&with_machine()),
        true => environment::capture_only(&FOR_FINDINGS),
        false if is_read => environment::capture(),
        false => environment::capture_without_git(),
    };
    let mut environment = Environment::from_facts(facts);
    let calibrated = calibrated::facts(&environment);
    environment.facts.extend(calibrated.facts);
    environment
}

fn with_machine() -> Vec<&'static str> {
    FOR_FINDINGS.into_iter().chain(calibrated::MACHINE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_analysis::machine;
    use serde_json::{Value, json};

    #[test]
    fn facts_that_are_left_out_make_no_finding() {
        let bad: [(&str, Value); 14] = [
            ("runner", json!("portable")),
            ("cpus_online", json!(2)),
            ("governor", json!("powersave")),
            ("turbo", json!("on")),
            ("aslr", json!(0)),
            ("load_1m", json!(9.0)),
            ("cgroup_cpu_quota", json!(0.5)),
            ("steal_share", json!(0.5)),
            ("clock_source", json!("hpet")),
            ("on_battery", json!(true)),
            ("processes_running", json!(90)),
            ("smt_active", json!(true)),
            ("thp", json!("always")),
            ("thermal_throttle_count", json!(90)),
        ];
        let told = |facts: Vec<(&str, Value)>| -> Vec<String> {
            let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value));
            let findings = machine::findings(&Environment::from_facts(facts));
            findings.into_iter().map(|finding| finding.message).collect()
        };
        let all = told(bad.to_vec());
        assert_eq!(all.len(), 9, "{all:?}");
        let left = bad.into_iter().filter(|(name, _)| FOR_FINDINGS.contains(name)).collect();
        assert_eq!(told(left), all);
    }

    #[test]
    fn every_fact_for_findings_is_one_of_the_machine() {
        let here = environment::capture();
        // Not every machine has a governor, a battery or a limit.
        let usual = ["runner", "cpus_online", "load_1m"];
        assert!(usual.iter().all(|name| here.iter().any(|(own, _)| own == name)));
        let few = environment::capture_only(&with_machine());
        assert!(few.iter().all(|(name, _)| here.iter().any(|(own, _)| own == name)), "{few:?}");
    }
}
