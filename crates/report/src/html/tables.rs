//! The tables of a page, with the results for every subject and every difference.
//!
//! There is one column per subject, because there are few subjects and many properties. A table of
//! two subjects fits on a phone.

use super::table::{Row, Table};
use crate::answers;
use crate::charts::{capital, whole_name};
use crate::label::label;
use crate::medians;
use crate::names::fitted;
use crate::number;
use crate::screen_table::{column_of, other_metrics};
use crate::words::{confidence, metric_name, verdict_word};
use assay_analysis::{Analysis, Comparison, Description, Effect, Verdict};
use assay_data::Unit;

/// Returns the CSS class for displaying a verdict.
pub(crate) fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "good",
        Verdict::Slower => "bad",
        Verdict::Equivalent => "plain",
        Verdict::Inconclusive => "unsure",
    }
}

/// Returns the tables that are part of the main result: the medians with the ratios to their
/// references, and the requests of a load test.
pub(super) fn answers(analysis: &Analysis) -> Vec<Table> {
    let mut tables = vec![medians(analysis)];
    tables.extend(answers::on_page(analysis));
    tables
}

/// Returns the tables that are not part of the main result.
pub(super) fn of(analysis: &Analysis) -> Vec<Table> {
    let mut tables = vec![values(analysis)];
    if !analysis.comparisons.is_empty() {
        tables.push(differences(analysis));
    }
    if !other_metrics(analysis).is_empty() {
        tables.push(others(analysis));
    }
    tables
}

fn names(analysis: &Analysis) -> Vec<String> {
    fitted(&analysis.names(), 40, "…")
}

/// Returns a table with a row for each subject: its median and, except for references, the ratio
/// and the verdict.
fn medians(analysis: &Analysis) -> Table {
    let column = column_of(analysis, analysis.primary, true);
    let is_compared = !analysis.comparisons.is_empty();
    let row = |(s, name): (usize, String)| {
        let described = analysis.primary_of(s);
        let median = described.map_or_else(String::new, |d| column.with_unit(d.median));
        let interval = described.and_then(|d| d.median_interval).map_or_else(String::new, |i| {
            format!("{} … {}", column.number(i.lower), column.with_unit(i.upper))
        });
        let mut cells = vec![name, median, interval];
        let own = analysis.comparisons.iter().find(|c| c.of == s);
        if is_compared {
            cells.push(own.map_or_else(String::new, ratio));
            cells.push(own.map_or_else(|| "reference".to_owned(), |c| verdict_word(analysis, c)));
        }
        Row { cells, tone: own.map_or("", |c| tone(c.decision.verdict)) }
    };
    let mut heads =
        vec![String::new(), "median".to_owned(), format!("{} interval", confidence(analysis))];
    if is_compared {
        heads.extend(["ratio".to_owned(), String::new()]);
    }
    let rows = names(analysis).into_iter().enumerate().map(row).collect();
    let title = capital(&whole_name(&analysis.metrics[analysis.primary]));
    let is_starred = |c: &Comparison| c.failing.is_none() && c.decision.may_not_matter();
    let told = match analysis.comparisons.iter().any(is_starred) {
        true => format!("* possibly by less than {}", number::threshold(&analysis.plan.threshold)),
        false => String::new(),
    };
    Table { title, told, heads, rows, kind: " answer" }.without_empty_columns()
}

