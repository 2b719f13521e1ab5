//! Two programs, sampled by turns: every run is one profile, every function a question, decided as a suite of benchmarks is.

use super::sampling::{Source, end_telling, ending, name_of, plan_of, tell};
use super::{Args, exporting};
use crate::args::{PageArgs, ShowArgs};
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::benchmarks::{self, Adjust};
use assay_analysis::design::{Experiment, Step};
use assay_data::Environment;
use assay_measure::sampling::Target;
use assay_measure::{Command, environment, interrupt};
use assay_profiles::runs::{Run, samples};
use assay_profiles::{Profile, checks};
use assay_report::benchmarks::Shown;
use assay_report::profile::verdicts;
use std::collections::HashSet;
use std::path::PathBuf;

/// Blocks unless another number is asked for: enough that one function of some twenty can be told apart.
const BLOCKS: u32 = 12;

/// Every run has a rate of its own, from so much below to so much above the one that was asked for, together this share of it. A program that
/// does the same in every run is hit at the same places by a timer that starts with it: the error of counting whole samples would be the
/// same in all runs, and no interval would hold it.
const VARIED: f64 = 0.1;

/// Samples both by turns, decides, shows.
pub(super) fn commands(args: &Args, both: [&Command; 2]) -> anyhow::Result<Ending> {
    if args.how.overhead {
        bail!("--overhead is about one program; leave one of the two out");
    }
    let can_be = |path: &&PathBuf| exporting::is_of_result(path) || exporting::is_picture(path);
    if let Some(path) = args.show.export.iter().find(|path| !can_be(path)) {
        bail!(
            "--export {}: of two commands there is a result to write, as .json, .md, .csv, .samples.csv or .assay, and a differential flame graph, as .svg or .html; a profile of one is written when it is profiled by itself",
            path.display()
        );
    }
    let mut names = both.map(name_of);
    if names[0] == names[1] {
        names[1] += " #2";
    }
    let sources = [Source::of_command(args, both[0])?, Source::of_command(args, both[1])?];
    if sources[0].place.sampler != sources[1].place.sampler {
        bail!(
            "{} would be sampled by {} and {} by {}, and what two samplers see can't be compared; --sampler names one for both",
            names[0],
            sources[0].place.sampler.name(),
            names[1],
            sources[1].place.sampler.name()
        );
    }
    let blocks = args.how.runs.unwrap_or(BLOCKS);
    let plan = plan_of(args, blocks, args.judge.primary.as_deref().unwrap_or("self"));
    let environment = Environment::from_facts(environment::capture());
    let mut experiment = Experiment::new(plan.clone(), 2);
    let (mut runs, mut endings) = (Vec::new(), Vec::new());
    let began = jiff::Timestamp::now();
    loop {
        let turn = experiment.next_turn();
        tell(args, turn.block, blocks);
        let source = &sources[turn.subject];
        let rate = source.rate * (1.0 - VARIED / 2.0 + VARIED * f64::from(turn.padding) / 4096.0);
        let target = Target::Command(both[turn.subject]);
        let taken = source.sample_at(rate, target, &names[turn.subject]);
        if interrupt::count() > 0 {
            // The block that was interrupted has no partner.
            break;
        }
        let taken = taken?;
        let amount = taken.profile.amount();
        let (block, position) = (turn.block, turn.position);
        runs.push(Run { side: turn.subject, block, position, profile: taken.profile });
        endings.push(taken.ended);
        if let Step::Stop(_) = experiment.observe(turn, amount, 0.0) {
            break;
        }
    }
    end_telling(args);
    if experiment.blocks() == 0 {
        output::say("interrupted before both had been sampled once: there is nothing to compare");
        return Ok(Ending::Interrupted);
    }
    let mut found = samples(&names, &runs);
    found.plan = Some(plan);
    found.environment = environment;
    // A file of these is read by other verbs, which call their rows so too.
    found.environment.set("row_is", "function");
    found.environment.set("sampler", sources[0].place.sampler.name());
    found.started = Some(began.to_string());
    found.argv = present::argv();
    let mut known = HashSet::new();
    let merged = [0, 1].map(|side| {
        let own: Vec<Profile> =
            runs.iter().filter(|run| run.side == side).map(|run| run.profile.clone()).collect();
        Profile::merged(&own).unwrap_or_default()
    });
    for (profile, name) in merged.iter().zip(&names) {
        for finding in checks::findings(profile) {
            // What holds for both is said once.
            if known.insert(finding.code.clone()) {
                found.findings.push(finding.about(name));
            }
        }
    }
    let mut suite = benchmarks::analyse(&found, &args.judge.options(), Adjust::Holm, None)?;
    for finding in &mut suite.findings {
        // What is advised there are options of other verbs.
        let advice = finding.next_step.as_deref().unwrap_or_default();
        if advice.contains("--primary cpu") {
            finding.next_step =
                Some("stop other work, or sample by CPU time: --clock cpu".to_owned());
        } else if advice.contains("--filter") {
            finding.next_step = Some("take more runs (--runs)".to_owned());
        }
    }
    let show = ShowArgs {
        json: args.show.json,
        export: args
            .show
            .export
            .iter()
            .filter(|path| !exporting::is_picture(path))
            .cloned()
            .collect(),
        pages: PageArgs { report: None, plots: None },
        quiet: args.show.quiet,
        color: args.show.color,
    };
    let picture = verdicts::differential(&suite, [&merged[0], &merged[1]]);
    let written = exporting::pictures(&picture, &suite.findings, &args.show);
    if args.show.json {
        present::suite::present(&suite, &found, Shown::default(), &show, None)?;
    } else {
        present::suite::export_all(&suite, &found, Shown::default(), &show)?;
        let mut shown = suite.clone();
        if let Some(text) = &args.show.focus {
            for table in &mut shown.tables {
                let names = &suite.benchmarks;
                table.rows.retain(|row| names[row.benchmark].name.contains(text.as_str()));
            }
        }
        let screen = present::screen(args.show.color);
        output::print(&verdicts::render(&shown, args.show.top, &screen))?;
    }
    written?;
    let decided = suite.primary_tables().flat_map(|table| &table.rows).map(|row| &row.comparison);
    Ok(match ending(args, &endings) {
        Ending::Fine => present::judge_all(decided, &args.judge.fail_if),
        other => other,
    })
}
