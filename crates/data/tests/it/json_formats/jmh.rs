//! JMH's JSON.

use super::*;
use assay_data::{Better, Unit};

#[test]
fn forks_and_iterations_are_kept_with_the_metrics_of_profilers() {
    let (samples, plain) = (read("jmh/result-gcprof.json"), plainly("jmh/result-gcprof.json"));
    for result in plain.as_array().unwrap() {
        let name = format!(
            "{} n={}",
            result["benchmark"].as_str().unwrap(),
            result["params"]["n"].as_str().unwrap()
        );
        let flat = |metric: &Value| -> Vec<f64> {
            let forks = metric["rawData"].as_array().unwrap().iter();
            forks.flat_map(|f| f.as_array().unwrap()).map(|v| v.as_f64().unwrap()).collect()
        };
        let scores: Vec<f64> = flat(&result["primaryMetric"]).iter().map(|ns| ns / 1e9).collect();
        assert_eq!(values(&samples, &name, "wall"), scores);
        for metric in ["gc.alloc.rate.norm", "gc.alloc.rate", "gc.count"] {
            let theirs = flat(&result["secondaryMetrics"][metric]);
            assert_eq!(values(&samples, &name, metric), theirs, "{name} {metric}");
        }
        let own = subject(&samples, &name);
        let levels: Vec<_> =
            samples.observations().filter(|o| o.subject == own).map(|o| o.level).collect();
        assert_eq!((levels.len(), &levels[0], &levels[9]), (10, &vec![0, 0], &vec![1, 4]));
        assert_eq!(parameters(&samples, &name), name.split_once(' ').unwrap().1);
    }
    assert!(samples.metric_index("gc.time").is_none(), "it has no value for some iterations");
    let norm = &samples.metrics[samples.metric_index("gc.alloc.rate.norm").unwrap()];
    assert_eq!((&norm.unit, norm.better), (&Unit::Byte, Better::Lower));
    assert_eq!(samples.environment.text("jmh.jdkVersion"), Some("17.0.15"));
    assert_eq!(samples.environment.text("recorded_by"), Some("JMH 1.37"));
}

/// Returns one result of a mode, with the rest of its primary metric.
fn result(mode: &str, unit: &str, raw: &str) -> String {
    format!(
        r#"{{"jmhVersion":"1.37","benchmark":"a.B.m","mode":"{mode}","threads":1,"forks":1,
        "primaryMetric":{{"score":2.0,"scoreError":"NaN","scoreUnit":"{unit}",{raw}}},"secondaryMetrics":{{
        "·gc.alloc.rate.norm":{{"score":8.0,"scoreUnit":"B/op","rawData":[[8.0,16.0]]}}}}}}"#
    )
}

#[test]
fn modes_give_times_or_rates_and_histograms_single_times() {
    let text = format!(
        "[{},{},{},{}]",
        result("thrpt", "ops/us", r#""rawData":[[2.0,"NaN"]]"#),
        result("avgt", "us/op", r#""rawData":[[0.5,0.25]]"#),
        result("sample", "ms/op", r#""rawDataHistogram":[[[[1.0,2],[4.0,1]],[[2.0,1]]]]"#),
        result("ss", "s/op", r#""scorePercentiles":{}"#),
    );
    let samples = load_bytes(text.into_bytes(), "x", &ImportOptions::default()).unwrap();
    assert_eq!(names(&samples), ["a.B.m", "a.B.m (avgt)", "a.B.m (sample)", "a.B.m (ss)"]);
    assert_eq!(values(&samples, "a.B.m", "rate"), [2e6]);
    assert_eq!(values(&samples, "a.B.m (avgt)", "wall"), [0.5 / 1e6, 0.25 / 1e6]);
    assert_eq!(values(&samples, "a.B.m (avgt)", "gc.alloc.rate.norm"), [8.0, 16.0]);
    assert_eq!(values(&samples, "a.B.m (sample)", "wall"), [0.001, 0.001, 0.004, 0.002]);
    assert_eq!(values(&samples, "a.B.m (sample)", "gc.alloc.rate.norm"), [8.0, 16.0]);
    let last = samples.observation(samples.len() - 1).unwrap();
    assert_eq!(last.level, [0, 1, 0]);
    assert_eq!(summary(&samples, "a.B.m (ss)", "wall").mean, Some(2.0));
}

#[test]
fn a_histogram_cannot_fill_the_memory() {
    let huge = result("sample", "ms/op", r#""rawDataHistogram":[[[[1.0,18446744073709551615]]]]"#);
    let message = refused(format!("[{huge}]"));
    assert!(message.contains("measure in mode avgt"), "{message}");
    // Several such histograms together are also refused.
    let half = result("sample", "ms/op", r#""rawDataHistogram":[[[[1.0,9000000]]]]"#);
    let other = half.replace("a.B.m", "a.B.other").replace("9000000", "9999999999");
    assert!(refused(format!("[{half},{other}]")).contains("measure in mode avgt"));
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    survives_damage("jmh/result-gcprof.json");
    reads_the_same_in_other_clothes("jmh/result-gcprof.json");
}
