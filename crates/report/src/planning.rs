//! A plan for the terminal: the number of runs, what they detect, and the basis of each number.
//!
//! It starts with one sentence, followed by the power against the number of runs and the sources of
//! the numbers. Nothing is computed here.

use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use crate::small_table;
use assay_analysis::Scale;
use assay_analysis::planning::blocks::{BlocksPlan, Needed};
use assay_analysis::planning::rank::Founded;
use assay_analysis::planning::{CurvePoint, Kind, Measure, Planning, Quantities, Remedy, Unknown};
use assay_analysis::policy::SMALL_PILOT;
use assay_data::Threshold;

mod grounds;

/// Length of a full bar, in characters.
const BAR: usize = 14;

/// Renders the plan for the terminal. Every line ends with a newline.
pub fn render(planning: &Planning, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let blocks = planning.blocks.as_ref();
    page.paragraph(2, &[(Tone::Strong, sentence(planning))]);
    if let Some(blocks) = blocks.filter(|_| planning.asked.in_blocks) {
        page.gap();
        in_blocks(&mut page, planning, blocks);
        page.paragraph(2, &[(Tone::Plain, format!("with separate runs: {}", apart(planning)))]);
    } else {
        page.gap();
        curve(&mut page, planning);
        page.gap();
        for line in grounds::grounds(planning) {
            page.paragraph(2, &[(Tone::Plain, line)]);
        }
        if let Some(blocks) = blocks {
            page.paragraph(2, &[(Tone::Plain, as_blocks(planning, blocks))]);
        }
    }
    for warning in warnings(planning) {
        let pieces = [(Tone::Unsure, "warning: ".to_owned()), (Tone::Plain, warning)];
        page.paragraph(9, &pieces);
    }
    page.finish()
}

/// Returns a sentence that summarizes the plan.
pub fn sentence(planning: &Planning) -> String {
    let sequential = planning.blocks.as_ref().filter(|_| planning.asked.in_blocks);
    if let Some(blocks) = sequential {
        return sentence_in_blocks(planning, blocks);
    }
    apart(planning) + "."
}

/// Returns the difference that the rank test detects, since this test decides. If the number of
/// runs is given, the t test's result follows in parentheses.
fn apart(planning: &Planning) -> String {
    let (rule, t) = (planning.rank.rule, planning.t);
    let runs = runs_of(planning.rank.n, planning.asked.kind);
    let level = format!("at a significance of {}", number::percent_fine(t.sig_level));
    if !planning.rank.is_able() {
        return format!(
            "{runs} find no difference by ranks, {level}: the exact rank test needs at least {} to reject at all{}",
            number::grouped(planning.rank.fewest_n),
            if_as_dependent(planning)
        );
    }
    let (found, beside) = match planning.unknown {
        Unknown::N => (asked_amount(planning, rule.delta), String::new()),
        Unknown::Delta => (found_amount(planning, rule.delta), found_amount(planning, t.delta)),
        Unknown::Power => (asked_amount(planning, rule.delta), format!("in {}", found_in(t.power))),
        Unknown::SigLevel => {
            (asked_amount(planning, rule.delta), number::percent_fine(t.sig_level))
        }
        Unknown::Sd => (asked_amount(planning, rule.delta), found_amount(planning, t.sd)),
    };
    let power = match planning.unknown {
        Unknown::Power => found_in(rule.power),
        _ => number::chosen_percent(rule.power),
    };
    let told = format!(
        "{runs}: {}a rank test finds a difference of {found} in {power} of experiments",
        if planning.unknown == Unknown::N { "then " } else { "" }
    );
    let told = match planning.unknown {
        Unknown::SigLevel => format!(
            "{told} if the significance is no stricter than {}",
            number::percent_fine(rule.sig_level)
        ),
        Unknown::Sd => format!(
            "{told}, {level}, while the standard deviation is at most {}",
            found_amount(planning, rule.sd)
        ),
        _ => format!("{told}, {level}"),
    };
    // The t test's result is not comparable for dependent runs, so it is omitted below.
    let told = match planning.rank.founded_on {
        Founded::Rule => told,
        Founded::Formula => format!("{told}, by the pilot's own distribution"),
        Founded::Simulation => format!("{told}, by simulation with the pilot's own values"),
    };
    if beside.is_empty() || planning.rank.runs_per_independent > 1.0 {
        return told + &if_as_dependent(planning);
    }
    format!("{told} (a t test: {beside})")
}

/// Returns the condition under which a plan from dependent values holds.
fn if_as_dependent(planning: &Planning) -> String {
    let factor = planning.rank.runs_per_independent;
    if factor > 1.0 {
        format!(
            ", if {} runs carry as much information as one independent run, as in the pilot",
            factor_of(factor)
        )
    } else {
        String::new()
    }
}

fn factor_of(factor: f64) -> String {
    number::multiple(factor).trim_end_matches(" ×").to_owned()
}

