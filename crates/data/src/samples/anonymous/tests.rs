//! Tests of the data that an anonymous record keeps, and of the data that are removed.

use super::*;
use crate::{Environment, Finding, Metric, ParameterValue, Severity, Subject};
use proptest::prelude::*;

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
}

fn parameters(of: &[(&str, &str)]) -> Vec<(String, ParameterValue)> {
    of.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect()
}

fn recorded() -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    let facts = ["hostname", "user", "cwd", "git_commit", "git_dirty", "git_remote", "paths"];
    samples.environment =
        Environment::from_facts(facts.map(|fact| (fact.to_owned(), "joe-secret".into())));
    samples.environment.set("git_commit@old", "joe-secret");
    samples.environment.set("cpu_model", "Fast 3000");
    samples.argv = ["/opt/joe-secret/assay", "run", "--save=/home/joe-secret/x.assay", "-C"]
        .map(str::to_owned)
        .to_vec();
    samples.argv.push("/home/joe-secret".to_owned());
    samples.argv.push("joe-secret/old/sort -k 1 ~/joe-secret/data > /joe-secret/out".to_owned());
    samples.add_command(Subject {
        name: "joe-secret/old/sort".to_owned(),
        command: Some("joe-secret/old/sort -k 1 ~/joe-secret/data".to_owned()),
        cwd: Some("/home/joe-secret".to_owned()),
        env: pairs(&[("LIBRARIES", "/joe-secret/a:/joe-secret/b"), ("LANG", "C")]),
        parameters: parameters(&[("data", "/joe-secret/1/data"), ("n", "4")]),
        files: pairs(&[("/home/joe-secret/odd: name/b.sh", "sha256:1")]),
        ..Subject::default()
    });
    samples.add_command(Subject {
        name: "joe-secret/new/sort".to_owned(),
        command: Some("joe-secret/new/sort -k 1 ~/joe-secret/data".to_owned()),
        parameters: parameters(&[("data", "/joe-secret/2/data"), ("n", "4")]),
        ..Subject::default()
    });
    samples.sides[0].source = Some("/home/joe-secret/results/old.csv".to_owned());
    let finding = Finding::new(crate::code::FAILURES, "one failed").at(Severity::Warning);
    samples.findings.push(finding.about("joe-secret/new/sort"));
    samples
}

#[test]
fn nothing_tells_who_or_where_any_more() {
    let mut samples = recorded();
    assert!(format!("{samples:?}").contains("joe-secret"));
    samples.make_anonymous();
    let left = format!("{samples:?}");
    assert!(!left.contains("joe-secret"), "{left}");
    let again = samples.clone();
    samples.make_anonymous();
    assert_eq!(samples, again);
}

#[test]
fn what_was_measured_is_still_known() {
    let mut samples = recorded();
    samples.make_anonymous();
    assert_eq!(samples.environment.text("cpu_model"), Some("Fast 3000"));
    let line = ["assay", "run", "--save=x.assay", "-C", "~", "sort -k 1 data > out"];
    assert_eq!(samples.argv, line);
    let [old, new] = [&samples.subjects[0], &samples.subjects[1]];
    assert_eq!((old.name.as_str(), new.name.as_str()), ("sort", "sort #2"));
    assert_eq!(old.command.as_deref(), Some("sort -k 1 data"));
    let source = samples.sides[0].source.as_deref();
    assert_eq!((old.cwd.as_deref(), source), (None, Some("old.csv")));
    assert_eq!(old.env, pairs(&[("LIBRARIES", "…"), ("LANG", "…")]));
    // A change of the file is still noticed, and the two values are still different.
    assert_eq!(old.files, pairs(&[("b.sh", "sha256:1")]));
    assert_eq!(old.parameters, parameters(&[("data", "data"), ("n", "4")]));
    assert_eq!(new.parameters, parameters(&[("data", "data #2"), ("n", "4")]));
    assert_eq!(samples.findings[0].subject.as_deref(), Some("sort #2"));
}

#[test]
fn a_path_is_cut_to_its_last_component() {
    for (text, left) in [
        ("/a/b", "b"),
        ("--save=/a/b", "--save=b"),
        ("old/app", "app"),
        ("/home/joe", "~"),
        ("/home/joe/", "~"),
        ("/Users/joe", "~"),
        ("/home/joe/x", "x"),
        ("dir/", "dir"),
        ("/", "/"),
        ("cat '/a/b' | tee /c/d;x", "cat 'b' | tee d;x"),
        ("/a/my\\ own/file", "file"),
        ("https://host.example/joe/page", "https:page"),
        ("./app", "./app"),
        ("../../app", "../../app"),
        ("./joe/app", "app"),
        ("rate:1/s", "rate:1/s"),
        ("--time 10s", "--time 10s"),
    ] {
        assert_eq!(without_directories(text), left);
    }
}

#[test]
fn a_name_that_is_no_path_of_the_command_stays() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.add_command(Subject {
        name: "read/write".to_owned(),
        command: Some("/a/bench".to_owned()),
        ..Subject::default()
    });
    samples.make_anonymous();
    assert_eq!(samples.subjects[0].name, "read/write");
    assert_eq!(samples.subjects[0].command.as_deref(), Some("bench"));
}

proptest! {
    #[test]
    fn whatever_the_text_no_directory_is_left_and_nothing_breaks(text in "[ab/.~=: 1s\\\\\"]{0,24}|.{0,40}") {
        let once = without_directories(&text);
        prop_assert_eq!(without_directories(&once), once.clone());
        for (piece, _) in pieces(&once) {
            let directories = piece.trim_end_matches('/').rsplit_once('/').map_or("", |(d, _)| d);
            let tells = directories.split('/').any(|d| !["", ".", ".."].contains(&d));
            prop_assert!(!tells || piece == PER_SECOND, "{} in {}", piece, once);
        }
    }
}
