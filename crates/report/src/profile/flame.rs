//! A flame graph as SVG. The width of each function is its share, and it is drawn above its caller.
//! The graph needs no script, and each box shows its name and share on hover. Colors only
//! distinguish functions, except for the color of the garbage collector.

use super::boxes::{Layers, Words, picture};
use super::screen::amount;
use crate::names::clean;
use crate::words::counted;
use assay_profiles::Profile;
use assay_profiles::tree::{Node, Tree};

/// Maximum stack depth. Deeper stacks are cut, with a note.
pub const DEEPEST: usize = 400;

/// Renders the graph as SVG.
pub fn svg(profile: &Profile) -> String {
    let tree = Tree::of(profile, DEEPEST);
    let total = tree.nodes[0].amount;
    let cut = if tree.depth() >= DEEPEST {
        format!("; stacks are cut at {DEEPEST} frames")
    } else {
        String::new()
    };
    let about = format!(
        "{}, {}{cut}",
        amount(total, &profile.unit),
        counted(profile.samples() as usize, "sample")
    );
    picture(&tree, &profile.name, &[about], ("", 0.0), |node| {
        let node = &tree.nodes[node];
        let share = if total > 0.0 { node.amount / total } else { 0.0 };
        let told = format!(
            "{}: {} ({:.1} %)",
            clean(&node.name),
            amount(node.amount, &profile.unit),
            share * 100.0
        );
        Words { fill: colour(node), told, name: node.name.clone(), behind: String::new() }
    })
}

impl Layers for Tree {
    fn amount(&self, node: usize) -> f64 {
        self.nodes[node].amount
    }

    fn children(&self, node: usize) -> &[usize] {
        &self.nodes[node].children
    }

    fn depth(&self, node: usize) -> usize {
        self.nodes[node].depth
    }
}

/// Returns a warm color derived from the name, so that a function has the same color in every
/// graph. The garbage collector is blue.
fn colour(node: &Node) -> String {
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
    // The hues range from yellow to light red, and dark text is readable on all of them.
    format!("hsl({},{}%,{}%)", 12 + hash % 44, 78 + (hash >> 8) % 18, 64 + (hash >> 16) % 12)
}
