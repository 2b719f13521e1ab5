//! Decides whether this node may run benchmarks. `assay calibrate` measures a program against
//! itself and counts how often it finds a difference although there is none. A node with too many
//! false alarms, too little sensitivity, or much less sensitivity than at first gets no benchmarks
//! until a later calibration passes.

use super::policy::{CALIBRATION, DETECTS, DRIFT, FALSE_ALARMS};
use anyhow::{Context, bail};
use assay_farm::builds::wire::Calibration;
use assay_measure::{Command, Outcome, RunOptions, Runner, Watching, interrupt};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The measuring method used for benchmarks of a farm.
const METHOD: &str = "assay_default";
/// The budget for which the detectable effect is reported, s.
const BUDGET: f64 = 60.0;

#[derive(Deserialize)]
struct Result {
    methods: Vec<Method>,
    detectable: Vec<Detectable>,
}

#[derive(Deserialize)]
struct Method {
    name: String,
    comparisons: u64,
    rate: Rate,
}

#[derive(Deserialize)]
struct Rate {
    estimate: Option<f64>,
    lower: Option<f64>,
}

#[derive(Deserialize)]
struct Detectable {
    metric: String,
    budget_seconds: f64,
    difference: Option<f64>,
}

/// Runs the calibration, repeating it with longer durations on a slow or busy machine until there
/// are enough runs. `first` is the file that stores the smallest detectable effect of the first
/// calibration.
///
/// # Errors
/// If it cannot be run, or its output is not understood.
pub(super) fn calibrate(assay: &Path, first: &Path, now: &str) -> anyhow::Result<Calibration> {
    let mut text = Vec::new();
    for (tried, span) in CALIBRATION.into_iter().enumerate() {
        match measured(assay, span) {
            Ok(said) => {
                text = said;
                break;
            }
            Err(error) if tried + 1 == CALIBRATION.len() || interrupt::count() > 0 => {
                return Err(error);
            }
            Err(_) => {}
        }
    }
    let known = fs::read_to_string(first).ok().and_then(|own| own.trim().parse::<f64>().ok());
    let found = judged(&text, known, now).context("the output of assay calibrate")?;
    if known.is_none() && found.is_fit {
        // If it cannot be written, the next run counts as the first.
        let _next_time = fs::write(first, format!("{}\n", found.detects));
    }
    Ok(found)
}

/// Runs `assay calibrate` once for `span`, and returns its output.
fn measured(assay: &Path, span: Duration) -> anyhow::Result<Vec<u8>> {
    let span = format!("{}s", span.as_secs());
    let words = ["calibrate", "--json", "--quiet", "--no-save", "--time", &span];
    let argv: Vec<OsString> =
        std::iter::once(assay.into()).chain(words.iter().map(OsString::from)).collect();
    let command = Command::new(argv).map_err(|error| anyhow::anyhow!("{error}"))?;
    let command = Command { keep_output: true, keep_errors: true, ..command };
    let mut runner = Runner::start()?;
    let subject = runner.add(&command)?;
    let mut looks = |_: &assay_measure::OutputSoFar<'_>| interrupt::count() > 0;
    let watching = Watching { every: super::policy::LOOK, also: &[], ends: &mut looks };
    let ran = runner.run_watched(subject, RunOptions::default(), Some(watching))?;
    if ran.outcome != Outcome::Exited(0) {
        let said = ran.errors.map(|own| own.bytes).unwrap_or_default();
        bail!(
            "assay calibrate {}: {}",
            ran.outcome,
            crate::plain::line(&String::from_utf8_lossy(&said))
        );
    }
    Ok(ran.output.map(|own| own.bytes).unwrap_or_default())
}

fn judged(text: &[u8], first: Option<f64>, now: &str) -> anyhow::Result<Calibration> {
    let result: Result = serde_json::from_slice(text)?;
    let method = result.methods.iter().find(|own| own.name == METHOD);
    let method = method.with_context(|| format!("there is no method {METHOD}"))?;
    let wall = result.detectable.iter();
    let wall = wall.filter(|own| own.metric == "wall" && own.difference.is_some());
    let nearest = wall.min_by(|a, b| {
        let from = |own: &Detectable| (own.budget_seconds - BUDGET).abs();
        from(a).total_cmp(&from(b))
    });
    let detects = nearest.and_then(|own| own.difference).map(|own| 1.0 + own);
    let reason = match (method.rate.lower, detects, first) {
        (Some(lower), ..) if lower > FALSE_ALARMS => {
            format!(
                "more than {:.0} % of comparisons of a program with itself found a difference",
                FALSE_ALARMS * 100.0
            )
        }
        (_, None, _) => "it is unknown what a run of one minute detects on this machine".to_owned(),
        (_, Some(now), _) if now > DETECTS => {
            format!("a run of a minute detects only differences above {:.1} %", (now - 1.0) * 100.0)
        }
        (_, Some(now), Some(then)) if now - 1.0 > (then - 1.0) * DRIFT => format!(
            "a run of a minute detects only differences above {:.2} %, at first {:.2} %",
            (now - 1.0) * 100.0,
            (then - 1.0) * 100.0
        ),
        _ => String::new(),
    };
    Ok(Calibration {
        time: now.to_owned(),
        false_alarms: method.rate.estimate.unwrap_or(0.0),
        comparisons: method.comparisons,
        detects: detects.unwrap_or(f64::MAX),
        is_fit: reason.is_empty(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn of(lower: f64, difference: f64, first: Option<f64>) -> Calibration {
        let text = format!(
            r#"{{"methods":[{{"name":"assay_default","comparisons":400,"rate":{{"estimate":0.01,"lower":{lower},"upper":0.2}}}}],
               "detectable":[{{"metric":"wall","budget_seconds":10.0,"difference":0.5}},{{"metric":"wall","budget_seconds":60.0,"difference":{difference}}}]}}"#
        );
        judged(text.as_bytes(), first, "now").unwrap()
    }

    #[test]
    fn a_node_votes_while_it_finds_little_where_nothing_is() {
        let fine = of(0.0, 0.01, None);
        assert!(fine.is_fit && fine.reason.is_empty());
        assert_eq!((fine.detects, fine.comparisons), (1.01, 400));
        assert!(of(0.06, 0.01, None).reason.contains("with itself"));
        assert!(of(0.0, 0.2, None).reason.contains("20.0 %"));
        // The detectable effect may grow, but not to more than twice that of the first calibration.
        assert!(of(0.0, 0.01, Some(1.006)).is_fit);
        assert!(of(0.0, 0.03, Some(1.01)).reason.contains("at first 1.00 %"));
    }
}
