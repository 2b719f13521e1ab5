//! Measures the programs: builds both revisions, and starts `assay bench` or `assay run` for each
//! program, as `assay gate --confirm` does. Alarms are measured again with a second build.

use super::found::{Program, ProgramGroup, line_of};
use crate::bench::{Asker, BenchmarkSelection, Catalogue, Codes, Executed, Side, has_same_sources};
use crate::output;
use crate::own;
use crate::revisions::{NO_BUILD, found, placed, staged, told};
use crate::run_error::RunError;
use crate::verbs::gate::query;
use assay_analysis::check::{
    CheckedProgram, KEPT_TO_CONFIRM, LEAST_TO_CONFIRM, Second, confidence_of_program,
};
use assay_analysis::{Analysis, Comparison, Options, analyse};
use assay_data::code;
use assay_data::{StopReason, assay_file};
use assay_measure::code::is_same_program;
use assay_measure::fingerprint::Fingerprints;
use assay_measure::revisions::{Built, Linker, Repository, Revision, RevisionError};
use assay_measure::{Command, word_of};
use assay_report::check::Unmeasured;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Comment appended to the build line: a different line causes another build of the same revision.
const SECOND_BUILD: &str = "# a second build";
/// Number of links per revision for confirming an alarm.
const LINKS: u32 = 5;
/// Share of the budget that may be spent on listing the benchmarks of all programs. Tracing them
/// may take as long again.
const LISTING: f64 = 0.5;
/// Minimum time limit, in seconds, for listing or tracing the benchmarks of one program.
const LEAST_LISTING: f64 = 10.0;
/// Maximum duration of one run, as a share of the time for its program.
const MOST_OF_RUN: f64 = 0.25;
/// Minimum time limit of a run, in seconds, which is enough for a harness to start and warm up.
const LEAST_OF_RUN: f64 = 5.0;
/// Multiple of the time for listing the benchmarks that is added to [`LEAST_OF_RUN`], because a
/// slow start or a busy machine affects both listing and running.
const LISTS_OF_RUN: f64 = 5.0;
/// Reason why a program was not measured: its file is the same in both revisions.
const SAME_BYTES: &str = "the change does not reach it: it is byte-identical in both revisions";
/// Reason why a program was not measured: the code of all its benchmarks is the same.
const SAME_CODE: &str =
    "the change does not reach it: its benchmarks have the same code in both revisions";
/// Minimum time for measuring a program, in seconds. Less would give no result.
const LEAST: f64 = 1.0;

/// The measurement of all programs, with its settings.
pub(crate) struct Measuring<'a> {
    pub repository: &'a mut Repository,
    /// The base and head revisions.
    pub revisions: [Revision; 2],
    /// The programs, and how they are built.
    pub ways: Vec<ProgramGroup>,
    /// Smallest difference that matters, as it is typed.
    pub threshold: Option<String>,
    /// The metric that decides the result.
    pub metric: Option<String>,
    /// Confidence of the result as a whole.
    pub confidence: f64,
    /// Time for measuring, in seconds.
    pub budget: f64,
    /// True if alarms are measured again.
    pub confirms: bool,
    /// Directory for the recorded measurements.
    pub room: PathBuf,
    pub quiet: bool,
}

/// Results of all programs.
#[derive(Default)]
pub(crate) struct Measured {
    pub programs: Vec<CheckedProgram>,
    pub unmeasured: Vec<Unmeasured>,
    /// True if second builds were linked in shuffled order.
    pub is_shuffled: bool,
}

/// A program with its benchmarks.
struct Listed<'p> {
    program: &'p Program,
    /// Names of the benchmarks to measure; a single empty name for a command that is timed as a
    /// whole.
    wanted: Vec<String>,
    /// Names of the benchmarks that the change does not reach.
    unreached: Vec<String>,
    /// Time that listing the benchmarks of both revisions took, in seconds.
    seconds: f64,
}

/// Why a program has no result.
enum Obstacle {
    Interrupted,
    /// The program takes too long to list its benchmarks.
    Slow(String),
    Other(String),
}

