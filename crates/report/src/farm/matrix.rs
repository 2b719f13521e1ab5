//! The matrix of versions and targets. Each cell has the state of the last build, with the largest
//! slowdown or gain of its benchmarks. A sentence above states the version's verdict. The newest
//! version comes first.

use super::state::Marked;
use super::{Frame, minute};
use crate::names::clean;
use crate::number;
use assay_analysis::Verdict;
use assay_analysis::farm::{Judged, Project, words};
use std::collections::BTreeMap;

/// Additional facts about a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionNote {
    /// Publication time, as RFC 3339.
    pub time: String,
    /// True if the version no longer exists at its origin.
    pub is_gone: bool,
}

/// A project's versions and targets.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The known results.
    pub project: &'a Project,
    /// A note on each of the project's versions, in the same order.
    pub notes: &'a [VersionNote],
    /// The versions shown, newest first, with their verdicts.
    pub judged: &'a [Judged],
    /// The number of the last build for each version and target, by their indices.
    pub builds: &'a BTreeMap<(usize, usize), i64>,
}

/// The table in the form that its template takes.
pub(super) struct Table {
    pub heads: Vec<Head>,
    pub rows: Vec<Row>,
    pub legend: Vec<Marked>,
}

pub(super) struct Head {
    pub name: String,
    /// All facts about the target, shown on hover.
    pub facts: String,
}

pub(super) struct Row {
    pub version: String,
    pub when: String,
    pub is_gone: bool,
    pub tone: &'static str,
    pub cells: Vec<Option<MatrixEntry>>,
    pub said: String,
}

pub(super) struct MatrixEntry {
    pub link: String,
    pub mark: Marked,
    pub is_flaky: bool,
    /// Change of the benchmark with the largest slowdown or, if none is slower, the largest gain,
    /// such as `+5.0 %`.
    pub speed: String,
    pub speed_tone: &'static str,
    /// Full description in words.
    pub title: String,
}

/// A sentence about a version, with its tone.
pub(super) struct VersionSentence {
    pub tone: &'static str,
    pub text: String,
}

pub(super) fn tone(tone: words::Tone) -> &'static str {
    match tone {
        words::Tone::Good => "good",
        words::Tone::Bad => "bad",
        words::Tone::Unsure => "unsure",
    }
}

impl Matrix<'_> {
    /// Returns the sentences about a judged version.
    pub(super) fn said(&self, judged: &Judged) -> Vec<VersionSentence> {
        let name = self.project.versions.get(judged.version).map_or("", String::as_str);
        let claims = words::claims(self.project, judged).into_iter();
        claims
            .map(|claim| VersionSentence {
                tone: tone(claim.tone),
                text: clean(&format!("{name}: {}", claim.text)),
            })
            .collect()
    }

    /// Returns the newest of the shown versions that has results.
    pub(super) fn newest(&self) -> Option<&Judged> {
        let known = |judged: &&Judged| {
            judged.builds.tested() > 0
                || !judged.builds.others.is_empty()
                || !judged.benchmarks.is_empty()
        };
        self.judged.iter().find(known)
    }

    pub(super) fn table(&self, frame: &Frame) -> Table {
        let states: BTreeMap<(usize, usize), _> =
            self.project.cells.iter().map(|cell| ((cell.version, cell.target), cell)).collect();
        let head = |target: &assay_analysis::farm::Target| {
            let facts = target.facts.iter().map(|(name, value)| format!("{name} {value}"));
            Head { name: clean(&target.name), facts: clean(&facts.collect::<Vec<_>>().join(", ")) }
        };
        let row = |judged: &Judged| {
            let version = judged.version;
            let note = self.notes.get(version).cloned().unwrap_or_default();
            let said = words::claims(self.project, judged);
            let cell = |target: usize| {
                let cell = states.get(&(version, target))?;
                let (speed, speed_tone) = moved_most(judged, target);
                let mark = Marked::of(cell.last);
                let is_flaky = cell.passed > 0 && cell.failed > 0;
                let build = self.builds.get(&(version, target)).copied().unwrap_or(0);
                let flaky = if is_flaky { ", flaky" } else { "" };
                let name = self.project.targets.get(target).map_or("", |target| &target.name);
                let beside = if speed.is_empty() { String::new() } else { format!(", {speed}") };
                let title = format!("{}{flaky}{beside} on {name}", mark.word);
                Some(MatrixEntry {
                    link: frame.of_build(build),
                    mark,
                    is_flaky,
                    speed,
                    speed_tone,
                    title: clean(&title),
                })
            };
            Row {
                version: super::version(
                    self.project.versions.get(version).map_or("", String::as_str),
                ),
                when: minute(&note.time),
                is_gone: note.is_gone,
                tone: said.first().map_or("", |claim| tone(claim.tone)),
                cells: (0..self.project.targets.len()).map(cell).collect(),
                said: clean(
                    &said.iter().map(|claim| claim.text.as_str()).collect::<Vec<_>>().join(". "),
                ),
            }
        };
        Table {
            heads: self.project.targets.iter().map(head).collect(),
            rows: self.judged.iter().map(row).collect(),
            legend: Marked::all(),
        }
    }
}

/// Returns the largest slowdown of a benchmark on a target or, if there is none, the largest gain;
/// also its CSS class. Both are empty if no change is certain.
pub(super) fn moved_most(judged: &Judged, target: usize) -> (String, &'static str) {
    let on = judged.benchmarks.iter().flat_map(|benchmark| &benchmark.on);
    let sure = on.filter(|on| {
        on.target == target
            && on.decision.verdict.is_directional()
            && !on.decision.possibly_below_threshold
    });
    let most = sure.max_by(|a, b| {
        let size = |on: &assay_analysis::farm::OnTarget| {
            (on.decision.verdict == Verdict::Slower, on.decision.estimate.abs())
        };
        let ((a_worse, a), (b_worse, b)) = (size(a), size(b));
        a_worse.cmp(&b_worse).then(a.total_cmp(&b))
    });
    match most {
        None => (String::new(), ""),
        Some(on) => (
            number::change(on.decision.estimate.exp(), None),
            if on.decision.verdict == Verdict::Slower { "bad" } else { "good" },
        ),
    }
}
