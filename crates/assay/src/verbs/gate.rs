//! `assay gate`: checks whether a run is worse than normal for this machine.

mod branch;
mod candidates;
mod confirming;
mod exporting;
mod measured;
mod options;

use crate::advice::{Dialect, spell};
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::history::gate::{Gate, GateSettings, Standing, gate};
use assay_report::history::{self, GateReport};
use assay_report::json::{self, Gated};
use assay_report::number;
use assay_report::remarks::Remarks;
use branch::Branch;
use candidates::{Gathered, gathered, judging};
use confirming::Confirming;
pub(crate) use measured::query;
pub(crate) use options::Args;

/// Judges, confirms and shows the run. The worst benchmark determines the outcome.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    exporting::check(&args.export, args.file.as_deref())?;
    // Errors in the confirming command are reported now, even if no alarm needs it.
    if !args.confirm.words.is_empty() {
        measured::check(&args.confirm.words)?;
    }
    let asked = asked(args)?;
    let (store, project) = args.beside.of.of_project()?;
    let judging = judging(args, &store, &project)?;
    let branch = args.branch.as_deref().map(Branch::of).transpose()?;
    let metrics = judging.metrics(args.primary.as_deref(), &args.secondary)?;
    let undirected = metrics.iter().map(|&m| &judging.samples.metrics[m]).find(|m| m.undirected);
    if let Some(metric) = undirected {
        bail!("{}: {}", judging.name, present::no_direction(metric));
    }
    let Gathered { candidates, names, findings } =
        gathered(&store, &project, &judging, &metrics, asked, branch.as_ref())?;
    if candidates.is_empty() {
        bail!("{} has no values of {}", judging.name, judging.samples.metrics[metrics[0]].name);
    }
    let mut gate = gate(candidates, asked);
    gate.findings.extend(findings);
    let confirming = Confirming { args, judging: &judging, names: &names };
    let line = confirming.run(&mut gate)?;
    spell(Dialect::Gate, &mut gate.findings);
    if let Some(line) = line {
        confirming::name_line(&line, &mut gate.findings);
    }
    let file = judging.file();
    let report = GateReport {
        gate: &gate,
        project: &project,
        run: &judging.name,
        file: file.as_deref(),
        machine: &judging.machine,
        all: args.all,
    };
    show(args, &report)?;
    Ok(ending(&gate))
}

/// Returns the settings. A larger threshold also raises the default of `--detect`.
///
/// # Errors
/// Fails if `--detect` is below the threshold, because a worsening of that size would not be
/// reported.
fn asked(args: &Args) -> anyhow::Result<GateSettings> {
    let default = GateSettings::default();
    let threshold = args.threshold.unwrap_or(default.threshold);
    let detect = args.detect.unwrap_or(default.detect.max(threshold));
    if detect < threshold {
        let written = |share| number::percent_fine(share).replace(' ', "");
        let [detect, threshold] = [detect, threshold].map(written);
        bail!(
            "--detect {detect}: a worsening below the threshold of {threshold} is not reported, so it need not be detectable; give --detect {threshold} or more, or --threshold {detect}"
        );
    }
    Ok(GateSettings {
        confidence: args.confidence.unwrap_or(default.confidence),
        threshold,
        detect,
        window: args.window.map_or(default.window, |window| window as usize),
    })
}

fn show(args: &Args, report: &GateReport<'_>) -> anyhow::Result<()> {
    let look = &args.beside.look;
    // A file that cannot be written must not prevent the output on the terminal.
    let written = exporting::write(&args.export, report, look.quiet);
    output::print(&if look.json {
        json::text(&Gated::of(report))?
    } else {
        let remarks = Remarks::wanted(look.quiet, args.all);
        history::gate(report, remarks, &present::screen(look.color))
    })?;
    written
}

fn ending(gate: &Gate) -> Ending {
    match gate.standing() {
        Standing::Worse => Ending::FailIfCameTrue,
        Standing::Inconclusive => Ending::InconclusiveUnderFailIf,
        Standing::Normal | Standing::Better => Ending::Fine,
    }
}
