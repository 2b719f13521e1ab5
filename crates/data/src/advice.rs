//! Advice about a finding, as data.
//!
//! Checks determine *what* to do ([`Action`]), independent of commands and options. The program
//! that shows the finding adds *how* to do it ([`Invocation`]): an option of the command that is
//! running, or a command line. The same finding from the same file can therefore be shown with the
//! options of different commands. Nothing is decided here.

use crate::{Environment, Tool};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// One piece of advice about a finding. If a finding has several, they are alternatives, best
/// first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Advice {
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// How to do it with the command that is running. `None` until that is known, and for actions
    /// that no option or command performs. Never read from files.
    #[serde(skip)]
    pub how: Option<Invocation>,
}

/// The option or command that performs an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invocation {
    /// An option such as `--time`, with its value if one is known.
    Option(&'static str, Option<String>),
    /// A command line.
    Command(String),
}

/// An action to take about a finding. The last two variants cover actions outside assay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Let another metric decide.
    DecideBy {
        /// Name of the metric.
        metric: String,
    },
    /// Measure for a longer time.
    MeasureLonger {
        /// Total time in seconds; `None` if unknown.
        seconds: Option<f64>,
    },
    /// Fix the number of runs before measuring, and evaluate once.
    FixRuns {
        /// Number of runs of each subject.
        runs: u64,
    },
    /// Take more runs.
    MoreRuns,
    /// Take more values, with the tool that recorded them.
    MoreValues,
    /// Make the recording tool repeat more often.
    MoreRepetitions {
        /// How to do this with the tool, such as an option to pass to it; `None` if unknown.
        setting: Option<String>,
    },
    /// Record more of the units to which the values belong.
    MoreUnits {
        /// Plural name of the units, such as `processes`.
        units: String,
    },
    /// Make the recording tool keep individual values instead of summaries.
    KeepValues {
        /// How to do this with the tool, such as an option to pass to it; `None` if unknown.
        setting: Option<String>,
    },
    /// Measure fewer rows.
    FewerRows {
        /// Plural name of the rows, such as `benchmarks`.
        rows: String,
    },
    /// Accept that only larger differences matter.
    LargerThreshold,
    /// Give the threshold as an amount instead of a percentage.
    ThresholdAsAmount,
    /// State the unit of the numbers.
    GiveUnit,
    /// Control the false discovery rate instead of the probability of any error at all.
    FalseDiscoveryRate,
    /// Raise the time limit of a run.
    LongerTimeout,
    /// Warm up for longer.
    WarmUpLonger,
    /// Leave out the first values.
    Skip {
        /// Number of values to leave out.
        values: u64,
    },
    /// Measure the sides in one run, in blocks.
    MeasureInBlocks,
    /// Measure in one run the sides that were recorded separately.
    MeasureTogether {
        /// What the recorded sides are.
        sides: RecordedSides,
    },
    /// Repeat the measurement at another time.
    Repeat,
    /// Let a run do more work.
    MoreWork,
    /// Measure with a finer clock.
    FinerClock,
    /// Make each run shorter.
    ShorterRuns,
    /// Count fewer events simultaneously.
    FewerEvents,
    /// Count instructions without the processor's counters.
    CountInstructions,
    /// Count the allocations of a whole program.
    CountWhole,
    /// Measure several builds of every side.
    SeveralBuilds,
    /// Measure the working tree, including uncommitted changes.
    WorkingTree,
    /// Stop other work on the machine.
    StopOtherWork,
    /// Find the causes of disturbed measurements on this machine.
    CheckMachine,
    /// Find out how small a difference this machine can detect.
    Calibrate,
    /// Compute how many runs are needed.
    PlanRuns,
    /// Take more samples per second.
    SampleMore,
    /// Take fewer samples per second.
    SampleLess,
    /// Sample by wall-clock time.
    SampleByWall,
    /// Save to a different location.
    SaveElsewhere,
    /// Look at the output of the program.
    ShowOutput,
    /// Look at the distributions.
    SeeDistributions,
    /// Read a page of the documentation.
    Read {
        /// Path of the page in the project.
        page: String,
    },
    /// Run a command outside assay.
    Run {
        /// Purpose of the command, as in `fix the frequency`.
        text: String,
        /// The command line.
        command: String,
    },
    /// Anything else.
    Do {
        /// Instruction, as in `plug it in`.
        text: String,
    },
}

