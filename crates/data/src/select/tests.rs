#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::project::project;
use super::*;
use crate::samples::{Observation, Row, Side};
use proptest::prelude::*;

/// Returns Copy and Move, each with n = 8 and 64, wall and cpu; values are 10 × subject + metric.
fn samples() -> Samples {
    let mut samples = Samples::new(vec![Metric::wall(), Metric::lower("cpu", crate::Unit::Second)]);
    for (label, n) in [("Copy", "8"), ("Copy", "64"), ("Move", "8"), ("Move", "64")] {
        let row = samples.row_named(&format!("{label}/{n}"));
        samples.rows[row].label = Some(label.to_owned());
        samples.add(Subject {
            name: format!("{label}/{n}"),
            row,
            parameters: vec![("n".to_owned(), n.into())],
            ..Subject::default()
        });
    }
    samples.sides.push(Side { name: "copies".to_owned(), ..Side::default() });
    for subject in 0..4 {
        let values = vec![10.0 * subject as f64, 10.0 * subject as f64 + 1.0];
        samples.push(Observation { subject, values, ..Observation::default() });
    }
    samples
}

fn names(filter: &str) -> Vec<String> {
    let mut samples = samples();
    filter.parse::<Filter>().unwrap().apply(&mut samples).unwrap();
    samples.subjects.iter().map(|s| s.name.clone()).collect()
}

#[test]
fn words_keys_and_their_joints_pick_benchmarks() {
    for (filter, expected) in [
        ("", "Copy/8 Copy/64 Move/8 Move/64"),
        ("*", "Copy/8 Copy/64 Move/8 Move/64"),
        ("Copy", "Copy/8 Copy/64"),
        ("Copy n:8", "Copy/8"),
        ("Copy AND /n:8", "Copy/8"),
        ("Copy OR n:8", "Copy/8 Copy/64 Move/8"),
        ("-Copy", "Move/8 Move/64"),
        ("-(Copy n:8)", "Copy/64 Move/8 Move/64"),
        (".name:(Copy OR Swap)", "Copy/8 Copy/64"),
        (".fullname:Copy/8", "Copy/8"),
        (".name:M*", "Move/8 Move/64"),
        ("/^Mo.*8$/", "Move/8"),
        (".name:/ov/ n:(8 OR \"64\")", "Move/8 Move/64"),
        ("n:/^6/", "Copy/64 Move/64"),
        ("\"py/6\"", "Copy/64"),
    ] {
        assert_eq!(names(filter).join(" "), expected, "{filter}");
    }
}

#[test]
fn metrics_are_picked_too_and_values_keep_their_places() {
    let mut left = samples();
    "Move .metric:cpu".parse::<Filter>().unwrap().apply(&mut left).unwrap();
    assert_eq!(left.metrics.len(), 1);
    assert_eq!((left.values(0, 0), left.values(1, 0)), (vec![21.0], vec![31.0]));
    // Keeps this metric of one benchmark, and all metrics of the other.
    let mut left = samples();
    "(Copy .metric:cpu) OR Move".parse::<Filter>().unwrap().apply(&mut left).unwrap();
    assert_eq!((left.subjects.len(), left.metrics.len()), (4, 2));
    assert!(left.values(0, 0).is_empty());
    assert_eq!((left.values(0, 1), left.values(2, 0)), (vec![1.0], vec![20.0]));
}

#[test]
fn references_follow_and_one_that_is_gone_is_replaced() {
    let mut sides = samples();
    project(&mut sides, &[], &["n".parse().unwrap()]).unwrap();
    let against = |s: &Samples| s.subjects.iter().map(|s| s.against.unwrap()).collect::<Vec<_>>();
    assert_eq!(against(&sides), [0, 0, 2, 2]);
    let mut left = sides.clone();
    ".name:Move".parse::<Filter>().unwrap().apply(&mut left).unwrap();
    assert_eq!(against(&left), [0, 0]);
    "-.file:8".parse::<Filter>().unwrap().apply(&mut sides).unwrap();
    assert_eq!(against(&sides), [0, 1]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (filter, said) in [
        ("(Copy", "at the end: a `)` is missing"),
        ("Copy)", "at `)`: there is no `(`"),
        ("Copy AND", "a term is missing"),
        ("Copy OR", "at the end: a term is missing"),
        ("n:", "a value is missing"),
        (".color:red", "there is no key `.color`"),
        ("n:(8 64)", "expected `OR` or `)`"),
        (".name:/(/", "not a regular expression"),
        ("n:\"8", "the closing `\"` is missing"),
    ] {
        let error = filter.parse::<Filter>().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said), "{filter}: {error}");
    }
    let deep = "-".repeat(10_000) + "Copy";
    assert!(deep.parse::<Filter>().unwrap_err().to_string().contains("nested more than 50 deep"));
    let apply = |filter: &str| {
        filter.parse::<Filter>().unwrap().apply(&mut samples()).unwrap_err().to_string()
    };
    assert_eq!(apply("size:8"), "--filter: no benchmark has a parameter `size`; there are n");
    assert!(apply("Swap").contains("nothing matches `Swap`; there are: Copy/8, Copy/64"));
}

