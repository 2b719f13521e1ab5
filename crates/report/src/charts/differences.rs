//! Plots of subjects compared with their reference: all differences, the differences block by
//! block, and the differences of quantiles.

use super::frame::{Axis, Frame};
use super::over_time::{share, trace};
use super::scene::{Ink, Position, Scene, dashes};
use super::{Chart, HEIGHT, Sheet};
use crate::number;
use assay_analysis::Scale;
use assay_analysis::figures::{Between, QuantileDifference};
use assay_data::Unit;

/// Returns a frame of the usual size below a legend of the given subjects.
pub(super) fn framed(sheet: &Sheet<'_>, subjects: &[usize], x: Axis, y: Axis) -> (Scene, Frame) {
    sheet.legend(subjects).framed(x, y, HEIGHT)
}

/// Returns a clause stating which subjects the differences compare.
fn whose(sheet: &Sheet<'_>, between: &[&Between]) -> String {
    match between {
        [only] => format!("'{}' minus '{}'", sheet.names[only.of], sheet.names[only.against]),
        [first, ..] if between.iter().all(|b| b.against == first.against) => {
            format!("each minus '{}'", sheet.names[first.against])
        }
        _ => "each minus its reference".to_owned(),
    }
}

/// Draws the distribution of the differences, with the estimate and its interval. Returns `None` if
/// there are no differences.
pub(super) fn pairwise(sheet: &Sheet<'_>) -> Option<Chart> {
    let drawn: Vec<&Between> =
        sheet.figures.between.iter().filter(|b| !b.differences.is_empty()).collect();
    let points = || drawn.iter().flat_map(|b| &b.differences);
    let most = points().map(|p| p.1).fold(0.0, f64::max);
    let (low, high) = points().fold((0.0f64, 0.0f64), |(l, h), p| (l.min(p.0), h.max(p.0)));
    if drawn.is_empty() || most <= 0.0 {
        return None;
    }
    let unit = &sheet.figures.metric.unit;
    let x = Axis::of(&format!("difference in {}", sheet.metric), unit, low, high, false);
    let subjects: Vec<usize> = drawn.iter().map(|b| b.of).collect();
    let (mut scene, frame) = framed(sheet, &subjects, x, Axis::silent("how often (density)", most));
    for b in &drawn {
        let ink = Ink::Subject(b.of);
        let places: Vec<Position> = b.differences.iter().map(|&p| frame.place(p)).collect();
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            let mut area = places.clone();
            area.extend([(last.0, frame.bottom()), (first.0, frame.bottom())]);
            scene.area(area, ink, 0.12);
        }
        if let Some(interval) = b.comparison.shift.interval.filter(|i| i.is_bounded()) {
            // A minimum width keeps narrow intervals visible.
            let (from, to) = (frame.across(interval.lower), frame.across(interval.upper));
            let air = ((1.5 - (to - from)) / 2.0).max(0.0);
            scene.rectangle((from - air, frame.top), (to + air, frame.bottom()), ink, 0.22);
        }
        scene.dashed(places, ink, 1.8, if drawn.len() > 1 { dashes(b.of) } else { &[] });
        scene.line(frame.upright(b.comparison.shift.estimate), ink, 1.2);
    }
    scene.dashed(frame.upright(0.0), Ink::Mark, 1.2, &[4.0, 3.0]);
    let how = match (sheet.figures.in_blocks, drawn.iter().any(|b| b.thinned)) {
        (true, _) => "Differences within blocks.".to_owned(),
        (false, false) => "Differences between all pairs of values, one from each side.".to_owned(),
        (false, true) => {
            "Differences between all pairs of values, one from each side; with more than 600 values, of 600 quantiles.".to_owned()
        }
    };
    let beyond = drawn.iter().map(|b| b.beyond).fold(0.0, f64::max);
    let beyond = if beyond > 0.0 {
        format!(" {} of the differences are outside the plot.", share(beyond))
    } else {
        String::new()
    };
    Some(Chart {
        name: "differences",
        title: format!("Differences: {}", whose(sheet, &drawn)),
        caption: format!(
            "The dashed line marks no difference. The solid line is the estimated shift, and the band its confidence interval. The curve shows the spread of single differences. {how}{beyond}"
        ),
        scene,
    })
}

