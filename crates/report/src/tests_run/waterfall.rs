//! One run of a suite by process and time, as SVG. Processes that ran in parallel have separate
//! lanes. A lane shows its tests from beginning to end, the work outside of tests, and a line below
//! the bars on the critical path. Colors are those of the surrounding page.

use super::icicle::{named, seconds, short};
use crate::markup::escaped;
use crate::number;
use crate::profile::boxes::{CHARACTER, shortened};
use crate::ticks;
use crate::words::counted;
use assay_analysis::testing::{Bar, BarOf, Lane, TestTime, Timeline};
use assay_data::Unit;
use std::collections::HashMap;
use std::fmt::Write;

/// Width of the chart, in SVG units.
const WIDTH: f64 = 1200.0;
/// Margin on either side of the chart.
const MARGIN: f64 = 8.0;
/// Height of the axis.
const AXIS: f64 = 22.0;
/// Height of a lane's name.
const NAME: f64 = 18.0;
/// Height of a row of bars, with the space below it.
const ROW: f64 = 19.0;
/// Height of a bar.
const BAR: f64 = 15.0;
/// Minimum width of a bar. Narrower bars are merged with narrow neighbors.
const NARROWEST: f64 = 1.5;
/// Maximum number of bars, beyond which the page would be slow to open. If there are more, wider
/// bars are merged as well.
const MOST_BARS: usize = 3000;
/// Maximum gap between bars that are merged.
const NEAR: f64 = 1.5;

/// A bar as drawn: one bar, or several that would be too narrow to be told apart.
struct DrawnBar<'a> {
    of: &'a Bar,
    until: f64,
    tests: usize,
    failed: usize,
    seconds: f64,
}

/// Renders the chart of these tests as SVG. O(bars).
pub(super) fn svg(timeline: &Timeline, tests: &[TestTime]) -> String {
    let labels: HashMap<&str, &str> =
        tests.iter().map(|test| (test.name.as_str(), short(&test.name, &test.group))).collect();
    let wall = timeline
        .lanes
        .iter()
        .flat_map(|lane| &lane.bars)
        .map(|bar| bar.ended)
        .fold(timeline.wall, f64::max);
    let scale = if wall > 0.0 { (WIDTH - 2.0 * MARGIN) / wall } else { 0.0 };
    let mut narrowest = NARROWEST;
    let drawn: Vec<Vec<DrawnBar<'_>>> = loop {
        let drawn: Vec<_> =
            timeline.lanes.iter().map(|lane| merged(lane, scale, narrowest)).collect();
        // Once bars may be as wide as the chart, nothing more can be merged.
        if drawn.iter().map(Vec::len).sum::<usize>() <= MOST_BARS || narrowest > WIDTH {
            break drawn;
        }
        narrowest *= 2.0;
    };
    let heights = timeline.lanes.iter().map(|lane| NAME + lane.depth as f64 * ROW + 4.0);
    let height = AXIS + heights.sum::<f64>();
    let mut out = String::new();
    // Writing to a string can't fail.
    let _never = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"waterfall\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Tests by process and moment\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\" font-size=\"12\">"
    );
    axis(&mut out, wall, scale, height);
    let mut top = AXIS;
    for (index, (lane, drawn)) in timeline.lanes.iter().zip(&drawn).enumerate() {
        let _never = writeln!(
            out,
            "<text class=\"n\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
            top + NAME - 5.0,
            escaped(&told(lane, index, timeline.lanes.len()))
        );
        // Hooks are drawn over the tests in which they run.
        let is_test = |own: &&DrawnBar<'_>| matches!(own.of.of, BarOf::Test { .. });
        drawn
            .iter()
            .filter(is_test)
            .for_each(|own| bar(&mut out, own, &labels, (top + NAME, scale)));
        let beside = drawn.iter().filter(|own| !is_test(own));
        beside.for_each(|own| bar(&mut out, own, &labels, (top + NAME, scale)));
        critical(&mut out, lane, top + NAME, scale);
        top += NAME + lane.depth as f64 * ROW + 4.0;
    }
    out.push_str("</svg>");
    out
}

fn axis(out: &mut String, wall: f64, scale: f64, height: f64) {
    let axis = ticks::linear(0.0, wall, &Unit::Second, 8);
    for (at, text) in &axis.ticks {
        let x = MARGIN + at * scale;
        let anchor = if *at <= 0.0 {
            "start"
        } else if x > WIDTH - 60.0 {
            "end"
        } else {
            "middle"
        };
        let _never = writeln!(
            out,
            "<path class=\"g\" d=\"M{x:.1} {}V{height}\"/><text class=\"q\" x=\"{x:.1}\" y=\"12\" text-anchor=\"{anchor}\">{} {}</text>",
            AXIS - 5.0,
            escaped(text),
            escaped(&axis.symbol)
        );
    }
}

/// Returns the name of a lane; several lanes are numbered.
fn told(lane: &Lane, index: usize, lanes: usize) -> String {
    let tests = counted(lane.tests, "test");
    let name = match lanes {
        1 => tests,
        _ => format!("{}: {tests}", index + 1),
    };
    let processes = match lane.processes.len() {
        1 => String::new(),
        n => format!(" of {n} processes one behind the other"),
    };
    let critical = if lane.critical && lanes > 1 { "; this ended last" } else { "" };
    format!("{name}{processes}{critical}")
}

