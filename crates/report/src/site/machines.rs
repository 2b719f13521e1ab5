//! The machines of a history over time: the state of the machine in each run, and its last
//! calibration.

use super::data;
use super::{Around, Frame, Index};
use crate::history::{revision_of, time};
use crate::html::fact;
use crate::names::clean;
use askama::Template;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of last runs on the page. The script shows all runs.
const LAST: usize = 30;

/// The contents of the page of machines, with the states that runs recorded.
#[derive(Clone, Copy, Debug)]
pub struct MachineStates<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// The runs.
    pub index: &'a Index,
    /// The recorded facts, each with the ID of its run in the store, its name and its value.
    pub states: &'a [(i64, String, f64)],
}

#[derive(Template)]
#[template(path = "site/machines.html")]
struct Page<'a> {
    around: Around<'a>,
    series: String,
    machines: Vec<Machine>,
}

struct Machine {
    name: String,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Facts of each machine by machine and name, each with the numbers of the runs that recorded it
/// and its values, in chronological order.
type Facts<'a> = BTreeMap<(usize, &'a str), Vec<(usize, f64)>>;

impl MachineStates<'_> {
    fn facts(&self) -> Facts<'_> {
        // Count a run of several revisions only once.
        let numbers: BTreeMap<i64, usize> = self
            .index
            .measured
            .iter()
            .enumerate()
            .rev()
            .map(|(number, m)| (m.run.id, number))
            .collect();
        let mut facts = Facts::new();
        for (run, name, value) in self.states {
            if let Some(&number) = numbers.get(run) {
                facts
                    .entry((self.index.measured[number].machine, name))
                    .or_default()
                    .push((number, *value));
            }
        }
        for values in facts.values_mut() {
            values.sort_by_key(|&(number, _)| (self.index.measured[number].run.started, number));
        }
        facts
    }

    /// Returns `data/machines.js`: a series for each fact of each machine.
    pub fn script(&self) -> String {
        let series = self.facts();
        let line = |((machine, name), values): (&(usize, &str), &Vec<(usize, f64)>)| {
            let unit = if name.ends_with("_seconds") {
                "s"
            } else if is_share(name) {
                "%"
            } else {
                "1"
            };
            let scale = if unit == "%" { 100.0 } else { 1.0 };
            let values: Vec<(usize, f64)> =
                values.iter().map(|&(number, value)| (number, value * scale)).collect();
            data::state(
                &key(*machine, name),
                &self.title(*machine, name),
                unit,
                &values,
                &self.frame.stamp,
            )
        };
        series.iter().map(line).collect()
    }

    fn title(&self, machine: usize, name: &str) -> String {
        format!("{}: {}", clean(&self.index.machines[machine]), words(name))
    }

    fn machine(&self, machine: usize, facts: &Facts<'_>) -> Machine {
        let own: Vec<(&str, &Vec<(usize, f64)>)> = facts
            .iter()
            .filter(|((on, _), _)| *on == machine)
            .map(|((_, name), values)| (*name, values))
            .collect();
        let mut numbers: Vec<usize> =
            own.iter().flat_map(|(_, values)| values.iter().map(|(number, _)| *number)).collect();
        numbers.sort_by_key(|&number| {
            std::cmp::Reverse((self.index.measured[number].run.started, number))
        });
        numbers.dedup();
        numbers.truncate(LAST);
        let mut heads = vec!["revision".to_owned(), "measured".to_owned()];
        heads.extend(own.iter().map(|(name, _)| words(name)));
        let row = |&number: &usize| {
            let run = &self.index.measured[number].run;
            let mut row = vec![clean(&revision_of(run)), time(run.started)];
            row.extend(own.iter().map(|(name, values)| {
                let value = values.iter().rev().find(|(of, _)| *of == number);
                value.map_or_else(String::new, |(_, value)| {
                    fact((&(*name).to_owned(), &Value::from(*value))).1
                })
            }));
            row
        };
        let rows = numbers.iter().map(row).collect();
        Machine { name: clean(&self.index.machines[machine]), heads, rows }
    }
}

fn is_share(name: &str) -> bool {
    name.ends_with("_share") || name.starts_with("calibrated_")
}

fn key(machine: usize, name: &str) -> String {
    format!("machine-{machine}-{name}")
}

/// Returns the description of a fact.
fn words(name: &str) -> String {
    match name {
        "calibrated_wall_60s" => "smallest detectable change of wall time in a minute".to_owned(),
        "calibrated_cpu_60s" => "smallest detectable change of CPU time in a minute".to_owned(),
        "load_1m" => "load before the run".to_owned(),
        "steal_share" => "share taken by the hypervisor since boot".to_owned(),
        "cpu_share" => "share of a processor that was free".to_owned(),
        "processes_running" => "other processes running".to_owned(),
        "clock_cost_seconds" => "cost of reading the clock".to_owned(),
        other => other.trim_end_matches("_seconds").replace('_', " "),
    }
}

/// Renders the page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn machines(of: &MachineStates<'_>) -> Result<String, askama::Error> {
    let facts = of.facts();
    let series: Vec<Value> = facts
        .keys()
        .map(|&(machine, name)| json!([key(machine, name), of.title(machine, name)]))
        .collect();
    Page {
        around: Around::of(of.frame, "Machines", ""),
        series: Value::from(series).to_string(),
        machines: (0..of.index.machines.len()).map(|machine| of.machine(machine, &facts)).collect(),
    }
    .render()
}
