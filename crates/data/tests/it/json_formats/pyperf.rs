//! pyperf's JSON.

use super::*;

#[test]
fn every_value_is_an_observation_within_its_process() {
    for name in ["pyperf/command-A.json", "pyperf/command-B.json"] {
        let (samples, plain) = (read(name), plainly(name));
        let mut expected = Vec::new();
        for benchmark in plain["benchmarks"].as_array().unwrap() {
            let runs = benchmark["runs"].as_array().unwrap();
            let runs = runs.iter().filter_map(|run| run["values"].as_array());
            for (process, values) in (0..).zip(runs) {
                for (iteration, value) in (0..).zip(values) {
                    expected.push((vec![process, iteration], value.as_f64().unwrap()));
                }
            }
        }
        let found: Vec<_> = samples.observations().map(|o| (o.level, o.values[0])).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(metrics(&samples)[0], "wall");
    }
}

#[test]
fn calibration_is_left_out_and_memory_stands_once_per_process() {
    let samples = read("pyperf/command-B.json");
    assert_eq!(names(&samples).len(), 2);
    assert_eq!(values(&samples, "spin", "wall").len(), 6, "two of each of three processes");
    assert_eq!(values(&samples, "spin", "max_rss").len(), 3);
    let spin = &samples.subjects[subject(&samples, "spin")];
    assert_eq!(spin.command.as_deref(), Some("bin/spin 300000"));
    let e = &samples.environment;
    assert_eq!(e.text("hostname"), Some("vm"));
    assert_eq!(e.text("cpu_model"), Some("AMD EPYC"));
    assert_eq!(e.number("cpus_online"), Some(2.0));
    assert_eq!(e.text("recorded_by"), Some("pyperf 2.10.0"));
    assert_eq!(e.text("pyperf.aslr"), Some("Full randomization"));
}

#[test]
fn units_and_metadata_are_inherited() {
    let text = r#"{"version":"1.0","metadata":{"unit":"byte","name":"peak"},
        "benchmarks":[{"runs":[{"values":[1024, 2048]},{"warmups":[[1,5]]}]}]}"#;
    let samples = load_bytes(text.into(), "x", &ImportOptions::default()).unwrap();
    assert_eq!(values(&samples, "peak", "memory"), [1024.0, 2048.0]);
    assert_eq!(samples.metrics[0].unit, assay_data::Unit::Byte);
    // With a single run, its memory is in the metadata of the file.
    let text = r#"{"version":"1.0","metadata":{"name":"sum","mem_max_rss":4096},
        "benchmarks":[{"runs":[{"values":[0.5, 0.25]}]}]}"#;
    let samples = load_bytes(text.into(), "x", &ImportOptions::default()).unwrap();
    assert_eq!(values(&samples, "sum", "max_rss"), [4096.0]);
}

#[test]
fn other_versions_and_files_without_values_are_refused() {
    let text = r#"{"version":"1.0","metadata":{"unit":"byte","name":"peak"},
        "benchmarks":[{"runs":[{"values":[1024, 2048]},{"warmups":[[1,5]]}]}]}"#;
    let message = refused(text.replace("\"1.0\"", "\"2.0\""));
    assert!(message.contains("of version 2.0, but this assay supports version 1"), "{message}");
    let message = refused(text.replace("[1024, 2048]", "[]"));
    assert!(message.contains("only calibration runs"), "{message}");
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    for name in ["pyperf/command-A.json", "pyperf/command-B.json"] {
        survives_damage(name);
        reads_the_same_in_other_clothes(name);
    }
}
