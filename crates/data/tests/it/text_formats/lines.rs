//! Lines of logs, read by the user's pattern and as logfmt.

use super::*;
use assay_data::Unit;

const LOG: &str = "\
level=info msg=\"request done\" duration=12.5ms path=/x status=200
level=info msg=\"request done\" duration=11ms path=/y status=200
level=warn msg=\"cache \\\"cold\\\"\"
level=info msg=\"request done\" duration=13.5ms path=/x status=200
";

fn with(text: &str, options: ImportOptions) -> Result<Samples, String> {
    let read = load_bytes(text.as_bytes().to_vec(), "app.log", &options);
    read.map_err(|error| error.to_string())
}

fn by_pattern(text: &str, pattern: &str) -> Result<Samples, String> {
    with(text, ImportOptions { pattern: Some(pattern.to_owned()), ..ImportOptions::default() })
}

fn by_keys(text: &str, value: Option<&str>, by: Option<&str>) -> Result<Samples, String> {
    let column = |text: &str| text.parse().expect("any text is a column");
    let options =
        ImportOptions { value: value.map(column), by: by.map(column), ..ImportOptions::default() };
    with(text, options)
}

#[test]
fn keys_of_logfmt_are_columns() {
    let samples = by_keys(LOG, Some("duration"), Some("path")).expect("a log");
    assert_eq!(names(&samples), ["/x", "/y"]);
    assert_eq!(metrics(&samples), ["duration [s]"]);
    assert_eq!(values(&samples, "/x", "duration"), [0.0125, 0.0135]);
    assert_eq!(codes(&samples), ["PARTLY_READ"]);
    assert_eq!(
        samples.findings[0].message,
        "lines without `duration` or `path` were skipped: 1 of 4, the first is line 3: `level=warn msg=\"cache \\\"cold\\\"\"`"
    );
    let all = by_keys(LOG, Some("duration"), None).expect("one subject");
    assert_eq!((names(&all), all.len()), (vec!["app"], 3));
    let status = by_keys(LOG, Some("5"), Some("1")).expect("by number");
    assert_eq!(metrics(&status), ["status [1]"]);
    assert_eq!(names(&status), ["info"]);
}

#[test]
fn logfmt_with_one_number_needs_no_option_and_with_several_asks() {
    let samples = by_keys("a=x t=1.5\na=y t=2.5\n", None, None).expect("one number");
    assert_eq!(values(&samples, "app", "t"), [1.5, 2.5]);
    let said = by_keys(LOG, None, None).expect_err("two numbers");
    assert!(said.starts_with("app.log:1: which key holds the values? Give `--value`"), "{said}");
    let said = by_keys("a=1 t=1.5\na=2 t=soon\n", Some("t"), None).expect_err("no number");
    assert_eq!(said, "app.log:2: `t`: `soon` is not a number");
    let said = by_keys("a=1 t=1.5ms\na=2 t=2KiB\n", Some("t"), None).expect_err("two units");
    assert!(said.contains("is in B here but in s before"), "{said}");
}

#[test]
fn a_pattern_finds_value_unit_name_and_parameters() {
    let text = "GET /x took 12.5 ms (size 10)\nstarted\nGET /x took 0.5 s (size 20)\nPUT /x took 3 ms (size 10)\n";
    let pattern = r"(?<name>[A-Z]+) \S+ took (?<value>[0-9.]+) (?<unit>\w+) \(size (?<n>\d+)\)";
    let samples = by_pattern(text, pattern).expect("three lines");
    assert_eq!(names(&samples), ["GET n=10", "GET n=20", "PUT n=10"]);
    assert_eq!(samples.rows[0].label.as_deref(), Some("GET"));
    assert_eq!(parameters(&samples, "GET n=20"), ["n=20"]);
    assert_eq!(metrics(&samples), ["value [s]"]);
    assert_eq!(values(&samples, "GET n=10", "value"), [0.0125]);
    assert_eq!(
        samples.findings[0].message,
        "lines that do not match `--pattern` were skipped: 1 of 4, the first is line 2: `started`"
    );
}

#[test]
fn a_pattern_reads_bare_numbers_in_the_unit_that_is_given() {
    let options = ImportOptions {
        pattern: Some(r"^time: (?P<value>\S+)".to_owned()),
        unit: Some("ms".to_owned()),
        metric: Some("latency".to_owned()),
        ..ImportOptions::default()
    };
    let samples = with("time: 12\ntime: 13\n", options).expect("two values");
    assert_eq!(samples.metrics[0].unit, Unit::Second);
    assert_eq!(values(&samples, "app", "latency"), [0.012, 0.013]);
    let glued = by_pattern("time: 12us\n", r"time: (?<value>\S+)").expect("with its unit");
    assert_eq!(values(&glued, "app", "value"), [12.0 / 1e6]);
}

#[test]
fn patterns_that_cannot_be_used_are_told() {
    let said = by_pattern("a\n", "(").expect_err("not closed");
    assert!(said.starts_with("`--pattern`: regex parse error"), "{said}");
    let said = by_pattern("a\n", r"(\d+)").expect_err("no name");
    assert!(
        said.contains("a group named `value`") && said.contains("has no named group"),
        "{said}"
    );
    let said = by_pattern("first line\n2\n", "x(?<value>.)").expect_err("no match");
    assert_eq!(
        said,
        "`app.log`: no line matches `x(?<value>.)`; the first, line 1, is `first line`"
    );
    let said = by_pattern("t=soon\n", "t=(?<value>.+)").expect_err("no number");
    assert_eq!(said, "app.log:1: `soon` is not a number");
}

proptest! {
    #[test]
    fn no_line_makes_a_pattern_fall_over(text in "(.{0,30}\n){0,5}", by in 1..4usize) {
        let pattern = r"(?<name>\pL+)?.*?(?<value>[-0-9.e]+)(?<unit>[a-zµ]+)?";
        let _may_be_refused = by_pattern(&text, pattern);
        let number = by.to_string();
        let _may_be_refused = by_keys(&format!("a=1 b=x c=3\n{text}"), Some("1"), Some(&number));
    }
}
