//! Turns the advice in findings into options of the command that shows them. This is the only
//! module that defines how each command spells advice.
//!
//! A finding carries its advice as an [`Action`], wherever the finding was made, perhaps when
//! another command recorded the file. Advice that a command cannot follow at all is dropped here. A
//! test checks every option against the command's own arguments.

use assay_data::advice::RecordedSides;
use assay_data::{Action, Advice, Finding, Invocation};
use std::path::Path;

/// The command that shows the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `assay run`
    Run,
    /// `assay repeat`
    Repeat,
    /// `assay bench`
    Bench,
    /// `assay load`
    Load,
    /// `assay tests`
    Tests,
    /// `assay compare`
    Compare,
    /// `assay describe`
    Describe,
    /// `assay profile`, when it samples programs itself
    Profile,
    /// `assay profile`, when it reads recordings
    Recording,
    /// `assay doctor`
    Doctor,
    /// `assay gate`
    Gate,
}

/// Words the advice of every finding for this command, and drops advice that does not apply to it.
pub(crate) fn spell<'a>(dialect: Dialect, findings: impl IntoIterator<Item = &'a mut Finding>) {
    for finding in findings {
        let spelled = finding.advice.drain(..).filter_map(|advice| dialect.spelled(advice.action));
        finding.advice = spelled.collect();
    }
}

/// Puts the name of the file into advice to repeat a run.
pub(crate) fn name_file<'a>(file: &Path, findings: impl IntoIterator<Item = &'a mut Finding>) {
    for advice in findings.into_iter().flat_map(|finding| &mut finding.advice) {
        if advice.action == Action::Repeat
            && let Some(Invocation::Command(line)) = &mut advice.how
        {
            *line = format!("assay repeat {}", file.display());
        }
    }
}

fn option(name: &'static str, value: Option<String>) -> Spelling {
    Spelling::By(Invocation::Option(name, value))
}

fn flag(name: &'static str) -> Spelling {
    option(name, None)
}

fn command(line: &str) -> Spelling {
    Spelling::By(Invocation::Command(line.to_owned()))
}

/// The form in which a dialect expresses an action.
enum Spelling {
    By(Invocation),
    /// Advised in words, without an option.
    Plain,
    /// The action does not apply to this command.
    Absent,
}

