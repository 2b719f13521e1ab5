//! benchmark-ips: the output of 2.7 and 2.14, their JSON, and held results.

use super::*;
use assay_data::Better;

const LONG: &str = "a rather long label, with more than twenty letters";

#[test]
fn the_json_is_a_summary_of_as_many_samples_as_there_were_rounds() {
    let samples = load_file("benchmark-ips/ips.json");
    assert_eq!(
        names(&samples),
        ["plain", "wrapped_alias_method", "a rather long label: timed with clock_gettime", "alloc"]
    );
    assert_eq!(metrics(&samples), ["rate [1/s]"]);
    assert_eq!(samples.metrics[0].better, Better::Higher);
    assert_eq!((samples.len(), samples.summaries.len()), (0, 4));
    let plain = summary(&samples, "plain", "rate");
    assert_eq!(
        (plain.mean, plain.sd, plain.count, plain.median),
        (Some(6_740_916.224_808_543), Some(1_461_891.0), Some(33), None)
    );
    let newer = load_file("benchmark-ips/2.14.json");
    assert_eq!(summary(&newer, "slow", "rate").mean, Some(87.420_770_912_900_4));
    assert_eq!(summary(&newer, "slow", "rate").count, Some(4));
}

#[test]
fn held_results_keep_the_rate_of_every_round() {
    let samples = load_file("benchmark-ips/held.json");
    assert_eq!(names(&samples), ["a"]);
    assert_eq!(samples.summaries, []);
    let rates = values(&samples, "a", "rate");
    assert_eq!((rates.len(), rates[0]), (69, 18_827_228.862_474_944));

    let saved = load_file("benchmark-ips/2.14-saved.json");
    assert_eq!(names(&saved), ["plain", LONG, "slow"]);
    assert_eq!(values(&saved, "plain", "rate").len(), 4);
    assert_eq!(values(&saved, "plain", "rate")[0], 10_368_732.811_970_284);
}

#[test]
fn the_print_of_both_versions_is_a_summary() {
    let old = load_file("benchmark-ips/ips.txt");
    assert_eq!(names(&old).len(), 4);
    let long = summary(&old, "a rather long label: timed with clock_gettime", "rate");
    assert_eq!((long.mean, long.count), (Some(3.360e6), None));
    assert!((long.sd.expect("12 %") / 3.360e6 - 0.12).abs() < 1e-12);

    let new = load_file("benchmark-ips/2.14.txt");
    assert_eq!(names(&new), ["plain", LONG, "slow"]);
    assert_eq!(summary(&new, LONG, "rate").mean, Some(666_982.0));
    assert_eq!(summary(&new, "slow", "rate").mean, Some(86.318));
    let ruby = new.environment.text("ruby").expect("the version stands above");
    assert!(ruby.starts_with("ruby 3.1.2p20"), "{ruby}");

    let raw = load_file("benchmark-ips/2.14-raw.txt");
    assert_eq!(names(&raw), ["plain", LONG, "slow"]);
    assert!(raw.summaries.iter().all(|s| s.mean.is_some_and(|mean| mean > 50.0)));
}

#[test]
fn several_runs_of_a_benchmark_are_observations() {
    let samples = load_file("benchmark-ips/2.14-iterations.txt");
    assert_eq!(samples.summaries, []);
    assert_eq!(values(&samples, "plain", "rate"), [11.580e6, 9.211e6]);
    assert_eq!(values(&samples, "slow", "rate"), [85.889, 83.924]);
}

#[test]
fn an_interval_by_resampling_is_no_standard_deviation() {
    let text = "Calculating -------------------------------------\n                   a      6.741M (± 1.7%) i/s -      6.583M\n                   with 95.0% confidence\n";
    let samples = plain(text).expect("a result");
    assert_eq!(samples.summaries[0].sd, None);
    assert_eq!(samples.environment.text("benchmark_ips.stats"), Some("with 95.0% confidence"));
}

#[test]
fn what_breaks_off_or_is_no_result_is_named() {
    let whole = text("benchmark-ips/2.14.txt");
    let end =
        whole.find("a rather long label, with more than twenty letters    666").expect("a row");
    let said = refused(&whole[..end + 70]);
    assert!(
        said.starts_with("x.txt:8: `a rather") && said.contains("breaks off; expected"),
        "{said}"
    );
    let said =
        refused(whole[..end].replace("plain      8.270M (±14.1%) i/s", "plain  fast (±x%) i/s"));
    assert!(said.contains("is not a result; expected `label"), "{said}");
    let warm = &whole[..whole.find("Calculating").expect("a heading")];
    assert!(refused(warm).contains("the file breaks off after this heading"));
    let json = text("benchmark-ips/ips.json");
    assert!(refused(&json[..json.len() - 30]).contains("breaks off here"));
}

#[test]
fn early_versions_and_several_reports_are_read() {
    let report = "Calculating -------------------------------------\n               plain   149.201k i/100ms\na longer label than that\n                       142.545k i/100ms\n-------------------------------------------------\n               plain      7.687M (± 6.9%) i/s -     38.345M\na longer label than that\n                          6.320M (± 8.5%) i/s -     31.360M\n\nComparison:\n               plain:  7686954.1 i/s\n\n";
    let samples = plain(format!("== size 1 ==\n{report}== size 2 ==\n{report}"));
    let samples = samples.expect("two reports");
    assert_eq!(
        names(&samples),
        ["plain", "a longer label than that", "plain #2", "a longer label than that #2"]
    );
    assert_eq!(samples.summaries.len(), 4);
    assert_eq!(summary(&samples, "a longer label than that", "rate").mean, Some(6.320e6));
}
