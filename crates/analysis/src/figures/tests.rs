//! Data of the plots, and their properties after thinning.

use super::*;
use crate::protocol::{self, ProtocolOptions};
use crate::tests::recorded;
use crate::{Options, analyse};
use assay_data::{Observation, Samples, Threshold, Unit};
use assay_stats::resampling::Stream;
use proptest::prelude::*;

fn samples(series: &[Vec<f64>]) -> Samples {
    let series: Vec<&[f64]> = series.iter().map(Vec::as_slice).collect();
    recorded(&series)
}

fn of(series: &[Vec<f64>]) -> Figures {
    let samples = samples(series);
    figures(&samples, &analyse(&samples, &Options::default()).expect("values"))
}

fn wavy(n: u32, offset: f64) -> Vec<f64> {
    (0..n).map(|i| offset + f64::from(i * 37 % 101) + (f64::from(i) / 7.0).sin()).collect()
}

#[test]
fn a_long_series_gives_a_bounded_picture() {
    let figures = of(&[wavy(50_000, 1000.0), wavy(50_000, 1010.0)]);
    for subject in &figures.subjects {
        assert!(subject.trace.pieces.len() <= 800 && subject.trace.points.is_empty());
        assert!(subject.shape.ecdf.len() <= 1000 && subject.shape.density.len() <= 400);
    }
    let between = &figures.between[0];
    assert!(between.thinned && between.differences.len() <= 400);
}

#[test]
fn one_value_or_equal_values_have_dots_but_no_density() {
    for series in [vec![1.0], vec![2.0; 40], vec![0.0; 3]] {
        let figures = of(&[series.clone(), series]);
        let shape = &figures.subjects[0].shape;
        assert!(shape.density.is_empty() && !shape.ecdf.is_empty());
        assert_eq!(shape.ecdf.last().map(|p| p.1), Some(1.0));
        assert!(figures.between[0].differences.is_empty());
        assert_eq!(figures.subjects[0].correlogram, None);
    }
}

#[test]
fn one_stall_does_not_press_the_others_into_a_line_and_is_counted() {
    let mut values = wavy(200, 1000.0);
    values[17] = 1e9;
    let figures = of(&[values]);
    assert!(figures.view.high < 2000.0);
    assert_eq!(figures.subjects[0].shape.beyond, (0, 1));
    assert_eq!(figures.range.1, 1e9);
}

#[test]
fn subjects_that_are_far_apart_share_a_logarithmic_axis() {
    let figures = of(&[wavy(50, 1000.0), wavy(50, 100_000.0)]);
    assert!(figures.view.logarithmic);
    assert_eq!(figures.subjects[0].shape.beyond, (0, 0));
    assert!(!of(&[wavy(50, 1000.0), wavy(50, 1100.0)]).view.logarithmic);
}

#[test]
fn the_area_below_a_density_is_the_share_that_it_shows() {
    let mut values = wavy(500, 1000.0);
    values.extend([9e6; 5]);
    let shape = of(&[values]).subjects.remove(0).shape;
    let area: f64 =
        shape.density.windows(2).map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0).sum();
    assert!((area - 500.0 / 505.0).abs() < 0.01, "{area}");
}

#[test]
fn more_subjects_than_colours_are_counted() {
    let figures = of(&(0..11).map(|i| wavy(20, 100.0 + f64::from(i))).collect::<Vec<_>>());
    assert_eq!((figures.subjects.len(), figures.left_out, figures.between.len()), (8, 3, 7));
}

