//! Axes shared by all pictures: the mapping from values to positions on the sheet, with ticks and
//! titles.
//!
//! The title of the vertical axis is horizontal, at its upper end, since rotated text is hard to
//! read.

use super::scene::{Anchor, Ink, LETTERS, Position, Reading, Ruler, Scene, text_width};
use crate::{number, ticks};
use assay_data::Unit;

/// Target number of ticks on a horizontal axis.
const ACROSS: usize = 5;
/// Target number of ticks on a vertical axis.
const DOWN: usize = 4;
/// Space between a tick's label and the frame, in sheet units (about a pixel each).
const GAP: f64 = 5.0;
/// Minimum space between two adjacent labels, in sheet units (about a pixel each).
const APART: f64 = 8.0;
/// Minimum space to the left of a vertical axis for the labels of its ticks, in sheet units (about
/// a pixel each).
const USUAL_ROOM: f64 = 54.0;

/// An axis of a plot: the range of its values, its ticks and its title.
#[derive(Clone, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
    title: String,
    /// Size of the display unit in base units, and its symbol. `None` if positions on the axis
    /// cannot be read as numbers.
    told_in: Option<(f64, String)>,
}

/// Number of positions along an axis that can be told apart. One position is about a pixel.
const PIXELS: f64 = 400.0;

impl Axis {
    /// Returns an axis of values in a unit, with a small margin beyond the ends.
    pub fn of(name: &str, unit: &Unit, low: f64, high: f64, logarithmic: bool) -> Self {
        let logarithmic = logarithmic && low > 0.0;
        let (low, high) = aired(low, high, logarithmic);
        let told_in = told_in(unit, low, high);
        if logarithmic {
            let ticks = ticks::logarithmic(low, high, unit, ACROSS + 1);
            return Self { low, high, logarithmic, ticks, title: name.to_owned(), told_in };
        }
        let found = ticks::linear(low, high, unit, ACROSS);
        let mut title = name.to_owned();
        if let Some(from) = &found.from {
            title += &format!(" from {from}");
        }
        if !found.symbol.is_empty() && !title.is_empty() {
            title += &format!(" ({})", found.symbol);
        }
        Self { low, high, logarithmic, ticks: found.ticks, title, told_in }
    }

    /// Returns an axis of counts from `first` to `last`.
    pub fn counting(name: &str, first: f64, last: f64) -> Self {
        if last <= first {
            // A single count is at the center of the axis and is its only label.
            let ticks = vec![(first, format!("{first}"))];
            return Self::with_ticks(name, first - 0.5, first + 0.5, ticks);
        }
        let mut ticks = ticks::linear(first, last, &Unit::One, ACROSS).ticks;
        // Only whole numbers are labeled, since counts have no fractions.
        if last - first < 10.0 {
            ticks.retain(|(at, _)| at.fract() == 0.0);
            ticks.iter_mut().for_each(|(at, text)| *text = format!("{at}"));
        }
        let (low, high) = aired(first, last, false);
        let told_in = Some((1.0, String::new()));
        Self { low, high, logarithmic: false, ticks, title: name.to_owned(), told_in }
    }

    /// Returns an axis with a tick at each of the given values.
    pub fn of_values(name: &str, mut values: Vec<f64>, logarithmic: bool) -> Self {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let [first, last] = range(values.iter().copied());
        let (low, high) = aired(first, last, logarithmic);
        let ticks = values.into_iter().map(|value| (value, plain(value))).collect();
        let told_in = Some((1.0, String::new()));
        Self { low, high, logarithmic, ticks, title: name.to_owned(), told_in }
    }

    /// Returns a linear axis with the given ticks and ends.
    pub fn with_ticks(name: &str, low: f64, high: f64, ticks: Vec<(f64, String)>) -> Self {
        Self { low, high, logarithmic: false, ticks, title: name.to_owned(), told_in: None }
    }

    /// Returns the axis with its positions read as plain numbers, without a unit.
    #[must_use]
    pub fn of_numbers(self) -> Self {
        Self { told_in: Some((1.0, String::new())), ..self }
    }

    /// Returns an axis of shares, labeled in percent, with a margin below `low` and above `high`.
    pub fn of_shares(name: &str, low: f64, high: f64) -> Self {
        let found = ticks::linear(low * 100.0, high * 100.0, &Unit::Other(String::new()), DOWN);
        let ticks = found.ticks.into_iter().map(|(at, text)| (at / 100.0, format!("{text} %")));
        let ticks = ticks.collect();
        let (low, high) = (low - 0.02 * (high - low), high + 0.08 * (high - low));
        let told_in = Some((0.01, "%".to_owned()));
        Self { low, high, logarithmic: false, ticks, title: name.to_owned(), told_in }
    }

