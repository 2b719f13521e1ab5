//! Reports whether a run is worse than normal: one sentence, a line for each benchmark that is not
//! normal, and the number of those that are. This module renders the report for the terminal. Its
//! submodules have the formats for pull requests, test reports, code scanning and READMEs.

mod badge;
mod junit;
mod markdown;
mod sarif;

pub use badge::badge;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;

use crate::findings;
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::remarks::{List, Remarks};
use crate::small_table;
use crate::words::counted;
use assay_analysis::history::gate::{Confirmation, Gate, Judged, Outcome, Standing};

/// The result of a gate, with its context.
#[derive(Clone, Copy, Debug)]
pub struct GateReport<'a> {
    /// The result of the gate.
    pub gate: &'a Gate,
    /// Name of the project.
    pub project: &'a str,
    /// The judged file or recorded run.
    pub run: &'a str,
    /// The file to which the result refers, if any: the judged file, or the measured program.
    pub file: Option<&'a str>,
    /// Name of the machine.
    pub machine: &'a str,
    /// Whether normal benchmarks are listed as well.
    pub all: bool,
}

/// Returns the result in one sentence.
pub(crate) fn sentence(report: &GateReport<'_>) -> String {
    let gate = report.gate;
    let of = |standing: Standing| {
        gate.judged.iter().filter(|j| j.standing == standing).collect::<Vec<&Judged>>()
    };
    let worse = of(Standing::Worse);
    let open = of(Standing::Inconclusive).len();
    let alone: Vec<&Judged> = gate.judged.iter().filter(|judged| judged.stands_out).collect();
    let again = "run it again, or confirm it with --confirm";
    let several = gate.judged.windows(2).any(|pair| pair[0].metric.name != pair[1].metric.name);
    let all = counted(gate.judged.len(), if several { "result" } else { "benchmark" });
    let said = match (worse.as_slice(), alone.as_slice(), open) {
        ([one], ..) => {
            let size = one
                .ratio
                .map_or_else(String::new, |ratio| format!(": {}", number::change(ratio, None)));
            let sure = match one.confirmation.as_ref().map(Confirmation::outcome) {
                Some(Outcome::Confirmed) => ", also in a fresh run",
                _ => "",
            };
            format!("{} is worse than normal{size}{sure}", gate.label(one))
        }
        ([_, ..], ..) => format!("{} of {all} are worse than normal", worse.len()),
        ([], _, 0) => format!("nothing is worse than normal ({all})"),
        ([], ..) if gate.judged.is_empty() => "nothing was judged".to_owned(),
        ([], [one], _) => {
            let size = one
                .ratio
                .map_or_else(String::new, |ratio| format!(": {}", number::change(ratio, None)));
            format!("this run of {} stands out{size}; {again}", gate.label(one))
        }
        ([], [_, ..], _) => {
            format!("this run stands out in {} of {all}; {again}", alone.len())
        }
        ([], [], open) => format!(
            "it is not known whether {open} of {all} {} worse than normal",
            if open == 1 { "is" } else { "are" }
        ),
    };
    match gate.unconfirmed() {
        0 => said,
        not => format!("{said}; a fresh run did not confirm {}", counted(not, "alarm")),
    }
}

/// Returns what the result is based on, and how certain it is.
fn rests_on(report: &GateReport<'_>) -> String {
    format!(
        "{} against the last runs on {}; at most {} of such answers are wrong",
        report.run,
        report.machine,
        number::chosen_percent(1.0 - report.gate.asked.confidence)
    )
}

/// Returns the benchmarks shown, worst first.
fn shown<'a>(report: &GateReport<'a>) -> Vec<&'a Judged> {
    let listed = |judged: &&Judged| {
        let is_normal = judged.standing == Standing::Normal && judged.confirmation.is_none();
        report.all || !is_normal
    };
    let mut shown: Vec<&Judged> = report.gate.judged.iter().filter(listed).collect();
    shown.sort_by_key(|judged| std::cmp::Reverse(judged.standing));
    shown
}

