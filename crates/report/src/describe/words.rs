//! Plain-language descriptions of what the charts of a series show.

use crate::layout::STICKY;
use crate::medians;
use crate::number::{self, Column};
use assay_analysis::levels::{Nested, plural};
use assay_analysis::policy;
use assay_analysis::series_summary::{RepeatedValue, SeriesSummary, SteadyLabel};

/// The cost of a unit relative to a unit of the level below it, in an example of expensive units.
const DEAR: f64 = 100.0;

/// Formats a p-value for a sentence.
pub(super) fn p_value(p: f64) -> String {
    number::p_value(p.log10())
}

/// Smallest approximate p-value shown. The p-values of normality tests come from curves fitted to
/// simulations, so their digits are meaningless far in the tail.
const SMALLEST_APPROXIMATE: f64 = 1e-16;

/// Formats an approximate p-value for a sentence.
fn p_approximate(p: f64) -> String {
    if p < SMALLEST_APPROXIMATE { "p < 1e-16".to_owned() } else { p_value(p) }
}

/// Describes the course over time.
pub(super) fn over_time(p: &SeriesSummary, column: &Column) -> String {
    let Some(steady) = &p.stability.steady else {
        return "too few values to tell whether it was steady".to_owned();
    };
    let part = |part: &assay_analysis::series_summary::Part| {
        format!("{} (values {} to {})", column.with_unit(part.median), part.start + 1, part.end)
    };
    let listed: Vec<String> = steady.parts.iter().take(6).map(part).collect();
    let more = steady.parts.len().saturating_sub(6);
    let more = if more > 0 { format!(", and {more} more parts") } else { String::new() };
    let told = match steady.label {
        SteadyLabel::Flat => return unseen_changes(p),
        SteadyLabel::WarmUp => "worse at first, then steady",
        SteadyLabel::Slowdown => "better at an earlier time",
        SteadyLabel::NoSteadyState => "no steady state",
    };
    format!("{told}; medians: {}{more}", listed.join(", then "))
}

/// Returns how many values lie outside the chart of the distribution; empty if it shows all.
pub(super) fn beyond(p: &SeriesSummary, column: &Column) -> String {
    let side = |count: usize, where_: &str, end: f64| {
        (count > 0).then(|| {
            let things = if count == 1 { "value" } else { "values" };
            format!("{} {things} {where_} {}", number::count(count as f64), column.with_unit(end))
        })
    };
    let (low, high) = (p.shape.low, p.shape.high);
    let sides = [side(p.shape.below, "below", low), side(p.shape.above, "above", high)];
    let told: Vec<String> = sides.into_iter().flatten().collect();
    if told.is_empty() { String::new() } else { format!("not in the plot: {}", told.join(", ")) }
}

/// Lists every value of a short series.
pub(super) fn listed(p: &SeriesSummary, column: &Column) -> String {
    let all: Vec<f64> = p.over_time.iter().map(|slice| slice.median).collect();
    let column = column.clone().exact(&all);
    let values: Vec<String> = all.iter().map(|value| column.number(*value)).collect();
    format!("{}{}", values.join(" · "), column.suffix())
}

fn unseen_changes(p: &SeriesSummary) -> String {
    // A slow drift has no location, so no section stands out although the series is not steady.
    if p.description.drift.is_some() {
        return "not steady: it drifts".to_owned();
    }
    match p.stability.changes.points.len() {
        0 => "steady throughout".to_owned(),
        n => format!(
            "steady throughout: {} of less than {}",
            if n == 1 { "one change".to_owned() } else { format!("{n} changes") },
            number::percent(p.stability.tolerance)
        ),
    }
}

/// Describes the dependence of the values.
pub(super) fn dependence(p: &SeriesSummary) -> String {
    let correlation = &p.correlation;
    let mut said = vec![format!("effective sample size {}", medians::effective(&p.description))];
    if let Some(outside) = correlation.outside() {
        let lag =
            correlation.acf.iter().position(|r| r.abs() == correlation.max_abs()).unwrap_or(0) + 1;
        said.push(format!(
            "largest autocorrelation {:.3} at lag {lag}; {outside} of {} outside the bounds 1.96/sqrt(n)",
            correlation.acf[lag - 1],
            correlation.acf.len()
        ));
    }
    if let Some(sum) = correlation.ljung_box.last().filter(|found| !found.p.is_nan()) {
        said.push(format!("Ljung-Box up to lag {}: {}", sum.lags, p_value(sum.p)));
    }
    if !correlation.runs.p.is_nan() {
        said.push(format!("runs: {}", p_value(correlation.runs.p)));
    }
    said.join(" · ")
}

