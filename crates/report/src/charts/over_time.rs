//! Charts of the values in order, and of their dependence on earlier values.

use super::frame::{Axis, Frame};
use super::legend::Legend;
use super::panels::{PANEL, Panel, panels};
use super::scene::{Ink, Scene};
use super::{Chart, Sheet, capital};
use crate::number;
use assay_analysis::figures::{Piece, SubjectFigures, Trace};

/// Height of the frame if there is only one.
const ALONE: f64 = 170.0;

/// Draws every subject's values in the order in which they were taken.
pub(super) fn raw(sheet: &Sheet<'_>) -> Chart {
    let figures = sheet.figures;
    let longest = figures.subjects.iter().map(|s| s.n).max().unwrap_or(1);
    let order = if figures.in_blocks { "block" } else { "in the order in which they were taken" };
    let x = Axis::counting(order, 1.0, longest as f64);
    let (low, high) = figures.range;
    let y = Axis::of(&sheet.metric, &figures.metric.unit, low, high, figures.view.logarithmic);
    let subjects: Vec<usize> = (0..figures.subjects.len()).collect();
    let scene = of_subjects(sheet, &subjects, &x, &y, |scene, frame, index| {
        trace(scene, frame, &figures.subjects[index].trace, Ink::Subject(index));
        let median = figures.subjects[index].shape.numbers.median;
        scene.dashed(frame.level(median), Ink::Mark, 1.0, &[4.0, 3.0]);
    });
    let thinned = figures.subjects.iter().map(|s| largest_piece(&s.trace)).max().unwrap_or(1);
    let how = if figures.subjects.iter().all(|s| !s.trace.points.is_empty()) {
        "Every dot is one value.".to_owned()
    } else {
        format!(
            "Bands reach from the smallest to the largest of up to {thinned} successive values, so nothing is left out; lines \
             are their medians."
        )
    };
    Chart {
        name: "raw",
        title: format!("{} over time", capital(&sheet.metric)),
        caption: format!(
            "Look for steps, trends and waves: stable values scatter evenly around their median (dashed). {how}{}",
            sheet.left_out()
        ),
        scene,
    }
}

fn largest_piece(trace: &Trace) -> usize {
    trace.pieces.iter().map(|piece| piece.to - piece.from).max().unwrap_or(1)
}

/// Draws the values of a series against their position (1, 2, 3, …): as dots if there are few,
/// otherwise as a band from the smallest to the largest value, with the medians as a line.
pub(super) fn trace(scene: &mut Scene, frame: &Frame, trace: &Trace, ink: Ink) {
    if trace.points.is_empty() {
        let middle = |p: &Piece| (p.from + p.to + 1) as f64 / 2.0;
        let upper = trace.pieces.iter().map(|p| frame.place((middle(p), p.max)));
        let lower = trace.pieces.iter().rev().map(|p| frame.place((middle(p), p.min)));
        scene.area(upper.chain(lower).collect(), ink, 0.35);
        let medians = trace.pieces.iter().map(|p| frame.place((middle(p), p.median)));
        scene.line(medians.collect(), ink, 1.0);
        return;
    }
    let places = trace.points.iter().enumerate().map(|(i, &v)| frame.place((i as f64 + 1.0, v)));
    let (radius, opacity) = match trace.points.len() {
        0..=60 => (3.0, 0.9),
        61..=400 => (2.0, 0.7),
        _ => (1.3, 0.45),
    };
    scene.dots(places.collect(), radius, ink, opacity);
}

/// Draws every subject's correlogram. Returns `None` if no subject has enough values.
pub(super) fn correlogram(sheet: &Sheet<'_>) -> Option<Chart> {
    let subjects = &sheet.figures.subjects;
    let found = |s: &SubjectFigures| s.correlogram.clone();
    let shown: Vec<usize> =
        (0..subjects.len()).filter(|&i| found(&subjects[i]).is_some()).collect();
    let lags = shown.iter().filter_map(|&i| Some(found(&subjects[i])?.at_lags.len())).max()?;
    let sizes = shown.iter().filter_map(|&i| found(&subjects[i])).flat_map(|c| {
        let largest = c.at_lags.iter().fold(0.0f64, |most, r| most.max(r.abs()));
        [largest, c.bound]
    });
    let most = (sizes.fold(0.0, f64::max) * 1.15).min(1.0);
    let x = Axis::counting("lag (how many values before)", 0.0, lags as f64 + 0.5);
    let ticks = crate::ticks::linear(-most, most, &assay_data::Unit::Other(String::new()), 4).ticks;
    let y = Axis::with_ticks("autocorrelation", -most, most, ticks).of_numbers();
    let scene = of_subjects(sheet, &shown, &x, &y, |scene, frame, index| {
        let Some(c) = &subjects[index].correlogram else { return };
        let band = (frame.down(c.bound), frame.down(-c.bound));
        scene.rectangle((frame.left, band.0), (frame.right(), band.1), Ink::Quiet, 0.12);
        scene.line(frame.level(0.0), Ink::Quiet, 1.0);
        let bar = |(lag, r): (usize, &f64)| {
            let lag = lag as f64 + 1.0;
            (frame.place((lag, 0.0)), frame.place((lag, *r)))
        };
        let width = (frame.width / (lags as f64 + 1.0) * 0.5).min(8.0);
        scene.sticks(c.at_lags.iter().enumerate().map(bar).collect(), Ink::Subject(index), width);
    });
    Some(Chart {
        name: "correlogram",
        title: "Dependence on earlier values".to_owned(),
        caption: format!(
            "For independent values, 19 of 20 bars are within the gray band. Taller bars mean that successive values are correlated and carry less information than their number suggests. Autocorrelation as computed by R's acf; the band is ± 1.96 / √n.{}",
            sheet.left_out()
        ),
        scene,
    })
}

/// Draws one frame for each of the given subjects, all with the same axes.
fn of_subjects(
    sheet: &Sheet<'_>,
    subjects: &[usize],
    x: &Axis,
    y: &Axis,
    mut draw: impl FnMut(&mut Scene, &Frame, usize),
) -> Scene {
    let several = sheet.names.len() > 1;
    let name = |index: usize| if several { sheet.names[index].clone() } else { String::new() };
    let panel = |&i: &usize| Panel { name: name(i), ink: Ink::Subject(i), y: y.clone() };
    let height = if subjects.len() > 1 { PANEL } else { ALONE };
    let rows = subjects.iter().map(panel).collect();
    panels(&Legend(Vec::new()), rows, height, x, |scene, frame, row| {
        draw(scene, frame, subjects[row]);
    })
}

/// Formats a count with thousands separators: `35,000`.
pub(super) fn counted(n: usize) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or("?"))
        .collect();
    groups.join(",")
}

/// Formats a fraction as a percentage.
pub(super) fn share(fraction: f64) -> String {
    number::percent(fraction)
}
