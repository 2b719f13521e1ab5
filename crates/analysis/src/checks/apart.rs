//! Findings about sides that were recorded in separate runs, with advice that fits the recordings,
//! and about commands that are not compared.

use crate::analysis::Analysis;
use crate::describe::SubjectSummary;
use assay_data::advice::RecordedSides;
use assay_data::{Action, Finding, Samples, code};

/// The noun for the rows of test suites.
const TEST: &str = "test";

/// Returns the caveat that the sides were not measured in blocks, with advice, unless the importer
/// knows the order of the recordings.
pub(crate) fn of_separate_runs(samples: &Samples, analysis: &Analysis) -> Option<Finding> {
    let is_order = |f: &Finding| f.is(code::RECORDINGS_ALTERNATE) || f.is(code::NOT_INTERLEAVED);
    if samples.findings.iter().any(is_order) {
        return None;
    }
    let sides = recorded(analysis);
    let action = sides.map_or(Action::MeasureInBlocks, |sides| Action::MeasureTogether { sides });
    let within = sides == Some(RecordedSides::WithinProgram);
    let difference = match analysis.is_suite() {
        true => "every difference; more repetitions do not remove it",
        false => "the difference",
    };
    Some(not_interleaved(within, difference).advise(action))
}

/// Returns the finding that the sides were not measured in blocks, without advice. `within` is true
/// if they were measured one after the other in one recording. `difference` names what drift is
/// part of.
pub(crate) fn not_interleaved(within: bool, difference: &str) -> Finding {
    let how = match within {
        true => "measured one after the other, so drift is part of",
        false => "recorded in separate runs, so drift between them is part of",
    };
    Finding::new(code::NOT_INTERLEAVED, format!("{how} {difference}"))
}

/// Returns the kind of the recorded sides; `None` for sides with different commands, and for single
/// series of numbers.
fn recorded(analysis: &Analysis) -> Option<RecordedSides> {
    if !analysis.answers.is_empty() {
        return Some(RecordedSides::Servers);
    }
    if !analysis.testing.is_empty() || analysis.noun == TEST {
        return Some(RecordedSides::TestSuites);
    }
    if is_of_one_recording(analysis) {
        return Some(RecordedSides::WithinProgram);
    }
    let command = |subject: usize| analysis.subjects[subject].command.as_ref();
    let mut pairs = analysis.comparisons.iter().map(|c| (command(c.of), command(c.against)));
    let is_same = pairs.clone().all(|(of, against)| of.is_some() && of == against);
    match is_same && pairs.len() > 0 {
        true => Some(RecordedSides::SameCommand),
        false if pairs.all(|(of, against)| of.is_some() && against.is_some()) => None,
        false => analysis.is_suite().then_some(RecordedSides::Benchmarks),
    }
}

/// Returns true if all sides are benchmarks of one file, distinguished by name or parameters.
fn is_of_one_recording(analysis: &Analysis) -> bool {
    let source = analysis.sides.first().and_then(|side| side.source.as_ref());
    source.is_some()
        && analysis.sides.iter().all(|side| side.source.as_ref() == source)
        && analysis.rows.iter().all(|row| !row.name.is_empty())
}

/// Returns true for a command that only one side of a suite has, so that it is not compared.
pub(crate) fn is_unmatched(analysis: &Analysis, subject: &SubjectSummary) -> bool {
    let lacks = |row: usize| {
        analysis.only.iter().any(|only| only.metric.is_none() && only.rows.contains(&row))
    };
    subject.command.is_some() && !analysis.comparisons.is_empty() && lacks(subject.row)
}
