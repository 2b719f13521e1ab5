//! Determines the state of a version from how its commands ended, what its tests reported, and
//! which limits were reached. Evidence is required: a status 0 without any test that ran does not
//! count as passed, and a failure in the report counts regardless of the status.

use super::policy::FAILURES;
use assay_farm::builds::model::{Fault, State};
use assay_farm::builds::wire::Evidence;
use assay_measure::Outcome;
use assay_measure::sandbox::ExceededLimits;
use assay_suites::{Run, SuiteError, run::TestStatus};

/// Messages of programs when the network is unavailable.
const NETWORK: [&str; 14] = [
    "Temporary failure in name resolution",
    "Name or service not known",
    "Could not resolve host",
    "could not resolve host",
    "Network is unreachable",
    "Connection timed out",
    "Connection refused",
    "Connection reset by peer",
    "Failed to establish a new connection",
    "Could not connect to server",
    "Unable to download data from",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "dial tcp",
];
/// Message of a program when the disk is full.
const DISK: &str = "No space left on device";

/// How runtimes report a missing module, package or file: the text before its name, and the
/// character after it.
const MISSING: [(&str, char); 6] = [
    ("ModuleNotFoundError: No module named '", '\''),
    ("ImportError: No module named ", '\n'),
    (": No module named ", '\n'),
    ("cannot load such file -- ", ' '),
    ("Cannot find module '", '\''),
    ("Cannot find package '", '\''),
];

/// The reason why a command was ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The job is no longer wanted, or the agent must exit: there is no result.
    Unwanted(String),
    /// The command wrote more than the given number of bytes.
    Wrote(u64),
    /// The agent's disk is full.
    Full,
}

/// How a command ended, with everything that is needed for judging it.
#[derive(Clone, Debug)]
pub(super) struct CommandEnd<'a> {
    pub outcome: Outcome,
    pub exceeded: ExceededLimits,
    pub stop: Option<Stop>,
    /// The end of the command's output.
    pub said: &'a str,
    /// True if the kernel killed processes for lack of memory while the command ran.
    pub is_machine_out_of_memory: bool,
    /// True if there is little space left on the agent's disk.
    pub is_disk_full: bool,
    /// True if the command is the project's own rather than a suggested one.
    pub is_own: bool,
}

/// A state with its reason.
pub(super) type Judgement = (State, Option<Fault>, String);

fn machine(fault: Fault, why: impl Into<String>) -> Judgement {
    (State::Infrastructure, Some(fault), why.into())
}

/// Returns the judgment for causes that apply to all kinds of commands; `None` if none of them
/// applies.
fn common(ended: &CommandEnd<'_>) -> Option<Judgement> {
    match &ended.stop {
        Some(Stop::Full) => return Some(machine(Fault::Disk, "the disk of the node is full")),
        Some(Stop::Wrote(most)) => {
            return Some((State::Errored, None, format!("it wrote more than {most} bytes")));
        }
        _ => {}
    }
    if ended.outcome == Outcome::TimedOut {
        return Some((State::TimedOut, None, "it exceeded its time limit".to_owned()));
    }
    let is_failed = ended.outcome != Outcome::Exited(0);
    if is_failed && ended.said.contains(DISK) && ended.is_disk_full {
        return Some(machine(Fault::Disk, "the disk of the node is full"));
    }
    if is_failed && ended.is_machine_out_of_memory && !ended.exceeded.memory {
        let why = "the node ran out of memory and killed processes";
        return Some(machine(Fault::Memory, why));
    }
    None
}

/// Interprets the failure of an install command; `None` if it did not fail.
pub(super) fn installed(ended: &CommandEnd<'_>, line: &str) -> Option<Judgement> {
    if let Some(judged) = common(ended) {
        return Some(judged);
    }
    if ended.outcome == Outcome::Exited(0) {
        return None;
    }
    let line = crate::plain::line(line);
    if ended.exceeded.memory {
        return Some((State::InstallFailed, None, format!("`{line}` exceeded its memory limit")));
    }
    let last = last_line(ended.said);
    if let Some(word) = NETWORK.iter().find(|word| ended.said.contains(*word)) {
        return Some(machine(Fault::Network, format!("`{line}`: {word}")));
    }
    if ended.outcome == Outcome::Exited(127) && !ended.is_own {
        return Some(machine(
            Fault::Toolchain,
            format!("`{line}` needs a program that is not installed: {last}"),
        ));
    }
    let outcome = ended.outcome;
    Some((State::InstallFailed, None, format!("`{line}` {outcome}: {last}")))
}

