//! A flame graph as SVG: every function as wide as its share, standing on the one that called it. The picture needs no script; each box tells
//! its name and share where it is pointed at. Colours tell functions apart and nothing else, but for the garbage collector's.

use super::screen::amount;
use crate::names::clean;
use assay_profiles::Profile;
use assay_profiles::tree::{Node, Tree};
use std::fmt::Write;

/// Width of the picture, in its own units.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
const FONT: f64 = 11.0;
/// About the width of a character of that size.
const CHARACTER: f64 = 6.2;
const MARGIN: f64 = 10.0;
const HEAD: f64 = 42.0;
/// Narrower boxes are left out: nobody could see them.
const NARROWEST: f64 = 0.25;
/// Deeper stacks are cut, with a word about it.
pub const DEEPEST: usize = 400;

/// The picture.
pub fn svg(profile: &Profile) -> String {
    let tree = Tree::of(profile, DEEPEST);
    let boxes = layout(&tree);
    let deepest = boxes.iter().map(|b| tree.nodes[b.node].depth).max().unwrap_or(0);
    let height = HEAD + (deepest + 1) as f64 * ROW + MARGIN;
    let total = tree.nodes[0].amount;
    let cut = if tree.depth() >= DEEPEST {
        format!("; stacks are cut at {DEEPEST} frames")
    } else {
        String::new()
    };
    let about = format!(
        "{}, {} samples{cut}",
        amount(total, &profile.unit),
        crate::number::grouped(profile.samples())
    );
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _never = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"{FONT}\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"18\" font-size=\"14\" fill=\"#1c1c1e\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"34\" fill=\"#5a5f66\">{}</text>\n",
        escaped(&profile.name),
        escaped(&profile.name),
        escaped(&about)
    );
    for b in &boxes {
        let node = &tree.nodes[b.node];
        // The root stands at the bottom, as flames do.
        let y = HEAD + (deepest - node.depth) as f64 * ROW;
        let share = if total > 0.0 { node.amount / total } else { 0.0 };
        let told = format!(
            "{}: {} ({:.1} %)",
            clean(&node.name),
            amount(node.amount, &profile.unit),
            share * 100.0
        );
        let _never = write!(
            out,
            "<g><title>{}</title><rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" rx=\"1\" fill=\"{}\"/>",
            escaped(&told),
            b.x,
            (b.width - 0.3).max(0.1),
            ROW - 1.0,
            colour(node)
        );
        let room = ((b.width - 6.0) / CHARACTER) as usize;
        if room >= 3 {
            let _never = write!(
                out,
                "<text x=\"{:.2}\" y=\"{}\" fill=\"#1c1c1e\">{}</text>",
                b.x + 3.0,
                y + ROW - 5.0,
                escaped(&shortened(&clean(&node.name), room))
            );
        }
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

struct Box {
    node: usize,
    x: f64,
    width: f64,
}

/// Where every node that can be seen stands.
fn layout(tree: &Tree) -> Vec<Box> {
    let total = tree.nodes[0].amount;
    let scale = if total > 0.0 { (WIDTH - 2.0 * MARGIN) / total } else { 0.0 };
    let mut boxes = Vec::new();
    let mut open = vec![(0, MARGIN)];
    while let Some((node, x)) = open.pop() {
        let width = tree.nodes[node].amount * scale;
        if width < NARROWEST {
            continue;
        }
        boxes.push(Box { node, x, width });
        let mut at = x;
        for &child in &tree.nodes[node].children {
            open.push((child, at));
            at += tree.nodes[child].amount * scale;
        }
    }
    boxes
}

/// Warm colours by the name, so that a function looks alike in every picture; the garbage collector is blue.
pub(super) fn colour(node: &Node) -> String {
    if node.collector {
        return "#7fb2e5".to_owned();
    }
    if node.parent.is_none() {
        return "#d5d8dc".to_owned();
    }
    let hash = node
        .name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // From yellow to a light red; all of them leave dark text readable.
    format!("hsl({},{}%,{}%)", 12 + hash % 44, 78 + (hash >> 8) % 18, 64 + (hash >> 16) % 12)
}

fn shortened(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(room - 1).collect();
    short.push('…');
    short
}

/// Text within markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
