//! The lines below the table of a plan, which state what each number is based on and how much time
//! is needed. Nothing is computed here.

use super::{factor_of, found_amount, found_in, runs_of};
use crate::number;
use assay_analysis::planning::pilot::Pilot;
use assay_analysis::planning::rank::{Distribution, Founded, Simulated};
use assay_analysis::planning::{
    Alternative, Here, Kind, Planning, Quantities, RANK_OVERHEAD, Unknown, rounded_up,
};
use assay_data::Unit;

/// Returns the lines that state what each number is based on.
pub(super) fn grounds(planning: &Planning) -> Vec<String> {
    let mut lines = vec![by_t(planning), by_rule(planning)];
    if let Some(distribution) = &planning.rank.distribution {
        lines.push(by_distribution(planning, distribution));
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
    let independent = if planning.rank.runs_per_independent > 1.0 { " independent" } else { "" };
    format!(
        "t test ({sides}): n {exact}{independent}, difference {}, standard deviation {}, significance {}, power {}",
        found_amount(planning, delta),
        found_amount(planning, sd),
        number::percent_fine(sig_level),
        number::percent_fine(power),
    )
}

fn by_rule(planning: &Planning) -> String {
    let rule = planning.rank.rule;
    if !planning.rank.is_able() {
        return "ranks: too few runs to find anything, whatever the values".to_owned();
    }
    let what = match planning.unknown {
        Unknown::N => {
            let rounded = rounded(planning, rule.n);
            let factor = planning.rank.runs_per_independent;
            let needed = (rule.n / factor).ceil();
            let times = if factor > 1.0 {
                format!(
                    ", times {} for the dependence: {}",
                    factor_of(factor),
                    number::grouped(rule.n.ceil() as u64)
                )
            } else {
                String::new()
            };
            if rule.n > planning.t.n * RANK_OVERHEAD * factor * (1.0 + 1e-9) {
                let why = if needed <= planning.rank.fewest_n as f64 {
                    "can't reject at all"
                } else {
                    "does not find it often enough, as few p-values are possible"
                };
                return format!(
                    "ranks: {}{times}{rounded}, since with fewer the exact test {why}",
                    number::grouped(needed as u64)
                );
            }
            if factor > 1.0 {
                return format!("{}{times}{rounded}", by_the_rule(&number::grouped(needed as u64)));
            }
            format!("{}{rounded}", number::grouped(rule.n.ceil() as u64))
        }
        Unknown::Delta => format!("a difference of {}", found_amount(planning, rule.delta)),
        Unknown::Sd => format!("a standard deviation of {}", found_amount(planning, rule.sd)),
        Unknown::SigLevel => format!("a significance of {}", number::percent_fine(rule.sig_level)),
        Unknown::Power => format!("found in {} of experiments", found_in(rule.power)),
    };
    by_the_rule(&what)
}

/// Returns the rounded number of runs as a phrase, or an empty string if rounding changes nothing.
fn rounded(planning: &Planning, n: f64) -> String {
    let (round, _) = rounded_up(n, planning.asked.round);
    let other = round as f64 > n.ceil();
    if other { format!(", rounded up {}", number::grouped(round)) } else { String::new() }
}

fn by_the_rule(what: &str) -> String {
    let more = number::percent_fine(RANK_OVERHEAD - 1.0);
    format!("ranks, by the {more} rule (for a shift at most 15.7 %, for any distribution): {what}")
}

fn by_distribution(planning: &Planning, distribution: &Distribution) -> String {
    let mut parts = Vec::new();
    match (planning.unknown, distribution.formula_n, distribution.formula_delta) {
        (Unknown::N, Some(n), _) => {
            let by_formula = format!("{} by formula", number::grouped(n.ceil() as u64));
            let planned = planning.rank.founded_on == Founded::Formula;
            parts.push(by_formula + &if planned { rounded(planning, n) } else { String::new() });
        }
        (Unknown::N, None, _) => parts.push("no number of runs is enough".to_owned()),
        (Unknown::Delta, _, Some(delta)) => {
            parts.push(format!("a difference of {} by formula", found_amount(planning, delta)));
        }
        _ => parts.push(format!("found in {} by formula", found_in(distribution.formula_power))),
    }
    match &distribution.simulated {
        Ok(s) => parts.push(simulated(planning, s)),
        Err(reason) => parts.push(reason.clone()),
    }
    format!("ranks, with values like the pilot's: {}", parts.join("; "))
}

fn simulated(planning: &Planning, s: &Simulated) -> String {
    let needed = match (s.n, s.n_error) {
        (Some(n), Some(error)) => {
            let digits = 10f64.powi(error.max(1.0).log10().floor() as i32);
            let found = (n / digits).round() * digits;
            let error = ((error / digits).ceil() * digits) as u64;
            let n = number::grouped(found as u64);
            format!(
                "{n} ± {} by simulation{}; ",
                number::grouped(error),
                rounded(planning, s.n.unwrap_or(0.0))
            )
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
    match pilot.detectable {
        Some(delta) => format!(
            "the pilot itself, {runs}, could detect {}{}",
            found_amount(planning, delta),
            relative(delta)
        ),
        None => format!("the pilot itself, {runs}, could detect nothing with that power"),
    }
}

/// Returns the time that the plan takes if each run takes as long as a run of the pilot, or `None`
/// if the pilot has no times.
fn pace(planning: &Planning, pilot: &Pilot) -> Option<String> {
    let each = pilot.seconds_per_run?;
    let subjects = if planning.asked.kind == Kind::OneSample { 1.0 } else { 2.0 };
    let all = each * subjects * planning.rank.n as f64;
    Some(format!(
        "time: {}, at {} per run of the pilot including pauses",
        number::duration(all),
        number::rough(each, &Unit::Second)
    ))
}

/// Returns the time that a plan without a pilot takes on this machine, as far as calibration can
/// tell, or `None` if it was not requested.
fn here(planning: &Planning) -> Option<String> {
    match &planning.here {
        Here::NotAsked => None,
        Here::NotCalibrated => Some(
            "time: unknown; a pilot shows how long a run takes, and `assay calibrate` which difference this machine detects in a minute"
                .to_owned(),
        ),
        Here::Calibrated { at, in_a_minute, seconds } => Some(format!(
            "time: about {} of `assay run A B` here, because this machine detected {} in a minute when it was calibrated ({at})",
            number::duration(*seconds),
            number::percent(*in_a_minute)
        )),
    }
}
