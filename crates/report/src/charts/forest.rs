//! A forest plot of a suite: one line per row, with the ratio and its interval. A vertical line
//! marks no difference.

use super::frame::{Axis, Frame};
use super::scene::{Ink, LETTERS, Position, Scene};
use super::{BELOW, Chart, RIGHT, WIDTH, capital};
use crate::benchmarks::{Sort, ordered, words};
use crate::names::fitted;
use crate::number;
use assay_analysis::analysis::Table;
use assay_analysis::{Analysis, Comparison};
use assay_analysis::{Interval, Verdict};
use assay_data::{Threshold, Unit};

/// Maximum number of rows drawn.
const MOST: usize = 60;
/// Height of a row, in sheet units (about a pixel each).
const ROW: f64 = 17.0;
/// Maximum length of a name, in characters.
const NAME: usize = 24;
/// Ratio of the largest to the smallest value above which the axis is logarithmic.
const WIDE: f64 = 1.5;

/// Returns one plot per side for the primary metric; empty if no row has a ratio.
pub fn charts(suite: &Analysis, sort: Sort) -> Vec<Chart> {
    suite.primary_tables().filter_map(|table| chart(suite, &table, sort)).collect()
}

fn chart(suite: &Analysis, table: &Table<'_>, sort: Sort) -> Option<Chart> {
    let with_ratio = |row: &&Comparison| row.ratio.is_some_and(|r| r.estimate > 0.0);
    let all: Vec<&Comparison> =
        ordered(suite, table, sort).into_iter().filter(with_ratio).collect();
    let left_out = all.len().saturating_sub(MOST);
    let rows = &all[..all.len().min(MOST)];
    if rows.is_empty() {
        return None;
    }
    let interval = |row: &Comparison| {
        let ratio = row.ratio?;
        ratio.interval.filter(|i| i.is_bounded() && i.lower > 0.0)
    };
    let ends = |row: &&Comparison| -> Vec<f64> {
        let estimate = row.ratio.map(|r| r.estimate);
        let ends = interval(row).map(|i| [i.lower, i.upper]);
        estimate.into_iter().chain(ends.into_iter().flatten()).collect()
    };
    let (low, high) = rows
        .iter()
        .flat_map(ends)
        .fold((1.0f64, 1.0f64), |(low, high), end| (low.min(end), high.max(end)));
    let unit = Unit::Other(String::new());
    let title = words::title(suite, table);
    let (old, new) = (&suite.sides[0].name, &suite.sides[table.side].name);
    let x = Axis::of(
        &format!("ratio {new}{}{old}", crate::benchmarks::words::by(old, new)),
        &unit,
        low,
        high,
        high / low > WIDE,
    );
    let names: Vec<String> = rows.iter().map(|row| suite.row_of(row).name.clone()).collect();
    let count = rows.len() as f64;
    let down = |place: usize| count - place as f64 - 0.5;
    let ticks = fitted(&names, NAME, "…")
        .into_iter()
        .enumerate()
        .map(|(place, name)| (down(place), name))
        .collect();
    let y = Axis::with_ticks("", 0.0, count, ticks);
    let (top, height) = (LETTERS, ROW * count);
    // Benchmark names contain many wide letters, for which the usual estimate of the text width is
    // too small.
    let left = y.room() * 1.15;
    let mut scene = Scene::new(WIDTH, (top + height + BELOW).ceil());
    let frame = Frame { left, top, width: WIDTH - left - RIGHT, height, x, y };
    frame.draw(&mut scene, true);
    if let Threshold::Relative(share) = suite.plan.threshold {
        let band = Interval { lower: 1.0 / (1.0 + share), upper: 1.0 + share };
        let (from, to) = (frame.across(band.lower), frame.across(band.upper));
        scene.rectangle((from, frame.top), (to, frame.bottom()), Ink::Quiet, 0.15);
    }
    scene.dashed(frame.upright(1.0), Ink::Mark, 1.2, &[4.0, 3.0]);
    for (place, row) in rows.iter().enumerate() {
        let ink = match row.decision.verdict {
            Verdict::Faster => Ink::Subject(2),
            Verdict::Slower => Ink::Subject(1),
            Verdict::Equivalent => Ink::Mark,
            Verdict::Inconclusive => Ink::Quiet,
        };
        if let Some(i) = interval(row) {
            let at = |end: f64| -> Position { frame.place((end, down(place))) };
            scene.sticks(vec![(at(i.lower), at(i.upper))], ink, 2.4);
        }
        let estimate = row.ratio.map_or(1.0, |r| r.estimate);
        scene.dots(vec![frame.place((estimate, down(place)))], 3.2, ink, 1.0);
    }
    let more =
        if left_out > 0 { format!(" {left_out} more are not drawn.") } else { String::new() };
    let band = match suite.plan.threshold {
        Threshold::Relative(share) => {
            format!(" The gray band is the threshold of {}.", number::chosen_percent(share))
        }
        Threshold::Absolute { .. } => String::new(),
    };
    Some(Chart {
        name: "forest",
        title: capital(&format!("{title}: {new} against {old}")),
        caption: format!(
            "Each dot is the ratio of a {}, and the line its confidence interval. Left of the dashed line is less than {old}; lines that do not cross it are differences. A dot without a line has no interval.{band}{more}",
            suite.noun
        ),
        scene,
    })
}
