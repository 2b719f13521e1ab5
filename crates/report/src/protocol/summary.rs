//! An overview of several chains: a row for each pair with its outcome, its difference, and the
//! steps that did not pass. The terminal, the page and Markdown show the same table before the
//! chains themselves.

use super::words::{Teller, shown};
use crate::number;
use assay_analysis::Analysis;
use assay_analysis::protocol::{Protocol, Status};

/// Returns the headings of the table and a row for each chain, or `None` for a single chain, which
/// needs no summary.
pub(super) fn rows(
    analysis: &Analysis,
    chains: &[Protocol],
    names: &[String],
) -> Option<([String; 5], Vec<[String; 5]>)> {
    let first = chains.first().filter(|_| chains.len() > 1)?;
    let sure = number::chosen_percent(first.confidence);
    let heads = ["pair", "outcome", "difference", &format!("{sure} interval"), "did not pass"];
    let rows = chains.iter().map(|chain| row(&Teller::new(analysis, chain, names), chain));
    Some((heads.map(str::to_owned), rows.collect()))
}

fn row(teller: &Teller<'_>, chain: &Protocol) -> [String; 5] {
    let nothing = || "-".to_owned();
    let (difference, interval) = chain.effect.found.as_ref().map_or_else(
        || (nothing(), nothing()),
        |found| {
            let column = teller.column(found);
            let ends = |i: assay_analysis::Interval| {
                format!("[{} … {}]", column.number(i.lower), column.number(i.upper))
            };
            (column.with_unit(found.estimate), found.interval.map_or_else(nothing, ends))
        },
    );
    let steps = chain.steps();
    let not_passed: Vec<&str> = steps
        .iter()
        .filter(|(_, status, _)| matches!(status, Status::Warning | Status::Failed))
        .map(|(name, ..)| *name)
        .collect();
    let not_passed = if not_passed.is_empty() { nothing() } else { not_passed.join(", ") };
    [teller.pair(), shown(chain.outcome()).to_owned(), difference, interval, not_passed]
}
