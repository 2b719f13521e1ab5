//! A command that is ready to run: its program is located, its environment is fixed, and everything
//! is encoded for the launcher.
//!
//! This module also converts failures of the launcher to errors about the command. Nothing is run
//! here.

use assay_data::system_error::reason;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::capture::{CaptureRequest, Samples};
use crate::command::{Channel, Command, CommandError, Input, Output};
use crate::control::{Control, Setting};
use crate::error::MeasureError;
use crate::options::RunOptions;
use crate::resolve::explain_refusal;
use crate::room::renew;
use crate::wire::{OutputMode, SAMPLES_DESCRIPTOR, Step, SubjectText};

/// Name of the variable that pads a run's environment.
pub(crate) const PADDING: &str = "ASSAY_PAD";
/// Name of the variable that tells a command where to write its samples.
const SAMPLES: &str = "ASSAY_SAMPLES";

/// A command as the runner records it, with everything needed to register it with a new launcher.
pub(crate) struct Prepared {
    /// Encoded command that is sent to the launcher.
    pub(crate) payload: Vec<u8>,
    /// The program as written.
    pub(crate) program: String,
    /// Absolute path of the program.
    pub(crate) path: PathBuf,
    pub(crate) argv: Vec<OsString>,
    /// The environment as `NAME=value`, without the padding.
    pub(crate) environment: Vec<OsString>,
    pub(crate) control: Control,
    /// The working directory, or empty for the one in which `assay` was started.
    pub(crate) directory: PathBuf,
    /// The file for standard input, or empty if there is none.
    pub(crate) input: PathBuf,
    /// Destination of standard output.
    pub(crate) mode: OutputMode,
    /// The file for standard output, which is empty unless `mode` is `File`.
    pub(crate) output: PathBuf,
    keep_output: bool,
    keep_errors: bool,
    samples: Channel,
    /// The file for samples, which is empty unless `samples` is `Path`.
    sample_file: PathBuf,
}

impl Prepared {
    /// Prepares a command: locates its program, and takes the environment as it is now.
    pub(crate) fn new(command: &Command, sample_file: PathBuf) -> Result<Self, MeasureError> {
        let path = command.resolve()?;
        let program = program_of(command);
        if command.keep_output && command.output != Output::Null {
            return Err(CommandError::KeptElsewhere { program }.into());
        }
        if let Some(setting) = command.control.out_of_range() {
            return Err(refused(program, setting, Errno::INVAL));
        }
        let absent = PathBuf::new();
        let input = match &command.input {
            Input::Null => absent.clone(),
            Input::File(path) => path.clone(),
        };
        let (mode, output) = match &command.output {
            Output::Null => (OutputMode::Null, absent),
            Output::Inherit => (OutputMode::Inherit, absent),
            Output::Pipe => (OutputMode::Pipe, absent),
            Output::File(path) => (OutputMode::File, path.clone()),
        };
        let directory = command.cwd.clone().unwrap_or_default();
        let environment = environment_of(command, &sample_file);
        let text = SubjectText {
            program: &path,
            directory: &directory,
            input: &input,
            output: mode,
            output_file: &output,
            argv: &command.argv,
            environment: &environment,
            control: &command.control,
        };
        let payload = text
            .to_bytes()
            .ok_or_else(|| MeasureError::NotPassable { program: program.clone() })?;
        Ok(Self {
            payload,
            program,
            path,
            argv: command.argv.clone(),
            environment,
            control: command.control.clone(),
            directory,
            input,
            mode,
            output,
            keep_output: command.keep_output,
            keep_errors: command.keep_errors,
            samples: command.samples,
            sample_file,
        })
    }

    /// Returns what to capture of the command's next run, with a new file for its samples.
    pub(crate) fn capture_request(
        &self,
        options: &RunOptions,
    ) -> Result<CaptureRequest, MeasureError> {
        let samples = match self.samples {
            Channel::None => Samples::Nowhere,
            Channel::Descriptor => Samples::Descriptor,
            Channel::Path => Samples::File(self.renewed()?),
        };
        Ok(CaptureRequest {
            pipe_output: self.mode == OutputMode::Pipe,
            trace_output: options
                .trace_output
                .filter(|_| !self.keep_output)
                .filter(|_| matches!(self.mode, OutputMode::Null | OutputMode::Pipe)),
            keep_output: self.keep_output,
            keep_errors: self.keep_errors,
            last_words: options.last_words,
            samples,
        })
    }

