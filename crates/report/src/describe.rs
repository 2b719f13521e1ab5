//! Renders the terminal output of `assay describe`: each series in numbers, character graphics and
//! words.
//!
//! The typical value and its uncertainty come first, followed by the shape, the course over time
//! and the dependence, and finally the findings and their remedies. Charts are as wide as the page,
//! up to a width that can be taken in at a glance. Nothing is printed or decided here.

pub(crate) mod page;
mod pictures;
mod words;

use crate::findings;
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, STICKY, Tone};
use crate::medians;
use crate::names::width;
use crate::number::{self, Column, DECADES};
use crate::remarks::{List, Remarks};
use assay_analysis::policy;
use assay_analysis::series_summary::{
    Distribution, DistributionKind, SeriesSummaries, SeriesSummary, SummaryOnly,
};
use assay_data::Finding;

/// Minimum number of values for charts other than the box plot. Fewer values are listed.
const PICTURES_FROM: usize = 10;
/// Maximum length of a bar in a table of values, in columns.
const WIDEST_BAR: usize = 40;
/// Number of significant digits shown of a center whose spread is unknown.
const SUMMARY_DIGITS: i32 = 4;
/// Minimum number of values for a box plot.
const BOX_FROM: usize = 3;

/// Renders the series for the terminal. Every line ends with a newline. `remarks` determines how
/// much follows each series.
pub fn render(summaries: &SeriesSummaries, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let names: Vec<String> = summaries.series.iter().map(|p| p.name.clone()).collect();
    // Two metrics of the same subject share its name, and are distinguished by the metric.
    let mut distinct = names.clone();
    distinct.dedup();
    let short = page.fitted(&distinct, (page.width() / 2).clamp(8, 60));
    for (index, summary) in summaries.series.iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        let name = distinct.iter().position(|n| *n == summary.name).map_or("", |at| &short[at]);
        draw(&mut page, summary, name);
        let own = summary.findings.iter().filter(|finding| !is_shared(summaries, finding));
        List::of(remarks, &page, own).draw_apart(&mut page);
    }
    let all = summaries.series.iter().flat_map(|summary| &summary.findings);
    let shared = all.filter(|finding| is_shared(summaries, finding));
    let last: Vec<&Finding> = summaries.findings.iter().chain(shared).collect();
    if !summaries.left.is_empty() || !last.is_empty() {
        page.gap();
        summaries.left.iter().for_each(|left| say_left(&mut page, left));
        List::of(remarks, &page, last.into_iter()).draw(&mut page);
    }
    page.finish()
}

/// Returns true if a finding applies to several series alike. Such a finding is shown once, after
/// all series.
fn is_shared(summaries: &SeriesSummaries, finding: &Finding) -> bool {
    let mut all = summaries.series.iter().flat_map(|summary| &summary.findings);
    all.any(|other| findings::has_same_text(finding, other))
}

/// Writes what is known about a series of which only a summary was recorded.
fn say_left(page: &mut Page, left: &SummaryOnly) {
    let kind = if left.summary.mean.is_some() { "mean" } else { "median" };
    let centre = left.summary.location().map(|centre| {
        let column = Column::significant(&left.metric.unit, &[centre], SUMMARY_DIGITS);
        format!(": {kind} {}", column.with_unit(centre))
    });
    let n = left.summary.count.map(|n| format!(", {n} values"));
    let told = format!(
        "note: only a summary was recorded of {} of '{}'{}{}",
        label(&left.metric),
        page.spelled(&left.name),
        centre.unwrap_or_default(),
        n.unwrap_or_default()
    );
    page.paragraph(6, &[(Tone::Quiet, told)]);
}

/// Returns the unit and precision in which all values of a series are shown.
fn column(p: &SeriesSummary) -> Column {
    let d = &p.description;
    // Without an interval, or with one of zero width, the spread determines the digits shown.
    let spread = d.standard_deviation;
    let half_width = d.median_interval.map(|i| i.half_width()).filter(|width| *width > 0.0);
    // If one value is thousands of times larger than the others, it dominates the spread, and
    // rounding to that precision would reduce the others to zero.
    let [smallest, largest] = number::ends(&[d.median, d.min, d.max]);
    let spread = Some(spread).filter(|spread| *spread > 0.0 && largest < DECADES * smallest);
    let widths: Vec<f64> = half_width.or(spread).into_iter().collect();
    Column::new(&p.metric.unit, &[d.median, d.mean, p.shape.low, p.shape.high], &widths)
}

fn draw(page: &mut Page, p: &SeriesSummary, name: &str) {
    let column = column(p);
    headline(page, p, name, &column);
    numbers(page, p, &column);
    if p.distinct > 1 {
        let n = p.description.n;
        if n >= PICTURES_FROM {
            pictures::density(page, p);
        }
        if n >= BOX_FROM {
            pictures::box_plot(page, p);
            pictures::axis(page, p, &column);
            say(page, words::beyond(p, &column));
        }
        if n >= PICTURES_FROM {
            if p.repeated.is_empty() {
                head(page, "share of values up to there");
                pictures::ecdf(page, p);
            } else {
                head(page, "the different values");
                repeated(page, p, &column);
            }
            head(page, "over time");
            pictures::over_time(page, p, &column);
            say(page, words::over_time(p, &column));
        } else {
            head(page, "in the order of the file");
            say(page, words::listed(p, &column));
        }
        if n >= policy::CORRELOGRAM_FROM {
            head(page, "autocorrelation, by lag");
            pictures::correlogram(page, p);
            say(page, words::dependence(p));
        }
        if p.description.n >= policy::DISTRIBUTIONS_FROM {
            distributions(page, p, &column);
        }
        page.gap();
        for line in words::facts(p, &column) {
            say(page, line);
        }
        if let Some(found) = &p.levels {
            head(page, "levels of repetition");
            for line in words::levels(p, found) {
                say(page, line);
            }
        }
    }
}

