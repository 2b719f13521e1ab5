//! Renders a chart as SVG, either as part of a page, whose style sheet sets the colors, or as a
//! standalone file on white.
//!
//! Text stays text, so that it can be read aloud, searched and copied. Title and caption are
//! included for people who can't see the chart. A standalone file uses only features that every
//! viewer supports: no style sheets, scripts or embedded fonts.

use super::scene::{Anchor, Ink, Position, Reading, Ruler, Scene, Shape};
use super::{Chart, palette};
use crate::markup::escaped;
use serde_json::{Value, json};
use std::fmt::Write;

/// Renders the chart as part of a page, on which `id` must be unique. Colors are taken from the
/// page's variables `--text`, `--quiet`, `--grid`, `--mark` and `--s0` to `--s7`.
pub fn inline(chart: &Chart, id: &str) -> String {
    Writer { look: Look::Page }.write(chart, id)
}

/// Renders the chart as a standalone file.
pub fn standalone(chart: &Chart) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    text += &Writer { look: Look::Paper }.write(chart, chart.name);
    text.push('\n');
    text
}

#[derive(Clone, Copy, PartialEq)]
enum Look {
    Page,
    Paper,
}

struct Writer {
    look: Look,
}

impl Writer {
    fn write(&self, chart: &Chart, id: &str) -> String {
        let Scene { width, height, shapes, readings } = &chart.scene;
        let mut out = String::with_capacity(4096);
        let size = match self.look {
            Look::Page => read_off(readings),
            // Viewers show a standalone file at the size that it states.
            Look::Paper => format!(" width=\"{}\" height=\"{}\"", width * 1.5, height * 1.5),
        };
        out += &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\"{size} role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>",
            escaped(&chart.title),
            escaped(&chart.caption)
        );
        if self.look == Look::Paper {
            out += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>";
        }
        for shape in shapes {
            self.shape(&mut out, shape);
        }
        out += "</svg>";
        out
    }

    fn paint(&self, property: &str, ink: Ink) -> String {
        match self.look {
            Look::Paper => format!(" {property}=\"{}\"", palette::hex(palette::on_paper(ink))),
            Look::Page => format!(" style=\"{property}:var(--{})\"", variable(ink)),
        }
    }

    fn shape(&self, out: &mut String, shape: &Shape) {
        match shape {
            Shape::Line { points, ink, width, dashes } => {
                *out += "<path d=\"";
                path(out, points);
                *out +=
                    &format!("\" fill=\"none\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
                if !dashes.is_empty() {
                    let lengths: Vec<String> = dashes.iter().map(f64::to_string).collect();
                    *out += &format!(" stroke-dasharray=\"{}\"", lengths.join(" "));
                }
                *out += &format!("{}/>", self.paint("stroke", *ink));
            }
            Shape::Area { points, ink, opacity } => {
                *out += "<path d=\"";
                path(out, points);
                *out += &format!("z\" fill-opacity=\"{opacity}\"{}/>", self.paint("fill", *ink));
            }
            Shape::Sticks { ends, ink, width } => {
                *out += "<path d=\"";
                ends.iter().for_each(|&(from, to)| path(out, &[from, to]));
                *out += &format!(
                    "\" fill=\"none\" stroke-width=\"{width}\"{}/>",
                    self.paint("stroke", *ink)
                );
            }
            Shape::Dots { places, radius, ink, opacity } => {
                // A zero-length line with round caps is drawn as a dot, and is much shorter than a
                // circle element.
                *out += "<path d=\"";
                for &(x, y) in places {
                    let _infallible = write!(out, "M{} {}h0", tenth(x), tenth(y));
                }
                *out += &format!(
                    "\" fill=\"none\" stroke-linecap=\"round\" stroke-width=\"{}\" stroke-opacity=\"{opacity}\"{}/>",
                    2.0 * radius,
                    self.paint("stroke", *ink)
                );
            }
            Shape::Words { place, text, anchor, size, ink } => {
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                *out += &format!(
                    "<text x=\"{}\" y=\"{}\" font-size=\"{size}\"{anchor}{}>{}</text>",
                    tenth(place.0),
                    tenth(place.1),
                    self.paint("fill", *ink),
                    escaped(text)
                );
            }
        }
    }
}

/// Returns the name of the page's CSS variable for an ink.
fn variable(ink: Ink) -> String {
    match ink {
        Ink::Text => "text".to_owned(),
        Ink::Quiet => "quiet".to_owned(),
        Ink::Grid => "grid".to_owned(),
        Ink::Mark => "mark".to_owned(),
        Ink::Subject(index) => format!("s{}", index % palette::SUBJECTS),
    }
}

/// Returns the data that the page's script needs to show the values under the pointer. For each
/// frame these are its corner and size, and for both axes the end values, whether the scale is
/// logarithmic, the decimals and the unit.
fn read_off(readings: &[Reading]) -> String {
    let edge = |ruler: &Option<Ruler>| {
        ruler.as_ref().map_or(Value::Null, |r| {
            json!([r.low, r.high, u8::from(r.logarithmic), r.decimals, r.symbol])
        })
    };
    let rounded = |(x, y): Position| [tenths(x) as f64 / 10.0, tenths(y) as f64 / 10.0];
    let frames = readings.iter().filter(|r| r.across.is_some() || r.up.is_some());
    let frames: Vec<Value> = frames
        .map(|r| {
            let ([left, top], [width, height]) = (rounded(r.corner), rounded(r.size));
            json!([left, top, width, height, edge(&r.across), edge(&r.up)])
        })
        .collect();
    if frames.is_empty() {
        return String::new();
    }
    format!(" data-read=\"{}\"", escaped(&Value::Array(frames).to_string()))
}

/// Writes the points as path data: the first absolute, the others as differences in tenths, which
/// are shorter.
fn path(out: &mut String, points: &[Position]) {
    let mut at = (0i64, 0i64);
    for (index, &(x, y)) in points.iter().enumerate() {
        let to = (tenths(x), tenths(y));
        let _infallible = if index == 0 {
            write!(out, "M{} {}", in_tenths(to.0), in_tenths(to.1))
        } else {
            let (right, down) = (to.0 - at.0, to.1 - at.1);
            match (right, down) {
                (0, 0) if points.len() > 2 => Ok(()),
                (_, 0) => write!(out, "h{}", in_tenths(right)),
                (0, _) => write!(out, "v{}", in_tenths(down)),
                _ => write!(out, "l{} {}", in_tenths(right), in_tenths(down)),
            }
        };
        at = to;
    }
}

/// Converts to tenths. Values far outside the sheet are clamped; NaN, which can't be drawn, becomes
/// 0.
fn tenths(value: f64) -> i64 {
    (value.clamp(-10_000.0, 10_000.0) * 10.0).round() as i64
}

fn in_tenths(tenths: i64) -> String {
    if tenths % 10 == 0 { (tenths / 10).to_string() } else { format!("{}", tenths as f64 / 10.0) }
}

fn tenth(value: f64) -> String {
    in_tenths(tenths(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_in_steps_of_tenths() {
        let mut out = String::new();
        path(&mut out, &[(1.0, 2.0), (1.04, 2.0), (3.5, 2.0), (3.5, 1.0), (4.0, 1.5)]);
        assert_eq!(out, "M1 2h2.5v-1l0.5 0.5");
    }

    #[test]
    fn a_place_that_is_no_number_is_still_a_picture() {
        assert_eq!([f64::NAN, f64::INFINITY, -1e300].map(tenth), ["0", "10000", "-10000"]);
    }
}
