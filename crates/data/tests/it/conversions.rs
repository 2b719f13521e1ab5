//! Round trips: the importers read the exporters' output back unchanged, for every file written by
//! a real tool and for synthetic samples.
//!
//! Each form is tested for the data that it can represent. The rest is listed with it here, and in
//! the documentation of its exporter. Google Benchmark and Go write times in nanoseconds: for a
//! time that a tool wrote in milliseconds there may be no double that reads back to the same bits,
//! and then the next one is accepted.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use assay_data::import::{ImportOptions, load, load_bytes};
use assay_data::{Samples, Subject, export};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

type Write = fn(&Samples, &mut Vec<u8>) -> io::Result<()>;

/// A form: its exporter, and the data that it preserves.
struct Form {
    name: &'static str,
    write: Write,
    /// The metrics that it preserves under their names; `None` for all.
    metrics: Option<&'static [&'static str]>,
    /// True if observations without a wall time are lost.
    needs_wall: bool,
    /// True if nesting and outcomes are preserved.
    keeps_places: bool,
    /// True if the better direction of a metric is preserved.
    keeps_directions: bool,
    /// True if names of subjects are preserved exactly.
    keeps_names: bool,
}

const FORMS: [Form; 5] = [
    Form {
        name: "csv",
        write: |samples, sink| export::csv(samples, sink),
        metrics: None,
        needs_wall: false,
        keeps_places: true,
        keeps_directions: false,
        keeps_names: true,
    },
    Form {
        name: "hyperfine",
        write: |samples, sink| export::hyperfine(samples, sink),
        metrics: Some(&["wall"]),
        needs_wall: true,
        keeps_places: false,
        keeps_directions: true,
        keeps_names: true,
    },
    Form {
        name: "hyperfine2",
        write: |samples, sink| export::hyperfine2(samples, sink),
        metrics: Some(&["wall", "cpu", "user", "system", "max_rss"]),
        needs_wall: true,
        keeps_places: false,
        keeps_directions: true,
        keeps_names: true,
    },
    Form {
        name: "google-benchmark",
        write: |samples, sink| export::google_benchmark(samples, sink),
        metrics: None,
        needs_wall: true,
        keeps_places: false,
        keeps_directions: true,
        keeps_names: true,
    },
    Form {
        name: "go",
        write: |samples, sink| export::go_bench(samples, sink),
        metrics: Some(&["wall", "iterations"]),
        needs_wall: false,
        keeps_places: false,
        keeps_directions: true,
        keeps_names: true,
    },
];

fn files_under(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { files_under(&path, found) } else { found.push(path) }
    }
}

/// Returns the samples of every file that has observations: of those in the repository, and of real
/// files in the directory named by `ASSAY_TEST_DATA`.
fn all() -> Vec<(String, Samples)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut files = Vec::new();
    files_under(&root, &mut files);
    files.push(root.join("../../src/export/hyperfine/v1.json"));
    files.push(root.join("../../src/export/hyperfine/v2.json"));
    match std::env::var_os("ASSAY_TEST_DATA") {
        Some(data) => ["formats", "third-party/google-benchmark"]
            .iter()
            .for_each(|folder| files_under(&Path::new(&data).join(folder), &mut files)),
        None => {
            println!("skipped: more files of tools, in the directory that ASSAY_TEST_DATA names")
        }
    }
    let read = files.iter().filter_map(|path| {
        let samples = load(&[path], &ImportOptions::default()).ok()?;
        (!samples.is_empty()).then(|| (path.display().to_string(), samples))
    });
    read.collect()
}

fn back(form: &Form, samples: &Samples, file: &str) -> Option<Samples> {
    let mut bytes = Vec::new();
    if let Err(refused) = (form.write)(samples, &mut bytes) {
        assert!(refused.to_string().contains("no metric `wall`"), "{file}: {refused}");
        assert!(form.needs_wall && samples.metric_index("wall").is_none(), "{file}");
        return None;
    }
    let read = load_bytes(bytes, "back", &ImportOptions::default());
    Some(read.unwrap_or_else(|error| panic!("{file} as {}: {error}", form.name)))
}

/// The bits of the values by subject and metric, including missing ones; absent for a metric
/// without a value.
type Values = BTreeMap<(usize, String), Vec<Option<u64>>>;

fn values(form: &Form, samples: &Samples, metrics: &[String]) -> Values {
    let wall = samples.metric_index("wall");
    let mut subjects: Vec<usize> = Vec::new();
    let mut all = Values::new();
    for observation in samples.observations() {
        let has_wall = wall.is_some_and(|wall| observation.values[wall].is_finite());
        let is_kept = if form.needs_wall {
            has_wall
        } else {
            observation.values.iter().any(|value| value.is_finite())
        };
        if !is_kept {
            continue;
        }
        // Subjects without a value are not written; the others are numbered in order.
        subjects.push(observation.subject);
        for metric in metrics {
            let value = samples.metric_index(metric).map(|index| observation.values[index]);
            let bits = value.filter(|value| value.is_finite()).map(f64::to_bits);
            all.entry((observation.subject, metric.clone())).or_default().push(bits);
        }
    }
    subjects.sort_unstable();
    subjects.dedup();
    all.retain(|_, values| values.iter().any(Option::is_some));
    let place = |subject| subjects.binary_search(&subject).unwrap();
    all.into_iter().map(|((subject, metric), v)| ((place(subject), metric), v)).collect()
}

