//! Renders a chart as PNG on white, for use where SVG is not accepted.
//!
//! Letters are drawn from the outlines of the font Inter (SIL Open Font License, `fonts/OFL.txt`).
//! Only its Latin letters are included, about 18 kB. Other letters become empty boxes; for text
//! that contains them, SVG is the better choice.

use super::palette;
use super::scene::{Anchor, Ink, Position, Scene, Shape};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The Latin letters of Inter Regular.
const FONT: &[u8] = include_bytes!("../../fonts/inter-latin.ttf");

/// An error that occurs when a chart is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PngError {
    /// The chart has no area, or is too large for memory.
    Size,
    /// The encoder failed.
    Encoding(String),
}

impl std::fmt::Display for PngError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Size => f.write_str("the picture is too large, or has no area"),
            Self::Encoding(why) => write!(f, "the picture can't be encoded: {why}"),
        }
    }
}

impl std::error::Error for PngError {}

/// Renders the chart, with each unit of the sheet `scale` pixels wide. O(pixels · shapes) in the
/// worst case.
///
/// # Errors
///
/// Returns an error if the sheet has no area or is too large for memory, or if encoding fails.
pub fn render(scene: &Scene, scale: f64) -> Result<Vec<u8>, PngError> {
    let pixels = |length: f64| (length * scale).ceil().clamp(0.0, 30_000.0) as u32;
    let mut sheet = Pixmap::new(pixels(scene.width), pixels(scene.height)).ok_or(PngError::Size)?;
    sheet.fill(tiny_skia::Color::WHITE);
    let face = Face::parse(FONT, 0).expect("the font that is carried along can be read");
    let mut painter = Painter { sheet, face, scale: scale as f32 };
    scene.shapes.iter().for_each(|shape| painter.shape(shape));
    painter.sheet.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

struct Painter {
    sheet: Pixmap,
    face: Face<'static>,
    scale: f32,
}

impl Painter {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, ink, width, dashes } => {
                self.stroke(through(points, false), *ink, 1.0, *width, dashes, LineCap::Butt);
            }
            Shape::Area { points, ink, opacity } => {
                self.fill(through(points, true), *ink, *opacity)
            }
            Shape::Sticks { ends, ink, width } => {
                let mut path = PathBuilder::new();
                for &((x0, y0), (x1, y1)) in ends {
                    path.move_to(x0 as f32, y0 as f32);
                    path.line_to(x1 as f32, y1 as f32);
                }
                self.stroke(path.finish(), *ink, 1.0, *width, &[], LineCap::Butt);
            }
            Shape::Dots { places, radius, ink, opacity } => {
                for &(x, y) in places {
                    let circle = PathBuilder::from_circle(x as f32, y as f32, *radius as f32);
                    self.fill(circle, *ink, *opacity);
                }
            }
            Shape::Words { place, text, anchor, size, ink } => {
                let path = self.letters(*place, text, *anchor, *size);
                self.fill(path, *ink, 1.0);
            }
        }
    }

    fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
        let (red, green, blue) = palette::on_paper(ink);
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color_rgba8(red, green, blue, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8);
        paint
    }

    fn fill(&mut self, path: Option<Path>, ink: Ink, opacity: f64) {
        // Shapes without valid coordinates are not drawn.
        let Some(path) = path else { return };
        let zoom = Transform::from_scale(self.scale, self.scale);
        self.sheet.fill_path(&path, &Self::paint(ink, opacity), FillRule::Winding, zoom, None);
    }

    fn stroke(
        &mut self,
        path: Option<Path>,
        ink: Ink,
        opacity: f64,
        width: f64,
        dashes: &[f64],
        cap: LineCap,
    ) {
        let Some(path) = path else { return };
        let dash = StrokeDash::new(dashes.iter().map(|&length| length as f32).collect(), 0.0);
        let stroke = Stroke {
            width: width as f32,
            line_cap: cap,
            line_join: LineJoin::Round,
            dash: if dashes.is_empty() { None } else { dash },
            ..Stroke::default()
        };
        let zoom = Transform::from_scale(self.scale, self.scale);
        self.sheet.stroke_path(&path, &Self::paint(ink, opacity), &stroke, zoom, None);
    }

    /// Returns the outlines of a line of text.
    fn letters(&self, (x, y): Position, text: &str, anchor: Anchor, size: f64) -> Option<Path> {
        let per_unit = size as f32 / f32::from(self.face.units_per_em());
        let glyph = |c: char| self.face.glyph_index(substitute(c)).unwrap_or(GlyphId(0));
        let advance = |id| f32::from(self.face.glyph_hor_advance(id).unwrap_or(0)) * per_unit;
        let width: f32 = text.chars().map(|c| advance(glyph(c))).sum();
        let mut at = x as f32
            - match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
        let mut outlines = Outlines { path: PathBuilder::new(), x: at, y: y as f32, per_unit };
        for c in text.chars() {
            let id = glyph(c);
            outlines.x = at;
            // A space has no outline.
            let _outlined = self.face.outline_glyph(id, &mut outlines);
            at += advance(id);
        }
        outlines.path.finish()
    }
}

/// Replaces letters missing from the font by similar ones.
fn substitute(c: char) -> char {
    match c {
        'μ' => 'µ',
        '\u{202f}' | '\u{a0}' => ' ',
        c => c,
    }
}

fn through(points: &[Position], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 {
            path.move_to(x as f32, y as f32);
        } else {
            path.line_to(x as f32, y as f32);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Converts letter outlines, whose y axis points up, to the sheet's coordinates, whose y axis
/// points down.
struct Outlines {
    path: PathBuilder,
    x: f32,
    y: f32,
    per_unit: f32,
}

impl Outlines {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.per_unit, self.y - y * self.per_unit)
    }
}

impl OutlineBuilder for Outlines {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_size_of_its_sheet_and_ink_on_it() {
        let mut scene = Scene::new(60.0, 20.0);
        scene.words((30.0, 14.0), "12.5 µs", Anchor::Middle, Ink::Text);
        let bytes = render(&scene, 2.0).expect("a small picture");
        let picture = Pixmap::decode_png(&bytes).expect("a PNG");
        assert_eq!((picture.width(), picture.height()), (120, 40));
        let dark = picture.pixels().iter().filter(|p| p.red() < 128).count();
        assert!((100..2000).contains(&dark), "{dark}");
    }

    #[test]
    fn what_is_no_number_is_not_drawn_and_a_sheet_without_area_is_refused() {
        let mut scene = Scene::new(10.0, 10.0);
        scene.line(vec![(f64::NAN, 1.0), (3.0, f64::INFINITY)], Ink::Mark, 1.0);
        assert!(render(&scene, 1.0).is_ok());
        assert_eq!(render(&Scene::new(0.0, 5.0), 1.0), Err(PngError::Size));
    }
}
