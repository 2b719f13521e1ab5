//! The fourth step: is the difference large enough to matter, and does one number describe it?
//!
//! The effect is the Hodges-Lehmann shift, subject − reference: the median of all differences
//! between a value of one and a value of the other, with the interval of the Mann-Whitney test. For
//! blocks, it is the pseudo-median of the per-block differences with the interval of the
//! signed-rank test. If values are correlated, the interval also covers the one from placements,
//! widened by the autocorrelation times. If nearly all readings of a side are on two steps of a
//! clock, the interval is a whole step wider on either side ([`Ticks::widen`]); otherwise, it is
//! extended by half a step for the comparison with the threshold. Only effects above the threshold
//! matter, so the whole interval is compared with it.

use super::validity::Validity;
use super::{Protocol, Step, Values, found};
use crate::comparison::{Comparison, Effect, Wins, effect_of_blocks};
use crate::paired::{self, Level};
use crate::ticks::Ticks;
use crate::unpaired;
use crate::verdict::Scale;
use assay_data::Finding;
use assay_stats::quantile_difference::{QuantileDifference, SHARES, Side, quantile_differences_of};
use assay_stats::signed_rank::SignedRankDistribution;
use assay_stats::{Interval, descriptive, two_sample};

/// Results about the size of the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectFound {
    /// The Hodges-Lehmann shift, subject − reference, or for blocks the pseudo-median of the
    /// per-block differences. In the base unit.
    pub estimate: f64,
    /// The deciding interval, which accounts for dependence and clock steps; `None` if there is
    /// none.
    pub interval: Option<Interval>,
    /// The interval that assumes independence, as R prints it.
    pub classic: Option<Interval>,
    /// Numbers of pairs of values (or of blocks) in which the subject was better or worse.
    pub wins: Wins,
    /// Differences of quantiles, subject − reference, with simultaneous intervals.
    pub quantiles: Vec<QuantileDifference>,
}

impl EffectFound {
    /// Returns the share of pairs (or blocks) in which the subject was better; ties count half.
    pub fn superiority(&self) -> f64 {
        let Wins { better, worse, of } = self.wins;
        (better + (of - better - worse) / 2.0) / of
    }
}

pub(super) fn step(
    protocol: &Protocol,
    values: &Values,
    validity: &Validity,
    comparison: &Comparison,
) -> Step<EffectFound> {
    let level = protocol.interval_level;
    let ticks = Ticks::of_recordings(&values.against, &values.of);
    let (effect, classic) = match &values.differences {
        Some(differences) => of_blocks(&differences.in_order, protocol, ticks),
        None => of_recordings(values, level, validity, ticks),
    };
    let found = EffectFound {
        estimate: effect.estimate,
        interval: effect.interval,
        classic,
        wins: comparison.wins,
        quantiles: quantiles(values, level),
    };
    let mut findings = Vec::new();
    // The interval already includes a whole step, or the values have no steps.
    let is_complete = ticks.hidden() > 0.0 || values.of.is_exact;
    let clock_step = if is_complete { 0.0 } else { validity.clock_step };
    findings.extend(held_against(&found, protocol, clock_step));
    if let (Some(interval), Some(classic)) = (found.interval, classic)
        && interval != for_clock(ticks, classic)
    {
        let column = protocol.column(found.estimate, found.interval);
        findings.push(found::widened(&column, classic));
    }
    if !is_plain_shift(&found, protocol.threshold) {
        findings.push(found::not_plain_shift());
    }
    Step::of(found, findings)
}

/// Widens the interval of a shift by the steps of the clock.
fn for_clock(ticks: Ticks, interval: Interval) -> Interval {
    // The centers matter only for ratios.
    ticks.widen(Scale::Shift, interval, (0.0, 0.0))
}

fn of_blocks(differences: &[f64], protocol: &Protocol, ticks: Ticks) -> (Effect, Option<Interval>) {
    let mut distribution = SignedRankDistribution::default();
    let groups = (1.0 - protocol.confidence) / protocol.shared_by as f64;
    let level = Level { interval: protocol.interval_level, groups };
    let sorted = descriptive::sorted(differences);
    let classic = paired::interval_of(&sorted, level.interval, &mut distribution);
    let Effect { estimate, interval } = effect_of_blocks(differences, level, &mut distribution);
    let interval = interval.map(|own| for_clock(ticks, own));
    (Effect { estimate, interval }, classic)
}

fn of_recordings(
    values: &Values,
    level: f64,
    validity: &Validity,
    ticks: Ticks,
) -> (Effect, Option<Interval>) {
    let (against, of) = (&values.against.sorted, &values.of.sorted);
    let estimate = two_sample::hodges_lehmann(against, of);
    let classic = two_sample::mann_whitney_interval(against, of, 1.0 - level);
    let mut interval = classic.map(|own| for_clock(ticks, own));
    if validity.is_dependent() {
        let (widened, _) = unpaired::shift_of(&values.against, &values.of, level);
        interval = widened.zip(interval).map(|(widened, own)| widened.covering(own));
    }
    (Effect { estimate, interval }, classic)
}

/// Returns a finding unless the interval, extended by half a clock step on either side, is entirely
/// beyond the threshold. An end that equals the threshold does not exclude it.
fn held_against(effect: &EffectFound, protocol: &Protocol, clock_step: f64) -> Option<Finding> {
    let threshold = protocol.threshold;
    let Some(Interval { lower, upper }) = effect.interval else {
        return Some(found::no_interval(protocol));
    };
    if lower == 0.0 && upper == 0.0 && clock_step == 0.0 {
        return Some(found::below_threshold(protocol));
    }
    let (lower, upper) = (lower - clock_step / 2.0, upper + clock_step / 2.0);
    // With a NaN threshold, no difference is beyond or within the threshold.
    if lower > threshold || upper < -threshold {
        None
    } else if lower > -threshold && upper < threshold {
        Some(found::below_threshold(protocol))
    } else {
        Some(found::straddles(protocol))
    }
}

/// Returns the differences of quantiles with simultaneous intervals: the level is divided by the
/// number of quantiles.
fn quantiles(values: &Values, level: f64) -> Vec<QuantileDifference> {
    let each = 1.0 - level / SHARES.len() as f64;
    let [x, y] = [&values.against, &values.of]
        .map(|r| Side::known(&r.sorted, r.lag1, r.autocorrelation_time));
    quantile_differences_of(&x, &y, &SHARES, each)
}

/// Returns false if a quantile moved differently from the center, that is, if their intervals do
/// not overlap and they differ by more than the threshold.
fn is_plain_shift(found: &EffectFound, threshold: f64) -> bool {
    let Some(interval) = found.interval else { return true };
    let apart = |q: &QuantileDifference| {
        let other = q.interval.is_some_and(|of_quantile| {
            of_quantile.upper < interval.lower || of_quantile.lower > interval.upper
        });
        other && ((q.difference - found.estimate).abs() > threshold || threshold.is_nan())
    };
    !found.quantiles.iter().any(apart)
}
