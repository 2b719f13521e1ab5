//! The differential flame graph. The width of a box is its share of the second profile. Its color
//! shows how the function's own share or own time changed since the first profile, or gray if no
//! change is known. Such graphs often contain meaningless red boxes; here the color shows a
//! verdict, which is reached elsewhere.

use super::boxes::{self, Layers, Words};
use super::difference as words;
use super::flame::DEEPEST;
use crate::names::clean;
use assay_data::list;
use assay_profiles::Profile;
use assay_profiles::difference::{self, Difference};
use assay_profiles::tree::{PairNode, Tree};
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum number of functions named that are missing from the second profile.
const NAMED: usize = 4;

/// The known change of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The function takes more than in the first profile.
    More,
    /// The function takes less than in the first profile.
    Less,
    /// The function takes the same as in the first profile, within the threshold.
    Same,
    /// The change is unknown.
    Unknown,
}

/// The change of a function, with its size and a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Kind of change.
    pub change: Change,
    /// Size of the change, which is never negative, in a unit common to all marks of a graph.
    pub size: f64,
    /// The size in a few characters, such as `+11.4`. It is shown only if the change is known.
    pub short: String,
    /// The values in both profiles, the difference and its interval, in words.
    pub told: String,
    /// Name of the function without its file.
    pub name: String,
    /// File of the function, if the verdict concerns the function of one file only.
    pub file: Option<String>,
}

/// Two profiles, and the known changes of their functions.
#[derive(Clone, Debug)]
pub struct Differential<'a> {
    /// The first and the second profile.
    pub sides: [&'a Profile; 2],
    /// Names of the profiles.
    pub names: [String; 2],
    /// The result as a sentence.
    pub claim: String,
    /// The certainty of the result, as a phrase.
    pub sure: String,
    /// The quantity shown by the colors.
    pub about: String,
    /// Limits of the result. It may be empty.
    pub doubt: String,
    /// Headings of the table next to the graph. Each row starts with the function and ends with the
    /// verdict.
    pub heads: Vec<String>,
    /// Rows of the table next to the graph.
    pub rows: Vec<Vec<String>>,
    /// The functions that were examined.
    pub marks: Vec<Mark>,
}

impl<'a> Differential<'a> {
    /// Returns the difference between two recorded profiles.
    pub fn of_files(sides: [&'a Profile; 2], found: &Difference) -> Self {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let marks = found.rows.iter().map(|row| {
            let interval = row.interval.map_or_else(String::new, |i| {
                format!(" [{} … {}]", points(i.lower), points(i.upper))
            });
            Mark {
                change: match row.change {
                    difference::Change::Grew => Change::More,
                    difference::Change::Shrank => Change::Less,
                    difference::Change::Unknown => Change::Unknown,
                },
                size: row.difference.abs(),
                short: points(row.difference),
                told: format!(
                    "own share {} → {}, {} points{interval}: {}",
                    percent(row.shares[0]),
                    percent(row.shares[1]),
                    points(row.difference),
                    row.change.word()
                ),
                name: row.bare.clone(),
                file: row.file.clone(),
            }
        });
        let rows = found.rows.iter().map(|row| {
            vec![
                row.name.clone(),
                percent(row.shares[0]),
                percent(row.shares[1]),
                points(row.difference),
                row.interval.map_or_else(String::new, |i| {
                    format!("{} … {}", points(i.lower), points(i.upper))
                }),
                row.change.word().to_owned(),
            ]
        });
        Self {
            sides,
            names: found.names.clone(),
            claim: words::claim(found),
            sure: words::sureness(found),
            about: "color: the change of the function's own share, over all its callers".to_owned(),
            doubt: words::DOUBT.to_owned(),
            heads: ["function", &found.names[0], &found.names[1], "points", "interval", "verdict"]
                .map(clean)
                .to_vec(),
            rows: rows.collect(),
            marks: marks.collect(),
        }
    }

    /// Returns the title of the graph.
    pub(super) fn title(&self) -> String {
        format!("{} against {}", self.names[1], self.names[0])
    }

    /// Returns the merged tree, in which every node has the mark of its function.
    pub(super) fn marked(&self) -> Marked<'_> {
        let nodes = Tree::of_two(self.sides[0], self.sides[1], DEEPEST);
        let index = Index::of(&self.marks);
        let of_node = nodes.iter().map(|node| index.find(node)).collect();
        Marked {
            marks: &self.marks,
            largest: self
                .marks
                .iter()
                .filter(|mark| mark.change.is_known())
                .map(|mark| mark.size)
                .filter(|size| size.is_finite())
                .fold(0.0, f64::max),
            nodes,
            of_node,
        }
    }
}

