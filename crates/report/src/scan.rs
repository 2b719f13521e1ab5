//! A scan on the terminal: the parameter values at which one command beats another, the table, the
//! power of the parameter with which the values grow, and a plot.
//!
//! A scan has so many comparisons that a paragraph for each would hide the overall result.
//! Therefore, one sentence per command collects the values at which it is faster, slower or
//! equivalent. Nothing is decided here, since verdicts and exponents come from the analysis.

use crate::label::{Wording, label, wording};
use crate::layout::said;
use crate::layout::{Page, Tone};
use crate::medians;
use crate::number;
use crate::plot;
use crate::scan_table::{self, combination};
use crate::words::{self, Sentence, quoted};
use assay_analysis::analysis::Table;
use assay_analysis::policy;
use assay_analysis::{Analysis, Comparison, Curve, Exponent, Layout, NoExponent, Verdict};
use assay_data::Better;
use std::collections::HashSet;

/// Minimum number of subjects for a summary. With fewer subjects, comparisons are reported
/// individually unless there is a curve.
const FROM: usize = 4;
/// Maximum number of curves shown. The JSON has all of them.
const MOST_CURVES: usize = 8;
/// Maximum number of parameter values listed individually. A longer run of consecutive values is
/// shown as a range.
const LISTED: usize = 5;

/// Returns true if the analysis is shown as a scan.
pub(crate) fn shows(analysis: &Analysis) -> bool {
    analysis.scan().is_some() && (analysis.subjects.len() >= FROM || !analysis.curves.is_empty())
}

/// Draws the part of a scan above the checks.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis) {
    let Some(layout) = analysis.scan() else { return };
    let summaries = summaries(analysis, layout);
    let none = summaries.is_empty();
    for (tone, Sentence { claim, sureness }) in summaries {
        said(page, tone, claim, &sureness);
    }
    // Without comparisons, the result is the growth, or the spread if there are no numeric
    // parameters.
    if none {
        tell_growth(page, analysis);
    }
    if none && analysis.curves.is_empty() {
        for claim in (0..layout.commands).filter_map(|k| spread(analysis, layout, k)) {
            said(page, Tone::Strong, claim, "");
        }
    }
    for line in overall(analysis) {
        page.paragraph(2, &[(Tone::Plain, format!("  {line}"))]);
    }
    if let Some((at, detail)) = outlook(analysis) {
        page.paragraph(2, &[(Tone::Plain, format!("  {at}: {detail}"))]);
    }
    page.gap();
    scan_table::draw(page, analysis, layout, analysis.primary);
    notes(page, analysis, layout, &analysis.comparisons);
    for metric in secondary(analysis) {
        page.gap();
        let own = &analysis.metrics[metric];
        let heading = format!("secondary: {}", label(own));
        if let Some(value) = the_same_everywhere(analysis, metric) {
            let everywhere = format!("{heading}: {} everywhere", number::chosen(value, &own.unit));
            page.paragraph(2, &[(Tone::Quiet, everywhere)]);
            continue;
        }
        page.paragraph(2, &[(Tone::Quiet, heading)]);
        scan_table::draw(page, analysis, layout, metric);
    }
    if !none && !analysis.curves.is_empty() {
        page.gap();
        tell_growth(page, analysis);
    }
    plot::draw(page, analysis);
    page.gap();
}

/// Returns the value of a metric if it is the same in every block of every subject, so that no
/// table is needed.
fn the_same_everywhere(analysis: &Analysis, metric: usize) -> Option<f64> {
    let mut all = analysis.subjects.iter().map(|subject| subject.metrics.get(metric));
    let value = all.clone().next()??.as_ref()?.median;
    all.all(|own| matches!(own, Some(Some(own)) if own.min == value && own.max == value))
        .then_some(value)
}

fn tell_growth(page: &mut Page, analysis: &Analysis) {
    for Sentence { claim, sureness } in grown(analysis) {
        said(page, Tone::Strong, claim, &sureness);
    }
}

/// Returns the sentences of a scan, for reports outside of the terminal.
pub(crate) fn sentences(analysis: &Analysis) -> Vec<Sentence> {
    compared(analysis).into_iter().chain(grown(analysis)).collect()
}

