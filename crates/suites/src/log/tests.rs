//! Logs with their expected results; `rails1` has the ten rows of the article.

use super::*;
use assay_data::test_log::Level;
use proptest::prelude::*;

fn usual() -> Marker {
    Marker::new(Marker::USUAL).unwrap()
}

/// Formats the result as in the article: `%5d NAME`, most lines first.
fn plain(log: &TestLog) -> String {
    log.tests.iter().map(|test| format!("{:5} {}\n", test.lines, test.name)).collect()
}

macro_rules! cases {
    ($($name:literal),*) => {
        [$(($name, &include_bytes!(concat!("../../tests/logs/", $name, ".log"))[..],
            include_str!(concat!("../../tests/logs/", $name, ".expected")))),*]
    };
}

#[test]
fn every_log_comes_to_what_is_expected_however_it_arrives() {
    let cases =
        cases!["crlf_no_final_newline", "invalid_utf8", "no_marker", "rails1", "rails_heading"];
    for (name, bytes, expected) in cases {
        for chunk in [CHUNK, 700] {
            let log = read_in_chunks(&mut { bytes }, &usual(), chunk).unwrap();
            assert_eq!(plain(&log), expected, "{name} in chunks of {chunk}");
            assert_eq!(log.bytes, bytes.len() as u64);
        }
    }
    assert_eq!(read(&b""[..], &usual()).unwrap(), TestLog::default());
}

#[test]
fn the_statement_that_makes_the_lines_is_shown_and_an_email_is_marked() {
    let bytes = &include_bytes!("../../tests/logs/rails1.log")[..];
    let log = read(bytes, &usual()).unwrap();
    let of = |name: &str| log.tests.iter().find(|test| test.name == name).unwrap();
    let show = of("ProjectViewTest test_show");
    let text = "Project Load (#) SELECT * FROM projects WHERE (projects.id = #) LIMIT #";
    assert_eq!((show.shapes[0].lines, show.shapes[0].missed), (26, 0));
    assert!(show.shapes.iter().any(|shape| shape.text == text), "{:?}", show.shapes);
    assert_eq!(of("DummyControllerTest test_error_500").message, Some(68));
    let marked = log.tests.iter().filter(|test| test.message.is_some()).count();
    assert_eq!(marked, 1);
}

#[test]
fn a_record_of_a_logger_with_many_lines_is_one_message() {
    let mut text = String::new();
    for test in ["A one", "B two"] {
        text += &format!("D, [2026-01-31T10:00:00.000000 #42] DEBUG -- : RUNNING {test}\n");
        text += "I, [2026-01-31T10:00:00.000000 #42]  INFO -- : hello\n";
    }
    text += "W, [2026-01-31T10:00:00.000000 #42]  WARN -- : mail\n";
    text += &"line\n".repeat(20);
    let log = read(text.as_bytes(), &usual()).unwrap();
    assert_eq!(plain(&log), "   22 B two\n    1 A one\n");
    assert_eq!((log.tests[0].message, log.tests[1].message), (Some(21), None));
    assert_eq!((log.levels[2], log.levels[3], log.levels[Level::COUNT]), (2, 1, 20));
}

#[test]
fn another_marker_is_found_where_a_message_begins() {
    let text = "=== RUN   TestA\n  x\n--- PASS: TestA\nsaid === RUN   TestC\n=== RUN   TestB\ny\n";
    let log = read(text.as_bytes(), &Marker::new(r"=== RUN\s+(\S+)$").unwrap()).unwrap();
    assert_eq!(plain(&log), "    3 TestA\n    1 TestB\n");
    let log = read(text.as_bytes(), &Marker::new(r"=== RUN\s+(\S+)").unwrap()).unwrap();
    assert_eq!(plain(&log), "    3 TestA\n    1 TestB\n");
}

#[test]
fn a_line_longer_than_any_buffer_is_one_line() {
    let text =
        format!("RUNNING a\n{}\nRUNNING b\nx\n{}", "x".repeat(5000), "RUNNING c ".repeat(500));
    let log = read_in_chunks(&mut text.as_bytes(), &usual(), 64).unwrap();
    assert_eq!(log.tests.iter().map(|test| test.lines).sum::<u64>() + log.begun, 5);
}

/// Reimplements the article's script, line by line.
fn by_the_script(text: &[u8]) -> Vec<(String, u64)> {
    let mut counts: Vec<(Vec<u8>, u64)> = Vec::new();
    let mut current = Vec::new();
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n');
    for line in lines.filter(|_| !text.is_empty()) {
        let line = line::trimmed(line);
        if let Some(name) = line.strip_prefix(b"RUNNING ") {
            current = name.to_vec();
            continue;
        }
        match counts.iter_mut().find(|(name, _)| *name == current) {
            Some((_, count)) => *count += 1,
            None => counts.push((current.clone(), 1)),
        }
    }
    let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
    let mut counts: Vec<_> = counts.into_iter().map(|(name, count)| (text(name), count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

proptest! {
    #[test]
    fn any_log_comes_to_what_the_script_makes_of_it(
        lines in prop::collection::vec("( |\t)?(RUNNING [ab]|RUNNING |x|D, \\[1|'1 2|\r|.{0,12})", 0..60),
        chunk in 80usize..200,
    ) {
        let text = lines.join("\n");
        let log = read_in_chunks(&mut text.as_bytes(), &Marker::new("RUNNING ((?:.)*)").unwrap(), chunk).unwrap();
        let found: Vec<_> = log.tests.iter().map(|test| (test.name.clone(), test.lines)).collect();
        prop_assert_eq!(found, by_the_script(text.as_bytes()));
    }
}
