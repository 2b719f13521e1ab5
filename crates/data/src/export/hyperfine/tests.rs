//! Real files of hyperfine 1.20 and 2.0 (their first results), imported as samples, must be
//! exported unchanged.

#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::{Environment, Metric, Plan, Threshold, Unit};
use serde_json::{Value as Json, json};

const V1: &str = include_str!("v1.json");
const V2: &str = include_str!("v2.json");

fn metrics() -> Vec<Metric> {
    let seconds = ["wall", "cpu", "user", "system"].map(|name| Metric::lower(name, Unit::Second));
    let mut metrics = seconds.to_vec();
    metrics.push(Metric::lower("max_rss", Unit::Byte));
    metrics.push(Metric::lower("minor_faults", Unit::One));
    metrics
}

/// Asserts that the members have the same JSON types, and that numbers are equal up to the rounding
/// caused by a different order of summation.
fn assert_same(ours: &Json, theirs: &Json, place: &str) {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            let names = |map: &serde_json::Map<String, Json>| {
                let mut names: Vec<_> = map.keys().cloned().collect();
                names.sort();
                names
            };
            assert_eq!(names(a), names(b), "{place}");
            for (name, value) in a {
                assert_same(value, &b[name], &format!("{place}/{name}"));
            }
        }
        (Json::Array(a), Json::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                assert_same(a, b, &format!("{place}/{index}"));
            }
        }
        (Json::Number(a), Json::Number(b)) => {
            let (x, y) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((x - y).abs() <= 1e-12 * y.abs(), "{place}: {x} and {y}");
            assert!(a.is_f64() || b.is_i64() || y.fract() == 0.0, "{place}");
        }
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

