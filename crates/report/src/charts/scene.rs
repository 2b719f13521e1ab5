//! A chart before it becomes SVG or PNG: lines, areas, dots and text on a sheet, each in an ink
//! with a meaning.
//!
//! Inks are roles, not colors, so that one chart works on white paper, in dark mode and for
//! color-blind readers. The writers convert them to colors. Coordinates start at the upper left
//! corner, in units of about one pixel on a phone. This module knows nothing about values and axes.

/// The role of a drawn element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Main text.
    Text,
    /// Secondary text and lines: ticks and axis titles.
    Quiet,
    /// Background lines.
    Grid,
    /// Elements that apply to all subjects: thresholds, bounds, estimates.
    Mark,
    /// Elements of the subject with this number.
    Subject(usize),
}

/// Horizontal alignment of a text relative to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at its position.
    Start,
    /// The text is centered on its position.
    Middle,
    /// The text ends at its position.
    End,
}

/// A position: distances from the left and upper edges of the sheet.
pub type Position = (f64, f64);

/// An element on the sheet.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined by straight lines.
    Line {
        /// The points, in order.
        points: Vec<Position>,
        /// Role of the line.
        ink: Ink,
        /// Line width.
        width: f64,
        /// Alternating lengths of strokes and gaps; empty for a solid line.
        dashes: &'static [f64],
    },
    /// A filled polygon.
    Area {
        /// Corners of the polygon, in order.
        points: Vec<Position>,
        /// Role of the polygon.
        ink: Ink,
        /// Opacity, from 0 (invisible) to 1.
        opacity: f64,
    },
    /// Separate lines of one ink, each between two positions.
    Sticks {
        /// Both ends of each line.
        ends: Vec<(Position, Position)>,
        /// Role of the lines.
        ink: Ink,
        /// Line width.
        width: f64,
    },
    /// Filled circles of one size.
    Dots {
        /// Centers of the circles.
        places: Vec<Position>,
        /// Radius of the circles.
        radius: f64,
        /// Role of the circles.
        ink: Ink,
        /// Opacity, from 0 (invisible) to 1.
        opacity: f64,
    },
    /// One line of text.
    Words {
        /// Position of the text on its baseline.
        place: Position,
        /// The text.
        text: String,
        /// Alignment of the text.
        anchor: Anchor,
        /// Height of the letters.
        size: f64,
        /// Role of the text.
        ink: Ink,
    },
}

/// The scale along one edge of a frame, from which the value under the pointer is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruler {
    /// The value at the left or lower end, in the display unit.
    pub low: f64,
    /// The value at the right or upper end, in the display unit.
    pub high: f64,
    /// True if the scale is logarithmic.
    pub logarithmic: bool,
    /// Symbol of the display unit; empty for plain numbers.
    pub symbol: String,
    /// Number of decimals shown; more would be finer than one unit of the sheet.
    pub decimals: usize,
}

/// A frame in which values can be read under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Upper left corner of the frame.
    pub corner: Position,
    /// Width and height of the frame.
    pub size: Position,
    /// The horizontal scale; `None` if the positions are not numbers.
    pub across: Option<Ruler>,
    /// The vertical scale; `None` if the positions are not numbers.
    pub up: Option<Ruler>,
}

/// A sheet with its elements, in the order in which they are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width of the sheet.
    pub width: f64,
    /// Height of the sheet.
    pub height: f64,
    /// The elements, in drawing order.
    pub shapes: Vec<Shape>,
    /// The frames in which values can be read under the pointer.
    pub readings: Vec<Reading>,
}

/// Default height of letters.
pub const LETTERS: f64 = 12.0;

/// Estimates the width of a text with letters of this height, somewhat generously for most fonts.
pub fn text_width(text: &str, size: f64) -> f64 {
    crate::names::width(text) as f64 * size * 0.56
}

/// Returns the dash pattern that distinguishes a subject without colors.
pub fn dashes(subject: usize) -> &'static [f64] {
    const PATTERNS: [&[f64]; 4] = [&[], &[6.0, 2.5], &[2.0, 2.0], &[8.0, 2.0, 2.0, 2.0]];
    PATTERNS[subject % PATTERNS.len()]
}

impl Scene {
    /// Creates an empty sheet.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, ..Self::default() }
    }

    /// Moves all elements down by `by`, to make space above them.
    pub fn lower(&mut self, by: f64) {
        self.height += by;
        let down = |place: &mut Position| place.1 += by;
        for shape in &mut self.shapes {
            match shape {
                Shape::Line { points: places, .. }
                | Shape::Area { points: places, .. }
                | Shape::Dots { places, .. } => places.iter_mut().for_each(down),
                Shape::Sticks { ends, .. } => ends.iter_mut().for_each(|(from, to)| {
                    down(from);
                    down(to);
                }),
                Shape::Words { place, .. } => down(place),
            }
        }
        self.readings.iter_mut().for_each(|reading| down(&mut reading.corner));
    }

    /// Draws a solid line.
    pub fn line(&mut self, points: Vec<Position>, ink: Ink, width: f64) {
        self.dashed(points, ink, width, &[]);
    }

    /// Draws a dashed line.
    pub fn dashed(&mut self, points: Vec<Position>, ink: Ink, width: f64, dashes: &'static [f64]) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line { points, ink, width, dashes });
        }
    }

    /// Fills a polygon.
    pub fn area(&mut self, points: Vec<Position>, ink: Ink, opacity: f64) {
        if points.len() > 2 {
            self.shapes.push(Shape::Area { points, ink, opacity });
        }
    }

    /// Fills a rectangle between two corners.
    pub fn rectangle(&mut self, from: Position, to: Position, ink: Ink, opacity: f64) {
        self.area(vec![from, (to.0, from.1), to, (from.0, to.1)], ink, opacity);
    }

    /// Draws separate lines.
    pub fn sticks(&mut self, ends: Vec<(Position, Position)>, ink: Ink, width: f64) {
        if !ends.is_empty() {
            self.shapes.push(Shape::Sticks { ends, ink, width });
        }
    }

    /// Draws dots.
    pub fn dots(&mut self, places: Vec<Position>, radius: f64, ink: Ink, opacity: f64) {
        if !places.is_empty() {
            self.shapes.push(Shape::Dots { places, radius, ink, opacity });
        }
    }

    /// Writes text of the usual size.
    pub fn words(&mut self, place: Position, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        let text = crate::names::clean(&text.into());
        self.shapes.push(Shape::Words { place, text, anchor, size: LETTERS, ink });
    }
}

/// Width of every chart.
pub const WIDTH: f64 = 420.0;

/// Right margin, with space for half a label.
pub(crate) const RIGHT: f64 = 14.0;

/// Bottom margin, with space for labels and a title.
pub(crate) const BELOW: f64 = 42.0;
