#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::Better;
use crate::declared_unit::UnitError;
use proptest::prelude::*;

fn spec(text: &str) -> MetricSpec {
    MetricSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> SpecError {
    MetricSpec::parse(text).expect_err(text)
}

fn read(text: &str, stdout: &str) -> Result<f64, ReadingError> {
    spec(text).read(stdout.as_bytes(), b"").map(|reading| reading.value)
}

#[test]
fn a_name_carries_unit_direction_and_what_to_take() {
    let parsed = spec("rate:1/s:higher:mean=Requests/sec: ([0-9.]+)");
    assert_eq!(parsed.metric.name, "rate");
    assert_eq!(parsed.metric.unit, Unit::PerSecond);
    assert_eq!(parsed.metric.better, Better::Higher);
    assert_eq!(parsed.take, Take::Mean);
    assert!(matches!(parsed.source, Source::Text { stream: Stream::Stdout, .. }));
    assert_eq!(
        spec("t:higher=x (.*)").metric,
        Metric { better: Better::Higher, ..Metric::lower("t", Unit::One) }
    );
}

#[test]
fn min_behind_the_name_is_minutes_and_further_on_the_smallest() {
    let minutes = spec("t:min=(.*)");
    assert_eq!((minutes.metric.unit, minutes.take), (Unit::Second, Take::One));
    let smallest = spec("t::min=(.*)");
    assert_eq!((smallest.metric.unit, smallest.take), (Unit::One, Take::Min));
    let both = spec("t:min:min=(.*)");
    assert_eq!((both.metric.unit, both.take), (Unit::Second, Take::Min));
}

#[test]
fn the_first_equals_sign_splits_only_behind_a_name() {
    let pattern = |text: &str| match spec(text).source {
        Source::Text { regex, .. } => regex.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(pattern("t=a=b: (.*)"), "a=b: (.*)");
    assert_eq!(pattern("t:ms=time=([0-9]+)"), "time=([0-9]+)");
    assert_eq!(pattern("t=http://x/(.*)"), "http://x/(.*)");
    assert!(matches!(refused("(a)=(b)"), SpecError::NoName(_)));
    assert!(matches!(refused("took [0-9]+=x"), SpecError::NoName(_)));
}

#[test]
fn every_source_says_which_stream_it_needs() {
    for (text, stdout, stderr) in [
        ("stdout", true, false),
        ("stdout:ms:higher", true, false),
        ("t=stdout", true, false),
        ("t=stdout:(.*)", true, false),
        ("t=stderr:(.*)", false, true),
        ("t=json:/a/0", true, false),
        ("t=json:", true, false),
        ("latency", false, false),
        ("latency:ms:max", false, false),
    ] {
        let parsed = spec(text);
        assert_eq!((parsed.wants_stdout(), parsed.wants_stderr()), (stdout, stderr), "{text}");
    }
    assert!(matches!(spec("db.query-time").source, Source::Protocol));
}

#[test]
fn specs_that_could_be_misread_are_refused() {
    assert_eq!(refused("  "), SpecError::Empty);
    assert!(matches!(refused("stderr:real=(.*)"), SpecError::SourceAsName { .. }));
    assert!(matches!(refused("stdout:time=(.*)"), SpecError::SourceAsName { .. }));
    for text in ["json:/a", "json", "stderr", "stderr:x", "([0-9]+) ms", "3d", "stdout:([0-9]+)"] {
        assert!(matches!(refused(text), SpecError::NoName(_)), "{text}");
    }
    for text in ["t=", "t:ms=stderr:", "t=stderr", "t=json", "t=stdout:"] {
        assert!(matches!(refused(text), SpecError::NoSource(_)), "{text}");
    }
    assert!(matches!(refused("t:mss=(.*)"), SpecError::Unit(UnitError::NearlyKnown { .. })));
    assert_eq!(
        refused("t:ms:maxx=(.*)"),
        SpecError::UnknownWord { found: "maxx".into(), near: Some("max") }
    );
    assert!(matches!(refused("t:ms:=(.*)"), SpecError::UnknownWord { .. }));
    assert!(matches!(refused("t:sum:max=(.*)"), SpecError::Duplicate { .. }));
    assert!(matches!(refused("t:lower:higher=(.*)"), SpecError::Duplicate { .. }));
    assert!(matches!(refused("t:ms:count=(.*)"), SpecError::CountWithUnit(_)));
    assert!(matches!(refused("t::sum=stdout"), SpecError::TakeOfOne("sum")));
    assert!(matches!(refused("t=(.*"), SpecError::Regex(_)));
    assert!(matches!(refused("t=(a{1000}){1000}"), SpecError::Regex(_)));
    assert!(matches!(refused("t=json:a/b"), SpecError::Pointer(_)));
    assert!(matches!(refused("t=json:/a~2"), SpecError::Pointer(_)));
    assert!(matches!(refused(&"n".repeat(101)), SpecError::LongName(_)));
}

#[test]
fn a_bare_number_is_in_the_declared_unit_and_its_own_unit_goes_first() {
    assert_eq!(read("stdout", "12.5\n"), Ok(12.5));
    assert_eq!(read("stdout:ms", "12.5"), Ok(0.0125));
    assert_eq!(read("t:ms=took (.*)", "took 12.5\n"), Ok(0.0125));
    assert_eq!(read("t:ms=took (.*)", "took 3 s\n"), Ok(3.0));
    assert_eq!(read("t:B=(.*)", "3MiB"), Ok(3_145_728.0));
    assert_eq!(read("t:s=(?<value>[0-9.]+)(?<unit>[a-z]+)", "x 1.5us"), Ok(1.5e-6));
    assert_eq!(read("t:s=in (?<unit>[a-z]+): ([0-9.]+)", "in ms: 2"), Ok(0.002));
    assert_eq!(read("t:rows=(.*)", "45 rows"), Ok(45.0));
    assert_eq!(read("t:%=used (.*)", "used 45%"), Ok(45.0));
}

#[test]
fn the_number_is_the_group_value_or_the_first_group_or_the_match() {
    assert_eq!(read("t=a([0-9]) b(?<value>[0-9])", "a1 b2"), Ok(2.0));
    assert_eq!(read("t=a([0-9]) b([0-9])", "a1 b2"), Ok(1.0));
    assert_eq!(read("t=[0-9]+", "a 17 b"), Ok(17.0));
    assert_eq!(read("t=(?:a([0-9])|b([0-9]))", "b2"), Ok(2.0));
    assert_eq!(read("t=^real ([0-9.]+)$", "user 1\nreal 2.5\nsys 3\n"), Ok(2.5));
}

#[test]
fn stderr_is_read_where_the_spec_says_so() {
    let parsed = spec("copy:s=stderr:copied, ([0-9.]+ s)");
    let stderr = b"1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.000512 s, 2.0 GB/s\n";
    assert_eq!(parsed.read(b"7", stderr).unwrap().value, 0.000_512);
}

#[test]
fn several_values_need_a_word_and_are_all_kept() {
    let output = "3 ms\n1 ms\n2 ms\n";
    let error = read("t:ms=(.*ms)", output).unwrap_err();
    assert_eq!(error, ReadingError::Several { found: 3 });
    assert!(error.to_string().contains("first, last, sum, mean, median, min, max or count"));
    let reading = spec("t:ms:max=(.*ms)").read(output.as_bytes(), b"").unwrap();
    assert_eq!(reading, Reading { value: 0.003, all: vec![0.003, 0.001, 0.002] });
    let alone = spec("t:ms:max=(.*ms)").read(b"3 ms", b"").unwrap();
    assert_eq!(alone, Reading { value: 0.003, all: vec![] });
}

#[test]
fn a_count_counts_matches_whatever_they_are_and_may_be_zero() {
    assert_eq!(read("misses::count=MISS", "MISS a\nHIT\nMISS b\n"), Ok(2.0));
    assert_eq!(read("misses::count=MISS", ""), Ok(0.0));
    assert_eq!(read("n::count=json:/a", "{\"a\":[{},{}]}"), Ok(2.0));
}

#[test]
fn json_gives_the_number_or_numbers_at_the_pointer() {
    let document =
        r#"{"a/b":{"c":[1.5,2.5]},"t":"12.5 ms","n":3,"m":null,"big":18446744073709551615}"#;
    assert_eq!(read("t=json:/n", document), Ok(3.0));
    assert_eq!(read("t=json:/big", document), Ok(18_446_744_073_709_551_615.0));
    assert_eq!(read("t=json:/a~1b/c/1", document), Ok(2.5));
    assert_eq!(read("t:ms:sum=json:/a~1b/c", document), Ok(0.004));
    assert_eq!(read("t:s=json:/t", document), Ok(0.0125));
    assert_eq!(read("t=json:", " 4 "), Ok(4.0));
    assert_eq!(read("t=json:/a~1b/c", document), Err(ReadingError::Several { found: 2 }));
    let not_a_number = |text: &str| Err(ReadingError::NotANumber { text: text.to_owned() });
    assert_eq!(read("t=json:/m", document), not_a_number("null"));
    assert_eq!(read("t=json:", document), not_a_number("{…}"));
    assert_eq!(read("t=json:", "[[1]]"), not_a_number("[…]"));
    assert!(matches!(read("t=json:/n", "n = 3"), Err(ReadingError::NotJson { .. })));
    assert!(matches!(read("t=json:/n", "{\"n\":3}{\"n\":3}"), Err(ReadingError::NotJson { .. })));
    assert!(matches!(read("t=json:/n", "{\"n\":NaN}"), Err(ReadingError::NotJson { .. })));
    assert!(matches!(read("t=json:/n", &"[".repeat(100_000)), Err(ReadingError::NotJson { .. })));
    assert!(matches!(read("t=json:", "[]"), Err(ReadingError::Nothing { .. })));
    let error = read("t=json:/a~1b/d", document).unwrap_err().to_string();
    assert_eq!(error, "stdout has nothing at `/a~1b/d`; at `/a~1b` is an object with c");
    let error = read("t=json:/a", "{\"b\":1}").unwrap_err().to_string();
    assert_eq!(error, "stdout has nothing at `/a`; the top level has only `b`: write `json:/b`");
    let error = read("t=json:/a", "[1]").unwrap_err().to_string();
    assert_eq!(error, "stdout has nothing at `/a`; the top level is a list of 1");
}

#[test]
fn errors_show_what_was_found_and_what_to_do() {
    let error = |text: &str, stdout: &str| read(text, stdout).unwrap_err().to_string();
    assert_eq!(
        error("t=took (.*)", "\n  hello\u{1b}[31m\n"),
        "a match of `took (.*)` was looked for, but stdout begins with `hello\\u{1b}[31m`; see what the \
         program prints with --output inherit"
    );
    assert!(error("stdout", "").contains("stdout is empty"));
    assert!(error("latency", "").contains("a value named `latency`"));
    assert!(error("t=(.*)", "1,234").starts_with("`1,234` is not a number"));
    let ungrouped = error("t:s=took [0-9.]+", "took 5");
    assert!(ungrouped.ends_with("put the number in parentheses: `took ([0-9.]+)`"), "{ungrouped}");
    assert!(error("t=(.*)", "12 ms").contains("as in `t:ms=…`"), "{}", error("t=(.*)", "12 ms"));
    assert!(error("t:s=(.*)", "12 MiB").starts_with("a number in `MiB` can't be converted to `s`"));
    assert!(error("t:1=(.*)", "12 ms").starts_with("a number in `ms` can't be converted to `1`"));
    assert!(error("t:s=(.*)", "12 mss").starts_with("a number in `mss` can't"));
    assert_eq!(read("stdout", "NaN"), Err(ReadingError::NotFinite));
    assert_eq!(read("stdout", "-inf"), Err(ReadingError::NotFinite));
    assert_eq!(read("stdout:h", "1e307"), Err(ReadingError::NotFinite));
    assert_eq!(read("t::sum=\\S+", "1e308 1e308"), Err(ReadingError::NotFinite));
    let long = error("t=(.*)", &"x".repeat(1000));
    assert!(long.starts_with(&format!("`{}…` is not a number", "x".repeat(60))), "{long}");
}

#[test]
fn output_that_is_too_long_or_not_text_is_no_trouble() {
    let long = vec![b'1'; MAX_OUTPUT + 1];
    let error = spec("stdout").read(&long, b"").unwrap_err();
    assert_eq!(error, ReadingError::TooLarge { stream: "stdout" });
    // Only the size of the stream that is read matters.
    assert!(spec("stdout").read(b"1", &long).is_ok());
    assert!(matches!(
        spec("stdout").read(b"\xff\x00\xfe", b""),
        Err(ReadingError::NotANumber { .. })
    ));
    assert_eq!(spec("t=took ([0-9]+)").read(b"\xff\xff took 3 \xff", b"").unwrap().value, 3.0);
}

proptest! {
    #[test]
    fn whatever_is_printed_reading_comes_back(
        text in "([a-z]{1,3}(:[a-z/]{0,3}){0,2}=)?\\PC{0,20}",
        stdout in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        if let Ok(parsed) = MetricSpec::parse(&text) {
            match parsed.read(&stdout, &stdout) {
                Ok(reading) => prop_assert!(reading.value.is_finite() && reading.all.iter().all(|v| v.is_finite())),
                Err(error) => prop_assert!(!error.to_string().contains(|c: char| c.is_control())),
            }
        }
    }

    #[test]
    fn what_was_printed_is_what_is_read(values in proptest::collection::vec(-1e12..1e12f64, 1..20)) {
        let output: String = values.iter().map(|value| format!("value: {value:?}\n")).collect();
        let reading = spec("v::last=^value: (.*)$").read(output.as_bytes(), b"").unwrap();
        prop_assert_eq!(Some(&reading.value), values.last());
        prop_assert!(values.len() == 1 || reading.all == values);
    }
}
