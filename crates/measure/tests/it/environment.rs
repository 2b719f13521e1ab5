//! The facts about this machine are collected quickly and are plausible, on any machine.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::time::{Duration, Instant};

use assay_measure::environment::{self, StolenTime};
use common::Emulated;

#[test]
fn the_facts_come_quickly_in_a_fixed_order_and_each_once() {
    let _ = environment::capture();
    // The best of several, since other processes compete.
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            let _ = environment::capture();
            start.elapsed()
        })
        .min();
    assert!(
        best < Some(Duration::from_millis(50)) || common::is_emulated(Emulated::Time),
        "{best:?}"
    );
    let names = |facts: Vec<(String, serde_json::Value)>| {
        facts.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let (first, second) = (names(environment::capture()), names(environment::capture()));
    let mut unique = first.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), first.len());
    // Only whether git answers in time may differ.
    let stable =
        |all: Vec<String>| all.into_iter().filter(|name| name != "git_dirty").collect::<Vec<_>>();
    let without = names(environment::capture_without_git());
    assert!(!without.contains(&"git_dirty".to_owned()), "{without:?}");
    assert_eq!(stable(first.clone()), stable(second));
    assert_eq!(stable(first), stable(without));
}

#[test]
fn facts_that_are_named_are_the_same_as_among_all() {
    let all = environment::capture_without_git();
    // Those change by themselves.
    let stable = |name: &str| !["load_1m", "processes_running", "steal_share"].contains(&name);
    for (name, value) in all.iter().filter(|(name, _)| stable(name) && !name.starts_with("clock_"))
    {
        assert_eq!(environment::capture_only(&[name]), [(name.clone(), value.clone())]);
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let again: Vec<String> =
        environment::capture_only(&names).into_iter().map(|(name, _)| name).collect();
    assert_eq!(again, names);
    assert_eq!(environment::capture_only(&[]), []);
}

#[test]
fn the_facts_make_sense_together() {
    let facts: std::collections::HashMap<_, _> =
        environment::capture_with_share().into_iter().collect();
    let number = |name: &str| facts[name].as_f64().unwrap();
    assert_eq!(facts["os"], "linux");
    assert!(number("cpus_allowed") >= 1.0 && number("cpus_allowed") <= number("cpus_online"));
    let allowed = environment::allowed_cpus();
    assert_eq!(allowed.len() as f64, number("cpus_allowed"));
    assert!(allowed.is_sorted(), "{allowed:?}");
    assert!(number("memory_total") > 1e6);
    assert!(number("clock_cost_seconds") > 0.0 && number("clock_cost_seconds") < 1e-4);
    assert!(number("clock_resolution_seconds") > 0.0);
    assert!(number("cpu_share") > 0.0 && number("cpu_share") <= 1.0);
    assert!((0.0..=1.0).contains(&number("steal_share")));
    // Not every kernel or container reports these.
    let told = |name: &str| facts.get(name).map(|fact| fact.as_f64().unwrap());
    assert!(told("swap_total").is_none_or(|bytes| bytes >= 0.0));
    assert!(told("perf_event_paranoid").is_none_or(|level| (-1.0..=10.0).contains(&level)));
    assert!(told("thermal_throttle_count").is_none_or(|count| count >= 0.0));
    for name in ["isolated_cpus", "nohz_full"] {
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b",-".contains(&b));
        assert!(facts.get(name).is_none_or(|list| digits(list.as_str().unwrap())), "{facts:?}");
    }
    assert!(StolenTime::start().unwrap().seconds().unwrap() >= 0.0);
}