    fn renewed(&self) -> Result<File, MeasureError> {
        renew(&self.sample_file).map_err(|source| MeasureError::Samples {
            program: self.program.clone(),
            path: self.sample_file.clone(),
            source,
        })
    }

    /// Returns the error for a step at which the launcher failed.
    pub(crate) fn failed(&self, step: Step, error: i32) -> MeasureError {
        let source = io::Error::from_raw_os_error(error);
        let program = self.program.clone();
        let owned = Path::to_owned;
        match step {
            Step::Stdin => MeasureError::Input { program, path: owned(&self.input), source },
            Step::Stdout => MeasureError::Output { program, path: owned(&self.output), source },
            Step::Directory => {
                MeasureError::Directory { program, path: owned(&self.directory), source }
            }
            Step::Exec | Step::Spawn => {
                let error = Errno::from_raw_os_error(error);
                match explain_refusal(&self.path, error) {
                    Some(explained) if step == Step::Exec => MeasureError::Resolve(explained),
                    _ => MeasureError::Start {
                        program,
                        path: owned(&self.path),
                        source,
                        hint: start_hint(error),
                    },
                }
            }
            Step::Set(setting) => refused(program, setting, Errno::from_raw_os_error(error)),
            Step::Request | Step::Memory | Step::Stderr | Step::Wait => MeasureError::Internal {
                what: format!(
                    "the launcher failed at step {step:?} of `{program}`: {}",
                    reason(&source)
                ),
            },
        }
    }
}

pub(crate) fn program_of(command: &Command) -> String {
    command.argv.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns `assay`'s own environment, overridden by the command's variables and in a stable order,
/// with the variable that tells the command where to write its samples.
fn environment_of(command: &Command, sample_file: &Path) -> Vec<OsString> {
    let ours = |name: &std::ffi::OsStr| name == PADDING || name == SAMPLES;
    let replaced = |name: &std::ffi::OsStr| {
        ours(name) || command.env.iter().any(|(own, _)| name == own.as_str())
    };
    let join = |name: &std::ffi::OsStr, value: &std::ffi::OsStr| {
        let mut both = name.to_owned();
        both.push("=");
        both.push(value);
        both
    };
    let mut variables: Vec<OsString> = std::env::vars_os()
        .filter(|(name, _)| !replaced(name))
        .map(|(name, value)| join(&name, &value))
        .collect();
    for (i, (name, value)) in command.env.iter().enumerate() {
        // If a variable is set several times, only the last value is passed.
        if !ours(name.as_ref()) && !command.env[i + 1..].iter().any(|(later, _)| later == name) {
            variables.push(join(name.as_ref(), value.as_ref()));
        }
    }
    let mut place = match command.samples {
        Channel::None => return variables,
        Channel::Descriptor => OsString::from(format!("fd:{SAMPLES_DESCRIPTOR}")),
        Channel::Path => OsString::from("path:"),
    };
    place.push(sample_file);
    variables.push(join(SAMPLES.as_ref(), &place));
    variables
}

fn refused(program: String, setting: Setting, error: Errno) -> MeasureError {
    MeasureError::Control { program, setting, source: error.into(), needs: setting.needs(error) }
}

fn start_hint(error: Errno) -> &'static str {
    match error {
        Errno::TOOBIG => "\nIts arguments and environment are longer than the system allows.",
        Errno::AGAIN => "\nThere are too many processes: see `ulimit -u`.",
        Errno::TXTBSY => "\nAnother process has the file open for writing: wait until it is built.",
        Errno::NOENT => {
            "\nIts loader or a directory of its path does not exist: see the output of `file` for it."
        }
        _ => "",
    }
}
