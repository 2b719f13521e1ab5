//! Combines the changes of all benchmarks of a project into events. Benchmarks are read one at a
//! time, so that only one is in memory.

use super::{Args, CONFIDENCE, gone, narrowing_of_event};
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::history::events::{Gathering, of_one_metric};
use assay_analysis::history::trend::trend;
use assay_data::Finding;
use assay_history::site::vanished;
use assay_history::{SeriesSelection, Store};
use assay_report::history::{self, EventsReport};
use assay_report::json::{self, Happenings};

/// Collects the events and shows them.
pub(super) fn run(
    args: &Args,
    store: &Store,
    project: &str,
    names: &[String],
) -> anyhow::Result<Ending> {
    let decides = match &args.metric {
        Some(metric) => Some(metric.clone()),
        None => store.log(project, 1)?.pop().and_then(|run| run.metric),
    };
    let confidence = args.confidence.unwrap_or(CONFIDENCE);
    let blessings = store.blessings(project)?;
    let mut gathering = Gathering::default();
    let mut found_any = false;
    for name in names {
        let of = |metric| {
            let machine = args.machine.as_deref();
            store.series(project, name, SeriesSelection { metric, machine, last: None })
        };
        let mut found = of(decides.as_deref())?;
        if found.is_empty() && args.metric.is_none() {
            found = of(None)?;
            let first = found.first().map(|series| series.metric.name.clone());
            found.retain(|series| Some(&series.metric.name) == first.as_ref());
        }
        let (found, units) = of_one_metric(found);
        gathering.note(units);
        found_any |= !found.is_empty();
        for series in found {
            gathering.add(&trend(series, confidence).accepting(&blessings));
        }
    }
    if !found_any {
        bail!(
            "{project} has no results for that metric or machine; `assay history show --all` lists all results"
        );
    }
    let missing = store.vanished_among(project, names)?;
    gathering.note(missing.iter().map(|(name, missing)| vanished(name, missing)));
    let mut events = gathering.finish();
    // Each event needs a few calls of git, so only the shown events are examined.
    let is_whole = args.all || args.look.json;
    let shown = if is_whole { events.events.len() } else { history::EVENTS };
    let told = || events.events.iter().take(shown);
    let narrow: Vec<Option<String>> =
        told().map(|event| narrowing_of_event(store, project, event)).collect();
    let lost: Vec<Finding> = told().filter_map(|event| gone(event.between())).collect();
    events.findings.extend(lost);
    let report = EventsReport { events: &events, project, narrow: &narrow, all: args.all };
    if args.look.json {
        output::print(&json::text(&Happenings::of(&report))?)?;
    } else {
        output::print(&history::events(&report, &present::screen(args.look.color)))?;
    }
    Ok(Ending::Fine)
}