fn written(samples: &Samples, write: impl Fn(&Samples, &mut Vec<u8>) -> io::Result<()>) -> Json {
    let mut text = Vec::new();
    write(samples, &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn one(samples: &Samples) -> Json {
    written(samples, hyperfine)
}

fn two(samples: &Samples) -> Json {
    written(samples, hyperfine2)
}

fn run(subject: usize, outcome: Outcome, values: Vec<f64>) -> Observation {
    Observation { subject, outcome, values, ..Observation::default() }
}

#[test]
fn a_file_of_hyperfine_1_comes_back_the_same() {
    let theirs: Json = serde_json::from_str(V1).unwrap();
    let mut samples = Samples::new(metrics());
    for result in theirs["results"].as_array().unwrap() {
        let number = |value: &Json| value.as_f64().unwrap();
        let subject = samples.add_command(Subject {
            name: result["command"].as_str().unwrap().to_owned(),
            command: Some(result["command"].as_str().unwrap().to_owned()),
            parameters: vec![("n".to_owned(), result["parameters"]["n"].as_str().unwrap().into())],
            ..Subject::default()
        });
        for (index, time) in result["times"].as_array().unwrap().iter().enumerate() {
            let outcome = match result["exit_codes"][index].as_i64().unwrap() {
                0 => Outcome::Ok,
                status => Outcome::Exit(status as i32),
            };
            let (user, system) = (number(&result["user"]), number(&result["system"]));
            let memory = number(&result["memory_usage_byte"][index]);
            samples.push(run(
                subject,
                outcome,
                vec![number(time), user, user, system, memory, 7.0],
            ));
        }
    }
    assert_same(&one(&samples), &theirs, "");
    let order = |file: &Json| -> Vec<String> {
        file["results"][0].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(order(&one(&samples)), order(&theirs));
}

#[test]
fn a_file_of_hyperfine_2_comes_back_the_same() {
    let mut theirs: Json = serde_json::from_str(V2).unwrap();
    let mut samples = Samples::new(metrics());
    samples.tool = Some("assay 0.1.0".to_owned());
    samples.started = Some(theirs["metadata"]["start_time"].as_str().unwrap().to_owned());
    samples.environment = Environment::from_facts([
        ("os".to_owned(), json!("Linux 6.1")),
        ("arch".to_owned(), json!("x86_64")),
    ]);
    let result = &theirs["results"][0];
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let subject = samples.add_command(Subject {
        name: text(&result["name"]),
        command: Some(text(&result["command"])),
        parameters: vec![("n".to_owned(), text(&result["parameters"]["n"]["value"]).into())],
        env: vec![("DEMO".to_owned(), text(&result["environment"]["DEMO"]))],
        ..Subject::default()
    });
    for measurement in result["measurements"].as_array().unwrap() {
        let value =
            |(_, theirs, _): (&str, &str, &str)| measurement[theirs]["value"].as_f64().unwrap();
        samples.push(run(subject, Outcome::Ok, METRICS.map(value).to_vec()));
    }
    let ours = two(&samples);
    assert_eq!(ours["metadata"]["hyperfine_version"], "assay 0.1.0");
    theirs["metadata"]["hyperfine_version"] = json!("assay 0.1.0");
    assert_same(&ours, &theirs, "");
}

fn small() -> Samples {
    let mut samples = Samples::new(metrics());
    samples.add_command(Subject {
        name: "a".into(),
        command: Some("x".into()),
        ..Subject::default()
    });
    samples.add_command(Subject {
        name: "b".into(),
        command: Some("x".into()),
        ..Subject::default()
    });
    samples.add_command(Subject { name: "never run".into(), ..Subject::default() });
    samples.push(run(0, Outcome::Ok, vec![1.0, f64::NAN, f64::NAN, f64::NAN, 4096.0]));
    samples.push(run(1, Outcome::Signal(9), vec![2.0, 0.5]));
    samples.push(run(0, Outcome::Timeout, vec![4.0, f64::NAN]));
    samples
}

#[test]
fn what_was_not_measured_is_left_out_or_null() {
    let file = one(&small());
    assert_eq!(file["results"].as_array().unwrap().len(), 2);
    let [a, b] = [&file["results"][0], &file["results"][1]];
    assert_eq!(a["times"], json!([1.0, 4.0]));
    assert_eq!((&a["mean"], &a["median"], &a["user"]), (&json!(2.5), &json!(2.5), &json!(0.0)));
    assert_eq!(a["exit_codes"], json!([0, null]));
    assert!(a.get("memory_usage_byte").is_none(), "one run lacks it, so the lists would not match");
    assert!(a.get("parameters").is_none());
    assert_eq!((&b["stddev"], &b["exit_codes"]), (&Json::Null, &json!([null])));

    let file = two(&small());
    let a = &file["results"][0];
    assert_eq!(
        a["measurements"][0]["memory_peak_resident"],
        json!({"value": 4096.0, "unit": "byte"})
    );
    assert_eq!(
        a["measurements"][1],
        json!({"time_wall_clock": {"value": 4.0, "unit": "second"}, "exit_code": null})
    );
    assert_eq!(a["summary"]["memory_peak_resident"]["count"], 1);
    assert!(a["summary"].get("time_cpu").is_none());
    assert_eq!(file["metadata"], json!({"hyperfine_version": "assay", "platform": {}}));
}

#[test]
fn commands_that_are_the_same_are_told_apart_by_name() {
    let mut samples = small();
    let names = |samples: &Samples| [0, 1].map(|i| one(samples)["results"][i]["command"].clone());
    assert_eq!(names(&samples), [json!("a"), json!("b")]);
    samples.subjects[1].command = Some("y".to_owned());
    assert_eq!(names(&samples), [json!("x"), json!("y")]);
    assert_eq!(two(&samples)["results"][1]["name"], "b");
    // A name given by the user is written in addition to the command.
    assert_eq!(one(&samples)["results"][1]["name"], "b");
    samples.subjects[1].name = "y".to_owned();
    assert!(one(&samples)["results"][1].get("name").is_none());
}

#[test]
fn the_metric_that_decides_is_named_where_hyperfine_has_it() {
    let mut samples = small();
    let mut plan = Plan::sequential(0.95, Threshold::default(), 1);
    for (ours, theirs) in [
        ("cpu", "time_cpu"),
        ("max_rss", "memory_peak_resident"),
        ("minor_faults", "time_wall_clock"),
    ] {
        plan.primary = ours.to_owned();
        samples.plan = Some(plan.clone());
        assert_eq!(two(&samples)["primary_metric"], theirs);
    }
}

#[test]
fn samples_without_wall_time_are_refused() {
    let samples = Samples::new(vec![Metric::lower("cpu", Unit::Second)]);
    for result in [hyperfine(&samples, &mut Vec::new()), hyperfine2(&samples, &mut Vec::new())] {
        assert!(result.unwrap_err().to_string().contains("no metric `wall`"));
    }
}
