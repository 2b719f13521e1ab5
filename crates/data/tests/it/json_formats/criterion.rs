//! criterion's directories.

use super::*;

fn at(place: &str) -> Samples {
    read(&format!("criterion/{place}"))
}

/// Returns the values in the files under a run's directory.
fn plain_values(directory: &str) -> Vec<f64> {
    let sample = plainly(&format!("criterion/{directory}/sample.json"));
    let of = |key: &str| -> Vec<f64> {
        sample[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    of("times").iter().zip(of("iters")).map(|(time, iters)| time / iters / 1e9).collect()
}

#[test]
fn the_last_run_of_every_benchmark_of_a_directory_is_read() {
    let samples = at("linear");
    assert_eq!(names(&samples), ["copy_element/copy/2", "empty", "slow/flat ms"]);
    for (name, directory) in [
        ("copy_element/copy/2", "linear/copy_element/copy/2/new"),
        ("empty", "linear/empty/new"),
        ("slow/flat ms", "linear/slow_flat ms/new"),
    ] {
        assert_eq!(values(&samples, name, "wall"), plain_values(directory));
    }
    assert_eq!(values(&samples, "copy_element/copy/2", "iterations")[..2], [1626.0, 3252.0]);
    assert_eq!(parameters(&samples, "copy_element/copy/2"), "1=2");
    let copy = &samples.subjects[subject(&samples, "copy_element/copy/2")];
    assert_eq!(samples.label_of(copy), Some("copy_element/copy"));
    assert_eq!(samples.environment.text("criterion.sampling_mode"), Some("Linear"));
}

#[test]
fn flat_sampling_and_benchmarks_within_benchmarks_are_read() {
    let samples = at("flat");
    assert_eq!(names(&samples), ["quick/a/b", "slow/flat/4096", "slow/flat"]);
    assert_eq!(values(&samples, "slow/flat", "wall"), plain_values("flat/slow/flat/new"));
    let iterations = values(&samples, "slow/flat", "iterations");
    assert!(iterations.len() == 10 && iterations.iter().all(|&i| i == 44.0), "{iterations:?}");
    assert_eq!(samples.environment.text("criterion.sampling_mode"), Some("Linear, Flat"));
    assert_eq!(names(&at("flat/quick")), ["quick/a/b"]);
    assert_eq!(names(&at("flat/slow/flat/4096")), ["slow/flat/4096"]);
}

#[test]
fn a_baseline_is_named_like_a_directory_in_all_benchmarks_or_in_one() {
    let before = at("linear/before");
    assert_eq!(names(&before), names(&at("linear")));
    let expected = plain_values("linear/empty/before");
    assert_eq!(values(&before, "empty", "wall"), expected);
    assert_eq!(values(&at("linear/empty/before"), "empty", "wall"), expected);
    let paths = ["linear/before", "linear/new"].map(|p| path(&format!("criterion/{p}")));
    let both = load(&paths, &ImportOptions::default()).unwrap();
    assert_eq!(both.subjects.len(), 6);
    assert_eq!(both.subjects[0].name, "before: copy_element/copy/2");
    assert_eq!(both.subjects[3].against, Some(0));
}

#[test]
fn one_file_of_samples_is_named_by_its_file() {
    let samples = at("linear/empty/new/sample.json");
    assert_eq!(names(&samples), ["sample"]);
    assert_eq!(values(&samples, "sample", "wall"), plain_values("linear/empty/new"));
}

#[test]
fn wrong_places_and_damaged_files_are_refused() {
    let said =
        |place: &str| load(&[path(place)], &ImportOptions::default()).unwrap_err().to_string();
    assert!(said("criterion/linear/other").contains("does not exist"));
    // A directory without criterion benchmarks represents the files in it, so there must be at
    // least one.
    let empty = tempfile::tempdir().unwrap();
    let error = load(&[empty.path()], &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
    assert_eq!(
        refused(r#"{"sampling_mode":"Flat","iters":[1.0,2.0],"times":[5.0]}"#),
        "`x.json`: 2 numbers in `iters` and 1 in `times`; expected equally many"
    );
    survives_damage("criterion/linear/empty/new/sample.json");
    reads_the_same_in_other_clothes("criterion/flat/slow/flat/new/sample.json");
}
