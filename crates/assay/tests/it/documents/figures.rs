//! The figures of the front page must be in BENCHMARKS.md, in the section that each row links to;
//! and each missed target there must be disclosed here.

use crate::documents::read;
use regex::Regex;

/// Returns a section of BENCHMARKS.md, by the anchor of its heading.
fn section<'a>(benchmarks: &'a str, anchor: &str) -> Option<&'a str> {
    let of = |heading: &str| -> String {
        let kept = heading.to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    benchmarks.split("\n## ").skip(1).find(|own| of(own.lines().next().unwrap_or("")) == anchor)
}

#[test]
fn the_figures_of_the_front_page_were_measured() {
    let (front, benchmarks) = (read("README.md"), read("BENCHMARKS.md"));
    let (_, rest) = front.split_once("<!-- figures -->").expect("the table begins");
    let (table, _) = rest.split_once("<!-- end of figures -->").expect("the table ends");
    let link = Regex::new(r"\(BENCHMARKS\.md#([^)]+)\)").expect("a pattern");
    let number = Regex::new(r"[0-9][0-9.,]*[0-9]").expect("a pattern");
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: Vec<&str> = rows.collect();
    assert!(rows.len() >= 8, "{table}");
    let mut checked = 0;
    for row in rows {
        let anchor = &link.captures(row).unwrap_or_else(|| unreachable!("no section: {row}"))[1];
        let section = section(&benchmarks, anchor);
        let section = section.unwrap_or_else(|| unreachable!("BENCHMARKS.md has no {anchor}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for cell in &cells[2..4] {
            for figure in number.find_iter(cell) {
                // A whole number, not the end or the beginning of another one.
                let exactly =
                    format!(r"(^|[^0-9.,]){}($|[^0-9.,]|[.,]\D)", regex::escape(figure.as_str()));
                let exactly = Regex::new(&exactly).expect("a pattern");
                assert!(exactly.is_match(section), "{} is not in {anchor}: {row}", figure.as_str());
                checked += 1;
            }
        }
    }
    assert!(checked >= 20, "{checked}");
}
