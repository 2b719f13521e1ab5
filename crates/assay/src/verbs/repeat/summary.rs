//! `assay repeat --summary`: combines a recorded run with its repetitions on other machines, and
//! reports on how many machines the result holds.

use super::{Args, FailIf};
use crate::{Ending, output, present};
use anyhow::{Context, bail, ensure};
use assay_analysis::claim::{Claim, Holds, Record};
use assay_analysis::{Options, analyse};
use assay_data::{Environment, Samples, assay_file};
use assay_measure::fingerprint::Fingerprints;
use assay_report::claim::{ClaimRecord, ClaimReport, markdown, render};
use assay_report::console::whole_file;
use assay_report::json;
use std::path::Path;

/// Facts that distinguish machines. The kernel is not included, because a machine with an updated
/// kernel is still the same machine.
const IDENTITY: [&str; 5] = ["hostname", "cpu_model", "cpus_online", "memory_total", "arch"];

/// Reads the records, shows whether the results of the first one were confirmed, and writes the
/// exports.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    present::check_exports(&args.show, &args.files, None, &[])?;
    let pages = &args.show.pages;
    ensure!(
        pages.report.is_none() && pages.plots.is_none(),
        "--summary has neither a page nor plots; export .md or .json"
    );
    let is_json = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    let is_markdown = |path: &Path| path.extension().is_some_and(|ending| ending == "md");
    if let Some(path) = args.show.export.iter().find(|path| !is_json(path) && !is_markdown(path)) {
        bail!("--export {}: a summary can be exported as .md or .json", path.display());
    }
    let (machines, records) = read(args)?;
    let compared: Vec<Record<'_>> = machines
        .iter()
        .zip(&records)
        .map(|(machine, record)| Record { machine, analysis: &record.analysis })
        .collect();
    let claims = Claim::all(&compared);
    ensure!(
        !claims.is_empty(),
        "{}: nothing was compared, and only a difference can hold on other machines",
        records[0].file
    );
    let report = ClaimReport { records: &records, claims: &claims };
    let text = || json::text(&json::Claims::of(&report));
    for path in &args.show.export {
        let document = if is_json(path) { text()? } else { markdown(&report) };
        whole_file::write(path, |file| Ok(file.write_all(document.as_bytes())?))
            .with_context(|| format!("--export {}", path.display()))?;
    }
    if args.show.json {
        output::print(&text()?)?;
    } else {
        output::print(&render(&report, &present::screen(args.show.color)))?;
    }
    Ok(judge(&claims, &args.fail_if))
}

/// Returns the identity of each machine and the records, in the same order.
fn read(args: &Args) -> anyhow::Result<(Vec<String>, Vec<ClaimRecord>)> {
    let mut first: Option<Samples> = None;
    let (mut machines, mut records) = (Vec::new(), Vec::new());
    for path in &args.files {
        let samples = assay_file::read(path)?;
        let file = path.display().to_string();
        let options = first.as_ref().map_or_else(Options::default, options_of);
        let analysis = analyse(&samples, &options).with_context(|| file.clone())?;
        if let Some(first) = &first {
            check_same(first, &samples, &args.files[0], path)?;
        }
        machines.push(identity(&samples.environment));
        records.push(ClaimRecord {
            file,
            digest: Fingerprints::default().digest(path.clone()),
            machine: name(&samples.environment),
            argv: samples.argv.clone(),
            analysis,
        });
        first.get_or_insert(samples);
    }
    Ok((machines, records))
}

/// Returns the options that analyze another record in the same way as the first.
fn options_of(first: &Samples) -> Options {
    let plan = first.plan.as_ref();
    Options {
        confidence: plan.map(|plan| plan.confidence),
        threshold: plan.map(|plan| plan.threshold.clone()),
        primary: plan.map(|plan| plan.primary.clone()),
        ..Options::default()
    }
}

/// Rejects a record of other commands.
fn check_same(first: &Samples, other: &Samples, path: &Path, own: &Path) -> anyhow::Result<()> {
    let what = |samples: &Samples| -> Vec<String> {
        let subjects = samples.subjects.iter();
        subjects.map(|one| one.command.clone().unwrap_or_else(|| one.name.clone())).collect()
    };
    let (expected, found) = (what(first), what(other));
    ensure!(
        expected == found,
        "{} does not repeat {}: it measured `{}` instead of `{}`",
        own.display(),
        path.display(),
        found.join("`, `"),
        expected.join("`, `")
    );
    Ok(())
}

fn identity(environment: &Environment) -> String {
    let facts = IDENTITY.map(|name| environment.facts.get(name).map(ToString::to_string));
    facts.map(Option::unwrap_or_default).join("\n")
}

/// Returns an anonymous name for a machine: its processor model and number of CPUs.
fn name(environment: &Environment) -> String {
    let kind = environment.text("cpu_model").or_else(|| environment.text("arch"));
    let kind = kind.unwrap_or("unknown machine").trim().to_owned();
    match environment.number("cpus_online") {
        Some(1.0) => format!("{kind}, 1 CPU"),
        Some(cpus) => format!("{kind}, {cpus} CPUs"),
        None => kind,
    }
}

/// Returns the ending. Any condition of `--fail-if` is met if another machine has a different
/// verdict.
fn judge(claims: &[Claim], fail_if: &[FailIf]) -> Ending {
    let worst: Vec<Holds> = claims.iter().map(Claim::worst).collect();
    if fail_if.is_empty() {
        Ending::Fine
    } else if worst.contains(&Holds::No) {
        Ending::FailIfCameTrue
    } else if worst.contains(&Holds::Unknown) {
        Ending::InconclusiveUnderFailIf
    } else {
        Ending::Fine
    }
}
