//! Tests of the whole format: written data read back unchanged, and damage is refused or reported,
//! never silently ignored.
#![allow(clippy::unwrap_used)]

use super::any::any_samples;
use super::*;
use crate::{
    Finding, Inner, Metric, Observation, Outcome, Plan, Samples, Severity, StopReason, Subject,
    Threshold, Unit,
};
use proptest::prelude::*;
use std::io::Cursor;

const HEAD: &str = concat!(
    r#"{"assay":1,"kind":"run","tool":"assay 0.1.0"}"#,
    "\n",
    r#"{"kind":"side","name":"old"}"#,
    "\n",
    r#"{"kind":"row"}"#,
    "\n",
    r#"{"kind":"subject","side":0,"row":0,"name":"old"}"#,
    "\n",
    r#"{"kind":"metric","name":"wall","unit":"s"}"#,
    "\n",
);

fn read_text(text: &str) -> Result<Samples, crate::ReadError> {
    read_bytes(text.as_bytes().to_vec())
}

fn read_bytes(bytes: Vec<u8>) -> Result<Samples, crate::ReadError> {
    read_from(Cursor::new(bytes), "x.assay")
}

/// Returns the error for a file that has these lines after a head of five.
fn refused(lines: &str) -> String {
    read_text(&format!("{HEAD}{lines}")).unwrap_err().to_string()
}

fn written(samples: &Samples) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(samples, &mut bytes).unwrap();
    bytes
}

fn small_run() -> Samples {
    let mut samples = Samples::new(vec![Metric::wall(), Metric::lower("max_rss", Unit::Byte)]);
    samples.plan = Some(Plan::sequential(0.95, Threshold::Relative(0.01), 7));
    samples.tool = Some("assay 0.1.0".to_owned());
    samples.started = Some("2026-11-20T10:00:00Z".to_owned());
    samples.argv = vec!["assay".to_owned(), "run".to_owned(), "sort \"a\"".to_owned()];
    samples.environment.set("cpus", 2);
    for name in ["sort-old", "sört \"new\"\n"] {
        samples.add_command(Subject {
            command: Some(name.to_owned()),
            ..Subject { name: name.into(), ..Subject::default() }
        });
    }
    for block in 0..3 {
        for position in 0..2 {
            samples.push(Observation {
                subject: (position as usize + block as usize) % 2,
                pass: None,
                block: Some(block),
                position: Some(position),
                level: vec![0, block],
                time: Some(0.1 * f64::from(2 * block + position)),
                outcome: if block == 2 { Outcome::Exit(3) } else { Outcome::Ok },
                values: vec![
                    0.812 + f64::from(block) / 7.0,
                    if block == 1 { f64::NAN } else { 4096.0 },
                ],
            });
        }
    }
    samples.findings.push(
        Finding::new(crate::code::TIMEOUTS, "1 of 6 ran out of time")
            .at(Severity::Note)
            .about("sort-old")
            .with("runs", 1.0),
    );
    samples.stop = Some(StopReason::Clear);
    samples
}

/// Asserts equality, with missing values equal to each other.
fn assert_same(left: &Samples, right: &Samples) {
    assert_eq!(format!("{left:?}"), format!("{right:?}"));
}

#[test]
fn a_run_is_read_as_it_was_written() {
    let samples = small_run();
    assert_same(&read_bytes(written(&samples)).unwrap(), &samples);
}

