//! Tests of importing from the user's point of view: files of every kind, alone and together, good
//! and bad, with the messages.
#![allow(clippy::unwrap_used, clippy::panic)]

mod recognition;

use super::*;
use crate::assay_file::{self, write};
use crate::{Design, Environment, Metric, Observation, Outcome, Unit};
use proptest::prelude::*;
use std::path::PathBuf;

fn bytes(text: impl AsRef<[u8]>, options: &ImportOptions) -> Result<Samples, ImportError> {
    load_bytes(text.as_ref().to_vec(), "data.txt", options)
}

fn plain(text: impl AsRef<[u8]>) -> Samples {
    bytes(text, &ImportOptions::default()).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    bytes(text, &ImportOptions::default()).unwrap_err().to_string()
}

fn options(by: Option<&str>, value: Option<&str>, unit: Option<&str>) -> ImportOptions {
    let column = |text: &str| text.parse().unwrap();
    ImportOptions {
        by: by.map(column),
        value: value.map(column),
        unit: unit.map(str::to_owned),
        ..ImportOptions::default()
    }
}

fn names(samples: &Samples) -> Vec<&str> {
    samples.subjects.iter().map(|subject| subject.name.as_str()).collect()
}

/// A directory with test files.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        Self(directory)
    }

    fn load(&self, names: &[&str], options: &ImportOptions) -> Result<Samples, ImportError> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.0.path().join(name)).collect();
        load(&paths, options)
    }

    /// Returns the error message, without the directory.
    fn refused(&self, names: &[&str]) -> String {
        let message = self.load(names, &ImportOptions::default()).unwrap_err().to_string();
        message.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn run(metrics: Vec<Metric>, subjects: &[&str], blocks: u32) -> Vec<u8> {
    let mut samples = Samples::new(metrics);
    for name in subjects {
        samples.add_subject(name);
    }
    for block in 0..blocks {
        for subject in 0..subjects.len() {
            let values =
                (0..samples.metrics.len()).map(|m| 1.0 + m as f64 + f64::from(block)).collect();
            samples.push(Observation {
                subject,
                block: Some(block),
                values,
                ..Observation::default()
            });
        }
    }
    let mut bytes = Vec::new();
    write(&samples, &mut bytes).unwrap();
    bytes
}

#[test]
fn one_number_a_line_is_one_subject_named_after_its_file() {
    let samples = plain("# governor: performance\n\n1.5\r\n 2e-3 # warm\n+3\n");
    assert_eq!(names(&samples), ["data"]);
    assert_eq!(samples.series(0, 0).values, [1.5, 0.002, 3.0]);
    assert_eq!(samples.metrics, [Metric::lower("value", Unit::One)]);
    assert_eq!(samples.design(), Design::Unpaired);
    assert_eq!(samples.environment.text("file.governor"), Some("performance"));
    assert_eq!(plain("\u{feff}1\r\n2\r\n").series(0, 0).values, [1.0, 2.0]);
    assert_eq!(plain("1").len(), 1);
}

#[test]
fn a_name_above_a_single_column_names_the_metric() {
    let samples = plain("seconds\n1\n2\n");
    assert_eq!(samples.metrics[0].name, "seconds");
    assert_eq!(samples.len(), 2);
    let named = ImportOptions { metric: Some("wall".into()), ..options(None, None, Some("ms")) };
    let samples = bytes("seconds\n250\n", &named).unwrap();
    assert_eq!(samples.metrics[0], Metric::wall());
    assert_eq!(samples.series(0, 0).values, [0.25]);
}

#[test]
fn words_above_a_single_column_are_one_name_and_above_several_columns_names_of_each() {
    let samples = plain("# built from main\nmy wall\n\n1\n2 # warm\n3\n");
    assert_eq!(samples.metrics[0].name, "my wall");
    assert_eq!((names(&samples), samples.len()), (vec!["data"], 3));
    assert_eq!(names(&plain("my wall\n1 2\n")), ["my", "wall"]);
    assert!(refused("my wall\n1\n2 3\n").starts_with("data.txt:3:3: a second column"));
    assert_eq!(refused("my wall\n1\nx\n"), "data.txt:3:1: `x` is not a number");
}

#[test]
fn of_several_columns_one_must_be_named() {
    let table = "1 10\n2 20\n";
    assert_eq!(
        refused(table),
        "data.txt:1: 2 columns and no header that names them; give the column of the values with `--value`, and that of the subjects with `--by`"
    );
    let second = ImportOptions { column: Some(2), ..ImportOptions::default() };
    assert_eq!(bytes(table, &second).unwrap().series(0, 0).values, [10.0, 20.0]);
    let third = ImportOptions { column: Some(3), ..ImportOptions::default() };
    let message = bytes(table, &third).unwrap_err().to_string();
    assert_eq!(message, "data.txt:1: there is no column 3; the columns: 1 (`1`), 2 (`10`)");
    let zero = ImportOptions { column: Some(0), ..ImportOptions::default() };
    assert!(bytes(table, &zero).unwrap_err().to_string().contains("no column 0"));
    assert!(
        bytes("1 2\n3\n", &second)
            .unwrap_err()
            .to_string()
            .starts_with("data.txt:2:1: this line has no column 2")
    );
    assert!(refused("1\n2\n3 4\n").starts_with("data.txt:3:3: a second column"));
}

#[test]
fn a_wide_table_has_a_subject_per_column() {
    for text in
        ["old,new\n1,2\n3,4\n,5\n", "old;new\n1;2\n3;4\n;5\n", "old\tnew\n1\t2\n3\t4\n\t5\n"]
    {
        let samples = plain(text);
        assert_eq!(names(&samples), ["old", "new"]);
        assert_eq!(samples.series(0, 0).values, [1.0, 3.0]);
        assert_eq!(samples.series(1, 0).values, [2.0, 4.0, 5.0]);
        assert_eq!(samples.design(), Design::Unpaired);
    }
    assert_eq!(names(&plain("4 threads;8 threads\n1;2\n")), ["4 threads", "8 threads"]);
    assert_eq!(names(&plain("old new\n1 2\n")), ["old", "new"]);
    assert_eq!(names(&plain("\"sort, stable\",b\n1,2\n")), ["sort, stable", "b"]);
    assert_eq!(refused("a,b\n1,2\n1,2,3\n"), "data.txt:3: this row has 3 columns, the header 2");
    assert_eq!(refused("a,a\n1,2\n"), "data.txt:1: two columns are named `a`");
    assert_eq!(refused("a,\n1,2\n"), "data.txt:1: column 2 has no name in the header");
}

#[test]
fn a_table_may_have_every_cell_in_quotes() {
    let wide = plain("\"a\",\"b\"\n\"1\",\"2\"\n\"3\",\"4\"\n");
    assert_eq!((names(&wide), wide.series(1, 0).values), (vec!["a", "b"], vec![2.0, 4.0]));
    let long = bytes(
        "\"name\";\"ms\"\n\"x, y\";\"1.5\"\n",
        &options(Some("name"), Some("ms"), Some("ms")),
    );
    assert_eq!(names(&long.unwrap()), ["x, y"]);
    for text in ["\"time\"\n\"1.5\"\n\"2\"\n", "\"1.5\"\n\"2\"\n"] {
        assert_eq!(plain(text).series(0, 0).values, [1.5, 2.0]);
    }
    assert!(refused("\"a\",\"b\"\n\"c\",\"d\"\n").contains("format"));
}

#[test]
fn a_long_table_has_a_subject_per_name_in_order_of_appearance() {
    let with_header = "id,type,ns\n1,map,1500\n2,array,7\n3,map,2\n";
    let samples = bytes(with_header, &options(Some("type"), Some("ns"), Some("ns"))).unwrap();
    assert_eq!(names(&samples), ["map", "array"]);
    assert_eq!(samples.series(0, 0).values, [1.5e-6, 2e-9]);
    assert_eq!(samples.metrics[0], Metric::lower("value", Unit::Second));
    let text = "# runs: 3\nmap,1500\narray,7\n# cpu: old\nmap,2\n";
    let samples = bytes(text, &options(Some("1"), Some("2"), Some("ns"))).unwrap();
    assert_eq!(samples.series(0, 0).values, [1.5e-6, 2e-9]);
    assert_eq!(samples.metrics[0].name, "value");
    assert_eq!(samples.environment.text("file.cpu"), Some("old"));
    // With two columns, the values must be taken from the selected one.
    assert_eq!(bytes(text, &options(Some("1"), None, None)).unwrap().len(), 3);
    let message =
        bytes(with_header, &options(Some("kind"), Some("ns"), None)).unwrap_err().to_string();
    assert_eq!(
        message,
        "data.txt:1: there is no column `kind`; the columns: 1 (`id`), 2 (`type`), 3 (`ns`)"
    );
    let message = bytes(with_header, &options(Some("type"), None, None)).unwrap_err().to_string();
    assert!(
        message.contains("which column contains the values? Give it with `--value`"),
        "{message}"
    );
    let blanks = bytes("map 5\narray 6\n", &options(Some("1"), Some("2"), None)).unwrap();
    assert_eq!(names(&blanks), ["map", "array"]);
    let one = bytes("i,wall\n1,0.5\n2,0.25\n", &options(None, Some("wall"), None)).unwrap();
    assert_eq!((names(&one), one.metrics[0].name.as_str()), (vec!["data"], "wall"));
}

#[test]
fn a_long_table_read_as_a_wide_one_says_which_options_to_give() {
    let message = refused("book,ns\narray,5\n");
    assert_eq!(
        message,
        "data.txt:2: column 1: `array` is not a number; `--by book --value ns` reads this file"
    );
}

#[test]
fn comments_longer_than_the_buffer_do_not_hide_the_numbers() {
    let text = "# a long note about nothing\n".repeat(20_000) + "1\n2\n";
    let samples = plain(&text);
    assert_eq!(samples.len(), 2);
    assert_eq!(samples.environment.number("file.comments_left_out"), Some(10_000.0));
}

#[test]
fn bad_lines_are_named_with_place_and_cure() {
    assert_eq!(
        refused("12.5\n12,3\n"),
        "data.txt:2: `12,3` has a decimal comma, but `12.5` in the same file has a decimal point; write all numbers with a point"
    );
    assert!(
        refused("12,3\n12,4\n")
            .ends_with("if this is one number with a decimal comma, write it with a point: `12.3`")
    );
    assert!(refused("a;b\n1,5;2.5\n").starts_with("data.txt:2: `1,5` has a decimal comma, but"));
    assert!(refused("1\n\n  nan\n").starts_with("data.txt:3:3: `nan` is not a finite number"));
    assert!(refused("1\n-inf\n").starts_with("data.txt:2:1: `-inf` is not a finite number"));
    assert!(
        refused("a,b\n1,2\n3,1e999\n").starts_with("data.txt:3: column 2: `1e999` is too large")
    );
    assert!(refused("250ms\n").contains("give `--unit ms`"));
    assert!(refused("1\n2\nthree\n").starts_with("data.txt:3:1: `three` is not a number"));
    assert!(refused(b"1\n2\n\xff\n").starts_with("data.txt:3:1: this byte is not UTF-8"));
    assert!(refused(b"a,b\n1,2\n1,\xff\n").starts_with("data.txt:3:3: this byte is not UTF-8"));
    let long = bytes("a,1\nb\n", &options(Some("1"), Some("2"), None)).unwrap_err().to_string();
    assert_eq!(long, "data.txt:2: this row has 1 column; expected a value in column 2");
}

#[test]
fn files_without_numbers_are_told_what_they_hold() {
    assert_eq!(
        refused(""),
        "`data.txt` is empty; expected numbers, one a line, or another known format"
    );
    assert_eq!(refused("# a\n\n"), "`data.txt` contains no numbers, only comments and blank lines");
    assert_eq!(refused("\n\n"), "`data.txt` contains no numbers, only blank lines");
    assert_eq!(refused("a,b\n"), "`data.txt` contains no numbers, only a header");
    assert_eq!(refused(b"\x01\x7f\0\0\0"), "`data.txt` is binary; expected text");
    assert!(refused(b"\x7fELF\0\0\0").contains("is a program; to measure it, use `assay run`"));
    assert!(refused(b"\x89PNG\r\n\x1a\n").contains("is an image (PNG)"));
    assert!(refused(b"\xff\xfe1\0").contains("UTF-16"));
    assert!(refused(b"1\0\n\x002\0\n\0").contains("UTF-16"));
    assert!(refused(b"(\xb5/\xfd").contains("zstd; unpack it first"));
}

#[test]
fn a_file_of_no_known_format_is_answered_with_what_it_is_and_what_is_known() {
    let seen = |text: &str| {
        let said = refused(text);
        let (seen, known) = said.split_once("; its format is unknown. Known formats:\n").unwrap();
        assert_eq!(known.lines().count(), 6, "{known}");
        seen.to_owned()
    };
    let json = "`data.txt` is JSON with the keys `results`";
    assert_eq!(seen("{\n  \"results\": [\n 1, 2]}\n"), json);
    assert_eq!(seen("{\"results\":[{\"times\":[1,2]}]}"), json);
    assert_eq!(seen("{\"a\": [1, 2, {}], \"b\": tru"), "`data.txt` is JSON with the keys `a`, `b`");
    let list = "`data.txt` is a JSON list whose first object has the keys `x`, `y\\u{1b}`";
    assert_eq!(seen("[{\"x\":1,\"y\\u001b\":2},{\"z\":3}]"), list);
    let many: String = (0..20).map(|n| format!("\"k{n}\":{n},")).collect();
    assert!(seen(&format!("{{{many}\"z\":0}}")).ends_with("`k6`, `k7` and 13 more"));
    assert_eq!(seen("{"), "`data.txt` begins with `{`");
    assert_eq!(seen("[[1]]"), "`data.txt` begins with `[[1]]`");
    let xml = "<?xml version=\"1.0\"?>\n<!-- a -->\n<results time=\"1\"/>\n";
    assert_eq!(
        seen("<results time=\"1\" n=\"2\"/>\n"),
        "`data.txt` is XML with the root element `<results>`"
    );
    for report in [
        "<TestRun id=\"1\" xmlns=\"http://microsoft.com/schemas/VisualStudio/TeamTest/2010\">",
        "<assemblies timestamp=\"1\">",
        "<test-run id=\"0\">",
    ] {
        let said = refused(format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n{report}\n"));
        assert!(said.contains("`dotnet test --logger junit`"), "{said}");
    }
    for empty in ["[{},{}]\n", "[{}, {}]", "[{}]"] {
        assert!(refused(empty).contains("bench.tasks.map("), "{empty}");
    }
    let jmh = "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Unit\",\"Param: n\"\n\"a\",\"avgt\",1,5,2,\"us/op\",10\n";
    assert!(refused(jmh).contains("`-rf json -rff FILE`"));
    assert_eq!(seen(xml), "`data.txt` is XML with the root element `<results>`");
    assert_eq!(seen("<!DOCTYPE html>\n<HTML lang=en>"), "`data.txt` is an HTML page");
    assert!(seen("#include <stdio.h>\nint main(void)\n{\n}\n").contains("source of a program"));
    assert!(seen("fn main() {\n}\n").contains("source of a program"));
    for prose in [
        "------\nfoo\n",
        "We ran it 3 times.\nThe rest follows.\n",
        "Dear reader, hello\nhow, are you?\n",
    ] {
        assert!(seen(prose).starts_with("`data.txt` begins with `"), "{prose}");
    }
}

#[test]
fn a_directory_and_a_missing_file_are_answered_with_help() {
    let files =
        Files::new(&[("results.txt", b"1\n"), ("results-new.txt", b"1\n"), ("other", b"1\n")]);
    assert_eq!(
        files.refused(&["result.txt"]),
        "`result.txt` does not exist; did you mean `results.txt`?"
    );
    std::fs::create_dir(files.0.path().join("none")).unwrap();
    assert!(files.refused(&["none"]).contains("is a directory; name a file in it"));
    assert_eq!(files.refused(&["zzz"]), "`zzz` does not exist");
    let none: [&str; 0] = [];
    assert!(
        load(&none, &ImportOptions::default()).unwrap_err().to_string().starts_with("no input")
    );
    assert!(
        load(&["-", "-"], &ImportOptions::default())
            .unwrap_err()
            .to_string()
            .starts_with("`-` is given twice")
    );
}

#[test]
fn compressed_numbers_are_read_and_a_cut_is_an_error() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text: String = (0..10_000).map(|i| format!("{i}\n")).collect();
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let files = Files::new(&[("n.csv.gz", &packed), ("cut.gz", &packed[..packed.len() - 9])]);
    let samples = files.load(&["n.csv.gz"], &ImportOptions::default()).unwrap();
    assert_eq!((names(&samples), samples.len()), (vec!["n"], 10_000));
    assert_eq!(
        files.refused(&["cut.gz"]),
        "`cut.gz` is compressed and breaks off before its end; compress or fetch it again"
    );
}

#[test]
fn subjects_are_named_by_as_much_of_the_path_as_tells_them_apart() {
    let files = Files::new(&[
        ("a/run.txt", b"1\n"),
        ("b/run.txt", b"2\n"),
        ("b/run.csv", b"3\n"),
        ("c.txt", b"4\n"),
    ]);
    let of = |inputs: &[&str]| {
        let samples = files.load(inputs, &ImportOptions::default()).unwrap();
        names(&samples).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of(&["a/run.txt", "b/run.txt"]), ["a/run", "b/run"]);
    assert_eq!(of(&["b/run.txt", "b/run.csv"]), ["run.txt", "run.csv"]);
    assert_eq!(of(&["a/run.txt", "c.txt"]), ["run", "c"]);
    assert_eq!(of(&["c.txt", "c.txt"]), ["c", "c #2"]);
    assert_eq!(super::names::labels(&[Path::new("-"), Path::new("x.csv.gz")]), ["stdin", "x"]);
}

#[test]
fn one_sample_file_keeps_its_blocks_and_two_are_recorded_apart() {
    let wall_first = vec![Metric::wall(), Metric::lower("cpu", Unit::Second)];
    let cpu_first = vec![Metric::lower("cpu", Unit::Second), Metric::lower("faults", Unit::One)];
    let files = Files::new(&[
        ("old.assay", &run(wall_first, &["sort", "uniq"], 3)),
        ("new.assay", &run(cpu_first, &["sort"], 2)),
    ]);
    let alone = files.load(&["old.assay"], &ImportOptions::default()).unwrap();
    assert_eq!((alone.design(), alone.complete_blocks(0).len()), (Design::Blocks, 3));
    let both = files.load(&["old.assay", "new.assay"], &ImportOptions::default()).unwrap();
    assert_eq!(both.design(), Design::Unpaired);
    assert_eq!(names(&both), ["old: sort", "uniq", "new: sort"]);
    let metrics: Vec<_> = both.metrics.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(metrics, ["cpu", "wall", "faults"], "the first common metric decides");
    assert_eq!(both.series(0, 0).values, [2.0, 3.0, 4.0]);
    assert_eq!(both.series(2, 0).values, [1.0, 2.0]);
    assert!(both.series(2, 1).values.is_empty());
}

#[test]
fn facts_in_which_two_recordings_differ_stand_side_by_side() {
    let files = Files::new(&[
        ("a.txt", b"# cpu: old\n# os: x\n1\n"),
        ("b.txt", b"# cpu: new\n# os: x\n2\n"),
    ]);
    let environment: Environment =
        files.load(&["a.txt", "b.txt"], &ImportOptions::default()).unwrap().environment;
    assert_eq!(environment.text("file.cpu"), Some("old"));
    assert_eq!(environment.text("file.cpu@b"), Some("new"));
    assert_eq!(environment.facts.len(), 3);
}

#[test]
fn metrics_that_do_not_go_together_are_an_error() {
    let rate = Metric::lower("wall", Unit::Byte);
    let files = Files::new(&[
        ("a.assay", &run(vec![Metric::wall()], &["x"], 1)),
        ("bytes.assay", &run(vec![rate], &["x"], 1)),
        ("cpu.assay", &run(vec![Metric::lower("cpu", Unit::Second)], &["x"], 1)),
    ]);
    assert_eq!(
        files.refused(&["a.assay", "bytes.assay"]),
        "`wall` is in s in `a.assay` and in B in `bytes.assay`; values of different units cannot be compared"
    );
    assert_eq!(
        files.refused(&["a.assay", "cpu.assay"]),
        "no metric is in all files (a.assay has `wall`; cpu.assay has `cpu`); name the metric of bare numbers with `--metric NAME`"
    );
}

#[test]
fn bare_numbers_take_the_primary_metric_of_a_recording_when_their_unit_is_said() {
    let files = Files::new(&[
        ("old.assay", &run(vec![Metric::wall()], &["sort"], 2)),
        ("count.assay", &run(vec![Metric::lower("faults", Unit::One)], &["sort"], 2)),
        ("new.txt", b"250\n300\n"),
    ]);
    let samples = files.load(&["old.assay", "new.txt"], &options(None, None, Some("ms"))).unwrap();
    assert_eq!(samples.metrics, [Metric::wall()]);
    assert_eq!(samples.series(1, 0).values, [0.25, 0.3]);
    assert_eq!(
        files.refused(&["new.txt", "old.assay"]),
        "the numbers in `new.txt` have no unit, but `wall` in `old.assay` is in s; give their unit, as in `--unit ms`"
    );
    let message =
        files.load(&["old.assay", "new.txt"], &options(None, None, Some("KiB"))).unwrap_err();
    assert!(message.to_string().contains("values of different units"));
    assert_eq!(
        files.load(&["count.assay", "new.txt"], &ImportOptions::default()).unwrap().metrics[0].name,
        "faults"
    );
    let named = ImportOptions { metric: Some("cpu".into()), ..options(None, None, Some("s")) };
    let message = files.load(&["old.assay", "new.txt"], &named).unwrap_err().to_string();
    assert!(message.starts_with("no metric is in all files"), "{message}");
}

#[test]
fn headers_of_two_plain_files_need_not_agree() {
    let files = Files::new(&[("a.txt", b"old_ms\n1\n"), ("b.txt", b"new_ms\n2\n")]);
    let samples = files.load(&["a.txt", "b.txt"], &ImportOptions::default()).unwrap();
    assert_eq!(samples.metrics[0].name, "value");
    assert_eq!(samples.len(), 2);
}

#[test]
fn an_exported_table_is_a_table_like_any_other_when_asked() {
    let mut table = Vec::new();
    let recorded =
        assay_file::read_from(std::io::Cursor::new(run(vec![Metric::wall()], &["a", "b"], 2)), "x");
    crate::export::csv(&recorded.unwrap(), &mut table).unwrap();
    let text = String::from_utf8(table.clone()).unwrap();
    assert_eq!(text.lines().next(), Some("subject,block,pos,t,outcome,wall_s"));
    assert_eq!(text.lines().nth(1), Some("a,0,,,ok,1"));
    let whole = bytes(&table, &ImportOptions::default()).unwrap();
    assert_eq!(whole.design(), Design::Blocks);
    let long = bytes(&table, &options(Some("subject"), Some("wall_s"), Some("s"))).unwrap();
    assert_eq!((names(&long), long.design()), (vec!["a", "b"], Design::Unpaired));
    assert_eq!(long.series(1, 0).values, [1.0, 2.0]);
}

#[test]
fn a_damaged_exported_table_names_the_row() {
    let head = "subject,block,pos,t,outcome,wall_s\n";
    let message = |row: &str| refused(format!("{head}a,0,0,0,ok,1\n{row}\n"));
    assert_eq!(
        message("a,x,0,0,ok,1"),
        "data.txt:3: column `block`: expected a block number, not `x`"
    );
    assert_eq!(message("a,0,0,0,ok,1"), "data.txt:3: `a` has a second observation in block 0");
    assert_eq!(
        message("a,1,0,0,odd,1"),
        "data.txt:3: column `outcome`: expected ok, exit N, signal N or timeout, not `odd`"
    );
    assert_eq!(
        message("a,1,0,0,ok,inf"),
        "data.txt:3: column `wall_s`: `inf` is not a finite number"
    );
    assert_eq!(message("a,1"), "data.txt:3: this row has 2 columns, the header 6");
    assert!(
        refused("subject,block,pos,t,outcome,wall\na,0,0,0,ok,1\n")
            .contains("has no unit in its name")
    );
}

#[test]
fn the_values_of_all_outcomes_survive_the_table() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.add_subject("# \"odd\", name\n# second line");
    for (block, outcome) in
        (0..).zip([Outcome::Ok, Outcome::Exit(-1), Outcome::Signal(9), Outcome::Timeout])
    {
        samples.push(Observation {
            block: Some(block),
            outcome,
            values: vec![0.1],
            ..Observation::default()
        });
    }
    let mut table = Vec::new();
    crate::export::csv(&samples, &mut table).unwrap();
    let back = bytes(&table, &ImportOptions::default()).unwrap();
    assert_eq!(names(&back), names(&samples));
    let outcomes = |s: &Samples| s.observations().map(|o| o.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(&back), outcomes(&samples));
}