fn sentence_in_blocks(planning: &Planning, blocks: &BlocksPlan) -> String {
    let Quantities { sig_level, power, .. } = planning.t;
    let level = format!("at a significance of {}", number::percent_fine(sig_level));
    let often = number::chosen_percent(power);
    match (blocks.threshold, blocks.sequential.to_find) {
        (Some(threshold), Some(found)) => format!(
            "About {} blocks: then a difference of {} is found in {often} of runs that stop by themselves, {level}.",
            number::grouped(found),
            matters(planning, blocks, threshold)
        ),
        _ => format!(
            "{} blocks find a difference of {} in {often} of runs that stop by themselves, {level}.",
            number::grouped(blocks.at_blocks.round() as u64),
            on_scale(planning, blocks, blocks.sequential.detectable)
        ),
    }
}

fn runs_of(n: u64, kind: Kind) -> String {
    let n = number::grouped(n);
    match kind {
        Kind::TwoSample => format!("{n} runs of each"),
        Kind::OneSample => format!("{n} runs"),
        Kind::Paired => format!("{n} pairs of runs"),
    }
}

/// Formats a computed probability as a whole percentage, such as `38 %` or `more than 99 %`.
fn found_in(chance: f64) -> String {
    if chance > 0.99 { "more than 99 %".to_owned() } else { number::percent(chance) }
}

fn chance(chance: f64) -> String {
    if chance > 0.99 { "> 99 %".to_owned() } else { number::percent(chance) }
}

fn asked_amount(planning: &Planning, amount: f64) -> String {
    match (&planning.measure, &planning.asked.delta) {
        (Measure::Unit(unit), Some(Threshold::Relative(share))) => {
            format!("{} ({})", number::percent_fine(*share), number::value(amount, unit))
        }
        (Measure::Unit(unit), _) => number::chosen(amount, unit),
        (Measure::Fraction, _) => number::percent_fine(amount),
    }
}

fn found_amount(planning: &Planning, amount: f64) -> String {
    match &planning.measure {
        Measure::Unit(unit) => number::value(amount, unit),
        Measure::Fraction => number::percent_fine(amount),
    }
}

fn on_scale(planning: &Planning, blocks: &BlocksPlan, size: f64) -> String {
    match blocks.scale {
        Scale::Ratio => number::percent(size.exp_m1()),
        Scale::Shift => found_amount(planning, size),
    }
}

/// Formats the difference that matters the way it was specified.
fn matters(planning: &Planning, blocks: &BlocksPlan, threshold: f64) -> String {
    match planning.asked.delta {
        Some(Threshold::Relative(share)) => number::percent_fine(share),
        _ => on_scale(planning, blocks, threshold),
    }
}

/// Draws the power against the number of runs, as a table with bars.
fn curve(page: &mut Page, planning: &Planning) {
    let head = [
        planned_in(planning.asked.kind).to_owned(),
        "found by ranks".to_owned(),
        "by the t test".to_owned(),
        format!("ranks see in {}", power_of_column(planning)),
    ];
    let rows: Vec<[String; 4]> = planning.curve.iter().map(|p| row(page, planning, p)).collect();
    let planned = |p: &CurvePoint| p.n == planning.rank.n;
    let tones: Vec<Tone> = planning
        .curve
        .iter()
        .map(|p| if planned(p) { Tone::Strong } else { Tone::Plain })
        .collect();
    small_table::draw(page, &head, &rows, &tones);
}

/// Returns the power with which the rank test detects the differences in the last column.
fn power_of_column(planning: &Planning) -> String {
    match planning.unknown {
        Unknown::Power if planning.rank.rule.power > 0.0 => found_in(planning.rank.rule.power),
        Unknown::Power => found_in(planning.t.power),
        _ => number::chosen_percent(planning.t.power),
    }
}

fn planned_in(kind: Kind) -> &'static str {
    match kind {
        Kind::TwoSample => "runs of each",
        Kind::OneSample => "runs",
        Kind::Paired => "pairs",
    }
}

