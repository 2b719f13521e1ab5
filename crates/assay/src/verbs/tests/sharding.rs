//! `--shard`: selects the tests of this shard, by their times in the history.

use super::options::SuiteRunArgs as Args;
use crate::history::StoreArgs;
use crate::progress::Line;
use crate::tests::{Asker, Side};
use anyhow::bail;
use assay_analysis::history::Run;
use assay_data::Unit;
use assay_history::{Access, Store};
use assay_measure::git;
use assay_report::number;
use assay_suites::Framework;
use assay_suites::shard::{Shard, Share, share};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of recent runs searched for the times of tests.
const RUNS: usize = 20;

/// Returns the tests of a shard.
///
/// # Errors
/// If the framework cannot list its tests, or there are fewer tests than shards.
pub(super) fn part(
    args: &Args,
    shard: Shard,
    framework: &dyn Framework,
    side: &Side,
    asker: &mut Asker,
    line: &Line,
) -> anyhow::Result<Vec<String>> {
    let tests = asker.list(framework, side)?;
    let seconds = times(args, framework.name() == "go");
    let Share { tests: own, seconds, unknown } = share(&tests, &seconds, shard);
    let Shard { number, of } = shard;
    if own.is_empty() {
        bail!(
            "--shard {number}/{of}: there are {} tests, too few for this many parts",
            tests.len()
        );
    }
    let told = match (seconds.is_finite(), unknown) {
        (false, _) => "without times: the history has none (--keep keeps them)".to_owned(),
        (true, unknown) => {
            let known = number::rough(seconds, &Unit::Second);
            let lack = if unknown > 0 {
                format!("; {unknown} tests have none there")
            } else {
                String::new()
            };
            format!("about {known} by the times in the history{lack}")
        }
    };
    line.say(&format!("part {number} of {of}: {} of {} tests, {told}", own.len(), tests.len()));
    Ok(own)
}

/// Returns the last times of tests in the history; empty if there is no history. For Go, functions
/// get the sum of their subtests.
fn times(args: &Args, by_function: bool) -> BTreeMap<String, f64> {
    let history = &args.record.history;
    let project = history.keep.clone().filter(|project| !project.is_empty());
    let of = StoreArgs { store: history.store.clone(), project };
    of.open(Access::Read)
        .ok()
        .and_then(|store| read(&store, &of.project(), by_function))
        .unwrap_or_default()
}

fn read(store: &Store, project: &str, by_function: bool) -> Option<BTreeMap<String, f64>> {
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    let runs = store.log(project, RUNS).ok()?;
    // Runs that other shards of this commit have stored in the meantime must not change the
    // division.
    let head = git::position(Path::new("."), "HEAD").map(|place| place.commit);
    let is_of_head = |run: &&Run| {
        let commit = run.revision.as_ref().map(|revision| &revision.commit);
        head.is_some() && commit == head.as_ref()
    };
    let earlier: Vec<&Run> = runs.iter().filter(|run| !is_of_head(run)).collect();
    let usable = if earlier.is_empty() { runs.iter().collect() } else { earlier };
    for run in usable {
        let mut own: BTreeMap<String, f64> = BTreeMap::new();
        for result in store.contents(run).ok()?.results {
            if result.metric.name != "wall" || !result.summary.centre.is_finite() {
                continue;
            }
            let name = result.benchmark.name.clone();
            let name = match name.split_once(": ").filter(|_| by_function) {
                Some((package, test)) => {
                    format!("{package}: {}", test.split('/').next().unwrap_or_default())
                }
                None => name,
            };
            *own.entry(name).or_default() += result.summary.centre;
        }
        // The latest run that contains a test determines its time.
        for (name, seconds) in own {
            found.entry(name).or_insert(seconds);
        }
    }
    Some(found)
}