/// Renders the report for the terminal. Every line ends with a newline. O(benchmarks).
pub fn gate(report: &GateReport<'_>, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let gate = report.gate;
    let tone = if gate.standing() == Standing::Worse { Tone::Bad } else { Tone::Strong };
    page.paragraph(2, &[(tone, sentence(report))]);
    let what = rests_on(report);
    page.paragraph(2, &[(Tone::Quiet, what)]);
    page.gap();
    let shown = shown(report);
    let head = HEADS.map(str::to_owned);
    let rows: Vec<[String; 7]> = shown.iter().map(|judged| row(judged)).collect();
    let tones: Vec<Tone> = shown.iter().map(|judged| tone_of(judged.standing)).collect();
    if !rows.is_empty() {
        small_table::draw(&mut page, &head, &rows, &tones);
    }
    let normal = gate.judged.len() - shown.len();
    if normal > 0 {
        page.paragraph(
            2,
            &[(
                Tone::Quiet,
                format!("  {} normal: --all lists them", counted(normal, "benchmark")),
            )],
        );
    }
    let mut list = List::new(remarks);
    for (finding, more) in findings::told_once(gate.findings.iter(), assay_data::Finding::is_like) {
        list.finding(&page, finding, &more);
    }
    list.draw_apart(&mut page);
    page.finish()
}

fn tone_of(standing: Standing) -> Tone {
    match standing {
        Standing::Worse => Tone::Bad,
        Standing::Inconclusive => Tone::Unsure,
        Standing::Better | Standing::Normal => Tone::Plain,
    }
}

/// Headings for the cells of [`row`].
const HEADS: [&str; 7] = ["", "now", "change", "normal range", "runs", "detects", ""];

fn row(judged: &Judged) -> [String; 7] {
    let [now, change, range, runs, detects] = numbers(judged);
    let name = format!("{} {}", judged.benchmark.label(), label(&judged.metric));
    [name, now, change, range, runs, detects, standing(judged)]
}

/// Formats the numbers of a benchmark, in the order of [`HEADS`].
fn numbers(judged: &Judged) -> [String; 5] {
    let mut own = vec![judged.now];
    own.extend(judged.range.iter().flat_map(|&(low, high)| [low, high]));
    let column = Column::new(&judged.metric.unit, &own, &[]);
    let range = judged.range.map_or_else(String::new, |(low, high)| {
        format!("[{} … {}]", column.number(low), column.with_unit(high))
    });
    [
        column.with_unit(judged.now),
        judged.ratio.map_or_else(String::new, |ratio| number::change(ratio, None)),
        range,
        judged.runs.to_string(),
        judged.detectable.map_or_else(String::new, number::percent),
    ]
}

/// Returns the standing of a benchmark in a few words.
fn standing(judged: &Judged) -> String {
    let outcome = judged.confirmation.as_ref().map(Confirmation::outcome);
    let word = judged.standing.word();
    match (judged.standing, judged.more_runs, outcome) {
        (Standing::Worse, _, Some(Outcome::Confirmed)) => "worse, confirmed".to_owned(),
        (Standing::Worse, _, Some(_)) => "worse, unconfirmed".to_owned(),
        (_, _, Some(Outcome::NotConfirmed)) => format!("{word}: not confirmed"),
        (Standing::Inconclusive, ..) if judged.stands_out => "stands out: run it again".to_owned(),
        (Standing::Inconclusive, Some(more), _) => {
            format!("inconclusive: {more} more run{}", if more == 1 { "" } else { "s" })
        }
        _ if judged.together => format!("{word}: last 3 runs"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_analysis::history::gate::{Candidate, GateSettings, gate};
    use assay_analysis::history::{Benchmark, RunSummary};
    use assay_data::Metric;

    #[test]
    fn what_only_the_last_runs_show_together_is_named_as_such() {
        let now = RunSummary { n: 9, units: 9, centre: 1.0, interval: None };
        let (benchmark, metric) = (Benchmark::default(), Metric::wall());
        let candidate = Candidate { benchmark, metric, now, before: Vec::new() };
        let mut judged = gate(vec![candidate], GateSettings::default()).judged.remove(0);
        assert_eq!(standing(&judged), "inconclusive: 5 more runs");
        judged.more_runs = None;
        for (own, together, told) in [
            (Standing::Worse, true, "worse: last 3 runs"),
            (Standing::Better, true, "better: last 3 runs"),
            (Standing::Worse, false, "worse"),
            (Standing::Normal, false, "normal"),
        ] {
            (judged.standing, judged.together) = (own, together);
            assert_eq!(standing(&judged), told);
        }
        judged.stands_out = true;
        judged.standing = Standing::Inconclusive;
        assert_eq!(standing(&judged), "stands out: run it again");
    }
}