/// Returns the sentence that summarizes each command.
pub(crate) fn compared(analysis: &Analysis) -> Vec<Sentence> {
    let layout = analysis.scan();
    let summaries = layout.map_or_else(Vec::new, |layout| summaries(analysis, layout));
    summaries.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Returns the names of all parameters, in the order in which they first occur in the subjects.
pub(crate) fn parameters(analysis: &Analysis) -> Vec<&str> {
    let mut known = HashSet::new();
    let names = analysis.subjects.iter().flat_map(|s| &s.parameters).map(|(name, _)| name.as_str());
    names.filter(|name| known.insert(*name)).collect()
}

/// Returns the parameter values of a comparison: those of the subject, and those of the reference
/// if they differ although both are in the same row.
fn values_of(analysis: &Analysis, c: &Comparison) -> String {
    let (own, other) = (combination(analysis, c.of), combination(analysis, c.against));
    let together = analysis.scan().is_some_and(|l| l.together(c.of, c.against));
    match (own.is_empty(), together && own != other && !other.is_empty()) {
        (true, true) => other,
        (false, true) => format!("{own} (against {other})"),
        (_, false) => own,
    }
}

fn secondary(analysis: &Analysis) -> Vec<usize> {
    if analysis.plan.secondary.is_empty() {
        return Vec::new();
    }
    let mut metrics: Vec<usize> = analysis.secondary.iter().map(|c| c.metric).collect();
    metrics.dedup();
    metrics
}

/// Writes the notes that explain the table's columns.
fn notes(page: &mut Page, analysis: &Analysis, layout: &Layout, comparisons: &[Comparison]) {
    let mut told = Vec::new();
    let sure = number::chosen_percent(analysis.plan.confidence);
    if !comparisons.is_empty() {
        let to = against_whom(layout, comparisons).map_or_else(
            || "its reference".to_owned(),
            |whom| match whom {
                Against::Command(command) => quoted(&layout.labels[command]),
                Against::Subject(subject) => combination(analysis, subject),
            },
        );
        told.push(if comparisons.iter().any(|c| c.decision.interval.is_some()) {
            format!("ratio: to {to}, with a confidence interval ({sure} for all rows together)")
        } else {
            format!("ratio: to {to}, observed; without an interval")
        });
    }
    if comparisons.is_empty() {
        let described = (0..analysis.subjects.len()).filter_map(|s| analysis.primary_of(s));
        let (known, lacking): (Vec<_>, Vec<_>) =
            described.partition(|d| d.median_interval.is_some());
        let condition = medians::condition(known.iter().any(|d| d.assumes_independence()));
        told.push(match (known.is_empty(), lacking.is_empty()) {
            (true, _) => "medians; too few values for intervals".to_owned(),
            (_, true) => format!("medians with {sure} confidence intervals{condition}"),
            _ => format!(
                "medians with {sure} confidence intervals{condition}; none where there are too few independent values"
            ),
        });
    }
    let threshold = number::threshold(&analysis.plan.threshold);
    if comparisons.iter().any(|c| c.decision.verdict == Verdict::Equivalent) {
        told.push(format!("equivalent: any difference is below {threshold}"));
    }
    if comparisons.iter().any(|c| c.decision.may_not_matter()) {
        told.push(format!("* possibly by less than the {threshold} that matters"));
    }
    if !told.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, told.join("; "))]);
    }
}

/// What a command is compared with throughout a scan.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    /// This command, at the same values.
    Command(usize),
    /// This single subject.
    Subject(usize),
}

/// Returns the reference that all of these comparisons share, if there is one.
fn against_whom(layout: &Layout, all: &[Comparison]) -> Option<Against> {
    let of = |c: &Comparison| {
        if layout.together(c.of, c.against) {
            Against::Command(c.against % layout.commands)
        } else {
            Against::Subject(c.against)
        }
    };
    let first = of(all.first()?);
    all.iter().all(|c| of(c) == first).then_some(first)
}

/// Returns one sentence for each compared command, with its verdicts by value.
fn summaries(analysis: &Analysis, layout: &Layout) -> Vec<(Tone, Sentence)> {
    let mut sentences = Vec::new();
    for command in 0..layout.commands {
        let own: Vec<Comparison> = analysis
            .comparisons
            .iter()
            .filter(|c| c.of % layout.commands == command)
            .cloned()
            .collect();
        let Some(whom) = against_whom(layout, &own) else { continue };
        let against = match whom {
            Against::Command(other) => quoted(&layout.labels[other]),
            Against::Subject(subject) => format!("at {}", combination(analysis, subject)),
        };
        sentences.extend(fails(analysis, layout, &own));
        sentences.push(summary(analysis, &quoted(&layout.labels[command]), &against, &own));
    }
    sentences
}

