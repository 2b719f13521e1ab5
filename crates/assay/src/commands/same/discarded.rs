//! Programs that notice when their output is discarded, and then do less work than in practice.

use super::super::{Commands, Prepared};
use super::{STDOUT, involved};
use crate::run_error::RunError;
use assay_data::code;
use assay_data::{Action, Finding, Samples, Severity};
use assay_measure::Output;
use assay_report::number;
use std::path::Path;

/// Programs known to do less if standard output is `/dev/null`: they stop at the first match or
/// difference, or read no file.
const KNOWN: [&str; 11] =
    ["cmp", "egrep", "fgrep", "ggrep", "grep", "gtar", "tar", "ug", "ugrep", "zgrep", "zegrep"];
/// A command is considered to do less with its output discarded if a run into a pipe takes more
/// than this many times the user CPU time, and exceeds it by more than [`SECONDS_MORE`].
const TIMES_MORE: f64 = 3.0;
/// User CPU time, in seconds, by which a run into a pipe must exceed one with discarded output.
const SECONDS_MORE: f64 = 0.02;

/// Returns the program from [`KNOWN`] that a command runs, if there is one.
fn known(command: &Prepared) -> Option<&'static str> {
    let is = |word: &str| {
        let name = Path::new(word).file_name()?.to_str()?;
        KNOWN.into_iter().find(|known| *known == name)
    };
    let words = &command.command.argv;
    if command.command.shell {
        let line = words.last()?.to_string_lossy().into_owned();
        let between = |c: char| c.is_whitespace() || "|&;()`{}$".contains(c);
        return line.split(between).find_map(is);
    }
    is(words.first()?.to_str()?)
}

/// If a command is known to do less work when its output is discarded, sends the discarded output
/// of all commands to a pipe that is read, unless `--output` is given. Returns the finding about
/// this.
pub(crate) fn read_where_noticed(commands: &mut [Prepared]) -> Option<Finding> {
    let discarded = |command: &Prepared| {
        !command.output_given
            && command.command.output == Output::Null
            && !command.command.keep_output
    };
    let program = commands.iter().filter(|command| discarded(command)).find_map(known)?;
    for command in commands.iter_mut().filter(|command| discarded(command)) {
        command.every_mut().for_each(|own| own.output = Output::Pipe);
    }
    let message = format!(
        "standard output goes to a pipe that is read, because {program} does less when it is discarded"
    );
    Some(
        Finding::new(code::OUTPUT_DISCARDED, message)
            .advise(Action::text("discard it nevertheless, with --output null")),
    )
}

impl Commands {
    /// Returns findings about commands that took much more user CPU time when their output was
    /// read, in the warm-up, than when it was discarded. Each is run once more to make sure. The
    /// time spent on writing the output does not matter, because it is spent in the kernel.
    ///
    /// # Errors
    ///
    /// Fails if a command cannot be run.
    pub fn discarded_outputs(&mut self, samples: &Samples) -> Result<Vec<Finding>, RunError> {
        let Some(user) = samples.metric_index("user") else { return Ok(Vec::new()) };
        let mut findings = Vec::new();
        for subject in involved(&self.same.pairs) {
            let prepared = &self.commands[subject];
            let command = &prepared.command;
            if command.output != Output::Null || command.keep_output || prepared.jobs > 1 {
                continue;
            }
            let measured = samples.series(subject, user).values;
            let most = measured.iter().copied().fold(f64::NAN, f64::max);
            let read = |commands: &Self| {
                let own = commands.same.observed[subject].as_ref()?;
                let written = own.parts[STDOUT].trace()?.length();
                let more =
                    own.user_seconds > TIMES_MORE * most && own.user_seconds - most > SECONDS_MORE;
                more.then_some((own.user_seconds, written))
            };
            if read(self).is_none() {
                continue;
            }
            self.run_untimed(subject, &[])?;
            if let Some((seconds, written)) = read(self) {
                let name = &samples.subjects[subject].name;
                findings.push(discarded(name, (most, seconds), written));
            }
        }
        Ok(findings)
    }
}

fn discarded(name: &str, (discarded, read): (f64, f64), written: u64) -> Finding {
    let seconds = |value: f64| number::rough(value, &assay_data::Unit::Second);
    let message = format!(
        "'{name}' takes {} of user CPU time when its output is read, and at most {} when it is discarded, as here: it may notice that",
        seconds(read),
        seconds(discarded)
    );
    Finding::new(code::OUTPUT_DISCARDED, message)
        .at(Severity::Warning)
        .about(name)
        .with("user_read", read)
        .with("user_discarded", discarded)
        .with("bytes", written as f64)
        .advise(Action::text("measure it as it is used, with --output pipe"))
}