/// Describes skewness and kurtosis relative to known distributions.
pub(super) fn tails(p: &SeriesSummary) -> String {
    let Some(t) = p.tails.filter(|_| p.description.n >= policy::SHAPE_FROM) else {
        return String::new();
    };
    let side = if t.skewness > 0.0 { "right" } else { "left" };
    let told = if t.skewness.abs() < policy::EVEN_SKEWNESS {
        match t.kurtosis {
            k if k < -0.9 => "symmetric, as flat as a uniform distribution or one with two modes",
            k if k < -policy::SAME_KURTOSIS => "symmetric, flatter than a normal distribution",
            k if k <= policy::SAME_KURTOSIS => "symmetric, with the tails of a normal distribution",
            _ => "symmetric, with longer tails than a normal distribution",
        }
        .to_owned()
    } else if t.kurtosis < t.gamma_kurtosis - policy::SAME_KURTOSIS {
        format!(
            "skewed, with a shorter {side} tail than most distributions of this skewness: perhaps truncated, or a mixture"
        )
    } else if t.kurtosis <= t.gamma_kurtosis + policy::SAME_KURTOSIS {
        let exponential =
            (t.skewness - 2.0).abs() < policy::EVEN_SKEWNESS && (t.kurtosis - 6.0).abs() < 2.0;
        if exponential {
            "as skewed as an exponential distribution".to_owned()
        } else {
            format!("a {side} tail like that of a gamma distribution")
        }
    } else if t.kurtosis <= t.lognormal_kurtosis.max(t.gamma_kurtosis) + policy::SAME_KURTOSIS {
        format!("a {side} tail between that of a gamma and a lognormal distribution")
    } else {
        format!(
            "a longer {side} tail than a lognormal distribution of that skewness: rare values far outside"
        )
    };
    let fit = p.tests.shapiro_wilk.map(|f| format!("Shapiro-Wilk {}", p_approximate(f.p)));
    let fit = fit
        .or(p.tests.anderson_darling.map(|f| format!("Anderson-Darling {}", p_approximate(f.p))));
    let fit = fit.map_or_else(String::new, |fit| format!(" · normal? {fit}"));
    format!(
        "skewness {}, excess kurtosis {}: {told}{fit}",
        number::fixed(t.skewness, 2),
        number::fixed(t.kurtosis, 2)
    )
}

/// Lists every distinct value with its share and count, as in `3 ms 57 % (34) · 4 ms 43 % (26)`.
/// Returns an empty string if there are many.
pub(super) fn repeated(p: &SeriesSummary, column: &Column) -> String {
    let rows = repeated_rows(p, column);
    let told: Vec<String> = rows
        .iter()
        .map(|[value, share, count]| format!("{value}:{STICKY}{share}{STICKY}({count})"))
        .collect();
    told.join(" · ")
}

/// Returns the distinct values listed by [`repeated`] as rows of value, share and count.
pub(super) fn repeated_rows(p: &SeriesSummary, column: &Column) -> Vec<[String; 3]> {
    let values: Vec<f64> = p.repeated.iter().map(|same| same.value).collect();
    let column = column.clone().exact(&values);
    let n = p.description.n as f64;
    let row = |same: &RepeatedValue| {
        let share = number::share(same.count as f64, n);
        [column.with_unit(same.value), share, number::count(same.count as f64)]
    };
    p.repeated.iter().map(row).collect()
}

/// Returns facts on modes, outliers and the clock.
pub(super) fn facts(p: &SeriesSummary, column: &Column) -> Vec<String> {
    [modes(p, column), outliers(p, column), clock(p)].into_iter().flatten().collect()
}

fn modes(p: &SeriesSummary, column: &Column) -> Option<String> {
    let near = |m: &assay_analysis::series_summary::Mode| {
        format!("{} near {}", number::share(m.share, 1.0), column.with_unit(m.at))
    };
    let dip = p.tests.dip.map_or_else(String::new, |dip| format!("dip test {}", p_value(dip.p)));
    match p.modes.as_slice() {
        // With few distinct values each is listed anyway.
        _ if !p.repeated.is_empty() => None,
        [] => None,
        // With few values modes can't be determined; a single mode is assumed unless there is
        // evidence for more.
        [_] if p.description.n < policy::SHAPE_FROM => None,
        [_] if p.tests.dip.is_some_and(|dip| dip.p < policy::DIP_LEVEL) => {
            Some(format!("perhaps more than one mode, but no clear valley between them ({dip})"))
        }
        [only] => Some(format!("one mode, near {} ({dip})", column.with_unit(only.at))),
        several => {
            let count = match several.len() {
                2 => "two".to_owned(),
                3 => "three".to_owned(),
                n => n.to_string(),
            };
            let listed: Vec<String> = several.iter().map(near).collect();
            Some(format!("{count} modes: {} ({dip})", listed.join(", ")))
        }
    }
}

