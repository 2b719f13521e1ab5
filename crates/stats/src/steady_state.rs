//! Finds the steady part of a series, and classifies how the series reached it.
//!
//! Follows Barrett, Bolz-Tereick, Killick, Mount and Tratt ("Virtual machine warmup blows hot and
//! cold", 2017): a rolling window excludes outliers, PELT on mean and spread divides the series
//! into parts, parts that do not differ enough to matter are merged, and comparing the last part
//! with the earlier ones gives the label. This differs from the paper in that it uses normal scores
//! and a penalty for a given level instead of values and 15 ln n, that "equivalent" is a relative
//! tolerance on medians, and that "steady" requires the last quarter of the series, not its last
//! 500 values. Outliers are hidden only from the detector; the series keeps them.

use crate::change_points::{self, Settings};
use crate::{descriptive, normal};

/// Number of values on either side of a value against which it is judged as an outlier.
const WINDOW: usize = 100;
/// Minimum distance of an outlier from its window's median, as a multiple of the distance between
/// the 10 % and 90 % quantiles of the window.
const OUTLYING: f64 = 3.0;
/// Minimum share of the series for a steady state.
const STEADY_SHARE: f64 = 0.25;
/// Minimum number of values for [`steady_state`].
pub const FEWEST: usize = 40;

/// How a series reached its steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The series was steady from the start.
    Flat,
    /// The series was worse before its steady state.
    WarmUp,
    /// The series was better at some time before its steady state.
    Slowdown,
    /// The series was still changing in its last quarter.
    NoSteadyState,
}

/// A part of the series between two changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Index of the first value of the part.
    pub start: usize,
    /// One past the index of the last value of the part.
    pub end: usize,
    /// Median of the values of the part.
    pub median: f64,
}

/// The steady state of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// How the series reached its steady state.
    pub label: Label,
    /// Index of the first value of the steady part, or `None` if there is no steady state.
    pub begins: Option<usize>,
    /// The parts, in order. Neighbors that do not differ enough to matter are merged.
    pub parts: Vec<Part>,
    /// Number of values excluded as outliers.
    pub outliers: usize,
}

/// Finds the steady part of a series.
///
/// `xs` must be finite and in order of measurement; the result is `None` for fewer than [`FEWEST`]
/// values. Medians that differ by no more than the share `tolerance` (≥ 0) of the last part's
/// median are equivalent. `lower_is_better` distinguishes a warm-up from a slowdown. `level` is the
/// false-positive rate for a flat series. O(n log n) plus the cost of
/// [`change_points::change_points`].
#[must_use]
pub fn steady_state(
    xs: &[f64],
    tolerance: f64,
    lower_is_better: bool,
    level: f64,
    seed: u64,
) -> Option<SteadyState> {
    if xs.len() < FEWEST {
        return None;
    }
    let outliers = outlying(xs);
    let values = without(xs, &outliers);
    let found = change_points::change_points(&values, &Settings::pelt(level, seed));
    drop(values);
    let mut starts = vec![0];
    starts.extend(found.points.iter().map(|point| place_among_all(point.index, &outliers)));
    let part = |start: usize, end: usize| Part {
        start,
        end,
        median: descriptive::median(&xs[start..end]),
    };
    let ends = starts[1..].iter().copied().chain([xs.len()]);
    let found: Vec<Part> = starts.iter().zip(ends).map(|(&start, end)| part(start, end)).collect();
    let near = tolerance.max(0.0) * found.last()?.median.abs();
    let mut parts: Vec<Part> = Vec::new();
    for next in found {
        match parts.last_mut() {
            Some(before) if (before.median - next.median).abs() <= near => {
                *before = part(before.start, next.end);
            }
            _ => parts.push(next),
        }
    }
    let last = *parts.last()?;
    // Only an unbroken steady part counts, not earlier values on the same level from which the
    // series departed and to which it returned.
    let length = xs.len() - last.start;
    let label = if (length as f64) < STEADY_SHARE * xs.len() as f64 {
        Label::NoSteadyState
    } else if parts.len() == 1 {
        Label::Flat
    } else {
        let worse = |part: &Part| {
            let above = part.median - last.median;
            (if lower_is_better { above } else { -above }) >= -near
        };
        if parts.iter().all(worse) { Label::WarmUp } else { Label::Slowdown }
    };
    let begins = (label != Label::NoSteadyState).then_some(last.start);
    Some(SteadyState { label, begins, parts, outliers: outliers.len() })
}

/// Returns the values except those at the given ascending indices.
fn without(xs: &[f64], places: &[usize]) -> Vec<f64> {
    let mut rest = Vec::with_capacity(xs.len() - places.len());
    let mut from = 0;
    for &place in places {
        rest.extend_from_slice(&xs[from..place]);
        from = place + 1;
    }
    rest.extend_from_slice(&xs[from..]);
    rest
}

/// Returns the original index of the value that is at `index` after the values at the ascending
/// indices `gone` were removed.
fn place_among_all(index: usize, gone: &[usize]) -> usize {
    gone.iter().fold(index, |place, &gone| place + usize::from(gone <= place))
}

