//! Plots of the distribution of the values: densities, empirical distributions, and box plots.

use super::frame::{Axis, Frame};
use super::over_time::counted;
use super::scene::{Anchor, Ink, Position, Scene, dashes};
use super::{BELOW, Chart, HEIGHT, RIGHT, Sheet, WIDTH, capital};

/// Height of a row (a box plot and its name), in sheet units (about a pixel each).
const ROW: f64 = 62.0;
/// Height of the violin drawn in a row, in sheet units (about a pixel each).
const VIOLIN: f64 = 34.0;
/// Maximum number of values for which each value is drawn as a dot below the density.
const RUG_UP_TO: usize = 60;

/// Returns the horizontal axis of the values, which all pictures of this module share.
fn values(sheet: &Sheet<'_>) -> Axis {
    let view = &sheet.figures.view;
    // The estimated density extends slightly beyond the values.
    let curve = sheet.figures.subjects.iter().flat_map(|s| &s.shape.density).map(|p| p.0);
    let curve = curve.filter(|x| !view.logarithmic || *x > 0.0);
    let (low, high) = curve.fold((view.low, view.high), |(l, h), x| (l.min(x), h.max(x)));
    Axis::of(&sheet.metric, &sheet.figures.metric.unit, low, high, view.logarithmic)
}

/// Draws the densities of all subjects in one frame; `None` if no subject has a density.
pub(super) fn density(sheet: &Sheet<'_>) -> Option<Chart> {
    let subjects = &sheet.figures.subjects;
    let most = subjects.iter().flat_map(|s| &s.shape.density).map(|p| p.1).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let y = Axis::silent("how often (density)", most);
    let (mut scene, frame) = sheet.whole_legend().framed(values(sheet), y, HEIGHT);
    for (index, subject) in subjects.iter().enumerate() {
        let places: Vec<Position> = subject.shape.density.iter().map(|&p| frame.place(p)).collect();
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            let mut area = places.clone();
            area.extend([(last.0, frame.bottom()), (first.0, frame.bottom())]);
            scene.area(area, Ink::Subject(index), 0.12);
        }
        scene.dashed(places, Ink::Subject(index), 1.8, dashes(index));
    }
    for (index, subject) in subjects.iter().enumerate() {
        let shape = &subject.shape;
        scene.dashed(frame.upright(shape.numbers.median), Ink::Subject(index), 1.0, &[3.0, 3.0]);
        if shape.every_step && subject.n <= RUG_UP_TO {
            let foot = frame.bottom() - 3.0 - 6.0 * (index % 4) as f64;
            let dots = shape.ecdf.iter().filter(|p| frame.x.contains(p.0));
            let dots = dots.map(|p| (frame.across(p.0), foot)).collect();
            scene.dots(dots, 2.0, Ink::Subject(index), 0.8);
        }
    }
    let scale = if sheet.figures.view.logarithmic {
        " The axis is logarithmic, and the density that of the logarithms."
    } else {
        ""
    };
    Some(Chart {
        name: "density",
        title: format!("Distribution of {}", sheet.metric),
        caption: format!(
            "Look for several peaks and for long tails. Dotted lines are medians. Kernel density with R's bandwidth bw.nrd0; all curves have the same area.{scale}{}{}",
            sheet.beyond(),
            sheet.left_out()
        ),
        scene,
    })
}

/// Draws the empirical distribution functions of all subjects in one frame.
pub(super) fn ecdf(sheet: &Sheet<'_>) -> Chart {
    let y = Axis::of_shares("share of values up to here", 0.0, 1.0);
    let (mut scene, frame) = sheet.whole_legend().framed(values(sheet), y, HEIGHT);
    for (index, subject) in sheet.figures.subjects.iter().enumerate() {
        let mut points: Vec<Position> = Vec::new();
        let mut share = 0.0;
        for &(x, y) in subject.shape.ecdf.iter().filter(|p| frame.x.contains(p.0)) {
            if subject.shape.every_step || points.is_empty() {
                points.push(frame.place((x, share)));
            }
            points.push(frame.place((x, y)));
            share = y;
        }
        scene.dashed(points, Ink::Subject(index), 1.8, dashes(index));
    }
    scene.dashed(frame.level(0.5), Ink::Mark, 0.8, &[4.0, 3.0]);
    Chart {
        name: "ecdf",
        title: "Share of values up to a size".to_owned(),
        caption: format!(
            "A curve farther to the left has smaller values; it crosses the dashed line at its median. Where two curves cross, \
             neither is always the smaller one. The empirical distribution, not smoothed.{}{}",
            sheet.beyond(),
            sheet.left_out()
        ),
        scene,
    }
}

/// Draws a box plot and a violin plot for every subject.
pub(super) fn boxes(sheet: &Sheet<'_>) -> Chart {
    let subjects = &sheet.figures.subjects;
    let height = ROW * subjects.len() as f64;
    let left = 12.0;
    let frame = Frame {
        left,
        top: 4.0,
        width: WIDTH - left - RIGHT,
        height,
        x: values(sheet),
        y: Axis::silent("", 1.0),
    };
    let mut scene = Scene::new(WIDTH, (height + 4.0 + BELOW).ceil());
    frame.draw(&mut scene, true);
    for (index, subject) in subjects.iter().enumerate() {
        let middle = 4.0 + ROW * index as f64 + 20.0 + VIOLIN / 2.0;
        let ink = Ink::Subject(index);
        if subjects.len() > 1 {
            let place = (left + 2.0, middle - VIOLIN / 2.0 - 5.0);
            scene.words(place, &sheet.names[index], Anchor::Start, ink);
        }
        let most = subject.shape.density.iter().map(|p| p.1).fold(0.0, f64::max);
        if most > 0.0 {
            let half = |y: f64| y / most * VIOLIN / 2.0;
            let upper =
                subject.shape.density.iter().map(|&(x, y)| (frame.across(x), middle - half(y)));
            let lower = subject
                .shape
                .density
                .iter()
                .rev()
                .map(|&(x, y)| (frame.across(x), middle + half(y)));
            scene.area(upper.chain(lower).collect(), ink, 0.22);
        }
        let five = subject.shape.numbers;
        let at = |value: f64| (frame.across(value), middle);
        scene.line(vec![at(five.lower_whisker), at(five.upper_whisker)], ink, 1.2);
        let corner = |value: f64, side: f64| (frame.across(value), middle + side * 7.0);
        scene.rectangle(
            corner(five.lower_quartile, -1.0),
            corner(five.upper_quartile, 1.0),
            ink,
            0.75,
        );
        let outliers = subject.shape.outliers.iter().filter(|&&v| frame.x.contains(v));
        scene.dots(outliers.map(|&v| at(v)).collect(), 1.4, ink, 0.6);
        scene.line(vec![corner(five.median, -1.3), corner(five.median, 1.3)], Ink::Mark, 2.0);
    }
    let outside: usize = subjects.iter().map(|s| s.shape.numbers.outside).sum();
    let dots = match outside {
        0 => String::new(),
        1 => " The value outside the whiskers is a dot.".to_owned(),
        n => format!(" {} values are outside the whiskers; the outermost are dots.", counted(n)),
    };
    Chart {
        name: "box",
        title: format!("{} at a glance", capital(&sheet.metric)),
        caption: format!(
            "The box contains the middle half of the values, and the line in it is the median. Whiskers extend at most 1.5 times the box. The outline is the density.{dots}{}{}",
            sheet.beyond(),
            sheet.left_out()
        ),
        scene,
    }
}