fn outliers(p: &SeriesSummary, column: &Column) -> Option<String> {
    let sum = |(below, above): (usize, usize)| below + above;
    let (inner, outer) = (sum(p.outliers.beyond_inner), sum(p.outliers.beyond_outer));
    if p.description.n < 5 {
        return None;
    }
    if p.descriptives.iqr == 0.0 {
        return Some("half of the values are equal: no fences for outliers".to_owned());
    }
    if inner == 0 {
        return Some("no outliers".to_owned());
    }
    let mut told = format!(
        "outliers, all kept: {inner} beyond 1.5 and {outer} beyond 3 interquartile ranges from the quartiles"
    );
    if outer > 0 {
        let (below, above) = p.outliers.beyond_outer;
        told += &format!(" ({below} low, {above} high)");
        let name = |(index, value): &(usize, f64)| {
            format!("{} is value {}", column.with_unit(*value), index + 1)
        };
        let named: Vec<String> = p.outliers.farthest.iter().take(3).map(name).collect();
        told += &format!("; the farthest: {}", named.join(", "));
    }
    Some(told)
}

/// Returns the number of distinct values, and the clock's step if many values are tied.
fn clock(p: &SeriesSummary) -> Option<String> {
    let step = p.description.clock_step?;
    let told = format!("{} different values", p.distinct);
    let in_steps = p.distinct as f64 <= policy::STEPPED_BELOW * p.description.n as f64;
    Some(if in_steps && step >= policy::SMALLEST_STEP * p.description.median.abs() {
        format!("{told}, in steps of {}", number::rough(step, &p.metric.unit))
    } else {
        told
    })
}

/// Describes which level contributes the uncertainty of the mean, and which repetitions would
/// reduce it.
pub(super) fn levels(p: &SeriesSummary, found: &Nested) -> Vec<String> {
    let levels = &found.levels.levels;
    let mut counted = Vec::new();
    let mut comes = Vec::new();
    for (name, level) in found.names.iter().zip(levels) {
        let count = number::fixed(level.repetitions, usize::from(level.repetitions.fract() != 0.0));
        counted.push(format!("{count}{STICKY}{}", named(name, level.repetitions)));
        comes.push(format!("{} from {}", number::share(level.share, 1.0), plural(name)));
    }
    let within = if found.of_series { "" } else { " (values within runs)" };
    let mut said = vec![format!(
        "{}{within}; the uncertainty of the mean comes to {}",
        counted.join(" × "),
        comes.join(", ")
    )];
    let outer = plural(&found.names[0]);
    if let Some(interval) = found.levels.mean_interval(p.description.confidence) {
        let mean = found.levels.mean;
        let ends = [mean, interval.lower, interval.upper];
        let column = Column::new(&p.metric.unit, &ends, &[interval.half_width()]);
        said.push(format!(
            "mean over the {outer}: {} [{}{STICKY}…{STICKY}{}], {} confidence",
            column.with_unit(mean),
            column.number(interval.lower),
            column.number(interval.upper),
            number::chosen_percent(p.description.confidence)
        ));
    }
    said.push(advice(found, &outer));
    said
}

fn named(name: &str, count: f64) -> String {
    if count == 1.0 { name.to_owned() } else { plural(name) }
}

fn advice(found: &Nested, outer: &str) -> String {
    let twice = format!("twice as many {outer} would make that interval about 29 % narrower");
    let gained = found.most_gained();
    let (even, dear) = (found.best_repetitions(1.0), found.best_repetitions(DEAR));
    let mut told = vec![twice];
    for (index, name) in found.names.iter().enumerate().skip(1) {
        let above = &found.names[index - 1];
        let gain = match gained[index] {
            share if share < 0.01 => "change nothing".to_owned(),
            share => format!("at most {}, however many", number::percent(share)),
        };
        let best = |of: &[Option<f64>]| of.get(index - 1).copied().flatten();
        let best = best(&even).zip(best(&dear)).map_or_else(String::new, |(even, dear)| {
            format!(
                " (best is {even:.0} if one more {above} costs as much as one more {name}, {dear:.0} if it costs {DEAR} times as much)"
            )
        });
        told.push(format!("more {} per {above} {gain}{best}", plural(name)));
    }
    told.join("; ")
}