proptest! {
    #[test]
    fn exporting_then_importing_changes_no_value(samples in crate::assay_file::any::any_samples()) {
        // A file with a zero byte is considered binary. Names of commands and benchmarks contain no
        // zero bytes.
        prop_assume!(!samples.is_empty() && samples.subjects.iter().all(|s| !s.name.contains(char::from(0))));
        let mut table = Vec::new();
        crate::export::csv(&samples, &mut table).unwrap();
        let back = bytes(&table, &ImportOptions::default()).unwrap();
        let bits = |s: &Samples| -> Vec<_> {
            let mut all: Vec<Observation> = s.observations().collect();
            // The table is ordered by pass.
            all.sort_by_key(|o| (o.pass, o.block));
            all.into_iter()
                .map(|o| {
                    let values: Vec<_> =
                        o.values.iter().map(|v| (!v.is_nan()).then_some(v.to_bits())).collect();
                    let name = s.subjects[o.subject].name.clone();
                    (name, (o.pass, o.block, o.position), o.level, o.time.map(f64::to_bits), o.outcome, values)
                })
                .collect()
        };
        prop_assert_eq!(bits(&back), bits(&samples));
        let units = |s: &Samples| s.metrics.iter().map(|m| (m.name.clone(), m.unit.clone())).collect::<Vec<_>>();
        prop_assert_eq!(units(&back), units(&samples));
    }

    #[test]
    fn no_bytes_make_the_importers_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = bytes(&text, &ImportOptions::default());
        let _ = bytes(&text, &options(Some("1"), Some("2"), Some("ns")));
    }

    #[test]
    fn no_table_makes_the_importers_panic(text in "[-a-z0-9.,;#\"\t\n ]{0,80}") {
        let _ = bytes(&text, &ImportOptions::default());
        let _ = bytes(&text, &options(Some("1"), Some("2"), None));
        let _ = bytes(&text, &options(None, Some("2"), None));
    }
}