impl Change {
    pub(super) fn is_known(self) -> bool {
        matches!(self, Self::More | Self::Less)
    }
}

fn points(share: f64) -> String {
    format!("{}{:.1}", if share < 0.0 { "-" } else { "+" }, share.abs() * 100.0)
}

/// Finds marks by name and file, or by name alone if only one function has that name.
struct Index<'a> {
    exact: HashMap<(&'a str, &'a str), usize>,
    by_name: HashMap<&'a str, Option<usize>>,
}

impl<'a> Index<'a> {
    fn of(marks: &'a [Mark]) -> Self {
        let mut found = Self { exact: HashMap::new(), by_name: HashMap::new() };
        for (index, mark) in marks.iter().enumerate() {
            found.exact.insert((&mark.name, base(mark.file.as_deref())), index);
            found.by_name.entry(&mark.name).and_modify(|only| *only = None).or_insert(Some(index));
        }
        found
    }

    fn find(&self, node: &PairNode) -> Option<usize> {
        let name = node.name.as_str();
        let exact = self.exact.get(&(name, base(node.file.as_deref()))).copied();
        exact.or_else(|| self.by_name.get(name).copied().flatten())
    }
}

fn base(file: Option<&str>) -> &str {
    file.unwrap_or_default().rsplit('/').next().unwrap_or_default()
}

/// The merged tree, with the mark of each node. Widths are those of the second profile.
pub(super) struct Marked<'a> {
    pub nodes: Vec<PairNode>,
    /// Index of the mark of each node.
    pub of_node: Vec<Option<usize>>,
    marks: &'a [Mark],
    /// Size of the largest known change.
    largest: f64,
}

impl Layers for Marked<'_> {
    fn amount(&self, node: usize) -> f64 {
        self.nodes[node].amounts[1]
    }

    fn children(&self, node: usize) -> &[usize] {
        &self.nodes[node].children
    }

    fn depth(&self, node: usize) -> usize {
        self.nodes[node].depth
    }
}

/// Shades of orange for functions that take more, which can be told apart from [`LESS`] even with
/// color blindness.
const MORE: [&str; 3] = ["#f9d3b8", "#f2a673", "#e8763a"];
/// Shades of blue for functions that take less.
const LESS: [&str; 3] = ["#c3dcf3", "#8fbbe6", "#5a97d3"];
const SAME: &str = "#eceef0";
pub(super) const UNKNOWN: &str = "#c4c8cd";
pub(super) const ROOT: &str = "#d9dce0";

