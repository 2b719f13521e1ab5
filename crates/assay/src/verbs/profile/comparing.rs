//! Samples two programs alternately. Every run is one profile, and each function is judged like a
//! benchmark in a suite.

use super::sampling::{Sampling, Settings, ending, plan_of, take};
use super::{Args, SamplerArgs, exporting};
use crate::advice::{Dialect, spell};
use crate::args::{PageArgs, ShowArgs};
use crate::present::Showing;
use crate::present::pages::Extras;
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::Analysis;
use assay_data::list;
use assay_data::source::{Layout, Measured, Obstacle, Source, Turn};
use assay_data::{Environment, Metric, Plan, Samples, Unit};
use assay_measure::sampling::{ProcessEnd, Target};
use assay_measure::{Command, environment, interrupt};
use assay_profiles::runs::{Run, samples};
use assay_profiles::{Pairing, Profile, checks};
use assay_report::benchmarks::DisplayOptions;
use assay_report::profile::verdicts;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Default number of blocks, which is enough to decide on one function among about twenty.
pub(crate) const BLOCKS: u32 = 12;

/// Width of the range around the requested rate from which each run draws its own rate, as a
/// fraction of the requested rate. If a program does the same work in every run, a timer that
/// starts with it always hits the same places: the error of counting whole samples would be the
/// same in all runs, and no interval would cover it.
const VARIED: f64 = 0.1;

/// Samples both commands alternately, analyzes the samples, and shows the result.
pub(super) fn commands(args: &Args, both: [&Command; 2]) -> anyhow::Result<Ending> {
    if args.how.overhead {
        bail!("--overhead applies to a single program; leave out one of the two");
    }
    let can_be = |path: &&PathBuf| exporting::is_of_result(path) || exporting::is_picture(path);
    if let Some(path) = args.show.export.iter().find(|path| !can_be(path)) {
        bail!(
            "--export {}: for two commands, the result can be exported as .json, .md, .csv, .samples.csv or .assay, and a differential flame graph as .svg or .html; to export the profile of one, profile it by itself",
            path.display()
        );
    }
    let mut names = both.map(|command| list::line(&command.argv));
    if names[0] == names[1] {
        names[1] += " #2";
    }
    let samplers = samplers(&args.how.by, args.how.settings(), both, &names)?;
    let runs = args.how.runs.unwrap_or(BLOCKS);
    let plan =
        plan_of(args.how.seed, &args.judge, runs, args.judge.primary.as_deref().unwrap_or("self"));
    if let Some(told) = too_few(runs, plan.confidence).filter(|_| !args.show.quiet) {
        output::say(&told);
    }
    let Some(sampled) = alternately(samplers, both, &names, &plan, args.show.quiet)? else {
        return Ok(Ending::Interrupted);
    };
    let Alternated { samples: found, merged, endings, .. } = sampled;
    let mut suite = assay_analysis::analyse(&found, &args.judge.options())?;
    spell(Dialect::Profile, &mut suite.findings);
    let show = ShowArgs {
        json: args.show.json,
        export: args
            .show
            .export
            .iter()
            .filter(|path| !exporting::is_picture(path))
            .cloned()
            .collect(),
        verbose: false,
        pages: PageArgs { report: None, unredacted: false, plots: None },
        quiet: args.show.quiet,
        color: args.show.color,
    };
    let picture = verdicts::differential(&suite, [&merged[0], &merged[1]]);
    let written = exporting::pictures(&picture, &suite.findings, &args.show);
    let (dialect, rows) = (Dialect::Profile, DisplayOptions::default());
    let how = Showing { dialect, rows, show: &show, file: None };
    if args.show.json {
        present::present(how, &mut suite, &found)?;
    } else {
        present::export_all(how, &suite, &found, Extras::default())?;
        let focused = args.show.focus.as_ref().map(|text| only_named(&suite, text));
        let screen = present::screen(args.show.color);
        let shown = focused.as_ref().unwrap_or(&suite);
        output::print(&verdicts::render(shown, args.show.top, args.show.remarks(), &screen))?;
    }
    written?;
    Ok(match ending(args, &endings) {
        Ending::Fine => present::judge(&suite, &args.judge.fail_if),
        other => other,
    })
}

/// Finds the sampler for two commands.
///
/// # Errors
///
/// Returns an error if no sampler is found, or if the commands need different ones.
pub(crate) fn samplers(
    by: &SamplerArgs,
    settings: Settings,
    both: [&Command; 2],
    names: &[String; 2],
) -> anyhow::Result<[Sampling; 2]> {
    let of = |command| Sampling::of_command(by, settings, command);
    let samplers = [of(both[0])?, of(both[1])?];
    if samplers[0].place.sampler != samplers[1].place.sampler {
        bail!(
            "{} would be sampled by {} and {} by {}, and results of two samplers can't be compared; choose one for both with --sampler",
            names[0],
            samplers[0].place.sampler.name(),
            names[1],
            samplers[1].place.sampler.name()
        );
    }
    Ok(samplers)
}

