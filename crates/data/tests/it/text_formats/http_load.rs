//! Reports and logs of HTTP load generators: all of them give the same metrics, with the values
//! that they print.

use super::*;

/// Returns the only value of a metric in a file with one report; `None` if it has none.
fn value(samples: &Samples, metric: &str) -> Option<f64> {
    let metric = samples.metric_index(metric)?;
    samples.series(0, metric).values.first().copied()
}

/// Asserts that a file is one observation with the `expected` values, and without the `absent`
/// metrics.
fn holds(file: &str, expected: &[(&str, f64)], absent: &[&str]) -> Samples {
    let samples = load_file(file);
    assert_eq!((samples.len(), samples.subjects.len()), (1, 1), "{file}");
    for &(metric, expected) in expected {
        let found = value(&samples, metric).expect(metric);
        assert!((found - expected).abs() <= expected.abs() * 1e-12, "{file}: {metric} {found}");
    }
    for metric in absent {
        assert_eq!(value(&samples, metric), None, "{file}: {metric}");
    }
    samples
}

#[test]
fn all_tools_give_the_same_metrics() {
    let wrk = holds(
        "wrk/latency.txt",
        &[
            ("latency_p50", 268e-6),
            ("latency_p99", 4.95e-3),
            ("latency_mean", 498.62e-6),
            ("latency_sd", 0.94e-3),
            ("latency_max", 11.73e-3),
            ("rate_achieved", 31_693.85),
            ("answered", 1.0),
            ("requests", 66_921.0),
            ("received", 38.17 * 1_048_576.0),
        ],
        &["connect", "first_byte", "latency_p95"],
    );
    assert_eq!(
        metrics(&wrk)[..4],
        ["latency_p50 [s]", "latency_p99 [s]", "rate_achieved [1/s]", "answered [1]"]
    );
    assert_eq!(wrk.metrics[3].better, assay_data::Better::Higher);
    holds("wrk/plain.txt", &[("latency_mean", 1.30e-3)], &["latency_p50"]);
    let hey = [("latency_p50", 0.0005), ("latency_p99", 0.0084), ("rate_achieved", 6719.2261)];
    holds("hey/hey.txt", &hey, &["latency_p99_9", "tls"]);
    holds(
        "hey/hey.txt",
        &[("first_byte", 0.0009), ("latency_min", 0.0), ("latency_max", 0.013)],
        &[],
    );
    holds(
        "oha/oha.json",
        &[
            ("latency_p50", 0.000136683),
            ("latency_p99_9", 0.001360388),
            ("rate_achieved", 47_411.453184745835),
            ("received", 48_549_328.061179735),
            ("requests", 300.0),
        ],
        &["transfer"],
    );
    holds("oha/errors.txt", &[("latency_p99", 8.5137e-3), ("latency_p99_99", 8.5716e-3)], &[]);
    holds(
        "ab/ab.txt",
        &[
            ("latency_p50", 0.007),
            ("latency_p99", 0.014),
            ("latency_mean", 0.00721),
            ("latency_max", 0.019),
            ("rate_achieved", 693.52),
            ("first_byte", 0.007),
            ("received", 482.89 * 1024.0),
        ],
        &["latency_p99_9"],
    );
    holds("ab/percentiles.csv", &[("latency_min", 0.003645)], &["rate_achieved", "latency_p1"]);
    holds(
        "h2load/h2load.txt",
        &[("latency_mean", 178e-6), ("latency_max", 508e-6), ("rate_achieved", 21_202.91)],
        &["latency_p50"],
    );
    let seconds = [
        ("latency_p50", 406_429e-9),
        ("latency_p99", 7_136_494e-9),
        ("rate_sent", 100.47954728063792),
    ];
    holds("vegeta/vegeta.json", &seconds, &["latency_p99_9"]);
    holds("vegeta/vegeta.txt", &[("latency_p50", 406.429e-6), ("rate_achieved", 100.46)], &[]);
    let k6 = [("latency_p50", 0.00027095650000000004), ("latency_p90", 0.0014786801000000005)];
    holds("k6/k6.json", &k6, &["latency_p99"]);
    holds("k6/k6.json", &[("rate_achieved", 5351.752495575706), ("tls", 0.0)], &[]);
    holds(
        "k6/new.json",
        &[("latency_p50", 0.000181935), ("rate_achieved", 100.0 / 0.047097222)],
        &[],
    );
    holds("k6/quantiles.txt", &[("latency_p99_9", 14.64e-3), ("latency_p50", 387.07e-6)], &[]);
    holds("k6/legacy.txt", &[("connect", 19.16e-6), ("first_byte", 1e-3)], &[]);
}

