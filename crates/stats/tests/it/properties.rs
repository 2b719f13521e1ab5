//! Properties for any data: selection equals sorting, and results transform correctly when samples
//! are shifted, scaled, reordered or swapped. Values are small integers or eighths, so that ties
//! abound and sums are exact.
#![allow(clippy::unwrap_used, reason = "a test may stop")]

use assay_stats::{
    Interval, adjust, autocorrelation, descriptive, groups, order, signed_rank, signs, trend,
    two_sample,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Many ties: whole numbers in a narrow range.
fn tied(most: usize) -> impl Strategy<Value = Vec<f64>> {
    vec((-6_i32..6).prop_map(f64::from), 1..most)
}

/// Few ties: eighths in a wide range, whose sums and halves are exact.
fn wide(most: usize) -> impl Strategy<Value = Vec<f64>> {
    vec((-1_000_000_i32..1_000_000).prop_map(|i| f64::from(i) / 8.0), 1..most)
}

/// Values of any size, as they may occur in a file.
fn any_finite(most: usize) -> impl Strategy<Value = Vec<f64>> {
    vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..most)
}

fn sample(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![tied(most), wide(most)]
}

fn all_walsh(xs: &[f64]) -> Vec<f64> {
    let mut all = Vec::new();
    for i in 0..xs.len() {
        for j in i..xs.len() {
            all.push((xs[i] + xs[j]) / 2.0);
        }
    }
    descriptive::sorted(&all)
}

fn all_differences(x: &[f64], y: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| y - x)).collect();
    descriptive::sorted(&all)
}

fn middle(sorted: &[f64]) -> f64 {
    descriptive::quantile_sorted(sorted, 0.5)
}

fn moved(xs: &[f64], by: f64) -> Vec<f64> {
    xs.iter().map(|x| x + by).collect()
}

fn negated(xs: &[f64]) -> Vec<f64> {
    descriptive::sorted(&xs.iter().map(|x| -x).collect::<Vec<f64>>())
}

fn moved_interval(interval: Interval, by: f64) -> Interval {
    Interval { lower: interval.lower + by, upper: interval.upper + by }
}

