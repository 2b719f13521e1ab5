//! The conclusion of a protocol step that passed, and the underlying numbers, one per line.

use super::{SPREAD_DIGITS, Teller, has, in_unit, statistic, test_name};
use crate::number::{self, Column};
use assay_analysis::Interval;
use assay_analysis::policy::DRIFT_FROM;
use assay_analysis::protocol::{
    CauseKind, EffectFound, PowerFound, QuantileDifference, SeriesFound, Spread, TestFound,
    TestName, Validity,
};
use assay_data::code;
use assay_data::list;

/// The quantiles whose differences are shown.
const SHOWN_QUANTILES: [f64; 4] = [0.1, 0.5, 0.9, 0.99];

impl Teller<'_> {
    pub(super) fn valid(&self, found: &Validity) -> String {
        let judged = found.differences.as_ref().map_or(&found.series[..], std::slice::from_ref);
        let least = judged.iter().map(|s| s.effective / s.n as f64).fold(1.0, f64::min);
        if self.chain.paired {
            return "the difference did not change during the run; the order within the blocks was random".to_owned();
        }
        if has(&self.chain.validity, code::DEPENDENCE) {
            return "successive values are correlated no more than chance allows".to_owned();
        }
        format!(
            "successive values are nearly independent: effective sample size {} of n",
            if least < 1.0 {
                format!("at least {}", number::share(least, 1.0))
            } else {
                "all".to_owned()
            }
        )
    }

    pub(super) fn of_validity(&self, found: &Validity) -> Vec<String> {
        let mut lines: Vec<String> =
            found.series.iter().map(|s| self.of_series(self.name(s.subject), s)).collect();
        lines.extend(found.differences.as_ref().map(|d| self.of_series("differences", d)));
        if !found.causes.is_empty() {
            let causes = found.causes.iter().map(|cause| {
                let what = match cause.kind {
                    CauseKind::Frequency => "the CPU's frequency was left to scale",
                    CauseKind::Neighbours => "other work on the machine",
                    CauseKind::Drift => {
                        return "warming up or a leak (the values drift)".to_owned();
                    }
                };
                match &cause.evidence {
                    Some(evidence) => format!("{what} (the recording says: \"{evidence}\")"),
                    None => format!("{what} (the recording does not say)"),
                }
            });
            lines.push(format!("likely causes: {}", causes.collect::<Vec<_>>().join("; ")));
        }
        lines
    }

    fn of_series(&self, name: &str, s: &SeriesFound) -> String {
        let drift = match s.drift {
            Some(drift) => {
                format!("drift {}{}", if drift < 0.0 { "-" } else { "+" }, self.amount(drift.abs()))
            }
            None if s.n < DRIFT_FROM => "too few values to detect a drift".to_owned(),
            None => "no drift".to_owned(),
        };
        let rejected: Vec<String> = s
            .distributions
            .iter()
            .filter(|distribution| distribution.is_rejected())
            .map(|distribution| distribution.distribution.to_owned())
            .collect();
        let (skewness, kurtosis) = (s.moments.0.adjusted, s.moments.1.adjusted);
        let distributions = match rejected.as_slice() {
            _ if s.is_constant() => "all values are equal".to_owned(),
            [] => format!(
                "no distribution rejected ({}the tests need none)",
                shape(skewness, kurtosis)
            ),
            _ => format!(
                "not {} ({}the tests need none)",
                rejected.join(", not "),
                shape(skewness, kurtosis)
            ),
        };
        format!(
            "{name}: n {}, effective n {} ({}) · max |acf| {} over {} lags (95 % bound for one lag: {}) · {drift} · {distributions}",
            number::count(s.n as f64),
            number::count(s.effective),
            number::fixed(s.effective / s.n as f64, 3),
            number::fixed(s.acf_max_r_default, 4),
            s.lags_r_default,
            number::fixed(s.acf_bound, 4),
        )
    }

    pub(super) fn enough(&self, found: &PowerFound) -> String {
        let things = self.things();
        match found.needed {
            Some(needed) => format!(
                "{} {things}{} are enough for {}: {} are needed",
                number::count(found.have),
                self.of_each(),
                self.threshold_amount(),
                number::count(needed)
            ),
            None => format!(
                "{} {things}{}, all equal: their number does not matter",
                number::count(found.have),
                self.of_each()
            ),
        }
    }

    pub fn of_each(&self) -> &'static str {
        if self.chain.paired { "" } else { " of each" }
    }

    pub(super) fn of_power(&self, found: &PowerFound) -> Vec<String> {
        let mut lines: Vec<String> =
            found.spreads.iter().map(|s| self.of_spread(s, found)).collect();
        lines.extend(self.counted(found));
        if let (Some(n), Some(planned)) = (found.n_t, found.planned) {
            let power = found.power.map_or_else(String::new, |power| {
                format!("; these have a power of {}", power_told(power))
            });
            let visible = found.visible.map_or_else(String::new, |visible| {
                format!(" and would find {}", self.amount(visible))
            });
            lines.push(format!(
                "planned with sd {}: Student's t needs {}, a rank test 15 % more, rounded up {}{power}{visible}",
                self.amount(found.sd),
                number::count(n.ceil()),
                number::count(planned)
            ));
        }
        lines
    }

    /// Explains why the effective number differs from the number of values. Dependent values carry
    /// less information, and sides of different sizes count as two equal sides of an intermediate
    /// size.
    fn counted(&self, found: &PowerFound) -> Option<String> {
        let validity = self.chain.validity.found.as_ref()?;
        let series =
            validity.differences.as_ref().map_or(&validity.series[..], std::slice::from_ref);
        if found.sd == 0.0 || series.iter().all(|s| s.n as f64 == found.have) {
            return None;
        }
        let each = series.iter().map(|s| {
            let counts = if self.chain.paired { found.have } else { s.counting() };
            let n = number::count(s.n as f64);
            let whose = match (self.chain.paired, series.len()) {
                (true, _) => format!("{n} blocks"),
                (false, 1) => format!("{n} values"),
                (false, _) => format!("{n} values of {}", self.name(s.subject)),
            };
            if counts < s.n as f64 {
                format!("{whose}, effective sample size {},", number::count(counts))
            } else {
                whose
            }
        });
        let each = each.collect::<Vec<_>>().join(" and ");
        let have = number::count(found.have.floor());
        if series.len() == 1 {
            return Some(format!("counted as {have}: {}", each.trim_end_matches(',')));
        }
        Some(format!(
            "counted as {have} of each: {each} carry as much information as {have} independent values of each"
        ))
    }

    fn of_spread(&self, spread: &Spread, found: &PowerFound) -> String {
        let column = Column::significant(self.unit(), &[spread.sd], SPREAD_DIGITS);
        let name = if self.chain.paired { "the differences" } else { self.name(spread.subject) };
        let intervals =
            [("normal", spread.normal), ("basic", spread.basic), ("percentile", spread.percentile)];
        let intervals: Vec<String> = intervals
            .into_iter()
            .filter_map(|(kind, interval)| {
                let Interval { lower, upper } = interval?;
                Some(format!("{kind} [{} … {}]", column.number(lower), column.number(upper)))
            })
            .collect();
        let line = format!("standard deviation of {name} {}", column.with_unit(spread.sd));
        if intervals.is_empty() {
            return line;
        }
        format!(
            "{line}: {} ({}, {} resamples)",
            intervals.join(" · "),
            number::chosen_percent(found.confidence),
            number::count(spread.resamples as f64)
        )
    }

    pub(super) fn tested(&self, found: &TestFound) -> String {
        format!(
            "{}: {} differ, {} at a significance of {}",
            test_name(found.name),
            list::all(&[self.against().to_owned(), self.of().to_owned()]),
            number::p_value(found.log10_p_decisive),
            number::chosen_percent(self.chain.level)
        )
    }

    pub(super) fn of_test(&self, found: &TestFound) -> Vec<String> {
        if found.log10_p.is_nan() {
            return Vec::new();
        }
        let (letter, what) = match found.name {
            TestName::MannWhitney => {
                ("W", format!("pairs in which {} has the larger value, ties half", self.of()))
            }
            TestName::SignedRank => {
                ("V", format!("ranks of the blocks in which {} has the larger value", self.of()))
            }
        };
        let distribution = if found.exact {
            "exact distribution"
        } else {
            "normal distribution, corrected for ties and continuity"
        };
        vec![format!("{letter} = {} ({what}), {distribution}", statistic(found.statistic))]
    }

    pub(super) fn of_effect(&self, found: &EffectFound) -> Vec<String> {
        let estimator = if self.chain.paired {
            "pseudo-median of the blocks' differences"
        } else {
            "Hodges-Lehmann estimate"
        };
        let (confidence, superiority) = (self.confidence(), self.superiority(found));
        let mut lines = vec![format!("{estimator}, {confidence} interval · {superiority}")];
        let known =
            // A quantile difference whose interval contains the estimate adds nothing to the shift.
            |q: &&QuantileDifference| {
                let holds = |i: Interval| i.lower <= found.estimate && found.estimate <= i.upper;
                SHOWN_QUANTILES.contains(&q.share) && q.interval.is_some_and(|i| !holds(i))
            };
        let shown: Vec<&QuantileDifference> = found.quantiles.iter().filter(known).collect();
        if !shown.is_empty() {
            let shifts: Vec<f64> = shown.iter().map(|q| q.difference).collect();
            let column = Column::significant(self.unit(), &shifts, SPREAD_DIGITS);
            let each: Vec<String> = shown
                .iter()
                .map(|q| {
                    let interval = q.interval.map_or_else(String::new, |i| {
                        format!(" [{} … {}]", column.number(i.lower), column.number(i.upper))
                    });
                    format!(
                        "p{} {}{interval}",
                        number::fixed(q.share * 100.0, 0),
                        column.number(q.difference)
                    )
                })
                .collect();
            lines.push(format!(
                "differences of quantiles{}: {}",
                in_unit(&column),
                each.join(" · ")
            ));
        }
        lines
    }
}

/// Returns skewness and excess kurtosis in the wording of a series' summary, or an empty string if
/// there are too few values.
fn shape(skewness: f64, kurtosis: f64) -> String {
    if !(skewness.is_finite() && kurtosis.is_finite()) {
        return String::new();
    }
    format!(
        "skewness {}, excess kurtosis {}; ",
        number::fixed(skewness, 2),
        number::fixed(kurtosis, 2)
    )
}

/// Formats a power for use in a sentence. Even after rounding, it is never shown as certainty,
/// which no test provides.
pub(super) fn power_told(power: f64) -> String {
    let told = number::share(power, 1.0);
    if told == "100 %" { "more than 99 %".to_owned() } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_power_is_certain() {
        assert_eq!(
            [0.5, 0.9999, 1.0].map(power_told),
            ["50 %", "more than 99 %", "more than 99 %"]
        );
    }

    #[test]
    fn a_shape_that_few_values_do_not_have_is_not_told() {
        assert_eq!(shape(0.5, f64::NAN), "");
        assert_eq!(shape(0.5, -1.25), "skewness 0.50, excess kurtosis -1.25; ");
    }
}