/// Interprets a run of tests.
pub(super) fn tested(ended: &CommandEnd<'_>, run: &Result<Run, SuiteError>) -> Judgement {
    if let Some(judged) = common(ended) {
        return judged;
    }
    let outcome = ended.outcome;
    let count = |status: TestStatus| {
        run.iter().flat_map(|run| &run.tests).filter(|own| own.status == status).count()
    };
    let (failed, passed) = (count(TestStatus::Failed), count(TestStatus::Passed));
    if failed > 0 {
        let all = crate::plain::counted(failed + passed, "test");
        return (State::Failed, None, format!("{failed} of {all} failed"));
    }
    if ended.exceeded.memory {
        return (State::Errored, None, "the tests exceeded their memory limit".to_owned());
    }
    let unfinished = run.iter().flat_map(|run| &run.unfinished).next();
    if let Some(own) = unfinished {
        let name = crate::plain::line(&own.name);
        return (
            State::Errored,
            None,
            format!("`{name}` started and never ended; the command {outcome}"),
        );
    }
    match (run, outcome) {
        (Ok(_), Outcome::Exited(0)) if passed > 0 => {
            (State::Passed, None, crate::plain::counted(passed, "test"))
        }
        (Ok(_), _) if passed > 0 => (
            State::Errored,
            None,
            format!(
                "{} passed and none failed, but the command {outcome}",
                crate::plain::counted(passed, "test")
            ),
        ),
        (Ok(_) | Err(SuiteError::NoTests { .. }), Outcome::Exited(_)) => {
            (State::NotTested, None, format!("no test ran{}", missing(ended.said)))
        }
        (_, Outcome::Exited(0)) => (
            State::NotTested,
            None,
            "it ended with status 0, but nothing shows that a test ran".to_owned(),
        ),
        (_, Outcome::Exited(126 | 127)) if !ended.is_own => machine(
            Fault::Toolchain,
            format!("the tests need a program that is not installed: {}", last_line(ended.said)),
        ),
        (Err(error), _) => {
            let why = crate::plain::line(&error.to_string());
            (State::Errored, None, format!("the command {outcome}: {why}{}", missing(ended.said)))
        }
        (Ok(_), _) => {
            let missing = missing(ended.said);
            (State::Errored, None, format!("no test ran; the command {outcome}{missing}"))
        }
    }
}

/// Returns the evidence that tests ran.
pub(super) fn evidence(run: &Result<Run, SuiteError>) -> Evidence {
    let Ok(run) = run else { return Evidence::default() };
    let count =
        |status: TestStatus| run.tests.iter().filter(|own| own.status == status).count() as u64;
    let failed = run.tests.iter().filter(|own| own.status == TestStatus::Failed);
    Evidence {
        framework: Some(crate::plain::line(&run.framework)).filter(|own| !own.is_empty()),
        tests: count(TestStatus::Failed) + count(TestStatus::Passed),
        failed: count(TestStatus::Failed),
        skipped: count(TestStatus::Skipped),
        assertions: None,
        failures: failed.take(FAILURES).map(|own| crate::plain::line(&own.name)).collect(),
    }
}

/// Returns the module, package or file that a runtime reported as missing, in a form that completes
/// a sentence after a colon; empty if nothing was missing.
fn missing(said: &str) -> String {
    let first = MISSING.iter().filter_map(|(told, end)| Some((said.find(told)?, told, *end))).min();
    let Some((at, told, end)) = first else { return String::new() };
    let name = said[at + told.len()..].lines().next().unwrap_or_default();
    let name = crate::plain::line(name.split(end).next().unwrap_or_default());
    format!(": `{name}` is missing; the recipe (`--install`) can install it")
}