/// What the sides of recordings are, unless they are different commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedSides {
    /// One command, recorded more than once.
    SameCommand,
    /// The benchmarks of two programs.
    Benchmarks,
    /// The benchmarks of one program, compared with each other.
    WithinProgram,
    /// The servers of load tests.
    Servers,
    /// Test suites.
    TestSuites,
}

impl Action {
    /// Returns an action that no option or command of assay performs.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Do { text: text.into() }
    }

    /// Returns the advice to decide by the metric `metric`.
    pub fn decide_by(metric: &str) -> Self {
        Self::DecideBy { metric: metric.to_owned() }
    }

    /// Returns the advice to have the recording tool repeat more often.
    pub fn more_repetitions(environment: &Environment) -> Self {
        let setting = Tool::that_recorded(environment).and_then(|tool| tool.repetitions);
        Self::MoreRepetitions { setting: setting.map(str::to_owned) }
    }

    /// Returns the advice to have the recording tool keep individual values.
    pub fn keep_values(environment: &Environment) -> Self {
        let setting = Tool::that_recorded(environment).and_then(|tool| tool.single_values);
        Self::KeepValues { setting: setting.map(str::to_owned) }
    }

    /// Returns the advice to run the system command `command`, whose purpose is `text`.
    pub fn run(text: &str, command: &str) -> Self {
        Self::Run { text: text.to_owned(), command: command.to_owned() }
    }
}

impl From<Action> for Advice {
    fn from(action: Action) -> Self {
        Self { action, how: None }
    }
}

/// Writes the action as an imperative, without the option or command: `give it more time`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = match self {
            Self::DecideBy { metric } if metric == "cpu" => "decide on CPU time",
            Self::DecideBy { metric } => return write!(f, "decide on {metric}"),
            Self::MeasureLonger { .. } => "give it more time",
            Self::FixRuns { runs } => {
                return write!(f, "fix the number of runs beforehand ({runs} suffice)");
            }
            Self::MoreRuns => "take more runs",
            Self::MoreValues => "take more values",
            Self::MoreRepetitions { setting: None } => "record more repetitions",
            Self::MoreRepetitions { setting: Some(setting) } => {
                return write!(f, "record more repetitions ({setting})");
            }
            Self::MoreUnits { units } => return write!(f, "record more {units}"),
            Self::KeepValues { setting: None } => {
                "record single values, with a tool and a format that keep them"
            }
            Self::KeepValues { setting: Some(setting) } => {
                return write!(f, "keep the single values ({setting})");
            }
            Self::FewerRows { rows } => return write!(f, "measure fewer {rows}"),
            Self::LargerThreshold => "accept a larger threshold",
            Self::ThresholdAsAmount => "give the threshold as an amount",
            Self::GiveUnit => "say first what unit the numbers have",
            Self::FalseDiscoveryRate => "control the false discovery rate instead",
            Self::LongerTimeout => "raise the time limit if the size of the difference matters",
            Self::WarmUpLonger => "warm up longer",
            Self::Skip { values } => return write!(f, "leave out the first {values} values"),
            Self::MeasureInBlocks => "measure both in one run, in blocks",
            Self::MeasureTogether { sides } => match sides {
                RecordedSides::SameCommand => "measure the old and the new version in one run",
                RecordedSides::Benchmarks | RecordedSides::TestSuites => {
                    "measure both in one run, in blocks"
                }
                RecordedSides::WithinProgram => "measure them in blocks",
                RecordedSides::Servers => "load both servers in one run, in blocks",
            },
            Self::Repeat => "measure again at another time and compare the two results",
            Self::MoreWork => "let each run do more work",
            Self::FinerClock => "measure with a finer clock",
            Self::ShorterRuns => "make each run shorter",
            Self::FewerEvents => "count fewer events at once",
            Self::CountInstructions => "count instructions on a simulated processor",
            Self::CountWhole => "count the whole program",
            Self::SeveralBuilds => "measure several builds a side",
            Self::WorkingTree => "measure the working tree as it stands",
            Self::StopOtherWork => "stop other work on this machine",
            Self::CheckMachine => "see what disturbs this machine",
            Self::Calibrate => "calibrate again",
            Self::PlanRuns => "compute how many it takes",
            Self::SampleMore => "sample more often",
            Self::SampleLess => "take fewer samples a second",
            Self::SampleByWall => "sample by wall time",
            Self::SaveElsewhere => "save to another place",
            Self::ShowOutput => "see what the program prints",
            Self::SeeDistributions => "look at the distributions before you quote one number",
            Self::Read { page } => return write!(f, "see {page}"),
            Self::Run { text, .. } | Self::Do { text } => text,
        };
        f.write_str(plain)
    }
}

