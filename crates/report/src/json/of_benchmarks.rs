//! Suites in the layout of [`Decision`].

use super::comparison::{Comparison, Context, Family, Key};
use super::result::{Decision, Mean, Only, Row, Side, overall};
use super::values::Interval;
use super::{Meta, VERSION, parameters};
use crate::benchmarks::words;
use assay_analysis::benchmarks::{self, Benchmarks, Table};

/// What a suite found.
pub fn of_benchmarks(suite: &Benchmarks, meta: &Meta) -> Decision {
    let rows = suite.tables.iter().flat_map(|table| table.rows.iter().map(move |r| (table, r)));
    let comparisons: Vec<Comparison> = rows.map(|(table, r)| comparison(suite, table, r)).collect();
    let headlines: Vec<String> =
        suite.primary_tables().map(|table| words::headline(suite, table)).collect();
    Decision {
        schema: VERSION,
        verb: meta.verb.clone(),
        verdict: overall(&comparisons),
        sentence: (!headlines.is_empty()).then(|| headlines.join("; ")),
        confidence: suite.plan.confidence,
        threshold: (&suite.plan.threshold).into(),
        adjust: (&suite.adjust).into(),
        primary: suite.metrics[suite.primary].name.clone(),
        design: (&suite.design).into(),
        blocks: None,
        seconds_per_block: None,
        stop: None,
        sides: suite.sides.iter().map(|name| Side { name: name.clone() }).collect(),
        rows: suite
            .benchmarks
            .iter()
            .map(|benchmark| Row { name: benchmark.name.clone(), label: benchmark.label.clone() })
            .collect(),
        comparisons,
        groups: None,
        means: suite.tables.iter().map(|table| mean(suite, table)).collect(),
        descriptions: Vec::new(),
        curves: Vec::new(),
        only: only(suite),
        rigorous: None,
        findings: suite.findings.iter().map(Into::into).collect(),
        plan: (&suite.plan).into(),
        environment: suite.environment.facts.clone(),
        started: suite.started.clone(),
        tool: meta.tool.clone(),
        argv: meta.argv.clone(),
        file: meta.file.clone(),
    }
}

fn family(suite: &Benchmarks, table: &Table) -> Family {
    if table.metric == suite.primary { Family::Primary } else { Family::Secondary }
}

/// What the rows of one metric on one side come to.
fn mean(suite: &Benchmarks, table: &Table) -> Mean {
    let counts = table.counts();
    let mean = table.mean.as_ref();
    Mean {
        of: suite.sides[table.side].clone(),
        against: suite.sides[0].clone(),
        metric: suite.metrics[table.metric].name.clone(),
        family: family(suite, table),
        sentence: Some(words::headline(suite, table)),
        compared: table.rows.len(),
        faster: counts.faster,
        slower: counts.slower,
        equivalent: counts.equivalent,
        inconclusive: counts.inconclusive,
        geometric_mean: mean.map(|m| m.estimate),
        interval_of_these: mean.and_then(|m| m.of_these).map(Interval::from),
        interval_of_such: mean.and_then(|m| m.of_such).map(Interval::from),
        rows: mean.map(|m| m.benchmarks),
    }
}

fn comparison(suite: &Benchmarks, table: &Table, row: &benchmarks::Row) -> Comparison {
    let benchmark = &suite.benchmarks[row.benchmark];
    let effect = words::effect(suite, row, true);
    let gap = if effect.is_empty() { "" } else { " " };
    let key = |side: usize| Key {
        side: &suite.sides[side],
        parameters: parameters(&benchmark.parameters),
    };
    let context = Context {
        of: key(table.side),
        against: key(0),
        row: &benchmark.name,
        metric: &suite.metrics[table.metric],
        family: family(suite, table),
        sentence: format!("{}: {effect}{gap}{}", benchmark.name, words::verdict(suite, row)),
        plan: &suite.plan,
        tests: None,
    };
    Comparison::new(context, &row.comparison)
}

fn only(suite: &Benchmarks) -> Vec<Only> {
    let names = |rows: &[usize]| -> Vec<String> {
        rows.iter().map(|&b| suite.benchmarks[b].name.clone()).collect()
    };
    let of = |metric: Option<usize>, side: usize, not_on: usize, rows: &[usize]| Only {
        metric: metric.map(|metric| suite.metrics[metric].name.clone()),
        side: suite.sides[side].clone(),
        not_on: suite.sides[not_on].clone(),
        rows: names(rows),
    };
    let rows = suite.only.iter().map(|o| of(None, o.side, o.not_on, &o.benchmarks));
    let metrics =
        suite.only_metrics.iter().map(|o| of(Some(o.metric), o.side, o.not_on, &o.benchmarks));
    rows.chain(metrics).collect()
}
