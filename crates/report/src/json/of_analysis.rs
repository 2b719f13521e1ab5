//! Runs and scans in the layout of [`Decision`].

use super::battery::{GroupTests, PairTests};
use super::comparison::{Comparison, Context, Family, Key};
use super::description::{Description, Noise, Summary};
use super::result::{AdjustWord, Decision, Mean, Row, Side, overall};
use super::values::Interval;
use super::{Meta, VERSION, parameters};
use crate::words;
use assay_analysis::scaling::Layout;
use assay_analysis::{Analysis, Overall};

/// What a run or a scan found.
pub fn of_analysis(analysis: &Analysis, meta: &Meta) -> Decision {
    let primary = analysis.comparisons.iter().enumerate();
    let tests = |index: usize| analysis.battery.as_ref()?.pairs.get(index).map(PairTests::from);
    let primary = primary.map(|(i, c)| comparison(analysis, c, Family::Primary, tests(i)));
    let secondary =
        analysis.secondary.iter().map(|c| comparison(analysis, c, Family::Secondary, None));
    let comparisons: Vec<Comparison> = primary.chain(secondary).collect();
    let sentence = match analysis.comparisons.as_slice() {
        [_] => comparisons.first().map(|c| c.sentence.clone()),
        _ => None,
    };
    Decision {
        schema: VERSION,
        verb: meta.verb.clone(),
        verdict: overall(&comparisons),
        sentence,
        confidence: analysis.plan.confidence,
        threshold: (&analysis.plan.threshold).into(),
        adjust: AdjustWord::Holm,
        primary: analysis.metrics[analysis.primary].name.clone(),
        design: (&analysis.design).into(),
        blocks: analysis.blocks,
        seconds_per_block: analysis.seconds_per_block,
        stop: analysis.stop.as_ref().map(Into::into),
        sides: sides(analysis),
        rows: vec![Row { name: String::new(), label: None }],
        comparisons,
        groups: analysis.battery.as_ref().and_then(|b| b.groups.as_ref()).map(GroupTests::from),
        means: match &analysis.scan {
            Some(layout) => analysis.overall.iter().map(|o| mean(analysis, layout, o)).collect(),
            None => Vec::new(),
        },
        descriptions: descriptions(analysis),
        curves: analysis.curves.iter().map(Into::into).collect(),
        only: Vec::new(),
        rigorous: None,
        findings: analysis.findings.iter().map(Into::into).collect(),
        plan: (&analysis.plan).into(),
        environment: analysis.environment.facts.clone(),
        started: analysis.started.clone(),
        tool: meta.tool.clone(),
        argv: meta.argv.clone(),
        file: meta.file.clone(),
    }
}

/// The name of a subject's side: of a scan the command without its values.
fn side(analysis: &Analysis, subject: usize) -> &str {
    match &analysis.scan {
        Some(layout) => &layout.labels[subject % layout.commands],
        None => &analysis.subjects[subject].name,
    }
}

fn sides(analysis: &Analysis) -> Vec<Side> {
    let names: Vec<&str> = match &analysis.scan {
        Some(layout) => layout.labels.iter().map(String::as_str).collect(),
        None => analysis.subjects.iter().map(|s| s.name.as_str()).collect(),
    };
    names.into_iter().map(|name| Side { name: name.to_owned() }).collect()
}

fn comparison(
    analysis: &Analysis,
    c: &assay_analysis::Comparison,
    family: Family,
    tests: Option<PairTests>,
) -> Comparison {
    let name = |subject: usize| analysis.subjects[subject].name.as_str();
    let key = |subject: usize| Key {
        side: side(analysis, subject),
        parameters: parameters(&analysis.subjects[subject].parameters),
    };
    let context = Context {
        of: key(c.of),
        against: key(c.against),
        row: "",
        metric: &analysis.metrics[c.metric],
        family,
        sentence: words::sentence(analysis, c, name(c.of), name(c.against)).plain(),
        plan: &analysis.plan,
        tests,
    };
    Comparison::new(context, c)
}

/// What the comparisons of two commands of a scan come to.
fn mean(analysis: &Analysis, layout: &Layout, overall: &Overall) -> Mean {
    let own = analysis.comparisons.iter().filter(|c| {
        let commands = (c.of % layout.commands, c.against % layout.commands);
        layout.together(c.of, c.against) && commands == (overall.of, overall.against)
    });
    let verdicts: Vec<_> = own.map(|c| c.decision.verdict).collect();
    let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
    Mean {
        of: layout.labels[overall.of].clone(),
        against: layout.labels[overall.against].clone(),
        metric: analysis.metrics[analysis.primary].name.clone(),
        family: Family::Primary,
        sentence: None,
        compared: verdicts.len(),
        faster: count(assay_analysis::Verdict::Faster),
        slower: count(assay_analysis::Verdict::Slower),
        equivalent: count(assay_analysis::Verdict::Equivalent),
        inconclusive: count(assay_analysis::Verdict::Inconclusive),
        geometric_mean: Some(overall.mean.estimate),
        interval_of_these: Some(overall.mean.of_these.into()),
        interval_of_such: overall.mean.of_such.map(Interval::from),
        rows: Some(overall.comparisons),
    }
}

fn descriptions(analysis: &Analysis) -> Vec<Description> {
    let describe = |(index, summary): (usize, &assay_analysis::SubjectSummary)| Description {
        side: side(analysis, index).to_owned(),
        row: String::new(),
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
