//! Observes and compares the outputs of commands.

use super::same::difference::described;
use super::same::{DIFFERENT, Observed, Outputs, Part, STATUS, STDOUT, Same, TIME_STEP, involved};
use super::{Commands, Prepared};
use crate::run_error::RunError;
use assay_data::code;
use assay_data::code::{Code, OUTPUT_DIFFERS, OUTPUT_NOT_COMPARED};
use assay_data::finding::shared::{SAME_OUTPUTS, output_differs, output_varies};
use assay_data::{Action, Finding, Severity};
use assay_measure::trace::{Trace, Window};
use assay_measure::{MeasureError, Outcome, Output, RunOptions, RunResult};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum duration, in seconds, of a command that may be run once more. There is no limit if
/// outputs must be the same.
const LONGEST: f64 = 10.0;

/// Modification time and size of each `--same` file before a run; `None` if they can't be
/// determined, usually because there is no such file.
pub(super) type Before = Vec<Option<(SystemTime, u64)>>;

/// Result of comparing the outputs of all commands.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    pub findings: Vec<Finding>,
    /// [`SAME_OUTPUTS`], `different`, `not comparable` or `not compared`; `None` if nothing is to
    /// be compared.
    pub fact: Option<&'static str>,
}

impl Commands {
    /// Returns the state of a command's `--same` files before an observed run. Waits if one was
    /// written too recently for its time to show a change.
    pub(super) fn files_before(&self, subject: usize) -> Before {
        let state = |path: &PathBuf| {
            let found = path.metadata().ok()?;
            let written = found.modified().ok()?;
            let age = SystemTime::now().duration_since(written).unwrap_or_default();
            std::thread::sleep(TIME_STEP.saturating_sub(age));
            Some((written, found.len()))
        };
        self.commands[subject].same.iter().map(state).collect()
    }

    /// Observes the outputs of a run that has ended. `windows` are the ranges of bytes to keep of
    /// each part.
    pub(super) fn observe(
        &mut self,
        subject: usize,
        results: &mut [RunResult],
        before: &Before,
        windows: &[Window],
    ) {
        let prepared = &self.commands[subject];
        let window = |part: usize| windows.get(part).copied().unwrap_or_default();
        let files: Vec<Part> = prepared
            .same
            .iter()
            .zip(before)
            .enumerate()
            .map(|(index, (path, before))| {
                of_file(path, before.as_ref(), window(STDOUT + 1 + index))
            })
            .collect();
        let mut observed = Vec::new();
        for result in results {
            let late = result.outcome == Outcome::TimedOut;
            let cut = || Part::Unknown("a run was cut off by --timeout".to_owned());
            let mut output = match &prepared.command.output {
                Output::Inherit => Part::Unknown("it is shown, by --output inherit".to_owned()),
                Output::File(path) => of_file(&in_directory(prepared, path), None, window(STDOUT)),
                Output::Null if prepared.command.keep_output => Part::Metric,
                Output::Null | Output::Pipe => match result.trace.take() {
                    Some(trace) => Part::Bytes(trace),
                    None => Part::Unknown("it was not read".to_owned()),
                },
            };
            let mut parts = vec![Part::Status(result.outcome)];
            if late {
                (parts[STATUS], output) = (cut(), cut());
            }
            parts.push(output);
            parts.extend(files.iter().map(|part| if late { cut() } else { part.clone() }));
            observed.push((parts, result.wall_seconds, result.user_seconds));
        }
        for (parts, seconds, user) in observed {
            self.same.observe(subject, parts, seconds, user);
        }
    }

    /// Runs a command once, untimed, and observes its outputs.
    pub(super) fn run_untimed(
        &mut self,
        subject: usize,
        windows: &[Window],
    ) -> Result<(), RunError> {
        loop {
            self.prepare(subject)?;
            let before = self.files_before(subject);
            let options = RunOptions {
                timeout: self.settings.timeout,
                end_strays: true,
                trace_output: Some(windows.get(STDOUT).copied().unwrap_or_default()),
                ..RunOptions::default()
            };
            match self.runners.run((subject, 0), self.commands[subject].jobs, options) {
                Err(MeasureError::LostRun { .. }) => {}
                other => {
                    self.observe(subject, &mut other?, &before, windows);
                    return self.conclude_run(subject);
                }
            }
        }
    }

    /// Returns true if the outputs of any commands are compared.
    pub fn compares_outputs(&self) -> bool {
        !self.same.pairs.is_empty()
    }