impl Dialect {
    /// Returns the name of the command as it is typed.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Repeat => "repeat",
            Self::Bench => "bench",
            Self::Load => "load",
            Self::Tests => "tests",
            Self::Compare => "compare",
            Self::Describe => "describe",
            Self::Profile | Self::Recording => "profile",
            Self::Doctor => "doctor",
            Self::Gate => "gate",
        }
    }

    fn spelled(self, action: Action) -> Option<Advice> {
        let how = match self.spelling(&action) {
            Spelling::By(how) => Some(how),
            Spelling::Plain => None,
            Spelling::Absent => return None,
        };
        Some(Advice { action, how })
    }

    fn spelling(self, action: &Action) -> Spelling {
        use Dialect::{
            Bench, Compare, Describe, Doctor, Gate, Load, Profile, Recording, Repeat, Run, Tests,
        };
        let seconds = |seconds: &Option<f64>| seconds.map(|seconds| format!("{seconds}s"));
        match (action, self) {
            // For commands, `cpu` is their own processor time; for servers, it is a different
            // metric.
            (Action::DecideBy { metric }, Load) if metric == "cpu" => Spelling::Absent,
            (Action::DecideBy { metric }, Run | Bench | Load | Tests | Compare) => {
                option("--primary", Some(metric.clone()))
            }
            (Action::DecideBy { metric }, Profile) if metric == "cpu" => {
                option("--clock", Some(metric.clone()))
            }
            (Action::DecideBy { metric }, Doctor) => {
                command(&format!("assay run --primary {metric} A B"))
            }
            (
                Action::MeasureLonger { seconds: wanted },
                Run | Repeat | Bench | Load | Tests | Gate,
            ) => option("--time", seconds(wanted)),
            (Action::MeasureLonger { seconds: wanted }, Profile) => {
                option("--duration", seconds(wanted))
            }
            (Action::FixRuns { runs }, Run | Repeat | Bench | Load | Tests | Profile) => {
                option("--runs", Some(runs.to_string()))
            }
            (Action::MoreRuns, Run | Repeat | Bench | Load | Tests | Profile) => flag("--runs"),
            (Action::MoreValues, Run | Repeat | Bench | Load | Tests) => flag("--time"),
            (Action::FewerRows { .. }, Bench | Compare) => flag("--filter"),
            (Action::LargerThreshold, Run | Bench | Load | Tests | Compare | Profile) => {
                flag("--threshold")
            }
            (Action::ThresholdAsAmount, Run | Bench | Load | Tests | Compare | Profile) => {
                option("--threshold", Some("250us".to_owned()))
            }
            (Action::GiveUnit, Compare | Describe) => option("--unit", Some("us".to_owned())),
            (Action::FalseDiscoveryRate, Bench | Tests | Compare) => {
                option("--adjust", Some("bh".to_owned()))
            }
            (Action::LongerTimeout, Run | Bench | Load | Tests) => flag("--timeout"),
            (Action::WarmUpLonger, Run | Tests) => flag("--warmup"),
            (Action::Skip { values }, Compare | Describe) => {
                option("--skip", Some(values.to_string()))
            }
            (Action::MeasureInBlocks, Gate) => command("assay bench --rev OLD --rev NEW"),
            (Action::MeasureInBlocks, _) => command("assay run A B"),
            (Action::MeasureTogether { sides }, _) => command(match sides {
                RecordedSides::SameCommand => "assay run OLD NEW",
                RecordedSides::Benchmarks => "assay bench OLD NEW",
                RecordedSides::WithinProgram => {
                    "assay bench PROGRAM --old-filter NAME --new-filter NAME"
                }
                RecordedSides::Servers => "assay load OLD_URL NEW_URL",
                RecordedSides::TestSuites => "assay tests --rev OLD --rev NEW",
            }),
            (Action::Repeat, _) => command("assay repeat FILE"),
            (Action::ShorterRuns, Bench) => flag("--run-time"),
            (Action::FewerEvents, Run | Bench) => flag("--counters"),
            (Action::CountInstructions, Run | Bench) => flag("--count-instructions"),
            (Action::CountWhole, _) => command("assay run --alloc A B"),
            (Action::WorkingTree, Bench | Tests) => option("--rev", Some(".".to_owned())),
            (Action::SeveralBuilds, Run | Bench) => flag("--builds"),
            (
                Action::CheckMachine,
                Run | Repeat | Bench | Load | Tests | Compare | Profile | Gate,
            ) => command("assay doctor"),
            (Action::Calibrate, _) => command("assay calibrate"),
            (Action::PlanRuns, _) => command("assay plan"),
            (Action::SampleMore | Action::SampleLess, Profile | Tests) => flag("--rate"),
            (Action::SampleByWall, Profile | Tests) => option("--clock", Some("wall".to_owned())),
            (Action::SaveElsewhere, Run | Repeat | Bench | Load | Tests) => {
                option("--save", Some("FILE".to_owned()))
            }
            (Action::ShowOutput, Profile) => flag("--show-output"),
            (Action::SeeDistributions, Run | Repeat | Bench | Load | Tests | Compare) => {
                option("--report", Some("report.html".to_owned()))
            }
            // `describe` does not choose a metric for a comparison, and a page of two recordings
            // decides nothing.
            (Action::DecideBy { .. }, _)
            | (Action::FixRuns { .. }, _)
            | (Action::FewerRows { .. } | Action::LargerThreshold, Describe | Recording | Doctor)
            | (Action::FewerRows { .. }, Run | Repeat | Load | Tests | Profile)
            | (Action::SeveralBuilds, Load | Tests)
            | (Action::FalseDiscoveryRate, _)
            | (Action::CheckMachine, Doctor) => Spelling::Absent,
            _ => Spelling::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::code;

    const ALL: [(Dialect, &str); 11] = [
        (Dialect::Run, "run"),
        (Dialect::Repeat, "repeat"),
        (Dialect::Bench, "bench"),
        (Dialect::Load, "load"),
        (Dialect::Tests, "tests"),
        (Dialect::Compare, "compare"),
        (Dialect::Describe, "describe"),
        (Dialect::Profile, "profile"),
        (Dialect::Recording, "profile"),
        (Dialect::Doctor, "doctor"),
        (Dialect::Gate, "gate"),
    ];

    fn every_action() -> Vec<Action> {
        vec![
            Action::decide_by("cpu"),
            Action::MeasureLonger { seconds: Some(30.0) },
            Action::FixRuns { runs: 6 },
            Action::MoreRuns,
            Action::MoreValues,
            Action::MoreRepetitions { setting: None },
            Action::MoreUnits { units: "processes".to_owned() },
            Action::KeepValues { setting: None },
            Action::FewerRows { rows: "benchmarks".to_owned() },
            Action::LargerThreshold,
            Action::ThresholdAsAmount,
            Action::GiveUnit,
            Action::FalseDiscoveryRate,
            Action::LongerTimeout,
            Action::WarmUpLonger,
            Action::Skip { values: 8 },
            Action::MeasureInBlocks,
            Action::MeasureTogether { sides: RecordedSides::SameCommand },
            Action::MeasureTogether { sides: RecordedSides::Benchmarks },
            Action::MeasureTogether { sides: RecordedSides::WithinProgram },
            Action::MeasureTogether { sides: RecordedSides::Servers },
            Action::MeasureTogether { sides: RecordedSides::TestSuites },
            Action::Repeat,
            Action::MoreWork,
            Action::FinerClock,
            Action::ShorterRuns,
            Action::FewerEvents,
            Action::CountInstructions,
            Action::CountWhole,
            Action::SeveralBuilds,
            Action::WorkingTree,
            Action::StopOtherWork,
            Action::CheckMachine,
            Action::Calibrate,
            Action::PlanRuns,
            Action::SampleMore,
            Action::SampleLess,
            Action::SampleByWall,
            Action::SaveElsewhere,
            Action::ShowOutput,
            Action::SeeDistributions,
            Action::Read { page: "docs/guides/allocations.md".to_owned() },
            Action::run("fix the frequency", "cpupower frequency-set -g performance"),
            Action::text("plug it in"),
        ]
    }

    #[test]
    fn every_option_that_is_advised_is_one_of_the_verb() {
        let mut assay = crate::command();
        assay.build();
        let has = |verb: &str, option: &str| {
            let verb = assay.find_subcommand(verb).expect("a verb");
            verb.get_arguments().any(|own| own.get_long() == option.strip_prefix("--"))
        };
        for (dialect, verb) in ALL {
            for advice in every_action().into_iter().filter_map(|action| dialect.spelled(action)) {
                match &advice.how {
                    Some(Invocation::Option(name, _)) => {
                        assert!(has(verb, name), "{verb}: {advice}")
                    }
                    Some(Invocation::Command(line)) => {
                        let words: Vec<&str> = line.split(' ').collect();
                        let options = words.iter().filter(|word| word.starts_with("--"));
                        options.for_each(|name| assert!(has(words[1], name), "{verb}: {line}"));
                        assert!(words[0] == "assay" && assay.find_subcommand(words[1]).is_some());
                    }
                    None => {}
                }
            }
        }
    }

    #[test]
    fn each_verb_advises_in_its_own_options() {
        let told = |dialect: Dialect, action: Action| {
            dialect.spelled(action).map(|advice| advice.to_string())
        };
        let cpu = || Action::decide_by("cpu");
        assert_eq!(
            told(Dialect::Run, cpu()).as_deref(),
            Some("decide on CPU time with --primary cpu")
        );
        assert_eq!(
            told(Dialect::Profile, cpu()).as_deref(),
            Some("decide on CPU time with --clock cpu")
        );
        assert_eq!(told(Dialect::Describe, cpu()), None);
        let longer = Action::MeasureLonger { seconds: Some(3.0) };
        assert_eq!(
            told(Dialect::Bench, longer.clone()).as_deref(),
            Some("give it more time with --time 3s")
        );
        assert_eq!(told(Dialect::Compare, longer).as_deref(), Some("give it more time"));
    }

    #[test]
    fn a_file_that_is_known_is_named() {
        let mut finding = Finding::new(code::LAYOUT, "x").advise(Action::Repeat);
        spell(Dialect::Compare, [&mut finding]);
        name_file(Path::new("runs/one.assay"), [&mut finding]);
        let how = Invocation::Command("assay repeat runs/one.assay".to_owned());
        assert_eq!(finding.advice[0].how, Some(how));
    }

    #[test]
    fn spelling_twice_changes_nothing() {
        let action = Action::FixRuns { runs: 6 };
        let mut finding =
            Finding::new(code::TOO_FEW, "x").at(assay_data::Severity::Serious).advise(action);
        spell(Dialect::Run, [&mut finding]);
        let once = finding.clone();
        spell(Dialect::Run, [&mut finding]);
        assert_eq!(finding, once);
    }
}