    /// Returns an axis without numbers, from 0 to slightly above `high`. It shows relative heights
    /// only.
    pub fn silent(name: &str, high: f64) -> Self {
        let high = if high > 0.0 { high * 1.06 } else { 1.0 };
        Self::with_ticks(name, 0.0, high, Vec::new())
    }

    /// Returns the axis without a title.
    #[must_use]
    pub fn untitled(self) -> Self {
        Self { title: String::new(), ..self }
    }

    /// Returns the space to the left of a vertical axis that its labels need, in sheet units (about
    /// a pixel each). It is equal for all labels of usual width, so that frames are aligned.
    pub fn room(&self) -> f64 {
        let widest =
            self.ticks.iter().map(|(_, text)| text_width(text, LETTERS)).fold(0.0, f64::max);
        (widest + GAP + 2.0).max(USUAL_ROOM)
    }

    fn ruler(&self) -> Option<Ruler> {
        let (factor, symbol) = self.told_in.clone()?;
        let (low, high) = (self.low / factor, self.high / factor);
        let decimals = number::decimals_for((high - low) / PIXELS, 1);
        let known = low.is_finite() && high.is_finite();
        known.then_some(Ruler { low, high, logarithmic: self.logarithmic, symbol, decimals })
    }

    /// Returns true if a value is within the range of the axis.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns the position of a value relative to the ends of the axis, clamped to 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let scale = |v: f64| if self.logarithmic { v.ln() } else { v };
        let (low, high) = (scale(self.low), scale(self.high));
        let share = (scale(value) - low) / (high - low);
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    }
}

/// Returns the display unit for values between two ends: its size in base units, and its symbol.
/// Plain numbers and unknown units are not scaled.
fn told_in(unit: &Unit, low: f64, high: f64) -> Option<(f64, String)> {
    Some(match unit {
        Unit::One => (1.0, String::new()),
        Unit::Other(symbol) => (1.0, symbol.clone()),
        _ => {
            let scale = unit.scale_for(low.abs().max(high.abs()));
            (scale.factor, scale.symbol.to_owned())
        }
    })
}

/// Returns the smallest and the largest value.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let ends = [f64::INFINITY, f64::NEG_INFINITY];
    values.into_iter().fold(ends, |[low, high], value| [low.min(value), high.max(value)])
}

