//! Screen table of all classical tests, one row each with statistic, p-value and interval.
//!
//! The table is a digest for human readers; the JSON has all numbers. The tests must not be sorted
//! by their results: the verdict is shown above the table and does not depend on them.

use crate::html::Table;
use crate::layout::{Page, Tone};
use crate::names::clean;
use crate::number;
use crate::small_table;
use crate::words;
use assay_analysis::battery::{Computed, GroupTests, Interval, Intervals, PairTests};
use assay_analysis::coverage::{Method, speaks_for};
use assay_analysis::{Analysis, Comparison};
use assay_data::{Design, Metric, Unit};

/// Maximum number of comparisons whose tests are shown; the rest are only in the JSON.
const MOST: usize = 20;

/// Cells of one row: test, statistic, p-value, interval.
type Row = [String; 4];

/// The tests of one comparison, or of all subjects together.
struct Tests {
    title: String,
    rows: Vec<Vec<String>>,
    /// Footnotes of the table, each with its tone on the screen.
    notes: Vec<(Tone, String)>,
}

/// Returns the column headings of the tables of tests.
fn heads(analysis: &Analysis) -> [String; 4] {
    let confidence = number::chosen_percent(analysis.plan.confidence);
    ["test", "statistic", "p", &confidence].map(str::to_owned)
}

/// Returns a sentence with the number of comparisons whose tests are only in the JSON. Returns
/// `None` if all are shown.
fn left_out(analysis: &Analysis) -> Option<String> {
    let pairs = analysis.battery.as_ref()?.pairs.len();
    let more = pairs.checked_sub(MOST).filter(|&more| more > 0)?;
    Some(format!("the tests of {more} more comparisons are in the JSON (--json)"))
}

/// Draws the tests of every comparison, then those of all subjects together.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, names: &[String]) {
    let (pairs, together) = of(analysis, names);
    let draw = |page: &mut Page, tests: &Tests| {
        page.gap();
        page.paragraph(2, &[(Tone::Plain, format!("{}:", tests.title))]);
        let head = &heads(analysis)[..tests.rows.first().map_or(0, Vec::len)];
        small_table::draw(page, head, &tests.rows, &vec![Tone::Plain; tests.rows.len()]);
        for (tone, told) in &tests.notes {
            let hanging = if *tone == Tone::Unsure { 5 } else { 2 };
            page.paragraph(hanging, &[(*tone, format!("  {told}"))]);
        }
    };
    pairs.iter().for_each(|tests| draw(page, tests));
    if let Some(told) = left_out(analysis) {
        page.gap();
        page.paragraph(2, &[(Tone::Quiet, told)]);
    }
    together.iter().for_each(|tests| draw(page, tests));
}

/// Returns the classical tests as tables of an HTML page; empty if they were not requested.
pub(crate) fn on_page(analysis: &Analysis, names: &[String]) -> Vec<Table> {
    let (pairs, together) = of(analysis, names);
    let table = |tests: Tests| {
        let told: Vec<String> = tests.notes.into_iter().map(|(_, told)| clean(&told)).collect();
        let heads = &heads(analysis)[..tests.rows.first().map_or(0, Vec::len)];
        let table = Table::plain(clean(&tests.title), heads.to_vec(), tests.rows);
        Table { told: told.join("; "), ..table }
    };
    let mut tables: Vec<Table> = pairs.into_iter().chain(together).map(table).collect();
    if let (Some(told), Some(last)) = (left_out(analysis), tables.last_mut()) {
        last.told += &format!("{}{told}", if last.told.is_empty() { "" } else { "; " });
    }
    tables
}

/// Returns the tests of every comparison, and the tests of all subjects together if there are more
/// than two subjects.
fn of(analysis: &Analysis, names: &[String]) -> (Vec<Tests>, Option<Tests>) {
    let Some(battery) = &analysis.battery else { return (Vec::new(), None) };
    let metric = &analysis.metrics[analysis.primary];
    let confidence = analysis.plan.confidence;
    let of_pair = |(comparison, tests): (&Comparison, &PairTests)| {
        let name = |subject: usize| {
            let side = analysis.subjects[subject].side;
            if analysis.is_suite() { &analysis.sides[side].name } else { &names[subject] }
        };
        let (of, against) = (name(comparison.of), name(comparison.against));
        let mut title = format!("{} against {}", words::quoted(of), words::quoted(against));
        if analysis.is_suite() {
            title = format!("{}, {title}", analysis.row_of(comparison).name);
        }
        let mut rows = pair(tests, metric, confidence);
        let footnotes = mark_optimistic(&mut rows, tests, confidence);
        let apart = comparison.design != Design::Blocks;
        let mut notes: Vec<(Tone, String)> = Vec::new();
        notes.extend(directions(tests, of, against, apart).into_iter().map(|d| (Tone::Quiet, d)));
        notes.extend(footnotes.into_iter().map(|f| (Tone::Unsure, format!("*: {f}"))));
        notes.extend(reasons(tests).into_iter().map(|r| (Tone::Quiet, format!("-: {r}"))));
        Tests { title, rows: rows.into_iter().map(Vec::from).collect(), notes }
    };
    let pairs = analysis.comparisons.iter().zip(&battery.pairs).take(MOST).map(of_pair).collect();
    let groups = battery.groups.as_ref().filter(|_| analysis.subjects.len() > 2);
    let together = groups.map(|groups| Tests {
        title: "all subjects together".to_owned(),
        rows: together(groups).into_iter().map(Vec::from).collect(),
        notes: Vec::new(),
    });
    (pairs, together)
}

