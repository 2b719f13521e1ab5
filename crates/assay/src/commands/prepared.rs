//! A command with everything that belongs to it, and the subject that is recorded of it.

use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;

/// A command with what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The name that people see.
    pub name: String,
    /// In a scan, its name without the values.
    pub label: Option<String>,
    /// The command as it was typed.
    pub text: String,
    /// What is run.
    pub command: Command,
    /// Shell line before every run, not measured.
    pub prepare: Option<String>,
    /// Shell line after every run, not measured.
    pub conclude: Option<String>,
    /// Parameters of a scan with their values.
    pub parameters: Vec<(String, String)>,
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
            label: None,
            text: words.join(" "),
            command,
            prepare: None,
            conclude: None,
            parameters: Vec::new(),
            against: None,
            jobs: 1,
        }
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

/// The subject that is recorded of a command.
pub(super) fn subject(command: &Prepared, files: &mut Fingerprints) -> assay_data::Subject {
    assay_data::Subject {
        name: command.name.clone(),
        command: Some(command.text.clone()),
        shell: command.command.shell,
        cwd: command.command.cwd.as_ref().map(|path| path.display().to_string()),
        env: command.command.env.clone(),
        label: command.label.clone(),
        parameters: command.parameters.clone(),
        against: command.against,
        benchmark: None,
        side: None,
        jobs: (command.jobs > 1).then_some(command.jobs),
        control: control(command),
        files: files.files_of(&command.command),
        ..assay_data::Subject::default()
    }
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