fn row(page: &Page, planning: &Planning, point: &CurvePoint) -> [String; 4] {
    let mark = if point.n == planning.rank.n { " <" } else { "" };
    let filled = (point.rank * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    let (full, empty) = if page.unicode() { ("█", "·") } else { ("#", ".") };
    let bar = full.repeat(filled) + &empty.repeat(BAR - filled);
    [
        format!("{}{mark}", number::grouped(point.n)),
        format!("{bar} {:>6}", chance(point.rank)),
        chance(point.t),
        point.delta_rank.map_or_else(|| "-".to_owned(), |delta| found_amount(planning, delta)),
    ]
}

fn blocks_and_time(blocks: Option<u64>, seconds: Option<f64>) -> String {
    let Some(blocks) = blocks else { return "no number of blocks".to_owned() };
    let time =
        seconds.map_or_else(String::new, |s| format!(" ({})", number::duration(s * blocks as f64)));
    format!("{} blocks{time}", number::grouped(blocks))
}

/// Returns the line about blocks that is shown in a plan for separate runs.
fn as_blocks(planning: &Planning, blocks: &BlocksPlan) -> String {
    let time = |n| blocks_and_time(n, blocks.seconds_per_block);
    match blocks.threshold {
        Some(threshold) => format!(
            "in blocks of both: about {} find {} if the run stops by itself, {} if their number is fixed",
            time(blocks.sequential.to_find),
            matters(planning, blocks, threshold),
            time(blocks.fixed.to_find)
        ),
        None => format!(
            "in blocks of both: {} blocks find {} if the run stops by itself, {} if their number is fixed",
            number::grouped(blocks.at_blocks.round() as u64),
            on_scale(planning, blocks, blocks.sequential.detectable),
            on_scale(planning, blocks, blocks.fixed.detectable)
        ),
    }
}

/// Draws the table of a plan for blocks.
fn in_blocks(page: &mut Page, planning: &Planning, blocks: &BlocksPlan) {
    let seconds = blocks.seconds_per_block;
    let cell = |n: Option<u64>| blocks_and_time(n, seconds);
    let row = |name: &str, needed: &Needed| {
        [
            name.to_owned(),
            cell(needed.to_find),
            cell(needed.to_rule_out),
            on_scale(planning, blocks, needed.detectable),
        ]
    };
    let at = number::grouped(blocks.at_blocks.round() as u64);
    match blocks.threshold {
        Some(threshold) => {
            let threshold = matters(planning, blocks, threshold);
            let head = [
                "the run".to_owned(),
                format!("finds {threshold}"),
                format!("rules {threshold} out"),
                format!("{at} blocks see"),
            ];
            let rows = [
                row("stops by itself", &blocks.sequential),
                row("takes a fixed number (-r)", &blocks.fixed),
            ];
            small_table::draw(page, &head, &rows, &[Tone::Strong, Tone::Plain]);
        }
        None => page.paragraph(
            2,
            &[(
                Tone::Plain,
                format!(
                    "with a number fixed beforehand (-r {at}): {}",
                    on_scale(planning, blocks, blocks.fixed.detectable)
                ),
            )],
        ),
    }
    page.gap();
    let spread = match blocks.scale {
        Scale::Ratio => number::percent(blocks.spread),
        Scale::Shift => found_amount(planning, blocks.spread),
    };
    page.paragraph(
        2,
        &[(
            Tone::Plain,
            format!(
                "spread: from block to block, '{}' against '{}' varies by {spread} (robust standard deviation of {} blocks)",
                blocks.of,
                blocks.against,
                number::grouped(blocks.pilot_blocks as u64)
            ),
        )],
    );
    page.paragraph(
        2,
        &[(
            Tone::Plain,
            "to rule out: if there is no difference, half of all runs have ruled out one of that size by then".to_owned(),
        )],
    );
}

/// Returns the reason why a plan is useless, with a remedy.
fn hopeless(planning: &Planning, remedy: &Remedy) -> String {
    let t = planning.t;
    let level = number::percent_fine(t.sig_level);
    let why = if t.power <= t.sig_level {
        format!(
            "not useful: if there is no difference, such a test also finds one in {level} of experiments"
        )
    } else {
        format!(
            "not useful: such a test finds a difference in {level} of experiments where there is none"
        )
    };
    let runs =
        remedy.n.map(|n| format!("{} find this difference", runs_of(n, planning.asked.kind)));
    let size = remedy.delta.map(|delta| {
        format!(
            "{} find one of {}",
            runs_of(planning.rank.n, planning.asked.kind),
            found_amount(planning, delta)
        )
    });
    let ways: Vec<String> = runs.into_iter().chain(size).collect();
    if ways.is_empty() {
        return format!("{why}; look for a larger difference");
    }
    format!(
        "{why}; at a significance of {} and a power of {}, {}",
        number::percent_fine(remedy.sig_level),
        number::chosen_percent(remedy.power),
        ways.join(", or ")
    )
}

fn warnings(planning: &Planning) -> Vec<String> {
    let mut told: Vec<String> =
        planning.remedy().map(|r| hopeless(planning, &r)).into_iter().collect();
    let pilot = planning.pilot.as_ref().filter(|p| p.runs_per_independent > 1.0);
    if let Some((pilot, spread)) = pilot.and_then(|p| Some((p, p.spreads.get(p.most_dependent)?))) {
        let advice = if planning.asked.in_blocks {
            "which holds for separate runs"
        } else {
            "and the plan allows for this; blocks (`assay run A B`) need fewer, and so does an idle machine"
        };
        told.push(format!(
            "successive values of '{}' are correlated: {} of them carry as much information as {} independent ones, {advice}",
            spread.name,
            number::grouped(spread.n as u64),
            number::grouped((spread.n as f64 / pilot.runs_per_independent).round() as u64),
        ));
    }
    if let Some(small) = planning.pilot.as_ref().filter(|p| p.n < SMALL_PILOT) {
        told.push(format!(
            "a pilot of {} says little about the spread, and nothing about rare slow runs; take at least {SMALL_PILOT}",
            runs_of(small.n as u64, planning.asked.kind)
        ));
    }
    let distribution =
        planning.rank.distribution.as_ref().filter(|_| planning.unknown == Unknown::N);
    if distribution.is_some_and(|distribution| distribution.formula_power < planning.t.power - 0.02)
    {
        told.push(
            "with values like the pilot's, the rank test needs more than by the 15 % rule: use the number by formula"
                .to_owned(),
        );
    }
    told
}
