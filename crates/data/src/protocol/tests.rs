#![allow(clippy::unwrap_used)]
use super::*;
use crate::Metric;
use crate::reading::MetricSpec;
use crate::reading::{ReadingError, Take};
use crate::{Better, Unit};
use proptest::prelude::*;

fn clean(text: &str) -> Vec<ReportedMetric> {
    let report = parse(text.as_bytes());
    assert_eq!((&report.problems[..], report.more_problems), (&[][..], 0));
    report.given
}

/// Returns the problems of a text, and its valid values by name.
fn flawed(text: impl AsRef<[u8]>) -> (Vec<Problem>, Vec<(String, Vec<f64>)>) {
    let report = parse(text.as_ref());
    let given = report.given.into_iter().map(|given| (given.metric.name, given.values));
    (report.problems, given.collect())
}

/// Returns the only problem of a text: its line and its message.
fn only_problem(text: impl AsRef<[u8]>) -> (usize, String) {
    let (mut problems, _) = flawed(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let problem = problems.remove(0);
    (problem.line, problem.what)
}

#[test]
fn values_come_in_base_units_under_what_any_line_says_of_them() {
    let given = clean(
        "{\"metric\":\"latency\",\"value\":1.25}\n\
         {\"metric\":\"latency\",\"values\":[1.5,2],\"unit\":\"ms\",\"better\":\"higher\"}\r\n\
         \n\
         {\"metric\":\"rows\",\"value\":7,\"take\":\"sum\",\"unit\":\"ms\",\"unknown\":{\"a\":[1]}}\n\
         {\"metric\":\"latency\",\"unit\":\"ms\",\"value\":3}",
    );
    let latency = &given[0];
    assert_eq!(
        latency.metric,
        Metric { better: Better::Higher, ..Metric::lower("latency", Unit::Second) }
    );
    assert_eq!(latency.values, [0.001_25, 0.001_5, 0.002, 0.003]);
    assert_eq!(latency.take, Take::Median);
    assert_eq!(latency.reading().unwrap().value, 0.001_75);
    assert_eq!(given[1].take, Take::Sum);
}

#[test]
fn a_line_may_only_declare_and_a_metric_without_values_is_not_given() {
    let given = clean(
        "{\"metric\":\"a\",\"unit\":\"us\"}\n{\"metric\":\"b\",\"take\":\"max\"}\n{\"metric\":\"a\",\"value\":2}\n",
    );
    assert_eq!(given.len(), 1);
    assert_eq!(given[0].values, [2e-6]);
}

#[test]
fn regions_nest_repeat_and_pair_up_by_thread() {
    let given = clean(
        "{\"start\":\"outer\",\"t\":1000}\n\
         {\"start\":\"inner\",\"t\":1100}\n\
         {\"start\":\"inner\",\"t\":1150,\"thread\":7}\n\
         {\"stop\":\"inner\",\"t\":1300}\n\
         {\"stop\":\"inner\",\"t\":1950,\"thread\":7}\n\
         {\"start\":\"inner\",\"t\":2000}\n\
         {\"stop\":\"inner\",\"t\":2100,\"take\":\"max\"}\n\
         {\"stop\":\"outer\",\"t\":3000}\n\
         {\"region\":\"parse\",\"ns\":1234}\n",
    );
    let named = |name: &str| given.iter().find(|given| given.metric.name == name).unwrap();
    assert_eq!(named("outer").values, [2e-6]);
    assert_eq!(named("inner").values, [2e-7, 8e-7, 1e-7]);
    assert_eq!(named("inner").take, Take::Max);
    assert_eq!(named("parse").values, [1.234e-6]);
    assert_eq!(named("parse").take, Take::Sum);
    assert_eq!(named("parse").metric, Metric::lower("parse", Unit::Second));
}

#[test]
fn a_clock_of_years_loses_no_nanosecond() {
    let start = u64::MAX - 1_000_000_007;
    let given = clean(&format!(
        "{{\"start\":\"x\",\"t\":{start}}}\n{{\"stop\":\"x\",\"t\":{}}}\n",
        u64::MAX
    ));
    assert_eq!(given[0].values, [1.000_000_007]);
}

#[test]
fn broken_lines_are_problems_and_the_others_count() {
    let (problems, given) = flawed(
        b"{\"metric\":\"a\",\"value\":1}\n\
          hello\n\
          {\"metric\":\"a\",\"value\":NaN}\n\
          \xff\xfe\x00\x01\n\
          {\"metric\":\"a\xff\",\"value\":1}\n\
          [\"a\",1]\n\
          {\"metric\":\"a\",{\"metric\":\"b\",\"value\":4}\"value\":3}\n\
          {\"metric\":\"a\",\"value\":3}{\"metric\":\"b\",\"value\":4}\n\
          {\"metric\":\"a\",\"value\":2}\n\
          {\"metric\":\"a\",\"val",
    );
    assert_eq!(given, [("a".to_owned(), vec![1.0, 2.0])]);
    let lines: Vec<_> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 10]);
    let whole = |index: usize| problems[index].to_string();
    assert_eq!(whole(0), "line 2: `hello` is not a JSON object");
    assert!(whole(1).contains("`NaN}`"), "{}", whole(1));
    assert_eq!(
        whole(7),
        "line 10: the line breaks off; write each line whole, in one write (the last line, which lacks its \
         line feed: was the program ended?)"
    );
    for problem in &problems {
        assert!(!problem.what.contains(char::is_control), "{problem:?}");
    }
}