impl Measuring<'_> {
    /// Builds both revisions and measures the programs.
    ///
    /// # Errors
    ///
    /// Fails if a revision does not build, if the user interrupts, or if files can't be written.
    pub fn run(&mut self) -> anyhow::Result<Measured> {
        let mut measured = Measured::default();
        let (trees, line) = self.build_all(&mut measured)?;
        let programs: Vec<Program> =
            self.ways.iter().flat_map(|way| &way.programs).cloned().collect();
        let mut listed = Vec::new();
        let mut patience = self.budget * LISTING;
        for (number, program) in programs.iter().enumerate() {
            if let Some(why) = self.is_identical(program, &trees) {
                measured.leave_out(program, why, false);
                continue;
            }
            let began = Instant::now();
            let most_seconds = (patience / (programs.len() - number) as f64).max(LEAST_LISTING);
            let own = self.list(program, &trees, most_seconds);
            patience = (patience - began.elapsed().as_secs_f64()).max(0.0);
            match own {
                Ok(own) if own.wanted.is_empty() => measured.leave_out(program, SAME_CODE, false),
                Ok(own) => listed.push(own),
                Err(Obstacle::Slow(why)) => measured.leave_out(program, &why, false),
                Err(Obstacle::Other(why)) => measured.leave_out(program, &why, true),
                Err(Obstacle::Interrupted) => return Err(interrupted()),
            }
        }
        let mut left: usize = listed.iter().map(|own| own.wanted.len()).sum();
        let all = left;
        let kept = if self.confirms { KEPT_TO_CONFIRM } else { 0.0 };
        let mut budget = self.budget * (1.0 - kept);
        let mut places = Vec::new();
        for (number, own) in listed.iter().enumerate() {
            let count = own.wanted.len();
            let seconds = (budget * count as f64 / left.max(1) as f64).max(LEAST);
            self.say(&format!(
                "measuring {} ({}), for up to {}",
                own.program.name,
                assay_report::words::counted(count, "benchmark"),
                assay_report::number::duration(seconds)
            ));
            let file = self.file(own.program, "");
            let confidence = confidence_of_program(self.confidence, count, all);
            let began = Instant::now();
            let mut options = self.options(confidence, seconds);
            if !own.program.is_timed {
                let least = LEAST_OF_RUN + LISTS_OF_RUN * own.seconds;
                let most = (seconds * MOST_OF_RUN).max(least);
                options.extend(["--timeout".to_owned(), format!("{most:.3}s")]);
            }
            let names: Vec<&str> = own.unreached.iter().map(String::as_str).collect();
            let without = ["--exclude".to_owned(), query(&names)];
            let more = if names.is_empty() { &[][..] } else { &without[..] };
            match self.measure(own.program, line.as_deref(), &trees, &options, more, &file) {
                Ok(analysis) => {
                    let (name, unreached) = (own.program.name.clone(), own.unreached.clone());
                    let checked = CheckedProgram::new(name, analysis, unreached, &own.wanted);
                    measured.programs.push(checked);
                    places.push(number);
                }
                Err(Obstacle::Slow(why) | Obstacle::Other(why)) => {
                    measured.leave_out(own.program, &why, true);
                }
                Err(Obstacle::Interrupted) => return Err(interrupted()),
            }
            budget = (budget - began.elapsed().as_secs_f64()).max(0.0);
            left -= count;
        }
        let rest = budget + self.budget * kept;
        let programs: Vec<&Program> = places.iter().map(|&at| listed[at].program).collect();
        self.confirm(&mut measured, &programs, rest)?;
        Ok(measured)
    }

    /// Measures the alarms again, with a second build of both revisions.
    fn confirm(
        &mut self,
        measured: &mut Measured,
        programs: &[&Program],
        mut budget: f64,
    ) -> anyhow::Result<()> {
        let alarmed: Vec<usize> = (0..measured.programs.len())
            .filter(|&at| !measured.programs[at].alarms().is_empty())
            .collect();
        for (done, &at) in alarmed.iter().enumerate() {
            let alarms = measured.programs[at].alarms();
            let seconds = budget / (alarmed.len() - done) as f64;
            let found = match (self.confirms, seconds >= LEAST_TO_CONFIRM) {
                (false, _) => Err("--no-confirm was given".to_owned()),
                (true, false) => Err("the budget was spent".to_owned()),
                (true, true) => {
                    let names: Vec<String> = alarms
                        .iter()
                        .map(|&row| {
                            let checked = &measured.programs[at];
                            checked.benchmark(&checked.rows[row]).to_owned()
                        })
                        .collect();
                    let began = Instant::now();
                    let again = self.again(programs[at], &names, seconds);
                    budget = (budget - began.elapsed().as_secs_f64().min(seconds)).max(0.0);
                    match again {
                        Ok((analysis, is_shuffled)) => {
                            measured.is_shuffled |= is_shuffled;
                            Ok(analysis)
                        }
                        Err(Obstacle::Interrupted) => return Err(interrupted()),
                        Err(Obstacle::Slow(why) | Obstacle::Other(why)) => Err(why),
                    }
                }
            };
            for row in alarms {
                let checked = &mut measured.programs[at];
                let name = checked.benchmark(&checked.rows[row]).to_owned();
                let second = found.as_ref().map_err(Clone::clone).and_then(|analysis| {
                    let of = |c: &&Comparison| analysis.row_of(c).name == name;
                    let own = analysis.comparisons.iter().find(of);
                    own.map(Second::of)
                        .ok_or_else(|| "the second build does not have it".to_owned())
                });
                checked.settle(row, second.unwrap_or_else(Second::Missing));
            }
        }
        Ok(())
    }

    /// Builds and measures again. The second value is true if the links were shuffled.
    fn again(
        &mut self,
        program: &Program,
        names: &[String],
        seconds: f64,
    ) -> Result<(Analysis, bool), Obstacle> {
        self.say(&format!(
            "confirming {}, with a second build: for up to {}",
            program.name,
            assay_report::number::duration(seconds)
        ));
        let second = line_of(&self.ways).map(|line| format!("{line}\n{SECOND_BUILD}"));
        let options = self.options(self.confidence, seconds);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let filter = ["--filter".to_owned(), query(&names)];
        let file = self.file(program, "-again");
        let is_seeded =
            second.as_ref().is_some_and(|line| line.contains(assay_measure::revisions::SEED));
        let can_shuffle = program.is_linked && (is_seeded || Linker::installed().is_some());
        if can_shuffle && !program.is_timed {
            let links = ["--builds".to_owned(), LINKS.to_string()];
            let more = [&filter[..], &links].concat();
            let line = second.as_deref();
            match self.measure(program, line, &[], &options, &more, &file) {
                Ok(analysis) => return Ok((analysis, true)),
                Err(Obstacle::Interrupted) => return Err(Obstacle::Interrupted),
                // A program that can't be linked in this way is built as before.
                Err(Obstacle::Slow(_) | Obstacle::Other(_)) => {}
            }
        }
        let trees = self.build(second.as_deref())?;
        let file = self.file(program, "-again-as-before");
        let more = if program.is_timed { &[][..] } else { &filter[..] };
        let analysis = self.measure(program, second.as_deref(), &trees, &options, more, &file)?;
        Ok((analysis, false))
    }

    /// Builds everything. If that fails, leaves out the programs of build systems that fail, so
    /// that the others can still be measured. Returns the trees and the line that built them.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be built, or if the user interrupts.
    fn build_all(
        &mut self,
        measured: &mut Measured,
    ) -> anyhow::Result<(Vec<Built>, Option<String>)> {
        let line = line_of(&self.ways);
        let failed = match self.build(line.as_deref()) {
            Ok(trees) => return Ok((trees, line)),
            Err(error) if self.ways.len() < 2 => return Err(error),
            Err(error) => error,
        };
        let mut works = Vec::new();
        for way in self.ways.clone() {
            match self.build(line_of(std::slice::from_ref(&way)).as_deref()).map_err(Obstacle::from)
            {
                Ok(_) => works.push(way),
                Err(Obstacle::Interrupted) => return Err(interrupted()),
                Err(Obstacle::Slow(why) | Obstacle::Other(why)) => {
                    way.programs.iter().for_each(|own| measured.leave_out(own, &why, true));
                }
            }
        }
        if works.is_empty() || works.len() == self.ways.len() {
            return Err(failed);
        }
        self.ways = works;
        let line = line_of(&self.ways);
        Ok((self.build(line.as_deref())?, line))
    }

    fn build(&mut self, line: Option<&str>) -> anyhow::Result<Vec<Built>> {
        let names = ["base", "head"];
        let (quiet, mut trees) = (self.quiet, Vec::new());
        for (revision, name) in self.revisions.iter().zip(names) {
            let ready =
                self.repository.ready(revision, line.unwrap_or(NO_BUILD), None, &mut |stage| {
                    if !quiet && line.is_some() {
                        output::say(&staged(name, stage, None));
                    }
                });
            trees.push(ready.map_err(told)?);
        }
        Ok(trees)
    }

    /// Returns the reason why a built program is known to do the same in both revisions, if it is.
    fn is_identical(&self, program: &Program, trees: &[Built]) -> Option<&'static str> {
        let command = Command::parse(&program.command, false).ok()?;
        // A program from the settings may be a script that reads other files.
        if program.sources.is_empty() || !program.command.starts_with('.') {
            return None;
        }
        let paths: Vec<PathBuf> =
            trees.iter().map(|tree| tree.directory.join(&command.argv[0])).collect();
        let mut files = Fingerprints::default();
        let mut digest = |path: &PathBuf| files.digest(path.clone());
        let [base, head] = &paths[..] else { return None };
        if digest(base)? == digest(head)? {
            return Some(SAME_BYTES);
        }
        is_same_program(base, head).then_some(SAME_CODE)
    }

    /// Lists the benchmarks that both revisions have. Each run of the program is limited to
    /// `most_seconds`.
    fn list<'p>(
        &self,
        program: &'p Program,
        trees: &[Built],
        most_seconds: f64,
    ) -> Result<Listed<'p>, Obstacle> {
        if program.is_timed {
            return Ok(Listed {
                program,
                wanted: vec![String::new()],
                unreached: Vec::new(),
                seconds: 0.0,
            });
        }
        let mut command = Command::parse(&program.command, false).map_err(anyhow::Error::from)?;
        command.env.extend(program.variables());
        let directory = program.directory.as_deref().map(Path::new);
        let mut sides = Vec::new();
        for ((tree, revision), name) in trees.iter().zip(&self.revisions).zip(["base", "head"]) {
            let command = placed(found(&command, tree, revision)?, tree, directory);
            let name = name.to_owned();
            sides.push(Side { name, command, versus: None, libraries: vec![], builds: vec![] });
        }
        let began = Instant::now();
        let mut asker = Asker::start(Duration::from_secs_f64(most_seconds))?;
        let catalogue = match Catalogue::of(sides, &BenchmarkSelection::default(), &mut asker) {
            Err(_) if began.elapsed().as_secs_f64() >= most_seconds => {
                let most = assay_report::number::duration(most_seconds);
                return Err(Obstacle::Slow(format!(
                    "it takes more than {most} to list its benchmarks; raise --budget"
                )));
            }
            own => own?,
        };
        let seconds = began.elapsed().as_secs_f64();
        let common = catalogue.comparable();
        if common.is_empty() {
            let why = "the revisions have no benchmark in common".to_owned();
            return Err(Obstacle::Other(why));
        }
        let mut codes = Codes::of(&catalogue, &mut Fingerprints::default());
        let compared: Vec<[Option<String>; 2]> = common
            .iter()
            .map(|&one| [0, 1].map(|side| codes.digest(&catalogue, one, side)))
            .collect();
        // This suffices, because both revisions were built with the same line.
        let has_same_sources = has_same_sources(&catalogue);
        // The benchmarks are only run if their machine code is unknown or does not exist.
        let is_unknown = |own: &[Option<String>; 2]| own.contains(&None) && !has_same_sources;
        let unknown: Vec<usize> = common
            .iter()
            .zip(&compared)
            .filter_map(|(&one, own)| is_unknown(own).then_some(one))
            .collect();
        let executed =
            Executed::of(&catalogue, &unknown, (&mut asker, most_seconds), &mut |_, _| {})
                .map_err(anyhow::Error::from)?;
        let is_same = |&(&one, code): &(&usize, &[Option<String>; 2])| {
            let of = |side: usize| code[side].clone().or_else(|| executed.digest(one, side));
            has_same_sources || (of(0).is_some() && of(0) == of(1))
        };
        let (unreached, wanted): (Vec<_>, Vec<_>) = common.iter().zip(&compared).partition(is_same);
        let names = |of: Vec<(&usize, _)>| -> Vec<String> {
            of.iter().map(|(one, _)| catalogue.benchmarks[**one].name.clone()).collect()
        };
        Ok(Listed { program, wanted: names(wanted), unreached: names(unreached), seconds })
    }

    fn bench_words(&self, program: &Program, line: Option<&str>) -> Vec<String> {
        let [base, head] =
            self.revisions.each_ref().map(|own| own.commit.clone().unwrap_or_default());
        let mut words: Vec<String> =
            ["bench", "-n", "base", "-n", "head", "--rev"].map(str::to_owned).to_vec();
        words.extend([base, "--rev".to_owned(), head, "--build".to_owned()]);
        words.push(line.unwrap_or(NO_BUILD).to_owned());
        words.extend(["--program".to_owned(), program.command.clone()]);
        if let Some(directory) = &program.directory {
            words.extend(["--directory".to_owned(), directory.clone()]);
        }
        for (name, value) in program.variables() {
            words.extend(["--env".to_owned(), format!("{name}={value}")]);
        }
        words
    }

    /// Returns options that apply the same decision rule to every program.
    fn options(&self, confidence: f64, seconds: f64) -> Vec<String> {
        // `--confidence` accepts at most 99.99 %.
        let percent = format!("{:.6}%", (confidence * 100.0).min(99.99));
        let mut words = vec!["--confidence".to_owned(), percent];
        words.extend(["--time".to_owned(), format!("{seconds:.3}s")]);
        if let Some(threshold) = &self.threshold {
            words.extend(["--threshold".to_owned(), threshold.clone()]);
        }
        if let Some(metric) = &self.metric {
            words.extend(["--primary".to_owned(), metric.clone()]);
        }
        words
    }

    fn measure(
        &mut self,
        program: &Program,
        line: Option<&str>,
        trees: &[Built],
        options: &[String],
        more: &[String],
        file: &Path,
    ) -> Result<Analysis, Obstacle> {
        let mut words = match program.is_timed {
            false => self.bench_words(program, line),
            true => timed_words(trees),
        };
        words.extend(options.iter().chain(more).cloned());
        words.extend(["--quiet", "--save"].map(str::to_owned));
        let mut line: Vec<OsString> = vec![own::program()?.into()];
        line.extend(words.iter().map(|word| word_of(word)));
        line.push(file.into());
        if program.is_timed {
            let command = word_of(&program.command);
            line.extend(["--".into(), command.clone(), command]);
        }
        // A record of an earlier check would not be overwritten.
        let _absent = fs::remove_file(file);
        let ran = self.repository.run_here(line);
        if matches!(ran, Err(RevisionError::Interrupted)) {
            return Err(Obstacle::Interrupted);
        }
        // If only some benchmarks failed, the others have results.
        let samples = match (assay_file::read(file), ran) {
            (Ok(samples), Ok(())) => samples,
            (Ok(samples), Err(_))
                if !matches!(
                    samples.stop,
                    None | Some(StopReason::Interrupted | StopReason::Failed)
                ) =>
            {
                samples
            }
            (_, Err(error)) => return Err(error.into()),
            (Err(error), Ok(())) => return Err(anyhow::Error::from(error).into()),
        };
        let mut analysis = analyse(&samples, &Options::default()).map_err(anyhow::Error::from)?;
        // The working tree was measured, including its changes.
        analysis.findings.retain(|finding| !finding.is(code::UNCOMMITTED));
        Ok(analysis)
    }

    fn file(&self, program: &Program, more: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
        let name: String = program.name.chars().map(plain).take(80).collect();
        self.room.join(format!("{name}{more}.assay"))
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            output::say(line);
        }
    }
}

