//! Plots of uncertainty: resampled standard deviations, and the differences that an experiment
//! could have detected.

use super::differences::framed;
use super::frame::{Axis, Frame};
use super::over_time::counted;
use super::scene::{Anchor, Ink, Position, Scene, dashes};
use super::{Chart, Sheet};
use crate::number;
use assay_analysis::figures::{IntervalOf, PowerCurve, Resampled};

fn resampled<'a>(sheet: &'a Sheet<'_>) -> Vec<(usize, &'a Resampled)> {
    let subjects = sheet.figures.subjects.iter().enumerate();
    subjects.filter_map(|(i, s)| Some((i, s.deviation.as_ref()?))).collect()
}

/// Draws histograms of the resampled standard deviations; `None` if nothing was resampled.
pub(super) fn bootstrap(sheet: &Sheet<'_>) -> Option<Chart> {
    let found = resampled(sheet);
    let ends = |r: &Resampled| (r.bins.0, r.bins.0 + r.bins.1 * r.counts.len() as f64);
    let (low, high) =
        found.iter().map(|(_, r)| ends(r)).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))?;
    // Heights are densities, so that histograms with different bin widths have equal areas.
    let height = |r: &Resampled, count: u32| f64::from(count) / r.resamples as f64 / r.bins.1;
    let heights = found.iter().flat_map(|(_, r)| r.counts.iter().map(|&c| height(r, c)));
    let tallest = |r: &Resampled| r.counts.iter().map(|&c| height(r, c)).fold(0.0, f64::max);
    // A very narrow histogram would make the others look flat. In that case each histogram has its
    // own vertical scale.
    let most = heights.fold(0.0, f64::max);
    let least = found.iter().map(|(_, r)| tallest(r)).fold(f64::INFINITY, f64::min);
    let own = most > 8.0 * least;
    let unit = &sheet.figures.metric.unit;
    let differences = sheet.figures.deviations_of_differences;
    let whose = if differences { "the differences of " } else { "" };
    let name = format!("standard deviation of {whose}{}", sheet.metric);
    let x = Axis::of(&name, unit, low, high, high / low > 20.0);
    let y = Axis::silent("how often", if own { 1.0 } else { most });
    let subjects: Vec<usize> = found.iter().map(|(i, _)| *i).collect();
    let (mut scene, frame) = framed(sheet, &subjects, x, y);
    let mut told = Vec::new();
    for (index, r) in &found {
        let scale = if own { 1.0 / tallest(r) } else { 1.0 };
        let mut steps: Vec<Position> = Vec::new();
        for (bin, &count) in r.counts.iter().enumerate() {
            let from = r.bins.0 + r.bins.1 * bin as f64;
            let y = height(r, count) * scale;
            steps.extend([frame.place((from, y)), frame.place((from + r.bins.1, y))]);
        }
        let mut area = steps.clone();
        let (low, high) = ends(r);
        area.extend([frame.place((high, 0.0)), frame.place((low, 0.0))]);
        scene.area(area, Ink::Subject(*index), 0.25);
        scene.line(steps, Ink::Subject(*index), 1.2);
        scene.line(frame.upright(r.estimate), Ink::Subject(*index), 1.6);
        if let Some(i) = r.interval {
            let column =
                number::Column::new(unit, &[r.estimate, i.lower, i.upper], &[i.half_width()]);
            told.push(format!(
                "'{}' {} [{} … {}]",
                sheet.names[*index],
                column.with_unit(r.estimate),
                column.number(i.lower),
                column.number(i.upper)
            ));
        }
    }
    let resamples = number_of(&found);
    let seeds = found.first().map_or(0, |(_, r)| r.seed);
    let how = interval_names(&found);
    let out_of = if differences {
        "the differences from the reference, block by block"
    } else {
        "each sample"
    };
    let sure = number::chosen_percent(sheet.figures.confidence);
    let scaled = if own { " Each histogram has its own vertical scale." } else { "" };
    Some(Chart {
        name: "bootstrap",
        title: "Uncertainty of the standard deviation".to_owned(),
        caption: format!(
            "Standard deviations of {resamples} resamples of {out_of} (bootstrap, seed {seeds}); vertical lines are those of the samples. {sure} intervals ({how}): {}.{scaled}",
            told.join("; ")
        ),
        scene,
    })
}