#[test]
fn the_totals_of_k6_include_its_groups_and_scenarios() {
    let report = |rate: u32| {
        format!(
            "    http_req_duration....: avg=110ms min=55ms med=99ms max=330ms p(90)=165ms p(95)=220ms\n    http_req_failed......: 0.00% 0 out of 200\n    http_reqs............: 200   {rate}/s\n\n"
        )
    };
    let full = format!(
        "  █ TOTAL RESULTS \n\n    HTTP\n{}  █ GROUP: list \n\n    HTTP\n{}    █ GROUP: inner\n{}  █ SCENARIO: default\n{}",
        report(20),
        report(10),
        report(5),
        report(20)
    );
    let samples = plain(&full).expect("a report");
    assert_eq!((samples.len(), value(&samples, "rate_achieved")), (1, Some(20.0)));
    assert_eq!(plain(full.repeat(2)).expect("two reports").len(), 2);
}

#[test]
fn requests_that_failed_are_counted_out_of_the_rate_and_told() {
    for (file, answered, rate, said) in [
        (
            "wrk/errors.txt",
            18_665.0 / 26_739.0,
            26_455.11 * 18_665.0 / 26_739.0,
            "8074 requests or connections failed: status not 2xx or 3xx 8074",
        ),
        (
            "hey/errors.txt",
            0.68,
            7875.9159 * 0.68,
            "64 requests or connections failed: status 503 64",
        ),
        (
            "oha/errors.txt",
            0.69,
            14_388.202_5 * 0.69,
            "62 requests or connections failed: status 503 62",
        ),
        (
            "ab/errors.txt",
            137.0 / 200.0,
            4764.06 * 0.685,
            "63 requests or connections failed: status not 2xx 63",
        ),
        (
            "h2load/errors.txt",
            0.7,
            10_350.90 * 0.7,
            "30 requests or connections failed: status 5xx 30",
        ),
        ("vegeta/errors.txt", 0.71, 71.32, "58 requests or connections failed: status 503 58"),
        (
            "vegeta/errors.json",
            0.71,
            71.31927535658521,
            "58 requests or connections failed: status 503 58",
        ),
        (
            "k6/quantiles.txt",
            4546.0 / 6442.0,
            6422.053481 * 4546.0 / 6442.0,
            "1896 requests or connections failed: requests failed 1896",
        ),
    ] {
        let samples = holds(file, &[("answered", answered), ("rate_achieved", rate)], &[]);
        let told = samples.findings.iter().find(|finding| finding.code == "REQUESTS_FAILED");
        assert_eq!(told.expect(file).message, said, "{file}");
    }
    for file in ["hey/refused.txt", "oha/refused.txt", "h2load/refused.txt", "k6/refused.json"] {
        holds(
            file,
            &[("answered", 0.0), ("failed", load_failed(file))],
            &["latency_max", "latency_mean"],
        );
    }
    let rate = |file| value(&load_file(file), "rate_achieved");
    assert_eq!(rate("hey/refused.txt"), Some(0.0), "hey itself says 9535 requests per second");
    assert_eq!(rate("h2load/refused.txt"), Some(0.0));
}

fn load_failed(file: &str) -> f64 {
    match file.split('/').next() {
        Some("h2load") => 10.0,
        Some("k6") => 100.0,
        _ => 20.0,
    }
}

#[test]
fn what_the_generator_did_is_not_blamed_on_the_server() {
    // oha aborted five requests at its deadline.
    let deadline = holds("oha/deadline.txt", &[("answered", 1.0), ("requests", 15_879.0)], &[]);
    assert_eq!(codes(&deadline), ["CLOSED_LOOP"]);
    // k6 could not start 282 iterations.
    for file in ["k6/dropped.txt", "k6/dropped.json"] {
        let dropped = holds(file, &[("dropped_iterations", 282.0), ("answered", 1.0)], &[]);
        assert_eq!(codes(&dropped), ["REQUESTS_FAILED"], "{file}");
    }
}

#[test]
fn latencies_that_leave_out_waiting_are_told() {
    let told = |file: &str| {
        let samples = load_file(file);
        let found = samples.findings.iter().find(|finding| finding.code == "CLOSED_LOOP");
        found.map(|finding| finding.message.clone())
    };
    let wrk = told("wrk/latency.txt").expect("it waits");
    assert!(wrk.contains("adds latencies that it did not measure"), "{wrk}");
    assert!(told("oha/oha.json").expect("it may wait").contains("`--latency-correction`"));
    for file in [
        "hey/hey.txt",
        "hey/requests.csv",
        "ab/ab.txt",
        "ab/percentiles.csv",
        "h2load/h2load.txt",
        "k6/quantiles.txt",
    ] {
        assert!(told(file).is_some(), "{file}");
    }
    for file in ["wrk/wrk2.txt", "vegeta/vegeta.txt", "vegeta/vegeta.json", "k6/dropped.txt"] {
        assert_eq!(told(file), None, "{file}");
    }
}

