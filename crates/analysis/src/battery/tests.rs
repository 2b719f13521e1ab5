//! The order of the sides, the pairing, and the reasons for missing results.
#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test a failed unwrap is a failed test")]

use super::*;
use crate::tests::recorded;
use crate::{Options, analyse};
use assay_data::{Metric, Observation};

fn all(samples: &Samples) -> Battery {
    let options = Options { all: true, ..Options::default() };
    *analyse(samples, &options).unwrap().battery.unwrap()
}

#[test]
fn nobody_who_does_not_ask_gets_a_battery() {
    let samples = recorded(&[&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.5]]);
    assert!(analyse(&samples, &Options::default()).unwrap().battery.is_none());
}

#[test]
fn effects_are_second_against_first() {
    let found = all(&recorded(&[&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.5]]));
    let [pair] = found.pairs.as_slice() else { panic!("one comparison") };
    assert!(pair.t_welch.as_ref().unwrap().test.estimate > 10.0);
    assert_eq!(pair.mann_whitney.as_ref().unwrap().u, (9.0, 0.0));
    assert_eq!(pair.hodges_lehmann.as_ref().unwrap().estimate, 10.0);
    assert!(pair.ratio_of_means.as_ref().unwrap().ratio > 6.0);
    assert_eq!(pair.brunner_munzel.as_ref().unwrap().p_less, 0.0);
    assert_eq!(pair.pairing, Some(Pairing::Order));
    assert!(pair.t_paired.as_ref().unwrap().test.estimate > 10.0);
}

#[test]
fn equal_observations_are_named_as_such() {
    let found = all(&recorded(&[&[5.0; 4], &[5.0; 4]]));
    let pair = &found.pairs[0];
    assert!(pair.all_equal);
    assert_eq!(pair.t_welch, Err(Missing::AllEqual));
    assert!(pair.mann_whitney.as_ref().unwrap().asymptotic.two.is_nan());
    assert!(pair.hodges_lehmann.as_ref().unwrap().asymptotic.is_none());
    assert!(found.groups.unwrap().pairwise.holm[0].is_nan());
}

#[test]
fn recordings_of_different_lengths_have_no_pairs_and_blocks_have() {
    let found = all(&recorded(&[&[1.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 4.5]]));
    assert_eq!(found.pairs[0].t_paired, Err(Missing::NoPairs));
    let mut samples = Samples::new(vec![Metric::wall()]);
    let subjects = [samples.add_subject("a"), samples.add_subject("b")];
    for block in 0..6_u32 {
        // The last block lacks its second run and is not compared.
        for &subject in &subjects[..if block == 5 { 1 } else { 2 }] {
            samples.push(Observation {
                subject,
                block: Some(block),
                values: vec![1.0 + f64::from(block) + subject as f64 * 0.5],
                ..Observation::default()
            });
        }
    }
    let found = all(&samples);
    assert_eq!(found.pairs[0].pairing, Some(Pairing::Blocks));
    assert_eq!(found.pairs[0].mann_whitney.as_ref().unwrap().u.0, 15.0);
    assert_eq!(found.pairs[0].wilcoxon_signed_rank.as_ref().unwrap().n_used, 5);
}

#[test]
fn what_holds_at_every_look_needs_blocks_and_finds_what_is_there() {
    let apart = all(&recorded(&[&[1.0; 30], &[2.0; 30]]));
    assert_eq!(apart.pairs[0].anytime, Err(Missing::NoBlocks));
    let in_blocks = |ratio: f64| {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let subjects = [samples.add_subject("a"), samples.add_subject("b")];
        for block in 0..40_u32 {
            for &subject in &subjects {
                let noise = f64::from((block * 17 + 5 * subject as u32) % 11) / 100.0;
                let value = (1.0 + noise) * if subject == 1 { ratio } else { 1.0 };
                samples.push(Observation {
                    subject,
                    block: Some(block),
                    values: vec![value],
                    ..Observation::default()
                });
            }
        }
        all(&samples).pairs[0].anytime.clone()
    };
    let found = in_blocks(0.7).unwrap();
    // 40 tosses with the same result: e = 2^40 / 41.
    assert!((found.sign_log10_e - (40.0 * 2f64.log10() - 41f64.log10())).abs() < 1e-9);
    assert!(found.rejects && found.mean_ratio.unwrap().contains(0.7), "{found:?}");
    assert!(found.median_ratio.unwrap().upper < 0.8, "{found:?}");
    assert!(!in_blocks(1.0).unwrap().rejects);
    assert_eq!(in_blocks(-1.0), Err(Missing::NotPositive));
}

#[test]
fn values_that_are_not_positive_have_no_ratio() {
    let found = all(&recorded(&[&[-1.0, 2.0, 3.0], &[2.0, 3.0, 4.5]]));
    assert_eq!(found.pairs[0].ratio_of_means, Err(Missing::NotPositive));
    assert_eq!(found.pairs[0].ratio_hodges_lehmann_log, Err(Missing::NotPositive));
}

#[test]
fn another_confidence_is_added_to_the_three() {
    assert_eq!(confidences(0.95), [0.90, 0.95, 0.99]);
    assert_eq!(confidences(0.975), [0.90, 0.95, 0.99, 0.975]);
}

#[test]
fn one_value_a_side_or_none_is_no_obstacle() {
    for subjects in [[&[1.0][..], &[2.0]], [&[1.0, 2.0], &[]], [&[], &[1.0]]] {
        let found = all(&recorded(&subjects));
        assert!(found.pairs[0].t_welch.is_err());
    }
}
