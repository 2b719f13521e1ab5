//! The last steps of every verb that reaches a verdict: shows the analysis, writes the exports, and
//! turns verdicts into an exit status.

pub(crate) mod pages;

use crate::advice::{Dialect, name_file, spell};
use crate::args::{FailIf, ShowArgs};
use crate::raw_form::RawForm;
use crate::{Ending, output, whole_file};
use anyhow::{Context, bail};
use assay_analysis::overview::{self, Overview};
use assay_analysis::protocol::Protocol;
use assay_analysis::{Analysis, Role, Verdict};
use assay_data::code::RECORDINGS_ALTERNATE;
use assay_data::export::{Escapes, plain_text};
use assay_data::unit::Unit;
use assay_data::{Action, Design, Finding, Metric, Samples, StopReason};
use assay_history::without_password;
use assay_measure::text_of;
use assay_report::benchmarks::DisplayOptions;
pub(crate) use assay_report::console::output::screen;
use assay_report::console::outputs::{self, OutputFile};
use assay_report::json::{Decision, Meta, Rigorous};
use assay_report::{csv, json, markdown, protocol, terminal};
use pages::Extras;
use std::path::{Path, PathBuf};

/// Name and version, as written to files and reports.
pub(crate) const TOOL: &str = concat!("assay ", env!("CARGO_PKG_VERSION"));

/// Returns the command line for recordings and reports. Invalid UTF-8 is replaced, and database
/// passwords are removed.
pub(crate) fn argv() -> Vec<String> {
    std::env::args_os().map(|word| without_password(&text_of(&word))).collect()
}

/// Checks before measuring that the files named by `--export`, `--report`, `--plots` and the verb's
/// `own` options can be written in a known format, and that none of them overwrites an input or the
/// file `kept` in which the run is recorded.
pub(crate) fn check_exports(
    show: &ShowArgs,
    inputs: &[PathBuf],
    kept: Option<&Path>,
    own: &[OutputFile<'_>],
) -> anyhow::Result<()> {
    let exports = show.export.iter().map(|path| ("--export", path.as_path(), "result.md"));
    let page = show.pages.report.as_deref().map(|path| ("--report", path, "report.html"));
    let wanted: Vec<_> = exports.chain(page).chain(own.iter().copied()).collect();
    // Whether the record can be written is checked elsewhere, because it may hold measurements.
    let named = wanted.iter().map(|&(option, path, _)| (option, path));
    let all: Vec<_> = kept.map(|path| ("--save", path)).into_iter().chain(named).collect();
    outputs::check_distinct(inputs, &all)?;
    outputs::check(&[], &wanted)?;
    show.export.iter().try_for_each(|path| form_of(path).map(|_| ()))?;
    pages::check(&show.pages)
}

/// Checks before measuring that every export can hold the protocol, or contains only samples.
pub(crate) fn check_protocol_exports(show: &ShowArgs) -> anyhow::Result<()> {
    for path in &show.export {
        if matches!(form_of(path)?, Form::Summary) {
            anyhow::bail!(
                "--export {}: this table has one row per subject and no room for the four-step check; export .md or .json, or \
                 leave out --rigorous",
                path.display()
            );
        }
    }
    Ok(())
}

/// How an analysis is presented: its wording, the rows shown, and the file that stores the samples.
#[derive(Clone, Copy)]
pub(crate) struct Showing<'a> {
    pub dialect: Dialect,
    /// Which rows of a suite are shown, and in which order.
    pub rows: DisplayOptions,
    pub show: &'a ShowArgs,
    /// Path of the file that stores the samples.
    pub file: Option<&'a Path>,
}

/// Shows an analysis and writes its exports.
pub(crate) fn present(
    how: Showing<'_>,
    analysis: &mut Analysis,
    samples: &Samples,
) -> anyhow::Result<()> {
    how.spell(analysis);
    // A failing export must not prevent the output on the terminal, nor the other way around.
    let exported = export_all(how, analysis, samples, Extras::default());
    if how.show.json {
        let meta = meta_of(how.dialect.verb(), samples, how.file);
        output::print(&json::text(&json::Decision::of(analysis, &meta))?)?;
    } else {
        let rows = DisplayOptions { remarks: how.show.remarks(), ..how.rows };
        output::print(&terminal::render(analysis, rows, &screen(how.show.color)))?;
        how.say_how_to_go_on(analysis);
    }
    exported
}

