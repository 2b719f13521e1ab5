//! A plan as a screen, and in [`json`] for programs: how many runs, what they find, and what each number rests on.
//!
//! First one sentence, then the power against the number of runs, then where the numbers come from. Nothing is computed here.

use crate::layout::{Page, Tone};
use crate::number;
use crate::small_table;
use crate::terminal::Screen;
use assay_analysis::Scale;
use assay_analysis::planning::blocks::{BlocksPlan, Needed};
use assay_analysis::planning::pilot::Pilot;
use assay_analysis::planning::rank::{Law, Simulated};
use assay_analysis::planning::{
    Alternative, CurvePoint, Here, Kind, Measure, Planning, Quantities, RANK_OVERHEAD, Unknown,
};
use assay_data::{Threshold, Unit};

mod fields;

pub use fields::json;

/// Characters of a whole bar.
const BAR: usize = 14;
/// Values whose neighbours hang together more than this need a warning.
const DEPENDENT: f64 = 1.0 / 0.9;
/// A pilot of fewer values hardly knows its own spread.
const SMALL_PILOT: usize = 30;

/// The screen, every line ended.
pub fn render(planning: &Planning, screen: &Screen) -> String {
    let mut page = Page::new(screen.width, screen.color, screen.unicode);
    let blocks = planning.blocks.as_ref();
    page.paragraph(2, &[(Tone::Strong, sentence(planning))]);
    if let Some(blocks) = blocks.filter(|_| planning.asked.in_blocks) {
        page.gap();
        in_blocks(&mut page, planning, blocks);
        page.paragraph(2, &[(Tone::Plain, format!("with runs apart: {}", apart(planning)))]);
    } else {
        page.gap();
        curve(&mut page, planning);
        page.gap();
        for line in grounds(planning) {
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

/// The plan in one sentence.
pub fn sentence(planning: &Planning) -> String {
    let sequential = planning.blocks.as_ref().filter(|_| planning.asked.in_blocks);
    if let Some(blocks) = sequential {
        return sentence_in_blocks(planning, blocks);
    }
    apart(planning) + "."
}

fn apart(planning: &Planning) -> String {
    let Quantities { delta, sd, sig_level, power, .. } = planning.t;
    let runs = runs_of(planning.rank.n, planning.asked.kind);
    let size = |amount: f64| found_amount(planning, amount);
    let level = format!("at a significance of {}", number::percent_fine(sig_level));
    let often = of_hundred(power);
    if planning.rank.n < planning.rank.fewest_n {
        return format!(
            "{runs} find no difference by ranks, {level}: the exact rank test needs {} at least to reject at all",
            number::grouped(planning.rank.fewest_n)
        );
    }
    match planning.unknown {
        Unknown::N => {
            let delta = asked_amount(planning, delta);
            format!("{runs}: then a difference of {delta} is found in {often} experiments, {level}")
        }
        Unknown::Delta => {
            let delta = size(planning.t.delta);
            format!("{runs} find a difference of {delta} in {often} experiments, {level}")
        }
        Unknown::Power => {
            let delta = asked_amount(planning, delta);
            format!("{runs} find a difference of {delta} in {often} experiments, {level}")
        }
        Unknown::SigLevel => {
            let delta = asked_amount(planning, delta);
            format!(
                "{runs} find a difference of {delta} in {often} experiments if the significance is {} at the strictest",
                number::percent_fine(sig_level)
            )
        }
        Unknown::Sd => {
            let delta = asked_amount(planning, delta);
            format!(
                "{runs} find a difference of {delta} in {often} experiments, {level}, while the standard deviation is at most {}",
                size(sd)
            )
        }
    }
}

fn sentence_in_blocks(planning: &Planning, blocks: &BlocksPlan) -> String {
    let Quantities { sig_level, power, .. } = planning.t;
    let level = format!("at a significance of {}", number::percent_fine(sig_level));
    let often = of_hundred(power);
    match (blocks.threshold, blocks.sequential.to_find) {
        (Some(threshold), Some(found)) => format!(
            "About {} blocks: then a difference of {} is found in {often} runs that stop by themselves, {level}.",
            number::grouped(found),
            matters(planning, blocks, threshold)
        ),
        _ => format!(
            "{} blocks find a difference of {} in {often} runs that stop by themselves, {level}.",
            number::grouped(blocks.at_blocks.round() as u64),
            on_scale(planning, blocks, blocks.sequential.could_see)
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

/// A chance as so many of a hundred; what is not all is never a hundred.
fn of_hundred(chance: f64) -> String {
    let percent = number::percent_fine(chance);
    let count = percent.trim_end_matches(" %");
    if chance < 1.0 && count == "100" {
        "more than 99.9 of 100".to_owned()
    } else {
        format!("{count} of 100")
    }
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

/// The difference that matters, as it was asked for.
fn matters(planning: &Planning, blocks: &BlocksPlan, threshold: f64) -> String {
    match planning.asked.delta {
        Some(Threshold::Relative(share)) => number::percent_fine(share),
        _ => on_scale(planning, blocks, threshold),
    }
}

/// Power against the number of runs, as a table with bars.
fn curve(page: &mut Page, planning: &Planning) {
    let head = [
        planned_in(planning.asked.kind).to_owned(),
        "found by ranks".to_owned(),
        "by the t test".to_owned(),
        format!("seen in {}", of_hundred(planning.t.power)),
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
        point.delta.map_or_else(|| "-".to_owned(), |delta| found_amount(planning, delta)),
    ]
}

/// What each number rests on.
fn grounds(planning: &Planning) -> Vec<String> {
    let mut lines = vec![by_t(planning), by_rule(planning)];
    if let Some(law) = &planning.rank.law {
        lines.push(by_law(planning, law));
    }
    if let Some(pilot) = &planning.pilot {
        lines.push(spread(planning, pilot));
        lines.push(saw(planning, pilot));
        lines.extend(pace(planning, pilot));
    }
    lines.extend(here(planning));
    lines
}

fn by_t(planning: &Planning) -> String {
    let Quantities { n, delta, sd, sig_level, power } = planning.t;
    let sides = match (planning.asked.alternative, planning.asked.strict) {
        (Alternative::TwoSided, false) => "two-sided",
        (Alternative::TwoSided, true) => "two-sided, both tails counted",
        (Alternative::Greater, _) => "one-sided, greater",
        (Alternative::Less, _) => "one-sided, less",
    };
    let decimals = if n.fract() == 0.0 { 0 } else { number::decimals_for(n, 7).min(2) };
    let exact = number::fixed(n, decimals);
    format!(
        "t test ({sides}): n {exact}, difference {}, standard deviation {}, significance {}, power {}",
        found_amount(planning, delta),
        found_amount(planning, sd),
        number::percent_fine(sig_level),
        number::percent_fine(power),
    )
}

fn by_rule(planning: &Planning) -> String {
    let rule = planning.rank.rule;
    if planning.rank.n < planning.rank.fewest_n {
        return "ranks: nothing is found by so few, whatever the values are".to_owned();
    }
    let more = number::percent_fine(RANK_OVERHEAD - 1.0);
    let what = match planning.unknown {
        Unknown::N => {
            let rounded = match planning.rank.rounded_to {
                0 | 1 => String::new(),
                step => format!(", rounded up to the next {}", number::grouped(step)),
            };
            if rule.n > planning.t.n * RANK_OVERHEAD {
                return format!(
                    "ranks: {}{rounded}, since with fewer the exact test can't reject at all",
                    number::grouped(rule.n.ceil() as u64)
                );
            }
            format!("{}{rounded}", number::grouped(rule.n.ceil() as u64))
        }
        Unknown::Delta => format!("a difference of {}", found_amount(planning, rule.delta)),
        Unknown::Sd => format!("a standard deviation of {}", found_amount(planning, rule.sd)),
        Unknown::SigLevel => format!("a significance of {}", number::percent_fine(rule.sig_level)),
        Unknown::Power => format!("found in {}", of_hundred(rule.power)),
    };
    format!(
        "ranks, by the {more} rule (for a shift 15.7 % is the most, whatever the law of the values): {what}"
    )
}

fn by_law(planning: &Planning, law: &Law) -> String {
    let mut parts = Vec::new();
    match (planning.unknown, law.formula_n, law.formula_delta) {
        (Unknown::N, Some(n), _) => {
            parts.push(format!("{} by formula", number::grouped(n.ceil() as u64)))
        }
        (Unknown::N, None, _) => parts.push("no number of runs is enough".to_owned()),
        (Unknown::Delta, _, Some(delta)) => {
            parts.push(format!("a difference of {} by formula", found_amount(planning, delta)));
        }
        _ => parts.push(format!("found in {} by formula", of_hundred(law.formula_power))),
    }
    match &law.simulated {
        Ok(s) => parts.push(simulated(planning, s)),
        Err(reason) => parts.push(reason.clone()),
    }
    format!("ranks, with values like the pilot's: {}", parts.join("; "))
}

fn simulated(planning: &Planning, s: &Simulated) -> String {
    let needed = match (s.n, s.n_error) {
        (Some(n), Some(error)) => {
            let digits = 10f64.powi(error.max(1.0).log10().floor() as i32);
            let rounded = (n / digits).round() * digits;
            let error = ((error / digits).ceil() * digits) as u64;
            let n = number::grouped(rounded as u64);
            format!("{n} ± {} by simulation; ", number::grouped(error))
        }
        _ => String::new(),
    };
    let experiments = number::grouped(s.experiments);
    let often = if s.power >= 1.0 {
        format!("all {experiments} simulated experiments")
    } else {
        let error = number::percent_fine(s.power_error);
        let power = number::percent_fine(s.power);
        format!("{power} of {experiments} simulated experiments (± {error})")
    };
    format!("{needed}{} found it in {often}", number::grouped(planning.rank.n))
}

fn spread(planning: &Planning, pilot: &Pilot) -> String {
    if planning.asked.sd.is_some() {
        return "spread: the standard deviation is the one given, not the pilot's".to_owned();
    }
    let Some(noisiest) = pilot.spreads.get(pilot.noisiest) else { return String::new() };
    let ends = [noisiest.normal_upper, noisiest.basic_upper, noisiest.percentile_upper];
    let ends: Vec<String> =
        ends.into_iter().flatten().map(|end| found_amount(planning, end)).collect();
    format!(
        "spread: '{}', the noisiest of the pilot: {}, and at most {} by bootstrap (95 %: normal, basic, percentile {}), of which the largest is planned with",
        noisiest.name,
        found_amount(planning, noisiest.sd),
        found_amount(planning, noisiest.upper()),
        ends.join(", ")
    )
}

fn saw(planning: &Planning, pilot: &Pilot) -> String {
    let runs = runs_of(pilot.n as u64, planning.asked.kind);
    let median = pilot.median.abs();
    let relative = |delta: f64| {
        if median > 0.0 { format!(" ({})", number::percent(delta / median)) } else { String::new() }
    };
    match pilot.could_see {
        Some(delta) => format!(
            "the pilot itself, {runs}, could see {}{}",
            found_amount(planning, delta),
            relative(delta)
        ),
        None => format!("the pilot itself, {runs}, could see nothing so surely"),
    }
}

/// How long the plan takes at the pilot's pace.
fn pace(planning: &Planning, pilot: &Pilot) -> Option<String> {
    let each = pilot.seconds_per_run?;
    let subjects = if planning.asked.kind == Kind::OneSample { 1.0 } else { 2.0 };
    let all = each * subjects * planning.rank.n as f64;
    Some(format!(
        "time: {}, at the {} that a run of the pilot took, pauses and all",
        number::duration(all),
        number::rough(each, &Unit::Second)
    ))
}

/// What this machine makes of a plan without a pilot.
fn here(planning: &Planning) -> Option<String> {
    match &planning.here {
        Here::NotAsked => None,
        Here::NotCalibrated => Some(
            "time: unknown; `assay calibrate` finds out which difference this machine can tell in a minute, a pilot how long a run takes"
                .to_owned(),
        ),
        Here::Calibrated { at, in_a_minute, seconds } => Some(format!(
            "time: about {} of `assay run A B` here, since this machine could tell {} in a minute when it was calibrated ({at})",
            number::duration(*seconds),
            number::percent(*in_a_minute)
        )),
    }
}

fn blocks_and_time(blocks: Option<u64>, seconds: Option<f64>) -> String {
    let Some(blocks) = blocks else { return "no number of blocks".to_owned() };
    let time =
        seconds.map_or_else(String::new, |s| format!(" ({})", number::duration(s * blocks as f64)));
    format!("{} blocks{time}", number::grouped(blocks))
}

/// The line about blocks on the screen of runs apart.
fn as_blocks(planning: &Planning, blocks: &BlocksPlan) -> String {
    let time = |n| blocks_and_time(n, blocks.seconds_per_block);
    match blocks.threshold {
        Some(threshold) => format!(
            "as blocks of both: about {} find {} when the run stops by itself, {} of a number fixed beforehand",
            time(blocks.sequential.to_find),
            matters(planning, blocks, threshold),
            time(blocks.fixed.to_find)
        ),
        None => format!(
            "as blocks of both: {} blocks see {} when the run stops by itself, {} of a number fixed beforehand",
            number::grouped(blocks.at_blocks.round() as u64),
            on_scale(planning, blocks, blocks.sequential.could_see),
            on_scale(planning, blocks, blocks.fixed.could_see)
        ),
    }
}

/// The table of the screen in blocks.
fn in_blocks(page: &mut Page, planning: &Planning, blocks: &BlocksPlan) {
    let seconds = blocks.seconds_per_block;
    let cell = |n: Option<u64>| blocks_and_time(n, seconds);
    let row = |name: &str, needed: &Needed| {
        [
            name.to_owned(),
            cell(needed.to_find),
            cell(needed.to_rule_out),
            on_scale(planning, blocks, needed.could_see),
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
                row("takes a fixed number (-n)", &blocks.fixed),
            ];
            small_table::draw(page, &head, &rows, &[Tone::Strong, Tone::Plain]);
        }
        None => page.paragraph(
            2,
            &[(
                Tone::Plain,
                format!(
                    "with a number fixed beforehand (-n {at}): {}",
                    on_scale(planning, blocks, blocks.fixed.could_see)
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
            "to rule out: if there is no difference, half of all runs have shown by then that any is smaller".to_owned(),
        )],
    );
}

fn warnings(planning: &Planning) -> Vec<String> {
    let mut told = Vec::new();
    let noisiest = planning.pilot.as_ref().and_then(|p| p.spreads.get(p.noisiest));
    if let Some(spread) = noisiest.filter(|s| s.autocorrelation_time > DEPENDENT) {
        told.push(format!(
            "successive values of '{}' hang together, {} of them are worth {}; the plan counts independent runs, so take {} times as many, or measure in blocks",
            spread.name,
            number::grouped(spread.n as u64),
            number::grouped((spread.n as f64 / spread.autocorrelation_time).round() as u64),
            number::multiple(spread.autocorrelation_time).trim_end_matches(" ×"),
        ));
    }
    if let Some(small) = planning.pilot.as_ref().filter(|p| p.n < SMALL_PILOT) {
        told.push(format!(
            "a pilot of {} hardly knows how much runs spread, and nothing of rare ones; take {SMALL_PILOT} at least",
            runs_of(small.n as u64, planning.asked.kind)
        ));
    }
    let law = planning.rank.law.as_ref().filter(|_| planning.unknown == Unknown::N);
    if law.is_some_and(|law| law.formula_power < planning.t.power - 0.02) {
        told.push(
            "with values like the pilot's the rank test needs more than the 15 % rule says: take the number by formula"
                .to_owned(),
        );
    }
    told
}
