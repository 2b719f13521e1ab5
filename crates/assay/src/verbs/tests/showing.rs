//! Shows the runs of suites: for a single suite its own screen, for several the verdicts on the
//! whole suites and on every test.

use super::options::{Flaky, SuiteRunArgs as Args};
use crate::advice::Dialect;
use crate::present::{self, Showing};
use crate::record::Record;
use crate::tests::Suite;
use crate::{Ending, output, whole_file};
use anyhow::Context;
use assay_analysis::engine::Session;
use assay_analysis::testing::{self, Testing};
use assay_data::{Samples, StopReason};
use assay_report::tests_run::advice::AdviceInput;
use assay_report::tests_run::{self, ScreenContent, junit};
use assay_suites::Run;
use assay_suites::run::Part;
use std::collections::BTreeMap;

/// Returns the hook or fixture with the longest total time among those that run once for several
/// tests.
fn longest_hook(run: &Run) -> Option<(String, f64)> {
    let mut all: BTreeMap<&str, f64> = BTreeMap::new();
    for span in run.spans.iter().filter(|span| span.part == Part::Hooks) {
        if let Some(name) = &span.group {
            *all.entry(name).or_default() += span.ended - span.began;
        }
    }
    let longest = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    longest.map(|(name, seconds)| (name.to_owned(), seconds))
}

/// Shows the measurements, and returns the outcome of the verb.
pub(super) fn show(
    args: &Args,
    session: &mut Session<'_, Suite<'_>, Record>,
) -> anyhow::Result<Ending> {
    let record = session.recorder.as_ref();
    let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.clone());
    let (samples, source) = (&session.samples, &session.source);
    if samples.is_empty() {
        if samples.stop == Some(StopReason::Interrupted) {
            output::say("interrupted before the first run was complete");
            return Ok(Ending::Interrupted);
        }
        return Ok(Ending::Fine);
    }
    let confidence = samples.plan.as_ref().map_or(0.95, |plan| plan.confidence);
    let found: Vec<Option<Testing>> =
        (0..samples.sides.len()).map(|side| testing::of_side(samples, side, confidence)).collect();
    let failing = match source.hung.is_empty() && !source.is_troubled() {
        true => ending_of(args, &found),
        false => Ending::CommandFailed,
    };
    if let (Some(path), Some(found)) = (&args.look.junit, found.iter().flatten().next_back()) {
        let side = samples.sides.len() - 1;
        let framework = source.told.get(side).cloned().flatten().unwrap_or_default();
        let text = junit::render(found, &framework, &said(source, " "));
        whole_file::write(path, |file| Ok(file.write_all(text.as_bytes())?))
            .with_context(|| format!("--junit {}", path.display()))?;
    }
    if samples.sides.len() < 2 {
        alone(args, samples, source, found.first().and_then(Option::as_ref), file.as_deref())?;
        return Ok(failing);
    }
    let mut options = args.judge.options();
    options.adjust = args.suite.adjust();
    let analysis = assay_analysis::analyse(samples, &options);
    if analysis.is_err() && samples.stop == Some(StopReason::Interrupted) {
        output::say("interrupted before the first run of every side was complete");
        return Ok(Ending::Interrupted);
    }
    let mut analysis = analysis.context("no suite was measured on both sides")?;
    let how = Showing {
        dialect: Dialect::Tests,
        rows: args.suite.shown(),
        show: &args.record.show,
        file: file.as_deref(),
    };
    present::present(how, &mut analysis, samples)?;
    let judged = args.same.ending(&analysis, present::judge(&analysis, &args.judge.fail_if));
    Ok(if judged == Ending::Fine { failing } else { judged })
}

/// Returns the exit status: a suite with failed tests ends like a command that failed.
fn ending_of(args: &Args, found: &[Option<Testing>]) -> Ending {
    let fails = found.iter().flatten().flat_map(|found| &found.failing);
    let counts = |always: bool| always || args.look.flaky == Flaky::Fail;
    if fails.into_iter().any(|test| counts(test.always())) {
        Ending::CommandFailed
    } else {
        Ending::Fine
    }
}

/// Returns the messages of failed tests, by their names; `between` joins their lines.
fn said(source: &Suite<'_>, between: &str) -> Vec<(String, String)> {
    let said = source.tests.iter().filter_map(|(name, about)| {
        let (_, message) = about.message.as_ref()?;
        Some((name.clone(), crate::tests::key_lines(message).join(between)))
    });
    said.collect()
}

/// Shows the screen of one suite, or its document.
fn alone(
    args: &Args,
    samples: &Samples,
    source: &Suite<'_>,
    found: Option<&Testing>,
    file: Option<&std::path::Path>,
) -> anyhow::Result<()> {
    let show = &args.record.show;
    if show.writes_documents() {
        let options = args.judge.options();
        let mut analysis = assay_analysis::analyse(samples, &options)?;
        let how = Showing { dialect: Dialect::Tests, rows: args.suite.shown(), show, file };
        if show.json {
            return present::present(how, &mut analysis, samples);
        }
        present::export_all(how, &analysis, samples, Default::default())?;
    }
    let Some(found) = found else { return Ok(()) };
    let order = source.order.map(|seed| format!(", in random orders of seed {seed}"));
    let said = said(source, "\n");
    let framework = source.told.first().and_then(Clone::clone).unwrap_or_default();
    let mut findings = samples.findings.clone();
    crate::advice::spell(Dialect::Tests, &mut findings);
    let command = source.sides.first().map_or_else(String::new, crate::tests::Side::line);
    let hook = source.last.first().and_then(Option::as_ref).and_then(|ran| longest_hook(&ran.run));
    let asked = AdviceInput {
        framework: &framework,
        command: &command,
        processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        longest_hook: hook.as_ref().map(|(name, seconds)| (name.as_str(), *seconds)),
    };
    let shown = ScreenContent {
        asked,
        framework: &framework,
        tests: args.look.number,
        order: order.as_deref().unwrap_or_default(),
        said: &said,
        findings: &findings,
        remarks: show.remarks(),
    };
    output::print(&tests_run::render(found, &shown, &present::screen(show.color)))
}
