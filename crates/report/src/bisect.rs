//! Report on a search for the commit responsible for a change. It shows one sentence, the commit,
//! and the evidence; or the remaining candidates with their probabilities.
//!
//! Nothing is computed here, and this module is independent of repositories. Commit subjects are
//! untrusted text; their control characters are removed when the page is drawn.

use crate::findings;
use crate::history::date;
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_analysis::Interval;
use assay_analysis::bisect::{Bisected, Candidate, Outcome, Search};
use assay_analysis::history::short;
use assay_analysis::verdict::{Decision, Scale, Verdict};
use assay_data::{Finding, Metric, Unit};

/// Maximum number of candidate commits listed.
const MOST: usize = 10;
/// Total probability at which the list of candidate commits ends.
const ENOUGH: f64 = 0.95;
/// Maximum width of a commit's subject line, in columns of text.
const SUBJECT: usize = 60;

/// A commit as shown by its repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Full hash.
    pub commit: String,
    /// Commit time, in seconds since 1970.
    pub time: i64,
    /// First line of the message.
    pub subject: String,
}

impl Commit {
    /// Returns the first ten digits of the hash.
    pub fn short(&self) -> &str {
        short(&self.commit)
    }
}

/// The result of a search, with its context.
#[derive(Clone, Copy, Debug)]
pub struct BisectReport<'a> {
    /// The result of the search.
    pub found: &'a Bisected,
    /// The commits in order. The first is the good one, the last the bad one.
    pub commits: &'a [Commit],
    /// The good and the bad end, as typed by the user.
    pub ends: (&'a str, &'a str),
    /// Description of the measured command or benchmark.
    pub what: &'a str,
    /// The metric that decides the search.
    pub metric: &'a Metric,
    /// Indices of the commits that could not be measured, each with the reason.
    pub skipped: &'a [(usize, String)],
    /// Findings about the search.
    pub findings: &'a [Finding],
    /// Command that continues the search; `None` if the search is finished.
    pub next: Option<&'a str>,
    /// Estimated measuring time of the command in `next`, in seconds.
    pub next_seconds: Option<f64>,
}

fn size(scale: Scale, estimate: f64, interval: Option<Interval>, unit: &Unit) -> String {
    match scale {
        Scale::Ratio => {
            number::change(estimate.exp(), interval.map(|i| (i.lower.exp(), i.upper.exp())))
        }
        Scale::Shift => match interval {
            Some(i) => format!(
                "{} [{} … {}]",
                number::value(estimate, unit),
                number::value(i.lower, unit),
                number::value(i.upper, unit)
            ),
            None => number::value(estimate, unit),
        },
    }
}

fn size_of(ends: &Decision, unit: &Unit) -> String {
    size(ends.scale, ends.estimate, ends.interval, unit)
}

impl BisectReport<'_> {
    fn commit(&self, place: usize) -> &str {
        self.commits.get(place).map_or("?", Commit::short)
    }

    fn ends_size(&self) -> String {
        let ends = self.found.ends.as_ref();
        ends.map_or_else(String::new, |ends| size_of(ends, &self.metric.unit))
    }

    fn direction(&self) -> &'static str {
        let better = self.found.ends.as_ref().is_some_and(|ends| ends.verdict == Verdict::Faster);
        if better { "better" } else { "worse" }
    }
}

/// Returns the result in one sentence.
pub(crate) fn sentence(report: &BisectReport<'_>) -> String {
    let found = report.found;
    let what = format!("{} of {}", label(report.metric), report.what);
    let (good, bad) = report.ends;
    let way = report.direction();
    match (found.outcome, found.best) {
        (Outcome::Found, Some((best, pair))) => {
            let size = size(found.scale, pair.estimate, pair.interval, &report.metric.unit);
            let at = match best.at - best.after {
                1 => format!("at {}", report.commit(best.at)),
                several => format!(
                    "at one of the {several} commits after {}, up to {}",
                    report.commit(best.after),
                    report.commit(best.at)
                ),
            };
            format!("{what} changed for the {way}, by {size}, {at}")
        }
        (Outcome::Unchanged, _) => {
            let threshold = found.ends.as_ref().filter(|ends| ends.scale == Scale::Ratio);
            let threshold = threshold.map_or_else(
                || "the threshold".to_owned(),
                |ends| number::chosen_percent(ends.threshold.exp_m1()),
            );
            format!(
                "{what} did not change by {threshold} or more from {good} to {bad}: {}",
                report.ends_size()
            )
        }
        (Outcome::EndsUnknown, _) => {
            let size = report.ends_size();
            let size = if size.is_empty() { size } else { format!(": {size}") };
            format!("it is not known whether {what} changed from {good} to {bad}{size}")
        }
        _ => format!(
            "{what} changed for the {way} from {good} to {bad}, by {}; at which commit is not known yet",
            report.ends_size()
        ),
    }
}

