//! The tests of a suite as an icicle: files, the classes or groups in them, and their tests, each
//! as wide as its time. It is drawn and searched like a flame graph, and the color of a test shows
//! its result.

use super::OfStatus;
use crate::names::clean;
use crate::number;
use crate::profile::boxes::{Layers, Words, picture};
use crate::words::counted;
use assay_analysis::testing::Testing;
use assay_data::Unit;
use serde_json::json;
use std::collections::HashMap;

/// Minimum width of a test in the graph without script. Narrower tests are left out, but the groups
/// that contain them are kept.
const NARROWEST: f64 = 0.5;
/// Maximum length of a name on a page. With ten thousand longer names, the page would be too large.
pub(super) const LONGEST_NAME: usize = 200;
const ROOT: &str = "all tests";

/// The colors of the kinds of boxes, with descriptions. They are light in both modes, with dark
/// text.
const KINDS: [(&str, &str); 5] = [
    ("#d5d8dc", ""),
    ("#e6e2d6", ""),
    ("#8fc7ea", ""),
    ("#f2a07a", "failed"),
    ("#ecd06f", "failed at times"),
];
const GROUP: usize = 1;

struct Node {
    name: String,
    kind: usize,
    amount: f64,
    parent: Option<usize>,
    depth: usize,
    children: Vec<usize>,
    /// Number of tests below the node.
    tests: usize,
}

/// A suite's tests as a tree.
pub(super) struct Icicle(Vec<Node>);

impl Icicle {
    /// Builds the tree from the medians of the tests. O(n log n).
    pub fn of(found: &Testing) -> Self {
        let mut tree = Self(vec![node(ROOT, 0, None, 0)]);
        let status = OfStatus::of(found);
        let mut groups: HashMap<(usize, &str), usize> = HashMap::new();
        for test in &found.tests {
            let mut at = 0;
            for group in &test.group {
                at = *groups.entry((at, group)).or_insert_with(|| tree.add(at, group, GROUP));
            }
            let kind = match status.failing(&test.name) {
                None => 2,
                Some(failing) if failing.always() => 3,
                Some(_) => 4,
            };
            let leaf = tree.add(at, short(&test.name, &test.group), kind);
            let mut place = Some(leaf);
            while let Some(index) = place {
                let node = &mut tree.0[index];
                node.amount += test.time.median.max(0.0);
                node.tests += 1;
                place = node.parent;
            }
        }
        for index in 0..tree.0.len() {
            let mut children = std::mem::take(&mut tree.0[index].children);
            children.sort_by(|&a, &b| tree.0[b].amount.total_cmp(&tree.0[a].amount));
            tree.0[index].children = children;
        }
        tree
    }

    fn add(&mut self, parent: usize, name: &str, kind: usize) -> usize {
        let index = self.0.len();
        let depth = self.0[parent].depth + 1;
        self.0.push(node(name, kind, Some(parent), depth));
        self.0[parent].children.push(index);
        index
    }

    /// Renders the graph that needs no script.
    pub fn svg(&self) -> String {
        let root = &self.0[0];
        let about = format!("{}, together {}", counted(root.tests, "test"), seconds(root.amount));
        picture(self, "Tests by file", &[about], ("", 0.0), |index| {
            let node = &self.0[index];
            let share = if root.amount > 0.0 { node.amount / root.amount * 100.0 } else { 0.0 };
            let (fill, kind) = KINDS[node.kind];
            let kind = match kind {
                "" if node.kind <= GROUP => format!(", {}", counted(node.tests, "test")),
                "" => String::new(),
                kind => format!(", {kind}"),
            };
            let told = format!("{}: {} ({share:.1} %){kind}", node.name, seconds(node.amount));
            let (fill, name) = (fill.to_owned(), node.name.clone());
            Words { fill, told, name, behind: String::new() }
        })
    }

    /// Returns the tree for the script: distinct names, then for every node its name, parent,
    /// seconds and kind, with the children of a node in display order. The text must not contain
    /// anything that could end the script element.
    pub fn data(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut nodes = Vec::with_capacity(self.0.len());
        // Visit parents before their children.
        let mut open = std::collections::VecDeque::from([(0, -1)]);
        while let Some((index, parent)) = open.pop_front() {
            let node = &self.0[index];
            let next = names.len();
            let name = *known.entry(&node.name).or_insert(next);
            if name == next {
                names.push(node.name.clone());
            }
            let here = nodes.len() as i64;
            nodes.push(json!([name, parent, (node.amount * 1e6).round() / 1e6, node.kind]));
            open.extend(node.children.iter().map(|&child| (child, here)));
        }
        let data =
            json!({"names": names, "nodes": nodes, "unit": "s", "kinds": KINDS, "whole": ROOT});
        data.to_string().replace('<', "\\u003c")
    }
}

impl Layers for Icicle {
    fn amount(&self, node: usize) -> f64 {
        self.0[node].amount
    }

    fn children(&self, node: usize) -> &[usize] {
        &self.0[node].children
    }

    fn depth(&self, node: usize) -> usize {
        self.0[node].depth
    }

    fn narrowest(&self) -> f64 {
        NARROWEST
    }

    fn hangs(&self) -> bool {
        true
    }
}

fn node(name: &str, kind: usize, parent: Option<usize>, depth: usize) -> Node {
    Node { name: named(name), kind, amount: 0.0, parent, depth, children: Vec::new(), tests: 0 }
}

/// Returns a name in the form in which pages show it.
pub(super) fn named(name: &str) -> String {
    crate::profile::boxes::shortened(&clean(name), LONGEST_NAME)
}

/// Returns the name of a test without the names of its groups.
pub(super) fn short<'a>(name: &'a str, groups: &[String]) -> &'a str {
    groups.iter().fold(name, |name, group| {
        let rest = name.strip_prefix(group.as_str());
        let rest = rest.map(|rest| rest.trim_start_matches([':', '#', '.', '/', ' ']));
        rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
    })
}

pub(super) fn seconds(amount: f64) -> String {
    number::rough(amount, &Unit::Second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_called_by_what_its_group_does_not_say() {
        let groups = ["test/a.rb".to_owned(), "UserTest".to_owned()];
        assert_eq!(short("UserTest: test_x", &groups), "test_x");
        assert_eq!(short("UserTest", &groups), "UserTest");
        assert_eq!(short("other", &groups), "other");
        assert_eq!(short("test/a.rb::UserTest::test_y", &groups), "test_y");
    }
}
