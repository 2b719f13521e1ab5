//! A picture before it is SVG or PNG: lines, areas, dots and words at places on a sheet, each in an ink with a meaning.
//!
//! Inks are roles, not colours, so that one picture is right on white paper, in a dark window and for the colour-blind; the
//! writers turn them into colours. Places count from the upper left corner, in units of which a phone shows about one per
//! pixel. Nothing here knows of values or axes.

/// What a thing is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Words that are to be read.
    Text,
    /// Words and lines beside them: ticks, titles of axes.
    Quiet,
    /// Lines behind everything.
    Grid,
    /// What is true for all subjects: thresholds, bounds, estimates.
    Mark,
    /// What belongs to the subject of this number.
    Subject(usize),
}

/// Where a text stands, seen from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A place: to the right, and down.
pub type Place = (f64, f64);

/// One thing on the sheet.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined by straight lines.
    Line {
        /// The points, in order.
        points: Vec<Place>,
        /// Its role.
        ink: Ink,
        /// Its width.
        width: f64,
        /// Lengths of strokes and gaps in turn; empty for a line without gaps.
        dashes: &'static [f64],
    },
    /// A filled polygon.
    Area {
        /// Its corners, in order.
        points: Vec<Place>,
        /// Its role.
        ink: Ink,
        /// From 0, not to be seen, to 1.
        opacity: f64,
    },
    /// Separate lines of one ink, each from one place to another.
    Sticks {
        /// Their ends.
        ends: Vec<(Place, Place)>,
        /// Their role.
        ink: Ink,
        /// Their width.
        width: f64,
    },
    /// Filled circles of one size.
    Dots {
        /// Their middles.
        places: Vec<Place>,
        /// Their radius.
        radius: f64,
        /// Their role.
        ink: Ink,
        /// From 0, not to be seen, to 1.
        opacity: f64,
    },
    /// One line of words.
    Words {
        /// Where it stands; the foot of the letters.
        place: Place,
        /// The words.
        text: String,
        /// How it stands there.
        anchor: Anchor,
        /// Height of the letters.
        size: f64,
        /// Its role.
        ink: Ink,
    },
}

/// The values along one edge of a frame, for whoever points into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruler {
    /// The value at the left or lower end, in the unit in which it is shown.
    pub low: f64,
    /// The value at the other end.
    pub high: f64,
    /// Whether equal ratios are equally long.
    pub logarithmic: bool,
    /// That unit; empty for plain numbers.
    pub symbol: String,
    /// Decimals that a point of the frame is worth.
    pub decimals: usize,
}

/// A frame of which a place can be read off.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Upper left corner of the frame.
    pub corner: Place,
    /// Its width and height.
    pub size: Place,
    /// The values across; `None` where there are no numbers.
    pub across: Option<Ruler>,
    /// The values up.
    pub up: Option<Ruler>,
}

/// A sheet with everything on it, the first thing lowest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width of the sheet.
    pub width: f64,
    /// Height of the sheet.
    pub height: f64,
    /// What is on it.
    pub shapes: Vec<Shape>,
    /// What can be read off it.
    pub readings: Vec<Reading>,
}

/// Height of most letters.
pub const LETTERS: f64 = 12.0;

/// About how wide a text is in letters of this height: somewhat more than most fonts need.
pub fn text_width(text: &str, size: f64) -> f64 {
    crate::names::width(text) as f64 * size * 0.56
}

/// Dashes that tell subjects apart where colours don't.
pub fn dashes(subject: usize) -> &'static [f64] {
    const PATTERNS: [&[f64]; 4] = [&[], &[6.0, 2.5], &[2.0, 2.0], &[8.0, 2.0, 2.0, 2.0]];
    PATTERNS[subject % PATTERNS.len()]
}

impl Scene {
    /// An empty sheet.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, ..Self::default() }
    }

    /// Makes room above everything.
    pub fn lower(&mut self, by: f64) {
        self.height += by;
        let down = |place: &mut Place| place.1 += by;
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

    /// Draws a line without gaps.
    pub fn line(&mut self, points: Vec<Place>, ink: Ink, width: f64) {
        self.dashed(points, ink, width, &[]);
    }

    /// Draws a line with gaps.
    pub fn dashed(&mut self, points: Vec<Place>, ink: Ink, width: f64, dashes: &'static [f64]) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line { points, ink, width, dashes });
        }
    }

    /// Fills a polygon.
    pub fn area(&mut self, points: Vec<Place>, ink: Ink, opacity: f64) {
        if points.len() > 2 {
            self.shapes.push(Shape::Area { points, ink, opacity });
        }
    }

    /// Fills a rectangle between two corners.
    pub fn rectangle(&mut self, from: Place, to: Place, ink: Ink, opacity: f64) {
        self.area(vec![from, (to.0, from.1), to, (from.0, to.1)], ink, opacity);
    }

    /// Draws separate lines.
    pub fn sticks(&mut self, ends: Vec<(Place, Place)>, ink: Ink, width: f64) {
        if !ends.is_empty() {
            self.shapes.push(Shape::Sticks { ends, ink, width });
        }
    }

    /// Draws dots.
    pub fn dots(&mut self, places: Vec<Place>, radius: f64, ink: Ink, opacity: f64) {
        if !places.is_empty() {
            self.shapes.push(Shape::Dots { places, radius, ink, opacity });
        }
    }

    /// Writes words of the usual size.
    pub fn words(&mut self, place: Place, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        let text = crate::names::clean(&text.into());
        self.shapes.push(Shape::Words { place, text, anchor, size: LETTERS, ink });
    }
}
