//! Converts the contents of the store to the types used by the verdicts and the pages. Terms of the
//! API are translated to those of the analysis only here.

use assay_analysis::farm::{self, Measured, Project, Target};
use assay_analysis::{Interval, Verdict};
use assay_data::Better;
use assay_farm::builds::shown::{self, BuildLine, States};
use assay_farm::builds::wire::{self, BenchmarkComparison, Matrix, MatrixCell};
use assay_report::farm::{Calibration, Lease, Line, Sum, VersionLine, VersionNote};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A project's matrix in the form used for judging and display. Versions are indexed oldest first.
pub(crate) struct JudgedMatrix {
    pub project: Project,
    /// Notes on each version, in the order of the versions.
    pub notes: Vec<VersionNote>,
    /// Number of the latest build of each version on each target. The keys are the indices of the
    /// version and the target.
    pub builds: BTreeMap<(usize, usize), i64>,
}

impl JudgedMatrix {
    pub fn of(matrix: &Matrix) -> Self {
        let versions: Vec<&wire::Version> = matrix.versions.iter().rev().collect();
        let places: HashMap<&str, usize> = versions
            .iter()
            .enumerate()
            .map(|(place, version)| (version.name.as_str(), place))
            .collect();
        let targets: HashMap<&str, usize> = matrix
            .targets
            .iter()
            .enumerate()
            .map(|(place, target)| (target.digest.as_str(), place))
            .collect();
        let rising = rising(matrix);
        let mut known = Self {
            project: Project {
                targets: matrix.targets.iter().map(target).collect(),
                versions: versions.iter().map(|version| version.name.clone()).collect(),
                ..Project::default()
            },
            notes: versions.iter().map(|version| note(version)).collect(),
            builds: BTreeMap::new(),
        };
        for (name, row) in &matrix.cells {
            let Some(&version) = places.get(name.as_str()) else { continue };
            for (digest, cell) in row {
                let Some(&target) = targets.get(digest.as_str()) else { continue };
                known.builds.insert((version, target), cell.build);
                known.project.cells.push(farm::TargetBuilds {
                    version,
                    target,
                    last: cell.state,
                    passed: cell.passed,
                    failed: cell.failed,
                });
                let base = cell.base.as_deref().and_then(|base| places.get(base)).copied();
                known.project.measured.extend(measured(cell, version, base, target, &rising));
            }
        }
        known
    }

    /// Returns the indices of all versions, newest first.
    pub fn newest_first(&self) -> Vec<usize> {
        (0..self.project.versions.len()).rev().collect()
    }
}

fn target(target: &wire::Target) -> Target {
    Target { name: target.of.name.clone(), facts: target.of.facts.clone() }
}

fn note(version: &wire::Version) -> VersionNote {
    VersionNote { time: version.of.published.clone().unwrap_or_default(), is_gone: version.is_gone }
}

/// Returns the measurements in a cell. If a benchmark occurs twice, which only forged data can
/// contain, the first one is used.
fn measured<'a>(
    cell: &'a MatrixCell,
    version: usize,
    base: Option<usize>,
    target: usize,
    rising: &'a BTreeSet<(&str, &str)>,
) -> impl Iterator<Item = Measured> + 'a {
    let mut seen = BTreeSet::new();
    let comparisons = cell.comparisons.iter();
    comparisons.filter(move |c| seen.insert((&c.benchmark, &c.metric))).map(move |compared| {
        let is_rising = rising.contains(&(compared.benchmark.as_str(), compared.metric.as_str()));
        Measured {
            version,
            base,
            target,
            benchmark: compared.benchmark.clone(),
            metric: compared.metric.clone(),
            better: if is_rising { Better::Higher } else { Better::Lower },
            verdict: verdict(&compared.verdict),
            ratio: compared.ratio,
            interval: Interval { lower: compared.lower, upper: compared.upper },
            n: compared.n,
        }
    })
}

/// Returns the name and metric of the benchmarks for which higher values are better. The API does
/// not state the direction. It is derived from the verdicts: higher is better if any run called a
/// higher value faster, or a lower one slower.
fn rising(matrix: &Matrix) -> BTreeSet<(&str, &str)> {
    let all = matrix.cells.values().flat_map(BTreeMap::values).flat_map(|cell| &cell.comparisons);
    let is_rising = |compared: &&BenchmarkComparison| match verdict(&compared.verdict) {
        Verdict::Faster => compared.ratio > 1.0,
        Verdict::Slower => compared.ratio < 1.0,
        _ => false,
    };
    all.filter(is_rising).map(|c| (c.benchmark.as_str(), c.metric.as_str())).collect()
}

/// Parses a verdict of the API. An unknown verdict counts as inconclusive.
fn verdict(word: &str) -> Verdict {
    Verdict::of(word).unwrap_or(Verdict::Inconclusive)
}

pub(crate) fn sums(states: &States) -> Vec<Sum> {
    states.iter().map(|(of, count)| (*of, *count)).collect()
}

/// Returns the string to which `serde` serializes a value; empty if it is not a string.
pub(crate) fn word(of: impl serde::Serialize) -> String {
    match serde_json::to_value(of) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

pub(crate) fn line(line: &BuildLine) -> Line {
    Line {
        id: line.id,
        owner: line.owner.clone(),
        project: line.project.clone(),
        version: line.version.clone(),
        target: line.target_name.clone(),
        node: line.node.clone(),
        kind: word(line.kind),
        state: line.state,
        fault: line.fault.map(word),
        reason: line.reason.clone(),
        added: line.added.clone(),
        seconds: line.seconds,
        tests: line.tests,
        failed: line.failed,
        is_evidence: line.is_evidence,
    }
}

pub(crate) fn lines(all: &[BuildLine]) -> Vec<Line> {
    all.iter().map(line).collect()
}

pub(crate) fn version_line(line: &shown::VersionLine) -> VersionLine {
    VersionLine { name: line.name.clone(), time: line.time.clone(), states: sums(&line.states) }
}

pub(crate) fn lease(lease: &shown::LeaseLine) -> Lease {
    Lease {
        node: lease.node.clone(),
        began: lease.began.clone(),
        ended: lease.ended.clone(),
        how: lease.how.clone(),
    }
}

pub(crate) fn calibration(of: &wire::Calibration) -> Calibration {
    Calibration {
        time: of.time.clone(),
        false_alarms: of.false_alarms,
        comparisons: of.comparisons,
        detects: of.detects,
        is_fit: of.is_fit,
        reason: of.reason.clone(),
    }
}

/// Returns a description of the origin of a project's versions.
pub(crate) fn origin(origin: Option<&wire::Origin>) -> String {
    use wire::Origin;
    let of = |what: &str, name: &str, index: &Option<String>, usual: &str| {
        format!("{what} {name} of {}", index.as_deref().unwrap_or(usual))
    };
    match origin {
        None => "Its versions are added by hand.".to_owned(),
        Some(Origin::Git { url }) => format!("Branches and tags of {url}"),
        Some(Origin::Gem { name, index }) => of("Gem", name, index, "rubygems.org"),
        Some(Origin::PyPi { name, index }) => of("Package", name, index, "pypi.org"),
        Some(Origin::Command { list, .. }) => format!("Versions listed by a command: {list}"),
    }
}
