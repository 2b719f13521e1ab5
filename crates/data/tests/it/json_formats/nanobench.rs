//! nanobench's JSON and CSV.

use super::*;
use assay_data::Design;

#[test]
fn every_epoch_is_an_observation() {
    let (samples, plain) = (read("nanobench/nanobench.json"), plainly("nanobench/nanobench.json"));
    for result in plain["results"].as_array().unwrap() {
        let epochs = result["measurements"].as_array().unwrap();
        let name = result["name"].as_str().unwrap();
        if epochs.is_empty() {
            assert!(!names(&samples).contains(&name));
            continue;
        }
        let of = |key: &str| -> Vec<f64> {
            epochs.iter().map(|epoch| epoch[key].as_f64().unwrap()).collect()
        };
        assert_eq!(values(&samples, name, "wall"), of("elapsed"));
        assert_eq!(values(&samples, name, "iterations"), of("iterations"));
    }
    assert!(!metrics(&samples).contains(&"instructions"), "the system counted none");
    let errors = findings(&samples, "BENCHMARK_FAILED");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].subject.as_deref(), Some("empty"));
    assert_eq!(samples.environment.number("nanobench.clockResolution"), Some(2e-8));
}

#[test]
fn times_and_counts_are_per_unit_of_the_batch_and_names_are_distinct() {
    let text = r#"{"results":[
        {"title":"t","name":"a","batch":10,"complexityN":8,"median(elapsed)":1,"measurements":[{"iterations":3,"elapsed":20,"instructions":50}]},
        {"title":"t","name":"a","batch":10,"complexityN":16,"measurements":[{"iterations":3,"elapsed":40,"instructions":0}]},
        {"title":"u","name":"b","batch":1,"measurements":[{"iterations":3,"elapsed":5}]},
        {"title":"v","name":"b","batch":1,"measurements":[{"iterations":3,"elapsed":6}]}]}"#;
    let samples = load_bytes(text.into(), "x", &ImportOptions::default()).unwrap();
    assert_eq!(names(&samples), ["a n=8", "a n=16", "u: b", "v: b"]);
    assert_eq!(values(&samples, "a n=8", "wall"), [2.0]);
    assert_eq!(values(&samples, "a n=8", "instructions"), [5.0]);
    assert_eq!(parameters(&samples, "a n=16"), "n=16");
    let message = refused(text.replace("\"batch\":10", "\"batch\":0"));
    assert!(message.contains("a batch of 0; expected a number above 0"), "{message}");
}

#[test]
fn the_table_has_medians_alone() {
    let samples = read("nanobench/nanobench.csv");
    assert_eq!((samples.len(), samples.design()), (0, Design::Summary));
    assert_eq!(names(&samples), ["grow", "upfront", "barrier"]);
    assert_eq!(summary(&samples, "grow", "wall").median, Some(1.23501946472019e-06));
    assert_eq!(summary(&samples, "grow", "wall").mean, None);
    let head = "\"title\";\"name\";\"unit\";\"batch\";\"elapsed\";\"error %\"\n";
    let message = refused(format!("{head}\"t\";\"a\";\"op\";0;5;0\n"));
    assert!(message.starts_with("x.json:2: expected numbers"), "{message}");
    let message = refused(format!("{head}\"t\";\"a\"\n"));
    assert!(message.starts_with("x.json:2: expected a row"), "{message}");
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    survives_damage("nanobench/nanobench.json");
    reads_the_same_in_other_clothes("nanobench/nanobench.json");
    reads_the_same_in_other_clothes("nanobench/nanobench.csv");
}