/// Returns the last non-empty line.
fn last_line(said: &str) -> String {
    let line = said.lines().rev().find(|line| !line.trim().is_empty());
    crate::plain::line(line.unwrap_or("it wrote nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_suites::run::Test;

    fn ended(outcome: Outcome) -> CommandEnd<'static> {
        CommandEnd {
            outcome,
            exceeded: ExceededLimits::default(),
            stop: None,
            said: "the last line\n\n",
            is_machine_out_of_memory: false,
            is_disk_full: false,
            is_own: true,
        }
    }

    fn run(all: &[TestStatus]) -> Result<Run, SuiteError> {
        let test = |status: &TestStatus| Test { status: *status, ..Test::default() };
        Ok(Run { tests: all.iter().map(test).collect(), ..Run::default() })
    }

    fn state(ended: &CommandEnd<'_>, run: &Result<Run, SuiteError>) -> (State, Option<Fault>) {
        let (state, fault, reason) = tested(ended, run);
        assert!(!reason.is_empty());
        (state, fault)
    }

    #[test]
    fn only_evidence_passes() {
        use TestStatus::{Failed, Passed, Skipped};
        let (zero, one) = (ended(Outcome::Exited(0)), ended(Outcome::Exited(1)));
        assert_eq!(state(&zero, &run(&[Passed, Skipped])).0, State::Passed);
        // Failures count even if the status is 0.
        assert_eq!(state(&zero, &run(&[Passed, Failed])).0, State::Failed);
        assert_eq!(state(&zero, &run(&[])).0, State::NotTested);
        assert_eq!(state(&zero, &run(&[Skipped])).0, State::NotTested);
        assert_eq!(state(&zero, &Err(SuiteError::NoReport { said: None })).0, State::NotTested);
        assert_eq!(state(&one, &Err(SuiteError::NoReport { said: None })).0, State::Errored);
        assert_eq!(state(&one, &run(&[Passed])).0, State::Errored);
        assert_eq!(state(&ended(Outcome::Signalled(11)), &run(&[])).0, State::Errored);
        assert_eq!(state(&ended(Outcome::TimedOut), &run(&[Passed])).0, State::TimedOut);
    }

    #[test]
    fn the_machine_is_not_the_version() {
        let failed = Err(SuiteError::NoReport { said: None });
        let one = || ended(Outcome::Exited(1));
        let full = CommandEnd { said: "x: No space left on device", is_disk_full: true, ..one() };
        assert_eq!(state(&full, &failed), (State::Infrastructure, Some(Fault::Disk)));
        // If the version reaches its own disk limit, the failure is the version's fault.
        let own = CommandEnd { said: "x: No space left on device", ..one() };
        assert_eq!(state(&own, &failed), (State::Errored, None));
        let memory = CommandEnd { is_machine_out_of_memory: true, ..one() };
        assert_eq!(state(&memory, &failed), (State::Infrastructure, Some(Fault::Memory)));
        let limited =
            CommandEnd { exceeded: ExceededLimits { memory: true, processes: false }, ..memory };
        assert_eq!(state(&limited, &failed), (State::Errored, None));
        let missing = CommandEnd { is_own: false, ..ended(Outcome::Exited(127)) };
        assert_eq!(state(&missing, &failed), (State::Infrastructure, Some(Fault::Toolchain)));
        let stopped = CommandEnd { stop: Some(Stop::Full), ..one() };
        assert_eq!(state(&stopped, &failed), (State::Infrastructure, Some(Fault::Disk)));
    }

    #[test]
    fn an_install_fails_for_its_own_reasons_or_others() {
        let of = |ended: &CommandEnd<'_>| {
            installed(ended, "make").map(|(state, fault, _)| (state, fault))
        };
        assert_eq!(of(&ended(Outcome::Exited(0))), None);
        assert_eq!(of(&ended(Outcome::Exited(2))), Some((State::InstallFailed, None)));
        let away =
            CommandEnd { said: "fetch: Could not resolve host: x", ..ended(Outcome::Exited(2)) };
        assert_eq!(of(&away), Some((State::Infrastructure, Some(Fault::Network))));
    }

    #[test]
    fn what_was_missing_is_named() {
        let two = || ended(Outcome::Exited(2));
        let reason = |said: &'static str| tested(&CommandEnd { said, ..two() }, &run(&[])).2;
        let python = "E   ModuleNotFoundError: No module named 'freezegun'\n2 errors\n";
        assert_eq!(
            reason(python),
            "no test ran: `freezegun` is missing; the recipe (`--install`) can install it"
        );
        let ruby = "x.rb:1:in `require': cannot load such file -- mocha/minitest (LoadError)\n";
        assert!(reason(ruby).starts_with("no test ran: `mocha/minitest` is missing"));
        assert!(reason("/v/bin/python3: No module named pytest\n").contains("`pytest` is missing"));
        assert!(reason("Error: Cannot find module 'tape'\nRequire stack").contains("`tape`"));
        assert_eq!(reason("nothing"), "no test ran");
    }

    #[test]
    fn names_of_failures_are_plain() {
        let name = "<script>\u{1b}[2J".to_owned();
        let test = Test { name, status: TestStatus::Failed, ..Test::default() };
        let run = Ok(Run { tests: vec![test], ..Run::default() });
        assert_eq!(evidence(&run).failures, ["<script>\u{fffd}[2J"]);
    }
}
