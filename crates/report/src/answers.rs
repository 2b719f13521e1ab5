//! Results of the requests of a load test as a table: one row for each side at each step, with the
//! failures by kind. Verdicts are shown with the metrics, not here.

use crate::charts::capital;
use crate::escape::escaped;
use crate::goals::is_search;
use crate::html::Table;
use crate::label::label;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::remarks::List;
use crate::small_table;
use crate::words::counted;
use applied::load;
use assay_analysis::Analysis;
use assay_analysis::slices::Answers;
use assay_data::code;
use assay_data::{Finding, Severity, Unit};

mod applied;
pub(crate) mod search;

use applied::name;

/// Title of the table of all requests of a load test.
const TOGETHER: &str = "requests of all slices together";
/// Title of the table of requests for a search for the highest rate. It covers only the requests at
/// the rate found by each search.
const AT_CAPACITY: &str = "requests at the highest rates that met the goals";

/// CSS class of tables whose headings are short enough not to be wrapped.
const WHOLE_WORDS: &str = " whole";

/// Maximum number of subjects that get a line about their connections.
const MOST_LINES: usize = 6;

/// The latency quantiles shown, each with its label.
const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Draws the table of requests below the applied load, and adds notes, such as those on
/// connections, to the remarks. Draws nothing if this is not a load test.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, remarks: &mut List) {
    if analysis.answers.is_empty() {
        return;
    }
    let (head, rows) = table(analysis);
    if !rows.is_empty() {
        page.gap();
        // The caption is a single line, so that the result and its checks fit below the answer.
        let (caption, protocol) = match (load(analysis), remarks.shows_all()) {
            (None, _) => (title(analysis).to_owned(), None),
            (Some(load), true) => (format!("{load}; {}", title(analysis)), None),
            (Some(_), false) => applied::briefly(analysis, page.width() - 1),
        };
        page.paragraph(2, &[(Tone::Quiet, format!("{caption}:"))]);
        let failed = |own: &&Answers| if own.count("failed") > 0 { Tone::Bad } else { Tone::Plain };
        let tones: Vec<Tone> = shown(analysis).iter().map(failed).collect();
        small_table::draw(page, &head, &rows, &tones);
        protocol.into_iter().for_each(|line| remarks.note(page, line));
    }
    for line in missed_goals(analysis) {
        remarks.check(page, 6, line);
    }
    notes(analysis).into_iter().for_each(|line| remarks.note(page, line));
}

/// Returns the tables for an HTML page: one of all requests, and one of the metrics by slice, where
/// each slice contributes one value.
pub(crate) fn on_page(analysis: &Analysis) -> Vec<Table> {
    if analysis.answers.is_empty() {
        return Vec::new();
    }
    let (heads, rows) = table(analysis);
    let mut requests = Table::plain(capital(title(analysis)), heads, rows);
    for (row, own) in requests.rows.iter_mut().zip(shown(analysis)) {
        row.tone = if own.count("failed") > 0 { "bad" } else { "" };
    }
    requests.told =
        load(analysis).into_iter().chain(all_notes(analysis)).collect::<Vec<_>>().join("; ");
    requests.kind = WHOLE_WORDS;
    std::iter::once(requests).chain(of_slices(analysis)).collect()
}

/// Returns the table of requests and its notes as Markdown; an empty string if this is not a load
/// test.
pub(crate) fn markdown(analysis: &Analysis) -> String {
    if analysis.answers.is_empty() {
        return String::new();
    }
    let (heads, rows) = table(analysis);
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = String::new();
    if !rows.is_empty() {
        text += &format!("\n{}:\n\n{}|:--|", capital(title(analysis)), line(&heads));
        text += &"--:|".repeat(heads.len() - 1);
        text.push('\n');
        rows.iter().for_each(|row| text += &line(row));
    }
    for note in load(analysis).into_iter().chain(all_notes(analysis)) {
        text += &format!("\n{}.\n", escaped(&note));
    }
    text
}

