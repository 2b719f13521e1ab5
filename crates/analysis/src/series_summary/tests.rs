//! Summaries of series with known shapes.

use super::*;
use assay_data::{Severity, Unit};
use assay_stats::resampling::Stream;

fn noise(seed: u64, n: u32) -> Vec<f64> {
    let mut random = Stream::new(seed, 0);
    (0..n).map(|_| random.normal()).collect()
}

fn summary(values: &[f64]) -> SeriesSummary {
    SeriesSummary::of("it", &Metric::wall(), values, &Options::default()).expect("there are values")
}

fn codes(summary: &SeriesSummary) -> Vec<&str> {
    summary.findings.iter().map(|f| f.code.as_str()).collect()
}

#[test]
fn calm_values_have_one_mode_and_no_finding() {
    for seed in 1..20 {
        let values: Vec<f64> = noise(seed, 300).iter().map(|z| 1.0 + 0.01 * z).collect();
        let found = summary(&values);
        assert_eq!(found.modes.len(), 1, "{seed}");
        assert_eq!(found.modes[0].share, 1.0);
        assert!((found.modes[0].at - 1.0).abs() < 0.01, "{:?}", found.modes);
        // One finding in a hundred series may be due to chance.
        assert!(codes(&found).iter().all(|c| *c == "DEPENDENCE"), "{seed}: {:?}", codes(&found));
    }
}

#[test]
fn two_heaps_are_two_modes_with_their_shares() {
    let values: Vec<f64> = noise(5, 500)
        .iter()
        .enumerate()
        .map(|(i, z)| if i * 7 % 10 < 6 { 0.010 } else { 0.014 } + 0.0003 * z)
        .collect();
    let found = summary(&values);
    assert!(codes(&found).contains(&"MULTIMODAL"), "{:?} {:?}", codes(&found), found.tests.dip);
    let shares: Vec<f64> = found.modes.iter().map(|m| (m.share * 10.0).round()).collect();
    assert_eq!(shares, [6.0, 4.0]);
    assert!((found.modes[1].at - 0.014).abs() < 2e-4, "{:?}", found.modes);
}

#[test]
fn values_in_steps_are_not_as_many_modes() {
    let values: Vec<f64> = noise(8, 400).iter().map(|z| (100.0 + 3.0 * z).round()).collect();
    let found = summary(&values);
    assert_eq!(found.modes.len(), 1, "{:?}", found.modes);
}

#[test]
fn a_warm_up_and_a_change_for_the_worse_are_told_apart() {
    let with_first = |factor: f64| -> Vec<f64> {
        let rest = |i: usize| if i < 60 { factor } else { 1.0 };
        noise(3, 400).iter().enumerate().map(|(i, z)| rest(i) + 0.01 * z).collect()
    };
    let warm = summary(&with_first(1.3));
    assert!(codes(&warm).contains(&"WARM_UP"), "{:?}", codes(&warm));
    let begins = warm.stability.steady.as_ref().and_then(|s| s.begins).expect("steady");
    assert!((55..=65).contains(&begins), "{begins}");
    // The consequences of the warm-up are reported once.
    assert_eq!(codes(&warm), ["WARM_UP", "NOT_NORMAL"]);
    let told = &warm.findings[0];
    assert!(told.message.ends_with(" from that"), "{told:?}");
    assert!(told.evidence.iter().any(|(key, _)| key == "drift" || key == "effective"));
    // If the values after the warm-up are also correlated, that is reported separately.
    let mut before = 0.0;
    let values = noise(3, 400).into_iter().enumerate().map(|(i, z)| {
        before = 0.8 * before + z;
        let first = if i < 60 { 0.3 } else { 0.0 };
        1.0 + first + 0.01 * before
    });
    let dependent = summary(&values.collect::<Vec<f64>>());
    assert!(codes(&dependent).contains(&"WARM_UP"), "{:?}", codes(&dependent));
    assert!(
        codes(&dependent).iter().any(|c| c.ends_with("DEPENDENCE") || c.ends_with("DEPENDENT"))
    );
    assert!(codes(&summary(&with_first(0.8))).contains(&"CHANGE_POINT"));
}

#[test]
fn a_long_tail_is_not_normal_and_its_farthest_values_are_named() {
    let mut values: Vec<f64> = noise(4, 300).iter().map(|z| (0.8 * z).exp()).collect();
    values[77] = 1000.0;
    let found = summary(&values);
    assert!(codes(&found).contains(&"NOT_NORMAL"), "{:?}", codes(&found));
    assert_eq!(found.outliers.farthest[0], (77, 1000.0));
    assert_eq!(found.shape.above, found.outliers.beyond_outer.1);
    let best = found.distributions.iter().min_by(|a, b| a.distance.total_cmp(&b.distance));
    assert_eq!(best.map(|distribution| distribution.kind), Some(DistributionKind::Lognormal));
}