impl Measured {
    fn leave_out(&mut self, program: &Program, why: &str, is_failure: bool) {
        let program = program.name.clone();
        self.unmeasured.push(Unmeasured { program, why: why.to_owned(), is_failure });
    }
}

fn timed_words(trees: &[Built]) -> Vec<String> {
    let mut words = ["run", "-n", "base", "-n", "head"].map(str::to_owned).to_vec();
    for (number, tree) in trees.iter().enumerate() {
        words.extend(["--cwd".to_owned(), format!("{}:{}", number + 1, tree.directory.display())]);
    }
    words
}

fn interrupted() -> anyhow::Error {
    RunError::Interrupted("while measuring the benchmarks; there is no answer".to_owned()).into()
}

impl From<RevisionError> for Obstacle {
    fn from(error: RevisionError) -> Self {
        Self::Other(match error {
            RevisionError::Interrupted => return Self::Interrupted,
            RevisionError::Run { how, end, .. } => {
                let said = end.split_once("error: ").map(|(_, said)| first_sentence(said));
                said.unwrap_or_else(|| format!("its measurement {how}"))
            }
            other => other.to_string(),
        })
    }
}

impl From<anyhow::Error> for Obstacle {
    fn from(error: anyhow::Error) -> Self {
        if let Some(RevisionError::Build { revision, how, log, .. }) = error.downcast_ref() {
            let log = log.display();
            return Self::Other(format!("the build of {revision} {how}; its output is in {log}"));
        }
        match error.downcast_ref::<RunError>() {
            Some(RunError::Interrupted(_)) => Self::Interrupted,
            _ => Self::Other(first_sentence(&output::told(&error))),
        }
    }
}

/// Returns the first line of a message. If it announces a list, the indented items are appended.
fn first_sentence(message: &str) -> String {
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default().trim();
    if !first.ends_with(':') {
        return first.to_owned();
    }
    let items: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect();
    format!("{first} {}", items.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_a_message_announces_belongs_to_it() {
        assert_eq!(first_sentence("no such file\n\nUsage: x"), "no such file");
        let list = "nothing can be measured:\n  `a`: too slow\n  `b`: fails\nmore";
        assert_eq!(first_sentence(list), "nothing can be measured: `a`: too slow; `b`: fails");
    }
}
