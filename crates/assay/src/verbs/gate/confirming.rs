//! `assay gate --confirm`: if a benchmark is worse, measures the last normal revision and the new
//! one alternately.
//!
//! A child process, `assay bench` or `assay run`, does this, and ends with this one. Without
//! `--confirm`, a command line for measuring both is given as advice. If the revisions cannot be
//! measured, the alarm is unchanged.

use super::Args;
use super::candidates::Judging;
use super::measured::{Measured, Ran, query};
use crate::output;
use crate::own;
use crate::revisions::{self, NO_BUILD, staged};
use crate::run_error::RunError;
use anyhow::Context;
use assay_analysis::history::gate::{Confirmation, Fresh, Gate, Judged, Standing, can_confirm};
use assay_analysis::history::short;
use assay_analysis::{Analysis, Comparison, Options, analyse, machine};
use assay_data::{Action, Environment, Finding, Invocation, StopReason, assay_file};
use assay_measure::revisions::RevisionError;
use assay_measure::{environment, git, interrupt, word_of};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Everything that is needed to confirm an alarm.
pub(super) struct Confirming<'a> {
    pub args: &'a Args,
    pub judging: &'a Judging,
    /// The name that each judged benchmark had when it was measured.
    pub names: &'a [String],
}

/// Two revisions of one repository: the last normal one and the new one.
struct Pair {
    old: String,
    new: String,
}

/// The reason why the revisions cannot be measured again.
type Why = String;

