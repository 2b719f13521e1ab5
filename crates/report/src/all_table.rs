//! Every classical test on the screen: a row each with statistic, p and interval.
//!
//! A digest for the eye; all numbers are in the JSON. It must not order the tests by what they
//! found: the verdict is above, and does not come from here.

use crate::layout::{Page, Tone};
use crate::number;
use crate::small_table;
use crate::words;
use assay_analysis::Analysis;
use assay_analysis::battery::{Found, GroupTests, Interval, Intervals, PairTests};
use assay_analysis::coverage::{Method, speaks_for};
use assay_data::{Design, Metric, Unit};

/// Tests of more comparisons than these are left to the JSON.
const MOST: usize = 20;

/// One row: test, statistic, p, interval.
type Row = [String; 4];

/// Draws the tests of every comparison, then those of all subjects together.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, names: &[String]) {
    let Some(battery) = &analysis.battery else { return };
    let metric = &analysis.metrics[analysis.primary];
    let confidence = analysis.plan.confidence;
    let head = ["test", "statistic", "p", &number::chosen_percent(confidence)].map(str::to_owned);
    for (comparison, tests) in analysis.comparisons.iter().zip(&battery.pairs).take(MOST) {
        page.gap();
        let name = |subject: usize| {
            let side = analysis.subjects[subject].side;
            if analysis.is_suite() { &analysis.sides[side].name } else { &names[subject] }
        };
        let (of, against) = (name(comparison.of), name(comparison.against));
        let mut title = format!("{} against {}:", words::quoted(of), words::quoted(against));
        if analysis.is_suite() {
            title = format!("{}, {title}", analysis.row_of(comparison).name);
        }
        page.paragraph(2, &[(Tone::Plain, title)]);
        let mut rows = pair(tests, metric, confidence);
        let footnotes = mark_optimistic(&mut rows, tests, confidence);
        small_table::draw(page, &head, &rows, &vec![Tone::Plain; rows.len()]);
        for told in directions(tests, of, against, comparison.design != Design::Blocks) {
            page.paragraph(2, &[(Tone::Quiet, format!("  {told}"))]);
        }
        for footnote in footnotes {
            page.paragraph(5, &[(Tone::Unsure, format!("  *: {footnote}"))]);
        }
        for reason in reasons(tests) {
            page.paragraph(2, &[(Tone::Quiet, format!("  -: {reason}"))]);
        }
    }
    if let Some(more) = battery.pairs.len().checked_sub(MOST + 1) {
        page.gap();
        let told = format!("the tests of {} more comparisons are in the JSON (--json)", more + 1);
        page.paragraph(2, &[(Tone::Quiet, told)]);
    }
    if let Some(groups) = &battery.groups
        && analysis.subjects.len() > 2
    {
        page.gap();
        page.paragraph(2, &[(Tone::Plain, "all subjects together:".to_owned())]);
        let head = ["test", "statistic", "p"].map(str::to_owned);
        let rows = together(groups);
        small_table::draw(page, &head, &rows, &vec![Tone::Plain; rows.len()]);
    }
}

/// Puts a star behind the name of every test whose interval promises more than it keeps, and says how much more: one line for
/// each kind of data that makes it so.
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

/// Which way round the two shares of pairs are, which R's tests have each in its own way; and what the pairs are of recordings that
/// were taken apart.
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

/// Why some of the tests have no answer, each reason once.
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
    let mut put = |name: &str, found: Found<[String; 3]>| {
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

/// A sum of ranks, which is a whole number or a half: told whole, so that it can be looked up in R's answer.
fn ranked(symbol: &str, sum: f64) -> String {
    if sum.is_finite() && sum.abs() < 1e15 && (2.0 * sum).fract() == 0.0 {
        format!("{symbol} {:.*}", usize::from(sum.fract() != 0.0), sum)
    } else {
        statistic(symbol, sum)
    }
}

/// Four significant digits, without a scale.
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
