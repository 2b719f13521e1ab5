//! Compares the answers of the servers before anything is measured, because a server that answers
//! with less is faster.
//!
//! Each request is sent to every server twice, so that parts that vary between answers (times,
//! tokens) do not count as differences. Only requests that change nothing (GET, HEAD) are sent. The
//! steps of a session are not sent, because they depend on each other.

use super::{Generators, LoadSlot};
use crate::run_error::RunError;
use assay_data::finding::shared::{output_differs, output_varies};
use assay_data::samples::without_secrets;
use assay_data::{Finding, Side};
use assay_load::{AnswerDigest, GeneratorJob, Request, Scenario};

/// Maximum number of requests that are compared.
const MOST: usize = 20;
/// Maximum number of requests named in a finding.
const NAMED: usize = 3;

/// A server's two answers to the same request.
enum Answers {
    Same(AnswerDigest),
    /// The two answers differ from each other.
    Vary,
    /// The server did not answer both times. The measurement will report that.
    None,
}

/// Returns findings about servers whose answers differ from those of the first side, or from one
/// request to the next.
///
/// # Errors
/// Fails if a generator is lost, or the user interrupts the run.
pub(crate) fn compare_answers(
    sides: &[Side],
    places: &[LoadSlot],
    generators: &mut Generators,
) -> Result<Vec<Finding>, RunError> {
    let jobs: Vec<&GeneratorJob> = (0..sides.len())
        .filter_map(|side| places.iter().find(|place| place.side == side))
        .map(|place| &place.job)
        .collect();
    let count = |job: &&GeneratorJob| job.scenario.requests.len();
    let is_comparable = jobs.len() > 1
        && jobs.iter().all(|job| !job.scenario.session && count(job) == count(&jobs[0]));
    if !is_comparable {
        return Ok(Vec::new());
    }
    let mut differ: Vec<Vec<String>> = vec![Vec::new(); sides.len()];
    let mut vary: Vec<String> = Vec::new();
    for request in 0..count(&jobs[0]).min(MOST) {
        let asked = &jobs[0].scenario.requests[request];
        if !is_safe(asked) {
            continue;
        }
        let what = without_secrets(&format!("{} {}", asked.method, asked.target.path));
        let answers = jobs
            .iter()
            .map(|job| answers(job, request, generators))
            .collect::<Result<Vec<_>, _>>()?;
        for (side, own) in answers.iter().enumerate().skip(1) {
            match (&answers[0], own) {
                (Answers::Same(reference), Answers::Same(own)) if own != reference => {
                    differ[side].push(format!("{what}: {}", said(own, reference)));
                }
                (Answers::Vary, _) | (_, Answers::Vary) if !vary.contains(&what) => {
                    vary.push(what.clone());
                }
                _ => {}
            }
        }
    }
    let told = differ.iter().enumerate().filter(|(_, told)| !told.is_empty());
    let differs = |(side, told): (usize, &Vec<String>)| {
        let (name, other) = (&sides[side].name, &sides[0].name);
        let message = format!("'{name}' does not answer as '{other}' does: {}", listed(told));
        output_differs(name, message).with("requests", told.len() as f64)
    };
    let mut found: Vec<Finding> = told.map(differs).collect();
    if !vary.is_empty() {
        found.push(output_varies(&format!("the answer to {} differs each time", listed(&vary))));
    }
    Ok(found)
}

/// Returns true if repeating a request changes nothing (RFC 9110, section 9.2.1).
fn is_safe(request: &Request) -> bool {
    matches!(request.method.as_str(), "GET" | "HEAD")
}

/// Sends one of a job's requests twice, and compares the two answers.
fn answers(
    job: &GeneratorJob,
    request: usize,
    generators: &mut Generators,
) -> Result<Answers, RunError> {
    let mut alone = job.clone();
    alone.scenario =
        Scenario { requests: vec![job.scenario.requests[request].clone()], ..job.scenario.clone() };
    alone.expect.digest = true;
    let mut ask = || -> Result<Option<AnswerDigest>, RunError> {
        let tally = generators.probe(&alone, job.connecting.timeout)?;
        Ok(tally.answers.first().copied())
    };
    Ok(match (ask()?, ask()?) {
        (Some(one), Some(other)) if one == other => Answers::Same(one),
        (Some(_), Some(_)) => Answers::Vary,
        _ => Answers::None,
    })
}

fn said(own: &AnswerDigest, reference: &AnswerDigest) -> String {
    match (own.status == reference.status, own.bytes == reference.bytes) {
        (false, _) => format!("status {} instead of {}", own.status, reference.status),
        (true, false) => format!("{} bytes instead of {}", own.bytes, reference.bytes),
        (true, true) => format!("another body of {} bytes", own.bytes),
    }
}

fn listed(all: &[String]) -> String {
    let more = all.len().saturating_sub(NAMED);
    let named = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    if more > 0 { format!("{named}; and {more} more") } else { named }
}
