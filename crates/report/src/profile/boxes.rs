//! The layout of the boxes of flame graphs and icicles, and their drawing as SVG. The caller
//! provides the meaning, colors and texts of the boxes.

use crate::markup::escaped;
use crate::names::clean;
use std::fmt::Write;

/// Width of a graph, in SVG units.
pub(crate) const WIDTH: f64 = 1200.0;
pub(crate) const MARGIN: f64 = 10.0;
const ROW: f64 = 17.0;
const FONT: f64 = 11.0;
/// Approximate width of a character in the font size [`FONT`].
pub(crate) const CHARACTER: f64 = 6.2;
/// Minimum width of a function's box.
const NARROWEST: f64 = 0.25;

/// Dark mode gets a dark background. The boxes are light in both modes, with dark text.
const STYLE: &str = "<style>.ground{fill:#fff}.text{fill:#1c1c1e}.quiet{fill:#5a5f66}.name{fill:#1c1c1e}\
@media (prefers-color-scheme:dark){.ground{fill:#15171a}.text{fill:#e9eaec}.quiet{fill:#a3a9b1}}</style>\n";

/// A visible node and its position.
pub(crate) struct Placed {
    pub node: usize,
    pub x: f64,
    pub width: f64,
}

/// The properties of a tree needed for its layout; the root is node 0.
pub(crate) trait Layers {
    /// Returns the quantity that determines the width of a node.
    fn amount(&self, node: usize) -> f64;
    /// Returns the children of a node.
    fn children(&self, node: usize) -> &[usize];
    /// Returns the distance of a node from the root.
    fn depth(&self, node: usize) -> usize;
    /// Returns the minimum width of a box. Narrower boxes would be invisible and are left out.
    fn narrowest(&self) -> f64 {
        NARROWEST
    }
    /// Returns true if the root is at the top, as in icicles; otherwise it is at the bottom, as in
    /// flame graphs.
    fn hangs(&self) -> bool {
        false
    }
}

/// Returns the positions of all visible nodes.
pub(crate) fn layout(tree: &impl Layers) -> Vec<Placed> {
    let total = tree.amount(0);
    let scale = if total > 0.0 { (WIDTH - 2.0 * MARGIN) / total } else { 0.0 };
    let mut boxes = Vec::new();
    let mut open = vec![(0, MARGIN)];
    while let Some((node, x)) = open.pop() {
        let width = tree.amount(node) * scale;
        if width < tree.narrowest() {
            continue;
        }
        boxes.push(Placed { node, x, width });
        let mut at = x;
        for &child in tree.children(node) {
            open.push((child, at));
            at += tree.amount(child) * scale;
        }
    }
    boxes
}

/// The text on a box and its tooltip.
pub(crate) struct Words {
    pub fill: String,
    pub told: String,
    pub name: String,
    /// Text after the name, which is shown in full or not at all. It may be empty.
    pub behind: String,
}

/// Draws a graph: a title, the lines of `about`, the markup of `head` with its height, and the
/// boxes.
pub(crate) fn picture(
    tree: &impl Layers,
    title: &str,
    about: &[String],
    (head, head_height): (&str, f64),
    words: impl Fn(usize) -> Words,
) -> String {
    let boxes = layout(tree);
    let deepest = boxes.iter().map(|b| tree.depth(b.node)).max().unwrap_or(0);
    let top = below(about) + head_height;
    let height = top + (deepest + 1) as f64 * ROW + MARGIN;
    let mut out = String::new();
    // Writing to a string can't fail.
    let _never = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"{FONT}\">\n\
         <title>{title}</title>\n{STYLE}<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"text\" x=\"{MARGIN}\" y=\"18\" font-size=\"14\">{title}</text>\n",
        title = escaped(title),
    );
    for (index, line) in about.iter().enumerate() {
        let _never = writeln!(
            out,
            "<text class=\"quiet\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
            34.0 + index as f64 * 15.0,
            escaped(&shortened(line, ((WIDTH - 2.0 * MARGIN) / CHARACTER) as usize))
        );
    }
    out.push_str(head);
    for b in &boxes {
        let words = words(b.node);
        let depth = tree.depth(b.node);
        let layer = if tree.hangs() { depth } else { deepest - depth };
        let y = top + layer as f64 * ROW;
        let _never = write!(
            out,
            "<g><title>{}</title><rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" rx=\"1\" fill=\"{}\"/>",
            escaped(&words.told),
            b.x,
            (b.width - 0.3).max(0.1),
            ROW - 1.0,
            words.fill
        );
        let room = ((b.width - 6.0) / CHARACTER) as usize;
        let label = fitting(&clean(&words.name), &words.behind, room);
        if !label.is_empty() {
            let _never = write!(
                out,
                "<text class=\"name\" x=\"{:.2}\" y=\"{}\">{}</text>",
                b.x + 3.0,
                y + ROW - 5.0,
                escaped(&label)
            );
        }
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the vertical position at which the lines above a graph end.
pub(crate) fn below(about: &[String]) -> f64 {
    27.0 + about.len() as f64 * 15.0
}

/// Returns the label of a box: the name, shortened if necessary, and the text after it if there is
/// space for both. The label is empty if there is not even space for the name.
fn fitting(name: &str, behind: &str, room: usize) -> String {
    if room < 3 {
        return String::new();
    }
    let taken = if behind.is_empty() { 0 } else { behind.chars().count() + 1 };
    match room >= taken + 3 && taken > 0 {
        true => format!("{} {behind}", shortened(name, room - taken)),
        false => shortened(name, room),
    }
}

pub(crate) fn shortened(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}
