//! Benchmarks on all targets: each target's change with its interval, the mean over targets with
//! their heterogeneity, and the course over versions.

use super::matrix::{VersionSentence, tone};
use super::{Around, Frame};
use crate::claim::heterogeneity;
use crate::names::clean;
use crate::number;
use askama::Template;
use assay_analysis::Verdict;
use assay_analysis::farm::{BenchmarkOnTargets, Judged, OnTarget, Project, words};
use assay_analysis::verdict::Decision;
use std::fmt::Write;

/// One benchmark of a version as a single row. The targets are listed on the benchmark's own page.
pub(super) struct SpeedRow {
    pub link: String,
    pub name: String,
    pub metric: String,
    /// The mean over all targets.
    pub pooled: String,
    pub pooled_tone: &'static str,
    pub differ: String,
    pub counts: String,
}

impl SpeedRow {
    pub(super) fn all(frame: &Frame, owner: &str, name: &str, judged: &Judged) -> Vec<Self> {
        let row = |benchmark: &BenchmarkOnTargets| Self {
            link: link(frame, owner, name, &benchmark.name, &benchmark.metric),
            name: clean(&benchmark.name),
            metric: clean(&benchmark.metric),
            pooled: benchmark
                .pooled
                .as_ref()
                .map_or_else(String::new, |pooled| change(&pooled.decision)),
            pooled_tone: benchmark
                .pooled
                .as_ref()
                .map_or("", |pooled| verdict_tone(&pooled.decision)),
            differ: differ(benchmark),
            counts: counts(benchmark),
        };
        judged.benchmarks.iter().map(row).collect()
    }
}

pub(super) fn link(
    frame: &Frame,
    owner: &str,
    name: &str,
    benchmark: &str,
    metric: &str,
) -> String {
    let [benchmark, metric] = [benchmark, metric].map(crate::site::encoded);
    format!("{}/benchmark?name={benchmark}&metric={metric}", frame.of_project(owner, name))
}

/// Formats a decision on the logarithmic scale as `+5.0 % [+4.4 … +5.6]`.
fn change(decision: &Decision) -> String {
    let ends = decision.interval.map(|interval| (interval.lower.exp(), interval.upper.exp()));
    number::change(decision.estimate.exp(), ends)
}

fn verdict_tone(decision: &Decision) -> &'static str {
    match decision.verdict {
        Verdict::Slower if !decision.possibly_below_threshold => "bad",
        Verdict::Faster if !decision.possibly_below_threshold => "good",
        _ => "",
    }
}

fn verdict(decision: &Decision) -> String {
    let possibly =
        if decision.possibly_below_threshold { ", perhaps too little to matter" } else { "" };
    let word = match decision.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Equivalent => "no difference that matters",
        Verdict::Inconclusive => "not known yet",
    };
    format!("{word}{possibly}")
}

fn differ(benchmark: &BenchmarkOnTargets) -> String {
    let Some(pooled) = &benchmark.pooled else { return String::new() };
    let i2 = number::fixed(100.0 * pooled.pooled.i2, 0);
    if pooled.differ { format!("yes (I² {i2} %)") } else { format!("I² {i2} %") }
}

/// Returns the number of targets for each verdict.
fn counts(benchmark: &BenchmarkOnTargets) -> String {
    let of =
        |verdict: Verdict| benchmark.on.iter().filter(|on| on.decision.verdict == verdict).count();
    let said = [
        (of(Verdict::Slower), "slower"),
        (of(Verdict::Faster), "faster"),
        (of(Verdict::Equivalent), "the same"),
        (of(Verdict::Inconclusive), "not known"),
    ];
    let told = said.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    told.collect::<Vec<_>>().join(", ")
}

fn sentences(project: &Project, benchmark: &BenchmarkOnTargets) -> Vec<VersionSentence> {
    let worse = benchmark.worse.iter().map(|moved| (moved, true, words::Tone::Bad));
    let improved = benchmark.improved.iter().map(|moved| (moved, false, words::Tone::Good));
    worse
        .chain(improved)
        .map(|(moved, is_worse, of)| VersionSentence {
            tone: tone(of),
            text: clean(&words::moved(project, benchmark, moved, is_worse)),
        })
        .collect()
}

/// The input of a benchmark's page.
#[derive(Clone, Copy, Debug)]
pub struct BenchmarkPage<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// Owner of the project.
    pub owner: &'a str,
    /// Project name.
    pub name: &'a str,
    /// Name of the benchmark.
    pub benchmark: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// The known results.
    pub project: &'a Project,
    /// The versions shown, newest first, with their verdicts.
    pub judged: &'a [Judged],
    /// Path of the page, within the history, with the benchmark's values over time; `None` if none
    /// were stored.
    pub history: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "farm/benchmark.html")]
struct Page {
    around: Around,
    project: String,
    project_link: String,
    name: String,
    metric: String,
    history: Option<String>,
    versions: Vec<OfVersion>,
}

