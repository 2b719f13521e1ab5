//! A command with its settings, and the subject recorded for it.

use assay_data::list;
use assay_data::{ParameterValue, Samples, Side};
use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;
use std::path::PathBuf;

/// A command with its settings.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// Name shown to the user.
    pub name: String,
    /// In a scan, the index of the command, from 0.
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
    /// All builds, if several are run alternately (`command` is the first one); otherwise empty.
    pub builds: Vec<Command>,
    /// Shell line before every run, not measured.
    pub prepare: Option<String>,
    /// Shell line after every run, not measured.
    pub conclude: Option<String>,
    /// Parameters of a scan with their values.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Index of the command to compare with; its own index marks a reference. `None` for the first.
    pub against: Option<usize>,
    /// Index of the command that this one repeats as a control.
    pub repeats: Option<usize>,
    /// Number of concurrent runs.
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

    /// Returns everything that is run: all builds if there are several.
    pub fn every(&self) -> &[Command] {
        if self.builds.is_empty() { std::slice::from_ref(&self.command) } else { &self.builds }
    }

    /// Like [`Prepared::every`], for applying the same change to all.
    pub fn every_mut(&mut self) -> impl Iterator<Item = &mut Command> {
        std::iter::once(&mut self.command).chain(&mut self.builds)
    }
}

/// Exit statuses that do not stop the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tolerated {
    /// Only success.
    #[default]
    Nothing,
    /// Any status or signal.
    Anything,
    /// These statuses.
    Statuses(Vec<i32>),
}

/// Adds the subject recorded for a command, and its side if that is new. Its files are identified
/// by `files`.
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

/// Returns the settings of a command's processes, by the names of the options.
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
