//! The call tree of a profile, as shown in a flame graph. Children are ordered by name, so that the
//! trees of two profiles of one program have a similar layout. Nothing is drawn here.

use crate::functions::Functions;
use crate::model::Profile;
use std::collections::HashMap;

/// A function at one position of the call tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name of the function, followed by its file if another function has the same name.
    pub name: String,
    /// Name of the function, without its file.
    pub bare: String,
    /// File of the function, if known.
    pub file: Option<String>,
    /// True if the function belongs to a garbage collector.
    pub collector: bool,
    /// Amount spent in this node and its descendants, in the profile's unit.
    pub amount: f64,
    /// Number of samples in this node and its descendants.
    pub samples: u64,
    /// Index of the calling node; `None` for the root.
    pub parent: Option<usize>,
    /// Distance from the root, which has depth 0.
    pub depth: usize,
    /// Indices of the called nodes, ordered by name.
    pub children: Vec<usize>,
}

/// A function at one position of the call trees of two profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct PairNode {
    /// Name of the function, without its file.
    pub name: String,
    /// File of the function, if known. For a function of both profiles, it is the file in the
    /// first.
    pub file: Option<String>,
    /// True if the function belongs to a garbage collector.
    pub collector: bool,
    /// Amounts spent in this node and its descendants, one per profile, each in that profile's
    /// unit.
    pub amounts: [f64; 2],
    /// Index of the calling node; `None` for the root.
    pub parent: Option<usize>,
    /// Distance from the root, which has depth 0.
    pub depth: usize,
    /// Indices of the called nodes, ordered by name.
    pub children: Vec<usize>,
}

/// A call tree. The root is the first node, and each node comes after its caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The nodes of the tree, at least the root.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// Builds the call tree of a profile. Stacks are truncated to their outermost `deepest`
    /// functions. O(frames of all stacks).
    pub fn of(profile: &Profile, deepest: usize) -> Self {
        let functions = Functions::of(profile);
        let root = Node {
            name: "all".to_owned(),
            bare: "all".to_owned(),
            file: None,
            collector: false,
            amount: 0.0,
            samples: 0,
            parent: None,
            depth: 0,
            children: Vec::new(),
        };
        let mut nodes = vec![root];
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        for stack in &profile.stacks {
            let mut at = 0;
            add(&mut nodes[0], stack.samples, stack.amount);
            for function in functions.of_stack(stack).take(deepest) {
                let next = nodes.len();
                let node = *known.entry((at, function)).or_insert(next);
                if node == next {
                    let of = &functions.list[function];
                    nodes.push(Node {
                        name: of.name.clone(),
                        bare: of.bare().to_owned(),
                        file: of.file.clone(),
                        collector: of.collector,
                        amount: 0.0,
                        samples: 0,
                        parent: Some(at),
                        depth: nodes[at].depth + 1,
                        children: Vec::new(),
                    });
                    nodes[at].children.push(node);
                }
                add(&mut nodes[node], stack.samples, stack.amount);
                at = node;
            }
        }
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        for node in &mut nodes {
            node.children.sort_by(|&a, &b| names[a].cmp(&names[b]));
        }
        Self { nodes }
    }

    /// Merges the trees of two profiles. Functions with the same caller, name and file name
    /// (ignoring directories) share a node. O(frames of all stacks).
    pub fn of_two(old: &Profile, new: &Profile, deepest: usize) -> Vec<PairNode> {
        let trees = [Self::of(old, deepest), Self::of(new, deepest)];
        let mut nodes: Vec<PairNode> = Vec::new();
        let mut known: HashMap<(Option<usize>, String, String), usize> = HashMap::new();
        for (side, tree) in trees.iter().enumerate() {
            // The index in `nodes` of each node of this tree. Parents come before their children.
            let mut places: Vec<usize> = Vec::with_capacity(tree.nodes.len());
            for node in &tree.nodes {
                let parent = node.parent.map(|parent| places[parent]);
                let file = node.file.as_deref().unwrap_or_default();
                let base = file.rsplit('/').next().unwrap_or_default().to_owned();
                let next = nodes.len();
                let place = *known.entry((parent, node.bare.clone(), base)).or_insert(next);
                if place == next {
                    nodes.push(PairNode {
                        name: node.bare.clone(),
                        file: node.file.clone(),
                        collector: node.collector,
                        amounts: [0.0; 2],
                        parent,
                        depth: node.depth,
                        children: Vec::new(),
                    });
                    if let Some(parent) = parent {
                        nodes[parent].children.push(place);
                    }
                }
                nodes[place].amounts[side] += node.amount;
                places.push(place);
            }
        }
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        for node in &mut nodes {
            node.children.sort_by(|&a, &b| names[a].cmp(&names[b]).then(a.cmp(&b)));
        }
        nodes
    }

    /// Returns the largest depth of any node.
    pub fn depth(&self) -> usize {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or(0)
    }
}

fn add(node: &mut Node, samples: u64, amount: f64) {
    node.samples = node.samples.saturating_add(samples);
    node.amount += amount;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::load_bytes;
    use crate::{Builder, Frame};

    #[test]
    fn a_node_holds_what_was_spent_below_it() {
        let mut builder = Builder::default();
        let named =
            |names: &[&str]| names.iter().map(|name| Frame::named(name)).collect::<Vec<_>>();
        builder.add_frames(named(&["main", "z", "x"]), 2);
        builder.add_frames(named(&["main", "a"]), 1);
        builder.add_frames(named(&["main"]), 4);
        let tree = Tree::of(&builder.build(), 100);
        let main = &tree.nodes[tree.nodes[0].children[0]];
        assert_eq!((tree.nodes[0].samples, main.samples, tree.depth()), (7, 7, 3));
        let children: Vec<&str> =
            main.children.iter().map(|&c| tree.nodes[c].name.as_str()).collect();
        assert_eq!(children, ["a", "z"]);
    }

    #[test]
    fn two_trees_are_laid_over_each_other() {
        let old = load_bytes(b"main;a;x 2\nmain;gone 3\n", "old").unwrap();
        let new = load_bytes(b"main;a;x 5\nmain;a 1\nmain;come 1\n", "new").unwrap();
        let nodes = Tree::of_two(&old, &new, 100);
        let told: Vec<_> = nodes.iter().map(|n| (n.name.as_str(), n.amounts, n.depth)).collect();
        assert_eq!(
            told,
            [
                ("all", [5.0, 7.0], 0),
                ("main", [5.0, 7.0], 1),
                ("a", [2.0, 6.0], 2),
                ("x", [2.0, 5.0], 3),
                ("gone", [3.0, 0.0], 2),
                ("come", [0.0, 1.0], 2),
            ]
        );
        let below_main: Vec<&str> =
            nodes[1].children.iter().map(|&child| nodes[child].name.as_str()).collect();
        assert_eq!(below_main, ["a", "come", "gone"]);
    }

    #[test]
    fn a_stack_without_end_is_cut() {
        let mut builder = Builder::default();
        builder.add_frames(vec![Frame::named("again"); 5000], 1);
        assert_eq!(Tree::of(&builder.build(), 40).depth(), 40);
    }
}