/// Returns a sentence on the first step at which failed requests decide against a server, with the
/// number of other such steps.
fn fails(analysis: &Analysis, layout: &Layout, own: &[Comparison]) -> Option<(Tone, Sentence)> {
    let mut failing = own.iter().filter(|c| c.failing.is_some());
    let first = failing.next()?;
    let label = |subject: usize| layout.labels[subject % layout.commands].as_str();
    let mut sentence = words::sentence(analysis, first, label(first.of), label(first.against));
    let others = match failing.count() {
        0 => String::new(),
        1 => ", and at another step".to_owned(),
        n => format!(", and at {n} other steps"),
    };
    sentence.claim = format!("at {}: {}{others}", combination(analysis, first.of), sentence.claim);
    Some((Tone::Bad, sentence))
}

/// Returns true for references such as `at n = 1`, where a command is compared with itself at
/// another value.
fn is_place(against: &str) -> bool {
    against.starts_with("at ")
}

/// Formats a claim such as `new is faster than old at n = 4`, or `sort is slower at every other n
/// than at n = 1` if a command is compared with itself.
fn than(claim: &str, against: &str, places: &str) -> String {
    if is_place(against) {
        format!("{claim} {places} than {against}")
    } else {
        format!("{claim} than {against} {places}")
    }
}

fn summary(analysis: &Analysis, of: &str, against: &str, own: &[Comparison]) -> (Tone, Sentence) {
    let w = wording(&analysis.metrics[analysis.primary]);
    let at = |verdict: Verdict| -> Vec<usize> {
        own.iter().filter(|c| c.decision.verdict == verdict).map(|c| c.of).collect()
    };
    if own.iter().any(|c| c.mixed) {
        let claim = format!("no verdict on {of} against {against}: {}", words::MIXED);
        return (Tone::Unsure, Sentence { claim, sureness: String::new() });
    }
    let mut parts = Vec::new();
    for verdict in [Verdict::Faster, Verdict::Slower] {
        let subjects = at(verdict);
        if !subjects.is_empty() {
            let places = places(analysis, &subjects, own, "every");
            let word = direction(analysis, &w, verdict);
            parts.push(if !parts.is_empty() {
                format!("{word} {places}")
            } else if w.is_time {
                than(&format!("{of} is {word}"), against, &places)
            } else if w.noun_first {
                than(&format!("{of} has a {word} {}", w.whole), against, &places)
            } else {
                than(&format!("{of} {} {word}{}", w.verb, w.noun), against, &places)
            });
        }
    }
    let begun = !parts.is_empty();
    let equal = at(Verdict::Equivalent);
    if !equal.is_empty() {
        let places = places(analysis, &equal, own, "every");
        parts.push(match (begun, is_place(against)) {
            (true, _) => format!("no difference that matters {places}"),
            (false, true) => {
                format!("no difference that matters between {of} {places} and its value {against}")
            }
            (false, false) => {
                format!("no difference that matters between {of} and {against} {places}")
            }
        });
    }
    let unknown = at(Verdict::Inconclusive);
    if !unknown.is_empty() {
        let places = places(analysis, &unknown, own, "any");
        parts.push(if parts.is_empty() && is_place(against) {
            format!("not known yet whether {of} differs {places} from its value {against}")
        } else if parts.is_empty() {
            format!("not known yet whether {of} differs from {against} {places}")
        } else {
            format!("not known yet {places}")
        });
    }
    let tone = match (at(Verdict::Faster).len(), at(Verdict::Slower).len(), unknown.len()) {
        (0, 0, n) if n > 0 => Tone::Unsure,
        (n, 0, 0) if n > 0 => Tone::Good,
        (0, n, 0) if n > 0 => Tone::Bad,
        _ => Tone::Strong,
    };
    let sure = number::chosen_percent(analysis.plan.confidence);
    let blocks = analysis.blocks.map_or_else(String::new, |n| format!("; {n} blocks"));
    let sureness = format!("{sure} confidence for all together{blocks}");
    (tone, Sentence { claim: parts.join("; "), sureness })
}

