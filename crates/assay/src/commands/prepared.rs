//! A command with its settings, and the subject recorded for it.

use assay_data::list;
use assay_data::{ParameterValue, Samples, Side};
use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;
use std::path::PathBuf;

/// A command with everything that is needed to run and record it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// Name of the command, as shown to the user.
    pub name: String,
    /// In a scan, index of the typed command from which this one was made, counted from 0.
    pub side: Option<usize>,
    /// In a scan, the name of the command without the values.
    pub label: Option<String>,
    /// The command as typed, with placeholders for the scan's values.
    pub typed: String,
    /// The command as typed, with the scan's values filled in.
    pub text: String,
    /// The command to run.
    pub command: Command,
    /// True if the user specified where the command's output goes.
    pub output_given: bool,
    /// Files that must be the same for all compared commands, in order.
    pub same: Vec<PathBuf>,
    /// All builds, if several are run alternately, in which case `command` is the first; otherwise
    /// empty.
    pub builds: Vec<Command>,
    /// Shell line to run before every run, unmeasured.
    pub prepare: Option<String>,
    /// Shell line to run after every run, unmeasured.
    pub conclude: Option<String>,
    /// Parameters of a scan with their values.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Index of the command to compare with. A reference has its own index. `None` means the first
    /// command.
    pub against: Option<usize>,
    /// Index of the command that this one repeats as a control.
    pub repeats: Option<usize>,
    /// Number of simultaneous runs per turn.
    pub jobs: u32,
}

impl Prepared {
    /// Creates a command with default settings.
    pub fn plain(name: &str, command: Command) -> Self {
        let line = list::line(&command.argv);
        Self {
            name: name.to_owned(),
            side: None,
            label: None,
            typed: line.clone(),
            text: line,
            command,
            output_given: false,
            same: Vec::new(),
            builds: Vec::new(),
            prepare: None,
            conclude: None,
            parameters: Vec::new(),
            against: None,
            repeats: None,
            jobs: 1,
        }
    }

    /// Returns all builds if there are several, or else the command itself.
    pub fn every(&self) -> &[Command] {
        if self.builds.is_empty() { std::slice::from_ref(&self.command) } else { &self.builds }
    }

    /// Returns the command and all builds, to apply a change to each of them.
    pub fn every_mut(&mut self) -> impl Iterator<Item = &mut Command> {
        std::iter::once(&mut self.command).chain(&mut self.builds)
    }
}

/// Outcomes of runs that do not stop the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tolerated {
    /// Only success.
    #[default]
    Nothing,
    /// Any status or signal.
    Anything,
    /// Success and these exit statuses are tolerated.
    Statuses(Vec<i32>),
}

/// Adds the subject recorded for a command, and its side if that is new. Records the digests of the
/// command's files if `files` is given.
pub(super) fn add(samples: &mut Samples, command: &Prepared, files: Option<&mut Fingerprints>) {
    let every = command.every().iter();
    let identified = files.map(|files| every.flat_map(|build| files.files_of(build)).collect());
    let subject = assay_data::Subject {
        name: command.name.clone(),
        command: Some(command.text.clone()),
        shell: command.command.shell,
        cwd: command.command.cwd.as_ref().map(|path| path.display().to_string()),
        env: command.command.env.clone(),
        parameters: command.parameters.clone(),
        against: command.against,
        repeats: command.repeats,
        jobs: (command.jobs > 1).then_some(command.jobs),
        control: control(command),
        files: identified.unwrap_or_default(),
        ..assay_data::Subject::default()
    };
    let known = command.side.filter(|&side| side < samples.sides.len());
    let side = known.unwrap_or_else(|| {
        samples.add_side(Side {
            name: command.label.as_ref().unwrap_or(&command.name).clone(),
            command: Some(command.typed.clone()),
            builds: command.builds.iter().map(|build| list::line(&build.argv)).collect(),
            ..Side::default()
        })
    });
    let row = samples.row_named("");
    samples.add(assay_data::Subject { side, row, ..subject });
}

/// Returns the settings of a command's processes, each with the name of its option.
pub(super) fn control(command: &Prepared) -> Vec<(String, String)> {
    let control = &command.command.control;
    let cpus: Vec<String> = control.cpus.iter().map(u32::to_string).collect();
    let mut set = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        set.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("pin", (!cpus.is_empty()).then(|| cpus.join(",")));
    add("fifo", control.fifo.map(|priority| priority.to_string()));
    add("nice", control.nice.map(|nice| nice.to_string()));
    add("aslr", control.no_aslr.then(|| "off".to_owned()));
    set
}