/// Returns the indices of values far away from the values around them. Windows without spread are
/// ignored, since any other value would be an outlier in them. O(n · window), with cheap steps.
fn outlying(xs: &[f64]) -> Vec<usize> {
    let mut window = descriptive::sorted(&xs[..xs.len().min(WINDOW)]);
    let mut outliers = Vec::new();
    for (index, x) in xs.iter().enumerate() {
        let entering = xs.get(index + WINDOW).copied();
        let leaving = (index > WINDOW).then(|| xs[index - WINDOW - 1]);
        exchange(&mut window, leaving, entering);
        let at = |p: f64| descriptive::quantile_sorted(&window, p);
        let spread = at(0.9) - at(0.1);
        if spread > 0.0 && (x - at(0.5)).abs() > OUTLYING * spread {
            outliers.push(index);
        }
    }
    outliers
}

/// Replaces one value of an ascending window with another, moving only the values between the two.
fn exchange(window: &mut Vec<f64>, leaving: Option<f64>, entering: Option<f64>) {
    let place = |window: &[f64], x: f64| window.partition_point(|w| *w < x);
    // A NaN has no defined place; any will do.
    let place_of = |window: &[f64], x: f64| place(window, x).min(window.len().saturating_sub(1));
    match (leaving, entering) {
        (Some(leaving), Some(entering)) => {
            let (from, to) = (place_of(window, leaving), place(window, entering));
            if from < to {
                window.copy_within(from + 1..to, from);
                window[to - 1] = entering;
            } else {
                window.copy_within(to..from, to + 1);
                window[to] = entering;
            }
        }
        (Some(leaving), None) => {
            window.remove(place_of(window, leaving));
        }
        (None, Some(entering)) => window.insert(place(window, entering), entering),
        (None, None) => {}
    }
}