proptest! {
    #[test]
    fn walsh_selection_equals_sorting_all_averages(xs in sample(41), k in 0_u64..900) {
        let xs = descriptive::sorted(&xs);
        let all = all_walsh(&xs);
        prop_assert_eq!(all.len() as u64, signed_rank::walsh_count(xs.len()));
        let k = k.min((all.len() as u64 - 1) / 2);
        let interval = signed_rank::walsh_interval(&xs, k);
        prop_assert_eq!(interval.lower, all[k as usize]);
        prop_assert_eq!(interval.upper, all[all.len() - 1 - k as usize]);
        prop_assert_eq!(signed_rank::pseudo_median(&xs), middle(&all));
        for x in [all[0], interval.lower, interval.upper, 0.3] {
            let expected = all.iter().filter(|w| **w <= x).count() as u64;
            prop_assert_eq!(signed_rank::count_at_most(&xs, x), expected);
        }
    }

    #[test]
    fn selection_equals_sorting_where_rounds_of_pivots_are_needed(
        xs in sample(200), ys in sample(200), share in 0.0..1.0_f64,
    ) {
        let (xs, ys) = (descriptive::sorted(&xs), descriptive::sorted(&ys));
        let all = all_walsh(&xs);
        let k = (share * (all.len() / 2) as f64) as u64;
        let k = k.min((all.len() as u64 - 1) / 2);
        let interval = signed_rank::walsh_interval(&xs, k);
        prop_assert_eq!(interval.lower, all[k as usize]);
        prop_assert_eq!(interval.upper, all[all.len() - 1 - k as usize]);
        let all = all_differences(&xs, &ys);
        let rank = (share * all.len() as f64) as usize;
        let found = two_sample::difference_interval(&xs, &ys, rank as u64 + 1, all.len() as u64);
        let expected = Interval { lower: all[rank], upper: all[all.len() - 1] };
        prop_assert_eq!(found, Some(expected));
        prop_assert_eq!(two_sample::hodges_lehmann(&xs, &ys), middle(&all));
    }

    #[test]
    fn numbers_of_any_size_are_selected_as_sorting_would(xs in any_finite(80), ys in any_finite(80)) {
        let (xs, ys) = (descriptive::sorted(&xs), descriptive::sorted(&ys));
        let all = all_walsh(&xs);
        prop_assert_eq!(signed_rank::walsh_interval(&xs, 0).lower, all[0]);
        let third = all.len() as u64 / 3;
        prop_assert_eq!(signed_rank::walsh_interval(&xs, third).lower, all[third as usize]);
        let all = all_differences(&xs, &ys);
        let rank = all.len() as u64 / 4;
        let found = two_sample::difference_interval(&xs, &ys, rank + 1, rank + 1).unwrap();
        prop_assert_eq!(found.lower, all[rank as usize]);
    }

    #[test]
    fn nothing_panics_on_values_that_are_not_numbers(
        xs in vec(prop::num::f64::ANY, 0..70), ys in vec(prop::num::f64::ANY, 0..70),
    ) {
        let (x, y) = (descriptive::sorted(&xs), descriptive::sorted(&ys));
        let _ = (descriptive::mean(&xs), descriptive::median(&xs), descriptive::skewness(&xs));
        let _ = (descriptive::smallest_gap(&x), descriptive::median_absolute_deviation(&xs));
        let _ = (signed_rank::pseudo_median(&x), signed_rank::walsh_interval(&x, 100));
        let _ = (two_sample::hodges_lehmann(&x, &y), two_sample::mann_whitney_interval(&x, &y, 0.95));
        let _ = two_sample::placement_interval(&xs, &ys, 0.95);
        let _ = (autocorrelation::autocorrelation_time(&xs), trend::z_score(&xs));
        let _ = (trend::shift_between_thirds(&xs), groups::t_interval(&xs, 0.95));
        let _ = (order::median_interval_of_effective(&x, 0.95, 2.0), groups::group_medians(&xs, 8));
        let _ = signs::time_of(&xs);
        let _ = (adjust::holm(&xs), adjust::benjamini_hochberg(&xs));
    }

    #[test]
    fn shifting_the_values_shifts_estimates_and_ends(xs in wide(60), by in -1000_i32..1000, k in 0_u64..50) {
        let xs = descriptive::sorted(&xs);
        let by = f64::from(by);
        let there = moved(&xs, by);
        let interval = signed_rank::walsh_interval(&xs, k);
        prop_assert_eq!(signed_rank::walsh_interval(&there, k), moved_interval(interval, by));
        prop_assert_eq!(signed_rank::pseudo_median(&there), signed_rank::pseudo_median(&xs) + by);
        prop_assert_eq!(descriptive::median(&there), descriptive::median(&xs) + by);
        if let Some((interval, coverage)) = order::median_interval(&xs, 0.9) {
            let expected = Some((moved_interval(interval, by), coverage));
            prop_assert_eq!(order::median_interval(&there, 0.9), expected);
        }
    }

    #[test]
    fn scaling_by_a_power_of_two_scales_estimates_and_ends(xs in wide(60), ys in wide(60), power in -20_i32..20) {
        let scale = f64::from(power).exp2();
        let times = |xs: &[f64]| xs.iter().map(|x| x * scale).collect::<Vec<f64>>();
        let (x, y) = (descriptive::sorted(&xs), descriptive::sorted(&ys));
        prop_assert_eq!(signed_rank::pseudo_median(&times(&x)), signed_rank::pseudo_median(&x) * scale);
        let shift = two_sample::hodges_lehmann(&x, &y);
        prop_assert_eq!(two_sample::hodges_lehmann(&times(&x), &times(&y)), shift * scale);
        let small = two_sample::placement_interval(&xs, &ys, 0.9);
        let large = two_sample::placement_interval(&times(&xs), &times(&ys), 0.9);
        prop_assert_eq!(small.map(|p| p.interval.lower * scale), large.map(|p| p.interval.lower));
        prop_assert_eq!(small.map(|p| p.df), large.map(|p| p.df));
    }

    #[test]
    fn negating_the_values_turns_the_interval_around(xs in sample(60), k in 0_u64..50) {
        let xs = descriptive::sorted(&xs);
        let turned = signed_rank::walsh_interval(&negated(&xs), k);
        let interval = signed_rank::walsh_interval(&xs, k);
        prop_assert_eq!(turned, Interval { lower: -interval.upper, upper: -interval.lower });
    }

    #[test]
    fn swapping_the_samples_turns_shift_and_intervals_around(xs in sample(50), ys in sample(50)) {
        let (x, y) = (descriptive::sorted(&xs), descriptive::sorted(&ys));
        let turn = |i: Interval| Interval { lower: -i.upper, upper: -i.lower };
        prop_assert_eq!(two_sample::hodges_lehmann(&x, &y), -two_sample::hodges_lehmann(&y, &x));
        let there = two_sample::mann_whitney_exact_interval(&x, &y, 0.9);
        prop_assert_eq!(two_sample::mann_whitney_exact_interval(&y, &x, 0.9).map(turn), there);
        let there = two_sample::placement_interval(&xs, &ys, 0.9);
        let back = two_sample::placement_interval(&ys, &xs, 0.9);
        // The variances are added in the other order, so rounding may move k across a whole number.
        prop_assert_eq!(back.map(|p| (turn(p.interval), -p.shift, p.tau_y)), there.map(|p| (p.interval, p.shift, p.tau_x)));
    }

    #[test]
    fn order_matters_to_dependence_only(xs in wide(60), seed in 0_usize..1000) {
        let mut other = xs.clone();
        other.rotate_left(seed % xs.len());
        other.reverse();
        prop_assert_eq!(descriptive::sorted(&xs), descriptive::sorted(&other));
        prop_assert_eq!(descriptive::median(&xs), descriptive::median(&other));
        prop_assert_eq!(
            descriptive::median_absolute_deviation(&xs), descriptive::median_absolute_deviation(&other)
        );
        // Reversing a series does not change its autocorrelation.
        let mut backwards = xs.clone();
        backwards.reverse();
        for (a, b) in autocorrelation::rank_autocorrelation(&xs, 9)
            .into_iter()
            .zip(autocorrelation::rank_autocorrelation(&backwards, 9))
        {
            prop_assert!((a - b).abs() < 1e-12);
        }
        prop_assert!((trend::rank_correlation(&xs) + trend::rank_correlation(&backwards)).abs() < 1e-12);
    }

    #[test]
    fn estimates_lie_inside_their_intervals_and_more_confidence_is_wider(xs in sample(60), ys in sample(60)) {
        let (x, y) = (descriptive::sorted(&xs), descriptive::sorted(&ys));
        let shift = two_sample::hodges_lehmann(&x, &y);
        let intervals = [0.8, 0.9, 0.95, 0.99].map(|c| two_sample::mann_whitney_exact_interval(&x, &y, c));
        let placed = [0.8, 0.9, 0.95, 0.99].map(|c| two_sample::placement_interval(&xs, &ys, c).map(|p| p.interval));
        for intervals in [intervals, placed] {
            for pair in intervals.windows(2) {
                if let [Some(narrow), Some(wide)] = pair {
                    prop_assert!(wide.lower <= narrow.lower && narrow.upper <= wide.upper);
                }
                prop_assert!(pair[0].is_some() || pair[1].is_none());
            }
            for interval in intervals.into_iter().flatten() {
                prop_assert!(interval.contains(shift));
            }
        }
    }

    #[test]
    fn quantiles_ascend_within_the_data(xs in sample(60), p in 0.0..1.0_f64, q in 0.0..1.0_f64) {
        let xs = descriptive::sorted(&xs);
        let (low, high) = (p.min(q), p.max(q));
        prop_assert!(descriptive::quantile_sorted(&xs, low) <= descriptive::quantile_sorted(&xs, high));
        prop_assert!(xs[0] <= descriptive::quantile_sorted(&xs, low));
        prop_assert!(descriptive::quantile_sorted(&xs, high) <= xs[xs.len() - 1]);
    }
}
