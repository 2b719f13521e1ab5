//! Additions to a sentence if other numbers on the screen (medians, means) disagree with it, if the
//! interval is only a few clock steps wide, or if the machine was too busy to show the whole
//! effect.

use super::{Bound, Teller};
use crate::number;
use assay_analysis::{Interval, Scale, Verdict, policy};
use assay_data::Unit;

/// An interval whose half-width is at most this many clock steps mostly reflects the steps in which
/// values are measured.
const MOSTLY: f64 = 1.5;

/// CPU time of a server, divided by the number of its responses.
const SERVER_CPU: &str = "server_cpu_per_request";

impl Teller<'_> {
    /// Returns the difference of the medians, if it disagrees with the sentence (`size`, on the
    /// decision's scale) or the interval.
    pub(super) fn other_medians(&self, size: f64, bound: Bound) -> Option<String> {
        let c = self.c;
        let medians = c.ratio_of_medians()?;
        let d = &c.decision;
        let contradict = |room| contradicts(medians.ln(), size, bound, room);
        let is_outside =
            c.changes_shape() && (d.scale != Scale::Ratio || contradict(d.threshold / 2.0));
        let is_far = d.scale == Scale::Ratio
            && medians.ln().is_finite()
            && contradict(d.threshold.max(policy::MEDIANS_APART * size.abs()));
        (is_outside || is_far).then(|| apart(medians))
    }

    /// Returns the difference of the medians, if it is outside the interval of a sentence without a
    /// direction by more than half the threshold.
    pub(super) fn medians_beside(&self, interval: Interval) -> String {
        let d = &self.c.decision;
        let medians = self.c.ratio_of_medians().filter(|_| d.scale == Scale::Ratio);
        let beyond = |m: f64| (interval.lower - m).max(m - interval.upper);
        match medians.filter(|medians| beyond(medians.ln()) > d.threshold / 2.0) {
            Some(medians) => format!("; the medians {}", apart(medians)),
            None => String::new(),
        }
    }

    /// Returns true if a ratio (given as its logarithm) differs from the size in the sentence by
    /// more than the threshold and by more than half of that size.
    fn differs(&self, own: f64, size: f64, bound: Bound) -> bool {
        let d = &self.c.decision;
        let room = d.threshold.max(policy::SIZE_KNOWN * size.abs());
        d.scale == Scale::Ratio && own.is_finite() && contradicts(own, size, bound, room)
    }

    /// Returns a clause for an interval that mostly reflects the steps in which values are
    /// measured; empty for other intervals.
    pub(super) fn coarse(&self, interval: Interval) -> String {
        let step = self.c.decision.clock_step;
        if interval.half_width() > MOSTLY * step || interval.half_width() == 0.0 {
            return String::new();
        }
        let name = crate::label::label(self.metric);
        format!(", most of which one step hides: {name} comes in steps of {}", self.on_scale(step))
    }

    /// Returns the difference of the means if it is outside the interval by more than the
    /// threshold. That happens with a few distant values, which ranks ignore.
    pub(super) fn other_means(&self) -> String {
        let c = self.c;
        let d = &c.decision;
        let (Some(ratio), Scale::Ratio, Some(interval)) = (c.ratio, d.scale, d.interval) else {
            return String::new();
        };
        let means = c.means.1 / c.means.0;
        let beyond = (interval.lower - means.ln()).max(means.ln() - interval.upper);
        let matters = match d.verdict {
            Verdict::Equivalent => means.ln().abs() > d.threshold,
            // A verdict with a direction also covers the means, unless their size differs entirely.
            _ => self.differs(means.ln(), ratio.estimate.ln(), Bound::None),
        };
        match beyond > d.threshold && matters {
            true => format!("; the means {}", apart(means)),
            false => String::new(),
        }
    }

    /// Returns a note that the machine was busy, if the sentence has only a lower bound of the
    /// size.
    pub(super) fn busy(&self) -> Option<String> {
        let at_least =
            self.c.decision.verdict.is_directional() && self.reported().bound == Bound::AtLeast;
        let environment = &self.analysis.environment;
        let (load, cpus) =
            (environment.number("load_1m")?, environment.number("cpus_online")?.max(1.0));
        (at_least && load / cpus > policy::BUSY_PER_CPU).then(|| {
            let instead = self.instead().unwrap_or_default();
            format!(
                "The machine was busy (load {} on {cpus} CPUs), which can hide more than half of the difference: measure again when it is quiet{instead}",
                number::fixed(load, 0)
            )
        })
    }

    /// Returns advice to let a metric of CPU time decide, if one was measured. A server's CPU time
    /// limits how many requests per second it can answer, but says little about latency.
    fn instead(&self) -> Option<String> {
        let own = &self.analysis.metrics;
        let is_measured = |name: &str| {
            let at = own.iter().position(|metric| metric.name == name);
            at.is_some_and(|at| {
                at != self.c.metric
                    && self.analysis.subjects.iter().all(|own| own.metrics[at].is_some())
            })
        };
        if is_measured("cpu") {
            return Some(", or let cpu decide (--primary cpu)".to_owned());
        }
        (self.metric.unit == Unit::PerSecond && is_measured(SERVER_CPU)).then(|| {
            format!(
                "; server CPU per request is steadier, but answers another question (--primary {SERVER_CPU})"
            )
        })
    }
}

/// Returns true if a number deviates by more than `room` from what the sentence states: a size, or
/// a bound on the size.
fn contradicts(own: f64, size: f64, bound: Bound, room: f64) -> bool {
    let own = own * size.signum();
    let too_small = own < size.abs() - room;
    let too_large = own > size.abs() + room;
    match bound {
        Bound::AtLeast => too_small,
        Bound::AtMost => too_large,
        Bound::None => too_small || too_large,
    }
}

/// Formats `differ by 29 %`; beyond a factor of two, `are 3.2 × apart`.
fn apart(ratio: f64) -> String {
    let size = ratio.ln().abs();
    if size > 2_f64.ln() {
        return format!("are {} apart", number::multiple(size.exp()));
    }
    format!("differ by {}", number::percent((ratio - 1.0).abs()))
}
