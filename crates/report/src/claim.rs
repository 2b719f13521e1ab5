//! A result measured on several machines, for the terminal and as text to publish: the number of
//! machines on which it holds, the interval of each, the mean, and how to check the claim.

use crate::escape::{code, escaped};
use crate::layout::{Page, Tone};
use crate::number;
use crate::replication::formatted;
use crate::shell::shell_line;
use crate::small_table;
use crate::terminal::Screen;
use crate::words::{self, counted, in_plain_words, verdict_word};
use assay_analysis::Pooled;
use assay_analysis::claim::{Claim, Holds, OnMachine};
use assay_analysis::{Analysis, Comparison, Interval, Scale, Verdict};

/// A record on which the claim rests.
#[derive(Clone, Debug)]
pub struct ClaimRecord {
    /// Path of the record's file, as the user gave it.
    pub file: String,
    /// Digest of the file's content, such as `sha256:…`; `None` if it is not known.
    pub digest: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// The command line that measured it.
    pub argv: Vec<String>,
    /// The analysis of the run.
    pub analysis: Analysis,
}

/// The content of a report on claims.
#[derive(Clone, Copy, Debug)]
pub struct ClaimReport<'a> {
    /// The records. The claims are those of the first one.
    pub records: &'a [ClaimRecord],
    /// One claim for every comparison of the first record. There is at least one.
    pub claims: &'a [Claim],
}

impl ClaimReport<'_> {
    fn first(&self) -> &Analysis {
        &self.records[0].analysis
    }

    fn names(&self) -> Vec<String> {
        self.first().names()
    }

    /// Returns the comparison in a record to which a claim refers.
    fn comparison(&self, record: usize, claim: &Claim) -> Option<(&Analysis, &Comparison)> {
        let analysis = &self.records[record].analysis;
        let is_same = |c: &&Comparison| (c.of, c.against) == (claim.of, claim.against);
        Some((analysis, analysis.comparisons.iter().find(is_same)?))
    }
}

/// Renders the report for the terminal. Every line ends with a newline.
pub fn render(report: &ClaimReport<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let names = page.fitted(&report.names(), (page.width() / 2).clamp(8, 60));
    for claim in report.claims {
        let tone = match claim.worst() {
            Holds::Yes => Tone::Good,
            Holds::No => Tone::Bad,
            Holds::Unknown => Tone::Unsure,
        };
        page.paragraph(2, &[(tone, sentence_with(report, claim, &names))]);
        page.gap();
        let (head, rows) = table(report, claim);
        let tones: Vec<Tone> = rows.iter().map(|_| Tone::Plain).collect();
        small_table::draw(&mut page, &head, &rows, &tones);
        if let Some(text) = variation(claim) {
            page.paragraph(2, &[(Tone::Plain, text)]);
        }
        page.gap();
    }
    page.finish()
}

/// Returns a claim in one sentence: its statement, and the number of machines on which it holds.
pub fn sentence(report: &ClaimReport<'_>, claim: &Claim) -> String {
    sentence_with(report, claim, &report.names())
}

fn sentence_with(report: &ClaimReport<'_>, claim: &Claim, names: &[String]) -> String {
    let [of, against] = [claim.of, claim.against].map(|subject| words::quoted(&names[subject]));
    let size = report.comparison(0, claim).map_or_else(String::new, |(a, c)| in_plain_words(a, c));
    let claimed = format!("{of} against {against}: {size}");
    if claim.verdict == Verdict::Inconclusive {
        return format!(
            "{claimed}: {} has no verdict, so nothing is claimed",
            report.records[0].file
        );
    }
    let of_all = counted(claim.machines.len(), "machine");
    let rest = [(Holds::No, "does not hold on"), (Holds::Unknown, "not known on")];
    let rest = rest.into_iter().filter_map(|(holds, what)| {
        let count = claim.count(holds);
        (count > 0).then(|| format!("; {what} {count}"))
    });
    format!(
        "{claimed}: holds on {} of {of_all}{}",
        claim.count(Holds::Yes),
        rest.collect::<String>()
    )
}

/// Returns headings and rows of the table of machines, for all renderers.
fn table(report: &ClaimReport<'_>, claim: &Claim) -> (Vec<String>, Vec<Vec<String>>) {
    let what = if claim.scale == Scale::Ratio { "ratio" } else { "difference" };
    let head = ["machine", "blocks or values", what, "result"].map(str::to_owned).to_vec();
    let mut rows: Vec<_> = claim.machines.iter().map(|m| row(report, claim, m)).collect();
    if let Some(mean) = &claim.mean {
        let all = format!("mean of {}", counted(mean.pooled.k, "machine"));
        let size = size(report, claim, mean.decision.estimate, mean.decision.interval);
        let word = match mean.decision.verdict {
            Verdict::Inconclusive => "not known yet",
            verdict => verdict.word(),
        };
        rows.push(vec![all, String::new(), size, word.to_owned()]);
        let next = size_of_interval(report, claim, mean.next);
        rows.push(vec!["one further machine".to_owned(), String::new(), next, String::new()]);
    }
    (head, rows)
}

