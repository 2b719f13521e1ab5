//! The terminal report on two separately recorded profiles: the functions whose shares differ, and
//! how reliable such a difference is.

use crate::grid::{Cells, draw_columns, width_of};
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_data::Finding;
use assay_profiles::difference::{Change, Difference, Row};

const GAP: usize = 2;
/// Minimum width of the column of names.
const NARROWEST_NAME: usize = 16;
/// Maximum width of the columns' profile names.
const WIDEST_SIDE: usize = 12;

/// Renders the difference for the terminal. Every line ends with a newline. `top` is the number of
/// functions shown, or 0 for all.
pub fn render(
    found: &Difference,
    noted: &[Finding],
    top: usize,
    remarks: Remarks,
    screen: &Screen,
) -> String {
    let mut page = Page::new(screen);
    let sure = format!("   ({})", sureness(found));
    page.paragraph(2, &[(Tone::Strong, claim(found)), (Tone::Quiet, sure)]);
    page.paragraph(2, &[(Tone::Plain, DOUBT.to_owned())]);
    page.gap();
    let shown = if top == 0 { found.rows.len() } else { top.min(found.rows.len()) };
    let rows = &found.rows[..shown];
    if !rows.is_empty() {
        table(&mut page, found, rows);
    }
    if found.rows.len() > shown {
        let left_out = counted(found.rows.len() - shown, "more function");
        let more = format!("and {left_out} (--top 0 shows all)");
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
    List::of(remarks, &page, noted.iter()).draw_apart(&mut page);
    page.finish()
}

/// A note on what two recordings cannot show.
pub(super) const DOUBT: &str = "Two recordings only show differences beyond the sampling error. To find out whether the programs differ, give two commands: assay profile OLD NEW";

/// Returns a sentence with the number of changed functions.
pub(super) fn claim(found: &Difference) -> String {
    let of = |change| found.rows.iter().filter(|row| row.change == change).count();
    let (grew, shrank) = (of(Change::Grew), of(Change::Shrank));
    match grew + shrank {
        0 => format!(
            "No function has a detectably different share in '{}' than in '{}'",
            found.names[1], found.names[0]
        ),
        _ => format!(
            "In '{}' {} a larger share than in '{}', and {} a smaller one",
            found.names[1],
            have(grew),
            found.names[0],
            match shrank {
                0 => "none".to_owned(),
                many => many.to_string(),
            }
        ),
    }
}

/// Returns how certain the claim is, as a phrase.
pub(super) fn sureness(found: &Difference) -> String {
    format!(
        "{:.0} % confidence for all together; {} and {}",
        found.confidence * 100.0,
        number::grouped(found.samples[0]),
        counted(found.samples[1] as usize, "sample")
    )
}

fn have(count: usize) -> String {
    match count {
        0 => "no function has".to_owned(),
        1 => "1 function has".to_owned(),
        many => format!("{many} functions have"),
    }
}

fn table(page: &mut Page, found: &Difference, rows: &[Row]) {
    let names: Vec<String> = rows.iter().map(|row| page.spelled(&row.name)).collect();
    let heads = [0, 1].map(|side| {
        // The end of a path is more informative than its beginning.
        let name = found.names[side].rsplit('/').next().unwrap_or_default();
        page.shortened(&page.spelled(name), WIDEST_SIDE)
    });
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let points =
        |share: f64| format!("{}{:.1}", if share < 0.0 { "-" } else { "+" }, share.abs() * 100.0);
    let cells = |of: &dyn Fn(&Row) -> String| {
        rows.iter().map(|row| page.spelled(&of(row))).collect::<Vec<_>>()
    };
    let side = |side: usize| {
        Cells::right(&heads[side], cells(&|row| percent(row.shares[side])), Tone::Plain)
    };
    let interval = |row: &Row| {
        row.interval
            .map_or_else(String::new, |i| format!("[{} … {}]", points(i.lower), points(i.upper)))
    };
    let verdict = |row: &Row| match row.change {
        Change::Grew => (Tone::Bad, "larger".to_owned()),
        Change::Shrank => (Tone::Good, "smaller".to_owned()),
        Change::Unknown => (Tone::Unsure, "inconclusive".to_owned()),
    };
    let all = |with_interval: bool| {
        let mut columns = vec![
            side(0).with_gap(0),
            side(1).with_gap(GAP),
            Cells::right("points", cells(&|row| points(row.difference)), Tone::Strong)
                .with_gap(GAP),
        ];
        if with_interval {
            columns.push(Cells::right("", cells(&interval), Tone::Quiet).with_gap(1));
        }
        columns.push(Cells::toned("", rows.iter().map(verdict).collect(), GAP));
        columns
    };
    let room = |columns: &[Cells]| page.table_width().checked_sub(width_of(columns) + GAP);
    let mut columns = all(true);
    if room(&columns).is_none_or(|room| room < NARROWEST_NAME) {
        columns = all(false);
    }
    let names = page.fitted(&names, room(&columns).unwrap_or(NARROWEST_NAME));
    columns.push(Cells::left("function", names, Tone::Plain, GAP));
    draw_columns(page, &columns, rows.len());
}
