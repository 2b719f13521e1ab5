//! A command with everything that belongs to it, and the subject that is recorded of it.

use assay_data::{ParameterValue, Samples, Side};
use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;

/// A command with what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The name that people see.
    pub name: String,
    /// In a scan, which of its commands it is, counted from 0.
    pub side: Option<usize>,
    /// In a scan, its name without the values.
    pub label: Option<String>,
    /// The command as it was typed, with the places of the scan's values.
    pub typed: String,
    /// The command with these values.
    pub text: String,
    /// What is run.
    pub command: Command,
    /// Where several builds of it are run by turns, all of them; `command` is then the first. Else empty.
    pub builds: Vec<Command>,
    /// Shell line before every run, not measured.
    pub prepare: Option<String>,
    /// Shell line after every run, not measured.
    pub conclude: Option<String>,
    /// Parameters of a scan with their values.
    pub parameters: Vec<(String, ParameterValue)>,
    /// Index of the command that it is compared with; its own marks a reference. `None`: the first.
    pub against: Option<usize>,
    /// How many runs of it go on at once.
    pub jobs: u32,
}

impl Prepared {
    /// A command without anything around it.
    pub fn plain(name: &str, command: Command) -> Self {
        let words: Vec<_> = command.argv.iter().map(|word| word.to_string_lossy()).collect();
        Self {
            name: name.to_owned(),
            side: None,
            label: None,
            typed: words.join(" "),
            text: words.join(" "),
            command,
            builds: Vec::new(),
            prepare: None,
            conclude: None,
            parameters: Vec::new(),
            against: None,
            jobs: 1,
        }
    }

    /// Everything that is run: all builds where there are several.
    pub fn every(&self) -> &[Command] {
        if self.builds.is_empty() { std::slice::from_ref(&self.command) } else { &self.builds }
    }

    /// The same, to be changed alike.
    pub fn every_mut(&mut self) -> impl Iterator<Item = &mut Command> {
        std::iter::once(&mut self.command).chain(&mut self.builds)
    }
}

/// Which exit statuses are no reason to stop.
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

/// Adds the subject that is recorded of a command, and its side where that is new.
pub(super) fn add(samples: &mut Samples, command: &Prepared, files: &mut Fingerprints) {
    let subject = assay_data::Subject {
        name: command.name.clone(),
        command: Some(command.text.clone()),
        shell: command.command.shell,
        cwd: command.command.cwd.as_ref().map(|path| path.display().to_string()),
        env: command.command.env.clone(),
        parameters: command.parameters.clone(),
        against: command.against,
        jobs: (command.jobs > 1).then_some(command.jobs),
        control: control(command),
        files: command.every().iter().flat_map(|build| files.files_of(build)).collect(),
        ..assay_data::Subject::default()
    };
    let known = command.side.filter(|&side| side < samples.sides.len());
    let side = known.unwrap_or_else(|| {
        samples.add_side(Side {
            name: command.label.as_ref().unwrap_or(&command.name).clone(),
            command: Some(command.typed.clone()),
            builds: command.builds.iter().map(name_of_build).collect(),
            ..Side::default()
        })
    });
    let row = samples.row_named("");
    samples.add(assay_data::Subject { side, row, ..subject });
}

fn name_of_build(command: &Command) -> String {
    let words: Vec<_> = command.argv.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// What is set for a command's processes, by the names of the options.
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