/// Returns the smallest tolerance that a series of this length can resolve: two standard errors of
/// the median of a quarter of the series, as a share of its median; 0 if the median is 0.
///
/// Callers without a threshold may use the larger of this and, for example, 0.5 %. `sorted` must be
/// ascending. O(n).
#[must_use]
pub fn least_tolerance(sorted: &[f64]) -> f64 {
    let centre = descriptive::median_sorted(sorted).abs();
    let spread = descriptive::ROBUST_SD * descriptive::median_absolute_deviation_sorted(sorted);
    let quarter = (sorted.len() as f64 * STEADY_SHARE).max(1.0);
    // The standard error of a median is 1/(2 φ(0)) times the standard error of a mean.
    let of_median = spread / (2.0 * normal::density(0.0) * quarter.sqrt());
    if centre > 0.0 { 2.0 * of_median / centre } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    fn noisy(number: u64, n: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut stream = Stream::new(900, number);
        (0..n)
            .map(|i| {
                let stall = if stream.uniform() < 0.01 { 30.0 } else { 0.0 };
                level(i) * (1.0 + 0.02 * stream.normal()) + stall
            })
            .collect()
    }

    fn labels(level: impl Fn(usize) -> f64 + Copy) -> Vec<SteadyState> {
        (0..60)
            .map(|number| {
                steady_state(&noisy(number, 400, level), 0.01, true, 0.01, number).unwrap()
            })
            .collect()
    }

    fn share(found: &[SteadyState], label: Label) -> f64 {
        found.iter().filter(|s| s.label == label).count() as f64 / found.len() as f64
    }

    #[test]
    fn a_flat_series_is_flat_and_its_stalls_are_only_counted() {
        let found = labels(|_| 10.0);
        assert!(share(&found, Label::Flat) >= 0.95, "{}", share(&found, Label::Flat));
        assert!(found.iter().all(|s| s.outliers < 15));
        assert!(found.iter().map(|s| s.outliers).sum::<usize>() > 100);
    }

    #[test]
    fn a_warm_up_ends_where_it_ends() {
        let found = labels(|i| {
            if i < 80 {
                14.0
            } else if i < 120 {
                12.0
            } else {
                10.0
            }
        });
        assert!(share(&found, Label::WarmUp) >= 0.95);
        let near = found.iter().filter(|s| s.begins.is_some_and(|b| b.abs_diff(120) <= 5)).count();
        assert!(near >= 54, "{near}");
    }

    #[test]
    fn a_slow_decay_is_a_warm_up_too() {
        let found = labels(|i| 10.0 + 6.0 * (-(i as f64) / 30.0).exp());
        assert!(share(&found, Label::WarmUp) >= 0.9);
        let begins: Vec<f64> = found.iter().filter_map(|s| s.begins).map(|b| b as f64).collect();
        // 1 % of 10 is reached after 30 ln 60 = 123 values.
        assert!((60.0..200.0).contains(&descriptive::median(&begins)));
    }

    #[test]
    fn slowdowns_and_late_changes_are_told_apart() {
        assert!(share(&labels(|i| if i < 150 { 10.0 } else { 11.0 }), Label::Slowdown) >= 0.95);
        let late = labels(|i| if i < 340 { 10.0 } else { 11.0 });
        assert!(share(&late, Label::NoSteadyState) >= 0.95);
        assert!(late.iter().all(|s| (s.label == Label::NoSteadyState) == s.begins.is_none()));
        // The same series read as rates: more is better.
        let xs = noisy(1, 400, |i| if i < 150 { 10.0 } else { 11.0 });
        assert_eq!(steady_state(&xs, 0.01, false, 0.01, 1).unwrap().label, Label::WarmUp);
    }

    #[test]
    fn a_change_within_the_tolerance_does_not_matter() {
        let xs = noisy(2, 400, |i| if i < 150 { 10.0 } else { 10.4 });
        assert_eq!(steady_state(&xs, 0.1, true, 0.01, 1).unwrap().label, Label::Flat);
        assert_ne!(steady_state(&xs, 0.01, true, 0.01, 1).unwrap().label, Label::Flat);
    }

    #[test]
    fn values_are_set_aside_by_their_places_and_found_again() {
        let xs = [1.0, 50.0, 2.0, 3.0, 60.0, 70.0, 4.0];
        let gone = [1, 4, 5];
        let rest = without(&xs, &gone);
        assert_eq!(rest, [1.0, 2.0, 3.0, 4.0]);
        for (index, value) in rest.iter().enumerate() {
            assert_eq!(xs[place_among_all(index, &gone)], *value);
        }
    }

    #[test]
    fn a_window_that_moves_on_holds_what_is_around() {
        let xs: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 50)).collect();
        let mut window = descriptive::sorted(&xs[..100]);
        for place in 0..200 {
            exchange(&mut window, Some(xs[place]), Some(xs[place + 100]));
            assert_eq!(window, descriptive::sorted(&xs[place + 1..place + 101]));
        }
    }

    #[test]
    fn parts_follow_one_another_without_a_gap() {
        let xs = noisy(3, 400, |i| 10.0 + (i / 100) as f64);
        let found = steady_state(&xs, 0.01, true, 0.05, 1).unwrap();
        assert_eq!((found.parts[0].start, found.parts[found.parts.len() - 1].end), (0, 400));
        assert!(found.parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(found.parts.len(), 4);
    }

    #[test]
    fn too_few_values_have_no_label_and_constant_ones_are_flat() {
        assert_eq!(steady_state(&[1.0; 39], 0.01, true, 0.05, 1), None);
        let constant = steady_state(&[1.0; 40], 0.01, true, 0.05, 1).unwrap();
        assert_eq!((constant.label, constant.begins), (Label::Flat, Some(0)));
        assert_eq!(least_tolerance(&[1.0; 40]), 0.0);
        // Half of the 16 values are 9 and half are 11: a quarter of them is 4, and 1/(2 φ(0)) is
        // √(2π)/2.
        let halves = [[9.0; 8], [11.0; 8]].concat();
        let by_hand = descriptive::ROBUST_SD * std::f64::consts::TAU.sqrt() / 20.0;
        assert!((least_tolerance(&halves) - by_hand).abs() < 1e-14);
        let below = [[-11.0; 8], [-9.0; 8]].concat();
        assert!((least_tolerance(&below) - by_hand).abs() < 1e-14);
        assert!(least_tolerance(&descriptive::sorted(&noisy(4, 400, |_| 10.0))) < 0.02);
    }

    #[test]
    fn the_tolerance_is_a_share_and_of_nothing_there_is_none() {
        let halves = [[9.0; 8], [11.0; 8]].concat();
        let small: Vec<f64> = halves.iter().map(|x| x / 64.0).collect();
        assert_eq!(least_tolerance(&small), least_tolerance(&halves));
        assert_eq!(least_tolerance(&[-1.0, 0.0, 0.0, 1.0, 2.0]), 0.0);
    }

    #[test]
    fn what_lasts_less_than_a_quarter_is_no_steady_state() {
        let wave = |i: i32| f64::from(i * 31 % 97) / 97.0;
        let series = |at: i32| -> Vec<f64> {
            (0..100).map(|i| wave(i) + if i < at { 9.0 } else { 3.0 }).collect()
        };
        let found = steady_state(&series(60), 0.0, true, 0.05, 1).unwrap();
        assert_eq!((found.label, found.begins), (Label::WarmUp, Some(60)));
        let found = steady_state(&series(80), 0.0, true, 0.05, 1).unwrap();
        assert_eq!((found.label, found.begins), (Label::NoSteadyState, None));
    }

    #[test]
    fn a_window_stays_in_order_whatever_goes_and_comes() {
        let mut window = vec![1.0, 3.0, 5.0, 7.0, 9.0];
        for (leaving, entering, expected) in [
            (Some(1.0), Some(6.0), vec![3.0, 5.0, 6.0, 7.0, 9.0]),
            (Some(9.0), Some(4.0), vec![3.0, 4.0, 5.0, 6.0, 7.0]),
            (Some(5.0), Some(5.5), vec![3.0, 4.0, 5.5, 6.0, 7.0]),
            (Some(4.0), None, vec![3.0, 5.5, 6.0, 7.0]),
            (None, Some(0.0), vec![0.0, 3.0, 5.5, 6.0, 7.0]),
        ] {
            exchange(&mut window, leaving, entering);
            assert_eq!(window, expected);
        }
    }
}
