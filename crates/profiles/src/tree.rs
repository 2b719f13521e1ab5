//! The call tree of a profile: what a flame graph shows. Children stand by name, so that two profiles of one program look alike.
//! Nothing is drawn here.

use crate::functions::Functions;
use crate::model::Profile;
use std::collections::HashMap;

/// A function as called from where it stands in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name of the function.
    pub name: String,
    /// Its file, where known.
    pub file: Option<String>,
    /// Whether it is a garbage collector's.
    pub collector: bool,
    /// What was spent here and below, in the profile's unit.
    pub amount: f64,
    /// Samples here and below.
    pub samples: u64,
    /// The node that it was called from; `None` for the root.
    pub parent: Option<usize>,
    /// How far from the root, which has 0.
    pub depth: usize,
    /// The nodes called from here, by name.
    pub children: Vec<usize>,
}

/// The tree. The root stands first, every node behind the one that it was called from.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The nodes; never empty.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// Builds the tree. Stacks deeper than `deepest` are cut there. O(frames of all stacks).
    pub fn of(profile: &Profile, deepest: usize) -> Self {
        let functions = Functions::of(profile);
        let root = Node {
            name: "all".to_owned(),
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

    /// The largest depth of any node.
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
    fn a_stack_without_end_is_cut() {
        let mut builder = Builder::default();
        builder.add_frames(vec![Frame::named("again"); 5000], 1);
        assert_eq!(Tree::of(&builder.build(), 40).depth(), 40);
    }
}
