//! Formats with one value per benchmark: github-action-benchmark's entries and Bencher's metrics.

use super::{metrics, names, read, refused, values};
use assay_data::Better;

#[test]
fn entries_are_in_base_units() {
    let samples = read("github-action-benchmark/entries.json");
    assert_eq!(names(&samples), ["sort ten", "binary", "requests", "coverage"]);
    assert_eq!(metrics(&samples), ["wall", "bytes", "req/s", "Percent"]);
    assert_eq!(values(&samples, "sort ten", "wall")[0], 3.35e-8);
    assert_eq!(values(&samples, "binary", "bytes")[0], 812e3);
    let better: Vec<_> = samples.metrics.iter().map(|metric| metric.better).collect();
    assert_eq!(better, [Better::Lower, Better::Lower, Better::Higher, Better::Lower]);
    let text = "[{\"name\":\"a\",\"unit\":\"ns\",\"value\":1},\n{\"name\":\"b\",\"unit\":\"ns\",\"value\":-1}]";
    assert!(refused(text).starts_with("x.json:2:"), "{}", refused(text));
    assert!(refused("[{\"name\":\"a\",\"unit\":\"ns\",\"value\":NaN}]").contains("not finite"));
}

#[test]
fn bencher_measures_have_its_units() {
    let samples = read("bencher/metrics.json");
    let at = |name: &str, metric: &str| {
        let values = values(&samples, name, metric);
        values.into_iter().find(|value| value.is_finite())
    };
    assert_eq!(at("sort::ten", "wall"), Some(3.35e-8));
    assert_eq!(at("server", "wall"), Some(0.000_195));
    assert_eq!(at("server", "rate"), Some(5120.5));
    assert_eq!(at("server", "p99 size"), Some(7.0));
    assert!(refused("{\"a\":{\"latency\":{\"value\":null}}}").contains("not finite"));
    let error = refused("{\"a\":{\"latency\":{\"value\":1}},\n\"b\":7}");
    assert!(
        error.starts_with("x.json:2:") && error.contains("invalid type: integer `7`"),
        "{error}"
    );
}
