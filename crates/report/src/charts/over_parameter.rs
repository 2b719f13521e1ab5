//! Charts of a scan: values with their intervals, plotted against the parameter. For a load test,
//! these are latency and achieved rate against the requested rate. With several parameters, the
//! first numeric one is the horizontal axis, and each combination of the others is a separate line.

use super::frame::{Axis, range};
use super::legend::Legend;
use super::scene::{Ink, Position, dashes};
use super::{Chart, HEIGHT, capital, whole_name};
use crate::names::fitted;
use crate::number;
use assay_analysis::figures::MOST_SUBJECTS;
use assay_analysis::{Analysis, Interval};
use assay_data::ParameterValue;

/// Axes whose largest value exceeds the smallest by more than this factor are logarithmic.
const WIDE: f64 = 4.0;
/// Horizontal offset in pixels between the points of different lines at the same parameter value,
/// so that their intervals do not overlap.
const ASIDE: f64 = 3.0;
/// Maximum length of a line's name, in columns.
const NAME: usize = 34;

/// The values of one command, plotted against the parameter.
struct Line {
    name: String,
    /// Parameter values in ascending order, each with the index of its subject.
    points: Vec<(f64, usize)>,
}

/// Returns one chart for every metric shown on a page, or none unless this is a scan over a numeric
/// parameter.
pub(super) fn charts(analysis: &Analysis) -> Vec<Chart> {
    let Some((parameter, lines)) = lines(analysis) else { return Vec::new() };
    let mut metrics = vec![analysis.primary];
    if !analysis.answers.is_empty() {
        let known = |name: &str| analysis.metrics.iter().position(|m| m.name == name);
        let more = ["latency_p99", "rate_achieved"].into_iter().filter_map(known);
        metrics.extend(more.filter(|&metric| metric != analysis.primary));
    }
    metrics.into_iter().filter_map(|m| chart(analysis, &parameter, &lines, m)).collect()
}

/// Returns the first parameter with several numeric values, and the lines to plot against it: one
/// per command and combination of the other parameters.
fn lines(analysis: &Analysis) -> Option<(String, Vec<Line>)> {
    let layout = analysis.scan()?;
    let first = &analysis.subjects[0].parameters;
    first.iter().find_map(|(parameter, _)| {
        let mut lines: Vec<(usize, String, Line)> = Vec::new();
        for (subject, own) in analysis.subjects.iter().enumerate() {
            let is_axis = |(name, _): &&(String, ParameterValue)| name == parameter;
            let Some((_, value)) = own.parameters.iter().find(is_axis) else { continue };
            let value = value.number()?;
            let command = subject % layout.commands;
            let others = own.parameters.iter().filter(|other| !is_axis(other));
            let held: String = others.map(|(name, v)| format!(", {name} = {v}")).collect();
            let same = lines.iter().position(|(c, h, _)| *c == command && *h == held);
            let at = same.unwrap_or_else(|| {
                let name = format!("{}{held}", layout.labels[command]);
                lines.push((command, held, Line { name, points: Vec::new() }));
                lines.len() - 1
            });
            lines[at].2.points.push((value, subject));
        }
        let mut lines: Vec<Line> = lines.into_iter().map(|(_, _, line)| line).collect();
        lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let differ =
            |line: &Line| line.points.first().map(|p| p.0) < line.points.last().map(|p| p.0);
        lines.iter().any(differ).then(|| (parameter.clone(), lines))
    })
}

