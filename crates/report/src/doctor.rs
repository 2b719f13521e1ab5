//! Renders the doctor's findings for the terminal: what disturbs measurements on this machine, how
//! much it costs, and the remedies.
//!
//! The first sentence says whether anything matters and what would help most. Nothing is measured
//! or computed here.

use crate::findings;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use crate::small_table;
use crate::words::counted;
use assay_analysis::spread::{STRETCH, SpreadComparison, SpreadOverTime, SpreadVerdict};
use assay_data::{Finding, Severity, Unit};

/// The content of the doctor's report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoctorReport {
    /// The machine in one line, as returned by [`crate::progress::machine`].
    pub machine: String,
    /// Sources of disturbance, most severe first.
    pub disturbs: Vec<Ailment>,
    /// Missing privileges and devices, each with the feature that it would allow:
    /// `CAP_SYS_NICE: needed for --fifo`.
    pub missing: Vec<String>,
    /// The workload run under every setting, such as `a loop of 2.0 ms`.
    pub workload: String,
    /// The settings tried, each alternated with the unmodified workload.
    pub costs: Vec<Trial>,
    /// The noise of the unmodified workload over time; `None` if the workload ran too few times.
    pub over_time: Option<SpreadOverTime>,
    /// Share of the CPU time that the hypervisor gave to other virtual machines during the
    /// experiment; `None` outside of virtual machines.
    pub stolen: Option<f64>,
}

/// One source of disturbance.
#[derive(Clone, Debug, PartialEq)]
pub struct Ailment {
    /// The disturbance and its remedy.
    pub finding: Finding,
    /// Name of the trial of the setting that prevents the disturbance. It shows what the
    /// disturbance costs on this machine.
    pub trial: Option<String>,
    /// True if the doctor can apply the remedy itself.
    pub can_fix: bool,
}

impl From<Finding> for Ailment {
    fn from(finding: Finding) -> Self {
        Self { finding, trial: None, can_fix: false }
    }
}

/// The trial of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The setting, as given on the command line: `--fifo 10`.
    pub name: String,
    /// The spread without and with the setting.
    pub found: SpreadComparison,
}

impl DoctorReport {
    /// Returns the setting known to reduce the spread of runs the most.
    fn best(&self) -> Option<&Trial> {
        let narrower = |t: &&Trial| t.found.verdict == SpreadVerdict::Narrower;
        let trials = self.costs.iter().filter(narrower);
        trials.min_by(|a, b| a.found.ratio.total_cmp(&b.found.ratio))
    }

    /// Returns a sentence on how many things disturb measurements, and which remedy helps most.
    pub(crate) fn sentence(&self) -> String {
        let grave = self.disturbs.iter().filter(|a| a.finding.severity > Severity::Note).count();
        let disturbs = match grave {
            0 => "Nothing that matters disturbs measuring here.".to_owned(),
            1 => "1 thing disturbs measuring here.".to_owned(),
            n => format!("{n} things disturb measuring here."),
        };
        let disturbs = match self.disturbs.len() - grave {
            0 => disturbs,
            more => format!(
                "{}; {} could be better.",
                disturbs.trim_end_matches('.'),
                counted(more, "setting")
            ),
        };
        match self.best() {
            Some(trial) => format!(
                "{disturbs} With {}, the spread is {} what it was.",
                trial.name,
                number::multiple(trial.found.ratio)
            ),
            None if self.costs.is_empty() => disturbs,
            None => format!("{disturbs} No setting that was tried is known to help."),
        }
    }
}

/// Renders the report for the terminal. Every line ends with a newline.
pub fn render(report: &DoctorReport, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    page.paragraph(2, &[(Tone::Strong, report.sentence())]);
    page.gap();
    page.paragraph(2, &[(Tone::Quiet, report.machine.clone())]);
    if !report.disturbs.is_empty() {
        page.gap();
        page.paragraph(2, &[(Tone::Strong, "What disturbs:".to_owned())]);
        report.disturbs.iter().for_each(|ailment| disturbance(&mut page, report, ailment));
    }
    if !report.costs.is_empty() {
        page.gap();
        trials(&mut page, report);
    }
    if let Some(found) = report.over_time {
        page.gap();
        page.paragraph(2, &[(Tone::Strong, "How the noise changes over time:".to_owned())]);
        for line in over_time(found, report.stolen) {
            page.paragraph(4, &[(Tone::Plain, format!("  {line}"))]);
        }
    }
    if !report.missing.is_empty() {
        page.gap();
        page.paragraph(2, &[(Tone::Strong, "Not tried:".to_owned())]);
        for missing in &report.missing {
            page.paragraph(4, &[(Tone::Plain, format!("  {missing}"))]);
        }
    }
    page.finish()
}