#[test]
fn the_examples_of_the_manual_are_read_as_it_says() {
    let page = include_str!("../../../../docs/reference/input-files.md");
    let examples: Vec<&str> =
        page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [single, long, wide, exported] = examples[..] else { unreachable!("four examples") };
    let numbers = plain(single);
    assert_eq!((numbers.metrics[0].name.as_str(), numbers.len()), ("wall", 3));
    assert_eq!(numbers.environment.text("file.governor"), Some("performance"));
    let times = bytes(long, &options(Some("1"), Some("2"), Some("ns"))).unwrap();
    assert_eq!(names(&times), ["array", "map"]);
    assert_eq!(times.series(0, 0).values, [518_538e-9, 386_499e-9]);
    let columns = plain(wide);
    assert_eq!((names(&columns), columns.len()), (vec!["old", "new"], 5));
    let recorded = plain(exported);
    assert_eq!(recorded.complete_blocks(0).len(), 2);
    let mut table = Vec::new();
    crate::export::csv(&recorded, &mut table).unwrap();
    assert_eq!(String::from_utf8(table).unwrap(), exported);
}

#[test]
fn what_is_left_out_is_left_out_of_bytes_too_and_never_everything() {
    let skip = |skip| ImportOptions { skip, ..ImportOptions::default() };
    assert_eq!(bytes("3\n1\n2\n", &skip(2)).unwrap().values(0, 0), [2.0]);
    let none = bytes("a\u{7}b,c\n3,1\n,2\n", &skip(1)).unwrap_err().to_string();
    assert!(none.contains("leaves nothing of a\\u{7}b, which has 1 observations"), "{none}");

    // The importer would shorten a column without numbers to its name.
    let filter = |text: &str| ImportOptions {
        filter: Some(text.parse().unwrap()),
        ..ImportOptions::default()
    };
    let table = "old,new\n3\n1\n";
    assert_eq!(bytes(table, &filter("old")).unwrap().values(0, 0), [3.0, 1.0]);
    let none = bytes(table, &filter("-old")).unwrap_err().to_string();
    assert_eq!(none, "--filter: what is left by `-old` has no values: new; widen the filter");
}