/// The results of one version of the benchmark.
struct OfVersion {
    version: String,
    base: String,
    said: Vec<VersionSentence>,
    rows: Vec<Target>,
    note: String,
    /// Position of "no change" in the charts, in thousandths of their width.
    zero: u32,
}

struct Target {
    name: String,
    change: String,
    verdict: String,
    tone: &'static str,
    n: String,
    is_pooled: bool,
    bar: Bar,
}

/// The interval drawn for a target or for the mean. Positions are in thousandths of the chart's
/// width.
struct Bar {
    from: u32,
    to: u32,
    at: u32,
    /// The corners of the diamond that represents a mean.
    diamond: String,
}

/// The range of the axis that all charts of a version share, on the logarithmic scale.
struct Line {
    low: f64,
    high: f64,
}

impl Line {
    fn of(all: &[(f64, f64)]) -> Self {
        // The range is at least ±2 %, so that mere noise does not fill the page, and at most a
        // factor of 4.
        let (mut low, mut high) = (-0.02_f64, 0.02_f64);
        for (lower, upper) in all {
            low = low.min(*lower);
            high = high.max(*upper);
        }
        let pad = 0.05 * (high - low);
        Self { low: (low - pad).max(-1.4), high: (high + pad).min(1.4) }
    }

    fn at(&self, log: f64) -> u32 {
        let share = (log - self.low) / (self.high - self.low);
        if share.is_finite() { (1000.0 * share.clamp(0.0, 1.0)).round() as u32 } else { 0 }
    }

    fn bar(&self, decision: &Decision, is_mean: bool) -> Bar {
        let at = self.at(decision.estimate);
        let (from, to) = decision
            .interval
            .map_or((at, at), |interval| (self.at(interval.lower), self.at(interval.upper)));
        let mut diamond = String::new();
        if is_mean {
            let _infallible = write!(diamond, "{from},12 {at},4 {to},12 {at},20");
        }
        Bar { from, to, at, diamond }
    }
}

impl OfVersion {
    fn of(page: &BenchmarkPage<'_>, judged: &Judged) -> Option<Self> {
        let benchmark = judged
            .benchmarks
            .iter()
            .find(|b| b.name == page.benchmark && b.metric == page.metric)?;
        let ends = |decision: &Decision| {
            let interval = decision.interval?;
            interval.is_bounded().then_some((interval.lower, interval.upper))
        };
        let decisions = benchmark.on.iter().map(|on| &on.decision);
        let decisions = decisions.chain(benchmark.pooled.iter().map(|pooled| &pooled.decision));
        let line = Line::of(&decisions.filter_map(ends).collect::<Vec<_>>());
        let on = |on: &OnTarget| Target {
            name: clean(page.project.targets.get(on.target).map_or("", |target| &target.name)),
            change: change(&on.decision),
            verdict: verdict(&on.decision),
            tone: verdict_tone(&on.decision),
            n: number::grouped(on.n),
            is_pooled: false,
            bar: line.bar(&on.decision, false),
        };
        let mut rows: Vec<Target> = benchmark.on.iter().map(on).collect();
        rows.extend(benchmark.pooled.as_ref().map(|pooled| Target {
            name: format!("mean over {} targets", pooled.pooled.k),
            change: change(&pooled.decision),
            verdict: verdict(&pooled.decision),
            tone: verdict_tone(&pooled.decision),
            n: String::new(),
            is_pooled: true,
            bar: line.bar(&pooled.decision, true),
        }));
        let version = |place: usize| page.project.versions.get(place).map(|name| clean(name));
        let base = benchmark.on.iter().find_map(|on| version(on.base?));
        Some(Self {
            version: version(judged.version).unwrap_or_default(),
            base: base.unwrap_or_else(|| "an older version".to_owned()),
            said: sentences(page.project, benchmark),
            note: note(benchmark),
            zero: line.at(0.0),
            rows,
        })
    }
}

fn note(benchmark: &BenchmarkOnTargets) -> String {
    let Some(effect) = &benchmark.pooled else { return String::new() };
    let pooled = &effect.pooled;
    let prediction = pooled.prediction(0.95);
    let differ = if effect.differ {
        let of = |log: f64| number::change(log.exp(), None);
        format!(
            "The targets differ by more than their errors: on the next one it may be {} to {}",
            of(prediction.lower),
            of(prediction.upper)
        )
    } else {
        "The targets differ by no more than their errors explain".to_owned()
    };
    format!("{differ} ({}).", heterogeneity(pooled))
}

/// Renders the page of a benchmark.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn benchmark(of: &BenchmarkPage<'_>) -> Result<String, askama::Error> {
    Page {
        around: Around::of(of.frame, &format!("{} · {}/{}", of.benchmark, of.owner, of.name)),
        project: clean(&format!("{}/{}", of.owner, of.name)),
        project_link: of.frame.of_project(of.owner, of.name),
        name: clean(of.benchmark),
        metric: clean(of.metric),
        history: of.history.map(|place| of.frame.of_history(of.owner, of.name, place)),
        versions: of.judged.iter().filter_map(|judged| OfVersion::of(of, judged)).collect(),
    }
    .render()
}
