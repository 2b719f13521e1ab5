//! The members of [`Decision`](super::Decision) that are derived from several parts of an analysis.

use super::battery::PairTests;
use super::comparison::{Comparison, Context, Family, Key};
use super::description::{Description, Noise, Summary};
use super::parameters;
use crate::benchmarks::words as of_rows;
use crate::ranking;
use crate::scan;
use crate::words::{self, Sentence};
use assay_analysis::{Analysis, SubjectSummary};

/// Returns every comparison: first those of the primary metric, then those of the secondary
/// metrics, then the controls.
pub(super) fn comparisons(analysis: &Analysis) -> Vec<Comparison> {
    let primary = analysis.comparisons.iter().enumerate();
    let tests = |index: usize| analysis.battery.as_ref()?.pairs.get(index).map(PairTests::from);
    let primary = primary.map(|(i, c)| comparison(analysis, c, Family::Primary, tests(i)));
    let secondary =
        analysis.secondary.iter().map(|c| comparison(analysis, c, Family::Secondary, None));
    let controls = analysis.controls.iter().map(|c| comparison(analysis, c, Family::Control, None));
    primary.chain(secondary).chain(controls).collect()
}

/// Returns the answer in words; `None` if nothing is compared.
pub(super) fn sentence(analysis: &Analysis) -> Option<String> {
    match analysis.comparisons.as_slice() {
        _ if analysis.is_suite() => {
            let headlines = analysis.primary_tables().map(|t| of_rows::headline(analysis, &t));
            Some(headlines.collect::<Vec<_>>().join("; "))
        }
        [c] => Some(sentence_of(analysis, c)),
        all => ranking::line(analysis, &analysis.names()).or_else(|| {
            let said: Vec<String> = match scan::shows(analysis) {
                true => scan::sentences(analysis).iter().map(Sentence::plain).collect(),
                false => all.iter().map(|c| sentence_of(analysis, c)).collect(),
            };
            (!said.is_empty()).then(|| said.join("; "))
        }),
    }
}

fn sentence_of(analysis: &Analysis, c: &assay_analysis::Comparison) -> String {
    if analysis.is_suite() {
        let row = &analysis.row_of(c).name;
        let effect = of_rows::effect(analysis, c, true);
        let gap = if effect.is_empty() { "" } else { " " };
        return format!("{row}: {effect}{gap}{}", of_rows::verdict(analysis, c));
    }
    let name = |subject: usize| analysis.subjects[subject].name.as_str();
    words::sentence(analysis, c, name(c.of), name(c.against)).plain()
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
    let context = Context {
        of: key(c.of),
        against: key(c.against),
        row: &analysis.row_of(c).name,
        metric: &analysis.metrics[c.metric],
        family,
        sentence: sentence_of(analysis, c),
        size: words::reported(analysis, c),
        plan: &analysis.plan,
        tests,
    };
    Comparison::new(context, c)
}

pub(super) fn descriptions(analysis: &Analysis) -> Vec<Description> {
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
                Some((metric.name.clone(), Summary::of(d.as_ref()?, metric.unit.symbol())))
            })
            .collect(),
        noise: analysis.noise.get(index).and_then(Noise::new),
    };
    analysis.subjects.iter().enumerate().map(describe).collect()
}
