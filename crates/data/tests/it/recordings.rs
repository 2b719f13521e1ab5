//! Several recordings of one side: files, directories, and documents one after another or in a
//! list.

use assay_data::Samples;
use assay_data::import::{ImportOptions, SideFiles, load, load_sides};
use std::fs;
use std::path::Path;

fn document(minute: usize, value: f64) -> String {
    format!(
        r#"{{"context": {{"date": "2024-02-02T10:{minute:02}:00+00:00", "library_build_type": "release"}}, "benchmarks": [{{"name": "a", "run_name": "a", "run_type": "iteration", "iterations": 10, "real_time": {value}, "cpu_time": {value}, "time_unit": "ns"}}]}}"#
    )
}

fn read(sides: &[(&str, Vec<std::path::PathBuf>)]) -> Samples {
    let side = |(name, files): &(&str, Vec<std::path::PathBuf>)| SideFiles {
        name: Some((*name).to_owned()),
        files: files.clone(),
    };
    load_sides(&sides.iter().map(side).collect::<Vec<_>>(), &ImportOptions::default())
        .expect("recordings")
}

fn levels(samples: &Samples, subject: usize) -> Vec<(Vec<u32>, f64)> {
    let wall = samples.metric_index("wall").expect("a time");
    let own = samples.observations().filter(|o| o.subject == subject);
    own.map(|o| (o.level, (o.values[wall] * 1e9).round())).collect()
}

fn written(directory: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).expect("a temporary file");
    path
}

#[test]
fn files_directories_and_documents_are_the_same_recordings() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let documents: Vec<String> = (0..4).map(|n| document(n, 100.0 + n as f64)).collect();
    fs::create_dir(at("o")).expect("a directory");
    let files: Vec<_> = documents
        .iter()
        .enumerate()
        .map(|(n, text)| written(&at("o"), &format!("{n}.json"), text))
        .collect();
    let joined = written(directory.path(), "joined.json", &documents.concat());
    let list = written(directory.path(), "list.json", &format!("[{}]\n", documents.join(",\n")));
    let expected: Vec<(Vec<u32>, f64)> = (0..4).map(|n| (vec![n], 100.0 + f64::from(n))).collect();
    for own in [files, vec![at("o")], vec![joined.clone()], vec![list]] {
        let samples = read(&[("old", own)]);
        assert_eq!((samples.subjects.len(), samples.sides.len()), (1, 1));
        assert_eq!(levels(&samples, 0), expected);
        assert_eq!(samples.sides[0].recordings.len(), 4);
    }
    // With the directory and a file of all its documents, each document counts once, with a
    // finding.
    let twice = read(&[("old", vec![at("o"), joined])]);
    assert_eq!(levels(&twice, 0), expected);
    assert!(twice.findings.iter().any(|finding| finding.code == "SAME_INPUT"));
}

#[test]
fn sides_are_matched_by_benchmark_and_ordered_by_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, minute: usize, value: f64| {
        written(directory.path(), name, &document(minute, value))
    };
    let old = vec![file("o1", 4, 104.0), file("o0", 0, 100.0), file("o2", 8, 108.0)];
    let new = vec![file("n0", 2, 90.0), file("n1", 6, 91.0), file("n2", 9, 92.0)];
    let samples = read(&[("old", old.clone()), ("new", new)]);
    let names: Vec<_> = samples.subjects.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["old: a", "new: a"]);
    assert_eq!(levels(&samples, 0), [(vec![0], 100.0), (vec![1], 104.0), (vec![2], 108.0)]);
    let codes: Vec<_> = samples.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["RECORDINGS_ALTERNATE"]);
    let later = vec![file("l0", 20, 90.0), file("l1", 21, 91.0)];
    let apart = read(&[("old", old), ("new", later)]);
    assert!(apart.findings.iter().any(|f| f.code == "NOT_INTERLEAVED"), "{:?}", apart.findings);
}

#[test]
fn a_damaged_document_is_named_and_another_list_stays_what_it_was() {
    let directory = tempfile::tempdir().expect("a directory");
    let bad = document(1, 5.0).replace("\"real_time\": 5", "\"real_time\": \"x\"");
    let path = written(directory.path(), "bad.json", &format!("{}\n{bad}", document(0, 1.0)));
    let error = load(&[path], &ImportOptions::default()).expect_err("damaged").to_string();
    assert!(error.contains("document 2 (line 2)"), "{error}");
    let other = written(directory.path(), "other.json", "[{\"a\": 1}, {\"b\": 2}]");
    let error = load(&[other], &ImportOptions::default()).expect_err("unknown").to_string();
    assert!(error.contains("format is unknown"), "{error}");
}

#[test]
fn recordings_of_bare_numbers_may_be_the_same_number() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| written(directory.path(), name, "5\n7\n");
    let side = SideFiles { name: Some("s".to_owned()), files: vec![file("a"), file("b")] };
    let samples = load_sides(&[side], &ImportOptions::default()).expect("numbers");
    let found: Vec<_> = samples.observations().map(|o| (o.level[0], o.values[0])).collect();
    assert_eq!(found, [(0, 5.0), (0, 7.0), (1, 5.0), (1, 7.0)]);
}