#[test]
fn wrk2_has_latencies_from_the_plan_and_with_its_option_those_from_sending() {
    let plain = holds(
        "wrk/wrk2.txt",
        &[("latency_p50", 1.10e-3), ("latency_p99_9", 19.71e-3), ("latency_max", 19.71e-3)],
        &["service_p50"],
    );
    assert_eq!(plain.tool.as_deref(), Some("wrk2"));
    holds(
        "wrk/wrk2-uncorrected.txt",
        &[("latency_p50", 1.24e-3), ("service_p50", 187e-6), ("service_p99", 4.24e-3)],
        &[],
    );
    assert_eq!(load_file("wrk/plain.txt").tool.as_deref(), Some("wrk"));
}

#[test]
fn rows_of_logs_are_observations() {
    for (file, rows, first, wells) in [
        ("hey/requests.csv", 60, 0.0053, 60),
        ("oha/requests.csv", 60, 0.000807428, 33),
        ("ab/requests.tsv", 60, 0.004, 0),
        ("h2load/requests.tsv", 60, 0.0, 40),
    ] {
        let samples = load_file(file);
        assert_eq!(samples.len(), rows, "{file}");
        if first > 0.0 {
            assert_eq!(value(&samples, "latency"), Some(first), "{file}");
        }
        let answered = samples.metric_index("answered");
        let well = answered.map_or(0.0, |answered| samples.series(0, answered).values.iter().sum());
        assert_eq!(well, f64::from(wells), "{file}");
        let failed = answered.map_or(0.0, |_| f64::from(rows as u32) - well);
        let told = samples.findings.iter().find(|found| found.code == "REQUESTS_FAILED");
        let errors = told.map_or(0.0, |found| found.evidence[0].1);
        assert_eq!(errors, failed, "{file}");
    }
    let log = text("hey/requests.csv");
    assert_eq!(plain(log.repeat(2)).expect("appended").len(), 120);
    assert!(refused(log.replace("0.0053,", "soon,")).starts_with("x.txt:2: `soon,"));
    let cut = &log[..log.trim_end().rfind(',').expect("columns")];
    assert!(refused(cut).contains("breaks off; it is not a row of the log of hey"));
}

#[test]
fn reports_appended_to_one_file_are_told_apart_by_what_differs_and_else_repeated() {
    for file in [
        "wrk/latency.txt",
        "wrk/wrk2.txt",
        "hey/hey.txt",
        "oha/oha.json",
        "oha/oha.txt",
        "ab/ab.txt",
        "ab/percentiles.csv",
        "h2load/h2load.txt",
        "vegeta/vegeta.json",
        "vegeta/vegeta.txt",
        "k6/k6.json",
        "k6/k6.txt",
        "k6/legacy.txt",
    ] {
        let three = plain(text(file).repeat(3)).expect(file);
        assert_eq!((three.len(), three.subjects.len()), (3, 1), "{file}");
        assert_eq!(names(&three), ["x"], "{file}");
    }
    let both = plain(text("wrk/latency.txt") + &text("wrk/plain.txt")).expect("two reports");
    assert_eq!(names(&both), ["connections=10 threads=1", "connections=20 threads=2"]);
}

#[test]
fn a_report_that_breaks_off_or_has_words_for_numbers_is_named() {
    for (file, before, place) in [
        ("wrk/latency.txt", "Transfer/sec", "x.txt:1: "),
        ("hey/hey.txt", "Status code", "x.txt:2: "),
        ("oha/oha.txt", "Status code", "x.txt:1: "),
        ("ab/ab.txt", "Requests per second", "x.txt:8: "),
        ("ab/ab.txt", " 100%", "x.txt:8: "),
        ("ab/percentiles.csv", "99,", "x.txt:1: "),
        ("h2load/h2load.txt", "req/s  ", "x.txt:1: "),
        ("vegeta/vegeta.txt", "Error Set", "x.txt:1: "),
        ("k6/k6.txt", "http_reqs", "x.txt:"),
    ] {
        let whole = text(file);
        let said = refused(&whole[..whole.find(before).expect(before)]);
        assert!(said.starts_with(place) && said.contains("breaks off"), "{file}: {said}");
    }
    for (file, number, with) in [
        ("wrk/latency.txt", "268.00us", "soon"),
        ("hey/hey.txt", "0.0005 secs", "soon secs"),
        ("ab/ab.txt", "693.52", "many"),
        ("h2load/h2load.txt", "300 succeeded", "all succeeded"),
        ("vegeta/vegeta.txt", "406.429µs", "soon"),
        ("k6/k6.txt", "med=270.95µs", "med=soon"),
    ] {
        let said = refused(text(file).replace(number, with));
        assert!(said.starts_with("x.txt:") && said.contains(" is not a "), "{file}: {said}");
    }
}