/// Formats a chosen value approximately as the user typed it.
pub(crate) fn plain(value: f64) -> String {
    if (1e-4..1e9).contains(&value.abs()) || value == 0.0 {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Returns the two ends, moved outwards by a margin of 3 % of the range. If the range is empty, the
/// margin is 5 % of the value (linear) or 2 % (logarithmic).
fn aired(low: f64, high: f64, logarithmic: bool) -> (f64, f64) {
    if logarithmic {
        let air = ((high.ln() - low.ln()) * 0.03).max(0.02).exp();
        return ((low / air).max(f64::MIN_POSITIVE), (high * air).min(f64::MAX));
    }
    let air = match high - low {
        span if span > 0.0 => span * 0.03,
        _ if high != 0.0 => high.abs() * 0.05,
        _ => 1.0,
    };
    (low - air, high + air)
}

/// Two axes and the rectangle between them.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Left edge, in sheet units (about a pixel each).
    pub left: f64,
    /// Upper edge, in sheet units (about a pixel each).
    pub top: f64,
    /// Length of the horizontal axis, in sheet units (about a pixel each).
    pub width: f64,
    /// Length of the vertical axis, in sheet units (about a pixel each).
    pub height: f64,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
}

impl Frame {
    /// Returns the horizontal position of a value.
    pub fn across(&self, value: f64) -> f64 {
        self.left + self.width * self.x.share(value)
    }

    /// Returns the vertical position of a value.
    pub fn down(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.share(value))
    }

    /// Returns the position on the sheet of a point given by its values on both axes.
    pub fn place(&self, (x, y): (f64, f64)) -> Position {
        (self.across(x), self.down(y))
    }

    /// Returns the vertical position of the lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Returns the horizontal position of the right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Returns a vertical line through the whole frame at `value` on the horizontal axis.
    pub fn upright(&self, value: f64) -> Vec<Position> {
        vec![(self.across(value), self.top), (self.across(value), self.bottom())]
    }

    /// Returns a horizontal line through the whole frame at `value` on the vertical axis.
    pub fn level(&self, value: f64) -> Vec<Position> {
        vec![(self.left, self.down(value)), (self.right(), self.down(value))]
    }

    /// Draws grid, axes, ticks and titles. The labels and the title of the horizontal axis are
    /// drawn only if `lowest` is set, that is, for the lowest of several frames.
    pub fn draw(&self, scene: &mut Scene, lowest: bool) {
        scene.readings.push(Reading {
            corner: (self.left, self.top),
            size: (self.width, self.height),
            across: self.x.ruler(),
            up: self.y.ruler(),
        });
        let size = LETTERS - 1.0;
        for (value, text) in &self.y.ticks {
            let down = self.down(*value);
            scene.line(vec![(self.left, down), (self.right(), down)], Ink::Grid, 0.8);
            scene.words((self.left - GAP, down + size * 0.35), text, Anchor::End, Ink::Quiet);
        }
        if !self.y.title.is_empty() {
            let place = (4.0, self.top - 8.0);
            scene.words(place, &self.y.title, Anchor::Start, Ink::Quiet);
        }
        let mut free = f64::NEG_INFINITY;
        for (value, text) in &self.x.ticks {
            let at = self.across(*value);
            scene.line(vec![(at, self.top), (at, self.bottom())], Ink::Grid, 0.8);
            let wide = text_width(text, LETTERS);
            let (from, to) = (at - wide / 2.0, at + wide / 2.0);
            if lowest && from >= free && to <= scene.width + 2.0 {
                let place = (at, self.bottom() + LETTERS + 4.0);
                scene.words(place, text, Anchor::Middle, Ink::Quiet);
                free = to + APART;
            }
        }
        let base = vec![(self.left, self.bottom()), (self.right(), self.bottom())];
        scene.line(base, Ink::Quiet, 1.0);
        if lowest && !self.x.title.is_empty() {
            let place = (self.left + self.width / 2.0, self.bottom() + 2.0 * LETTERS + 9.0);
            scene.words(place, &self.x.title, Anchor::Middle, Ink::Quiet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(x: Axis, y: Axis) -> Frame {
        Frame { left: 10.0, top: 20.0, width: 100.0, height: 50.0, x, y }
    }

    #[test]
    fn the_ends_of_an_axis_are_the_edges_of_the_frame() {
        let plain = |low, high| Axis::with_ticks("", low, high, Vec::new());
        let frame = frame(plain(0.0, 4.0), plain(-1.0, 1.0));
        assert_eq!(
            [(0.0, -1.0), (4.0, 1.0), (2.0, 0.0)].map(|p| frame.place(p)),
            [(10.0, 70.0), (110.0, 20.0), (60.0, 45.0)]
        );
        assert_eq!(frame.place((1e300, f64::NAN)), (110.0, 45.0));
    }

    #[test]
    fn a_logarithmic_axis_gives_equal_ratios_equal_lengths() {
        let axis = Axis::of("wall", &Unit::Second, 0.001, 1.0, true);
        let step = axis.share(0.1) - axis.share(0.01);
        assert!((step - (axis.share(1.0) - axis.share(0.1))).abs() < 1e-12);
        // Zero has no logarithm, so the axis is linear.
        assert!(!Axis::of("wall", &Unit::Second, 0.0, 1.0, true).logarithmic);
    }

    #[test]
    fn equal_values_are_in_the_middle_of_their_axis() {
        let axis = Axis::of("wall", &Unit::Second, 3.0, 3.0, false);
        assert_eq!(axis.share(3.0), 0.5);
        assert_eq!(Axis::of("wall", &Unit::Second, 0.0, 0.0, false).share(0.0), 0.5);
    }

    #[test]
    fn one_value_alone_is_counted_as_one() {
        let axis = Axis::counting("run", 1.0, 1.0);
        assert_eq!(axis.ticks, [(1.0, "1".to_owned())]);
        assert_eq!(axis.share(1.0), 0.5);
        let two = Axis::counting("run", 1.0, 2.0).ticks;
        assert_eq!(two.iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn whoever_points_into_a_frame_reads_the_values_of_its_axes() {
        let mut scene = Scene::new(200.0, 100.0);
        let x = Axis::of("wall", &Unit::Second, 0.010, 0.020, false);
        frame(x, Axis::of_shares("share", 0.0, 1.0)).draw(&mut scene, true);
        let reading = &scene.readings[0];
        let (across, up) = reading.across.as_ref().zip(reading.up.as_ref()).expect("both axes");
        assert!((across.low - 9.7).abs() < 1e-9 && (across.high - 20.3).abs() < 1e-9);
        assert_eq!((across.symbol.as_str(), across.decimals), ("ms", 2));
        assert_eq!((up.symbol.as_str(), up.low.round(), up.high.round()), ("%", -2.0, 108.0));
        // No values can be read from an axis without numbers.
        frame(Axis::silent("", 1.0), Axis::silent("", 1.0)).draw(&mut scene, true);
        assert_eq!((&scene.readings[1].across, &scene.readings[1].up), (&None, &None));
    }

    #[test]
    fn labels_side_by_side_do_not_touch() {
        let ticks = (0..40).map(|k| (f64::from(k), format!("{k}00000 ms"))).collect();
        let mut scene = Scene::new(200.0, 100.0);
        frame(Axis::with_ticks("", 0.0, 39.0, ticks), Axis::silent("", 1.0)).draw(&mut scene, true);
        let words =
            scene.shapes.iter().filter(|s| matches!(s, super::super::scene::Shape::Words { .. }));
        assert!((1..=2).contains(&words.count()));
    }
}
