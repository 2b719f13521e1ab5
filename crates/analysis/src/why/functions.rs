//! The functions of two sampled programs: the share of each function in the difference in processor
//! time.
//!
//! Each sampled run gives the seconds spent in each function itself, so the functions add up to the
//! whole run. Shares are computed as for the parts of the time. The functions share the error.

use super::{is_known, parts};
use assay_data::Samples;
use assay_stats::descriptive;
use assay_stats::ratio_of_means::RatioOfMeans;

/// The functions of two programs that were sampled alternately.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'a> {
    /// Seconds in each function, with one row per function. The first side is the reference.
    pub runs: &'a Samples,
    /// Name of the row for the whole run.
    pub whole: &'a str,
    /// Name of the row for all functions that have no row of their own.
    pub others: &'a str,
    /// Whether the code of each function changed, by the function's name, where known.
    pub code: &'a [(String, CodeChange)],
}

/// Whether a function's code differs between the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeChange {
    /// The code of the function differs.
    Changed,
    /// The code of the function is the same. The function may be called more often, or call other
    /// functions.
    Same,
    /// Only one of the sides has the function.
    OnOneSide,
    /// It is unknown whether the code differs.
    Unknown,
}

/// A function's part of the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionPart {
    /// Name of the function.
    pub name: String,
    /// Mean difference from the reference, in the unit of the samples.
    pub amount: f64,
    /// Share of the function in the difference in processor time; `None` if unknown.
    pub share: Option<RatioOfMeans>,
    /// Whether the function's code differs between the sides.
    pub code: CodeChange,
}

impl FunctionPart {
    /// Returns true if the share of the function in the difference is known to be positive.
    pub fn is_known(&self) -> bool {
        is_known(self.share)
    }
}

/// Returns the functions, largest share first.
pub(super) fn of(sampled: &Sampled<'_>, confidence: f64) -> Vec<FunctionPart> {
    let samples = sampled.runs;
    let rows = samples.rows.len();
    let row = |name: &str| samples.rows.iter().position(|row| row.name == name);
    let Some(whole) = row(sampled.whole) else { return Vec::new() };
    let named: Vec<usize> = (0..rows)
        .filter(|&index| index != whole && samples.rows[index].name != sampled.others)
        .collect();
    let subject = |side: usize, row: usize| {
        samples.subjects.iter().position(|own| (own.side, own.row) == (side, row))
    };
    let differences = |index: usize| {
        let [old, new] = [0, 1].map(|side| {
            subject(side, index).map(|own| parts::by_block(samples, own, [0])).unwrap_or_default()
        });
        let mut found: Vec<(u32, f64)> = old
            .iter()
            .filter_map(|(block, [old])| Some((*block, new.get(block)?[0] - old)))
            .collect();
        found.sort_by_key(|(block, _)| *block);
        found.into_iter().map(|(_, difference)| difference).collect::<Vec<f64>>()
    };
    let wholes = differences(whole);
    let part = |&index: &usize| {
        let name = samples.rows[index].name.clone();
        let own = differences(index);
        if own.len() != wholes.len() {
            return None;
        }
        let pairs = wholes.iter().zip(&own).map(|(&whole, &own)| [whole, own]).collect();
        let pairs = parts::without_far(pairs);
        let column = |at: usize| -> Vec<f64> { pairs.iter().map(|pair| pair[at]).collect() };
        let (all, own) = (column(0), column(1));
        let code = sampled.code.iter().find(|(known, _)| *known == name);
        Some(FunctionPart {
            amount: descriptive::mean(&own),
            share: parts::share(&own, &all, 1.0, confidence, named.len() as f64),
            code: code.map_or(CodeChange::Unknown, |(_, code)| *code),
            name,
        })
    };
    let mut found: Vec<FunctionPart> = named.iter().filter_map(part).collect();
    let size = |own: &FunctionPart| own.share.map_or(f64::NEG_INFINITY, |share| share.estimate);
    found.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    found
}
