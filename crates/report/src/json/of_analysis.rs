//! Conversion of any kind of analysis to the layout of [`Decision`].

use super::answers::{Answers, Try};
use super::battery::{GroupTests, PairTests};
use super::comparison::{Comparison, Context, Family, Key};
use super::description::{Description, Noise, Summary};
use super::finding::Finding;
use super::result::{Decision, Mean, Only, Row, Side};
use super::suites::TestSuite;
use super::{Meta, VERSION, parameters};
use crate::benchmarks::words as of_rows;
use crate::ranking;
use crate::scan;
use crate::words::{self, Sentence};
use assay_analysis::{Analysis, SubjectSummary};

/// Returns the results of a run, a scan, a suite or two profiles.
pub fn of_analysis(analysis: &Analysis, meta: &Meta) -> Decision {
    let primary = analysis.comparisons.iter().enumerate();
    let tests = |index: usize| analysis.battery.as_ref()?.pairs.get(index).map(PairTests::from);
    let primary = primary.map(|(i, c)| comparison(analysis, c, Family::Primary, tests(i)));
    let secondary =
        analysis.secondary.iter().map(|c| comparison(analysis, c, Family::Secondary, None));
    let controls = analysis.controls.iter().map(|c| comparison(analysis, c, Family::Control, None));
    let comparisons: Vec<Comparison> = primary.chain(secondary).chain(controls).collect();
    let sentence = match analysis.comparisons.as_slice() {
        _ if analysis.is_suite() => {
            let headlines = analysis.primary_tables().map(|t| of_rows::headline(analysis, &t));
            Some(headlines.collect::<Vec<_>>().join("; "))
        }
        [_] => comparisons.first().map(|c| c.sentence.clone()),
        all => ranking::line(analysis, &analysis.names()).or_else(|| {
            let said: Vec<String> = match scan::shows(analysis) {
                true => scan::sentences(analysis).iter().map(Sentence::plain).collect(),
                false => comparisons.iter().take(all.len()).map(|c| c.sentence.clone()).collect(),
            };
            (!said.is_empty()).then(|| said.join("; "))
        }),
    };
    Decision {
        schema: VERSION,
        verb: meta.verb.clone(),
        verdict: analysis.worst().as_ref().map(Into::into),
        sentence,
        confidence: analysis.plan.confidence,
        threshold: (&analysis.plan.threshold).into(),
        adjust: (&analysis.adjust).into(),
        primary: analysis.metrics[analysis.primary].name.clone(),
        design: (&analysis.design).into(),
        blocks: analysis.blocks,
        seconds_per_block: analysis.seconds_per_block,
        stop: analysis.stop.as_ref().map(Into::into),
        sides: analysis.sides.iter().map(Side::of).collect(),
        rows: analysis.rows.iter().map(Row::of).collect(),
        comparisons,
        groups: analysis.battery.as_ref().and_then(|b| b.groups.as_ref()).map(GroupTests::from),
        means: analysis.tables().map(|table| Mean::of(analysis, &table)).collect(),
        descriptions: descriptions(analysis),
        curves: analysis.curves.iter().map(Into::into).collect(),
        answers: analysis.answers.iter().map(|own| Answers::of(analysis, own)).collect(),
        tries: analysis.search.iter().flat_map(|own| Try::all(analysis, own)).collect(),
        suites: analysis.testing.iter().map(TestSuite::of).collect(),
        only: analysis.only.iter().map(|o| Only::of(analysis, o)).collect(),
        rigorous: None,
        findings: analysis.findings.iter().map(Finding::of).collect(),
        plan: (&analysis.plan).into(),
        environment: analysis.environment.facts.clone(),
        started: analysis.started.clone(),
        tool: meta.tool.clone(),
        argv: meta.argv.clone(),
        file: meta.file.clone(),
    }
}

fn comparison(
    analysis: &Analysis,
    c: &assay_analysis::Comparison,
    family: Family,
    tests: Option<PairTests>,
) -> Comparison {
    let key = |subject: usize| {
        let own = &analysis.subjects[subject];
        Key { side: &analysis.sides[own.side].name, parameters: parameters(&own.parameters) }
    };
    let row = &analysis.row_of(c).name;
    let sentence = if analysis.is_suite() {
        let effect = of_rows::effect(analysis, c, true);
        let gap = if effect.is_empty() { "" } else { " " };
        format!("{row}: {effect}{gap}{}", of_rows::verdict(analysis, c))
    } else {
        let name = |subject: usize| analysis.subjects[subject].name.as_str();
        words::sentence(analysis, c, name(c.of), name(c.against)).plain()
    };
    let context = Context {
        of: key(c.of),
        against: key(c.against),
        row,
        metric: &analysis.metrics[c.metric],
        family,
        sentence,
        size: words::reported(analysis, c),
        plan: &analysis.plan,
        tests,
    };
    Comparison::new(context, c)
}

fn descriptions(analysis: &Analysis) -> Vec<Description> {
    let describe = |(index, summary): (usize, &SubjectSummary)| Description {
        side: analysis.sides[summary.side].name.clone(),
        row: analysis.rows[summary.row].name.clone(),
        parameters: parameters(&summary.parameters),
        name: summary.name.clone(),
        command: summary.command.clone(),
        observations: summary.observations,
        failures: summary.failures,
        timeouts: summary.timeouts,
        metrics: analysis
            .metrics
            .iter()
            .zip(&summary.metrics)
            .filter_map(|(metric, d)| {
                Some((metric.name.clone(), Summary::new(metric.unit.symbol(), d.as_ref()?)))
            })
            .collect(),
        noise: analysis.noise.get(index).and_then(Noise::new),
    };
    analysis.subjects.iter().enumerate().map(describe).collect()
}