#[test]
fn equal_values_and_single_values_have_a_summary_too() {
    let equal = summary(&[5.0; 12]);
    assert!(codes(&equal).contains(&"ALL_EQUAL"));
    assert!(equal.student.is_none() && equal.tails.is_none() && equal.distributions.is_empty());
    assert!(equal.shape.density.is_none() && equal.modes.is_empty());
    let one = summary(&[5.0]);
    assert!(codes(&one).contains(&"TOO_FEW"));
    assert_eq!((one.over_time.len(), one.correlation.acf.len()), (1, 0));
    let two = summary(&[5.0, -3.0]);
    assert!(
        two.distributions.iter().all(|distribution| distribution.kind == DistributionKind::Normal),
        "{:?}",
        two.distributions
    );
}

#[test]
fn the_slices_of_a_long_series_cover_it() {
    let values = noise(2, 1001);
    let found = summary(&values);
    assert_eq!(found.over_time.len(), 120);
    assert_eq!((found.over_time[0].begin, found.over_time[119].end), (0, 1001));
    assert!(found.over_time.windows(2).all(|pair| pair[0].end == pair[1].begin));
    assert!(found.over_time.iter().all(|s| s.min <= s.median && s.median <= s.max));
}

#[test]
fn a_metric_that_is_not_there_is_an_error_with_the_names_of_those_that_are() {
    let mut samples = Samples::new(vec![Metric::lower("latency", Unit::Second)]);
    let subject = samples.add_subject("it");
    samples.push_value(subject, 1.0);
    let asked = Options { primary: Some("wall".to_owned()), ..Options::default() };
    let error = of_samples(&samples, &asked).expect_err("there is no such metric");
    assert!(error.to_string().contains("latency"), "{error}");
    assert_eq!(of_samples(&Samples::default(), &Options::default()), Err(AnalysisError::Nothing));
}

#[test]
fn everything_is_finite_or_none_for_values_of_any_size() {
    for scale in [1e-300, 1e-12, 1.0, 1e12, 1e150] {
        let values: Vec<f64> = noise(9, 60).iter().map(|z| scale * (5.0 + z)).collect();
        let options = Options { all: true, ..Options::default() };
        let found = SeriesSummary::of("it", &Metric::wall(), &values, &options).expect("values");
        assert!(found.description.median.is_finite() && found.modes.len() <= 3, "{scale}");
    }
}

#[test]
fn few_different_values_are_told_one_by_one_and_as_multiples_of_a_step() {
    let values: Vec<f64> = noise(8, 100).iter().map(|z| (20.0 + z).round() * 0.5).collect();
    let plain = Metric::lower("value", Unit::One);
    let found = SeriesSummary::of("it", &plain, &values, &Options::default()).expect("values");
    assert_eq!(found.repeated.len(), found.distinct);
    assert_eq!(found.repeated.iter().map(|same| same.count).sum::<usize>(), 100);
    let coarse = found.findings.iter().find(|f| f.code == "COARSE_CLOCK").expect("a step");
    assert_eq!(coarse.severity, Severity::Warning, "{coarse:?}");
    // Whole numbers are mostly counts, whose steps of one are harmless.
    let counts: Vec<f64> = values.iter().map(|v| v * 2.0).collect();
    let found = SeriesSummary::of("it", &plain, &counts, &Options::default()).expect("values");
    assert!(
        found.findings.iter().any(|f| f.code == "COARSE_CLOCK" && f.severity == Severity::Note)
    );
    // A step that is fine relative to the spread is not reported.
    let fine: Vec<f64> = noise(8, 100).iter().map(|z| (200.0 + 10.0 * z).round() * 0.5).collect();
    let found = SeriesSummary::of("it", &plain, &fine, &Options::default()).expect("values");
    assert!(!codes(&found).contains(&"COARSE_CLOCK") && found.repeated.is_empty());
}

#[test]
fn a_drift_warns_where_it_is_large_beside_the_spread_and_the_median() {
    let drifting = |offset: f64, by: f64| -> Option<Severity> {
        let values: Vec<f64> = noise(6, 400)
            .iter()
            .enumerate()
            .map(|(i, z)| offset + z + by * i as f64 / 400.0)
            .collect();
        let plain = Metric::lower("value", Unit::One);
        let found = SeriesSummary::of("it", &plain, &values, &Options::default()).expect("values");
        found.findings.iter().find(|f| f.code == "DRIFT").map(|f| f.severity)
    };
    assert_eq!(drifting(1000.0, 3.0), Some(Severity::Warning));
    assert_eq!(drifting(1e12, 3.0), Some(Severity::Note));
    assert_eq!(drifting(1e12, 0.0), None);
}

#[test]
fn a_tick_is_told_with_its_places() {
    let tick = |i: usize| if i % 10 == 4 { 0.05 } else { 0.0 };
    let values = noise(2, 600).into_iter().enumerate().map(|(i, z)| 1.0 + 0.02 * z + tick(i));
    let found = summary(&values.collect::<Vec<f64>>());
    let told = found.findings.iter().find(|f| f.code == "PERIODIC").expect("a tick");
    assert!(
        told.message.contains("every 10 values") && told.message.contains("5, 15, 25"),
        "{told:?}"
    );
}