    /// Compares the outputs of the commands, running them again where necessary. `names` are the
    /// names of the subjects. `quotes` is false if findings must not quote output.
    ///
    /// # Errors
    ///
    /// Fails if a command cannot be run.
    pub fn compare_outputs(
        &mut self,
        names: &[String],
        quotes: bool,
    ) -> Result<Compared, RunError> {
        let pairs = self.same.pairs.clone();
        let too_long = |same: &Same, last: &[f64], subject: usize| {
            let seconds = same.observed[subject].as_ref().map_or(last[subject], |own| own.seconds);
            seconds > LONGEST && same.outputs != Outputs::Required
        };
        let mut found = Compared::default();
        let mut left_out: Vec<(usize, usize)> = Vec::new();
        for subject in involved(&pairs) {
            let is_missing = self.same.observed[subject].is_none() && self.must_show(subject);
            if is_missing && !too_long(&self.same, &self.last_wall, subject) {
                self.run_untimed(subject, &[])?;
            }
        }
        let suspects: Vec<(usize, usize)> =
            pairs.iter().copied().filter(|&pair| !self.same.differing(pair).is_empty()).collect();
        let (long, suspects): (Vec<_>, Vec<_>) =
            suspects.into_iter().partition(|&(of, against)| {
                [of, against].into_iter().any(|own| too_long(&self.same, &self.last_wall, own))
            });
        left_out.extend(long);
        for subject in involved(&suspects) {
            let windows = self.windows(subject, &suspects);
            self.run_untimed(subject, &windows)?;
        }
        for &pair in &pairs {
            found.findings.extend(self.judged(pair, names, quotes, left_out.contains(&pair)));
        }
        let has = |code: &Code| found.findings.iter().any(|finding| finding.is(code));
        let (differ, left_out) = (has(OUTPUT_DIFFERS), has(OUTPUT_NOT_COMPARED));
        let varying = self.varying(names);
        let varies = varying.is_some();
        found.findings.extend(varying);
        found.fact = (!pairs.is_empty()).then(|| match () {
            () if differ => DIFFERENT,
            () if varies && !self.only_output_varies() => "not comparable",
            () if left_out || self.compares_too_little() => "not compared",
            () => SAME_OUTPUTS,
        });
        if self.same.outputs == Outputs::Required
            && found.fact == Some("not compared")
            && let Some(&(of, _)) = pairs.iter().find(|&&(of, _)| self.compares_only_status(of))
        {
            let message = "--require-same: the output is the metric, so it is not known whether the outputs are the same; compare files with --same FILE";
            let finding = Finding::new(code::OUTPUT_NOT_COMPARED, message.to_owned());
            found.findings.push(finding.about(&names[of]).at(Severity::Warning));
        }
        Ok(found)
    }

    /// Returns the range of bytes to keep of each part of a command's output, around the first
    /// difference.
    fn windows(&self, subject: usize, pairs: &[(usize, usize)]) -> Vec<Window> {
        let parts = self.same.observed[subject].as_ref().map_or(0, |own| own.parts.len());
        let of_part = |part: usize| {
            let own = pairs.iter().filter(|(of, against)| *of == subject || *against == subject);
            let mut regions = own.filter_map(|&pair| self.same.region(pair, part));
            regions.next().map(|region| region.window()).unwrap_or_default()
        };
        (0..parts).map(of_part).collect()
    }

    /// Returns true if a command must be run once more when no warm-up run was observed, because
    /// the user requested the comparison.
    fn must_show(&self, subject: usize) -> bool {
        self.same.outputs == Outputs::Required || !self.commands[subject].same.is_empty()
    }

    /// Returns true if, for some pair, a command was not observed, or a metric is read from
    /// standard output and there are no files to compare.
    fn compares_too_little(&self) -> bool {
        let is_too_little = |&pair: &(usize, usize)| {
            self.same.both(pair).is_none() || self.compares_only_status(pair.0)
        };
        self.same.pairs.iter().any(is_too_little)
    }

    /// Returns true if only a command's exit status is compared, because a metric is read from its
    /// standard output and it has no files to compare.
    fn compares_only_status(&self, of: usize) -> bool {
        self.commands[of].command.keep_output && self.commands[of].same.is_empty()
    }

    /// Returns true if all compared commands have files to compare and nothing but standard output
    /// varies between runs.
    fn only_output_varies(&self) -> bool {
        let named = self.same.pairs.iter().all(|&(of, _)| !self.commands[of].same.is_empty());
        let mut varying = self.same.observed.iter().flatten().flat_map(|own| {
            own.varies.iter().enumerate().filter(|(_, varies)| **varies).map(|(part, _)| part)
        });
        named && varying.all(|part| part == STDOUT)
    }