/// Appends a star to the name of every test whose intervals contain the true value less often than
/// their nominal confidence promises. Returns one footnote per kind of data that causes this, with
/// the share of intervals that contained the true value in simulations.
fn mark_optimistic(rows: &mut [Row], tests: &PairTests, confidence: f64) -> Vec<String> {
    let (both, pairs) = (Some(tests.situation), tests.situation_of_pairs);
    let methods = [
        ("Student's t", Method::PooledT, both),
        ("Welch's t", Method::Welch, both),
        ("paired t", Method::MeanT, pairs),
        ("Mann-Whitney", Method::ShiftAsymptotic, both),
        ("signed ranks", Method::PseudoMedianAsymptotic, pairs),
        ("Brunner-Munzel", Method::BrunnerMunzel, both),
        ("ratio of means", Method::Fieller, both),
    ];
    let mut found: Vec<(&'static str, f64, f64)> = Vec::new();
    for (name, method, situation) in methods {
        let row = rows.iter_mut().find(|row| row[0] == name && row[3].starts_with('['));
        let known = situation.filter(|_| speaks_for(confidence));
        let warning = known.and_then(|s| s.warning(method).map(|w| (s.words(w.situation), w)));
        let (Some(row), Some((words, warning))) = (row, warning) else { continue };
        row[0].push('*');
        let share = warning.simulated;
        match found.iter_mut().find(|(known, ..)| *known == words) {
            Some((_, least, most)) => (*least, *most) = (least.min(share), most.max(share)),
            None => found.push((words, share, share)),
        }
    }
    let told = |(words, least, most): (&str, f64, f64)| {
        let whole = |share: f64| format!("{:.0}", 100.0 * share);
        let (least, most) = (whole(least), whole(most));
        let range = if least == most { least } else { format!("{least} to {most}") };
        let worst = if tests.situation.traits.unseen { " at worst" } else { "" };
        format!(
            "with {words} such 95 % intervals contained the true value in only {range} % of simulated experiments{worst}"
        )
    };
    found.into_iter().map(told).collect()
}

/// Returns notes on the direction of two probabilities, which R defines in opposite ways, and on
/// how pairs were formed from separate recordings.
fn directions(tests: &PairTests, of: &str, against: &str, apart: bool) -> Vec<String> {
    let mut told = Vec::new();
    if tests.brunner_munzel.is_ok() {
        told.push(format!(
            "Brunner-Munzel: the interval is that of P({of} < {against}), ties half"
        ));
    }
    if tests.effect_size.is_ok() {
        told.push(format!("A12: P({against} < {of}), ties half"));
    }
    if apart && (tests.t_paired.is_ok() || tests.wilcoxon_signed_rank.is_ok()) {
        told.push("paired t, signed ranks: pairs by order of recording".to_owned());
    }
    told
}

/// Returns the distinct reasons for which tests have no result.
fn reasons(tests: &PairTests) -> Vec<&'static str> {
    let missing = [
        tests.t_welch.as_ref().err(),
        tests.t_paired.as_ref().err(),
        tests.brunner_munzel.as_ref().err(),
        tests.ratio_of_means.as_ref().err(),
    ];
    let mut told = Vec::new();
    for reason in missing.into_iter().flatten().map(|missing| missing.words()) {
        if !told.contains(&reason) {
            told.push(reason);
        }
    }
    told
}