fn disturbance(page: &mut Page, report: &DoctorReport, ailment: &Ailment) {
    let (tone, word) = match ailment.finding.severity {
        Severity::Note => (Tone::Quiet, "note"),
        Severity::Warning => (Tone::Unsure, "warning"),
        Severity::Serious => (Tone::Bad, "serious"),
    };
    page.paragraph(
        4,
        &[(tone, format!("  {word}: ")), (Tone::Plain, ailment.finding.message.clone())],
    );
    let trial =
        ailment.trial.as_ref().and_then(|name| report.costs.iter().find(|t| t.name == *name));
    if let Some(Trial { name, found }) = trial {
        let said = match found.verdict {
            SpreadVerdict::Narrower => {
                format!("with {name}, the spread is {} what it was", number::multiple(found.ratio))
            }
            SpreadVerdict::Wider => format!("with {name}, runs spread more, not less"),
            SpreadVerdict::Unknown => format!("with {name}, no difference is known"),
        };
        page.paragraph(6, &[(Tone::Plain, format!("    here: {said}"))]);
    }
    if let Some(remedy) = findings::hint_on_screen(&ailment.finding) {
        let itself = if ailment.can_fix { "   (the doctor can: --fix)" } else { "" };
        page.paragraph(
            6,
            &[(Tone::Quiet, "    hint: ".to_owned()), (Tone::Plain, format!("{remedy}{itself}"))],
        );
    }
}

fn trials(page: &mut Page, report: &DoctorReport) {
    let blocks = report.costs.iter().map(|t| t.found.blocks).min().unwrap_or(0);
    let head = format!(
        "What helps, measured in interleaved runs: {}, {blocks} runs of each",
        report.workload
    );
    page.paragraph(2, &[(Tone::Strong, head)]);
    let heads = ["", "spread", "p99/median", "median", "ratio of spreads"];
    let rows: Vec<Vec<String>> = report.costs.iter().map(row).collect();
    let tones: Vec<Tone> = report
        .costs
        .iter()
        .map(|t| match t.found.verdict {
            SpreadVerdict::Narrower => Tone::Good,
            SpreadVerdict::Wider => Tone::Bad,
            SpreadVerdict::Unknown => Tone::Plain,
        })
        .collect();
    small_table::draw(page, &heads.map(str::to_owned), &rows, &tones);
    let note = "  spread: interquartile range over median, without → with the setting; median: change of the median";
    page.paragraph(2, &[(Tone::Quiet, note.to_owned())]);
}

/// Returns what the noise over time means for a measurement.
fn over_time(found: SpreadOverTime, stolen: Option<f64>) -> Vec<String> {
    let [shared, quiet, noisy] = [found.shared, found.quiet, found.noisy].map(number::percent);
    let apart = number::rough(found.apart_seconds, &Unit::Second);
    let mut lines = vec![
        format!("{shared} of the spread is common to runs {apart} apart; blocks cancel this part"),
        format!(
            "{STRETCH} runs in a row spread {quiet} in quiet moments, {noisy} in noisy ones: quiet blocks count more"
        ),
    ];
    lines.extend(stolen.map(|share| {
        format!("the hypervisor gave {} of the CPU time to others", number::percent(share))
    }));
    lines
}

fn row(trial: &Trial) -> Vec<String> {
    let found = &trial.found;
    let (before, after) = (found.before, found.after);
    let [was, is] = [before.iqr_over_median, after.iqr_over_median].map(number::percent);
    let change = found.median_change();
    let sign = if change < 0.0 { "-" } else { "+" };
    let word = match found.verdict {
        SpreadVerdict::Narrower => "narrower",
        SpreadVerdict::Wider => "wider",
        SpreadVerdict::Unknown => "not known",
    };
    let ends = number::side_by_side(&[found.interval.lower, found.interval.upper]);
    let ratio = number::before_ends(found.ratio, found.interval.lower, found.interval.upper);
    vec![
        trial.name.clone(),
        format!("{} → {is}", was.trim_end_matches(" %")),
        format!(
            "{} → {}",
            number::fixed(before.p99_over_median, 2),
            number::fixed(after.p99_over_median, 2)
        ),
        format!("{sign}{}", number::percent(change)),
        format!("{word}: {ratio} [{} … {}]", ends[0], ends[1]),
    ]
}