/// Writes the action as an imperative, with the option or command if there is one: `give it more
/// time with --time 30s`.
impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.how, &self.action) {
            (Some(Invocation::Option(name, Some(value))), Action::FixRuns { .. }) => {
                write!(f, "fix the number of runs beforehand with {name} {value}")
            }
            (Some(Invocation::Option(name, Some(value))), Action::Skip { .. }) => {
                write!(f, "leave out the first values with {name} {value}")
            }
            (Some(Invocation::Option(name, Some(value))), action) => {
                write!(f, "{action} with {name} {value}")
            }
            (Some(Invocation::Option(name, None)), action) => write!(f, "{action} with {name}"),
            (Some(Invocation::Command(command)), action) => write!(f, "{action}: {command}"),
            (None, Action::Run { text, command }) => write!(f, "{text}: {command}"),
            (None, action) => write!(f, "{action}"),
        }
    }
}

/// Writes the layout shared by files and reports: `{"action": "decide_by", "metric": "cpu", "text":
/// …, "option": "--primary", "value": "cpu"}`.
impl Serialize for Advice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Form<'a> {
            #[serde(flatten)]
            action: &'a Action,
            #[serde(skip_serializing_if = "Option::is_none")]
            text: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            option: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            value: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            command: Option<&'a str>,
        }
        let (option, value, command) = match &self.how {
            None => (None, None, None),
            Some(Invocation::Option(name, value)) => (Some(*name), value.as_deref(), None),
            Some(Invocation::Command(command)) => (None, None, Some(command.as_str())),
        };
        // These actions already carry their text.
        let has_text = matches!(self.action, Action::Do { .. } | Action::Run { .. });
        let text = (!has_text).then(|| self.action.to_string());
        Form { action: &self.action, text, option, value, command }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn advice_is_read_back_without_how_it_was_done_there() {
        let advice = Advice {
            action: Action::MeasureLonger { seconds: Some(30.0) },
            how: Some(Invocation::Option("--time", Some("30s".to_owned()))),
        };
        let written = serde_json::to_value(&advice).expect("plain data");
        let text = "give it more time";
        assert_eq!(
            written,
            json!({"action": "measure_longer", "seconds": 30.0, "text": text, "option": "--time", "value": "30s"})
        );
        let read: Advice = serde_json::from_value(written).expect("as written");
        assert_eq!(read, advice.action.into());
    }

    #[test]
    fn text_and_commands_are_written_once() {
        let told = |action: Action| serde_json::to_value(Advice::from(action)).expect("plain data");
        assert_eq!(told(Action::text("plug it in")), json!({"action": "do", "text": "plug it in"}));
        assert_eq!(
            told(Action::run("fix the frequency", "cpupower")),
            json!({"action": "run", "text": "fix the frequency", "command": "cpupower"})
        );
    }

    #[test]
    fn how_follows_what() {
        let told = |action: Action, how| Advice { action, how: Some(how) }.to_string();
        let cpu = Action::DecideBy { metric: "cpu".to_owned() };
        let by_option = Invocation::Option("--primary", Some("cpu".to_owned()));
        assert_eq!(told(cpu, by_option), "decide on CPU time with --primary cpu");
        let command = Invocation::Command("assay run A B".to_owned());
        assert_eq!(
            told(Action::MeasureInBlocks, command),
            "measure both in one run, in blocks: assay run A B"
        );
        assert_eq!(
            Advice::from(Action::StopOtherWork).to_string(),
            "stop other work on this machine"
        );
    }
}