/// Draws the chart of one metric. Returns `None` if fewer than two parameter values have data.
fn chart(analysis: &Analysis, parameter: &str, lines: &[Line], metric: usize) -> Option<Chart> {
    let (shown, left_out) =
        (&lines[..lines.len().min(MOST_SUBJECTS)], lines.len().saturating_sub(MOST_SUBJECTS));
    let described = |subject: usize| analysis.subjects[subject].metrics[metric].as_ref();
    let interval = |subject| described(subject)?.median_interval.filter(Interval::is_bounded);
    let points = || shown.iter().flat_map(|line| &line.points);
    let medians = points().filter_map(|&(_, s)| Some(described(s)?.median));
    // An interval computed from few values may extend below zero although no value does. It is cut
    // off at the edge of the frame.
    let floor = if range(medians)[0] > 0.0 { f64::MIN_POSITIVE } else { f64::NEG_INFINITY };
    let y = points().flat_map(|&(_, s)| {
        let ends = interval(s).map(|i| [i.lower, i.upper]);
        described(s).map(|d| d.median).into_iter().chain(ends.into_iter().flatten())
    });
    let x: Vec<f64> = points().filter(|(_, s)| described(*s).is_some()).map(|p| p.0).collect();
    let (x_ends, y_ends) = (range(x.iter().copied()), range(y));
    if x.is_empty() || x_ends[0] >= x_ends[1] {
        return None;
    }
    let own = &analysis.metrics[metric];
    let asked = !analysis.answers.is_empty() && parameter == "rate";
    let across = if asked { "requested rate (1/s)" } else { parameter };
    let is_wide = |[low, high]: [f64; 2]| low > 0.0 && high > WIDE * low;
    let mut wide = [is_wide(x_ends), is_wide(y_ends)];
    // Requested and achieved rate are the same quantity, so both axes use the same scale.
    let against_asked = asked && own.name == "rate_achieved";
    if against_asked {
        wide[1] = wide[0];
    }
    let (x_axis, name) = (Axis::of_values(across, x, wide[0]), whole_name(own));
    let y_axis = Axis::of(&name, &own.unit, y_ends[0], y_ends[1], wide[1]);
    let names = fitted(&shown.iter().map(|line| line.name.clone()).collect::<Vec<_>>(), NAME, "…");
    let legend = Legend(names.iter().map(String::as_str).enumerate().collect());
    let (mut scene, frame) = legend.framed(x_axis, y_axis, HEIGHT);
    if against_asked {
        let both = [x_ends[0].max(y_ends[0]), x_ends[1].min(y_ends[1])];
        let diagonal = both.map(|rate| frame.place((rate, rate))).to_vec();
        scene.dashed(diagonal, Ink::Mark, 1.0, &[4.0, 3.0]);
    }
    for (index, line) in shown.iter().enumerate() {
        let aside = (index as f64 - (shown.len() as f64 - 1.0) / 2.0) * ASIDE;
        let at =
            |x: f64, y: f64| -> Position { (frame.across(x) + aside, frame.down(y.max(floor))) };
        let known = || line.points.iter().filter_map(|&(x, s)| Some((x, s, described(s)?.median)));
        let places: Vec<Position> = known().map(|(x, _, median)| at(x, median)).collect();
        let sticks = known().filter_map(|(x, s, _)| {
            let i = interval(s)?;
            Some((at(x, i.lower), at(x, i.upper)))
        });
        scene.sticks(sticks.collect(), Ink::Subject(index), 2.0);
        scene.dashed(places.clone(), Ink::Subject(index), 1.4, dashes(index));
        scene.dots(places, 3.0, Ink::Subject(index), 1.0);
    }
    let sure = number::chosen_percent(analysis.plan.confidence);
    let scales = match (wide[0], wide[1]) {
        (true, true) if asked => " Both axes are logarithmic.",
        (true, true) => {
            " Both axes are logarithmic: a straight line is a power, the steeper one grows faster."
        }
        (true, false) => " The horizontal axis is logarithmic.",
        (false, true) => " The vertical axis is logarithmic.",
        (false, false) => "",
    };
    let look = match () {
        _ if against_asked => {
            "Where a line falls below the dashed one, the server no longer keeps up. "
        }
        _ if asked => "Where a line bends up, requests begin to wait for one another. ",
        _ => "",
    };
    let more = match left_out {
        0 => String::new(),
        n => format!(" The first {} lines are drawn; {n} more are not.", shown.len()),
    };
    let of = if analysis.answers.is_empty() { "" } else { " of the slices" };
    Some(Chart {
        name: "over-parameter",
        title: format!(
            "{} over {}",
            capital(&name),
            if asked { "the requested rate" } else { parameter }
        ),
        caption: format!("{look}Dots are medians{of}, bars their {sure} intervals.{scales}{more}"),
        scene,
    })
}
