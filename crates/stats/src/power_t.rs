//! The power of Student's t tests, solved for any one of five quantities, as in R's `power.t.test`.
//!
//! One sample of n values (or n pairs) has df = n − 1 and noncentrality √n Δ/s; two samples of n
//! values each have df = 2 (n − 1) and √(n/2) Δ/s. The power is the tail of the noncentral t
//! distribution beyond the critical value. As in R, a two-sided test counts only the tail on the
//! side of the effect, unless it is `strict`; n need not be whole. Unlike in R, every solution is
//! accurate to the last digits, and `None` reports that there is no solution, instead of the end of
//! the search range.

use crate::{noncentral_t, student_t};

/// The kind of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two samples of n values each, with the same standard deviation.
    TwoSample,
    /// One sample against a number.
    OneSample,
    /// n pairs; the standard deviation is that of their differences.
    Paired,
}

impl Kind {
    /// Number of samples that contribute noise: 2 for two samples, otherwise 1.
    fn samples(self) -> f64 {
        if self == Self::TwoSample { 2.0 } else { 1.0 }
    }
}

/// The directions of differences that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// A difference in the direction of the effect.
    One,
    /// A difference in either direction; the power is the probability of finding it in the right
    /// one.
    Two,
    /// A difference in either direction; finding one in the wrong direction counts as well: R's
    /// `strict`.
    TwoStrict,
}

/// The planned test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The kind of comparison.
    pub kind: Kind,
    /// The directions of differences that count.
    pub sides: Sides,
}

/// The five quantities, any four of which determine the fifth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantities {
    /// Number of values per sample, or of pairs; at least 1.1, not necessarily whole.
    pub n: f64,
    /// The true difference; for one-sided tests, negative values are in the wrong direction.
    pub delta: f64,
    /// The standard deviation of the values, or of the differences of pairs.
    pub sd: f64,
    /// The probability of a false positive.
    pub sig_level: f64,
    /// The probability of finding this difference.
    pub power: f64,
}

/// The unknown quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The number of values.
    N,
    /// The smallest difference that is found with this power.
    Delta,
    /// The largest standard deviation at which `delta` is found.
    Sd,
    /// The level.
    SigLevel,
    /// The power.
    Power,
}

/// Minimum n: below it, Student's distribution exceeds the range of doubles.
const SMALLEST_N: f64 = 1.1;
/// Maximum n and ratio of difference to standard deviation.
const LARGEST: f64 = 1e15;

impl Test {
    /// The probability of finding a difference of `delta` with `n` values per sample. NaN for `n` ≤
    /// 1 or `sd` ≤ 0. Takes microseconds.
    ///
    /// In 0..=1; for `delta` = 0 it is the level, or half of it for two-sided tests that count one
    /// tail.
    #[must_use]
    pub fn power(self, n: f64, delta: f64, sd: f64, sig_level: f64) -> f64 {
        if n.is_nan() || n <= 1.0 || sd.is_nan() || sd <= 0.0 || !(0.0..=1.0).contains(&sig_level) {
            return f64::NAN;
        }
        let samples = self.kind.samples();
        let df = (n - 1.0) * samples;
        let shift = if self.sides == Sides::One { delta } else { delta.abs() };
        let noncentrality = (n / samples).sqrt() * shift / sd;
        let tail = if self.sides == Sides::One { sig_level } else { sig_level / 2.0 };
        let critical = -student_t::quantile(tail, df);
        let found = noncentral_t::upper_tail(critical, df, noncentrality);
        if self.sides != Sides::TwoStrict {
            return found;
        }
        found + noncentral_t::cdf(-critical, df, noncentrality)
    }

    /// Solves for the `unknown`, ignoring its value in `given`.
    ///
    /// `None` if there is no answer: a quantity is out of range (n ≥ 1.1, sd > 0, level and power
    /// between 0 and 1), or no value of the unknown gives the power (such as a power below the
    /// level, or for a difference of 0). About 1e-12 relative; 50 evaluations of the power.
    #[must_use]
    pub fn solve(self, unknown: Unknown, given: Quantities) -> Option<Quantities> {
        let open = |p: f64| p > 0.0 && p < 1.0;
        let fine = |quantity: Unknown, holds: bool| quantity == unknown || holds;
        let all = fine(Unknown::N, given.n >= SMALLEST_N && given.n <= LARGEST)
            && fine(Unknown::Delta, given.delta.is_finite())
            && fine(Unknown::Sd, given.sd > 0.0 && given.sd.is_finite())
            && fine(Unknown::SigLevel, open(given.sig_level))
            && fine(Unknown::Power, open(given.power));
        if !all {
            return None;
        }
        let Quantities { n, delta, sd, sig_level, power } = given;
        let positive = if self.sides == Sides::One { delta } else { delta.abs() };
        let climbs = |from: f64, to: f64, power_of: &dyn Fn(f64) -> f64| {
            climb(from, to, |x| power_of(x) - power)
        };
        // Positive quantities are searched on the log scale.
        Some(match unknown {
            Unknown::Power => Quantities { power: self.power(n, delta, sd, sig_level), ..given },
            Unknown::N => {
                let of = |excess: f64| self.power(1.0 + excess.exp(), delta, sd, sig_level);
                let excess = climbs((SMALLEST_N - 1.0).ln(), LARGEST.ln(), &of)?;
                Quantities { n: 1.0 + excess.exp(), ..given }
            }
            Unknown::Delta => {
                let of = |ratio: f64| self.power(n, ratio.exp() * sd, sd, sig_level);
                let ratio = climbs(-LARGEST.ln(), LARGEST.ln(), &of)?;
                Quantities { delta: ratio.exp() * sd, ..given }
            }
            Unknown::Sd if positive > 0.0 => {
                let of = |ratio: f64| self.power(n, ratio.exp(), 1.0, sig_level);
                let ratio = climbs(-LARGEST.ln(), LARGEST.ln(), &of)?;
                Quantities { sd: positive / ratio.exp(), ..given }
            }
            Unknown::Sd => return None,
            Unknown::SigLevel => {
                // ln(p / (1 − p)) resolves values near 0 and near 1.
                let level = |logit: f64| 1.0 / (1.0 + (-logit).exp());
                let of = |logit: f64| self.power(n, delta, sd, level(logit));
                Quantities { sig_level: level(climbs(-600.0, 36.0, &of)?), ..given }
            }
        })
    }
}