impl Showing<'_> {
    /// Words the advice for this verb, and adds the name of the file. Advice to decide by a metric
    /// is dropped if that metric was not measured or is already the deciding one.
    fn spell(&self, analysis: &mut Analysis) {
        let Analysis { findings, metrics, primary, .. } = analysis;
        for finding in &mut *findings {
            finding.advice.retain(|advice| match &advice.action {
                Action::DecideBy { metric } => {
                    let place = metrics.iter().position(|own| own.name == *metric);
                    place.is_some_and(|place| place != *primary)
                }
                _ => true,
            });
        }
        spell(self.dialect, findings);
        if let Some(file) = self.file {
            name_file(file, &mut analysis.findings);
        }
    }

    /// Prints where an interrupted run is recorded, and how to continue it.
    fn say_how_to_go_on(&self, analysis: &Analysis) {
        let measures = matches!(self.dialect, Dialect::Run | Dialect::Bench | Dialect::Tests);
        if let Some(path) = self.file.filter(|_| measures && !self.show.quiet)
            && analysis.stop == Some(StopReason::Interrupted)
        {
            let (verb, path) = (self.dialect.verb(), path.display());
            output::say(&format!("recorded in {path}; to continue: assay {verb} --resume {path}"));
        }
    }
}

/// Like [`present`], but for series without a comparison, which take one line each on the terminal.
pub(crate) fn numbers(
    how: Showing<'_>,
    analysis: &mut Analysis,
    samples: &Samples,
) -> anyhow::Result<()> {
    if how.show.json {
        return present(how, analysis, samples);
    }
    how.spell(analysis);
    let exported = export_all(how, analysis, samples, Extras::default());
    let primary = &analysis.metrics[analysis.primary].name;
    let found = overview::of_samples(samples, Some(primary), analysis.plan.confidence)?;
    let found = Overview { findings: analysis.findings.clone(), ..found };
    let full = |path: &Path| format!("assay describe --all {}", path.display());
    let more = how.file.map(full).unwrap_or_default();
    let remarks = how.show.remarks();
    output::print(&assay_report::overview::render(
        &found,
        &more,
        remarks,
        &screen(how.show.color),
    ))?;
    how.say_how_to_go_on(analysis);
    exported
}

/// Writes every requested export, page and chart, and returns the first error.
pub(crate) fn export_all(
    how: Showing<'_>,
    analysis: &Analysis,
    samples: &Samples,
    extras: Extras<'_>,
) -> anyhow::Result<()> {
    let meta = meta_of(how.dialect.verb(), samples, how.file);
    let chains = extras.protocol;
    let exported = how.show.export.iter().map(|path| {
        let form = form_of(path)?;
        whole_file::write(path, |mut file| {
            match form {
                Form::Json => file.write_all(report(analysis, chains, &meta)?.as_bytes())?,
                Form::Markdown => {
                    let mut text = markdown::render(analysis, how.rows);
                    protocol::add_to_markdown(&mut text, analysis, chains);
                    file.write_all(text.as_bytes())?;
                }
                Form::Summary => {
                    file.write_all(plain_text(&csv::render(analysis), Escapes::Text).as_bytes())?;
                }
                Form::Raw(form) => form.write(samples, &mut file)?,
            }
            Ok(())
        })
        .with_context(|| format!("--export {}", path.display()))
    });
    let mut exported: Vec<_> = exported.collect();
    exported.push(pages::write(how, analysis, samples, extras, &meta));
    exported.into_iter().collect()
}

/// Returns the result as JSON, with the four steps if they were requested.
fn report(analysis: &Analysis, chains: &[Protocol], meta: &Meta) -> anyhow::Result<String> {
    let rigorous = (!chains.is_empty()).then(|| Rigorous::new(analysis, chains));
    Ok(json::text(&Decision { rigorous, ..json::Decision::of(analysis, meta) })?)
}

/// Shows the protocol, and writes the exports of the analysis. JSON output contains both.
pub(crate) fn protocol(
    how: Showing<'_>,
    analysis: &mut Analysis,
    samples: &Samples,
    chains: &mut [Protocol],
) -> anyhow::Result<()> {
    spell(how.dialect, &mut analysis.findings);
    chains.iter_mut().for_each(|chain| spell(how.dialect, chain.findings_mut()));
    let extras = Extras { protocol: chains, ..Extras::default() };
    let exported = export_all(how, analysis, samples, extras);
    if how.show.json {
        let meta = meta_of(how.dialect.verb(), samples, how.file);
        output::print(&report(analysis, chains, &meta)?)?;
    } else {
        output::print(&protocol::render(analysis, chains, &screen(how.show.color)))?;
    }
    exported
}

/// Returns the part of a report that does not depend on the analysis.
pub(crate) fn meta_of(verb: &str, samples: &Samples, file: Option<&Path>) -> Meta {
    Meta {
        verb: verb.to_owned(),
        tool: TOOL.to_owned(),
        argv: samples.argv.clone(),
        file: file.map(|path| path.display().to_string()),
    }
}

/// Content of a file named by `--export`: a report, or the samples themselves.
#[derive(Clone, Copy)]
enum Form {
    Json,
    Markdown,
    Summary,
    Raw(RawForm),
}