proptest! {
    #[test]
    fn the_pieces_hold_every_value_within_their_extremes(values in prop::collection::vec(-1e9f64..1e9, 1..5000)) {
        let trace = Trace::of(&values);
        prop_assert!(trace.pieces.len() <= 800);
        let mut next = 0;
        for piece in &trace.pieces {
            prop_assert_eq!(piece.from, next);
            next = piece.to;
            let held = &values[piece.from..piece.to];
            prop_assert!(held.iter().all(|v| (piece.min..=piece.max).contains(v)));
            prop_assert!(held.contains(&piece.min) && held.contains(&piece.max));
            prop_assert!((piece.min..=piece.max).contains(&piece.median));
        }
        prop_assert_eq!(next, values.len());
    }

    #[test]
    fn the_distribution_ascends_from_above_0_to_1(values in prop::collection::vec(-1e6f64..1e6, 1..4000)) {
        let figures = of(std::slice::from_ref(&values));
        let ecdf = &figures.subjects[0].shape.ecdf;
        prop_assert!(ecdf.len() <= 1000 && ecdf.last().is_some_and(|p| p.1 == 1.0));
        prop_assert!(ecdf.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 < w[1].1));
        for &(x, share) in ecdf.iter().step_by(37) {
            let up_to = values.iter().filter(|v| **v <= x).count() as f64 / values.len() as f64;
            prop_assert!(share <= up_to + 1e-12);
        }
        prop_assert!(ecdf[0].1 > 0.0);
    }
}

/// Returns two subjects of 200 values each, 0.5 apart, with a standard deviation of 1.
fn drawn(in_blocks: bool) -> Samples {
    let mut stream = Stream::new(5, 0);
    let mut samples = samples(&[Vec::new(), Vec::new()]);
    for block in 0..200 {
        for (subject, centre) in [(0, 10.0), (1, 10.5)] {
            let values = vec![centre + stream.normal()];
            let place = |n: u32| in_blocks.then_some(n);
            let (block, position) = (place(block), place(subject as u32));
            samples.push(Observation {
                subject,
                block,
                position,
                values,
                ..Observation::default()
            });
        }
    }
    samples
}

#[test]
fn beside_a_protocol_its_own_plan_and_bootstrap_are_drawn() {
    for in_blocks in [false, true] {
        let samples = drawn(in_blocks);
        let threshold = Threshold::Absolute { value: 0.4, unit: Unit::Second };
        let options = Options { threshold: Some(threshold), ..Options::default() };
        let analysis = analyse(&samples, &options).expect("values");
        let asked = ProtocolOptions { alpha: 0.02, power: 0.9, resamples: 300, seed: 7 };
        let chains = protocol::run(&samples, &analysis, &asked);
        let figures = with_protocol(&samples, &analysis, &chains);
        let planned = chains[0].power.found.as_ref().expect("the samples are valid");

        let curve = figures.between[0].power.as_ref().expect("there is a spread");
        assert!(curve.of_protocol);
        assert_eq!((curve.level, curve.wanted), (chains[0].level_planned(), 0.9));
        assert_eq!((curve.n, curve.standard_deviation), (planned.have, planned.sd));
        assert_eq!((curve.visible, curve.threshold), (planned.visible, Some(0.4)));

        assert_eq!(figures.deviations_of_differences, in_blocks);
        let resampled = figures.subjects[1].deviation.as_ref().expect("it was resampled");
        let spread = planned.spreads.last().expect("of the subject, or of the differences");
        assert_eq!((resampled.resamples, resampled.seed), (300, 7));
        assert_eq!((resampled.estimate, resampled.interval), (spread.sd, spread.normal));
        assert_eq!(resampled.counts.iter().sum::<u32>(), 300);
        // The reference is not compared with itself.
        assert_eq!(figures.subjects[0].deviation.is_none(), in_blocks);
    }
}

#[test]
fn a_protocol_that_stopped_before_its_plan_still_asks_by_its_own_levels() {
    // A series of four constant steps has hardly any independent values.
    let hanging: Vec<f64> = (0..400).map(|i| 10.0 + f64::from(i / 100)).collect();
    let samples = samples(&[hanging.clone(), hanging]);
    let analysis = analyse(&samples, &Options::default()).expect("values");
    let asked = ProtocolOptions { alpha: 0.02, power: 0.9, resamples: 300, seed: 7 };
    let chains = protocol::run(&samples, &analysis, &asked);
    assert_eq!(chains[0].power.found, None);
    let figures = with_protocol(&samples, &analysis, &chains);
    let curve = figures.between[0].power.as_ref().expect("there is a spread");
    assert_eq!((curve.level, curve.wanted, curve.of_protocol), (0.02, 0.9, false));
}
