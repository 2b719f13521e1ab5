//! Generates the table of simulated coverage in `docs/concepts/deciding.md`.
//!
//! The table comes from the same numbers as the warnings, so the two can't diverge. A test checks
//! the committed page.

use super::simulation::EXPERIMENTS;
use super::{Kind, Method, NOMINAL, SIZES};
use crate::policy::COVERAGE_LEAST;
use std::fmt::Write as _;

/// Marks the start of the generated part of the page.
const OPEN: &str = "<!-- coverage -->\n";
/// Marks the end of the generated part.
const CLOSE: &str = "<!-- end of coverage -->\n";

/// Returns the generated part of a page; `None` if a mark is missing.
pub fn generated(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(OPEN)?;
    rest.split_once(CLOSE).map(|(part, _)| part)
}

/// Returns the page with its generated part replaced by a coverage table; `None` if a mark is
/// missing.
pub fn updated(page: &str, table: &str) -> Option<String> {
    let (head, rest) = page.split_once(OPEN)?;
    let (_, tail) = rest.split_once(CLOSE)?;
    Some(format!("{head}{OPEN}{}{CLOSE}{tail}", rendered(table)))
}

/// Renders a coverage table with one row per method and one column per kind. Each cell lists the
/// coverage for all sizes.
fn rendered(table: &str) -> String {
    let cell_of = |method: &str, kind: Kind, size: usize| -> Option<f64> {
        let head = format!("{method},{},", kind.name());
        let line = table.lines().find_map(|line| line.strip_prefix(&head))?;
        line.split(',').nth(SIZES.iter().position(|known| *known == size)?)?.parse().ok()
    };
    let error = (NOMINAL * (1.0 - NOMINAL) / EXPERIMENTS as f64).sqrt();
    let sizes = SIZES.map(|size| size.to_string()).join("/");
    let mut text = format!(
        "\nCoverage in percent for {sizes} values, from {EXPERIMENTS} experiments each (standard \
        error {:.1}); bold is below {:.0} %:\n\n| method |",
        100.0 * error,
        100.0 * COVERAGE_LEAST,
    );
    for kind in Kind::ALL {
        let _ = write!(text, " {} |", kind.name());
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(Kind::ALL.len()));
    text.push('\n');
    for (_, name) in Method::ALL {
        let _ = write!(text, "| {name} |");
        for kind in Kind::ALL {
            let cells = SIZES.map(|size| match cell_of(name, kind, size) {
                None => "–".to_owned(),
                Some(c) if c < COVERAGE_LEAST => format!("**{:.1}**", 100.0 * c),
                Some(c) => format!("{:.1}", 100.0 * c),
            });
            let _ = write!(text, " {} |", cells.join("/"));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}