/// Formats the number of resamples, such as `2,000`, or `1,428 to 2,000` if subjects differ.
fn number_of(found: &[(usize, &Resampled)]) -> String {
    let all = || found.iter().map(|(_, r)| r.resamples);
    let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    if least == most { counted(most) } else { format!("{} to {}", counted(least), counted(most)) }
}

fn interval_names(found: &[(usize, &Resampled)]) -> String {
    let named = [
        (IntervalOf::Normal, "normal"),
        (IntervalOf::Bca, "BCa"),
        (IntervalOf::Percentile, "percentiles, where BCa is not available"),
    ];
    let used = named.iter().filter(|(kind, _)| found.iter().any(|(_, r)| r.interval_of == *kind));
    used.map(|(_, name)| *name).collect::<Vec<_>>().join("; ")
}

/// Draws the quantiles of the resampled standard deviations against those of a normal distribution.
/// Returns `None` if nothing was resampled.
pub(super) fn bootstrap_normal(sheet: &Sheet<'_>) -> Option<Chart> {
    let found = resampled(sheet);
    // Quantiles are in units of the standard deviation of each subject's resamples, so that all
    // subjects share one reference line.
    let standard = |r: &Resampled| -> Vec<(f64, f64)> {
        let n = r.normal.len() as f64;
        let mean = r.normal.iter().map(|p| p.0).sum::<f64>() / n;
        let spread = (r.normal.iter().map(|p| (p.0 - mean).powi(2)).sum::<f64>() / n).sqrt();
        r.normal.iter().map(|p| ((p.0 - mean) / spread, (p.1 - mean) / spread)).collect()
    };
    let curves: Vec<(usize, Vec<(f64, f64)>)> =
        found.iter().map(|(i, r)| (*i, standard(r))).collect();
    let points = || curves.iter().flat_map(|(_, c)| c);
    let reach = points().flat_map(|p| [p.0.abs(), p.1.abs()]).fold(0.0, f64::max);
    if !(reach > 0.0 && reach.is_finite()) {
        return None;
    }
    let plain = assay_data::Unit::Other(String::new());
    let x = Axis::of("where a normal distribution has its quantiles", &plain, -reach, reach, false);
    let y = Axis::of("quantiles of the bootstrap", &plain, -reach, reach, false);
    let subjects: Vec<usize> = found.iter().map(|(i, _)| *i).collect();
    let (mut scene, frame) = framed(sheet, &subjects, x, y);
    let diagonal = vec![frame.place((-reach, -reach)), frame.place((reach, reach))];
    scene.dashed(diagonal, Ink::Mark, 1.0, &[4.0, 3.0]);
    for (index, curve) in &curves {
        let places = curve.iter().map(|&p| frame.place(p)).collect();
        scene.dots(places, 1.7, Ink::Subject(*index), 0.7);
    }
    let normal = found.iter().all(|(_, r)| r.interval_of == IntervalOf::Normal);
    let bend = if normal {
        "a bend at the ends means that it is too short on one side, so the plan uses the largest upper end of three kinds of intervals."
    } else {
        "a bend at the ends means that it would be too short on one side, so the interval above is not symmetric."
    };
    Some(Chart {
        name: "bootstrap-normal",
        title: "Is this uncertainty normally distributed?".to_owned(),
        caption: format!(
            "Normal Q-Q plot of the bootstrap, in units of its standard deviation. If the dots follow the dashed line, the usual ± interval is valid; {bend}"
        ),
        scene,
    })
}

