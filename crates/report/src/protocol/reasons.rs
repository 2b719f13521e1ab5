//! Each reason of the protocol in words: what was seen, and what to do about it.

use super::words::Teller;
use crate::number::{self, Column};
use assay_analysis::protocol::{Label, Reason};
use assay_data::Unit;

impl Teller<'_> {
    /// What was seen, without a final full stop, and what to do; the latter only where something is to be done.
    pub(crate) fn reason(&self, reason: &Reason) -> (String, Option<String>) {
        let amount = |value: f64| self.amount(value);
        let count = |n: usize| number::count(n as f64);
        let (message, next) = match *reason {
            Reason::Mixed => (
                crate::words::MIXED.to_owned(),
                "measure anew: assay run A B",
            ),
            Reason::TooFewValues { subject, n, fewest } => (
                format!("{} has {n} {}; {fewest} are the fewest", self.name(subject), self.things()),
                "record more",
            ),
            Reason::TooDependent { subject, effective, n } => (
                format!(
                    "successive values of {} hang together: {} are worth {} independent ones (ESS/n {})",
                    self.name(subject),
                    count(n),
                    number::count(effective),
                    number::fixed(effective / n as f64, 4)
                ),
                "remove the cause and measure again, best in blocks: assay run A B",
            ),
            Reason::Dependent { subject, effective, n } => (
                format!(
                    "successive values of {} hang together: {} count as {} (ESS/n {}), which widens p and interval",
                    self.name(subject),
                    count(n),
                    number::count(effective),
                    number::fixed(effective / n as f64, 3)
                ),
                "look for what changes slowly, or measure in blocks: assay run A B",
            ),
            Reason::PerhapsDependent { subject, effective, n } => (
                format!(
                    "{} values of {} count as {}, to be safe: chance alone may make them look so dependent",
                    count(n),
                    self.name(subject),
                    number::count(effective)
                ),
                "",
            ),
            Reason::Drifting { lag1 } => (
                format!(
                    "the difference changed during the run (neighbouring blocks correlate by {}); its interval was widened for that",
                    number::fixed(lag1, 2)
                ),
                "measure again at another time, and compare the two results",
            ),
            Reason::DependenceUnknown { n } => (
                format!("{n} values are too few to tell whether they are independent"),
                "record ten or more of each",
            ),
            Reason::Drift { subject, drift } => (
                format!(
                    "{} drifted by {}{} from the first to the last third, more than the threshold",
                    self.name(subject),
                    if drift < 0.0 { "-" } else { "+" },
                    amount(drift.abs())
                ),
                "measure longer before (--warmup), or in blocks: assay run A B",
            ),
            Reason::SmallDrift { subject, drift } => (
                format!(
                    "{} drifted by {}{}, {}",
                    self.name(subject),
                    if drift < 0.0 { "-" } else { "+" },
                    amount(drift.abs()),
                    if self.chain.paired { "which the blocks cancel" } else { "less than the threshold" }
                ),
                "",
            ),
            Reason::Unsteady { subject, label, begins, parts } => {
                let name = self.name(subject);
                let from = begins.map(|at| number::count(at as f64 + 1.0)).unwrap_or_default();
                let what = match label {
                    Label::WarmUp => format!("{name} warmed up: it is steady only from value {from} on"),
                    Label::Slowdown => format!("{name} became slower, or came and went, before value {from}"),
                    Label::NoSteadyState | Label::Flat => {
                        format!("{name} did not come to a steady state")
                    }
                };
                (
                    format!("{what} ({parts} parts, farther apart than the threshold)"),
                    "measure longer before (--warmup), or in blocks: assay run A B",
                )
            }
            Reason::CoarseClock { step } => (
                format!("values come in steps of {}, which is large against the threshold", amount(step)),
                match self.analysis.metrics[self.chain.metric].unit {
                    Unit::Second => "measure with a finer clock, or more work per run",
                    _ => "compare more work per run, or accept a larger --threshold",
                },
            ),
            Reason::AllEqual { subject } => (
                format!("all values of {} are equal", self.name(subject)),
                "make sure that this is what was to be measured",
            ),
            Reason::Failures { subject, failed, runs } => (
                format!("{failed} of {} runs of {} failed; their values count", count(runs), self.name(subject)),
                "make sure that a failing run does the same work",
            ),
            Reason::Timeouts { subject, late, runs } => (
                format!(
                    "{late} of {} runs of {} hit the time limit; they took longer than shown",
                    count(runs),
                    self.name(subject)
                ),
                "raise --timeout if the size of the difference matters",
            ),
            Reason::Unpaired => (
                "recorded apart: whatever else changed between the recordings is in the difference".to_owned(),
                "",
            ),
            Reason::NoThreshold => (
                "the threshold is a share of a median of 0, so that nothing can be planned".to_owned(),
                match self.unit() {
                    Unit::Second => "give the threshold as an amount: --threshold 250us",
                    _ => "give the threshold as an amount: --threshold, or first --unit, such as --unit us --threshold 250us",
                },
            ),
            Reason::TooFewForThreshold { needed, have, visible } => (
                self.too_few(&self.threshold_amount(), needed, have, visible),
                "take more, or accept a larger --threshold",
            ),
            Reason::TooFewForTenfold { needed, have, visible } => {
                let tenfold = self.amount(10.0 * self.chain.threshold);
                let what = format!("{tenfold}, ten times the threshold");
                (
                    self.too_few(&what, needed, have, visible),
                    "take more, or accept a larger --threshold; how many: assay plan",
                )
            }
            Reason::NoSpread => ("the values of each side are all equal, so that their number does not matter".to_owned(), ""),
            Reason::NotRejected => {
                let found = self.chain.test.found.as_ref();
                let p = found.map_or_else(String::new, |f| format!(" ({})", number::p_value(f.log10_p_decisive)));
                (
                    format!(
                        "not known: no difference is shown at a significance of {}{p}, which does not mean that there is none",
                        number::chosen_percent(self.chain.level)
                    ),
                    "the interval below says how large a difference there may be",
                )
            }
            Reason::NothingToRank => (
                "the test is not defined, since all observations are equal".to_owned(),
                "",
            ),
            Reason::Deflated { naive_log10_p } => (
                format!(
                    "made stricter for the dependence; taken for independent the values would give {}",
                    number::p_value(naive_log10_p)
                ),
                "",
            ),
            Reason::NoInterval => (
                format!("too few independent {} for an interval", self.things()),
                "take more",
            ),
            Reason::Straddles => (
                format!("the interval reaches into ± {}: the effect may be too small to matter", self.threshold_amount()),
                "take more, so that the interval becomes narrower",
            ),
            Reason::BelowThreshold => (
                format!("an effect below the threshold of {}: not worth publishing as one", self.threshold_amount()),
                "",
            ),
            Reason::Widened { classic } => {
                let found = self.chain.effect.found.as_ref();
                let ends = [classic.lower, classic.upper];
                let own = || Column::significant(&self.analysis.metrics[self.chain.metric].unit, &ends, 6);
                let column = found.map_or_else(own, |found| self.column(found));
                (
                    format!(
                        "widened for the dependence; taken for independent the values would give [{} … {}]",
                        column.number(classic.lower),
                        column.number(classic.upper)
                    ),
                    "",
                )
            }
            Reason::NotPlainShift => (
                "the difference is not a plain shift: it is not the same for fast and slow values, so that one number is not the whole story".to_owned(),
                "",
            ),
        };
        (message, (!next.is_empty()).then(|| next.to_owned()))
    }

    fn too_few(&self, what: &str, needed: f64, have: f64, visible: f64) -> String {
        let (things, each) = (self.things(), self.of_each());
        let have = number::count(have.floor());
        let planned = self.chain.power.found.as_ref().and_then(|f| f.planned);
        let planned = planned.map_or_else(String::new, |planned| {
            format!(" ({} would be planned for the threshold)", number::count(planned))
        });
        let visible = if visible.is_finite() {
            format!("; they can see {}", self.amount(visible))
        } else {
            String::new()
        };
        if needed.is_finite() {
            format!(
                "{have} {things}{each} are too few for {what}: {} are needed{planned}{visible}",
                number::count(needed)
            )
        } else {
            format!("no number of {things} is enough for {what}{visible}")
        }
    }
}
