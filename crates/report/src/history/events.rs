//! Events of a project: how many there are and, for each, where it occurred, the series affected
//! and the sizes of their changes.

use super::date;
use super::trend::{accepted, size_of};
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::names::clean;
use crate::number;
use crate::remarks::{List, Remarks};
use crate::small_table;
use crate::words::counted;
use assay_analysis::Verdict;
use assay_analysis::history::events::{Event, Events, Moved};

/// Maximum number of events shown, unless all are requested.
pub const EVENTS: usize = 10;
/// Maximum number of series shown per event, largest changes first.
const LARGEST: usize = 3;

/// The events of a project, with a command line for each that narrows it down.
#[derive(Clone, Copy, Debug)]
pub struct EventsReport<'a> {
    /// The events.
    pub events: &'a Events,
    /// Name of the project.
    pub project: &'a str,
    /// For each event, the command line that narrows it down; `None` if its commits are unknown.
    pub narrow: &'a [Option<String>],
    /// Whether all events and series are shown.
    pub all: bool,
}

/// Returns a sentence on the number of events and of the series affected.
pub(crate) fn sentence(report: &EventsReport<'_>) -> String {
    let Events { events, series, .. } = report.events;
    let (project, all) = (report.project, of_series(*series));
    let moved: usize = events.iter().map(|event| event.moved.len()).sum();
    let accepted = events.iter().filter(|event| event.accepted().is_some()).count();
    let accepted = match (accepted, events.len()) {
        (0, _) => String::new(),
        (1, 1) => ", accepted".to_owned(),
        (some, all) if some == all => ", all accepted".to_owned(),
        (some, _) => format!(", {some} of them accepted"),
    };
    match events.len() {
        0 if report.events.enough == 0 && *series > 0 => {
            format!(
                "whether anything changed in {project} is not known yet: {all} with too few runs"
            )
        }
        0 => format!("nothing changed in {project}, as far as the runs of {all} show"),
        1 => {
            let moved = number::grouped(moved as u64);
            format!("1 event in {project}{accepted}: {moved} of {all} changed")
        }
        n => {
            let (events, changes) = (counted(n, "event"), counted(moved, "change"));
            format!("{events} in {project}{accepted}: {changes} of {all}")
        }
    }
}

fn of_series(count: usize) -> String {
    if count == 1 {
        "1 series".to_owned()
    } else {
        format!("{} series", number::grouped(count as u64))
    }
}

/// Formats the number of series that got worse and the number that got better.
pub(crate) fn ways(event: &Event) -> String {
    match event.ways() {
        (worse, 0) => format!("{} worse", of_series(worse)),
        (0, better) => format!("{} better", of_series(better)),
        (worse, better) => format!("{} worse, {better} better", of_series(worse)),
    }
}

/// Returns the commits or runs between which an event occurred, and whether it was accepted.
pub(crate) fn place(event: &Event) -> String {
    let place = match event.between() {
        (Some(before), Some(after)) if before.commit == after.commit => {
            format!("between runs of {}: the machine changed", after.short())
        }
        (Some(before), Some(after)) => match event.commits() {
            Some(1) => format!("with commit {}, after {}", after.short(), before.short()),
            commits => {
                let commits = commits.map_or_else(
                    || "commits".to_owned(),
                    |n| counted(usize::try_from(n).unwrap_or(usize::MAX), "commit"),
                );
                format!("in the {commits} after {}, up to {}", before.short(), after.short())
            }
        },
        _ => format!(
            "between {} and {}: the revisions of its runs are not known",
            date(event.before.started),
            date(event.after.started)
        ),
    };
    place + &accepted(event.accepted())
}

/// Returns the name of a series with its metric, and the size of its change. A note says if this
/// change was accepted, unless the whole event was.
pub(crate) fn moved(moved: &Moved, event: &Event) -> (String, String) {
    let name = format!("{} {}", moved.benchmark.label(), label(&moved.metric));
    let alone = moved.change.accepted.as_ref().filter(|_| event.accepted().is_none());
    (name, size_of(&moved.change, &moved.metric) + &accepted(alone))
}

/// Renders the events for the terminal. Every line ends with a newline. O(changes).
pub fn events(report: &EventsReport<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let Events { events, machines, days, findings, confidence, .. } = report.events;
    page.paragraph(2, &[(Tone::Strong, clean(&sentence(report)))]);
    if let Some((first, last)) = days {
        let on = match machines.as_slice() {
            [machine] => machine.clone(),
            machines => counted(machines.len(), "machine"),
        };
        let sure = number::chosen_percent(*confidence);
        let about = format!("on {on}, {} to {}; {sure} confidence", date(*first), date(*last));
        page.paragraph(2, &[(Tone::Quiet, about)]);
    }
    let shown = if report.all { events.len() } else { events.len().min(EVENTS) };
    for (event, narrow) in events.iter().zip(report.narrow).take(shown) {
        page.gap();
        let on = if machines.len() > 1 { format!(" on {}", event.machine) } else { String::new() };
        let head = format!("{} {}{on}, {}", date(event.after.started), ways(event), place(event));
        page.paragraph(2, &[(Tone::Plain, clean(&head))]);
        largest(&mut page, event, report.all);
        if let Some(narrow) = narrow.as_ref().filter(|_| event.accepted().is_none()) {
            page.paragraph(2, &[(Tone::Quiet, format!("  next: {narrow}"))]);
        }
    }
    if shown < events.len() {
        page.gap();
        let more = counted(events.len() - shown, "earlier event");
        page.paragraph(2, &[(Tone::Quiet, format!("and {more} (--all shows them)"))]);
    }
    let how_much = if report.all { Remarks::All } else { Remarks::Usual };
    let remarks = List::of(how_much, &page, findings.iter());
    if !findings.is_empty() {
        page.gap();
        remarks.draw(&mut page);
    }
    page.finish()
}

fn largest(page: &mut Page, event: &Event, all: bool) {
    let shown = if all { event.moved.len() } else { event.moved.len().min(LARGEST) };
    let rows: Vec<[String; 2]> = event
        .moved
        .iter()
        .take(shown)
        .map(|of| {
            let (name, size) = moved(of, event);
            [format!("  {}", clean(&name)), size]
        })
        .collect();
    let tone = |of: &Moved| match of.change.verdict {
        _ if of.change.accepted.is_some() => Tone::Plain,
        Verdict::Faster => Tone::Good,
        _ => Tone::Bad,
    };
    let tones: Vec<Tone> = event.moved.iter().take(shown).map(tone).collect();
    small_table::draw(page, &["".to_owned(), "change".to_owned()], &rows, &tones);
    if shown < event.moved.len() {
        let more = number::grouped((event.moved.len() - shown) as u64);
        page.paragraph(2, &[(Tone::Quiet, format!("  and {more} more"))]);
    }
}