impl Marked<'_> {
    pub(super) fn mark(&self, node: usize) -> Option<&Mark> {
        self.marks.get((*self.of_node.get(node)?)?)
    }

    pub(super) fn fill(&self, node: usize) -> &'static str {
        match (node, self.mark(node)) {
            (0, _) => ROOT,
            (_, Some(mark)) => self.fill_of(mark),
            (_, None) => UNKNOWN,
        }
    }

    /// Returns the shade for a mark. It depends on the square root of the size, so that a change a
    /// tenth as large as the largest is still visible.
    pub(super) fn fill_of(&self, mark: &Mark) -> &'static str {
        let part = if self.largest > 0.0 { (mark.size / self.largest).sqrt() } else { 1.0 };
        let shade = if part > 0.66 { 2 } else { usize::from(part > 0.33) };
        match mark.change {
            Change::More => MORE[shade],
            Change::Less => LESS[shade],
            Change::Same => SAME,
            Change::Unknown => UNKNOWN,
        }
    }

    /// Returns the tooltip of a node: its share of either profile, followed by the verdict on its
    /// function.
    pub(super) fn told(&self, index: usize) -> String {
        let node = &self.nodes[index];
        let share = |side: usize| match self.nodes[0].amounts[side] {
            whole if whole > 0.0 => format!("{:.1} %", 100.0 * node.amounts[side] / whole),
            _ => "0.0 %".to_owned(),
        };
        let width = format!("{}: {} → {} of all, called from here", node.name, share(0), share(1));
        match (index, self.mark(index)) {
            (0, _) => node.name.clone(),
            (_, Some(mark)) => format!("{width}. {}", mark.told),
            (_, None) => format!("{width}. Too little time of its own to be tested"),
        }
    }

    /// Returns a sentence on the functions missing from the second profile, which have no width
    /// there. It names the outermost ones and gives their total share of the first profile.
    pub(super) fn gone(&self) -> Option<String> {
        let whole = self.nodes[0].amounts[0];
        let mut gone: Vec<(&str, f64)> = self
            .nodes
            .iter()
            .filter(|node| node.amounts[1] <= 0.0 && node.amounts[0] > 0.0)
            .filter(|node| node.parent.is_some_and(|parent| self.nodes[parent].amounts[1] > 0.0))
            .map(|node| (node.name.as_str(), node.amounts[0] / whole))
            .collect();
        gone.sort_by(|a, b| b.1.total_cmp(&a.1));
        let all: f64 = gone.iter().map(|(_, share)| share).sum();
        let named: Vec<&str> = gone.iter().take(NAMED).map(|(name, _)| *name).collect();
        (all > 0.0005).then(|| {
            format!(
                "Not in the plot, because the second has no such calls: {} ({:.1} % of the first)",
                list::counted(&named, gone.len()),
                all * 100.0
            )
        })
    }

    /// Returns the colors in use, with their meanings.
    pub(super) fn legend(&self) -> Vec<(&'static str, &'static str)> {
        let has = |change| self.marks.iter().any(|mark| mark.change == change);
        let mut legend = Vec::new();
        for (fill, words, change) in [
            (MORE[2], "takes more", Change::More),
            (MORE[0], "a little more", Change::More),
            (LESS[2], "takes less", Change::Less),
            (LESS[0], "a little less", Change::Less),
            (SAME, "the same", Change::Same),
        ] {
            if has(change) {
                legend.push((fill, words));
            }
        }
        legend.push((UNKNOWN, "no change is known"));
        legend
    }
}

/// Renders the graph as SVG.
pub fn svg(found: &Differential<'_>) -> String {
    let marked = found.marked();
    let mut about =
        vec![format!("width: share of {}; {} ({})", found.names[1], found.about, found.sure)];
    about.extend(marked.gone());
    let head = legend(&marked, boxes::below(&about));
    boxes::picture(&marked, &found.title(), &about, (&head, 20.0), |node| {
        let behind = match marked.mark(node) {
            Some(mark) if mark.change.is_known() && node > 0 => mark.short.clone(),
            _ => String::new(),
        };
        Words {
            fill: marked.fill(node).to_owned(),
            told: marked.told(node),
            name: marked.nodes[node].name.clone(),
            behind,
        }
    })
}

/// Draws a small box of each color with its meaning, on a line that starts at `y`.
fn legend(marked: &Marked<'_>, y: f64) -> String {
    let mut out = String::new();
    let mut x = boxes::MARGIN;
    for (fill, words) in marked.legend() {
        // Writing to a string can't fail.
        let _never = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" rx=\"1\" fill=\"{fill}\"/><text class=\"text\" x=\"{}\" y=\"{}\">{words}</text>",
            x + 17.0,
            y + 10.0
        );
        x += 17.0 + words.len() as f64 * boxes::CHARACTER * 1.08 + 18.0;
    }
    out
}
