//! httperf: reports with and without errors, sessions, a ramp of rates, reports appended to one
//! file.

use super::*;

fn value(samples: &Samples, metric: &str) -> Option<f64> {
    let metric = samples.metric_index(metric)?;
    samples.series(0, metric).values.first().copied()
}

#[test]
fn a_report_is_one_observation_with_all_that_it_tells() {
    let samples = load_file("httperf/tls-rate10.txt");
    assert_eq!(names(&samples), ["tls-rate10"]);
    assert_eq!(samples.len(), 1);
    assert_eq!(samples.summaries, []);
    assert_eq!(parameters(&samples, "tls-rate10"), ["rate=10"]);
    assert_eq!(
        metrics(&samples)[..4],
        ["rate_achieved [1/s]", "answered [1]", "requests [1]", "failed [1]"]
    );
    for (metric, expected) in [
        ("rate_achieved", 100.0 / 9.921),
        ("answered", 1.0),
        ("request_rate", 10.1),
        ("reply_rate", 10.0),
        ("reply_rate_stddev", 0.0),
        ("first_byte", 3.6 / 1e3),
        ("transfer", 0.0),
        ("connection_time", 17.0 / 1e3),
        ("connection_time_min", 1.6 / 1e3),
        ("connection_time_median", 14.5 / 1e3),
        ("connection_time_stddev", 13.3 / 1e3),
        ("connect", 13.4 / 1e3),
        ("connection_rate", 10.1),
        ("concurrent_connections", 1.0),
        ("test_duration", 9.921),
        ("reply_size", 1256.0),
        ("reply_size_header", 232.0),
        ("status_2xx", 100.0),
        ("client_user", 0.46),
        ("client_cpu_share", 30.6 / 1e2),
        ("net_io", 13.0 * 1024.0),
        ("errors", 0.0),
        ("errors_other", 0.0),
        ("connect_burst", 1.0),
    ] {
        assert_eq!(value(&samples, metric), Some(expected), "{metric}");
    }
    assert_eq!(samples.findings, []);
    let command = samples.subjects[0].command.as_deref().expect("it is echoed");
    assert!(command.starts_with("httperf --hog --timeout=30 --client=0/1"), "{command}");
}

#[test]
fn zeros_that_mean_not_measured_are_missing() {
    let short = load_file("httperf/tls-rate320.txt");
    assert_eq!(value(&short, "reply_rate"), None, "no samples below five seconds");
    assert_eq!(value(&short, "request_rate"), Some(317.9));
    let refused = load_file("httperf/connrefused.txt");
    for metric in ["first_byte", "connection_time", "connect", "reply_size", "request_size"] {
        assert_eq!(value(&refused, metric), None, "{metric}");
    }
    assert_eq!(value(&refused, "errors_connrefused"), Some(50.0));
    assert_eq!(value(&refused, "request_rate"), Some(0.0));
    let reset = load_file("httperf/connreset.txt");
    assert_eq!(value(&reset, "answered"), Some(0.0));
    assert_eq!(value(&reset, "connect"), Some(1.3 / 1e3), "they did connect");
}

#[test]
fn errors_are_told_by_kind() {
    for (file, said) in [
        ("client-timo", "85 requests or connections failed: client-timo 85"),
        ("connrefused", "50 requests or connections failed: connrefused 50"),
        ("connreset", "20 requests or connections failed: connreset 20"),
        ("fd-unavail", "164 requests or connections failed: fd-unavail 164"),
        ("addrunavail", "80 requests or connections failed: other 80"),
    ] {
        let samples = load_file(&format!("httperf/{file}.txt"));
        assert_eq!(codes(&samples), ["REQUESTS_FAILED"]);
        assert_eq!(samples.findings[0].message, said);
    }
}

#[test]
fn connections_that_came_to_no_request_count_as_not_answered() {
    for (file, asked, answered) in [
        ("client-timo.txt", 300.0, 215.0 / 300.0),
        ("connrefused.txt", 50.0, 0.0),
        ("fd-unavail.txt", 200.0, 36.0 / 200.0),
        ("wsess.txt", 200.0, 1.0),
        ("ramp/io20-unicorn-rate500-rep1.txt", 1500.0, 825.0 / 1500.0),
    ] {
        let samples = load_file(&format!("httperf/{file}"));
        assert_eq!(value(&samples, "requests"), Some(asked), "{file}");
        assert_eq!(value(&samples, "answered"), Some(answered), "{file}");
    }
}

#[test]
fn sessions_and_verbose_lines_are_read() {
    let sessions = load_file("httperf/wsess.txt");
    assert_eq!(value(&sessions, "session_rate"), Some(16.83));
    assert_eq!(value(&sessions, "connections_per_session"), Some(1.0));
    assert_eq!(value(&sessions, "session_lifetime"), Some(0.4));
    assert_eq!(value(&sessions, "replies_per_connection"), Some(5.0));
    let verbose = load_file("httperf/verbose-rate100-plain.txt");
    assert_eq!(value(&verbose, "reply_rate"), Some(199.8));
}

#[test]
fn a_ramp_is_told_apart_by_the_rate_in_one_file_and_by_name_in_several() {
    let rates = [10, 40, 80, 160, 320, 500];
    let file = |rate| format!("httperf/ramp/io20-unicorn-rate{rate}-rep1.txt");
    let appended: String = rates.iter().map(|rate| text(&file(rate))).collect();
    let one = plain(&appended).expect("six reports");
    assert_eq!((one.len(), one.subjects.len()), (6, 6));
    assert!(one.subjects.iter().zip(rates).all(|(subject, rate)| {
        subject.parameters.contains(&("rate".to_owned(), rate.to_string().into()))
    }));
    let paths: Vec<PathBuf> = rates.iter().map(|rate| path(&file(rate))).collect();
    let several = load(&paths, &ImportOptions::default()).expect("six files");
    assert_eq!(several.subjects.len(), 6);
    assert_eq!(several.subjects[5].name, "io20-unicorn-rate500-rep1");
    let repeated = text("httperf/tls-rate10.txt").repeat(3);
    assert_eq!(plain(repeated).expect("three reports").len(), 3);
}

#[test]
fn a_report_that_breaks_off_or_has_words_for_numbers_is_named() {
    let whole = text("httperf/tls-rate10.txt");
    let cut = &whole[..whole.find("Errors:").expect("errors")];
    assert!(refused(cut).starts_with("x.txt:2: the report that begins here breaks off"));
    let both = format!("{cut}{whole}");
    assert!(refused(both).starts_with("x.txt:2: the report that begins here breaks off"));
    let said = refused(whole.replace("response 3.6", "response soon"));
    assert!(said.contains("`soon` after `response` is not a number"), "{said}");
    let nan = plain(whole.replace("response 3.6", "response nan")).expect("not measured");
    assert_eq!(value(&nan, "first_byte"), None);
}