/// Draws the probability of detection against the size of the difference. Returns `None` if no
/// comparison has a power curve.
pub(super) fn power(sheet: &Sheet<'_>) -> Option<Chart> {
    let found: Vec<(usize, &PowerCurve)> =
        sheet.figures.between.iter().filter_map(|b| Some((b.of, b.power.as_ref()?))).collect();
    let last = found.iter().filter_map(|(_, p)| p.t.last()).map(|p| p.0).fold(0.0, f64::max);
    if last <= 0.0 {
        return None;
    }
    let unit = &sheet.figures.metric.unit;
    let x = Axis::of(&format!("true difference in {}", sheet.metric), unit, 0.0, last, false);
    let y = Axis::of_shares("probability of detection", 0.0, 1.0);
    let subjects: Vec<usize> = found.iter().map(|(of, _)| *of).collect();
    let (mut scene, frame) = framed(sheet, &subjects, x, y);
    let wanted = found[0].1.wanted;
    scene.dashed(frame.level(wanted), Ink::Mark, 0.8, &[4.0, 3.0]);
    for (of, curve) in &found {
        let places = |points: &[(f64, f64)]| points.iter().map(|&p| frame.place(p)).collect();
        let pattern = if found.len() > 1 { dashes(*of) } else { &[] };
        scene.dashed(places(&curve.t), Ink::Subject(*of), 1.8, pattern);
        scene.dashed(places(&curve.rank), Ink::Subject(*of), 1.0, &[2.0, 2.0]);
    }
    let (_, first) = found[0];
    mark_threshold(&mut scene, &frame, first, last);
    let size = |amount: f64| number::rough(amount, unit);
    let chance = number::chosen_percent(wanted);
    let visible = match first.visible {
        Some(delta) if found.len() == 1 => format!(
            " A difference of {} is found by {} in {chance} of experiments (dashed line).",
            size(delta),
            if first.of_protocol { "the rank test" } else { "a t test" }
        ),
        _ => format!(" The dashed line is a probability of {chance}."),
    };
    let n = match found.as_slice() {
        [(_, only)] => format!(
            "{} independent {}, standard deviation {}{}, level {}",
            counted(only.n.round() as usize),
            if sheet.figures.in_blocks { "blocks" } else { "values a side" },
            size(only.standard_deviation),
            if only.of_protocol { " as used for planning in the four-step check" } else { "" },
            number::percent(only.level)
        ),
        _ => "as many independent values as there are, with their standard deviation".to_owned(),
    };
    let threshold = match first.threshold {
        Some(t) if t > last => {
            format!(" The smallest difference that matters, {}, is to the right.", size(t))
        }
        Some(t) => format!(" The gray line is the smallest difference that matters, {}.", size(t)),
        None => String::new(),
    };
    Some(Chart {
        name: "power",
        title: "What this experiment could detect".to_owned(),
        caption: format!(
            "The probability of detecting a difference of a given size.{visible}{threshold} Solid line: t test ({n}). Dotted line: rank test, which needs 15 % more values (at most 15.7 % for a shift)."
        ),
        scene,
    })
}

/// Width needed for the label next to the threshold line, in sheet units (about a pixel each).
const THRESHOLD_ROOM: f64 = 70.0;

fn mark_threshold(scene: &mut Scene, frame: &Frame, curve: &PowerCurve, last: f64) {
    let Some(threshold) = curve.threshold.filter(|t| *t <= last) else { return };
    scene.line(frame.upright(threshold), Ink::Quiet, 1.4);
    let at = frame.across(threshold);
    // The label is at the top, above all curves, since no curve exceeds 100 %.
    let down = frame.top + 11.0;
    let (across, anchor) = if at - frame.left > THRESHOLD_ROOM {
        (at - 4.0, Anchor::End)
    } else {
        (at + 4.0, Anchor::Start)
    };
    scene.words((across, down), "threshold", anchor, Ink::Quiet);
}