impl Confirming<'_> {
    /// Confirms the alarms if requested. Otherwise returns the command line, if there is one, that
    /// would measure the benchmarks with alarms or, without alarms, the inconclusive ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the user interrupts.
    pub fn run(&self, gate: &mut Gate) -> anyhow::Result<Option<String>> {
        let worse = |judged: &Judged| judged.standing == Standing::Worse || judged.stands_out;
        if self.args.confirm.confirm {
            self.confirm(gate, &places(gate, worse))?;
            return Ok(None);
        }
        let alarms = places(gate, worse);
        let wanted = match alarms.is_empty() {
            true => places(gate, |judged| judged.standing == Standing::Inconclusive),
            false => alarms,
        };
        let Some(&first) = wanted.first() else { return Ok(None) };
        let Some(line) = self.line(gate, first, &wanted) else { return Ok(None) };
        gate.findings.push(can_confirm());
        Ok(Some(line))
    }

    fn confirm(&self, gate: &mut Gate, alarms: &[usize]) -> anyhow::Result<()> {
        if alarms.is_empty() {
            return Ok(());
        }
        interrupt::install()?;
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut found: BTreeMap<usize, Result<Fresh, Why>> = BTreeMap::new();
        let known = self.known();
        for &place in alarms {
            match known.as_ref().map_err(Clone::clone).and_then(|_| self.pair(&gate.judged[place]))
            {
                Ok(pair) => groups.entry(pair.old).or_default().push(place),
                Err(why) => drop(found.insert(place, Err(why))),
            }
        }
        // The child processes report no findings about this machine.
        let here = Environment::from_facts(environment::capture());
        if let Some(finding) = machine::runner(&here).filter(|_| !groups.is_empty()) {
            self.say(&assay_report::findings::line(&finding));
            gate.findings.push(finding);
        }
        for (old, places) in groups {
            let (Ok(how), Ok(new)) = (&known, self.new_revision()) else { continue };
            let pair = Pair { old, new };
            for (place, fresh) in self.measure(gate, how, &pair, &places)? {
                found.insert(place, fresh);
            }
        }
        for (place, fresh) in found {
            let judged = &gate.judged[place];
            let against = judged.last_normal.as_ref().map(|revision| revision.commit.clone());
            let revision = self.new_revision().ok();
            gate.settle(place, Confirmation { against, revision, fresh });
        }
        Ok(())
    }

    /// Returns how the run was measured, or the reason why it cannot be measured again on this
    /// machine.
    fn known(&self) -> Result<Measured, Why> {
        let judging = self.judging;
        if self.args.beside.machine.is_none() {
            let here = Environment::from_facts(environment::capture());
            let of = |environment: &Environment| environment.text("hostname").map(str::to_owned);
            if let (Some(there), Some(here)) = (of(&judging.samples.environment), of(&here))
                && there != here
            {
                return Err(format!(
                    "{} was measured on {there}, and this is {here} (if the host name changes, use --machine NAME)",
                    judging.name
                ));
            }
        }
        let said = |error: anyhow::Error| output::told(&error);
        if !self.args.confirm.words.is_empty() {
            return Measured::of(&self.args.confirm.words, None).map_err(said);
        }
        let words = judging.argv().get(1..).unwrap_or_default();
        if words.is_empty() {
            return Err(format!(
                "it is not known how {} was measured; give the command after --, as in `-- bench build/bm`",
                judging.name
            ));
        }
        if !judging.samples.left_out().is_empty() {
            return Err(format!(
                "{} is anonymous, and its command line is incomplete",
                judging.name
            ));
        }
        let top = git::top(Path::new("."));
        Measured::of(words, top.as_deref()).map_err(|error| {
            format!(
                "{} was measured in a way that does not work for two revisions: {}",
                judging.name,
                output::told(&error)
            )
        })
    }

    /// Returns the new revision in a form that git accepts; `.` is the working tree.
    fn new_revision(&self) -> Result<String, Why> {
        if let Some(named) = &self.args.confirm.rev {
            return Ok(named.clone());
        }
        let judging = self.judging;
        let commit = judging.commit().ok_or_else(|| {
            format!("it is not known which revision {} measured; name it with --rev", judging.name)
        })?;
        let dirty = judging.samples.environment.flag("git_dirty").unwrap_or(false)
            || judging.kept.as_ref().is_some_and(|run| run.changed);
        match commit.strip_suffix("-dirty") {
            None if !dirty => Ok(commit),
            plain => {
                // The uncommitted changes may still be there.
                let here = git::position(Path::new("."), "HEAD");
                let is_here =
                    here.is_some_and(|h| Some(h.commit.as_str()) == plain.or(Some(&commit)));
                is_here.then(|| ".".to_owned()).ok_or_else(|| {
                    format!("{} was measured with uncommitted changes", judging.name)
                })
            }
        }
    }

    /// Returns the two revisions to measure for one benchmark.
    fn pair(&self, judged: &Judged) -> Result<Pair, Why> {
        let new = self.new_revision()?;
        if judged.benchmark.role > 0 {
            return Err("its run compared two builds that are not revisions".to_owned());
        }
        let old = judged.last_normal.as_ref().ok_or("no normal run has a revision")?;
        let here = Path::new(".");
        let place = |name: &str| {
            git::position(here, if name == "." { "HEAD" } else { name })
                .ok_or_else(|| format!("git knows no commit {} here", short(name)))
        };
        let (old, at) = (place(&old.commit)?, place(&new)?);
        if old.commit == at.commit && new != "." {
            return Err(format!(
                "the last normal run measured the same commit, {}: the machine changed, not the code",
                short(&old.commit)
            ));
        }
        Ok(Pair { old: old.commit, new: if new == "." { new } else { at.commit } })
    }

    /// Returns the shell line that builds a revision.
    fn build<'a>(&'a self, how: &'a Measured) -> &'a str {
        let recorded = match how {
            Measured::Bench { build, .. } => build.as_deref(),
            Measured::Run { .. } => None,
        };
        self.args.confirm.build.as_deref().or(recorded).unwrap_or(NO_BUILD)
    }

    /// Returns the arguments of `assay bench` that measure the benchmarks at `places` in both
    /// revisions.
    fn bench(&self, gate: &Gate, how: &Measured, pair: &Pair, places: &[usize]) -> Vec<String> {
        let Measured::Bench { program, options, passed, .. } = how else { return Vec::new() };
        let words = ["bench", "--rev", &pair.old, "--rev", &pair.new, "--build", self.build(how)];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words.extend(["--program".to_owned(), program.clone()]);
        let mut names: Vec<&str> = places.iter().map(|&p| self.names[p].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        words.extend(["--filter".to_owned(), query(&names)]);
        words.extend(options.iter().cloned());
        words.extend(self.deciding(gate, places));
        if !passed.is_empty() {
            words.push("--".to_owned());
            words.extend(passed.iter().cloned());
        }
        words
    }

    /// Returns options that carry over the gate's metrics, threshold and time budget.
    fn deciding(&self, gate: &Gate, places: &[usize]) -> Vec<String> {
        let mut metrics: Vec<&str> = Vec::new();
        for &place in places {
            let name = gate.judged[place].metric.name.as_str();
            if !metrics.contains(&name) {
                metrics.push(name);
            }
        }
        let (first, rest) = metrics.split_first().unwrap_or((&"wall", &[]));
        let mut words = vec!["--primary".to_owned(), (*first).to_owned()];
        if !rest.is_empty() {
            words.extend(["--secondary".to_owned(), rest.join(",")]);
        }
        let threshold = format!("{:.6}", gate.asked.threshold * 100.0);
        let threshold = threshold.trim_end_matches('0').trim_end_matches('.');
        words.extend(["--threshold".to_owned(), format!("{threshold}%")]);
        if let Some(time) = self.args.confirm.time {
            words.extend(["--time".to_owned(), format!("{time}s")]);
        }
        words
    }

    /// Returns the command line to advise, if there is one: `assay bench` for the benchmarks at
    /// `places`, or `assay bisect` for the command at `first`.
    fn line(&self, gate: &Gate, first: usize, places: &[usize]) -> Option<String> {
        let how = self.known().ok()?;
        let pair = self.pair(&gate.judged[first]).ok()?;
        let of_people = |name: &str| short(name).to_owned();
        let pair = Pair { old: of_people(&pair.old), new: of_people(&pair.new) };
        let words = match &how {
            Measured::Bench { .. } => self.bench(gate, &how, &pair, places),
            Measured::Run { commands } if pair.new != "." => {
                let command = ran(commands, &self.names[first])?;
                let mut words = vec!["bisect".to_owned(), format!("{}..{}", pair.old, pair.new)];
                let line = self.build(&how);
                if line != NO_BUILD {
                    words.extend(["--build".to_owned(), line.to_owned()]);
                }
                words.extend(self.deciding(gate, &[first]));
                words.push("--".to_owned());
                match &command.shell {
                    Some(shell) => words.extend([shell.clone(), "-c".into(), command.text.clone()]),
                    None => words.extend(shell_words::split(&command.text).ok()?),
                }
                words
            }
            Measured::Run { .. } => return None,
        };
        Some(format!("assay {}", shell_words::join(words)))
    }

    /// Measures the benchmarks at `places` in both revisions.
    fn measure(
        &self,
        gate: &Gate,
        how: &Measured,
        pair: &Pair,
        places: &[usize],
    ) -> anyhow::Result<Vec<(usize, Result<Fresh, Why>)>> {
        let mut found = Vec::new();
        let mut parts: Vec<Vec<usize>> = vec![places.to_vec()];
        if matches!(how, Measured::Run { .. }) {
            // Each command is a separate experiment.
            parts = places.iter().map(|&place| vec![place]).collect();
        }
        for part in parts {
            let labels: Vec<String> = part
                .iter()
                .map(|&place| format!("`{}`", gate.label(&gate.judged[place])))
                .collect();
            self.say(&format!(
                "confirming {}: measuring {} and {} alternately",
                labels.join(", "),
                short(&pair.new),
                short(&pair.old)
            ));
            let fresh = match self.fresh(gate, how, pair, &part) {
                Ok(analysis) => Ok(analysis),
                Err(Obstacle::Interrupted) => {
                    let why = "while an alarm was being confirmed";
                    return Err(RunError::Interrupted(why.to_owned()).into());
                }
                Err(Obstacle::Other(why)) => Err(why),
            };
            for place in part {
                let name = &self.names[place];
                let own = fresh.as_ref().map_err(Clone::clone).and_then(|analysis| {
                    said_of(analysis, how, name, &gate.judged[place])
                        .ok_or_else(|| format!("the fresh run has no {name} on both revisions"))
                });
                found.push((place, own));
            }
        }
        Ok(found)
    }

    fn fresh(
        &self,
        gate: &Gate,
        how: &Measured,
        pair: &Pair,
        places: &[usize],
    ) -> Result<Analysis, Obstacle> {
        let mut repository = revisions::repository()?;
        let room = tempfile::tempdir().context("a temporary directory")?;
        let file = room.path().join("fresh.assay");
        let mut words: Vec<OsString> = vec![own::program()?.into()];
        let mut trees = Vec::new();
        let measured: Vec<String> = match how {
            Measured::Bench { .. } => self.bench(gate, how, pair, places),
            Measured::Run { commands } => {
                let name = &self.names[places[0]];
                let command = ran(commands, name)
                    .ok_or_else(|| format!("it is not known which command {name} is"))?;
                for written in [&pair.old, &pair.new] {
                    let revision = repository.revision(written)?;
                    let line = self.build(how);
                    let ready = repository.ready(&revision, line, None, &mut |stage| {
                        if line != NO_BUILD {
                            self.say(&staged(short(written), stage, None));
                        }
                    })?;
                    trees.push(ready);
                }
                let mut words = vec!["run".to_owned()];
                for (number, tree) in trees.iter().enumerate() {
                    let cwd = command
                        .cwd
                        .as_ref()
                        .map_or_else(|| tree.directory.clone(), |below| tree.directory.join(below));
                    words.push(format!("--cwd={}:{}", number + 1, cwd.display()));
                }
                words.extend(["-n", "normal", "-n", "new"].map(str::to_owned));
                words.extend(command.options.iter().cloned());
                words.extend(self.deciding(gate, places));
                words.extend(["--".to_owned(), command.text.clone(), command.text.clone()]);
                words
            }
        };
        let (verb, rest) = measured.split_first().context("a verb")?;
        words.extend([verb.into(), "--quiet".into(), "--save".into(), file.clone().into()]);
        words.extend(rest.iter().map(|word| word_of(word)));
        repository.run_here(words)?;
        let samples = assay_file::read(&file).map_err(anyhow::Error::from)?;
        if matches!(samples.stop, Some(StopReason::Interrupted | StopReason::Failed)) {
            return Err(Obstacle::Other("the fresh run was not measured to its end".to_owned()));
        }
        Ok(analyse(&samples, &Options::default()).map_err(anyhow::Error::from)?)
    }

    fn say(&self, line: &str) {
        if !self.args.beside.look.quiet {
            output::say(line);
        }
    }
}