fn head(page: &mut Page, text: &str) {
    page.gap();
    page.paragraph(2, &[(Tone::Quiet, text.to_owned())]);
}

fn say(page: &mut Page, text: String) {
    if !text.is_empty() {
        page.paragraph(2, &[(Tone::Plain, text)]);
    }
}

fn headline(page: &mut Page, p: &SeriesSummary, name: &str, column: &Column) {
    let d = &p.description;
    let interval = d.median_interval.map_or_else(String::new, |i| {
        format!(" [{}{STICKY}…{STICKY}{}]", column.number(i.lower), column.number(i.upper))
    });
    let claim =
        format!("{} of '{name}': {}{interval}", label(&p.metric), column.with_unit(d.median));
    crate::layout::said(page, Tone::Strong, claim, &medians::sureness(d, d.confidence));
}

fn numbers(page: &mut Page, p: &SeriesSummary, column: &Column) {
    let d = &p.descriptives;
    if d.n < 2 {
        return;
    }
    let shown = |name: &str, value: f64| format!("{name}{STICKY}{}", column.number(value));
    let suffix = column.suffix();
    let unit = if suffix.is_empty() { String::new() } else { format!(" ({})", suffix.trim()) };
    let quantiles = [
        ("min", d.min, 2),
        ("p25", d.p25, 4),
        ("p75", d.p75, 4),
        ("p90", d.p90, 10),
        ("p99", d.p99, 100),
        ("p99.9", d.p999, 1000),
        ("max", d.max, 2),
    ];
    // A quantile beyond the second largest value says no more than the largest value.
    let known = quantiles.iter().filter(|(.., from)| d.n >= *from);
    let quantiles: Vec<String> = known.map(|(name, v, _)| shown(name, *v)).collect();
    say(page, format!("{} values{unit}: {}", d.n, quantiles.join(" · ")));
    let spread = format!(
        "mean{STICKY}{}{STICKY}±{STICKY}{} (standard deviation) · {} · {}",
        column.number(d.mean),
        column.number(d.sd),
        shown("trimmed mean", d.trimmed_mean_10),
        shown("median deviation", d.mad_raw),
    );
    say(page, spread);
    if p.distinct > 1 && p.description.n >= BOX_FROM {
        head(page, "distribution");
    }
}

/// Draws a line for every distinct value with its share, a bar, and its count.
fn repeated(page: &mut Page, p: &SeriesSummary, column: &Column) {
    let rows = words::repeated_rows(p, column);
    let widest = |cell: usize| rows.iter().map(|row| width(&row[cell])).max().unwrap_or(0);
    let (value, share, count) = (widest(0), widest(1), widest(2));
    let most = p.repeated.iter().map(|same| same.count).max().unwrap_or(1) as f64;
    let room = page.width().saturating_sub(value + share + count + 8).min(WIDEST_BAR);
    let bar = if page.unicode() { "█" } else { "#" };
    for ([told, part, times], same) in rows.iter().zip(&p.repeated) {
        let long = (same.count as f64 / most * room as f64).round() as usize;
        let [told, part, times] = [(told, value), (part, share), (times, count)]
            .map(|(cell, wide)| format!("{}{cell}", " ".repeat(wide - width(cell))));
        let text = format!("  {told}  {part}  {times}  {}", bar.repeat(long));
        page.line(&vec![(Tone::Plain, page.spelled(&text))]);
    }
}

/// Draws the fitted distributions, best first.
fn distributions(page: &mut Page, p: &SeriesSummary, column: &Column) {
    if p.distributions.is_empty() {
        return;
    }
    head(
        page,
        "fitted distributions, and the largest distance of each from the data (Kolmogorov-Smirnov)",
    );
    for distribution in distributions_by_fit(p) {
        let (with, wrong) = distribution_told(&distribution, column);
        let text = format!("  {:<12}{wrong:>7}   {with}", distribution.kind.word());
        page.paragraph(4, &[(Tone::Plain, text)]);
    }
    say(page, words::tails(p));
}

/// Returns the fitted distributions, best first.
fn distributions_by_fit(p: &SeriesSummary) -> Vec<Distribution> {
    let mut distributions = p.distributions.clone();
    distributions.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    distributions
}

/// Returns the parameters of a distribution, and its distance from the data (Kolmogorov-Smirnov) in
/// percent.
fn distribution_told(distribution: &Distribution, column: &Column) -> (String, String) {
    let with = match distribution.kind {
        DistributionKind::Normal => {
            format!(
                "mean {}, sd {}",
                column.with_unit(distribution.mean),
                column.with_unit(distribution.sd)
            )
        }
        DistributionKind::Lognormal => format!(
            "median {}, spread × {}",
            column.with_unit(distribution.mean.exp()),
            number::fixed(distribution.sd.exp(), 2)
        ),
        DistributionKind::Exponential => format!("mean {}", column.with_unit(distribution.mean)),
    };
    (with, number::percent(distribution.distance))
}