/// Root of an increasing function between `from` and `to`, by bisection accelerated by the method
/// of Anderson and Björck ("A new high order method of regula falsi type", 1973). `None` if there
/// is no sign change.
fn climb(from: f64, to: f64, excess: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (from, to);
    let (mut at_low, mut at_high) = (excess(low), excess(high));
    if !(at_low <= 0.0 && at_high >= 0.0) {
        return None;
    }
    // Bisects first, past any step for which linear interpolation is useless.
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        let value = excess(middle);
        if value < 0.0 {
            (low, at_low) = (middle, value);
        } else {
            (high, at_high) = (middle, value);
        }
    }
    for round in 0..120 {
        if high - low <= 1e-15 * (1.0 + low.abs()) || at_low == 0.0 || at_high == 0.0 {
            break;
        }
        let straight = low - at_low * (high - low) / (at_high - at_low);
        let inside = straight > low && straight < high && round % 4 < 3;
        let next = if inside { straight } else { 0.5 * (low + high) };
        let value = excess(next);
        let shrunk = |old: f64| {
            let factor = 1.0 - value / old;
            if factor > 0.0 { factor } else { 0.5 }
        };
        if value < 0.0 {
            at_high *= shrunk(at_low);
            (low, at_low) = (next, value);
        } else {
            at_low *= shrunk(at_high);
            (high, at_high) = (next, value);
        }
    }
    Some(if at_low == 0.0 {
        low
    } else if at_high == 0.0 {
        high
    } else {
        0.5 * (low + high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptive;
    use crate::resampling::Stream;
    use proptest::prelude::*;

    const PLAIN: Test = Test { kind: Kind::TwoSample, sides: Sides::Two };

    fn given(n: f64, delta: f64, sd: f64, sig_level: f64, power: f64) -> Quantities {
        Quantities { n, delta, sd, sig_level, power }
    }

    #[test]
    fn a_published_plan_is_reproduced() {
        let asked = given(0.0, 50.0, 1912.0, 0.01, 0.95);
        let n = PLAIN.solve(Unknown::N, asked).unwrap().n;
        assert!((n / 52_100.878_452_261_37 - 1.0).abs() < 1e-9, "{n}");
    }

    #[test]
    fn questions_without_an_answer_have_none() {
        // A difference of 0 is never found with a probability above the level.
        assert_eq!(PLAIN.solve(Unknown::N, given(0.0, 0.0, 1.0, 0.05, 0.8)), None);
        assert_eq!(PLAIN.solve(Unknown::Sd, given(10.0, 0.0, 0.0, 0.05, 0.8)), None);
        let one_sided = Test { kind: Kind::OneSample, sides: Sides::One };
        assert_eq!(one_sided.solve(Unknown::N, given(0.0, -1.0, 1.0, 0.05, 0.8)), None);
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            assert_eq!(PLAIN.solve(Unknown::N, given(9.0, 1.0, wrong, 0.05, 0.8)), None);
            assert_eq!(PLAIN.solve(Unknown::N, given(9.0, 1.0, 1.0, wrong, 0.8)), None);
            assert_eq!(PLAIN.solve(Unknown::Delta, given(wrong, 1.0, 1.0, 0.05, 0.8)), None);
        }
    }

    #[test]
    fn the_planned_number_finds_the_difference_as_often_as_asked() {
        for (kind, seed) in [(Kind::TwoSample, 1), (Kind::OneSample, 2)] {
            let test = Test { kind, sides: Sides::Two };
            let n = test.solve(Unknown::N, given(0.0, 0.9, 1.0, 0.05, 0.8)).unwrap().n.ceil();
            let expected = test.power(n, 0.9, 1.0, 0.05);
            let critical = student_t::two_sided(0.95, (n - 1.0) * kind.samples());
            let mut stream = Stream::new(seed, 0);
            let mut sample = |shift: f64| {
                let xs: Vec<f64> = (0..n as usize).map(|_| shift + stream.normal()).collect();
                (descriptive::mean(&xs), descriptive::variance(&xs))
            };
            let mut found = |shift: f64| {
                let (mean, variance) = sample(shift);
                let (difference, square) = match kind {
                    Kind::TwoSample => {
                        let (other, its_variance) = sample(0.0);
                        (mean - other, (variance + its_variance) / n)
                    }
                    _ => (mean, variance / n),
                };
                difference / square.sqrt() > critical
            };
            let rate = |hits: usize| hits as f64 / 10_000.0;
            let power = rate((0..10_000).filter(|_| found(0.9)).count());
            let false_alarms = rate((0..10_000).filter(|_| found(0.0)).count());
            assert!((power - expected).abs() < 4.0 * (0.16f64 / 10_000.0).sqrt(), "{power}");
            assert!((false_alarms - 0.025).abs() < 0.007, "{false_alarms}");
        }
    }

    fn any_test() -> impl Strategy<Value = Test> {
        let kind = prop_oneof![Just(Kind::TwoSample), Just(Kind::OneSample), Just(Kind::Paired)];
        let sides = prop_oneof![Just(Sides::One), Just(Sides::Two), Just(Sides::TwoStrict)];
        (kind, sides).prop_map(|(kind, sides)| Test { kind, sides })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_solved_for_comes_back(
            test in any_test(),
            n in 4.0f64..3000.0,
            noncentrality in 2.0f64..4.5,
            sd in 1e-6f64..1e6,
            sig_level in 0.001f64..0.2,
        ) {
            let delta = noncentrality * sd / (n / test.kind.samples()).sqrt();
            let power = test.power(n, delta, sd, sig_level);
            prop_assume!(power < 1.0 - 1e-6);
            let whole = given(n, delta, sd, sig_level, power);
            for unknown in [Unknown::N, Unknown::Delta, Unknown::Sd, Unknown::SigLevel] {
                let Some(found) = test.solve(unknown, whole) else {
                    prop_assert!(false, "no {unknown:?}");
                    continue;
                };
                for (ours, expected) in [
                    (found.n, n), (found.delta, delta), (found.sd, sd), (found.sig_level, sig_level),
                ] {
                    prop_assert!((ours / expected - 1.0).abs() < 1e-7, "{unknown:?} {ours} {expected}");
                }
            }
        }

        #[test]
        fn more_values_find_more(test in any_test(), n in 2.0f64..500.0, delta in 0.1f64..2.0) {
            let (fewer, more) = (test.power(n, delta, 1.0, 0.05), test.power(n + 1.0, delta, 1.0, 0.05));
            prop_assert!(more >= fewer - 1e-12);
        }
    }

    #[test]
    fn each_quantity_is_that_of_r() {
        let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-9;
        // R: power.t.test(n = 8, delta = 0.3, sd = 2, strict = TRUE), without `strict`, and
        // one-sided with one sample.
        let strict = Test { kind: Kind::TwoSample, sides: Sides::TwoStrict };
        let one = Test { kind: Kind::OneSample, sides: Sides::One };
        assert!(near(strict.power(8.0, 0.3, 2.0, 0.05), 0.059_028_692_240_934_99));
        assert!(near(PLAIN.power(8.0, 0.9, 2.0, 0.05), 0.131_277_919_270_934_5));
        assert!(near(one.power(8.0, 0.9, 2.0, 0.05), 0.310_541_915_583_052));
        // R: the same solved for delta, sig.level and sd.
        let solved = |unknown, asked| PLAIN.solve(unknown, asked).unwrap();
        let found = solved(Unknown::Delta, given(12.0, f64::NAN, 2.5, 0.05, 0.8)).delta;
        assert!(near(found, 2.992_033_267_103_774), "{found}");
        let found = solved(Unknown::SigLevel, given(12.0, 2.0, 2.5, f64::NAN, 0.6)).sig_level;
        assert!((found / 0.099_883_265_018_413_7 - 1.0).abs() < 1e-7, "{found}");
        let found = solved(Unknown::Sd, given(12.0, 2.0, f64::NAN, 0.05, 0.9)).sd;
        assert!((found / 1.443_876_471_409_083 - 1.0).abs() < 1e-7, "{found}");
        assert_eq!(PLAIN.solve(Unknown::N, given(9.0, f64::NAN, 1.0, 0.05, 0.8)), None);
    }

    #[test]
    fn a_climb_ends_at_its_root_also_where_that_is_an_end() {
        assert_eq!(climb(2.0, 3.0, |x| x - 2.0), Some(2.0));
        assert_eq!(climb(0.0, 2.0, |x| x - 2.0), Some(2.0));
        assert!(climb(0.0, 3.0, |x| x * x - 2.0).is_some_and(|x| (x - 2f64.sqrt()).abs() < 1e-14));
        assert_eq!(climb(0.0, 1.0, |x| x + 1.0), None);
        assert_eq!(climb(0.0, 1.0, |x| x - 2.0), None);
    }
}