/// The result of sampling two commands alternately.
pub(crate) struct Alternated {
    /// The seconds that each run spent in every function.
    pub samples: Samples,
    /// For each side, all runs merged into one profile. Matched files of the second side have the
    /// names of the first side's files.
    pub merged: [Profile; 2],
    /// For each side, the original file of each function whose file is known, by function name.
    pub files: [HashMap<String, String>; 2],
    /// How each run ended.
    pub endings: Vec<ProcessEnd>,
}

/// Samples both commands alternately. Returns `None` if the user interrupts before each has been
/// sampled once.
pub(crate) fn alternately(
    samplers: [Sampling; 2],
    commands: [&Command; 2],
    names: &[String; 2],
    plan: &Plan,
    quiet: bool,
) -> anyhow::Result<Option<Alternated>> {
    let environment = Environment::from_facts(environment::capture());
    let began = jiff::Timestamp::now();
    let sampler = samplers[0].place.sampler;
    let both = Both {
        samplers,
        commands,
        names,
        metrics: vec![Metric::lower("total", Unit::Second)],
        runs: Vec::new(),
        endings: Vec::new(),
    };
    let session = take(quiet, both, plan)?;
    if session.samples.complete_blocks(0).is_empty() {
        output::say("interrupted before both had been sampled once: there is nothing to compare");
        return Ok(None);
    }
    let Both { mut runs, endings, .. } = session.source;
    let files = [0, 1].map(|side| {
        let own = runs.iter().filter(|run| run.side == side);
        let frames = own.flat_map(|run| &run.profile.frames);
        frames.filter_map(|frame| Some((frame.name.clone(), frame.file.clone()?))).collect()
    });
    let of = |side| runs.iter().filter(move |run| run.side == side).map(|run| &run.profile);
    let pairing = Pairing::of(of(0), of(1));
    runs.iter_mut().filter(|run| run.side == 1).for_each(|run| pairing.apply(&mut run.profile));
    let mut found = samples(names, &runs);
    found.plan = Some(plan.clone());
    found.environment = environment;
    // An exported file records which sampler was used.
    found.environment.set("sampler", sampler.name());
    found.started = Some(began.to_string());
    found.argv = present::argv();
    let mut known = HashSet::new();
    let merged = [0, 1].map(|side| {
        let own: Vec<Profile> =
            runs.iter().filter(|run| run.side == side).map(|run| run.profile.clone()).collect();
        Profile::merged(&own).unwrap_or_default()
    });
    for (profile, name) in merged.iter().zip(names) {
        for finding in checks::findings(profile) {
            // A finding that applies to both sides is reported only once.
            if known.insert(finding.code.clone()) {
                found.findings.push(finding.about(name));
            }
        }
    }
    Ok(Some(Alternated { samples: found, merged, files, endings }))
}

/// Returns a warning if there are fewer runs than by default, which suffice to decide on only a few
/// functions: the smallest p-value of the test is 2^(1 - runs), and the functions share the allowed
/// error.
fn too_few(runs: u32, confidence: f64) -> Option<String> {
    let functions = ((1.0 - confidence) * 2f64.powf(f64::from(runs) - 1.0) + 1e-9).floor();
    let enough = match functions {
        0.0 => "too few for any verdict".to_owned(),
        n => format!("enough for verdicts on at most {n} functions"),
    };
    (runs < BLOCKS).then(|| format!("note: --runs {runs} is {enough}; the default is {BLOCKS}"))
}

/// Returns the analysis restricted to functions whose names contain `text`.
fn only_named(suite: &Analysis, text: &str) -> Analysis {
    let mut shown = suite.clone();
    let primary = suite.primary;
    for group in &mut shown.groups {
        let family = if group.metric == primary { &suite.comparisons } else { &suite.secondary };
        group.comparisons.retain(|&index| suite.row_of(&family[index]).name.contains(text));
    }
    shown
}

/// Two commands to be sampled. Each run yields only its total; the functions are evaluated
/// afterwards.
struct Both<'a> {
    samplers: [Sampling; 2],
    commands: [&'a Command; 2],
    names: &'a [String; 2],
    metrics: Vec<Metric>,
    runs: Vec<Run>,
    endings: Vec<ProcessEnd>,
}

impl Source for Both<'_> {
    type Error = anyhow::Error;

    fn layout(&self) -> Layout {
        Layout::of_names(self.names.iter().map(String::as_str))
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<anyhow::Error>> {
        let (side, sampler) = (turn.place, &self.samplers[turn.place]);
        let rate = sampler.rate * (1.0 - VARIED / 2.0 + VARIED * f64::from(turn.padding) / 4096.0);
        let target = Target::Command(self.commands[side]);
        let taken = sampler.sample_at(rate, target, &self.names[side]);
        if interrupt::count() > 0 {
            // An interrupted run is incomplete.
            return Err(Obstacle::Interrupted);
        }
        let taken = taken?;
        let amount = taken.profile.amount();
        let (block, position) = (turn.block, turn.position);
        self.runs.push(Run { side, block, position, profile: taken.profile });
        self.endings.push(taken.ended);
        Ok(Measured::values(vec![amount]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_runs_are_told_with_what_they_can_decide() {
        assert!(too_few(5, 0.95).is_some_and(|told| told.contains("too few for any verdict")));
        assert!(too_few(8, 0.95).is_some_and(|told| told.contains("at most 6 functions")));
        assert_eq!(too_few(12, 0.95), None);
    }
}