/// Returns a table of latencies and rates by slice. It shows medians with intervals, which account
/// for the dependence between requests of one slice. `None` if no such metric was recorded.
fn of_slices(analysis: &Analysis) -> Option<Table> {
    let is_shown = |name: &str| name.starts_with("latency_") || name == "rate_achieved";
    let mut metrics: Vec<usize> =
        (0..analysis.metrics.len()).filter(|&m| is_shown(&analysis.metrics[m].name)).collect();
    let is_known = |m: usize| {
        analysis.answers.iter().any(|own| analysis.subjects[own.subject].metrics[m].is_some())
    };
    metrics.retain(|&m| is_known(m));
    let heads = metrics.iter().map(|&m| label(&analysis.metrics[m]));
    let cell = |subject: usize, metric: usize| {
        let Some(d) = analysis.subjects[subject].metrics[metric].as_ref() else {
            return "-".to_owned();
        };
        let unit = &analysis.metrics[metric].unit;
        match d.median_interval.filter(|i| i.is_bounded()) {
            None => number::rough(d.median, unit),
            Some(i) => {
                let column = Column::new(unit, &[d.median, i.lower, i.upper], &[i.half_width()]);
                let [median, lower, upper] = [d.median, i.lower, i.upper].map(|v| column.number(v));
                format!("{median} [{lower} … {upper}]{}", column.suffix())
            }
        }
    };
    let row = |own: &Answers| {
        let cells = metrics.iter().map(|&metric| cell(own.subject, metric));
        std::iter::once(name(analysis, own.subject)).chain(cells).collect()
    };
    let title = format!(
        "Medians of the slices, with {} confidence intervals",
        number::chosen_percent(analysis.plan.confidence)
    );
    let heads = std::iter::once(String::new()).chain(heads).collect();
    let rows = analysis.answers.iter().map(row).collect();
    let mut table = Table::plain(title, heads, rows);
    table.kind = WHOLE_WORDS;
    if analysis.answers.iter().any(|own| own.count("failed") > 0) {
        table.told =
            "If more requests failed than a quantile leaves out, it is the time limit.".to_owned();
    }
    (!metrics.is_empty()).then_some(table)
}

fn title(analysis: &Analysis) -> &'static str {
    if is_search(analysis) { AT_CAPACITY } else { TOGETHER }
}

/// Returns the subjects with a row in the table. In a search for the highest rate, a subject that
/// met the goals at none of the rates has no row.
fn shown(analysis: &Analysis) -> Vec<&Answers> {
    let is_search = is_search(analysis);
    analysis.answers.iter().filter(|own| !is_search || own.count("due") > 0).collect()
}

/// Returns the headings and the rows of the table of requests: step and side, capacity (only in a
/// search), number of requests, their rate, share answered, latency quantiles, and failures if
/// there are any.
fn table(analysis: &Analysis) -> (Vec<String>, Vec<Vec<String>>) {
    let rate = analysis.metrics.iter().position(|metric| metric.name == "rate_achieved");
    let has_capacity = is_search(analysis);
    let mut head = vec![String::new()];
    head.extend(has_capacity.then(|| "capacity".to_owned()));
    head.push("requests".to_owned());
    head.extend(rate.map(|_| "rate".to_owned()));
    head.push("answered".to_owned());
    head.extend(SHOWN.iter().map(|(name, _)| (*name).to_owned()));
    let any_failed = analysis.answers.iter().any(|own| own.count("failed") > 0);
    if any_failed {
        head.push("failed".to_owned());
    }
    let row = |own: &Answers| {
        let (answered, failed) = (own.count("answered"), own.count("failed"));
        let all = answered + failed;
        let share = match (all, failed) {
            (0, _) => "-".to_owned(),
            (_, 0) => "100 %".to_owned(),
            _ => format!("{} %", three(answered as f64 / all as f64 * 100.0)),
        };
        let mut cells = vec![name(analysis, own.subject)];
        cells
            .extend(has_capacity.then(|| {
                search::capacity(analysis, own.subject).unwrap_or_else(|| "-".to_owned())
            }));
        cells.push(number::grouped(own.count("due")));
        cells.extend(rate.map(|rate| {
            let unit = &analysis.metrics[rate].unit;
            let found = analysis.subjects[own.subject].metrics.get(rate).and_then(Option::as_ref);
            found.map_or_else(|| "-".to_owned(), |own| number::rough(own.median, unit))
        }));
        cells.push(share);
        cells.extend(SHOWN.iter().map(|&(_, wanted)| latency(own, wanted)));
        if any_failed {
            let ways = own.failures().into_iter();
            let told: Vec<String> = ways
                .map(|(way, count)| format!("{} {}", number::grouped(count), way.replace('_', " ")))
                .collect();
            cells.push(told.join(", "));
        }
        cells
    };
    (head, shown(analysis).into_iter().map(row).collect())
}