/// Returns the report for the screen. Every line ends with a newline. O(commits).
pub fn bisect(report: &BisectReport<'_>, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let found = report.found;
    let is_worse = found.outcome == Outcome::Found && report.direction() == "worse";
    let tone = if is_worse { Tone::Bad } else { Tone::Strong };
    page.paragraph(2, &[(tone, sentence(report))]);
    page.gap();
    match (found.outcome, found.best) {
        (Outcome::Found, Some((best, _))) => {
            let places: Vec<usize> = (best.after + 1..=best.at).collect();
            commits(&mut page, report, &places, None);
            page.gap();
            if let Some(on) = rests_on(report) {
                page.paragraph(2, &[(Tone::Plain, on)]);
            }
        }
        (Outcome::Unplaced, Some(_)) => {
            let listed = left(found);
            let places: Vec<usize> = listed.iter().map(|candidate| candidate.at).collect();
            commits(&mut page, report, &places, Some(&listed));
            let more = found.candidates.len().saturating_sub(listed.len());
            if more > 0 {
                let rest: f64 = 1.0 - listed.iter().map(|c| c.probability).sum::<f64>();
                let line = format!("  {more} more, {} together", percent(rest.max(0.0)));
                page.paragraph(2, &[(Tone::Quiet, line)]);
            }
            page.gap();
        }
        _ => {}
    }
    page.paragraph(2, &[(Tone::Quiet, effort(report))]);
    if let Some(next) = report.next {
        let about = report.next_seconds.map_or_else(String::new, |seconds| {
            format!("   (about {} more)", number::duration(seconds))
        });
        page.paragraph(2, &[(Tone::Plain, format!("next: {next}{about}"))]);
    }
    let mut list = List::new(remarks);
    for (finding, more) in findings::told_once(report.findings.iter(), Finding::is_like) {
        list.finding(&page, finding, &more);
    }
    list.draw_apart(&mut page);
    page.finish()
}

/// Returns the most probable candidates, as many as are needed for their total probability to reach
/// [`ENOUGH`], but at most [`MOST`].
fn left(found: &Bisected) -> Vec<Candidate> {
    let mut sum = 0.0;
    let is_wanted = |candidate: &&Candidate| {
        let wanted = sum < ENOUGH;
        sum += candidate.probability;
        wanted
    };
    found.candidates.iter().take_while(is_wanted).take(MOST).copied().collect()
}

fn percent(probability: f64) -> String {
    number::share(probability, 1.0)
}

fn commits(
    page: &mut Page,
    report: &BisectReport<'_>,
    places: &[usize],
    probable: Option<&[Candidate]>,
) {
    for (number, &place) in places.iter().enumerate() {
        let commit = report.commits.get(place).cloned().unwrap_or_default();
        let subject = page.shortened(&commit.subject, SUBJECT);
        let probability = probable.and_then(|all| all.get(number)).map(|c| percent(c.probability));
        let probability = probability.map_or_else(String::new, |text| format!("{text:>6}  "));
        let day = date(commit.time.saturating_mul(1000));
        let line = format!("  {probability}{}  {day}  {subject}", commit.short());
        page.paragraph(4, &[(Tone::Plain, line)]);
    }
}

fn rests_on(report: &BisectReport<'_>) -> Option<String> {
    let (best, pair) = report.found.best?;
    let before = match best.at - best.after {
        1 => format!("its predecessor {}", report.commit(best.after)),
        _ => format!("{} with {}", report.commit(best.at), report.commit(best.after)),
    };
    Some(format!(
        "probability {}; {} compare it directly with {before}",
        percent(best.probability),
        counted(pair.blocks, "block")
    ))
}

fn effort(report: &BisectReport<'_>) -> String {
    let found = report.found;
    let (good, bad) = report.ends;
    let mut parts = Vec::new();
    if found.outcome == Outcome::Found {
        parts.push(format!("{good} to {bad}: {}", report.ends_size()));
    }
    parts.push(format!(
        "{} by first parents: {} measured, {} in {}",
        counted(report.commits.len().saturating_sub(1), "commit"),
        found.measured,
        counted(found.runs, "run"),
        counted(found.blocks, "block")
    ));
    if let (Some(known), Scale::Ratio) = (&found.known, found.scale)
        && matches!(found.outcome, Outcome::Found | Outcome::Unplaced)
    {
        parts.push(format!(
            "standard deviation: {} between runs, {} between builds",
            number::percent(known.noise),
            number::percent(known.own)
        ));
    }
    parts.join("; ")
}

/// The state of a running search.
#[derive(Clone, Copy, Debug)]
pub struct SearchStanding<'a> {
    /// The search.
    pub search: &'a Search,
    /// True if the good and the bad end are known to differ.
    pub has_begun: bool,
    /// Number of complete blocks.
    pub blocks: usize,
    /// Time since measuring began, in seconds.
    pub seconds: f64,
    /// Time budget, in seconds; `None` if there is no limit.
    pub budget_seconds: Option<f64>,
}

/// Returns a status line with the number of blocks, the number of remaining commits, and the time.
pub fn search_status(standing: &SearchStanding<'_>) -> String {
    let elapsed = number::clock(standing.seconds);
    let time = match standing.budget_seconds {
        Some(budget) => format!("{elapsed} of {}", number::clock(budget)),
        None => elapsed,
    };
    if !standing.has_begun {
        return format!("block {}   do the two ends differ?   {time}", standing.blocks);
    }
    let mut candidates = standing.search.candidates();
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut sum = 0.0;
    let left = candidates.iter().take_while(|c| {
        let wanted = sum < ENOUGH;
        sum += c.probability;
        wanted
    });
    let left = counted(left.count().max(1), "commit");
    let rate = standing.seconds / standing.blocks.max(1) as f64;
    let ahead = standing.search.blocks_left().map_or_else(String::new, |blocks| {
        format!("   found in about {}", number::duration((blocks * rate).max(1.0)))
    });
    format!("block {}   {left} left{ahead}   {time}", standing.blocks)
}
