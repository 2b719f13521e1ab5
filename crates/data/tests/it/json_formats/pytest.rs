//! pytest-benchmark's JSON.

use super::*;
use assay_data::Design;

#[test]
fn every_round_is_an_observation() {
    for name in ["pytest-benchmark/pytest-old.json", "pytest-benchmark/pytest-new.json"] {
        let (samples, plain) = (read(name), plainly(name));
        for benchmark in plain["benchmarks"].as_array().unwrap() {
            let full = benchmark["fullname"].as_str().unwrap();
            let data: Vec<f64> = benchmark["stats"]["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_f64().unwrap())
                .collect();
            assert_eq!(values(&samples, full, "wall"), data, "{name} {full}");
            let calls = values(&samples, full, "iterations");
            assert!(calls.iter().all(|&c| Some(c) == benchmark["stats"]["iterations"].as_f64()));
        }
        assert!(samples.summaries.is_empty());
    }
}

#[test]
fn without_rounds_the_statistics_are_a_summary() {
    let samples = read("pytest-benchmark/autosave-no-data.json");
    assert_eq!((samples.len(), samples.design()), (0, Design::Summary));
    assert_eq!(samples.summaries.len(), 5);
    let wall = summary(&samples, "test_copy.py::test_copy_element[2]", "wall");
    assert_eq!(wall.count, Some(39));
    assert_eq!(wall.mean, Some(8.729422356534489e-07));
    assert_eq!(wall.sd, Some(1.6081818578167173e-06));
    assert_eq!(wall.median, Some(3.548237360158903e-07));
    assert_eq!((wall.min, wall.max), (Some(3.319599718605368e-07), Some(8.900047050522854e-06)));
}

#[test]
fn parameters_and_facts_are_read() {
    let samples = read("pytest-benchmark/pytest-new.json");
    assert_eq!(parameters(&samples, "test_copy.py::test_copy_element[256]"), "n=256");
    assert_eq!(parameters(&samples, "test_copy.py::test_empty"), "");
    let one = &samples.subjects[subject(&samples, "test_copy.py::test_copy_element[2]")];
    assert_eq!(samples.label_of(one), Some("test_copy.py::test_copy_element"));
    let e = &samples.environment;
    assert_eq!(e.text("hostname"), Some("vm"));
    assert_eq!(e.text("cpu_model"), Some("AMD EPYC"));
    assert_eq!(e.text("kernel"), Some("6.18.44-fc-v669"));
    assert_eq!(e.text("pytest_benchmark.timer"), Some("perf_counter"));
    assert_eq!(e.text("recorded_by"), Some("pytest-benchmark 5.3.1"));
    assert_eq!(samples.started.as_deref(), Some("2026-11-21T01:51:35.250484+00:00"));
    assert_eq!(
        e.facts["pytest_benchmark.extra_info"]["test_copy.py::test_copy_element[2]"]["params"],
        2
    );
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    for name in ["pytest-benchmark/pytest-old.json", "pytest-benchmark/autosave-no-data.json"] {
        survives_damage(name);
        reads_the_same_in_other_clothes(name);
    }
}
