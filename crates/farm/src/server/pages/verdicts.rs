//! Handler for the verdicts on versions over all targets as JSON: the contents of a project's page
//! for use by programs.

use super::super::answer::{Answer, Failure};
use super::super::request::{ApiRequest, Context};
use super::{conversion::JudgedMatrix, judged};
use assay_analysis::farm::{Affected, BenchmarkOnTargets, Judged, Moved, Since, words};
use assay_farm::builds::Store;
use assay_farm::builds::wire::Matrix;
use serde::Serialize;

/// Verdicts on versions over all targets, newest first.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verdicts {
    /// Verdicts on the versions, newest first.
    pub versions: Vec<Verdict>,
    /// Cursor for older versions; `null` if there are none.
    pub next: Option<String>,
}

/// The verdict on a version.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verdict {
    /// Name of the version.
    pub version: String,
    /// True if the version fails or is slower on any target.
    pub is_alarm: bool,
    /// Statements about the version, most important first.
    pub claims: Vec<Claim>,
    /// Test failures, grouped by the version that introduced them.
    pub failing: Vec<Group>,
    /// Digests of targets on which the version both passed and failed.
    pub flaky: Vec<String>,
    /// Benchmarks, with those that became worse first.
    pub benchmarks: Vec<Benchmark>,
    /// Findings about the version.
    pub findings: Vec<FindingRow>,
    /// Digests of targets that need more runs for a verdict.
    pub undecided: Vec<String>,
}

/// A statement about a version.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Claim {
    /// Tone of the statement: `good`, `bad` or `unsure`.
    pub tone: &'static str,
    /// The statement as a sentence.
    pub text: String,
}

/// A finding about a version.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Found"))]
pub(crate) struct FindingRow {
    /// Code of the finding, as listed in docs/reference/findings.md.
    pub code: String,
    /// Severity: `note`, `warning` or `serious`.
    pub severity: &'static str,
    /// The finding in one sentence.
    pub message: String,
}

/// Targets that have the same result.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Group {
    /// Digests of the targets.
    pub targets: Vec<String>,
    /// Number of targets with any result.
    pub of: usize,
    /// The last version known to have a different result.
    pub after: Option<String>,
    /// The first version with this result.
    pub first: String,
    /// The result in words.
    pub text: String,
    /// Number of failed builds; `null` if the result is not a failure.
    pub seen: Option<u64>,
    /// Smallest and largest ratio of the version's value to the base's value; `null` if the result
    /// is not about speed.
    pub ratios: Option<[f64; 2]>,
}

/// Results of a benchmark on several targets.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Benchmark {
    /// Name of the benchmark.
    pub name: String,
    /// Name of the metric.
    pub metric: String,
    /// Targets where the version is worse by more than the threshold.
    pub worse: Vec<Group>,
    /// Targets where the version is better by more than the threshold.
    pub improved: Vec<Group>,
    /// Combined result of all targets; `null` for fewer than two.
    pub pooled: Option<PooledResult>,
}

/// Combined result of all targets, from a random-effects model.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Pooled"))]
pub(crate) struct PooledResult {
    /// Verdict: `faster`, `slower`, `equivalent` or `inconclusive`.
    pub verdict: &'static str,
    /// Ratio of the version's value to the base's value, for the average target.
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: Option<[f64; 2]>,
    /// Number of targets that were combined.
    pub targets: usize,
    /// Cochran's Q statistic of heterogeneity.
    pub q: f64,
    /// p-value of `q`.
    pub p: f64,
    /// I²: the share of the variation between targets that their errors do not explain, from 0 to
    /// 1.
    pub i2: f64,
    /// True if the targets differ by more than their errors explain.
    pub differ: bool,
}

/// Answers a request for the verdicts on a project's versions.
pub(crate) fn verdicts(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, name) = (asked.part("owner"), asked.part("project"));
    Answer::json(200, &of(store, owner, name, asked.word("after"), asked.most()?)?)
}

/// Returns the verdicts on at most `most` versions of a project, starting after the cursor `after`.
///
/// # Errors
/// If the project does not exist, or the store cannot be read.
pub(crate) fn of(
    store: &Store,
    owner: &str,
    name: &str,
    after: Option<&str>,
    most: i64,
) -> Result<Verdicts, Failure> {
    let (matrix, known, judged, next) = judged(store, owner, name, after, most)?;
    let versions = judged.iter().map(|judged| verdict(&matrix, &known, judged)).collect();
    Ok(Verdicts { versions, next })
}

fn verdict(matrix: &Matrix, known: &JudgedMatrix, judged: &Judged) -> Verdict {
    let project = &known.project;
    let failing = judged.builds.failing.iter().map(|failing| Group {
        seen: Some(failing.seen),
        ..group(matrix, known, &failing.on, words::failing(project, failing))
    });
    let claims = words::claims(project, judged).into_iter().map(|claim| Claim {
        tone: match claim.tone {
            words::Tone::Good => "good",
            words::Tone::Bad => "bad",
            words::Tone::Unsure => "unsure",
        },
        text: claim.text,
    });
    let findings = judged.findings.iter().map(|finding| FindingRow {
        code: finding.code.clone(),
        severity: finding.severity.word(),
        message: finding.message.clone(),
    });
    Verdict {
        version: name(known, judged.version),
        is_alarm: judged.is_alarm(),
        claims: claims.collect(),
        failing: failing.collect(),
        flaky: digests(matrix, &judged.builds.flaky),
        benchmarks: judged.benchmarks.iter().map(|one| benchmark(matrix, known, one)).collect(),
        findings: findings.collect(),
        undecided: digests(matrix, &judged.undecided()),
    }
}

fn benchmark(matrix: &Matrix, known: &JudgedMatrix, of: &BenchmarkOnTargets) -> Benchmark {
    let groups = |all: &[Moved], is_worse: bool| {
        let one = |moved: &Moved| Group {
            ratios: Some([moved.ratios.0, moved.ratios.1]),
            ..group(matrix, known, &moved.on, words::moved(&known.project, of, moved, is_worse))
        };
        all.iter().map(one).collect()
    };
    let pooled = of.pooled.as_ref().map(|effect| PooledResult {
        verdict: effect.decision.verdict.word(),
        ratio: effect.decision.estimate.exp(),
        interval: effect.decision.interval.map(|i| [i.lower.exp(), i.upper.exp()]),
        targets: effect.pooled.k,
        q: effect.pooled.q,
        p: effect.pooled.q_p,
        i2: effect.pooled.i2,
        differ: effect.differ,
    });
    Benchmark {
        name: of.name.clone(),
        metric: of.metric.clone(),
        worse: groups(&of.worse, true),
        improved: groups(&of.improved, false),
        pooled,
    }
}

fn group(matrix: &Matrix, known: &JudgedMatrix, on: &Affected, text: String) -> Group {
    let Since { after, first } = on.since;
    Group {
        targets: digests(matrix, &on.targets),
        of: on.of,
        after: after.map(|place| name(known, place)),
        first: name(known, first),
        text,
        seen: None,
        ratios: None,
    }
}

fn name(known: &JudgedMatrix, place: usize) -> String {
    known.project.versions.get(place).cloned().unwrap_or_default()
}

fn digests(matrix: &Matrix, places: &[usize]) -> Vec<String> {
    places.iter().filter_map(|&place| Some(matrix.targets.get(place)?.digest.clone())).collect()
}