fn direction(analysis: &Analysis, w: &Wording, verdict: Verdict) -> &'static str {
    let better = verdict == Verdict::Faster;
    let less = better == (analysis.metrics[analysis.primary].better == Better::Lower);
    match (w.is_time, better, less) {
        (true, true, _) => "faster",
        (true, false, _) => "slower",
        (false, _, true) => w.less,
        (false, _, false) => w.more,
    }
}

/// Returns the result over all values for each pair of commands:
/// `over all 6 values of n: 0.92 [0.90 … 0.94] × the time of old`.
pub(crate) fn overall(analysis: &Analysis) -> Vec<String> {
    let Some(layout) = analysis.scan() else { return Vec::new() };
    let whole = wording(&analysis.metrics[analysis.primary]).whole;
    let several = analysis.primary_tables().count() > 1;
    let told = |table: Table<'_>| {
        let mean = table.mean?;
        let values = match parameters(analysis).as_slice() {
            [only] if !layout.own_values => format!("values of {only}"),
            _ => "combinations of values".to_owned(),
        };
        let of = if several {
            format!("{} has ", quoted(&layout.labels[table.side]))
        } else {
            String::new()
        };
        let over = match mean.left_out {
            0 => format!("all {}", mean.rows),
            _ => format!("{} of {}", mean.rows, table.rows.len()),
        };
        Some(format!(
            "over {over} {values}: {of}{} × the {whole} of {} (geometric mean)",
            number::ratio(mean.estimate, mean.of_these.map(|i| (i.lower, i.upper))),
            quoted(&layout.labels[table.against])
        ))
    };
    analysis.primary_tables().filter_map(told).collect()
}

/// Returns the parameter values of these subjects: `at n = 4, 8, 16`, `at n = 4 … 128`, `at every
/// n`. `all` is the word that is used if they are all of the compared subjects, such as `every`.
fn places(analysis: &Analysis, subjects: &[usize], of: &[Comparison], all: &str) -> String {
    let Some(layout) = analysis.scan() else { return String::new() };
    let parameters = |subject: usize| &analysis.subjects[subject].parameters;
    if subjects.len() == of.len() && of.len() > 1 {
        if layout.own_values {
            return format!("at {all} pair of values");
        }
        let other = of.iter().any(|c| parameters(c.of) != parameters(c.against));
        let all = if other { format!("{all} other") } else { all.to_owned() };
        return match parameters(subjects[0]).as_slice() {
            [(name, _)] => format!("at {all} {name}"),
            several => {
                let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
                format!("at {all} {}", names.join(" and "))
            }
        };
    }
    let [(name, _)] = parameters(subjects[0]).as_slice() else {
        return one_by_one(analysis, subjects, of);
    };
    if layout.own_values {
        return one_by_one(analysis, subjects, of);
    }
    let value = |subject: usize| parameters(subject)[0].1.to_string();
    let step = layout.commands;
    let (first, last) = (subjects[0], subjects[subjects.len() - 1]);
    if subjects.len() > LISTED && last - first == step * (subjects.len() - 1) {
        return format!("at {name} = {} … {}", value(first), value(last));
    }
    let values: Vec<String> = subjects.iter().map(|&subject| value(subject)).collect();
    format!("at {name} = {}", values.join(", "))
}

fn one_by_one(analysis: &Analysis, subjects: &[usize], of: &[Comparison]) -> String {
    let own: Vec<&Comparison> = of.iter().filter(|c| subjects.contains(&c.of)).collect();
    let told: Vec<String> = own.iter().map(|c| values_of(analysis, c)).collect();
    let single = |subject: usize| analysis.subjects[subject].parameters.len() < 2;
    let between =
        if own.iter().all(|c| single(c.of) && single(c.against)) { ", " } else { "; at " };
    format!("at {}", told.join(between))
}

/// Returns the smallest and the largest median of a command, with the parameter values at which
/// they occur.
fn spread(analysis: &Analysis, layout: &Layout, command: usize) -> Option<String> {
    let own = (command..analysis.subjects.len()).step_by(layout.commands);
    let medians: Vec<(f64, usize)> =
        own.filter_map(|s| Some((analysis.primary_of(s)?.median, s))).collect();
    let least = medians.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = medians.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let metric = &analysis.metrics[analysis.primary];
    let told = |(median, subject): &(f64, usize)| {
        format!("{} at {}", number::value(*median, &metric.unit), combination(analysis, *subject))
    };
    let of = quoted(&layout.labels[command]);
    Some(format!("the {} of {of}: from {} to {}", wording(metric).whole, told(least), told(most)))
}

