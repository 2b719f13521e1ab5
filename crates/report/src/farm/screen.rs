//! The matrix of a project for the terminal: its verdict, the versions with a column for each
//! target, and a key to the columns.

use super::matrix::{Matrix, moved_most};
use super::state::Marked;
use crate::grid::{Cells, draw_columns};
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use assay_analysis::farm::{Judged, State, words};

/// Number of spaces between the columns of targets.
const GAP: usize = 2;
/// Maximum width of a version's name.
const VERSION: usize = 20;

/// Renders the matrix for the terminal. Every line ends with a newline.
pub fn screen(matrix: &Matrix<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let project = matrix.project;
    match matrix.newest() {
        None => page.paragraph(0, &[(Tone::Unsure, "nothing has been tested yet".to_owned())]),
        Some(judged) => {
            let name = project.versions.get(judged.version).map_or("", String::as_str);
            for claim in words::claims(project, judged) {
                let tone = match claim.tone {
                    words::Tone::Good => Tone::Good,
                    words::Tone::Bad => Tone::Bad,
                    words::Tone::Unsure => Tone::Unsure,
                };
                page.paragraph(2, &[(tone, format!("{name}: {}", claim.text))]);
            }
        }
    }
    page.gap();
    let names: Vec<String> = matrix
        .judged
        .iter()
        .map(|judged| project.versions.get(judged.version).cloned().unwrap_or_default())
        .collect();
    let mut columns = vec![Cells::left("version", page.fitted(&names, VERSION), Tone::Plain, 2)];
    for target in 0..project.targets.len() {
        let cell = |judged: &Judged| cell(matrix, judged, target, screen.unicode);
        let cells: Vec<(Tone, String)> = matrix.judged.iter().map(cell).collect();
        columns.push(Cells::toned(&(target + 1).to_string(), cells, GAP));
    }
    draw_columns(&mut page, &columns, matrix.judged.len());
    page.gap();
    for (number, target) in project.targets.iter().enumerate() {
        page.paragraph(5, &[(Tone::Quiet, format!("{:>3}  {}", number + 1, target.name))]);
    }
    page.gap();
    let used = |state: &State| project.cells.iter().any(|cell| cell.last == *state);
    let meant = |state: State| format!("{} {}", symbol(state, screen.unicode), words::state(state));
    let legend: Vec<String> = State::ALL.into_iter().filter(used).map(meant).collect();
    page.paragraph(2, &[(Tone::Quiet, format!("  {}", legend.join("   ")))]);
    page.finish()
}

fn symbol(state: State, unicode: bool) -> &'static str {
    if unicode { Marked::of(state).symbol } else { Marked::letter(state) }
}

fn cell(matrix: &Matrix<'_>, judged: &Judged, target: usize, unicode: bool) -> (Tone, String) {
    let found = matrix
        .project
        .cells
        .iter()
        .find(|cell| (cell.version, cell.target) == (judged.version, target));
    let Some(cell) = found else { return (Tone::Quiet, String::new()) };
    let flaky = if cell.passed > 0 && cell.failed > 0 { "~" } else { "" };
    let (speed, way) = moved_most(judged, target);
    let text = format!("{}{flaky} {speed}", symbol(cell.last, unicode));
    let tone = match (cell.last, way) {
        (State::Passed, "bad")
        | (State::Failed | State::Errored | State::InstallFailed | State::TimedOut, _) => Tone::Bad,
        (State::Passed, _) if flaky.is_empty() => Tone::Good,
        _ => Tone::Unsure,
    };
    (tone, text.trim_end().to_owned())
}