/// Asserts that the bits are the same, or those of the next double.
fn assert_same(found: &[Option<u64>], expected: &[Option<u64>], place: &str) {
    assert_eq!(found.len(), expected.len(), "{place}");
    for pair in found.iter().zip(expected) {
        let is_near = match pair {
            (Some(a), Some(b)) => a.abs_diff(*b) <= 1,
            (a, b) => a == b,
        };
        assert!(is_near, "{place}: {pair:?}");
    }
}

fn metrics(form: &Form, samples: &Samples) -> Vec<String> {
    let all = samples.metrics.iter().map(|metric| metric.name.clone());
    all.filter(|name| form.metrics.is_none_or(|kept| kept.contains(&name.as_str()))).collect()
}

#[test]
fn every_real_file_comes_back_from_every_form_as_it_was() {
    let files = all();
    assert!(files.len() > 80, "{} files", files.len());
    for (file, samples) in &files {
        for form in &FORMS {
            let Some(read) = back(form, samples, file) else { continue };
            let place = format!("{file} as {}", form.name);
            let metrics = metrics(form, samples);
            let (expected, found) =
                (values(form, samples, &metrics), values(form, &read, &metrics));
            for (of, values) in &expected {
                assert_same(
                    found.get(of).unwrap_or(&Vec::new()),
                    values,
                    &format!("{place}: {of:?}"),
                );
            }
            for metric in samples.metrics.iter().filter(|m| metrics.contains(&m.name)) {
                let Some(index) = read.metric_index(&metric.name) else { continue };
                assert_eq!(read.metrics[index].unit, metric.unit, "{place}: {}", metric.name);
                if form.keeps_directions {
                    assert_eq!(read.metrics[index].better, metric.better, "{place}");
                }
            }
            if form.keeps_names {
                let mut names = samples.subjects.iter().map(|subject| &subject.name);
                for subject in &read.subjects {
                    assert!(names.any(|name| *name == subject.name), "{place}: {}", subject.name);
                    if form.name == "go" {
                        let of = |s: &Subject| {
                            s.name == subject.name && s.parameters == subject.parameters
                        };
                        assert!(
                            samples.subjects.iter().any(of),
                            "{place}: {:?}",
                            subject.parameters
                        );
                    }
                }
            }
            if form.keeps_places {
                for (a, b) in samples.observations().zip(read.observations()) {
                    assert_eq!((a.level, a.outcome), (b.level, b.outcome), "{place}");
                }
            }
        }
    }
}

#[test]
fn what_a_form_of_a_tool_held_it_holds_again_to_the_letter() {
    for (file, samples) in all() {
        let tool = samples.tool.clone().unwrap_or_default();
        let form = match tool.split(' ').next() {
            Some("Google") => 3,
            // Events of tests do not have the form of benchmarks.
            Some("go") if !tool.ends_with("-json") => 4,
            Some("hyperfine") if tool.ends_with("1.x") => 1,
            Some("hyperfine") => 2,
            _ => continue,
        };
        let form = &FORMS[form];
        let all = Form { metrics: None, ..*form };
        let Some(read) = back(form, &samples, &file) else { panic!("{file} is refused") };
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let names = sorted(metrics(&all, &samples));
        assert_eq!(names, sorted(metrics(&all, &read)), "{file}");
        let (expected, found) = (values(&all, &samples, &names), values(&all, &read, &names));
        assert_eq!(expected.len(), found.len(), "{file}");
        for (of, values) in &expected {
            assert_same(&found[of], values, &format!("{file}: {of:?}"));
        }
        let told = |samples: &Samples| -> Vec<_> {
            let told = samples.subjects.iter().filter(|subject| {
                samples.observations().any(|o| samples.subjects[o.subject].name == subject.name)
            });
            let label = |s| samples.label_of(s).map(str::to_owned);
            told.map(|s| (s.name.clone(), label(s), s.parameters.clone(), s.command.clone()))
                .collect()
        };
        assert_eq!(told(&samples), told(&read), "{file}");
        // The tool computes the complexity fit from the values; other formats have no place for it.
        let facts = |samples: &Samples| {
            let mut facts = samples.environment.facts.clone();
            for told in ["recorded_by", "google_benchmark.complexity"] {
                facts.remove(told);
            }
            facts
        };
        assert_eq!(facts(&samples), facts(&read), "{file}");
        // Exporting it again gives the same file.
        let text = |samples: &Samples| {
            let mut bytes = Vec::new();
            (form.write)(samples, &mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(text(&samples) == text(&read), "{file} is another file when it is written again");
    }
}

#[test]
fn go_writes_the_digits_that_the_file_had() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let file = root.join("go-bench/old.txt");
    let samples = load(&[&file], &ImportOptions::default()).unwrap();
    let mut bytes = Vec::new();
    export::go_bench(&samples, &mut bytes).unwrap();
    let ours = String::from_utf8(bytes).unwrap();
    let times = |text: &str| -> Vec<f64> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let times = words.windows(2).filter(|pair| pair[1] == "ns/op");
        times.map(|pair| pair[0].parse().unwrap()).collect()
    };
    let theirs = std::fs::read_to_string(file).unwrap();
    // Go prints the benchmarks one after the other in every round of `-count`; we write each with
    // all its rounds.
    let (mut ours_sorted, mut theirs_sorted) = (times(&ours), times(&theirs));
    ours_sorted.sort_by(f64::total_cmp);
    theirs_sorted.sort_by(f64::total_cmp);
    assert_eq!(ours_sorted, theirs_sorted);
    let longest = ours.split_ascii_whitespace().filter(|word| word.parse::<f64>().is_ok());
    assert!(longest.map(str::len).max() < Some(12), "{ours}");
    assert!(ours.starts_with("goos: linux\ngoarch: amd64\npkg: anchor\ncpu: AMD EPYC\n"), "{ours}");
}