#[test]
fn options_are_advised_only_if_they_read_the_file() {
    let advice = |said: &str| {
        let (_, advised) = said.rsplit_once("; `")?;
        let words = advised.strip_suffix("` reads this file")?;
        let mut words = words.split(' ');
        let mut options = ImportOptions::default();
        while let (Some(option), Some(column)) = (words.next(), words.next()) {
            let column = column.parse().ok();
            *(if option == "--by" { &mut options.by } else { &mut options.value }) = column;
        }
        Some(options)
    };
    let read = |text: &str, options: &ImportOptions| load_bytes(text.into(), "x", options);
    for (text, advised) in [
        ("a 1 x\nb 2 y\n", true),
        // It is unknown which of the two columns is a measurement.
        ("1 2\n3 4\n", false),
        ("book,ns\narray,1\nmap,2\n", true),
        ("my book,ns per op\narray,1\nmap,2\n", true),
        // Output of other tools: no option reads all of their lines.
        (
            "SUCCESS: base64   : 15.041ms +/-  0.636% on luau\nSUCCESS: chess  :  69.5ms +/-  0.2% on luau\n",
            false,
        ),
        (
            "Running 30s test @ http://x\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev\n",
            false,
        ),
        ("book,ns\narray,1\nmap,fast\n", false),
        ("a 1 x\nb two y\n", false),
    ] {
        let said = read(text, &ImportOptions::default()).expect_err(text).to_string();
        let options = advice(&said);
        assert_eq!(options.is_some(), advised, "{text}: {said}");
        if let Some(options) = options {
            read(text, &options).unwrap_or_else(|error| panic!("{text}: {said}: {error}"));
        }
    }
}

#[test]
fn a_last_number_without_its_end_may_be_cut_off() {
    let told = |text: &str| {
        let read = load_bytes(text.into(), "x", &ImportOptions::default()).unwrap();
        read.findings.iter().any(|finding| finding.code == "TRUNCATED_FILE")
    };
    for text in ["a,b\n100,200\n100,2", "100\n120\n11", "x 100\ny 2"] {
        let by = text.starts_with('x');
        assert!(by || told(text), "{text}");
        assert!(by || !told(&format!("{text}\n")), "{text}");
    }
    assert!(!told("1\n20\n30") && !told("1\n2\n3") && !told("7"));
}

#[test]
fn wrong_numbers_of_go_are_named_with_their_line() {
    for (line, words) in [
        ("BenchmarkX 1 1,234 ns/op", "is not a result"),
        ("BenchmarkX 1 1e400 ns/op", "`1e400 ns/op` of `BenchmarkX` (data.txt:2)"),
    ] {
        let said = refused(format!("goos: linux\n{line}\n"));
        assert!(said.contains(words) && said.contains("data.txt"), "{said}");
    }
}