    /// Returns the findings from comparing a command with its reference, except about parts that
    /// vary.
    fn judged(
        &self,
        pair: (usize, usize),
        names: &[String],
        quotes: bool,
        long: bool,
    ) -> Vec<Finding> {
        let (of, against) = pair;
        let (name, other) = (&names[of], &names[against]);
        let Some((own, others)) = self.same.both(pair) else {
            let why = "the only run took over 10 s, and no other is added";
            return self.must_show(of).then(|| not_compared(name, why)).into_iter().collect();
        };
        let mut findings = Vec::new();
        let differing = self.same.differing(pair);
        for part in 0..own.parts.len().min(others.parts.len()) {
            let what = self.part_name(of, part, quotes);
            let differs = differing.contains(&part);
            if differs && long {
                let why = format!(
                    "in the warm-up {what} of '{name}' differed from that of '{other}', but a run takes over 10 s, so no further one shows whether it differs from run to run"
                );
                findings.push(not_compared(name, &why));
            } else if differs {
                let region = self.same.region(pair, part);
                let parts = (&own.parts[part], &others.parts[part]);
                let said = described((name, other), &what, parts, region, quotes);
                findings.push(differs_finding(name, said));
            } else if let Some(why) = self.unknown((own, others), (of, part), name, quotes) {
                findings.push(not_compared(name, &why));
            }
        }
        findings
    }

    /// Returns the reason why a part can't be compared, if there is one.
    fn unknown(
        &self,
        (own, others): (&Observed, &Observed),
        (of, part): (usize, usize),
        name: &str,
        quotes: bool,
    ) -> Option<String> {
        let what = self.part_name(of, part, quotes);
        match (&own.parts[part], &others.parts[part]) {
            (Part::Unknown(why), _) | (_, Part::Unknown(why)) => Some(format!("{what}: {why}")),
            (Part::Missing, Part::Missing) => Some(format!("{what}: there is no such file")),
            (Part::Untouched, Part::Untouched) => {
                Some(format!("{what}: neither '{name}' nor its reference wrote to it"))
            }
            _ => None,
        }
    }

    /// Returns a single finding about all parts that differ between runs of the same command.
    fn varying(&self, names: &[String]) -> Option<Finding> {
        let mut told: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
        for &subject in &involved(&self.same.pairs) {
            let varies = self.same.observed[subject].as_ref().map_or(&[][..], |own| &own.varies);
            for part in (0..varies.len()).filter(|&part| varies[part]) {
                let what = self.part_name(subject, part, false);
                told.entry((part, what)).or_default().push(format!("'{}'", names[subject]));
            }
        }
        let told: Vec<String> = told
            .into_iter()
            .map(|((_, what), of)| {
                format!("{what} of {} differs from run to run", of.join(" and "))
            })
            .collect();
        (!told.is_empty()).then(|| {
            output_varies(&told.join("; "))
                .advise(Action::text("name files that have to be the same with --same FILE"))
        })
    }

    fn part_name(&self, subject: usize, part: usize, quotes: bool) -> String {
        match part {
            STATUS => "the exit status".to_owned(),
            STDOUT => "standard output".to_owned(),
            file => {
                let path = &self.commands[subject].same[file - STDOUT - 1];
                let last = path.file_name().map_or(path.as_os_str(), |name| name);
                // An anonymous record has no directories.
                if quotes { path.as_os_str() } else { last }.to_string_lossy().into_owned()
            }
        }
    }
}

/// Returns the path of a command's file. A relative path is relative to the command's directory.
fn in_directory(prepared: &Prepared, path: &Path) -> PathBuf {
    prepared.command.cwd.as_deref().unwrap_or_else(|| Path::new("")).join(path)
}

/// Returns the contents of a file after a run, given its state before the run.
fn of_file(path: &Path, before: Option<&(SystemTime, u64)>, window: Window) -> Part {
    let about = match path.metadata() {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Part::Missing,
        Err(error) => return Part::Unknown(error.to_string()),
    };
    if !about.is_file() {
        return Part::Unknown("it is not a regular file".to_owned());
    }
    if before.is_some_and(|&(written, length)| {
        about.len() == length && about.modified().is_ok_and(|now| now == written)
    }) {
        return Part::Untouched;
    }
    match Trace::of_file(path, window) {
        Ok(trace) => Part::Bytes(trace),
        Err(error) => Part::Unknown(error.to_string()),
    }
}

fn differs_finding(name: &str, (message, numbers): (String, Vec<(&str, f64)>)) -> Finding {
    let finding = output_differs(name, message);
    numbers.into_iter().fold(finding, |finding, (number, value)| finding.with(number, value))
}

fn not_compared(name: &str, why: &str) -> Finding {
    Finding::new(code::OUTPUT_NOT_COMPARED, format!("outputs not compared: {why}")).about(name)
}