/// Formats the latency within which the share `wanted` of the requests was answered.
fn latency(own: &Answers, wanted: f64) -> String {
    // A quantile is shown only if at least one request is expected to exceed it; otherwise it would
    // equal the maximum.
    let all = own.count("answered") + own.count("failed");
    let enough = all as f64 * (1.0 - wanted) >= 1.0;
    match own.within(wanted) {
        _ if !enough && wanted > 0.5 => "-".to_owned(),
        Some(value) if value.is_finite() => number::rough(value, &Unit::Second),
        Some(_) => "-".to_owned(),
        None => "never".to_owned(),
    }
}

/// Formats a percentage below 100 with at least one decimal, and with enough decimals that it is
/// not rounded to 100.
fn three(percent: f64) -> String {
    for digits in 1..6 {
        let text = format!("{percent:.digits$}");
        if !text.starts_with("100") {
            return text;
        }
    }
    "99.99999".to_owned()
}

/// Returns true if a finding is about a goal missed above the measured capacity. Such findings are
/// shown below the table.
pub(crate) fn is_goal_missed(finding: &Finding) -> bool {
    finding.is(code::CAPACITY_LIMIT) && finding.severity == Severity::Note
}

/// Returns the messages of the findings about missed goals.
fn missed_goals(analysis: &Analysis) -> impl Iterator<Item = String> {
    analysis.findings.iter().filter(|own| is_goal_missed(own)).map(|own| own.message.clone())
}

fn all_notes(analysis: &Analysis) -> impl Iterator<Item = String> {
    missed_goals(analysis).chain(notes(analysis))
}

/// Returns notes on connections, TLS handshakes, redirects and interrupted requests.
fn notes(analysis: &Analysis) -> Vec<String> {
    let mut lines = applied::all_connections(analysis, MOST_LINES);
    let sum = |name: &str| analysis.answers.iter().map(|own| own.count(name)).sum::<u64>();
    let (full, resumed) = (sum("full_handshakes"), sum("resumed_handshakes"));
    if full + resumed > 0 {
        lines.push(format!("TLS handshakes: {full} full, {resumed} resumed"));
    }
    let unknown = sum("unknown");
    if unknown > 0 {
        lines.push(format!(
            "{unknown} requests were still in progress when their slice was cut short"
        ));
    }
    lines.extend(redirections(&analysis.answers));
    lines
}

/// Returns a note with the number of redirects that were followed and of those that were not;
/// `None` if there were no redirects.
fn redirections(all: &[Answers]) -> Option<String> {
    let redirected: u64 = all.iter().map(|own| own.count("redirected")).sum();
    let not_followed = |name: &str| match name.strip_prefix("status.3") {
        Some(rest) => rest != "04",
        None => matches!(name, "failed.redirected_away" | "failed.redirect_loop"),
    };
    let counts = all.iter().flat_map(|own| &own.counts).filter(|(name, _)| not_followed(name));
    let kept: u64 = counts.map(|(_, count)| *count).sum();
    let followed = redirected.saturating_sub(kept);
    let told = [(followed, "followed"), (kept.min(redirected), "not followed")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{} {how}", counted(count as usize, "redirection")));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_are_followed_or_not() {
        let told = |counts: &[(&str, u64)]| {
            let counts = counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
            redirections(&[Answers {
                subject: 0,
                slices: 1,
                counts,
                latency: assay_data::Histogram::default(),
                service: assay_data::Histogram::default(),
                by_slice: Vec::new(),
                seconds: Vec::new(),
            }])
        };
        assert_eq!(
            told(&[("redirected", 5), ("status.200", 5)]).as_deref(),
            Some("5 redirections followed")
        );
        assert_eq!(
            told(&[("redirected", 1), ("status.302", 1)]).as_deref(),
            Some("1 redirection not followed")
        );
        let both = [("redirected", 7), ("status.301", 3), ("status.304", 9), ("status.200", 4)];
        assert_eq!(
            told(&both).as_deref(),
            Some("4 redirections followed, 3 redirections not followed")
        );
        let away = [("redirected", 3), ("failed.redirected_away", 3)];
        assert_eq!(told(&away).as_deref(), Some("3 redirections not followed"));
        assert_eq!(told(&[("status.304", 9)]), None);
    }

    #[test]
    fn a_failure_never_rounds_to_a_hundred_per_cent() {
        assert_eq!(three(99.95), "99.95");
        assert_eq!(three(99.999), "99.999");
        assert_eq!(three(82.06), "82.1");
    }
}