fn form_of(path: &Path) -> anyhow::Result<Form> {
    if let Some(form) = RawForm::of_ending(path) {
        return Ok(Form::Raw(form));
    }
    let name = path.to_string_lossy().to_lowercase();
    let forms = [(".csv", Form::Summary), (".json", Form::Json), (".md", Form::Markdown)];
    let found = forms.iter().find(|(ending, _)| name.ends_with(ending)).map(|&(_, form)| form);
    found.with_context(|| {
        format!(
            "--export {}: the extension selects the format: .json, .md or .csv for the result, or, for all observations, {}",
            path.display(),
            RawForm::endings()
        )
    })
}

/// Rejects `--fail-if` for fewer than two sides before anything is measured, because its condition
/// could never be met. `there_is` names the only side, and `instead` advises how to add another.
///
/// # Errors
/// Fails if a condition is given and there are fewer than two sides.
pub(crate) fn check_fail_if(
    fail_if: &[FailIf],
    sides: usize,
    there_is: &str,
    instead: &str,
) -> anyhow::Result<()> {
    if sides < 2 && !fail_if.is_empty() {
        bail!("--fail-if: {there_is}, and nothing to compare it with: {instead}");
    }
    Ok(())
}

/// Rejects `--fail-if slower` and `--fail-if faster` for a metric without a direction.
///
/// # Errors
/// Fails with a message that explains how to specify a direction.
pub(crate) fn check_direction(
    samples: &Samples,
    primary: Option<&str>,
    fail_if: &[FailIf],
) -> anyhow::Result<()> {
    let planned = samples.plan.as_ref().map(|plan| plan.primary.as_str());
    let decides = primary.or(planned).and_then(|name| samples.metric_index(name)).unwrap_or(0);
    let asked = fail_if.iter().find_map(|condition| match condition {
        FailIf::Slower => Some("slower"),
        FailIf::Faster => Some("faster"),
        FailIf::Different | FailIf::Equivalent => None,
    });
    match (asked, samples.metrics.get(decides)) {
        (Some(word), Some(metric)) if metric.undirected => {
            anyhow::bail!("--fail-if {word}: {}", no_direction(metric))
        }
        _ => Ok(()),
    }
}

/// Returns the message that it is unknown in which direction a metric improves, and how to specify
/// that.
pub(crate) fn no_direction(metric: &Metric) -> String {
    let unit = match &metric.unit {
        Unit::One => String::new(),
        unit => format!(" ({})", unit.symbol()),
    };
    format!(
        "it is unknown which direction of `{}`{unit} is better; specify --better lower or --better higher",
        metric.name
    )
}

/// Returns true if the recordings of the subject's side and of the reference alternate, so that the
/// interval includes drift.
fn alternate(analysis: &Analysis, of: usize) -> bool {
    let Some(subject) = analysis.subjects.get(of) else { return false };
    let side = analysis.sides.get(subject.side).map(|side| side.name.as_str());
    let is_of = |finding: &Finding| {
        let own = finding.subject.as_deref();
        let is_row = own.is_some_and(|own| subject.name.starts_with(&format!("{own}: ")));
        finding.is(RECORDINGS_ALTERNATE) && (own == side || is_row)
    };
    analysis.findings.iter().any(is_of)
}

/// Returns the exit status that `--fail-if` requests. Separate recordings cannot prove that
/// programs differ, so they are inconclusive, as is a missing comparison. A single comparison that
/// meets a condition is enough to fail.
pub(crate) fn judge(analysis: &Analysis, fail_if: &[FailIf]) -> Ending {
    if fail_if.is_empty() {
        return Ending::Fine;
    }
    let came_true = |verdict: Verdict| {
        fail_if.iter().any(|condition| match condition {
            FailIf::Slower => verdict == Verdict::Slower,
            FailIf::Faster => verdict == Verdict::Faster,
            FailIf::Different => verdict.is_directional(),
            FailIf::Equivalent => verdict == Verdict::Equivalent,
        })
    };
    // Nothing is known about the difference to a reference that failed.
    let failed = |c: &assay_analysis::Comparison| {
        c.failing.as_ref().is_some_and(|own| own.subject == c.against)
    };
    let without_reference = analysis.comparisons.iter().any(failed);
    // A control runs the same code on both sides, and needs no verdict.
    let verdicts: Vec<Verdict> = analysis
        .comparisons
        .iter()
        .filter(|c| c.role != Role::Control)
        .map(|c| match c.design == Design::Blocks || alternate(analysis, c.of) {
            true => c.decision.verdict,
            false => Verdict::Inconclusive,
        })
        .collect();
    if verdicts.iter().any(|&verdict| came_true(verdict)) {
        Ending::FailIfCameTrue
    } else if analysis.comparisons.is_empty()
        || without_reference
        || verdicts.contains(&Verdict::Inconclusive)
    {
        Ending::InconclusiveUnderFailIf
    } else {
        Ending::Fine
    }
}
