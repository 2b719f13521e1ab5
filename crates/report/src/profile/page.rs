//! The page of a profile, in one self-contained HTML file: a searchable, zoomable flame graph, the
//! table of shares, and findings. Without scripts, the graph and all numbers are still available.

use super::ProfileReport;
use super::flame;
use super::screen::{amount, collection, headline, overhead, rates, shown, sureness};
use crate::findings::{self, FindingOnPage};
use crate::names::clean;
use crate::words::counted;
use askama::Template;
use assay_analysis::Interval;
use assay_data::Finding;
use assay_profiles::tree::Tree;
use serde_json::json;
use std::collections::HashMap;

#[derive(Template)]
#[template(path = "profile.html")]
struct Page {
    title: String,
    tool: String,
    /// The answer in one line.
    claim: String,
    sure: String,
    about: Vec<String>,
    svg: String,
    data: String,
    rows: Vec<Vec<String>>,
    /// Indices of the columns that are hidden on narrow screens.
    minor: &'static [usize],
    left_out: String,
    findings: Vec<FindingOnPage>,
}

/// Converts findings to the form that the template expects.
pub(super) fn noted(findings: &[Finding]) -> Vec<FindingOnPage> {
    let told = findings::by_text(findings.iter());
    told.iter().map(|(finding, more)| FindingOnPage::new(finding, more)).collect()
}

/// Renders the page. `tool` is the program that generates it.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn render(report: &ProfileReport<'_>, tool: &str) -> Result<String, askama::Error> {
    let (profile, shares) = (report.profile, report.shares);
    let mut about = vec![rates(report), collection(shares)];
    about.extend(report.overhead.map(overhead));
    let left_out = shares.functions.len() - shown(report).len();
    let page = Page {
        title: format!("Profile of {}", clean(&profile.name)),
        tool: tool.to_owned(),
        claim: headline(report),
        sure: sureness(shares),
        about,
        svg: flame::svg(profile),
        data: data(report),
        rows: rows(report),
        minor: &[1, 3, 4, 5, 7],
        left_out: match left_out {
            0 => String::new(),
            more => format!("and {}", counted(more, "more function")),
        },
        findings: noted(report.findings),
    };
    page.render()
}

fn rows(report: &ProfileReport<'_>) -> Vec<Vec<String>> {
    let unit = &report.shares.unit;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let ends = |interval: Option<Interval>| {
        interval.map_or_else(String::new, |i| {
            format!("{:.1} … {:.1} %", i.lower * 100.0, i.upper * 100.0)
        })
    };
    let mut sum = 0.0;
    let row = |f: &assay_profiles::shares::Share| {
        sum += f.flat;
        vec![
            clean(&f.function.name),
            amount(f.function.flat_amount, unit),
            percent(f.flat),
            ends(f.flat_interval),
            percent(sum),
            amount(f.function.cum_amount, unit),
            percent(f.cum),
            ends(f.cum_interval),
        ]
    };
    shown(report).iter().map(row).collect()
}

/// Returns the tree for the script: distinct names, then for every node its name, parent, amount
/// and a flag for the garbage collector. The text must not contain anything that could end the
/// script element.
fn data(report: &ProfileReport<'_>) -> String {
    let tree = Tree::of(report.profile, flame::DEEPEST);
    let mut names: Vec<String> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    let nodes: Vec<_> = tree
        .nodes
        .iter()
        .map(|node| {
            let next = names.len();
            let own = *index.entry(&node.name).or_insert(next);
            if own == next {
                names.push(clean(&node.name));
            }
            json!([
                own,
                node.parent.map_or(-1, |parent| parent as i64),
                node.amount,
                u8::from(node.collector)
            ])
        })
        .collect();
    let unit = report.shares.unit.symbol();
    json!({"names": names, "nodes": nodes, "unit": unit}).to_string().replace('<', "\\u003c")
}