fn pair(tests: &PairTests, metric: &Metric, confidence: f64) -> Vec<Row> {
    let plain = Unit::One;
    let within = |all: &Intervals, unit: &Unit| {
        let found = all.iter().find(|(known, _)| (known - confidence).abs() < 1e-9);
        ends(found.and_then(|(_, interval)| *interval), unit)
    };
    let mut rows = Vec::new();
    let mut put = |name: &str, found: Computed<[String; 3]>| {
        let cells = found.unwrap_or_else(|_| ["-", "-", "-"].map(str::to_owned));
        let [statistic, p, interval] = cells;
        rows.push([name.to_owned(), statistic, p, interval]);
    };
    for (name, test) in [
        ("Student's t", &tests.t_pooled),
        ("Welch's t", &tests.t_welch),
        ("paired t", &tests.t_paired),
    ] {
        let cells = |m: &_| {
            let m: &assay_analysis::battery::Means = m;
            [statistic("t", m.test.t), p(m.p.two), within(&m.intervals, &metric.unit)]
        };
        put(name, test.as_ref().map(cells).map_err(|missing| *missing));
    }
    let shift = tests.hodges_lehmann.as_ref().ok().and_then(|s| s.asymptotic.as_ref());
    let shift = shift.map_or_else(String::new, |all| within(all, &metric.unit));
    put(
        "Mann-Whitney",
        tests.mann_whitney.as_ref().map_err(|missing| *missing).map(|m| {
            let best = m.exact.unwrap_or(m.asymptotic).two;
            [ranked("U", m.u.0), p(best), shift]
        }),
    );
    put(
        "signed ranks",
        tests.wilcoxon_signed_rank.as_ref().map_err(|missing| *missing).map(|ranks| {
            let best = ranks.exact.as_ref().map_or(ranks.asymptotic, |exact| exact.p).two;
            [ranked("V", ranks.v), p(best), within(&ranks.asymptotic_ci, &metric.unit)]
        }),
    );
    put(
        "Brunner-Munzel",
        tests
            .brunner_munzel
            .as_ref()
            .map_err(|missing| *missing)
            .map(|b| [statistic("t", b.statistic), p(b.p.two), within(&b.intervals, &plain)]),
    );
    put(
        "Kolmogorov-Smirnov",
        tests
            .ks_two_sample
            .as_ref()
            .map_err(|missing| *missing)
            .map(|ks| [statistic("D", ks.d), p(ks.p_two), String::new()]),
    );
    put(
        "equal variances",
        tests
            .f_test_variance
            .as_ref()
            .map_err(|missing| *missing)
            .map(|f| [statistic("F", f.f), p(f.p_two), String::new()]),
    );
    put(
        "equivalence",
        tests.tost.as_ref().map_err(|missing| *missing).map(|[_, _, own]| {
            let margin = format!("± {}", number::value(own.margin, &metric.unit));
            [margin, p(own.p()), String::new()]
        }),
    );
    put(
        "ratio of means",
        tests
            .ratio_of_means
            .as_ref()
            .map_err(|missing| *missing)
            .map(|r| [statistic("r", r.ratio), String::new(), within(&r.fieller, &plain)]),
    );
    put(
        "A12",
        tests
            .effect_size
            .as_ref()
            .map_err(|missing| *missing)
            .map(|e| [short(e.a12), String::new(), String::new()]),
    );
    put(
        "Cohen's d",
        tests
            .effect_size
            .as_ref()
            .map_err(|missing| *missing)
            .map(|e| [short(e.cohen_d), String::new(), String::new()]),
    );
    rows
}

fn together(groups: &GroupTests) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for (name, symbol, test) in [
        ("Kruskal-Wallis", "H", groups.kruskal_wallis.map(|t| (t.statistic, t.p))),
        ("analysis of variance", "F", groups.anova_oneway.map(|t| (t.f, t.p))),
        ("Welch's anova", "F", groups.anova_welch.map(|t| (t.f, t.p))),
        ("Levene", "F", groups.levene_median.map(|t| (t.f, t.p))),
        ("Fligner-Killeen", "X2", groups.fligner_killeen.map(|t| (t.statistic, t.p))),
    ] {
        let (value, tail) = test.unwrap_or((f64::NAN, f64::NAN));
        rows.push([name.to_owned(), statistic(symbol, value), p(tail)]);
    }
    let pairwise = &groups.pairwise;
    for ((first, second), holm) in pairwise.pairs.iter().zip(&pairwise.holm) {
        rows.push([format!("{first} | {second}"), "Holm".to_owned(), p(*holm)]);
    }
    rows
}

fn ends(interval: Option<Interval>, unit: &Unit) -> String {
    let Some(Interval { lower, upper }) = interval.filter(Interval::is_bounded) else {
        return "-".to_owned();
    };
    let column = number::Column::new(unit, &[lower, upper], &[(upper - lower) / 2.0]);
    format!("[{} … {}]", column.number(lower), column.with_unit(upper))
}

fn statistic(symbol: &str, value: f64) -> String {
    format!("{symbol} {}", short(value))
}

/// Formats a sum of ranks without rounding, so that it can be compared with R's output. The sum is
/// a multiple of one half.
fn ranked(symbol: &str, sum: f64) -> String {
    if sum.is_finite() && sum.abs() < 1e15 && (2.0 * sum).fract() == 0.0 {
        format!("{symbol} {:.*}", usize::from(sum.fract() != 0.0), sum)
    } else {
        statistic(symbol, sum)
    }
}

/// Formats a value with four significant digits and without a unit prefix.
fn short(value: f64) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    if value != 0.0 && !(1e-3..1e7).contains(&value.abs()) {
        format!("{value:.3e}")
    } else {
        let digits = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
        format!("{value:.*}", (3 - digits).clamp(0, 6) as usize)
    }
}

fn p(value: f64) -> String {
    if value.is_nan() { short(value) } else { number::p_alone(value.log10()) }
}
