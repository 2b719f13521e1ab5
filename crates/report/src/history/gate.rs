//! Whether a run is worse than normal: one sentence, a line for each benchmark that is not normal, and how many are.

use crate::findings;
use crate::label::label;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::remarks::{List, Remarks};
use crate::small_table;
use crate::terminal::Screen;
use crate::words::counted;
use assay_analysis::history::gate::{Gate, Judged, Standing};

/// A gate with what it was about.
#[derive(Clone, Copy, Debug)]
pub struct GateReport<'a> {
    /// What came of it.
    pub gate: &'a Gate,
    /// The file, or the run of the history, that was judged.
    pub run: &'a str,
    /// The machine.
    pub machine: &'a str,
    /// Whether benchmarks that are normal are listed, too.
    pub all: bool,
}

/// The answer in one sentence.
pub(crate) fn sentence(report: &GateReport<'_>) -> String {
    let gate = report.gate;
    let of = |standing: Standing| {
        gate.judged.iter().filter(|j| j.standing == standing).collect::<Vec<&Judged>>()
    };
    let worse = of(Standing::Worse);
    let open = of(Standing::Inconclusive).len();
    let all = counted(gate.judged.len(), "benchmark");
    match (worse.as_slice(), open) {
        ([one], _) => {
            let size = one
                .ratio
                .map_or_else(String::new, |ratio| format!(": {}", number::change(ratio, None)));
            format!("{} is worse than normal{size}", one.benchmark.label())
        }
        ([_, ..], _) => format!("{} of {all} are worse than normal", worse.len()),
        ([], 0) => format!("nothing is worse than normal ({all})"),
        ([], _) if gate.judged.is_empty() => "nothing was judged".to_owned(),
        ([], open) => format!(
            "it is not known whether {open} of {all} {} worse than normal",
            if open == 1 { "is" } else { "are" }
        ),
    }
}

/// The screen, every line ended. O(benchmarks).
pub fn gate(report: &GateReport<'_>, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let gate = report.gate;
    let tone = if gate.standing() == Standing::Worse { Tone::Bad } else { Tone::Strong };
    page.paragraph(2, &[(tone, sentence(report))]);
    let what = format!(
        "{} against the last runs on {}; at most {} of such answers are wrong",
        report.run,
        report.machine,
        number::chosen_percent(1.0 - gate.asked.confidence)
    );
    page.paragraph(2, &[(Tone::Quiet, what)]);
    page.gap();
    let mut shown: Vec<&Judged> = gate
        .judged
        .iter()
        .filter(|judged| report.all || judged.standing != Standing::Normal)
        .collect();
    shown.sort_by_key(|judged| std::cmp::Reverse(judged.standing));
    let head = ["", "now", "change", "normal range", "runs", "detects", ""].map(str::to_owned);
    let rows: Vec<[String; 7]> = shown.iter().map(|judged| row(judged)).collect();
    let tones: Vec<Tone> = shown.iter().map(|judged| tone_of(judged.standing)).collect();
    if !rows.is_empty() {
        small_table::draw(&mut page, &head, &rows, &tones);
    }
    let normal = gate.judged.iter().filter(|j| j.standing == Standing::Normal).count();
    if normal > 0 && !report.all {
        page.paragraph(
            2,
            &[(
                Tone::Quiet,
                format!("  {} normal: --all lists them", counted(normal, "benchmark")),
            )],
        );
    }
    let mut list = List::new(remarks);
    for (finding, more) in findings::told_once(gate.findings.iter(), |a, b| a.code == b.code) {
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

fn row(judged: &Judged) -> [String; 7] {
    let mut own = vec![judged.now];
    own.extend(judged.range.iter().flat_map(|&(low, high)| [low, high]));
    let column = Column::new(&judged.metric.unit, &own, &[]);
    let range = judged.range.map_or_else(String::new, |(low, high)| {
        format!("[{} … {}]", column.number(low), column.number(high))
    });
    let told = match (judged.standing, judged.more_runs) {
        (Standing::Inconclusive, Some(more)) => {
            format!("inconclusive: {more} more run{}", if more == 1 { "" } else { "s" })
        }
        (standing, _) if judged.together => format!("{} in 3 runs", standing.word()),
        (standing, _) => standing.word().to_owned(),
    };
    [
        format!("{} {}", judged.benchmark.label(), label(&judged.metric)),
        column.with_unit(judged.now),
        judged.ratio.map_or_else(String::new, |ratio| number::change(ratio, None)),
        range,
        judged.runs.to_string(),
        judged.detectable.map_or_else(String::new, number::percent),
        told,
    ]
}