fn row(report: &ClaimReport<'_>, claim: &Claim, machine: &OnMachine) -> Vec<String> {
    let record = &report.records[machine.longest];
    let found = report.comparison(machine.longest, claim);
    let count = found.map_or(0, |(_, c)| c.blocks.unwrap_or(c.counts.0.min(c.counts.1)));
    let word = found.map_or_else(String::new, |(a, c)| verdict_word(a, c));
    let refuted = machine.holds == Holds::No && machine.decision.verdict == claim.verdict;
    vec![
        format!("{} ({})", record.machine, record.file),
        count.to_string(),
        size(report, claim, machine.decision.estimate, machine.decision.interval),
        if refuted { format!("{word}, but not in another run") } else { word },
    ]
}

fn size(
    report: &ClaimReport<'_>,
    claim: &Claim,
    estimate: f64,
    interval: Option<Interval>,
) -> String {
    let first = report.first();
    formatted(
        &first.metrics[first.primary].unit,
        claim.scale,
        claim.scale == Scale::Ratio,
        (estimate, interval),
    )
}

fn size_of_interval(report: &ClaimReport<'_>, claim: &Claim, interval: Interval) -> String {
    let whole = size(report, claim, interval.lower.midpoint(interval.upper), Some(interval));
    whole.find('[').map_or_else(String::new, |at| whole[at..].to_owned())
}

/// Returns the test for differences between machines, and the share of the variation that is due to
/// such differences, as in `Q = 5.1 on 2 degrees of freedom, …`.
pub(crate) fn heterogeneity(pooled: &Pooled) -> String {
    format!(
        "Q = {} on {} degrees of freedom, {}; I² = {} %",
        number::fixed(pooled.q, 1),
        pooled.k - 1,
        number::p_value(pooled.q_p.max(f64::MIN_POSITIVE).log10()),
        number::fixed(100.0 * pooled.i2, 0)
    )
}

/// Returns a sentence on the variation between machines, or `None` if there are fewer than two.
fn variation(claim: &Claim) -> Option<String> {
    let mean = claim.mean.as_ref()?;
    let pooled = &mean.pooled;
    let test = heterogeneity(pooled);
    Some(if mean.differ {
        format!(
            "The machines differ by more than their errors ({test}): the mean need not apply to any of them."
        )
    } else {
        format!("The machines differ by no more than their errors explain ({test}).")
    })
}

/// Renders the claim as Markdown: its statement, the machines, the commands, and the single command
/// that checks it.
pub fn markdown(report: &ClaimReport<'_>) -> String {
    let first = &report.records[0];
    let plan = &first.analysis.plan;
    let mut text = String::new();
    for claim in report.claims {
        text += &format!("**{}**\n\n", escaped(&sentence(report, claim)));
        let (head, rows) = table(report, claim);
        let line = |cells: &[String]| -> String {
            format!(
                "| {} |\n",
                cells.iter().map(|cell| escaped(cell)).collect::<Vec<_>>().join(" | ")
            )
        };
        text += &line(&head);
        text += "|:--|--:|--:|:--|\n";
        rows.iter().for_each(|row| text += &line(row));
        if let Some(said) = variation(claim) {
            text += &format!("\n{}\n", escaped(&said));
        }
        text.push('\n');
    }
    text += &format!(
        "Intervals at {} %; differences below {} do not matter. Metric: {}.\n\n",
        number::fixed(100.0 * plan.confidence, 0),
        number::threshold(&plan.threshold),
        escaped(&first.analysis.metrics[first.analysis.primary].name)
    );
    text += "Measured by\n\n";
    text += &format!("    {}\n\n", shell_line(&first.argv));
    text += "To check it, measure the same commands on your machine, and add your record:\n\n";
    let files: Vec<&str> = report.records.iter().map(|record| record.file.as_str()).collect();
    let words = |more: &[&str]| -> Vec<String> {
        ["assay", "repeat"].iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    text += &format!("    {}\n", shell_line(&words(&["--save", "mine.assay", files[0]])));
    let all = [&["--summary"][..], &files, &["mine.assay"]].concat();
    text += &format!("    {}\n\n", shell_line(&words(&all)));
    for record in report.records {
        let digest = record.digest.as_deref().unwrap_or("its digest is not known");
        text += &format!("- {}: {digest}\n", code(&record.file));
    }
    text
}
