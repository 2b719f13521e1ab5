//! Critical values of a group-sequential test, which is evaluated several times while data
//! accumulate.
//!
//! Each look spends a part of the total error (Lan & DeMets, *Biometrika* 70 (1983) 659): its
//! critical value is exceeded for the first time with exactly that probability. The statistic at
//! each look is normal, with the correlation √(before ÷ now) between two looks: the density of the
//! paths still within the bounds is propagated from look to look by numerical integration
//! (Armitage, McPherson & Rowe, *JRSS A* 132 (1969) 235; Jennison & Turnbull, *Group Sequential
//! Methods*, ch. 19). R: `rpact::getDesignGroupSequential(typeOfDesign = "asUser")`. The caller
//! decides when to look and what to spend.

use crate::normal;
use std::f64::consts::TAU;

/// Number of points of the density; odd, for Simpson's rule. With twice as many, no critical value
/// changes by 1e-5.
const POINTS: usize = 101;
/// Maximum ratio of information between two looks (before ÷ now): closer looks would need a finer
/// grid and are treated as this far apart, which makes the critical value slightly larger.
const NEAREST: f64 = 0.95;

/// The paths that remain within the bounds after some looks.
#[derive(Clone, Debug)]
pub struct Within {
    information: f64,
    /// Values of the statistic, and the probability around each.
    density: Vec<(f64, f64)>,
}

/// The two-sided critical value of a look that spends `error`, given the paths that remain after
/// earlier looks (`None` for the first look). Infinite if nothing is spent. O(points).
#[must_use]
pub fn critical(before: Option<&Within>, information: f64, error: f64) -> f64 {
    if error.is_nan() || error <= 0.0 {
        return f64::INFINITY;
    }
    let alone = -normal::quantile((error / 2.0).min(0.5));
    let Some(before) = before else { return alone };
    let correlation = before.correlation(information);
    let spread = (1.0 - correlation * correlation).sqrt();
    let leaving = |critical: f64| -> f64 {
        let beyond = |&(x, mass): &(f64, f64)| {
            let over = normal::cdf((correlation * x - critical) / spread);
            mass * (over + normal::cdf((-critical - correlation * x) / spread))
        };
        before.density.iter().map(beyond).sum()
    };
    // Some paths beyond the bounds now had already left them, so the value is below that of a
    // single look.
    let (mut low, mut high) = (0.0, alone);
    while high - low > 1e-9 {
        let middle = f64::midpoint(low, high);
        if leaving(middle) > error { low = middle } else { high = middle }
    }
    high
}

impl Within {
    /// The paths that remain within after a look with this critical value. O(points²).
    #[must_use]
    pub fn after(before: Option<&Self>, information: f64, critical: f64) -> Self {
        // The density underflows beyond 9.
        let edge = critical.min(9.0);
        let step = 2.0 * edge / (POINTS - 1) as f64;
        let weight = |index: usize| match index {
            0 => step / 3.0,
            index if index == POINTS - 1 => step / 3.0,
            index if index % 2 == 1 => 4.0 * step / 3.0,
            _ => 2.0 * step / 3.0,
        };
        let normal_density = |x: f64| (-0.5 * x * x).exp() / TAU.sqrt();
        let height = |y: f64| match before {
            None => normal_density(y),
            Some(before) => {
                let correlation = before.correlation(information);
                let spread = (1.0 - correlation * correlation).sqrt();
                let from = |&(x, mass): &(f64, f64)| {
                    mass * normal_density((y - correlation * x) / spread) / spread
                };
                before.density.iter().map(from).sum()
            }
        };
        let point = |index: usize| {
            let y = -edge + step * index as f64;
            (y, weight(index) * height(y))
        };
        Self { information, density: (0..POINTS).map(point).collect() }
    }

    fn correlation(&self, information: f64) -> f64 {
        (self.information / information).min(NEAREST).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The critical values of looks, each given as its information and the total error spent by
    /// then.
    fn all(looks: &[(f64, f64)]) -> Vec<f64> {
        let (mut within, mut spent, mut found) = (None, 0.0, Vec::new());
        for &(information, sum) in looks {
            let value = critical(within.as_ref(), information, sum - spent);
            within = Some(Within::after(within.as_ref(), information, value));
            found.push(value);
            spent = sum;
        }
        found
    }

    fn logarithmic(error: f64, looks: &[f64]) -> Vec<(f64, f64)> {
        looks.iter().map(|n| (*n, error * (n / 5.0).ln() / (1024.0_f64 / 5.0).ln())).collect()
    }

    #[test]
    fn they_are_those_of_rpact() {
        // rpact 3.3.4 on R 4.2.2: getDesignGroupSequential(sided = 2, alpha = a, informationRates =
        // n / 1024, typeOfDesign = "asUser", userAlphaSpending = a * log(n / 5) / log(1024 / 5))
        let looks =
            [10.0, 14.0, 20.0, 28.0, 40.0, 57.0, 80.0, 113.0, 160.0, 226.0, 320.0, 453.0, 640.0];
        for (error, from_r) in [
            (
                0.04,
                [
                    2.7937768627,
                    2.8588172421,
                    2.8445612714,
                    2.8452107683,
                    2.8323691413,
                    2.8287735060,
                    2.8319048509,
                    2.8276293650,
                    2.8246631399,
                    2.8239268139,
                    2.8216159865,
                    2.8203494176,
                    2.8199666515,
                ],
            ),
            (
                0.04 / 200.0,
                [
                    4.2055204251,
                    4.3049898222,
                    4.3028335050,
                    4.3111810610,
                    4.3034867421,
                    4.3040037081,
                    4.3100688681,
                    4.3078337684,
                    4.3067362681,
                    4.3076223210,
                    4.3066758737,
                    4.3066969886,
                    4.3074906394,
                ],
            ),
        ] {
            for (own, theirs) in all(&logarithmic(error, &looks)).iter().zip(from_r) {
                assert!((own - theirs).abs() < 2e-4, "{own} {theirs}");
            }
        }
    }

    #[test]
    fn what_is_left_at_the_end_is_spent_at_the_end() {
        let mut looks = logarithmic(
            0.04 / 11.0,
            &[10.0, 14.0, 20.0, 28.0, 40.0, 57.0, 80.0, 113.0, 160.0, 226.0],
        );
        looks.push((277.0, 0.04 / 11.0));
        let last = all(&looks).pop().unwrap();
        assert!((last - 3.204_774_193_5).abs() < 2e-4, "{last}");
        // For looks closer than the grid resolves, the value is conservative.
        looks[10].0 = 226.5;
        assert!(all(&looks).pop().unwrap() > last - 0.2);
    }

    #[test]
    fn one_look_is_a_plain_test_and_no_error_leaves_no_way_out() {
        assert!((all(&[(7.0, 0.05)])[0] - 1.959_963_985).abs() < 1e-8);
        assert_eq!(critical(None, 7.0, 0.0), f64::INFINITY);
        assert_eq!(critical(None, 7.0, f64::NAN), f64::INFINITY);
    }
}
