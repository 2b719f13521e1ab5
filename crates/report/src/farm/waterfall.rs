//! Builds in reverse chronological order, with one column per target. Consecutive builds of the
//! same version share a row, unless two of them are on the same target.

use super::state::Marked;
use super::{Around, Frame, Line, minute};
use crate::names::clean;
use crate::number;
use askama::Template;

/// The input of the waterfall.
#[derive(Clone, Copy, Debug)]
pub struct Waterfall<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// The builds, newest first.
    pub builds: &'a [Line],
    /// Cursor for earlier builds.
    pub next: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "farm/waterfall.html")]
struct Page {
    around: Around,
    heads: Vec<String>,
    rows: Vec<Row>,
    legend: Vec<Marked>,
    earlier: Option<String>,
}

struct Row {
    when: String,
    project: String,
    project_link: String,
    version: String,
    cells: Vec<Option<WaterfallCell>>,
}

struct WaterfallCell {
    link: String,
    mark: Marked,
    kind: &'static str,
    took: String,
    title: String,
}

/// Renders the waterfall page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn waterfall(of: &Waterfall<'_>) -> Result<String, askama::Error> {
    let mut heads: Vec<&str> = of.builds.iter().map(|line| line.target.as_str()).collect();
    heads.sort_unstable();
    heads.dedup();
    let mut rows: Vec<Row> = Vec::new();
    let mut last: Option<&Line> = None;
    for line in of.builds {
        let column = heads.binary_search(&line.target.as_str()).unwrap_or(0);
        let same = last.is_some_and(|last| {
            (&last.owner, &last.project, &last.version)
                == (&line.owner, &line.project, &line.version)
        });
        let free =
            rows.last().is_some_and(|row| row.cells.get(column).is_some_and(Option::is_none));
        if !(same && free) {
            rows.push(Row {
                when: minute(&line.added),
                project: clean(&format!("{}/{}", line.owner, line.project)),
                project_link: of.frame.of_project(&line.owner, &line.project),
                version: super::version(&line.version),
                cells: heads.iter().map(|_| None).collect(),
            });
        }
        let cell = rows.last_mut().and_then(|row| row.cells.get_mut(column));
        if let Some(cell) = cell {
            *cell = Some(WaterfallCell::of(of.frame, line));
        }
        last = Some(line);
    }
    Page {
        around: Around::of(of.frame, "Waterfall"),
        heads: heads.into_iter().map(clean).collect(),
        rows,
        legend: Marked::all(),
        earlier: of.next.map(|next| {
            format!("{}?after={}", of.frame.link(&["waterfall"]), crate::site::encoded(next))
        }),
    }
    .render()
}

impl WaterfallCell {
    fn of(frame: &Frame, line: &Line) -> Self {
        let mark = Marked::of(line.state);
        Self {
            link: frame.of_build(line.id),
            mark,
            kind: if line.kind == "bench" { "bench" } else { "" },
            took: number::duration(line.seconds),
            title: clean(&format!(
                "{}: {} {} on {}, {}",
                mark.word,
                line.project,
                line.version,
                line.target,
                line.said()
            )),
        }
    }
}