#[test]
fn every_wrong_member_is_named() {
    for (line, part) in [
        ("{\"metric\":\"a\"}", "needs a number"),
        ("{\"metric\":\"a\",\"value\":null}", "`null`"),
        ("{\"metric\":\"a\",\"values\":[1,null]}", "`null`"),
        ("{\"metric\":\"a\",\"values\":[]}", "empty"),
        ("{\"metric\":\"a\",\"value\":1,\"values\":[1]}", "either"),
        ("{\"metric\":\"a\",\"value\":\"1 ms\"}", "expected f64"),
        ("{\"metric\":\"a\",\"value\":1e999}", "number out of range"),
        ("{\"metric\":\"a\",\"value\":1,\"value\":2}", "duplicate field `value`"),
        ("{\"metric\":\"a\",\"value\":1,\"unit\":\"mss\"}", "did you mean `ms`"),
        ("{\"metric\":\"a\",\"value\":1,\"better\":\"faster\"}", "`lower` or `higher`"),
        ("{\"metric\":\"a\",\"value\":1,\"take\":\"avg\"}", "first, last, sum"),
        ("{\"metric\":\"\",\"value\":1}", "is not a name"),
        ("{\"metric\":\"a\\u0007\",\"value\":1}", "`a\\u{7}` is not a name"),
        ("{\"metric\":5,\"value\":1}", "invalid type"),
        ("{\"mark\":\"a\",\"t\":1}", "unknown kind"),
        ("{\"metric\":\"a\",\"start\":\"a\",\"t\":1}", "only one of"),
        ("{\"start\":\"a\"}", "its own time `t`"),
        ("{\"stop\":\"a\"}", "its own time `t`"),
        ("{\"start\":\"a\",\"t\":1.5}", "expected u64"),
        ("{\"start\":\"a\",\"t\":-1}", "expected u64"),
        ("{\"region\":\"a\"}", "its duration `ns`"),
        ("{\"region\":\"a\",\"ns\":-1}", "negative"),
        ("{\"region\":\"a\",\"ns\":1,\"unit\":\"ms\"}", "has no `unit`"),
        ("{\"stop\":\"a\",\"t\":1}", "was not started"),
        ("{\"start\":\"a\",\"t\":1}", "never stopped"),
        (&format!("{{\"metric\":\"{}\",\"value\":1}}", "n".repeat(101)), "1 to 100 characters"),
    ] {
        let (at, what) = only_problem(format!("{line}\n"));
        assert_eq!(at, 1);
        assert!(what.contains(part), "{line}: {what}");
    }
}

#[test]
fn a_line_that_contradicts_an_earlier_one_does_not_count() {
    let first =
        "{\"metric\":\"a\",\"value\":1,\"unit\":\"ms\",\"better\":\"lower\",\"take\":\"sum\"}\n";
    for other in ["\"unit\":\"s\"", "\"unit\":\"us\"", "\"better\":\"higher\"", "\"take\":\"max\""]
    {
        let text = format!("{first}{{\"metric\":\"a\",\"value\":2,{other}}}\n");
        let (problems, given) = flawed(&text);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 2);
        assert_eq!(given, [("a".to_owned(), vec![0.001])], "{other}");
    }
    let text = "{\"metric\":\"a\",\"value\":1}\n{\"region\":\"a\",\"ns\":1}\n";
    assert!(only_problem(text).1.contains("a region here and a metric in line 1"));
}

#[test]
fn no_value_comes_of_starts_and_stops_that_do_not_pair() {
    // A region nested in itself: it is unknown which start belongs to which stop.
    let (problems, given) = flawed(
        "{\"start\":\"a\",\"t\":1}\n{\"start\":\"a\",\"t\":2}\n{\"stop\":\"a\",\"t\":3}\n{\"stop\":\"a\",\"t\":4}\n\
         {\"start\":\"a\",\"t\":5}\n{\"stop\":\"a\",\"t\":7}\n",
    );
    let lines: Vec<_> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 4]);
    assert_eq!(given, [("a".to_owned(), vec![2e-9])]);
    let (problems, given) = flawed("{\"start\":\"a\",\"t\":9}\n{\"stop\":\"a\",\"t\":8}\n");
    assert!(problems[0].what.contains("stops before it starts (line 1)"));
    assert!(given.is_empty());
}

