//! The numbered runs of a history. Points of a series and columns of a comparison refer to these
//! numbers.

use super::names::encoded;
use assay_analysis::history::{Point, Revision, Run};
use assay_data::Metric;
use std::collections::HashMap;

/// A run of one revision. A run that measured several revisions is listed once for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The run, whose `revision` is the one described here.
    pub run: Run,
    /// Index of the run's machine in [`Index::machines`].
    pub machine: usize,
    /// Index of the run's revision in [`Index::revisions`], or `None` if the run has none.
    pub revision: Option<usize>,
}

/// All runs of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Index {
    /// Names of the machines. Machines with the same name are numbered.
    pub machines: Vec<String>,
    /// The revisions.
    pub revisions: Vec<Revision>,
    /// The runs, in the order in which they were added.
    pub measured: Vec<Measured>,
    /// The metrics of the store.
    pub metrics: Vec<Metric>,
    /// Indices into [`Self::measured`], in the order of the measured revisions.
    pub order: Vec<usize>,
    places: HashMap<(String, Option<usize>), usize>,
    commits: HashMap<String, usize>,
}

impl Index {
    /// Numbers the runs, with a separate number for each revision that a run measured. O(n log n).
    pub fn new(runs: Vec<Run>, metrics: Vec<Metric>) -> Self {
        let mut index = Self { metrics, ..Self::default() };
        let mut machines: HashMap<String, usize> = HashMap::new();
        for run in runs {
            let next = index.machines.len();
            let machine = *machines.entry(run.fingerprint.clone()).or_insert(next);
            if machine == next {
                let namesakes = index.machines.iter().filter(|name| **name == run.machine).count();
                let name = if namesakes == 0 {
                    run.machine.clone()
                } else {
                    format!("{} #{}", run.machine, namesakes + 1)
                };
                index.machines.push(name);
            }
            let revision = run.revision.as_ref().map(|revision| {
                let next = index.revisions.len();
                let place = *index.commits.entry(revision.commit.clone()).or_insert(next);
                if place == next {
                    index.revisions.push(revision.clone());
                }
                place
            });
            index.places.insert((run.short().to_owned(), revision), index.measured.len());
            index.measured.push(Measured { run, machine, revision });
        }
        let placed = index.revisions.iter().all(|revision| revision.ordinal.is_some())
            && index.measured.iter().all(|measured| measured.revision.is_some());
        let mut order: Vec<usize> = (0..index.measured.len()).collect();
        order.sort_by_key(|&place| {
            let run = &index.measured[place].run;
            let revision = run.revision.as_ref();
            let time =
                revision.and_then(|r| r.time).map_or(run.started, |s| s.saturating_mul(1000));
            (revision.and_then(|r| r.ordinal).filter(|_| placed), time, run.started)
        });
        index.order = order;
        index
    }

    /// Returns the number of the run from which a point in a series comes.
    pub fn of_point(&self, point: &Point) -> Option<usize> {
        let revision = match &point.revision {
            Some(revision) => Some(*self.commits.get(&revision.commit)?),
            None => None,
        };
        self.places.get(&(point.recording.clone(), revision)).copied()
    }

    /// Returns the number of a metric.
    pub fn of_metric(&self, metric: &Metric) -> Option<usize> {
        let same = |m: &Metric| {
            m.name == metric.name && m.unit == metric.unit && m.better == metric.better
        };
        self.metrics.iter().position(same)
    }

    /// Returns the name by which links refer to a run of one revision. It does not change when the
    /// pages are regenerated.
    pub fn link(&self, number: usize) -> String {
        let run = &self.measured[number].run;
        match &run.revision {
            Some(revision) => encoded(&format!("{}.{}", run.short(), revision.short())),
            None => run.short().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(digest: &str, commit: Option<&str>, ordinal: Option<u64>, started: i64) -> Run {
        let revision = commit.map(|commit| Revision {
            commit: commit.to_owned(),
            ordinal,
            ..Revision::default()
        });
        Run {
            id: 0,
            digest: digest.repeat(10),
            started,
            changed: false,
            source: String::new(),
            argv: Vec::new(),
            tool: None,
            results: 1,
            verdict: None,
            machine: "m".to_owned(),
            fingerprint: "f".to_owned(),
            revision,
            metric: None,
        }
    }

    #[test]
    fn a_run_of_two_revisions_has_two_numbers_and_the_order_is_that_of_what_was_measured() {
        let runs = vec![
            run("b", Some("two"), Some(2), 5),
            run("a", Some("one"), Some(1), 9),
            run("a", Some("two"), Some(2), 9),
        ];
        let index = Index::new(runs, Vec::new());
        assert_eq!((index.order.as_slice(), index.revisions.len()), (&[1, 0, 2][..], 2));
        let point = Point {
            recording: "a".repeat(10),
            started: 9,
            revision: index.measured[2].run.revision.clone(),
            result: assay_analysis::history::RunSummary {
                n: 1,
                units: 1,
                centre: 1.0,
                interval: None,
            },
        };
        assert_eq!(index.of_point(&point), Some(2));
        assert_eq!(index.link(2), format!("{}.two", "a".repeat(10)));
        assert_eq!(index.of_point(&Point { revision: None, ..point }), None);
    }

    #[test]
    fn a_link_holds_nothing_that_ends_it() {
        let index = Index::new(vec![run("a", Some("\"><b>&#"), None, 1)], Vec::new());
        assert_eq!(index.link(0), format!("{}.%22%3E%3Cb%3E%26%23", "a".repeat(10)));
    }
}