#[test]
fn scans_control_and_inner_values_are_read_as_they_were_written() {
    let mut samples = small_run();
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let subject = &mut samples.subjects[1];
    subject.parameters = vec![("n".to_owned(), "4".into()), ("how".to_owned(), "fast".into())];
    subject.against = Some(1);
    subject.jobs = Some(2);
    subject.control = pair("fifo", "10");
    subject.files = pair("/bin/sort", "sha256:00");
    samples.inner =
        vec![Inner { subject: 1, block: 2, metric: "wall".to_owned(), values: vec![0.25, 0.5] }];
    assert_same(&read_bytes(written(&samples)).unwrap(), &samples);
    assert_eq!((samples.reference_of(0), samples.reference_of(1)), (None, None));
    let text = String::from_utf8(written(&samples)).unwrap();
    assert!(text.contains(r#""side":1,"row":0,"parameters":[["n",4],["how","fast"]],"#), "{text}");
    let unknown = r#"{"kind":"values","subject":0,"block":0,"metric":"nap","values":[1]}"#;
    assert!(refused(unknown).contains("`nap`, which is not declared"));
}

#[test]
fn records_look_as_they_are_specified() {
    let text = String::from_utf8(written(&small_run())).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(
        r#"{"assay":1,"kind":"run","tool":"assay 0.1.0","time":"2026-11-20T10:00:00Z","seed":7,"argv":["assay","run","sort \"a\""],"plan":{"#
    ));
    assert_eq!(lines[1], r#"{"kind":"environment","cpus":2}"#);
    assert_eq!(lines[2], r#"{"kind":"side","name":"sort-old","command":"sort-old"}"#);
    assert_eq!(lines[4], r#"{"kind":"row","name":""}"#);
    assert_eq!(
        lines[5],
        r#"{"kind":"subject","side":0,"row":0,"name":"sort-old","command":"sort-old"}"#
    );
    assert_eq!(lines[7], r#"{"kind":"metric","name":"wall","unit":"s","better":"lower"}"#);
    assert_eq!(
        lines[9],
        r#"{"kind":"obs","subject":0,"block":0,"pos":0,"level":[0,0],"t":0,"values":{"wall":0.812,"max_rss":4096}}"#
    );
    assert!(lines[13].contains(r#""outcome":{"exit":3},"values":{"#));
    assert_eq!(*lines.last().unwrap(), r#"{"kind":"stop","reason":"clear","blocks":3}"#);
    for line in lines {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn every_record_reaches_the_sink_whole_and_at_once() {
    struct Calls(Vec<Vec<u8>>);
    impl std::io::Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let samples = small_run();
    let mut calls = Calls(Vec::new());
    write(&samples, &mut calls).unwrap();
    assert_eq!(calls.0.len(), 1 + 1 + 2 + 1 + 2 + 2 + 6 + 1 + 1);
    assert!(calls.0.iter().all(|call| call.ends_with(b"}\n")));
}

#[test]
fn the_writer_refuses_what_was_not_declared() {
    let mut declared = Samples::new(vec![Metric::wall()]);
    declared.add_subject("a");
    let mut writer = Writer::start(Vec::new(), &Header::default(), &declared).unwrap();
    let unknown = Observation { subject: 1, values: vec![1.0], ..Observation::default() };
    assert_eq!(writer.observe(&unknown).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    let wide = Observation { values: vec![1.0, 2.0], ..Observation::default() };
    assert!(writer.observe(&wide).is_err());
    writer.metric(&Metric::lower("cpu", Unit::Second)).unwrap();
    writer.observe(&wide).unwrap();
    let samples = read_bytes(writer.into_inner()).unwrap();
    assert_eq!(samples.series(0, 1).values, [2.0]);
}

#[test]
fn a_resumed_run_goes_on_where_it_was_cut() {
    let whole = written(&small_run());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.assay");
    let next =
        Observation { subject: 1, block: Some(9), values: vec![1.0], ..Observation::default() };
    let header_length = whole.iter().position(|&b| b == b'\n').unwrap();
    for cut in whole.len() - 300..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (samples, mut writer) = resume(&path).unwrap();
        writer.observe(&next).unwrap();
        writer.stop(StopReason::Budget, 10).unwrap();
        let again = read(&path).unwrap();
        assert_eq!(again.len(), samples.len() + 1, "cut at {cut}");
        assert_eq!(again.stop, Some(StopReason::Budget));
        assert!(again.findings.iter().all(|finding| !finding.is(TRUNCATED_FILE)));
    }
    std::fs::write(&path, &whole[..header_length]).unwrap();
    assert!(resume(&path).unwrap().0.is_empty());
}

/// Returns an observation of the first subject in a block.
fn in_block(block: u32) -> Observation {
    Observation { block: Some(block), values: vec![1.0], ..Observation::default() }
}

#[test]
fn a_run_that_crashes_and_is_resumed_again_and_again_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.assay");
    std::fs::write(&path, HEAD).unwrap();
    for time in 0..4 {
        let (samples, mut writer) = resume(&path).unwrap();
        assert_eq!(samples.len(), 2 * time as usize, "resumed {time} times before");
        writer.observe(&in_block(2 * time)).unwrap();
        // When a run is continued, the findings of reading are recorded, including this one.
        for finding in &samples.findings {
            writer.finding(finding).unwrap();
        }
        writer.finding(&Finding::new(crate::code::RESUMED, "gone on")).unwrap();
        writer.observe(&in_block(2 * time + 1)).unwrap();
        let mut file = writer.into_inner();
        std::io::Write::write_all(&mut file, br#"{"kind":"obs","subj"#).unwrap();
    }
    let samples = read(&path).unwrap();
    assert_eq!(samples.len(), 8);
    let codes: Vec<&str> = samples.findings.iter().map(|f| f.code.as_str()).collect();
    // Only the truncation that exists now is reported.
    assert_eq!(codes.iter().filter(|&&code| code == TRUNCATED_FILE.name).count(), 1, "{codes:?}");
}

#[test]
fn a_break_that_stands_recorded_in_a_file_cuts_nothing_and_is_not_told() {
    let recorded = format!(
        r#"{{"kind":"finding","code":"TRUNCATED_FILE","severity":"warning","message":"x","evidence":{{"complete_bytes":{}.0,"lost_bytes":9.0}}}}"#,
        HEAD.len()
    );
    let first = r#"{"kind":"obs","subject":0,"block":0,"values":{"wall":1}}"#;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.assay");
    for end in ["", "\n", "\n{\"kind\":\"obs\",\"sub"] {
        let text = format!("{HEAD}{first}\n{recorded}{end}");
        std::fs::write(&path, &text).unwrap();
        let told = read(&path).unwrap().findings.len();
        assert_eq!(told, usize::from(end.len() > 1));
        let (samples, mut writer) = resume(&path).unwrap();
        assert_eq!(samples.len(), 1);
        writer.observe(&in_block(1)).unwrap();
        let now = std::fs::read_to_string(&path).unwrap();
        assert!(now.starts_with(&format!("{HEAD}{first}\n{recorded}\n")), "{now}");
        assert_eq!(read(&path).unwrap().len(), 2);
    }
}

#[test]
fn a_compressed_run_cannot_be_resumed() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, HEAD.as_bytes()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.assay.gz");
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    assert!(
        resume(&path).err().unwrap().to_string().ends_with("cannot be continued; unpack it first")
    );
}

#[test]
fn a_stop_before_further_observations_is_forgotten() {
    let text = format!(
        "{HEAD}{}\n{}\n",
        r#"{"kind":"stop","reason":"budget","blocks":0}"#,
        r#"{"kind":"obs","subject":0,"values":{}}"#
    );
    assert_eq!(read_text(&text).unwrap().stop, None);
}

#[test]
fn unknown_kinds_and_members_are_skipped() {
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    let text = format!(
        "{HEAD}{}\n\n{}\n{}\r\n",
        format_args!(r#"{{"kind":"weather","deep":{deep}}}"#),
        r#"{"mood":"good","values":{"wall":1e-3},"kind":"obs","subject":0}"#,
        r#"{"kind":"tides","answered":7}"#
    );
    let samples = read_text(&text).unwrap();
    assert_eq!(samples.series(0, 0).values, [0.001]);
}

#[test]
fn the_last_line_may_lack_its_line_feed() {
    let text = format!("{HEAD}{}", r#"{"kind":"obs","subject":0,"values":{"wall":2}}"#);
    let samples = read_text(&text).unwrap();
    assert_eq!(samples.len(), 1);
    assert!(samples.findings.is_empty());
}

#[test]
fn a_broken_last_line_is_reported_with_what_was_lost() {
    let samples =
        read_text(&format!("{HEAD}{}", r#"{"kind":"obs","subject":0,"values":{"wa"#)).unwrap();
    assert_eq!(samples.findings.len(), 1);
    let finding = &samples.findings[0];
    assert_eq!((finding.code.as_str(), finding.severity), (TRUNCATED_FILE.name, Severity::Warning));
    assert!(
        finding.message.starts_with("x.assay:6: the last record breaks off"),
        "{}",
        finding.message
    );
    let lengths =
        [("complete_bytes".to_owned(), HEAD.len() as f64), ("lost_bytes".to_owned(), 39.0)];
    assert_eq!(finding.evidence, lengths);
}

#[test]
fn a_file_that_is_none_is_told_so() {
    let message = |text: &str| read_text(text).unwrap_err().to_string();
    assert_eq!(
        message(""),
        "`x.assay` is empty; expected a sample file, as `assay run --save` writes it"
    );
    assert!(message("hello\n").starts_with("x.assay:1: expected the header of a sample file"));
    assert!(
        message("{\"kind\":\"obs\"}\n").ends_with("but the line begins with `{\"kind\":\"obs\"}`")
    );
    assert_eq!(
        message("{\"assay\":2,\"kind\":\"run\",\"plan\":[]}\n"),
        "`x.assay` was written by a later assay (version 2); this one reads version 1: update assay to read it"
    );
    assert!(message("{\"assay\":\"1\"}\n").contains("should be 1, not \"1\""));
    assert!(message("{\"assay\":1,\"ki").contains("the header breaks off"));
    assert!(
        message("{\"assay\":1,\"plan\":{\"seed\":1}}\n")
            .starts_with("x.assay:1:28: missing field `confidence`")
    );
}

#[test]
fn a_wrong_line_is_named_with_its_place_and_what_was_expected() {
    let cases = [
        (
            r#"{"kind":"obs","subject":1,"values":{}}"#,
            "x.assay:6:25: subject 1 is not declared: 1 are, numbered from 0 to 0",
        ),
        (r#"{"kind":"obs","subject":0,"values":{"cpu":1}}"#, "metric `cpu` is not declared"),
        (
            r#"{"kind":"obs","subject":0,"values":{"wall":NaN}}"#,
            "x.assay:6:44: not a finite number",
        ),
        (r#"{"kind":"obs","subject":0,"values":{"wall":-Infinity}}"#, "not a finite number"),
        (r#"{"kind":"obs","subject":0,"values":{"wall":1e999}}"#, "too large for a double"),
        (
            r#"{"kind":"obs","subject":0,"values":{"wall":"1"}}"#,
            "expected a finite number as the value of `wall`",
        ),
        (
            r#"{"kind":"obs","subject":0,"values":{"wall":null}}"#,
            "expected a finite number as the value of `wall`",
        ),
        (r#"{"kind":"obs","subject":0,"values":{"wall":1,"wall":2}}"#, "`wall` has two values"),
        (r#"{"kind":"obs","values":{}}"#, "missing field `subject`"),
        (r#"{"kind":"obs","subject":0}"#, "missing field `values`"),
        (
            r#"{"kind":"obs","subject":0,"block":4294967295,"values":{}}"#,
            "`block` is at most 4294967294",
        ),
        (
            r#"{"kind":"obs","subject":0,"block":-1,"values":{}}"#,
            "invalid value: integer `-1`, expected u32",
        ),
        (
            r#"{"kind":"metric","name":"wall","unit":"B"}"#,
            "metric `wall` is declared in B here but in s before",
        ),
        (r#"{"kind":"side","name":"old"}"#, "side `old` is declared twice"),
        (r#"{"kind":"row","name":""}"#, "row `` is declared twice"),
        (
            r#"{"kind":"subject","side":0,"row":0,"name":"old","parameters":[["n",1]]}"#,
            "subject `old` is declared twice",
        ),
        (
            r#"{"kind":"subject","side":7,"row":0,"name":"new"}"#,
            "subject `new` is of side 7, which is not declared: 1 are, numbered from 0 to 0",
        ),
        (r#"{"kind":"subject","name":"new"}"#, "missing field `side`"),
        (
            r#"{"kind":"subject","side":0,"row":0,"name":"new","parameters":[["n",[]]]}"#,
            "the value of a parameter, a number or a text",
        ),
        (
            r#"{"kind":"obs","subject":0,"pass":"nap","values":{}}"#,
            "unknown variant `nap`, expected one of `allocations`, `instructions`, `exact`, `counters`",
        ),
        (r#"{"assay":1,"kind":"run"}"#, "a second header"),
        (r#"{"kind":"obs","subject":0,"values":{}"#, "breaks off before the end of its line"),
        (r#"{"subject":0}"#, "missing field `kind`"),
        (r#"["subject"]"#, "expected one record, a JSON object, not `[\"subject\"]`"),
        ("hello", "expected one record, a JSON object, not `hello`"),
        (r#"{"kind":"obs","subject":0,"values":{}} {}"#, "not JSON (trailing characters)"),
        (r#"{"kind":"stop","reason":"tired"}"#, "unknown variant `tired`"),
    ];
    for (line, expected) in cases {
        let message = refused(&format!("{line}\n"));
        assert!(message.contains(expected), "{line}: {message}");
        assert!(message.starts_with("x.assay:6:"), "{message}");
    }
}

#[test]
fn one_subject_twice_in_a_block_is_refused() {
    let obs = |block: u32| {
        format!("{{\"kind\":\"obs\",\"subject\":0,\"block\":{block},\"values\":{{}}}}\n")
    };
    let message = refused(&(obs(2) + &obs(0) + &obs(1) + &obs(2)));
    assert!(
        message.starts_with("x.assay:9: subject 0 (`old`) has a second observation in block 2"),
        "{message}"
    );
    assert!(refused(&(obs(0) + &obs(0))).contains("x.assay:7"));
}

#[test]
fn wrong_bytes_and_deep_nesting_are_refused_with_their_place() {
    let mut bytes = HEAD.as_bytes().to_vec();
    bytes.extend_from_slice(b"{\"kind\":\"subject\",\"name\":\"\xff\"}\n");
    assert!(
        read_bytes(bytes)
            .unwrap_err()
            .to_string()
            .starts_with("x.assay:6:27: this byte is not UTF-8")
    );
    let deep =
        format!("{{\"kind\":\"environment\",\"x\":{}}}\n", "[".repeat(5000) + &"]".repeat(5000));
    assert!(refused(&deep).contains("nested more than 100 deep"));
}

#[test]
fn compressed_files_are_known_by_content_and_a_cut_is_an_error() {
    let samples = small_run();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &written(&samples)).unwrap();
    let packed = encoder.finish().unwrap();
    assert_same(&read_bytes(packed.clone()).unwrap(), &samples);
    let message = read_bytes(packed[..packed.len() / 2].to_vec()).unwrap_err().to_string();
    assert_eq!(
        message,
        "`x.assay` is compressed and breaks off before its end; compress or fetch it again"
    );
}

#[test]
fn a_file_that_is_cut_anywhere_keeps_every_complete_record() {
    let whole = written(&small_run());
    let header_length = whole.iter().position(|&b| b == b'\n').unwrap();
    for cut in 0..whole.len() {
        let read = read_bytes(whole[..cut].to_vec());
        if cut < header_length {
            assert!(read.is_err(), "cut in the header at {cut}");
            continue;
        }
        let samples = read.unwrap();
        // A record is complete if it ends with its closing brace, even without a line feed.
        let complete = whole[..cut].split(|&b| b == b'\n').filter(|line| {
            line.starts_with(b"{\"kind\":\"obs\"")
                && line.ends_with(b"}}")
                && serde_json::from_slice::<serde_json::Value>(line).is_ok()
        });
        assert_eq!(samples.len(), complete.count(), "cut at {cut}");
        let tail = whole[..cut].rsplit(|&b| b == b'\n').next().unwrap();
        let is_partial =
            !tail.is_empty() && serde_json::from_slice::<serde_json::Value>(tail).is_err();
        let reported = samples.findings.iter().filter(|f| f.is(TRUNCATED_FILE)).count();
        assert_eq!(reported, usize::from(is_partial), "cut at {cut}");
    }
}

proptest! {
    #[test]
    fn writing_then_reading_changes_no_bit(samples in any_samples()) {
        let back = read_bytes(written(&samples)).unwrap();
        // Debug text distinguishes 0 from -0, and treats missing values alike.
        prop_assert_eq!(format!("{back:?}"), format!("{samples:?}"));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_bytes(bytes);
    }

    #[test]
    fn no_damage_to_a_file_makes_the_reader_panic(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = written(&small_run());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read_bytes(bytes);
    }
}

#[test]
fn the_example_of_the_specification_is_what_is_written_and_read() {
    let page = include_str!("../../../../docs/reference/sample-file.md");
    let example = page.split("```jsonl\n").nth(1).unwrap().split("```").next().unwrap();
    let samples = read_text(example).unwrap();
    assert_eq!((samples.len(), samples.complete_blocks(0).len()), (4, 2));
    assert_eq!(String::from_utf8(written(&samples)).unwrap(), example);
}