#[test]
fn problems_beyond_twenty_are_counted() {
    let report = parse("x\n".repeat(50).as_bytes());
    assert_eq!((report.problems.len(), report.more_problems), (20, 30));
}

#[test]
fn every_limit_is_kept_and_said() {
    let long = format!("{{\"metric\":\"a\",\"value\":1,\"x\":\"{}\"}}\n", "y".repeat(MAX_LINE));
    let (problems, given) = flawed(format!("{long}{{\"metric\":\"a\",\"value\":2}}\n"));
    assert!(problems[0].what.contains("longer than 1 MiB"));
    assert_eq!(given, [("a".to_owned(), vec![2.0])]);

    let many: String =
        (0..=MAX_METRICS).map(|i| format!("{{\"metric\":\"m{i}\",\"value\":1}}\n")).collect();
    let (problems, given) = flawed(&many);
    assert_eq!((problems.len(), problems[0].line, given.len()), (1, MAX_METRICS + 1, MAX_METRICS));

    let line =
        format!("{{\"metric\":\"a\",\"value\":1,\"x\":\"{}\"}}\n", "y".repeat(MAX_LINE - 100));
    let huge = line.repeat(MAX_BYTES / line.len() + 1);
    let (problems, given) = flawed(&huge);
    assert!(problems[0].what.contains("more than 64 MiB"));
    assert_eq!(given[0].1.len(), MAX_BYTES / line.len());
}

#[test]
fn values_beyond_a_double_are_a_problem_of_their_metric() {
    let (problems, given) = flawed(
        "{\"metric\":\"a\",\"unit\":\"h\",\"values\":[1,1e308]}\n{\"metric\":\"a\",\"value\":2}\n",
    );
    assert!(problems[0].what.starts_with("1 values of `a` are not finite"));
    assert_eq!(given[0].1, [3600.0, 7200.0]);
}

#[test]
fn a_spec_takes_what_the_program_gave_and_may_say_it_differently() {
    let report = parse(
        b"{\"metric\":\"latency\",\"unit\":\"ms\",\"values\":[1,2,6]}\n{\"metric\":\"bare\",\"value\":5}\n\
          {\"region\":\"parse\",\"ns\":1000}\n{\"region\":\"parse\",\"ns\":3000}\n",
    );
    let given = |text: &str| MetricSpec::parse(text).unwrap().given(&report);
    let value = |text: &str| given(text).map(|(metric, reading)| (metric.unit, reading.value));
    assert_eq!(value("latency"), Ok((Unit::Second, 0.002)));
    assert_eq!(value("latency::max"), Ok((Unit::Second, 0.006)));
    assert_eq!(value("latency:s"), Ok((Unit::Second, 0.002)));
    assert_eq!(value("latency::count"), Ok((Unit::One, 3.0)));
    assert_eq!(value("parse"), Ok((Unit::Second, 4e-6)));
    assert_eq!(value("bare:ms"), Ok((Unit::Second, 0.005)));
    assert!(given("latency::count").unwrap().1.all.is_empty());
    assert_eq!(given("latency::higher").unwrap().0.better, Better::Higher);
    assert_eq!(given("parse").unwrap().1.all, [1e-6, 3e-6]);
    assert!(matches!(given("latency:MiB"), Err(ReadingError::WrongUnit { .. })));
    assert!(matches!(given("other"), Err(ReadingError::Nothing { .. })));
    let spec = MetricSpec::parse("latency").unwrap();
    assert!(matches!(spec.read(b"", b""), Err(ReadingError::Nothing { .. })));
}

proptest! {
    #[test]
    fn whatever_is_written_a_report_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        parse(&bytes);
    }

    #[test]
    fn lines_cut_and_joined_anywhere_leave_only_values_that_were_written(
        cuts in proptest::collection::vec((0usize..200, 1usize..40), 0..4),
    ) {
        let mut text: Vec<u8> = (0..6).flat_map(|i| format!("{{\"metric\":\"m\",\"value\":{i}}}\n").into_bytes()).collect();
        for (from, length) in cuts {
            let from = from.min(text.len());
            text.drain(from..(from + length).min(text.len()));
        }
        let report = parse(&text);
        let values: usize = report.given.iter().map(|given| given.values.len()).sum();
        let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty()).count();
        prop_assert_eq!(values + report.problems.len(), lines);
    }

    #[test]
    fn what_a_program_writes_is_what_is_read(
        metrics in proptest::collection::btree_map("[a-zé .]{1,8}", proptest::collection::vec(-1e300..1e300f64, 1..9), 0..6),
    ) {
        let text: String = metrics.iter().map(|(name, values)| {
            format!("{}\n", serde_json::json!({"metric": name, "values": values}))
        }).collect();
        let report = parse(text.as_bytes());
        prop_assert!(report.problems.is_empty());
        let given: Vec<_> = report.given.into_iter().map(|given| (given.metric.name, given.values)).collect();
        prop_assert_eq!(given, metrics.into_iter().collect::<Vec<_>>());
    }
}