fn values(analysis: &Analysis) -> Table {
    let column = column_of(analysis, analysis.primary, true);
    let unit = column.suffix().trim().to_owned();
    let subjects = 0..analysis.subjects.len();
    let row = |name: &str, cell: &dyn Fn(&Description) -> String| {
        let cells = subjects.clone().map(|s| analysis.primary_of(s).map_or_else(String::new, cell));
        std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let n = |value: f64| if value.is_finite() { column.number(value) } else { String::new() };
    let interval = |d: &Description| {
        d.median_interval.map_or_else(
            || medians::lacking(d).to_owned(),
            |i| {
                let condition = medians::condition(d.assumes_independence());
                format!("{} … {}{condition}", n(i.lower), n(i.upper))
            },
        )
    };
    let rows = vec![
        row("values", &|d| d.n.to_string()),
        row("median", &|d| n(d.median)),
        row(&format!("{} interval", confidence(analysis)), &interval),
        row("mean", &|d| n(d.mean)),
        row("standard deviation", &|d| n(d.standard_deviation)),
        row("smallest", &|d| n(d.min)),
        row("5 %", &|d| n(d.quantiles.p5)),
        row("25 %", &|d| n(d.quantiles.p25)),
        row("75 %", &|d| n(d.quantiles.p75)),
        row("95 %", &|d| n(d.quantiles.p95)),
        row("99 %", &|d| n(d.quantiles.p99)),
        row("largest", &|d| n(d.max)),
        row("far outliers (beyond 3 times the box; kept)", &|d| d.outliers.to_string()),
        row("effective sample size", &|d| number::fixed(d.effective(), 0)),
    ];
    let title = if unit.is_empty() {
        metric_name(analysis)
    } else {
        format!("{} ({unit})", metric_name(analysis))
    };
    Table::plain(format!("Values: {title}"), heads(names(analysis)), rows)
}

fn heads(names: Vec<String>) -> Vec<String> {
    std::iter::once(String::new()).chain(names).collect()
}

fn differences(analysis: &Analysis) -> Table {
    let names = names(analysis);
    let unit = &analysis.metrics[analysis.primary].unit;
    let compared = &analysis.comparisons;
    let row = |name: &str, cell: &dyn Fn(&Comparison) -> String| {
        std::iter::once(name.to_owned()).chain(compared.iter().map(cell)).collect::<Vec<_>>()
    };
    let rows = vec![
        row("verdict", &|c| c.decision.verdict.word().to_owned()),
        row("compared with", &|c| names[c.against].clone()),
        row("ratio", &ratio),
        row("difference", &|c| amount(c.shift, unit)),
        row("better in", &|c| number::share(c.wins.better, c.wins.of)),
        row("could detect", &|c| {
            c.detectable.map_or_else(String::new, |size| match c.decision.scale {
                assay_analysis::Scale::Ratio => number::percent(size.exp_m1()),
                assay_analysis::Scale::Shift => number::rough(size, unit),
            })
        }),
        row("level", &|c| number::percent_fine(c.level)),
    ];
    let heads = heads(compared.iter().map(|c| names[c.of].clone()).collect());
    Table::plain(format!("Differences: {}", metric_name(analysis)), heads, rows)
}

/// Formats the ratio of a comparison with its interval. Returns an empty string if there is no
/// ratio.
fn ratio(c: &Comparison) -> String {
    c.ratio.map_or_else(String::new, |r| {
        number::ratio(r.estimate, r.interval.map(|i| (i.lower, i.upper)))
    })
}

/// Formats an effect in the metric's unit with its interval.
fn amount(effect: Effect, unit: &Unit) -> String {
    let Some(i) = effect.interval.filter(|i| i.is_bounded()) else {
        return number::value(effect.estimate, unit);
    };
    let amounts = [effect.estimate, i.lower, i.upper];
    let column = number::Column::for_amounts(unit, &amounts, &[i.half_width()]);
    format!(
        "{} [{} … {}]",
        column.with_unit(effect.estimate),
        column.number(i.lower),
        column.number(i.upper)
    )
}

fn others(analysis: &Analysis) -> Table {
    let rows = other_metrics(analysis).into_iter().map(|metric| {
        let column = column_of(analysis, metric, false);
        let cells = analysis.subjects.iter().map(|s| {
            let known = s.metrics.get(metric).and_then(Option::as_ref);
            known.map_or_else(String::new, |d| column.with_unit(d.median))
        });
        std::iter::once(label(&analysis.metrics[metric])).chain(cells).collect()
    });
    let title = "Other metrics (medians)".to_owned();
    Table::plain(title, heads(names(analysis)), rows.collect())
}