/// Returns the parameter values of the undecided comparison that is farthest from an answer, and
/// details such as the time that an answer would take.
fn outlook(analysis: &Analysis) -> Option<(String, String)> {
    let open = analysis.comparisons.iter().filter(|c| c.decision.verdict == Verdict::Inconclusive);
    let farthest = open.max_by_key(|c| c.outlook.and_then(|outlook| outlook.to_rule_out))?;
    let (of, against) =
        (&analysis.subjects[farthest.of].name, &analysis.subjects[farthest.against].name);
    let detail = words::details(analysis, farthest, of, against).into_iter().next()?;
    Some((values_of(analysis, farthest), detail))
}

/// Returns a sentence for every curve.
pub(crate) fn grown(analysis: &Analysis) -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> =
        analysis.curves.iter().take(MOST_CURVES).map(|curve| growth(analysis, curve)).collect();
    let more = analysis.curves.len().saturating_sub(MOST_CURVES);
    if more > 0 {
        let claim = format!("and {more} more such curves: --json holds them");
        sentences.push(Sentence { claim, sureness: String::new() });
    }
    sentences
}

fn growth(analysis: &Analysis, curve: &Curve) -> Sentence {
    let whole = wording(&analysis.metrics[analysis.primary]).whole;
    let n = &curve.parameter;
    let at: Vec<String> = curve.fixed.iter().map(|(name, v)| format!("{name} = {v}")).collect();
    let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
    let what = format!("the {whole} of {}{at}", quoted(&curve.command));
    let plain = |claim: String| Sentence { claim, sureness: String::new() };
    let exponent = match &curve.exponent {
        Ok(exponent) => exponent,
        Err(NoExponent::NotInBlocks) => {
            return plain(format!(
                "{what}: no power of {n} is given, since it was not measured in blocks"
            ));
        }
        Err(NoExponent::TooFewBlocks(blocks)) => {
            return plain(format!(
                "{what}: no power of {n} is given yet; it needs {} blocks, {blocks} taken",
                assay_analysis::policy::CURVE_BLOCKS
            ));
        }
        Err(NoExponent::NotPositive) => {
            return plain(format!(
                "{what} is zero or negative somewhere, so it has no power of {n}"
            ));
        }
    };
    if exponent.curved {
        return plain(bent(curve, exponent, &what));
    }
    let ends = exponent.interval.map(|i| (i.lower, i.upper));
    let power = format!("{n}^{}", number::ratio(exponent.estimate, ends));
    let sure = number::chosen_percent(analysis.plan.confidence);
    let Some(interval) = exponent.interval else {
        let sureness = format!("{} blocks; too few for an interval", exponent.blocks);
        let grows = if exponent.estimate < 0.0 { "fall" } else { "grow" };
        return Sentence { claim: format!("{what} seems to {grows} like {power}"), sureness };
    };
    let claim = if interval.lower > -policy::CURVE_FLAT && interval.upper < policy::CURVE_FLAT {
        format!("{what} hardly depends on {n}: like {power}")
    } else if interval.lower > 0.0 {
        format!("{what} grows like {power}")
    } else if interval.upper < 0.0 {
        format!("{what} falls like {power}")
    } else {
        format!("not known yet whether {what} grows with {n}: like {power}")
    };
    let twice = number::multiple(2f64.powf(exponent.estimate));
    Sentence { claim, sureness: format!("{sure} confidence; twice the {n}: {twice} the {whole}") }
}

/// Formats `follows no single power of n: from n^0.1 between 1 and 2 to n^0.9 between 8 and 16`.
fn bent(curve: &Curve, exponent: &Exponent, what: &str) -> String {
    let n = &curve.parameter;
    let step = |index: usize| {
        let (left, right) = (curve.points[index].value, curve.points[index + 1].value);
        format!("{n}^{} between {left} and {right}", number::fixed(exponent.steps[index], 2))
    };
    let last = exponent.steps.len() - 1;
    format!("{what} follows no single power of {n}: from {} to {}", step(0), step(last))
}