/// Draws the difference block by block; `None` if there are fewer than two blocks.
pub(super) fn blocks(sheet: &Sheet<'_>) -> Option<Chart> {
    let of_blocks = |b: &&Between| b.blocks.is_some();
    let drawn: Vec<&Between> = sheet.figures.between.iter().filter(of_blocks).collect();
    let ratios = drawn.iter().all(|b| b.blocks.as_ref().is_some_and(|d| d.ratios));
    let traces = || drawn.iter().filter_map(|b| Some((*b, &b.blocks.as_ref()?.trace)));
    let longest =
        traces().filter_map(|(_, t)| t.pieces.last().map(|p| p.to)).max().filter(|&n| n > 1)?;
    let none = if ratios { 1.0 } else { 0.0 };
    let (low, high) = traces()
        .flat_map(|(_, t)| &t.pieces)
        .fold((none, none), |(l, h): (f64, f64), p| (l.min(p.min), h.max(p.max)));
    let (unit, name) = if ratios {
        (Unit::Other(String::new()), format!("ratio of {}", sheet.metric))
    } else {
        (sheet.figures.metric.unit.clone(), format!("difference in {}", sheet.metric))
    };
    let wide = ratios && low > 0.0 && high / low > 30.0;
    let y = Axis::of(&name, &unit, low, high, wide);
    let x = Axis::counting("block", 1.0, longest as f64);
    let subjects: Vec<usize> = drawn.iter().map(|b| b.of).collect();
    let (mut scene, frame) = framed(sheet, &subjects, x, y);
    for (b, series) in traces() {
        let ink = Ink::Subject(b.of);
        trace(&mut scene, &frame, series, ink);
        let effect = if ratios { b.comparison.ratio } else { Some(b.comparison.shift) };
        let Some(effect) = effect else { continue };
        if let Some(interval) = effect.interval.filter(|i| i.is_bounded()) {
            let (upper, lower) = (frame.down(interval.upper), frame.down(interval.lower));
            scene.rectangle((frame.left, upper), (frame.right(), lower), ink, 0.25);
        }
        scene.line(frame.level(effect.estimate), ink, 1.4);
    }
    scene.dashed(frame.level(none), Ink::Mark, 1.2, &[4.0, 3.0]);
    let only = drawn.first().filter(|_| drawn.len() == 1);
    let told = only.and_then(|b| {
        let ratio = b.comparison.ratio.filter(|_| b.comparison.decision.scale == Scale::Ratio)?;
        Some(format!(
            " It is {}.",
            number::ratio(ratio.estimate, ratio.interval.map(|i| (i.lower, i.upper)))
        ))
    });
    Some(Chart {
        name: "blocks",
        title: "The difference, block by block".to_owned(),
        caption: format!(
            "Every block contains each subject once, so a disturbance affects both. The dashed line marks no difference; the solid line is the estimate, and the band its confidence interval.{} If the difference drifts, no single number describes it.",
            told.unwrap_or_default()
        ),
        scene,
    })
}

/// Returns true if the differences of quantiles are shown as ratios, that is, if all ratios have
/// intervals.
fn as_ratios(between: &[&Between]) -> bool {
    between.iter().all(|b| b.quantiles.iter().all(|q| q.ratio_interval.is_some()))
}

/// Draws the differences of quantiles; `None` if no quantile has an interval.
pub(super) fn quantiles(sheet: &Sheet<'_>) -> Option<Chart> {
    let drawn: Vec<&Between> =
        sheet.figures.between.iter().filter(|b| !b.quantiles.is_empty()).collect();
    let ratios = as_ratios(&drawn);
    let point = |q: &QuantileDifference| {
        let (estimate, interval) =
            if ratios { (q.ratio?, q.ratio_interval?) } else { (q.difference, q.interval?) };
        Some((estimate, interval))
    };
    let none = if ratios { 1.0 } else { 0.0 };
    let found = || drawn.iter().flat_map(|b| &b.quantiles).filter_map(point);
    let (low, high) =
        found().fold((none, none), |(l, h): (f64, f64), (_, i)| (l.min(i.lower), h.max(i.upper)));
    found().next()?;
    let mut shares: Vec<f64> = drawn.iter().flat_map(|b| &b.quantiles).map(|q| q.share).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let label = |share: f64| {
        let percent = share * 100.0;
        if percent == 50.0 {
            "median".to_owned()
        } else {
            format!("p{}", (percent * 10.0).round() / 10.0)
        }
    };
    let ticks = shares.iter().enumerate().map(|(i, &share)| (i as f64, label(share))).collect();
    let x = Axis::with_ticks("quantile", -0.5, shares.len() as f64 - 0.5, ticks);
    let (unit, name) = if ratios {
        (Unit::Other(String::new()), format!("ratio of {}", sheet.metric))
    } else {
        (sheet.figures.metric.unit.clone(), format!("difference in {}", sheet.metric))
    };
    let y = Axis::of(&name, &unit, low, high, ratios && high / low > 10.0);
    let subjects: Vec<usize> = drawn.iter().map(|b| b.of).collect();
    let (mut scene, frame) = framed(sheet, &subjects, x, y);
    scene.dashed(frame.level(none), Ink::Mark, 1.2, &[4.0, 3.0]);
    for (row, b) in drawn.iter().enumerate() {
        let aside = (row as f64 - (drawn.len() as f64 - 1.0) / 2.0) * 0.1;
        let at = |q: &QuantileDifference| {
            let index = shares.iter().position(|&s| s == q.share).unwrap_or(0);
            index as f64 + aside
        };
        let known = || b.quantiles.iter().filter_map(|q| Some((at(q), point(q)?)));
        let ends =
            known().map(|(x, (_, i))| (frame.place((x, i.lower)), frame.place((x, i.upper))));
        scene.sticks(ends.collect(), Ink::Subject(b.of), 2.0);
        let middles: Vec<Position> = known().map(|(x, (e, _))| frame.place((x, e))).collect();
        scene.dashed(middles.clone(), Ink::Subject(b.of), 0.8, dashes(b.of));
        scene.dots(middles, 3.2, Ink::Subject(b.of), 1.0);
    }
    let what =
        if ratios { "divided by that of the reference" } else { "minus that of the reference" };
    Some(Chart {
        name: "quantiles",
        title: "Where the difference is".to_owned(),
        caption: format!(
            "Every quantile {what}, with its own {} interval. Dots on one level: everything moved alike. A rise to the right: the worst cases differ from the usual one. Quantiles that need more values are left out. Order statistics, joined as Zou and Donner (2008) do.",
            number::chosen_percent(sheet.figures.confidence)
        ),
        scene,
    })
}