fn places(gate: &Gate, of: impl Fn(&Judged) -> bool) -> Vec<usize> {
    (0..gate.judged.len()).filter(|&place| of(&gate.judged[place])).collect()
}

/// Returns the command that a benchmark of this name measured.
fn ran<'a>(commands: &'a [Ran], name: &str) -> Option<&'a Ran> {
    commands.iter().find(|command| command.is_called(name, commands.len() == 1))
}

/// Returns the result of the fresh run for the judged benchmark and metric.
fn said_of(analysis: &Analysis, how: &Measured, name: &str, judged: &Judged) -> Option<Fresh> {
    let is_own = |comparison: &&Comparison| {
        let row = matches!(how, Measured::Run { .. }) || analysis.row_of(comparison).name == name;
        row && analysis.metrics[comparison.metric].name == judged.metric.name
    };
    let found = analysis.comparisons.iter().chain(&analysis.secondary).find(is_own)?;
    Some(Fresh { verdict: found.decision.verdict, ratio: found.ratio })
}

/// Adds the command line to every advice to measure both revisions in blocks.
pub(super) fn name_line<'a>(line: &str, findings: impl IntoIterator<Item = &'a mut Finding>) {
    let advice = findings.into_iter().flat_map(|finding| &mut finding.advice);
    for advice in advice.filter(|advice| advice.action == Action::MeasureInBlocks) {
        advice.how = Some(Invocation::Command(line.to_owned()));
    }
}

/// The reason why there is no fresh run.
enum Obstacle {
    /// The user interrupted.
    Interrupted,
    /// There is another reason; the alarm is unchanged.
    Other(Why),
}

impl From<RevisionError> for Obstacle {
    fn from(error: RevisionError) -> Self {
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        Self::Other(match error {
            RevisionError::Interrupted => return Self::Interrupted,
            RevisionError::Run { how, end, .. } => {
                let said = end.lines().find_map(|line| line.trim_start().strip_prefix("error: "));
                said.map_or_else(|| format!("the fresh run {how}"), str::to_owned)
            }
            RevisionError::Build { revision, how, log, .. } => {
                format!("the build line of {} {how} ({})", short(&revision), log.display())
            }
            other => first(&other.to_string()),
        })
    }
}

impl From<anyhow::Error> for Obstacle {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast_ref::<RunError>() {
            Some(RunError::Interrupted(_)) => Self::Interrupted,
            _ => Self::Other(output::told(&error).lines().next().unwrap_or_default().to_owned()),
        }
    }
}

impl From<String> for Obstacle {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}
