//! The difference of two sides with several builds (or other units) each, from block differences,
//! each between one unit of each side.
//!
//! In the model, the difference of a block is the effect of its second unit minus the effect of its
//! first, plus noise. The effects are fitted alternately, each as the pseudo-median (Hodges and
//! Lehmann, 1963) of the residuals of the units that it met, as in Tukey's median polish
//! (*Exploratory Data Analysis*, 1977, ch. 11), so a single disturbed block affects none of them.
//! The interval is Welch's (1947) over the fitted effects, so that it reflects the spread between
//! units, not the number of blocks: with more blocks it narrows to what the number of units allows.
//! The noise of the blocks is included in the effects of both sides, which is conservative.
//!
//! Each side needs more than one unit; otherwise the variation between units is unknown.

use crate::interval::Interval;
use crate::{signed_rank, sorting, student_t};
use std::collections::BTreeMap;

/// Maximum number of fitting rounds: randomly paired units are fitted to a thousandth of the noise
/// after five.
const ROUNDS: usize = 20;

/// The estimated difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossed {
    /// Second side minus first: the difference of the mean effects of their units.
    pub estimate: f64,
    /// Squared standard error of the difference.
    pub squared_error: f64,
    /// The part of `squared_error` due to block noise, counted once.
    pub squared_noise: f64,
    /// Welch's degrees of freedom of the squared error.
    pub df: f64,
    /// Number of units of the first side and of the second.
    pub units: (usize, usize),
    /// Standard deviation between units of one side, without the contribution of block noise;
    /// `None` if there are too few blocks to separate the two.
    pub between: Option<f64>,
}

impl Crossed {
    /// The interval of the difference; `None` if a side has fewer than `fewest` units.
    pub fn interval(&self, confidence: f64, fewest: usize) -> Option<Interval> {
        if self.units.0.min(self.units.1) < fewest.max(2) {
            return None;
        }
        let reach = student_t::two_sided(confidence, self.df) * self.squared_error.sqrt();
        reach
            .is_finite()
            .then_some(Interval { lower: self.estimate - reach, upper: self.estimate + reach })
    }
}

/// One side's units: the unit of every block, and the effects.
struct Units {
    of_block: Vec<usize>,
    effects: Vec<f64>,
}

impl Units {
    fn of(keys: impl Iterator<Item = u32> + Clone) -> Self {
        let mut index: BTreeMap<u32, usize> = keys.clone().map(|key| (key, 0)).collect();
        index.values_mut().enumerate().for_each(|(place, index)| *index = place);
        Self { of_block: keys.map(|key| index[&key]).collect(), effects: vec![0.0; index.len()] }
    }

    fn of_block(&self, block: usize) -> f64 {
        self.effects[self.of_block[block]]
    }

    /// Fits the effects to the residuals of every block; returns the largest change.
    fn fit(&mut self, left_over: impl Fn(usize) -> f64) -> f64 {
        let mut own: Vec<Vec<f64>> = vec![Vec::new(); self.effects.len()];
        self.of_block.iter().enumerate().for_each(|(b, &unit)| own[unit].push(left_over(b)));
        let mut moved = 0.0_f64;
        for (effect, mut values) in self.effects.iter_mut().zip(own) {
            sorting::sort(&mut values);
            let fitted = signed_rank::pseudo_median(&values);
            moved = moved.max((fitted - *effect).abs());
            *effect = fitted;
        }
        moved
    }

    /// The mean of the effects, their variance, and their number.
    fn spread(&self) -> (f64, f64, f64) {
        let n = self.effects.len() as f64;
        let mean = self.effects.iter().sum::<f64>() / n;
        let squares = self.effects.iter().map(|e| (e - mean).powi(2)).sum::<f64>();
        (mean, if n > 1.0 { squares / (n - 1.0) } else { 0.0 }, n)
    }
}