/// Returns the bars of a lane, in which narrow neighbors in the same row are merged.
fn merged<'a>(lane: &'a Lane, scale: f64, narrowest: f64) -> Vec<DrawnBar<'a>> {
    let mut drawn: Vec<DrawnBar<'a>> = Vec::new();
    // The last bar of each row of tests, if more can be merged into it.
    let mut open: Vec<Option<usize>> = vec![None; lane.depth.max(1)];
    for of in &lane.bars {
        let (tests, failed) = match of.of {
            BarOf::Test { failed, .. } => (1, usize::from(failed)),
            BarOf::Part(_) => (0, 0),
        };
        let seconds = of.ended - of.began;
        let own = DrawnBar { of, until: of.ended, tests, failed, seconds };
        let is_narrow = seconds * scale < narrowest;
        if tests == 0 {
            if !is_narrow || seconds * scale >= NARROWEST {
                drawn.push(own);
            }
            continue;
        }
        let last = open.get(of.row).copied().flatten();
        match last.and_then(|last| drawn.get_mut(last)) {
            // Merged bars are no wider than the smallest distinguishable width.
            Some(last)
                if is_narrow
                    && (of.began - last.until) * scale < NEAR.max(narrowest / 2.0)
                    && (of.ended - last.of.began) * scale < 2.0 * narrowest =>
            {
                last.until = last.until.max(of.ended);
                last.tests += 1;
                last.failed += failed;
                last.seconds += seconds;
            }
            _ => {
                drawn.push(own);
                if let Some(open) = open.get_mut(of.row) {
                    *open = is_narrow.then_some(drawn.len() - 1);
                }
            }
        }
    }
    drawn
}

fn bar(
    out: &mut String,
    own: &DrawnBar<'_>,
    labels: &HashMap<&str, &str>,
    (top, scale): (f64, f64),
) {
    let Bar { of, began, setup, teardown, row, .. } = own.of;
    let x = MARGIN + began * scale;
    let width = ((own.until - began) * scale - 0.3).max(0.4);
    let y = top + *row as f64 * ROW;
    let (class, told, label) = match of {
        BarOf::Part(part) => {
            let name = super::told_part(part, true).0;
            (format!("p-{part}"), name.to_owned(), String::new())
        }
        BarOf::Test { .. } if own.tests > 1 => {
            let failed = match own.failed {
                0 => String::new(),
                n => format!(", {n} of them failed"),
            };
            let told = format!("{}{failed}", counted(own.tests, "test"));
            (of_failed(own.failed > 0), told, String::new())
        }
        BarOf::Test { name, failed } => {
            let label = labels.get(name.as_str()).map_or_else(String::new, |name| named(name));
            let name = named(name);
            let told = if *failed { format!("{name}, failed") } else { name.clone() };
            (of_failed(*failed), told, label)
        }
    };
    let from = number::rough(*began, &Unit::Second);
    let _never = write!(
        out,
        "<g><title>{}: {} from {from} on</title><rect class=\"{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\"/>",
        escaped(&told),
        seconds(own.seconds)
    );
    if own.tests == 1 {
        // Setup and teardown are drawn lighter than the body.
        for (seconds, at) in [(*setup, x), (*teardown, x + width - (teardown * scale).min(width))] {
            let wide = (seconds * scale).min(width);
            if wide >= 0.5 {
                let _never = write!(
                    out,
                    "<rect class=\"l\" x=\"{at:.1}\" y=\"{y}\" width=\"{wide:.1}\" height=\"{BAR}\"/>"
                );
            }
        }
    }
    let room = ((width - 6.0) / CHARACTER) as usize;
    if room >= 4 && !label.is_empty() {
        let _never = write!(
            out,
            "<text class=\"b\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 3.0,
            y + BAR - 4.0,
            escaped(&shortened(&label, room))
        );
    }
    out.push_str("</g>\n");
}

fn of_failed(failed: bool) -> String {
    if failed { "f" } else { "t" }.to_owned()
}

/// Draws a line below the bars on the critical path. Adjacent bars share one line.
fn critical(out: &mut String, lane: &Lane, top: f64, scale: f64) {
    let mut path = String::new();
    let mut last: Option<(usize, f64, f64)> = None;
    let mut end = |last: Option<(usize, f64, f64)>| {
        if let Some((row, from, to)) = last {
            let y = top + row as f64 * ROW + BAR + 1.5;
            let _never = write!(path, "M{from:.1} {y}H{to:.1}");
        }
    };
    for own in lane.bars.iter().filter(|bar| bar.critical) {
        let (from, to) = (MARGIN + own.began * scale, MARGIN + own.ended * scale);
        match &mut last {
            Some((row, _, until)) if *row == own.row && from - *until < 1.0 => {
                *until = to.max(*until)
            }
            _ => {
                end(last);
                last = Some((own.row, from, to));
            }
        }
    }
    end(last);
    if !path.is_empty() {
        let _never = writeln!(out, "<path class=\"c\" d=\"{path}\"/>");
    }
}