#[test]
fn a_parameter_makes_columns_and_the_rest_of_the_name_the_rows() {
    let mut sides = samples();
    project(&mut sides, &[], &["n".parse().unwrap()]).unwrap();
    let shown: Vec<_> = sides
        .subjects
        .iter()
        .map(|s| (&*sides.row_of(s).name, &*sides.side_of(s).name, s.against.unwrap()))
        .collect();
    assert_eq!(shown, [("Copy", "8", 0), ("Copy", "64", 0), ("Move", "8", 2), ("Move", "64", 2)]);
    let mut sides = samples();
    project(&mut sides, &["n".parse().unwrap()], &[Key::Name]).unwrap();
    assert_eq!(sides.subjects[3].name, "Move: n=64");
    assert_eq!(sides.subjects[3].against, Some(1));
}

#[test]
fn a_file_is_named_by_its_name_and_a_row_without_a_rest_by_its_column() {
    let mut two = samples();
    let side = |name: &str| Side {
        name: name.to_owned(),
        source: Some(format!("/a/long/way/{name}.txt")),
        ..Side::default()
    };
    two.sides = vec![side("old"), side("new")];
    two.rows = ["Copy", "Move"].map(|name| Row { name: name.to_owned(), ..Row::default() }).into();
    for (index, subject) in two.subjects.iter_mut().enumerate() {
        (subject.side, subject.row) = (index / 2, index % 2);
        subject.name = ["Copy", "Move"][index % 2].to_owned();
        subject.parameters.clear();
    }
    let mut named = two.clone();
    project(&mut named, &[Key::Name], &[]).unwrap();
    assert_eq!(named.subjects[2].name, "new: Copy");
    project(&mut two, &[], &[Key::FullName]).unwrap();
    let names: Vec<_> = two.subjects.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["Copy: old", "Move: old", "Copy: new", "Move: new"]);
    let mut alone = samples();
    alone.keep(|_, subject, _| subject.name.ends_with("/8"));
    project(&mut alone, &[], &[Key::FullName]).unwrap();
    assert_eq!(alone.subjects[1].name, "Move/8");
}

#[test]
fn a_name_that_holds_its_values_gets_their_places_marked() {
    let mut scan = samples();
    for subject in &mut scan.subjects {
        let n = &subject.parameters[0].1;
        let row = &mut scan.rows[subject.row];
        row.name = format!("{} {n} of 1{n}", row.label.take().unwrap());
        subject.name.clone_from(&row.name);
    }
    project(&mut scan, &[], &["n".parse().unwrap()]).unwrap();
    let rows: Vec<_> = scan.subjects.iter().map(|s| scan.row_of(s).name.as_str()).collect();
    assert_eq!(rows, ["Copy {n} of 18", "Copy {n} of 164", "Move {n} of 18", "Move {n} of 164"]);
}

#[test]
fn columns_that_compare_nothing_are_refused() {
    let key = |text: &str| text.parse::<Key>().unwrap();
    let refused =
        |row: &[Key], col: &[Key]| project(&mut samples(), row, col).unwrap_err().to_string();
    assert!(
        refused(&[Key::Name], &[Key::Name]).contains("`Copy/8` and `Copy/64` would both stand")
    );
    assert!(refused(&[], &[key("size")]).contains("no benchmark has a parameter `size`"));
    assert!(refused(&[], &[]).contains("a comparison needs two"));
    assert!(refused(&[], &[Key::Metric]).contains("--filter .metric:NAME"));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[-()a-z:/*\"\\\\. ORAND]{0,60}") {
        let _ = text.parse::<Filter>();
    }

    #[test]
    fn a_name_in_quotes_finds_itself(name in "[a-zA-Z0-9_ ():<>,/*-]{1,20}") {
        let mut samples = Samples::default();
        samples.add_subject(&name);
        let filter: Filter = format!(".fullname:\"{name}\"").parse().unwrap();
        prop_assert!(filter.accepts(&samples, &samples.subjects[0], &Metric::wall()));
    }
}
