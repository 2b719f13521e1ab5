//! The page of a differential flame graph, in one self-contained HTML file: a graph that can be
//! searched, zoomed and switched to the widths of the first profile, a legend, the table of
//! functions with their verdicts, and findings. Without scripts, the graph and all numbers are
//! still available.

use super::differential::{self, Differential};
use super::page::noted;
use crate::findings::FindingOnPage;
use crate::names::clean;
use crate::words::counted;
use askama::Template;
use assay_data::Finding;
use serde_json::json;
use std::collections::HashMap;

#[derive(Template)]
#[template(path = "profile_difference.html")]
struct Page {
    title: String,
    tool: String,
    claim: String,
    sure: String,
    about: Vec<String>,
    legend: Vec<(&'static str, &'static str)>,
    gone: String,
    svg: String,
    data: String,
    names: [String; 2],
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Indices of the columns that are hidden on narrow screens.
    minor: &'static [usize],
    left_out: String,
    findings: Vec<FindingOnPage>,
}

/// Renders the page. `top` is the number of functions in the table, or 0 for all, and `tool` is the
/// program that generates the page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn render(
    found: &Differential<'_>,
    findings: &[Finding],
    top: usize,
    tool: &str,
) -> Result<String, askama::Error> {
    let marked = found.marked();
    let shown = if top == 0 { found.rows.len() } else { top.min(found.rows.len()) };
    let page = Page {
        title: format!("Profiles: {}", clean(&found.title())),
        tool: tool.to_owned(),
        claim: clean(&found.claim),
        sure: clean(&found.sure),
        about: [found.doubt.clone()].into_iter().filter(|line| !line.is_empty()).collect(),
        legend: marked.legend(),
        gone: marked.gone().map(|told| clean(&told)).unwrap_or_default(),
        svg: differential::svg(found),
        data: data(found),
        names: [0, 1].map(|side: usize| clean(&found.names[side])),
        heads: found.heads.clone(),
        minor: &[4],
        rows: found.rows[..shown]
            .iter()
            .map(|row| row.iter().map(|cell| clean(cell)).collect())
            .collect(),
        left_out: match found.rows.len() - shown {
            0 => String::new(),
            more => format!("and {}", counted(more, "more function")),
        },
        findings: noted(findings),
    };
    page.render()
}

/// Returns the tree for the script: distinct names and distinct verdicts, then for every node its
/// name, parent, amount in the second profile, a flag for the garbage collector, amount in the
/// first profile, and verdict. The text must not contain anything that could end the script
/// element.
fn data(found: &Differential<'_>) -> String {
    let marked = found.marked();
    let mut names: Vec<String> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    let nodes: Vec<_> = marked
        .nodes
        .iter()
        .enumerate()
        .map(|(place, node)| {
            let next = names.len();
            let own = *index.entry(&node.name).or_insert(next);
            if own == next {
                names.push(clean(&node.name));
            }
            json!([
                own,
                node.parent.map_or(-1, |parent| parent as i64),
                node.amounts[1],
                u8::from(node.collector),
                node.amounts[0],
                marked.of_node[place].map_or(-1, |mark| mark as i64),
            ])
        })
        .collect();
    let marks: Vec<_> = found
        .marks
        .iter()
        .map(|mark| {
            let short = if mark.change.is_known() { mark.short.as_str() } else { "" };
            json!([marked.fill_of(mark), clean(&mark.told), short])
        })
        .collect();
    let unit = found.sides[1].unit.symbol();
    let data = json!({
        "names": names, "nodes": nodes, "unit": unit, "marks": marks,
        "plain": [differential::ROOT, differential::UNKNOWN],
        "sides": found.names.each_ref().map(|name| clean(name)),
    });
    data.to_string().replace('<', "\\u003c")
}