/// Estimates the difference from block differences, each with its units of the first and of the
/// second side; `None` if there are no blocks. O(blocks · log).
pub fn difference(differences: &[f64], units: &[(u32, u32)]) -> Option<Crossed> {
    if differences.is_empty() || differences.len() != units.len() {
        return None;
    }
    let mut first = Units::of(units.iter().map(|&(first, _)| first));
    let mut second = Units::of(units.iter().map(|&(_, second)| second));
    for _ in 0..ROUNDS {
        let moved = second.fit(|b| differences[b] + first.of_block(b));
        let moved = moved.max(first.fit(|b| second.of_block(b) - differences[b]));
        let (_, spread, _) = second.spread();
        if moved <= 1e-4 * spread.sqrt() {
            break;
        }
    }
    let ((mean_x, var_x, n), (mean_y, var_y, m)) = (first.spread(), second.spread());
    let fitted = |b: usize| second.of_block(b) - first.of_block(b);
    let blocks = differences.len() as f64;
    let left = differences.iter().enumerate().map(|(b, d)| (d - fitted(b)).powi(2)).sum::<f64>();
    let free = blocks - n - m + 1.0;
    let noise = if free > 0.0 { left / free } else { 0.0 };
    // Three units that happen to be alike must not pass for a side without spread if the other
    // side's ten show it: if their numbers differ, the smaller side's variance is at least the
    // pooled one.
    let pooled = ((n - 1.0) * var_x + (m - 1.0) * var_y) / (n + m - 2.0).max(1.0);
    let held = |own: f64, is_fewer: bool| if is_fewer { own.max(pooled) } else { own };
    let (x, y) = (held(var_x, n < m) / n, held(var_y, m < n) / m);
    let all = x + y;
    let df = if all > 0.0 {
        all * all / (x * x / (n - 1.0).max(1.0) + y * y / (m - 1.0).max(1.0))
    } else {
        n + m - 2.0
    };
    let known = blocks >= 2.0 * (n + m) && n + m > 2.0;
    let between = known.then(|| {
        let of_noise = noise * (n + m) / 2.0 / blocks;
        (pooled - of_noise).max(0.0).sqrt()
    });
    Some(Crossed {
        estimate: mean_y - mean_x,
        // Block noise sets a lower bound, however alike the few units look.
        squared_error: all.max(noise / blocks),
        squared_noise: noise / blocks,
        df: df.max(1.0),
        units: (first.effects.len(), second.effects.len()),
        between,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    /// A random effect of the placement of a build.
    type Placement = fn(&mut Stream) -> f64;

    /// Differences in percent of `count` blocks of builds that alternate, with noise of 1 % that
    /// has outliers.
    fn blocks(
        stream: &mut Stream,
        (n, m): (usize, usize),
        count: usize,
        placement: (f64, Placement),
        effect: f64,
    ) -> (Vec<f64>, Vec<(u32, u32)>) {
        let (sd, draw) = placement;
        let x: Vec<f64> = (0..n).map(|_| sd * draw(stream)).collect();
        let y: Vec<f64> = (0..m).map(|_| effect + sd * draw(stream)).collect();
        let mut orders = [(0..n).collect::<Vec<_>>(), (0..m).collect()];
        let mut differences = Vec::new();
        let mut units = Vec::new();
        for block in 0..count {
            let mut now = [0, 0];
            for (order, now) in orders.iter_mut().zip(&mut now) {
                if block % order.len() == 0 {
                    for i in (1..order.len()).rev() {
                        order.swap(i, (stream.uniform() * (i + 1) as f64) as usize);
                    }
                }
                *now = order[block % order.len()];
            }
            let outlier = if stream.uniform() < 0.05 { 10.0 * stream.uniform() } else { 0.0 };
            differences.push(y[now[1]] - x[now[0]] + stream.normal() + outlier);
            units.push((now[0] as u32, now[1] as u32));
        }
        (differences, units)
    }

    const NORMAL: Placement = |stream| stream.normal();
    /// Two equally likely effects, such as those of code alignment.
    const TWO_PLACES: Placement = |stream| if stream.uniform() < 0.5 { 1.0 } else { -1.0 };
    /// One build in five is slower.
    const UNLUCKY: Placement = |stream| if stream.uniform() < 0.2 { 2.0 } else { 0.0 };

    /// Share of `cases` in which the interval at this confidence is above `beyond`, or below its
    /// negative.
    fn called(
        sides: (usize, usize),
        count: usize,
        placement: (f64, Placement),
        effect: f64,
        (confidence, beyond, cases): (f64, f64, u64),
    ) -> f64 {
        let found = (0..cases).filter(|&case| {
            let mut stream = Stream::new(71, case);
            let (d, units) = blocks(&mut stream, sides, count, placement, effect);
            let interval = difference(&d, &units).and_then(|c| c.interval(confidence, 3));
            interval.is_some_and(|i| i.lower > beyond || i.upper < -beyond)
        });
        found.count() as f64 / cases as f64
    }

    #[test]
    fn builds_of_one_source_are_rarely_called_different() {
        for sides in [(3, 3), (5, 5), (10, 10), (3, 10)] {
            for (name, sd, draw) in [
                ("none", 0.0, NORMAL),
                ("normal", 1.0, NORMAL),
                ("normal", 3.0, NORMAL),
                ("two", 2.0, TWO_PLACES),
                ("unlucky", 1.5, UNLUCKY),
            ] {
                let rate = called(sides, 40, (sd, draw), 0.0, (0.95, 0.0, 400));
                // 5 % of 400, plus 2.3 standard errors.
                assert!(rate <= 0.075, "{sides:?} {name} {sd}: {rate}");
            }
        }
    }

    #[test]
    fn a_true_difference_is_found_with_five_builds_a_side() {
        // The confidence of one of many looks, and a threshold of 1 %.
        let strict = (0.998, 0.0, 400);
        let power = called((5, 5), 100, (0.5, NORMAL), 3.0, strict);
        assert!(power >= 0.8, "{power}");
        let loose = called((5, 5), 100, (0.5, NORMAL), 3.0, (0.95, 1.0, 400));
        assert!(loose >= 0.8, "{loose}");
    }

    #[test]
    fn the_spread_between_builds_is_found() {
        let mut sum = 0.0;
        for case in 0..200 {
            let mut stream = Stream::new(72, case);
            let (d, units) = blocks(&mut stream, (6, 6), 120, (2.0, NORMAL), 0.0);
            sum += difference(&d, &units).and_then(|c| c.between).unwrap().powi(2) / 200.0;
        }
        assert!((sum.sqrt() - 2.0).abs() < 0.15, "{sum}");
    }

    #[test]
    fn one_build_a_side_says_nothing_of_layout() {
        let found = difference(&[1.0, 2.0, 3.0], &[(0, 0); 3]).unwrap();
        assert_eq!((found.estimate, found.units), (2.0, (1, 1)));
        assert_eq!(found.interval(0.95, 3), None);
        assert_eq!(difference(&[], &[]), None);
    }

    #[test]
    fn the_interval_is_welchs_and_needs_builds_on_both_sides() {
        let found = Crossed {
            estimate: 5.0,
            squared_error: 4.0,
            squared_noise: 1.0,
            df: 3.0,
            units: (3, 4),
            between: None,
        };
        // R: qt(0.975, 3).
        let reach = 2.0 * 3.182_446_305_284_263;
        let interval = found.interval(0.95, 3).unwrap();
        assert!((interval.lower - (5.0 - reach)).abs() < 1e-9, "{interval:?}");
        assert!((interval.upper - (5.0 + reach)).abs() < 1e-9, "{interval:?}");
        assert_eq!(found.interval(0.95, 4), None);
        // A single build has no spread, regardless of `fewest`.
        assert_eq!(Crossed { units: (1, 9), ..found }.interval(0.95, 0), None);
        assert_eq!(Crossed { units: (9, 1), ..found }.interval(0.95, 0), None);
        assert!(Crossed { units: (2, 2), ..found }.interval(0.95, 0).is_some());
        assert_eq!(Crossed { df: f64::NAN, ..found }.interval(0.95, 3), None);
    }

    #[test]
    fn effects_without_noise_are_found_exactly() {
        let (x, y) = ([0.0, 1.0, 2.0], [5.0, 7.0, 9.0]);
        let units: Vec<(u32, u32)> = (0..9).map(|i| (i % 3, i / 3)).collect();
        let d: Vec<f64> = units.iter().map(|&(i, j)| y[j as usize] - x[i as usize]).collect();
        let found = difference(&d, &units).unwrap();
        assert!((found.estimate - 6.0).abs() < 1e-9);
        assert!((found.squared_error - (1.0 / 3.0 + 4.0 / 3.0)).abs() < 1e-6);
    }

    #[test]
    fn noise_spread_and_degrees_of_freedom_are_those_counted_by_hand() {
        // Units of 0 and 1, and of 5 and 7; every pair twice, a tenth above and below.
        let pairs = [(0, 0, 5.0), (0, 1, 7.0), (1, 0, 4.0), (1, 1, 6.0)];
        let twice = |noise: f64| -> (Vec<f64>, Vec<(u32, u32)>) {
            let both =
                pairs.iter().flat_map(|&(i, j, d)| [(d - noise, (i, j)), (d + noise, (i, j))]);
            both.unzip()
        };
        let near = |ours: f64, expected: f64| (ours - expected).abs() < 1e-6;
        let (d, units) = twice(0.1);
        let found = difference(&d, &units).unwrap();
        // 8 blocks, 8 · 0.01 of squares, 8 − 4 + 1 free; variances 1/2 and 2 of two units each.
        assert!(near(found.squared_noise, 0.08 / 5.0 / 8.0), "{found:?}");
        assert!(near(found.estimate, 5.5) && near(found.squared_error, 1.25), "{found:?}");
        assert!(near(found.df, 1.25 * 1.25 / (0.0625 + 1.0)), "{found:?}");
        // The noise variance in the mean of a unit with four blocks is 0.016/4.
        assert!(near(found.between.unwrap(), (1.25_f64 - 0.016 / 4.0).sqrt()), "{found:?}");
        // With as many blocks as fitted parameters, no noise can be estimated.
        let found = difference(&[5.0, 7.0, 4.0], &[(0, 0), (0, 1), (1, 0)]).unwrap();
        assert!(found.squared_noise == 0.0 && found.between.is_none(), "{found:?}");
    }

    #[test]
    fn the_fewer_units_are_held_to_vary_as_all_do() {
        // Two units that are alike, and four of 0, 2, 4 and 6: variances 0 and 20/3, pooled 20/4.
        let units: Vec<(u32, u32)> = (0..8).map(|i| (i % 2, i / 2)).collect();
        let d: Vec<f64> = units.iter().map(|&(_, j)| 2.0 * f64::from(j)).collect();
        let found = difference(&d, &units).unwrap();
        let (x, y) = (5.0 / 2.0, 20.0 / 3.0 / 4.0);
        assert!((found.squared_error - (x + y)).abs() < 1e-6, "{found:?}");
        let df = (x + y) * (x + y) / (x * x + y * y / 3.0);
        assert!((found.df - df).abs() < 1e-6, "{found:?}");
        // Without any differences, the number of units minus the two means.
        let found = difference(&[3.0; 8], &units).unwrap();
        assert_eq!((found.squared_error, found.df, found.estimate), (0.0, 4.0, 3.0));
    }

    #[test]
    fn the_unit_of_the_differences_changes_no_degrees_of_freedom() {
        let units: Vec<(u32, u32)> = (0..8).map(|i| (i % 2, i / 2)).collect();
        let of = |unit: f64| {
            let d: Vec<f64> = units.iter().map(|&(i, j)| unit * f64::from(i + 2 * j)).collect();
            difference(&d, &units).unwrap()
        };
        let (large, small) = (of(1.0), of(1.0 / 1024.0));
        assert!((large.df - small.df).abs() < 1e-9, "{large:?} {small:?}");
    }
}
